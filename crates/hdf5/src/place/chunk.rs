//! Chunk indexes of every kind (hdf5-netcdf4.md E.4 to E.6).
