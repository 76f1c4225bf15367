//! Filter pipeline messages (hdf5-netcdf4.md G.1).
