//! The built-in codecs, one family per module.
pub(crate) mod blosc;
pub(crate) mod checksum;
pub(crate) mod deflate;
pub(crate) mod shuffle;
pub(crate) mod transpose;
pub(crate) mod zstd;
