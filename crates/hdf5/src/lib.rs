//! HDF5 files, and what netCDF-4 puts on top of them: pure code that reads through a `View`.
//!
//! Each module knows only those before it:
//! - `address`, `cursor`, `checksum`: addresses, and bytes at hand;
//! - `file`, `btree`, `pipeline`, `heap`, `object`, `superblock`, `group`: the file's structures, from reading its bytes to
//!   links;
//! - `selection`: selections of elements, as virtual datasets and references store them;
//! - `datatypes`: dataspaces, datatypes, fill values, attributes, and the values that stored elements stand for;
//! - `layout`: where a dataset's elements lie: layouts, chunk indexes, virtual datasets;
//! - `netcdf`: dimensions, variables, types and groups as netCDF-4 has them;
//! - `write`: new files, and changes of files in place;
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
pub use write::{DefaultChunks, FileStructures, Hdf5Writer};
