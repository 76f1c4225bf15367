//! Zarr v2 and v3 and every dialect of NCZarr.
//!
//! Pure: all input comes through a view and all output goes through a placer; the engine does the rest. The
//! specification is docs/spec/nczarr.md; comments cite its sections.
#![forbid(unsafe_code)]

mod chunk_key;
mod dialect;
mod driver;
mod dtype;
mod fill;
mod json;
mod json_values;
mod packing;
mod read;
mod sharding;
mod special;
mod write;

pub use dialect::Dialect;
pub use driver::ZarrDriver;
pub use packing::by_codecs;
pub use sharding::sharding_of;
pub use write::{FixedString, ZarrWriter};
