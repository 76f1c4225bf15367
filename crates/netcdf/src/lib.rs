//! netCDF-C's view of a dataset: the rules that every format and every interface of ncirrus shares with netCDF-C.
//!
//! - [`names`]: attribute names that netCDF-4 and Zarr reserve, hide or compute;
//! - [`RootFacts`]: the attributes of the root group that no file stores (`_NCProperties`, `_SuperblockVersion`,
//!   `_IsNetcdf4`);
//! - [`DefaultChunks`], [`chunks`]: chunk shapes of variables for which the program chose none;
//! - [`filter_text`]: filters and their parameters as text (`32001,0,0,0,0,5|1,9`);
//! - [`casts`]: which types convert into each other, and what happens to values outside the range.
//!
//! Everything here is a table or a pure function of the data model. The rules are those of netCDF-C 4.9.0, as its
//! documentation and its programs show them, and as `docs/spec/hdf5-netcdf4.md` (H.2, H.3, H.7) and
//! `docs/spec/nczarr.md` (3.4, 3.13, 3.14, 12.5) record them. The C library of ncirrus is compared with Debian's, call
//! by call (`crates/capi/tests/library`).
#![forbid(unsafe_code)]

pub mod casts;
pub mod chunks;
pub mod filter_text;
pub mod names;
mod root_facts;

pub use chunks::DefaultChunks;
pub use names::AttributeSpace;
pub use root_facts::RootFacts;
