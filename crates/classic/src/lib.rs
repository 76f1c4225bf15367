//! netCDF-3: the classic formats CDF-1, CDF-2 and CDF-5, read and written.
//!
//! [`ClassicDriver`] opens a file by reading only its header; every variable then consists of elements at fixed
//! strides. [`ClassicWriter`] creates and changes files: it checks that a model fits, divides variables into chunks
//! that are contiguous in the file, and decides where they go; the header, and the number of records in it, come
//! last.
//!
//! ```
//! use ncirrus_classic::FormatVersion;
//! use ncirrus_model::Atomic;
//!
//! assert_eq!(FormatVersion::from_byte(5).map(FormatVersion::name), Some("CDF-5"));
//! assert!(!FormatVersion::Classic.holds(Atomic::UInt64));
//! ```
#![forbid(unsafe_code)]

mod additions;
mod arrangement;
mod catalog;
mod commit;
mod cursor;
mod cut;
mod definition;
mod description;
mod driver;
mod encode;
mod file;
mod geometry;
mod header;
mod order;
mod placer;
mod relocation;
mod rows;
mod scratch;
mod track;
mod version;
mod writer;
mod writing;
mod written;

pub use driver::ClassicDriver;
pub use version::FormatVersion;
pub use writer::ClassicWriter;
