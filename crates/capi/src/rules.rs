//! What netCDF-C allows: elements, casts, text of filters, equality of types.

pub(crate) mod convert;
pub(crate) mod equality;
pub(crate) mod filter_text;
pub(crate) mod slab_checks;
pub(crate) mod slabs;
