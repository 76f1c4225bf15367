//! Zarr and NCZarr datasets of all dialects. One binary, so that what it needs is linked once.

mod corpus;
mod dialects;
mod requests;
