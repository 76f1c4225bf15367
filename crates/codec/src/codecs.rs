//! The built-in codecs, one family per module.
pub(crate) mod absent;
pub(crate) mod bitplanes;
pub(crate) mod bitshuffle;
pub(crate) mod block;
pub(crate) mod blosc;
pub(crate) mod blosc2;
mod blosclz;
pub(crate) mod bzip2;
pub(crate) mod checksum;
pub(crate) mod deflate;
pub(crate) mod delta;
pub(crate) mod elementwise;
pub(crate) mod lz4;
pub(crate) mod lzf;
pub(crate) mod lzma;
pub(crate) mod nbit;
pub(crate) mod packbits;
pub(crate) mod scaleoffset;
pub(crate) mod shuffle;
pub(crate) mod szip;
#[cfg(test)]
mod tests;
pub(crate) mod transpose;
pub(crate) mod zfp;
pub(crate) mod zstd;
