//! The data model. One binary, so that what it needs is linked once.

mod by_name;
mod changes;
mod fill;
mod names;
mod tree;
mod values;
