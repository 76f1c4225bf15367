//! The data model. One binary, so that what it needs is linked once.

mod by_name;
mod names;
mod tree;
mod values;
