//! Serialised selections (hdf5-netcdf4.md E.7).
