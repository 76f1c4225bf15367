//! Version 2 B-trees of chunks (hdf5-netcdf4.md C.4, E.6).

/// Bytes of a node of a new tree, and when HDF5 splits and merges nodes.
pub(crate) const NODE_LEN: u32 = 2048;
pub(crate) const SPLIT_PERCENT: u8 = 100;
pub(crate) const MERGE_PERCENT: u8 = 40;
