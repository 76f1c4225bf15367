//! The table of names.

/// The kind of a codec, independent of its names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum CodecKind {
    Zlib,
    Gzip,
    Shuffle,
    Fletcher32,
    Szip,
    Nbit,
    ScaleOffset,
    Bzip2,
    Lzf,
    Blosc,
    Lz4,
    Bitshuffle,
    Zfp,
    /// The codec of the registry of Zarr v3: its chunks have no header, and its parameters are words.
    ZfpStream,
    Zstd,
    Blosc2,
    /// Rounded before other filters, irreversibly.
    BitGroom,
    Lzma,
    Delta,
    FixedScaleOffset,
    Quantize,
    BitRound,
    PackBits,
    /// The codec of the registry of Zarr v3, which is not that of numcodecs.
    BitPack,
    CastValue,
    /// The codec of the registry of Zarr v3, in the type of the elements.
    ScaledValues,
    Reshape,
    /// Codecs that chunks may be stored without.
    Conditional,
    N5,
    Pcodec,
    AsType,
    Crc32,
    Crc32c,
    Adler32,
    Jenkins,
    Transpose,
    /// Handled according to the type of the stored elements: byte order, variable-length and JSON elements.
    Identity,
    /// Handled by the index of the chunks.
    Sharding,
}

/// A codec's names; the first of several is the one that is written.
#[derive(Debug)]
pub(crate) struct CodecName {
    pub(crate) kind: CodecKind,
    pub(crate) hdf5: Option<u32>,
    pub(crate) v2: &'static [&'static str],
    pub(crate) v3: &'static [&'static str],
    pub(crate) decodes: bool,
    pub(crate) encodes: bool,
}

impl CodecKind {
    /// Members that are integers, with their defaults.
    pub(crate) fn integers(self) -> &'static [(&'static str, i64)] {
        match self {
            Self::Zlib | Self::Gzip | Self::Bzip2 => &[("level", 1)],
            Self::Zstd => &[("level", 0)],
            Self::Blosc => &[("clevel", 5), ("shuffle", 1), ("blocksize", 0)],
            Self::Szip => &[("mask", 4), ("pixels-per-block", 16)],
            Self::Lz4 => &[("acceleration", 1)],
            _ => &[],
        }
    }
}

impl CodecKind {
    /// The members of its Zarr v2 JSON that writers set.
    pub(crate) fn members(self) -> &'static [&'static str] {
        match self {
            Self::Zlib | Self::Gzip | Self::Bzip2 => &["level"],
            Self::Zstd => &["level", "checksum"],
            Self::Shuffle => &["elementsize"],
            Self::Szip => &["mask", "pixels-per-block"],
            Self::Blosc => &["cname", "clevel", "shuffle", "blocksize"],
            Self::Lz4 => &["acceleration"],
            Self::Zfp => &["mode", "tolerance", "rate", "precision"],
            Self::ZfpStream => {
                &["mode", "tolerance", "rate", "precision", "minbits", "maxbits", "maxprec", "minexp"]
            }
            Self::Bitshuffle => &["elementsize", "blocksize", "compression", "level"],
            Self::Lzma => &["format", "check", "preset", "filters"],
            Self::Delta | Self::AsType => &["dtype", "astype"],
            Self::FixedScaleOffset => &["offset", "scale", "dtype", "astype"],
            Self::Quantize => &["digits", "dtype", "astype"],
            Self::BitRound => &["keepbits"],
            Self::Crc32 | Self::Crc32c | Self::Adler32 => &["location"],
            Self::Transpose => &["order"],
            Self::BitPack => &["padding_encoding", "first_bit", "last_bit"],
            Self::CastValue => &["data_type", "rounding", "out_of_range", "scalar_map"],
            Self::ScaledValues => &["offset", "scale"],
            Self::Reshape => &["shape"],
            Self::Conditional => &["codecs", "header_bits"],
            Self::N5 => &["codecs"],
            Self::Pcodec => &[
                "level",
                "mode_spec",
                "delta_spec",
                "paging_spec",
                "delta_encoding_order",
                "equal_pages_up_to",
            ],
            Self::Jenkins => &["initval", "prefix"],
            _ => &[],
        }
    }
}

impl CodecKind {
    /// Whether numcodecs, and therefore zarr-python, has it under that name.
    pub(crate) fn is_in_numcodecs(self) -> bool {
        !matches!(
            self,
            Self::Szip
                | Self::Nbit
                | Self::ScaleOffset
                | Self::Lzf
                | Self::Bitshuffle
                | Self::Blosc2
                | Self::BitGroom
                | Self::BitPack
                | Self::ZfpStream
                | Self::Reshape
                | Self::Conditional
                | Self::N5
        )
    }
}

impl CodecName {
    /// Its name in messages.
    pub(crate) fn label(&self) -> &'static str {
        self.v2.first().or(self.v3.first()).copied().unwrap_or("codec")
    }
}

/// Whether a codec decodes and encodes.
const BOTH: u8 = 2;
const NONE: u8 = 0;

const fn row(
    kind: CodecKind,
    hdf5: Option<u32>,
    v2: &'static [&'static str],
    v3: &'static [&'static str],
    able: u8,
) -> CodecName {
    CodecName { kind, hdf5, v2, v3, decodes: able > 0, encodes: able == BOTH }
}

