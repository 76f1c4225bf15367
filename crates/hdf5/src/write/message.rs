//! Bodies of messages as they are written (hdf5-netcdf4.md B.5, C.2, C.5, D, E, G.1, I.1).
