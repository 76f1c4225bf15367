//! netCDF-C's view of a dataset: the rules that every format and every interface of ncirrus shares with netCDF-C.
//!
//! - [`names`]: attribute names that netCDF-4 and Zarr reserve, hide or compute;
//! - [`RootFacts`]: the attributes of the root group that no file stores (`_NCProperties`, `_SuperblockVersion`,
//!   `_IsNetcdf4`);
//! - [`formats`]: numbers, names, modes and limits of formats;
//! - [`DefaultChunks`], [`chunks`]: chunk shapes of variables for which the program chose none;
//! - [`filters`]: which filters a variable may get, and their order;
//! - [`slabs`]: the checks of elements that are read or written, and their order;
//! - [`fits_variables`]: which variables a classic file has room for; [`same_types`]: types of two datasets;
//! - [`filter_text`]: filters and their parameters as text (`32001,0,0,0,0,5|1,9`);
//! - [`casts`]: which types convert into each other, and what happens to values outside the range;
//! - [`value_text`]: values as the text of `nc_dump_data`;
//! - [`OldDate`], [`UriParts`], [`escapes`]: dates (`cdtime`), addresses in parts and texts with backslashes of netCDF's own programs.
//!
//! Everything here is a table or a pure function of the data model. The rules are those of netCDF-C 4.9.0, as its
//! documentation and its programs show them, and as `docs/spec/hdf5-netcdf4.md` (H.2, H.3, H.7) and
//! `docs/spec/nczarr.md` (3.4, 3.13, 3.14, 12.5) record them. The C library of ncirrus is compared with Debian's, call
//! by call (`crates/capi/tests/library`).
#![forbid(unsafe_code)]

pub mod attribute_sizes;
pub mod casts;
pub mod chunks;
mod classic_sizes;
pub mod escapes;
pub mod filter_text;
pub mod filters;
pub mod formats;
pub mod names;
mod old_dates;
mod root_facts;
mod same_types;
pub mod slabs;
mod uri;
pub mod value_text;

pub use chunks::DefaultChunks;
pub use classic_sizes::fits_variables;
pub use names::AttributeSpace;
pub use old_dates::OldDate;
pub use root_facts::RootFacts;
pub use same_types::same_types;
pub use uri::UriParts;
