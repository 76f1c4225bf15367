//! The built-in codecs, one family per module.
pub(crate) mod absent;
pub(crate) mod blosc;
pub(crate) mod bzip2;
pub(crate) mod checksum;
pub(crate) mod deflate;
pub(crate) mod delta;
pub(crate) mod elementwise;
pub(crate) mod lz4;
pub(crate) mod lzf;
pub(crate) mod lzma;
pub(crate) mod packbits;
pub(crate) mod shuffle;
pub(crate) mod szip;
pub(crate) mod transpose;
pub(crate) mod zstd;
