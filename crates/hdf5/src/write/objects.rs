//! The objects of a model: groups, datasets, dimension scales, committed types, with their references to each other
//! (hdf5-netcdf4.md H, I.1).