/// All codecs with a name here; numbers are those registered with The HDF Group.
pub(crate) static TABLE: &[CodecName] = &[
    row(CodecKind::Zlib, Some(1), &["zlib"], &["numcodecs.zlib", "zlib"], BOTH),
    row(CodecKind::Gzip, Some(1), &["gzip"], &["gzip", "numcodecs.gzip"], BOTH),
    row(CodecKind::Shuffle, Some(2), &["shuffle"], &["numcodecs.shuffle", "shuffle"], BOTH),
    row(CodecKind::Fletcher32, Some(3), &["fletcher32"], &["numcodecs.fletcher32", "fletcher32"], BOTH),
    row(CodecKind::Szip, Some(4), &["szip"], &["szip"], BOTH),
    row(CodecKind::Nbit, Some(5), &["nbit"], &["nbit"], BOTH),
    row(CodecKind::ScaleOffset, Some(6), &["scaleoffset"], &["scaleoffset"], BOTH),
    row(CodecKind::Bzip2, Some(307), &["bz2", "bzip2"], &["numcodecs.bz2", "bz2"], BOTH),
    row(CodecKind::Lzf, Some(32000), &["lzf"], &["lzf"], BOTH),
    row(CodecKind::Blosc, Some(32001), &["blosc"], &["blosc", "numcodecs.blosc"], BOTH),
    row(CodecKind::Lz4, Some(32004), &["lz4"], &["numcodecs.lz4", "lz4"], BOTH),
    row(CodecKind::Bitshuffle, Some(32008), &["bitshuffle"], &["bitshuffle"], BOTH),
    row(CodecKind::Zfp, Some(32013), &["zfpy"], &["numcodecs.zfpy", "zfpy"], BOTH),
    row(CodecKind::ZfpStream, None, &[], &["zfp"], BOTH),
    row(CodecKind::Zstd, Some(32015), &["zstd"], &["zstd", "numcodecs.zstd"], BOTH),
    row(CodecKind::Blosc2, Some(32026), &["blosc2"], &["blosc2"], BOTH),
    row(CodecKind::BitGroom, Some(32022), &["bitgroom"], &["bitgroom"], BOTH),
    row(CodecKind::BitGroom, Some(32023), &["granularbitround"], &["granularbitround"], BOTH),
    row(CodecKind::Lzma, None, &["lzma"], &["numcodecs.lzma", "lzma"], BOTH),
    row(CodecKind::Delta, None, &["delta"], &["numcodecs.delta", "delta"], BOTH),
    row(
        CodecKind::FixedScaleOffset,
        None,
        &["fixedscaleoffset"],
        &["numcodecs.fixedscaleoffset", "fixedscaleoffset"],
        BOTH,
    ),
    row(CodecKind::Quantize, None, &["quantize"], &["numcodecs.quantize", "quantize"], BOTH),
    row(CodecKind::BitRound, None, &["bitround"], &["numcodecs.bitround", "bitround"], BOTH),
    row(CodecKind::PackBits, None, &["packbits"], &["numcodecs.packbits"], BOTH),
    row(CodecKind::BitPack, None, &[], &["packbits"], BOTH),
    row(CodecKind::CastValue, None, &[], &["cast_value"], BOTH),
    row(CodecKind::ScaledValues, None, &[], &["scale_offset"], BOTH),
    row(CodecKind::Reshape, None, &[], &["reshape"], BOTH),
    row(CodecKind::Conditional, None, &[], &["conditional", "optional"], BOTH),
    row(CodecKind::N5, None, &[], &["n5_default"], BOTH),
    row(CodecKind::Pcodec, None, &["pcodec"], &["numcodecs.pcodec", "pcodec"], BOTH),
    row(CodecKind::AsType, None, &["astype"], &["numcodecs.astype", "astype"], BOTH),
    row(CodecKind::Crc32, None, &["crc32"], &["numcodecs.crc32", "crc32"], BOTH),
    row(CodecKind::Crc32c, None, &["crc32c"], &["crc32c", "numcodecs.crc32c"], BOTH),
    row(CodecKind::Adler32, None, &["adler32"], &["numcodecs.adler32", "adler32"], BOTH),
    row(
        CodecKind::Jenkins,
        None,
        &["jenkins_lookup3"],
        &["numcodecs.jenkins_lookup3", "jenkins_lookup3"],
        BOTH,
    ),
    row(CodecKind::Transpose, None, &[], &["transpose"], BOTH),
    row(CodecKind::Identity, None, &[], &["bytes", "endian"], BOTH),
    row(CodecKind::Identity, None, &["vlen-utf8"], &["vlen-utf8"], BOTH),
    row(CodecKind::Identity, None, &["vlen-bytes"], &["vlen-bytes"], BOTH),
    row(CodecKind::Identity, None, &["vlen-array"], &["vlen-array"], BOTH),
    row(CodecKind::Identity, None, &["json2"], &["numcodecs.json2", "json2"], BOTH),
    row(CodecKind::Sharding, None, &[], &["sharding_indexed"], NONE),
];
