//! `zarr.json` of an array (`docs/spec/nczarr.md` 6.2; Zarr v3 core specification and its extensions).
use super::{ArrayMetadata, ShardingLayout, regular, shown, transpose};
use crate::chunk_key::{ChunkKeys, KeyEncoding, KeySeparator};
use crate::dtype::{DataType, v3::parse};
use crate::json::JsonValue;
use ncirrus_layout::{ByteOrder, ChunkGrid, Error, Limits, Result, StoredType};
use ncirrus_model::CodecSpec;
use serde_json::Map;

pub(super) fn describe(json: &JsonValue, shape: &[u64], limits: &Limits) -> Result<ArrayMetadata> {
    check_understood(json, &MEMBERS)?;
    for name in ["data_type", "chunk_grid", "chunk_key_encoding"] {
        json.member(name).map_or(Ok(()), check_extension)?;
    }
    let transformers = json.member("storage_transformers").and_then(JsonValue::as_array);
    if transformers.is_some_and(|list| list.iter().any(|entry| !may_be_ignored(entry))) {
        return Err(Error::unsupported(format!(
            "storage transformers {}",
            shown(json, "storage_transformers")
        )));
    }
    let data_type = json.member("data_type").ok_or_else(|| Error::malformed("data_type is missing"))?;
    let outer = CodecChain::parse(json.member("codecs"))?;
    let grid = grid(json, shape, limits)?;
    let (grid, inner, shards) = match outer.serializer.name.as_str() {
        "sharding_indexed" => shard(&outer, &grid, shape.len())?,
        _ => (grid, outer.clone(), None),
    };
    // Elements are encoded by the codecs inside the shards; those outside see shards only.
    let data_type = parse(data_type, inner.order()?)?;
    inner.check_fits(&data_type)?;
    let is_bool = json.member("data_type").and_then(JsonValue::as_str) == Some("bool");
    if inner.serializer.name == "packbits" && !is_bool {
        let ty = shown(json, "data_type");
        return Err(Error::unsupported(format!(
            "the codec packbits of data type {ty}: only booleans are supported"
        )));
    }
    let keys = keys(json)?;
    let mut filters = Vec::new();
    // The other serializers only state a byte order, which is part of the type.
    if COMPRESSING_SERIALIZERS.contains(&inner.serializer.name.as_str()) {
        filters.push(inner.serializer.spec());
    }
    filters.extend(inner.after.iter().map(CodecEntry::spec));
    let mut codecs = match &shards {
        Some(shards) => transpose(&shards.axes).into_iter().collect(),
        None => Vec::new(),
    };
    codecs.extend(
        inner
            .before
            .iter()
            .map(|codec| codec.normal(shape.len()))
            .collect::<Result<Vec<_>>>()?
            .into_iter()
            .flatten(),
    );
    codecs.extend(filters.iter().cloned());
    let fill = json.member("fill_value").cloned().unwrap_or(JsonValue::Null);
    Ok(ArrayMetadata { grid, data_type, fill, codecs, filters, keys, shards })
}

/// The members of the document of an array (Zarr v3).
const MEMBERS: [&str; 11] = [
    "zarr_format",
    "node_type",
    "shape",
    "data_type",
    "chunk_grid",
    "chunk_key_encoding",
    "codecs",
    "fill_value",
    "attributes",
    "dimension_names",
    "storage_transformers",
];

/// Checks that a document has no members but those, and others that may be ignored: what is not known must be understood
/// unless it says otherwise (Zarr v3, "Extension points").
///
/// # Errors
/// `Unsupported` naming the first other member.
pub(in crate::read) fn check_understood(json: &JsonValue, known: &[&str]) -> Result<()> {
    let members = json.as_object().into_iter().flat_map(crate::json::JsonObject::iter);
    for (name, value) in members {
        if !known.contains(&name) && !may_be_ignored(value) {
            return Err(Error::unsupported(format!(
                "the member {name:?} is not known, and must be understood to read the data"
            )));
        }
    }
    Ok(())
}

/// Whether a part says that programs that do not know it may ignore it.
fn may_be_ignored(json: &JsonValue) -> bool {
    matches!(json.member("must_understand"), Some(JsonValue::Bool(false)))
}

/// Checks the members of an extension: its name and configuration.
fn check_extension(json: &JsonValue) -> Result<()> {
    check_understood(json, &["name", "configuration", "must_understand"])
}

/// One entry of `codecs`.
#[derive(Debug, Clone)]
struct CodecEntry {
    name: String,
    configuration: JsonValue,
}

/// A chain around its array-to-bytes codec.
#[derive(Debug, Clone)]
struct CodecChain {
    before: Vec<CodecEntry>,
    serializer: CodecEntry,
    after: Vec<CodecEntry>,
}

/// The known array-to-bytes codecs; `endian` is the old name of `bytes`.
const SERIALIZERS: [&str; 9] = [
    "bytes",
    "endian",
    "vlen-utf8",
    "vlen-bytes",
    "vlen-array",
    "sharding_indexed",
    "packbits",
    "zfp",
    "numcodecs.zfpy",
];

