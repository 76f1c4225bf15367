//! Virtual datasets: which parts of which datasets make up a region (hdf5-netcdf4.md E.7).
