//! The list of codecs of an array of Zarr v3.
use super::understood::check_extension;
use super::{shown, transpose};
use crate::dtype::DataType;
use crate::json::{JsonObject, JsonValue};
use ncirrus_layout::{ByteOrder, Error, Result, StoredType};
use ncirrus_model::CodecSpec;
use serde_json::Map;

/// One entry of `codecs`.
#[derive(Debug, Clone)]
pub(super) struct CodecEntry {
    pub(super) name: String,
    pub(super) configuration: JsonValue,
}

/// A chain around its array-to-bytes codec.
#[derive(Debug, Clone)]
pub(super) struct CodecChain {
    pub(super) before: Vec<CodecEntry>,
    pub(super) serializer: CodecEntry,
    pub(super) after: Vec<CodecEntry>,
}

/// The known array-to-bytes codecs; `endian` is the old name of `bytes`.
const SERIALIZERS: [&str; 13] = [
    "bytes",
    "endian",
    "vlen-utf8",
    "vlen-bytes",
    "vlen-array",
    "sharding_indexed",
    "packbits",
    "zfp",
    "zfpy",
    "numcodecs.zfpy",
    "pcodec",
    "numcodecs.pcodec",
    "n5_default",
];

/// Those that only state how elements are laid out; the others compress, or frame their bytes.
const PLAIN_SERIALIZERS: [&str; 6] =
    ["bytes", "endian", "vlen-utf8", "vlen-bytes", "vlen-array", "sharding_indexed"];

/// Array-to-array codecs that convert each element separately: they may be applied to parts of a chunk as well.
const OF_ELEMENTS: [&str; 10] = [
    "scale_offset",
    "cast_value",
    "bitround",
    "numcodecs.bitround",
    "fixedscaleoffset",
    "numcodecs.fixedscaleoffset",
    "quantize",
    "numcodecs.quantize",
    "astype",
    "numcodecs.astype",
];

/// Further codecs that are not array-to-bytes.
const OTHERS: [&str; 22] = [
    "transpose",
    "reshape",
    "delta",
    "conditional",
    "blosc",
    "gzip",
    "zlib",
    "zstd",
    "bz2",
    "lz4",
    "lzma",
    "crc32c",
    "crc32",
    "adler32",
    "fletcher32",
    "jenkins_lookup3",
    "shuffle",
    "bitshuffle",
    "lzf",
    "szip",
    "snappy",
    "gdeflate",
];

impl CodecEntry {
    fn parse(json: &JsonValue) -> Result<Self> {
        let name = json.as_str().or_else(|| json.member("name")?.as_str());
        let Some(name) = name else {
            let source = String::from_utf8_lossy(json.source());
            return Err(Error::malformed(format!("{source:?} is not a codec")));
        };
        check_extension(json)?;
        let configuration = json.member("configuration").cloned().unwrap_or(JsonValue::Null);
        Ok(Self { name: name.to_owned(), configuration })
    }

    pub(super) fn spec(&self) -> CodecSpec {
        let configuration = self.configuration.as_object().map_or_else(Map::new, JsonObject::to_map);
        CodecSpec::V3 { name: self.name.clone(), configuration }
    }

    /// Whether it converts each element separately.
    pub(super) fn is_of_elements(&self) -> bool {
        OF_ELEMENTS.contains(&self.name.as_str())
    }

    /// Whether a program may lend an array-to-bytes codec of that name: the other codecs are known by their names.
    fn may_be_lent(&self) -> bool {
        let name = self.name.as_str();
        let is_known =
            OTHERS.contains(&name) || OF_ELEMENTS.contains(&name) || name.starts_with("numcodecs.");
        !is_known
    }

    /// Whether it is more than the layout of elements.
    pub(super) fn is_compressing(&self) -> bool {
        !PLAIN_SERIALIZERS.contains(&self.name.as_str())
    }

    /// The codec for the chain; a `transpose` has a list of axes, and is left out when it changes nothing.
    pub(super) fn normal(&self, rank: usize) -> Result<Option<CodecSpec>> {
        if self.name == "transpose" { Ok(transpose(&self.axes(rank)?)) } else { Ok(Some(self.spec())) }
    }

    /// The axes of a `transpose`: stored axis `i` is axis `axes[i]`.
    pub(super) fn axes(&self, rank: usize) -> Result<Vec<usize>> {
        let bad = || {
            Error::malformed(format!(
                "transpose order {} is not a permutation",
                shown(&self.configuration, "order")
            ))
        };
        let axes: Vec<usize> = match self.configuration.member("order") {
            Some(JsonValue::String(text)) if text.as_str() == Some("C") => (0..rank).collect(),
            Some(JsonValue::String(text)) if text.as_str() == Some("F") => (0..rank).rev().collect(),
            Some(JsonValue::Array(list)) => {
                let axis = |json: &JsonValue| usize::try_from(json.as_u64()?).ok();
                list.items.iter().map(axis).collect::<Option<_>>().ok_or_else(bad)?
            }
            _ => return Err(bad()),
        };
        let mut sorted = axes.clone();
        sorted.sort_unstable();
        if sorted.into_iter().eq(0..rank) { Ok(axes) } else { Err(bad()) }
    }
}

impl CodecChain {
    pub(super) fn parse(json: Option<&JsonValue>) -> Result<Self> {
        let list =
            json.and_then(JsonValue::as_array).ok_or_else(|| Error::malformed("codecs is not a list"))?;
        let mut codecs = list.iter().map(CodecEntry::parse).collect::<Result<Vec<_>>>()?;
        let known = codecs.iter().position(|codec| SERIALIZERS.contains(&codec.name.as_str()));
        let Some(at) = known.or_else(|| codecs.iter().position(CodecEntry::may_be_lent)) else {
            let names: Vec<&str> = codecs.iter().map(|codec| codec.name.as_str()).collect();
            return Err(Error::unsupported(format!("no known array-to-bytes codec among {names:?}")));
        };
        let after = codecs.split_off(at + 1);
        match codecs.pop() {
            Some(serializer) => Ok(Self { before: codecs, serializer, after }),
            None => Err(Error::internal("a chain without its serializer")),
        }
    }

    /// Byte order of numbers; little-endian by default. Blocks of N5 have it in their own list of codecs.
    pub(super) fn order(&self) -> Result<ByteOrder> {
        let nested = match self.serializer.name.as_str() {
            "n5_default" => self.serializer.configuration.member("codecs").and_then(JsonValue::as_array),
            _ => None,
        };
        let is_bytes =
            |codec: &&JsonValue| codec.as_str().or_else(|| codec.member("name")?.as_str()) == Some("bytes");
        let configuration = match nested.map(|codecs| codecs.iter().find(is_bytes)) {
            Some(bytes) => bytes.and_then(|bytes| bytes.member("configuration")),
            None => Some(&self.serializer.configuration),
        };
        match configuration.and_then(|members| members.member("endian")).and_then(JsonValue::as_str) {
            Some("big") => Ok(ByteOrder::Big),
            Some("little") | None => Ok(ByteOrder::Little),
            Some(other) => Err(Error::malformed(format!("endian {other:?} is neither little nor big"))),
        }
    }

    pub(super) fn check_fits(&self, data_type: &DataType) -> Result<()> {
        let name = self.serializer.name.as_str();
        let is_sequence = matches!(data_type.stored, StoredType::Sequence(_));
        if is_sequence == name.starts_with("vlen-") {
            return Ok(());
        }
        Err(Error::malformed(format!("the codec {name} does not fit the data type")))
    }
}