/// Those that compress; the others only state how elements are laid out.
const COMPRESSING_SERIALIZERS: [&str; 3] = ["packbits", "zfp", "numcodecs.zfpy"];

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

    fn spec(&self) -> CodecSpec {
        let configuration =
            self.configuration.as_object().map_or_else(Map::new, crate::json::JsonObject::to_map);
        CodecSpec::V3 { name: self.name.clone(), configuration }
    }

    /// The codec for the chain; a `transpose` has a list of axes, and is left out when it changes nothing.
    fn normal(&self, rank: usize) -> Result<Option<CodecSpec>> {
        if self.name == "transpose" { Ok(transpose(&self.axes(rank)?)) } else { Ok(Some(self.spec())) }
    }

    /// The axes of a `transpose`: stored axis `i` is axis `axes[i]`.
    fn axes(&self, rank: usize) -> Result<Vec<usize>> {
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
    fn parse(json: Option<&JsonValue>) -> Result<Self> {
        let list =
            json.and_then(JsonValue::as_array).ok_or_else(|| Error::malformed("codecs is not a list"))?;
        let mut codecs = list.iter().map(CodecEntry::parse).collect::<Result<Vec<_>>>()?;
        let Some(at) = codecs.iter().position(|codec| SERIALIZERS.contains(&codec.name.as_str())) else {
            let names: Vec<&str> = codecs.iter().map(|codec| codec.name.as_str()).collect();
            return Err(Error::unsupported(format!("no known array-to-bytes codec among {names:?}")));
        };
        let after = codecs.split_off(at + 1);
        match codecs.pop() {
            Some(serializer) => Ok(Self { before: codecs, serializer, after }),
            None => Err(Error::internal("a chain without its serializer")),
        }
    }

    /// Byte order of numbers; little-endian by default.
    fn order(&self) -> Result<ByteOrder> {
        match self.serializer.configuration.member("endian").and_then(JsonValue::as_str) {
            Some("big") => Ok(ByteOrder::Big),
            Some("little") | None => Ok(ByteOrder::Little),
            Some(other) => Err(Error::malformed(format!("endian {other:?} is neither little nor big"))),
        }
    }

    fn check_fits(&self, data_type: &DataType) -> Result<()> {
        let name = self.serializer.name.as_str();
        if name == "sharding_indexed" {
            return Err(Error::unsupported("shards inside shards"));
        }
        let is_sequence = matches!(data_type.stored, StoredType::Sequence(_));
        if is_sequence == name.starts_with("vlen-") {
            return Ok(());
        }
        Err(Error::malformed(format!("the codec {name} does not fit the data type")))
    }
}

/// The inner grid and chain of a sharded array.
fn shard(
    outer: &CodecChain,
    grid: &ChunkGrid,
    rank: usize,
) -> Result<(ChunkGrid, CodecChain, Option<ShardingLayout>)> {
    let configuration = &outer.serializer.configuration;
    let ChunkGrid::Regular(shard_shape) = grid else {
        return Err(Error::unsupported("shards of different sizes"));
    };
    if !outer.after.is_empty() {
        return Err(Error::unsupported("codecs around whole shards"));
    }
    // Transposing whole shards only changes which axis of the shard each length belongs to: the inner chunks keep their
    // own order. Every other codec would have to see the whole shard.
    let mut axes: Vec<usize> = (0..rank).collect();
    for codec in &outer.before {
        if codec.name != "transpose" {
            return Err(Error::unsupported(format!("the codec {:?} around shards", codec.name)));
        }
        let step = codec.axes(rank)?;
        axes = step.iter().filter_map(|axis| axes.get(*axis).copied()).collect();
    }
    let stored = regular(
        configuration.member("chunk_shape").and_then(JsonValue::as_array),
        shard_shape,
        "chunk_shape",
    )?;
    let mut chunk_shape = vec![1; rank];
    let mut per_shard = vec![1; rank];
    // `chunk_shape` counts in stored axes, the grid in those of the array.
    for (axis, len) in axes.iter().zip(&stored) {
        let whole = shard_shape.get(*axis).copied().unwrap_or(1);
        if whole % len != 0 {
            return Err(Error::malformed(format!(
                "shards of {whole} elements are not a multiple of chunks of {len}"
            )));
        }
        if let (Some(chunk), Some(count)) = (chunk_shape.get_mut(*axis), per_shard.get_mut(*axis)) {
            (*chunk, *count) = (*len, whole / len);
        }
    }
    let (index_order, has_checksum) = index_form(configuration)?;
    let index_at_end = match configuration.member("index_location").and_then(JsonValue::as_str) {
        Some("end") | None => true,
        Some("start") => false,
        Some(other) => {
            return Err(Error::malformed(format!("index_location {other:?} is neither start nor end")));
        }
    };
    let sharding = ShardingLayout { per_shard, axes, index_at_end, index_order, has_checksum };
    Ok((ChunkGrid::regular(chunk_shape)?, CodecChain::parse(configuration.member("codecs"))?, Some(sharding)))
}

