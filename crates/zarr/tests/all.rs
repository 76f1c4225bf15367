//! Zarr and NCZarr datasets of all dialects. One binary, so that its dependencies are linked once.

mod corpus;
mod dialects;
mod requests;
