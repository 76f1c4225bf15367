//! HDF5 files, and what netCDF-4 puts on top of them: pure code that reads through a `View`.
//!
//! Six rooms, each of which knows only those before it:
//! - `file`, `object`, `heap`, `btree`, `group`: the file's structures, from the superblock to links;
//! - `selection`: selections of elements, as virtual datasets and references store them;
//! - `word`: dataspaces, datatypes, fill values, attributes, and the values that stored elements stand for;
//! - `place`: where a dataset's elements lie: layouts, filter pipelines, chunk indexes, virtual datasets;
//! - `netcdf`: dimensions, variables, types and groups as netCDF-4 has them; the driver;
//! - `write`: new files, and changes of files in place.
#![forbid(unsafe_code)]

mod btree;
mod checksum;
mod cursor;
mod datatypes;
mod file;
mod group;
mod heap;
mod layout;
mod netcdf;
mod object;
mod selection;
#[cfg(test)]
mod testing;
mod write;

pub use netcdf::Hdf5Driver;
pub use write::{DefaultChunks, FileStructures, Hdf5Writer};
