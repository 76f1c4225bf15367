//! What datasets of real files look like and where their elements lie, against what the HDF5 library says of them.
mod corpus;
mod made;
mod peers;
mod reading;
