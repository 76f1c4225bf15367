//! HDF5 files, and the netCDF-4 conventions on top of them: pure code that reads through a `View`.
//!
//! Each module depends only on those before it:
//! - `address`, `cursor`, `checksum`: addresses, and parsing of buffers;
//! - `file`, `btree`, `pipeline`, `heap`, `object`, `superblock`, `group`: the file's structures, from reading its
//!   bytes to links;
//! - `selection`: selections of elements, as virtual datasets and references store them;
//! - `datatypes`: dataspaces, datatypes, fill values, attributes, and the decoding of stored elements;
//! - `layout`: the locations of a dataset's elements: layouts, chunk indexes, virtual datasets;
//! - `netcdf`: dimensions, variables, types and groups as defined by netCDF-4;
//! - `write`: new files, and in-place changes of files;
//! - `driver`: recognising and opening a file, with the writer that changes it.
#![forbid(unsafe_code)]

mod address;
mod btree;
mod checksum;
mod cursor;
mod datatypes;
mod driver;
mod file;
mod group;
mod heap;
mod layout;
mod netcdf;
mod object;
mod pipeline;
mod selection;
mod superblock;
#[cfg(test)]
mod testing;
mod write;

pub use driver::Hdf5Driver;
pub use superblock::end_of_file;
pub use write::{FileStructures, Hdf5Writer};