/// How the index of a shard is encoded: numbers of 8 bytes, perhaps followed by a checksum.
fn index_form(configuration: &JsonValue) -> Result<(ByteOrder, bool)> {
    let chain = CodecChain::parse(configuration.member("index_codecs"))?;
    let after: Vec<&str> = chain.after.iter().map(|codec| codec.name.as_str()).collect();
    match (chain.serializer.name.as_str(), chain.before.len(), after.as_slice()) {
        ("bytes" | "endian", 0, []) => Ok((chain.order()?, false)),
        ("bytes" | "endian", 0, ["crc32c"]) => Ok((chain.order()?, true)),
        _ => Err(Error::unsupported(format!(
            "a shard index encoded by {}",
            shown(configuration, "index_codecs")
        ))),
    }
}

fn grid(json: &JsonValue, shape: &[u64], limits: &Limits) -> Result<ChunkGrid> {
    let grid = json.member("chunk_grid").ok_or_else(|| Error::malformed("chunk_grid is missing"))?;
    let null = JsonValue::Null;
    let configuration = grid.member("configuration").unwrap_or(&null);
    match grid.member("name").and_then(JsonValue::as_str) {
        Some("regular") => {
            let lens = configuration.member("chunk_shape").and_then(JsonValue::as_array);
            ChunkGrid::regular(regular(lens, shape, "chunk_shape")?)
        }
        Some("rectilinear") => {
            let axes = configuration.member("chunk_shapes").and_then(JsonValue::as_array).unwrap_or_default();
            if axes.len() != shape.len() {
                return Err(Error::malformed(format!(
                    "chunk_shapes has {} axes, the shape {}",
                    axes.len(),
                    shape.len()
                )));
            }
            let lens = axes.iter().zip(shape).map(|(axis, len)| axis_lens(axis, *len, limits));
            ChunkGrid::rectilinear(&lens.collect::<Result<Vec<_>>>()?)
        }
        other => Err(Error::unsupported(format!("chunk grid {:?}", other.unwrap_or("without name")))),
    }
}

/// Chunk lengths along one axis: one for all, or a list of lengths and `[length, count]` runs.
///
/// The chunks reach to the end of the array: elements behind them would have no place.
fn axis_lens(axis: &JsonValue, len: u64, limits: &Limits) -> Result<Vec<u64>> {
    let bad = || Error::malformed(format!("chunk lengths {:?}", String::from_utf8_lossy(axis.source())));
    if let Some(each) = axis.as_u64() {
        let count = len.checked_add(each).and_then(|sum| (sum - 1).checked_div(each)).ok_or_else(bad)?;
        return Ok(vec![each; limits.count(count.max(1), "chunk grid")?]);
    }
    let mut lens = Vec::new();
    for entry in axis.as_array().ok_or_else(bad)? {
        let (each, count) = match entry.as_array() {
            None => (entry.as_u64().ok_or_else(bad)?, 1),
            Some([each, count]) => (each.as_u64().ok_or_else(bad)?, count.as_u64().ok_or_else(bad)?),
            Some(_) => return Err(bad()),
        };
        let total = (lens.len() as u64).saturating_add(count);
        lens.resize(limits.count(total, "chunk grid")?, each);
    }
    let end = lens.iter().try_fold(0u64, |end, each| end.checked_add(*each)).ok_or_else(bad)?;
    if end < len {
        return Err(Error::malformed(format!("chunk lengths add up to {end}, the axis has {len}")));
    }
    Ok(lens)
}

fn keys(json: &JsonValue) -> Result<ChunkKeys> {
    let Some(encoding) = json.member("chunk_key_encoding") else {
        return Ok(ChunkKeys::v3(KeySeparator::Slash));
    };
    let name = encoding.as_str().or_else(|| encoding.member("name")?.as_str()).unwrap_or_default();
    let (form, usual) = match name {
        "default" => (KeyEncoding::Default, KeySeparator::Slash),
        "v2" => (KeyEncoding::V2, KeySeparator::Dot),
        other => return Err(Error::unsupported(format!("chunk key encoding {other:?}"))),
    };
    let separator = match encoding.member("configuration").and_then(|c| c.member("separator")) {
        None => usual,
        Some(text) => text
            .as_str()
            .and_then(KeySeparator::from_text)
            .ok_or_else(|| Error::malformed(format!("separator {:?} is neither . nor /", text.to_value())))?,
    };
    Ok(ChunkKeys { encoding: form, separator })
}

/// Names of the dimensions, from Zarr v3's own member.
pub(in crate::read) fn dimension_names(json: &JsonValue) -> Option<Vec<Option<String>>> {
    let names = json.member("dimension_names")?.as_array()?;
    Some(names.iter().map(|name| name.as_str().map(str::to_owned)).collect())
}
