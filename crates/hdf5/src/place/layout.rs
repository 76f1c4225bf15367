//! Layout messages of versions 1 to 5, and lists of external files (hdf5-netcdf4.md E.1 to E.3, E.8).
