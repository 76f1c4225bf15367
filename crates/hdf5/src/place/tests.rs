//! What datasets of real files look like, against what the HDF5 library says of them.
mod corpus;
