//! Descriptions of real datasets and the locations of their elements, compared with the HDF5 library.
mod corpus;
mod made;
mod peers;
mod reading;
