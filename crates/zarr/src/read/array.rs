//! The chunk-related metadata of an array, for both versions of Zarr.
use crate::chunk_key::ChunkKeys;
use crate::dtype::DataType;
use crate::json::JsonValue;
use ncirrus_layout::{ByteOrder, ChunkGrid, Error, Limits, PackedArrays, Result};
use ncirrus_model::{Attribute, CodecSpec};

mod codecs;
mod sharding;
mod understood;
mod v2;
mod v3;

#[cfg(test)]
mod tests;

pub(super) use understood::check_understood;
pub(super) use v2::rules;
pub(super) use v3::dimension_names;

/// The parsed metadata of an array.
#[derive(Debug, Clone)]
pub(super) struct ArrayMetadata {
    /// The chunk grid: of the shards' inner chunks if it is sharded.
    pub(super) grid: ChunkGrid,
    /// The element type.
    pub(super) data_type: DataType,
    /// Value of elements never written, `null` if there is none.
    pub(super) fill: JsonValue,
    /// The chain that the engine binds: bytes to bytes, and axis permutations.
    pub(super) codecs: Vec<CodecSpec>,
    /// The user-visible part of the chain.
    pub(super) filters: Vec<CodecSpec>,
    /// Names of the chunk objects.
    pub(super) keys: ChunkKeys,
    /// How several chunks share an object.
    pub(super) shards: Option<ShardingLayout>,
    /// Integers that are shown instead of the floats that codecs make of them, or why they are not.
    pub(super) packing: Option<std::result::Result<PackedView, String>>,
}

/// What a packed variable has instead of codecs.
#[derive(Debug, Clone)]
pub(super) struct PackedView {
    pub(super) attributes: Vec<Attribute>,
    /// The fill value, as an integer.
    pub(super) fill: JsonValue,
}

/// How several chunks share an object (Zarr v3, `sharding_indexed`).
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ShardingLayout {
    /// Which chunks share a shard, by the axes of the array: a grid whose elements are the chunks.
    pub(crate) shards: ChunkGrid,
    /// Stored axis `i` is axis `axes[i]` of the array.
    pub(crate) axes: Vec<usize>,
    /// Whether the index is at the end of the object.
    pub(crate) index_at_end: bool,
    /// Byte order of the index.
    pub(crate) index_order: ByteOrder,
    /// Whether a checksum follows the index.
    pub(crate) has_checksum: bool,
    /// Codecs around the shards, which are then decoded whole.
    pub(crate) outer: Vec<CodecSpec>,
    /// How the chunks of these shards are shards in turn.
    pub(crate) inner: Option<Box<ShardingLayout>>,
}

impl ShardingLayout {
    /// The level whose chunks are not shards.
    pub(super) fn last(&self) -> &Self {
        self.inner.as_deref().map_or(self, Self::last)
    }

    /// Whether shards in this form are written: in one level, without codecs around them.
    pub(crate) fn is_writable(&self) -> bool {
        self.outer.is_empty() && self.inner.is_none()
    }
}

/// The array's shape.
///
/// # Errors
/// `Malformed` if it is invalid, `Limit` if it has too many axes.
pub(super) fn shape(json: &JsonValue, limits: &Limits) -> Result<Vec<u64>> {
    let shape = json.member("shape").and_then(JsonValue::as_array);
    let lens = shape.and_then(|lens| lens.iter().map(JsonValue::as_u64).collect::<Option<Vec<u64>>>());
    let Some(lens) = lens else {
        return Err(Error::malformed(format!("shape {} is not a list of lengths", shown(json, "shape"))));
    };
    if lens.len() as u64 > limits.rank {
        return Err(Error::limit(format!(
            "{} dimensions, more than the limit of {}",
            lens.len(),
            limits.rank
        )));
    }
    Ok(lens)
}

/// Everything else.
///
/// # Errors
/// `Malformed` or `Unsupported` with the member that cannot be interpreted.
pub(super) fn describe(
    json: &JsonValue,
    shape: &[u64],
    rules: crate::dtype::v2::TextRules,
    packed: PackedArrays,
    limits: &Limits,
) -> Result<ArrayMetadata> {
    match json.member("zarr_format").and_then(JsonValue::as_u64) {
        Some(3) => v3::describe(json, shape, packed, limits),
        _ => v2::describe(json, shape, rules),
    }
}

/// The element type of an array whose other metadata cannot be interpreted, if that can be.
pub(super) fn likely_type(json: &JsonValue, rules: crate::dtype::v2::TextRules) -> Option<DataType> {
    match json.member("data_type") {
        Some(data_type) => crate::dtype::v3::parse(data_type, ByteOrder::Little).ok(),
        None => Some(crate::dtype::v2::parse(json.member("dtype")?, &[], rules).ok()?.0),
    }
}

/// A regular grid of that rank. Lengths of 0 (of empty axes) count as 1.
fn regular(lens: Option<&[JsonValue]>, shape: &[u64], what: &str) -> Result<Vec<u64>> {
    let lens: Option<Vec<u64>> =
        lens.and_then(|lens| lens.iter().map(|len| Some(len.as_u64()?.max(1))).collect());
    match lens {
        Some(lens) if lens.len() == shape.len() => Ok(lens),
        Some(lens) => {
            let message = format!("{what} {lens:?} has {} entries, the shape {}", lens.len(), shape.len());
            Err(Error::malformed(message))
        }
        None if shape.is_empty() => Ok(Vec::new()),
        None => Err(Error::malformed(format!("{what} is not a list of lengths"))),
    }
}

/// The chain's codec that reverses or permutes axes; `None` if it changes nothing.
pub(super) fn transpose(axes: &[usize]) -> Option<CodecSpec> {
    if axes.iter().copied().eq(0..axes.len()) {
        return None;
    }
    let order = serde_json::Value::from(axes.to_vec());
    let configuration = std::iter::once(("order".to_owned(), order)).collect();
    Some(CodecSpec::V3 { name: "transpose".to_owned(), configuration })
}

/// The source of a member, abbreviated, for messages.
pub(super) fn shown(json: &JsonValue, key: &str) -> String {
    let source = json.member(key).map_or(&b"(absent)"[..], JsonValue::source);
    String::from_utf8_lossy(source).chars().take(60).collect()
}
