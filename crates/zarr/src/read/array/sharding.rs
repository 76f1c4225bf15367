//! The codec `sharding_indexed` in the metadata of an array (Zarr v3, docs/spec/zarr3.md 1).
use super::codecs::{CodecChain, CodecEntry};
use super::{ShardingLayout, regular, shown};
use crate::json::JsonValue;
use ncirrus_layout::{ByteOrder, ChunkGrid, Error, Limits, Result};
use ncirrus_model::CodecSpec;
use std::sync::Arc;

/// The chunks of an array, whether or not they are in shards.
pub(super) struct InnerChunks {
    /// Their grid.
    pub(super) grid: ChunkGrid,
    /// Their codecs.
    pub(super) chain: CodecChain,
    /// Codecs of elements in front of the shards, which may be applied to chunks as well.
    pub(super) of_elements: Vec<CodecEntry>,
    /// How they share objects.
    pub(super) shards: Option<ShardingLayout>,
}

/// One level of shards, before the levels below are known.
struct ShardLevel {
    layout: ShardingLayout,
    /// Shape of its chunks, by the axes of the array.
    chunk_shape: Vec<u64>,
}

/// Follows the codecs through all levels of shards.
///
/// # Errors
/// `Malformed` for shapes that do not fit, `Unsupported` for codecs that would have to see whole shards.
pub(super) fn inner_chunks(
    outer: CodecChain,
    grid: ChunkGrid,
    rank: usize,
    limits: &Limits,
) -> Result<InnerChunks> {
    let mut axes: Vec<usize> = (0..rank).collect();
    let (mut chain, mut of_elements, mut levels) = (outer, Vec::new(), Vec::<ShardLevel>::new());
    while chain.serializer.name == "sharding_indexed" {
        limits.depth(u32::try_from(levels.len()).unwrap_or(u32::MAX), "shards in shards")?;
        for codec in &chain.before {
            match codec.name.as_str() {
                // Transposing whole shards only changes which axis of the shard each length belongs to: the chunks keep
                // their own order.
                "transpose" => {
                    let step = codec.axes(rank)?;
                    axes = step.iter().filter_map(|axis| axes.get(*axis).copied()).collect();
                }
                _ if codec.is_of_elements() => of_elements.push(codec.clone()),
                name => return Err(Error::unsupported(format!("the codec {name:?} around shards"))),
            }
        }
        let level = level(&chain, &axes, &grid, levels.last())?;
        levels.push(level);
        chain = CodecChain::parse(chain.serializer.configuration.member("codecs"))?;
    }
    let grid = match levels.last() {
        Some(level) => ChunkGrid::regular(level.chunk_shape.clone())?,
        None => grid,
    };
    let nest = |inner: Option<ShardingLayout>, level: ShardLevel| {
        Some(ShardingLayout { inner: inner.map(Box::new), ..level.layout })
    };
    let shards = levels.into_iter().rev().fold(None, nest);
    Ok(InnerChunks { grid, chain, of_elements, shards })
}

/// One level: shards of the grid, or of the shape of the chunks of the level above.
fn level(
    chain: &CodecChain,
    axes: &[usize],
    grid: &ChunkGrid,
    above: Option<&ShardLevel>,
) -> Result<ShardLevel> {
    let rank = axes.len();
    let configuration = &chain.serializer.configuration;
    let lens = configuration.member("chunk_shape").and_then(JsonValue::as_array);
    let stored = regular(lens, &vec![1; rank], "chunk_shape")?;
    // `chunk_shape` counts in stored axes, the grid in those of the array.
    let mut chunk_shape = vec![1; rank];
    for (axis, len) in axes.iter().zip(&stored) {
        if let Some(chunk) = chunk_shape.get_mut(*axis) {
            *chunk = *len;
        }
    }
    let shards = match (above, grid) {
        (Some(above), _) => ChunkGrid::Regular(divided(&above.chunk_shape, &chunk_shape)?),
        (None, ChunkGrid::Regular(shape)) => ChunkGrid::Regular(divided(shape, &chunk_shape)?),
        (None, ChunkGrid::Rectilinear(ends)) => {
            let ends = ends
                .iter()
                .zip(&chunk_shape)
                .map(|(ends, chunk)| divided(ends, &vec![*chunk; ends.len()]).map(Arc::from));
            ChunkGrid::Rectilinear(ends.collect::<Result<Vec<Arc<[u64]>>>>()?)
        }
    };
    let (index_order, has_checksum) = index_form(configuration)?;
    let index_at_end = match configuration.member("index_location").and_then(JsonValue::as_str) {
        Some("end") | None => true,
        Some("start") => false,
        Some(other) => {
            return Err(Error::malformed(format!("index_location {other:?} is neither start nor end")));
        }
    };
    let outer: Vec<CodecSpec> = chain.after.iter().map(CodecEntry::spec).collect();
    let axes = axes.to_vec();
    let layout = ShardingLayout { shards, axes, index_at_end, index_order, has_checksum, outer, inner: None };
    Ok(ShardLevel { layout, chunk_shape })
}

/// Lengths in chunks.
fn divided(lens: &[u64], chunks: &[u64]) -> Result<Vec<u64>> {
    let each = |(whole, len): (&u64, &u64)| match whole.checked_rem(*len) {
        Some(0) => Ok(whole / len),
        _ => {
            Err(Error::malformed(format!("shards of {whole} elements are not a multiple of chunks of {len}")))
        }
    };
    lens.iter().zip(chunks).map(each).collect()
}

/// How the index of a shard is encoded: numbers of 8 bytes, perhaps followed by a checksum.
fn index_form(configuration: &JsonValue) -> Result<(ByteOrder, bool)> {
    let chain = CodecChain::parse(configuration.member("index_codecs"))?;
    let after: Vec<&str> = chain.after.iter().map(|codec| codec.name.as_str()).collect();
    match (chain.serializer.name.as_str(), chain.before.len(), after.as_slice()) {
        ("bytes" | "endian", 0, []) => Ok((chain.order()?, false)),
        ("bytes" | "endian", 0, ["crc32c" | "numcodecs.crc32c"]) => Ok((chain.order()?, true)),
        _ => Err(Error::unsupported(format!(
            "a shard index encoded by {}",
            shown(configuration, "index_codecs")
        ))),
    }
}
