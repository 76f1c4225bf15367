//! Attributes and values: read, written, copied.

pub(crate) mod attributes;
pub(crate) mod copy_variable;
pub(crate) mod data;
pub(crate) mod data_text;
pub(crate) mod default_slabs;
pub(crate) mod late_puts;
pub(crate) mod memory_type;
pub(crate) mod netcdf4_calls;
pub(crate) mod put_attributes;
pub(crate) mod put_data;
pub(crate) mod records;
pub(crate) mod small_reads;
