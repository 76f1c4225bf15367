//! Parquet files with flat columns of integers and bytes, read whole and written whole: the form in which kerchunk stores
//! references (docs/spec/kerchunk-parquet.md). Nested columns, other types and encryption are rejected.
mod compression;
mod hybrid;
mod metadata;
mod page;
mod read;
mod thrift;
mod write;

pub(crate) use read::{BytesColumn, FlatColumn, FlatTable};
pub use write::{ParquetColumn, write_flat_table};

/// The bytes with which a file begins and ends.
const MAGIC: &[u8; 4] = b"PAR1";

/// Numbers of physical types.
mod physical {
    pub(super) const INT32: i64 = 1;
    pub(super) const INT64: i64 = 2;
    pub(super) const BYTE_ARRAY: i64 = 6;
}

/// Numbers of encodings.
mod encoding {
    pub(super) const PLAIN: i64 = 0;
    pub(super) const PLAIN_DICTIONARY: i64 = 2;
    pub(super) const RLE: i64 = 3;
    pub(super) const RLE_DICTIONARY: i64 = 8;
}

#[cfg(test)]
mod tests;
