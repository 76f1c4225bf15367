//! `zarr.json` of an array (`docs/spec/nczarr.md` 6.2; Zarr v3 core specification and its extensions).
use super::codecs::{CodecChain, CodecEntry};
use super::sharding::{InnerChunks, inner_chunks};
use super::understood::{check_extension, check_understood, may_be_ignored};
use super::{ArrayMetadata, PackedView, regular, shown, transpose};
use crate::chunk_key::{ChunkKeys, KeyEncoding, KeySeparator};
use crate::dtype::{DataType, ReaderType, v3::parse};
use crate::fill::{FillElement, from_half};
use crate::json::JsonValue;
use crate::packing::Packing;
use bytes::Bytes;
use ncirrus_layout::{ByteOrder, ChunkGrid, Error, Limits, PackedArrays, Result, StoredType};
use ncirrus_model::{Atomic, CodecSpec, Model, SmallFloat};
use serde_json::{Map, Value};

pub(super) fn describe(
    json: &JsonValue,
    shape: &[u64],
    packed: PackedArrays,
    limits: &Limits,
) -> Result<ArrayMetadata> {
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
    let rank = shape.len();
    let InnerChunks { grid, chain: inner, of_elements, shards } =
        inner_chunks(outer, grid(json, shape, limits)?, rank, limits)?;
    // Elements are encoded by the codecs inside the shards; those outside see shards only.
    let order = inner.order()?;
    let mut data_type = parse(data_type, order)?;
    inner.check_fits(&data_type)?;
    let keys = keys(json)?;
    let mut filters = Vec::new();
    // The other serializers only state a byte order, which is part of the type.
    if inner.serializer.is_compressing() {
        filters.push(inner.serializer.spec());
    }
    filters.extend(inner.after.iter().map(CodecEntry::spec));
    let mut codecs = Vec::new();
    if let Some(shards) = &shards {
        codecs.extend(transpose(&shards.last().axes));
    }
    codecs.extend(data_type.small.as_deref().map(|small| widening(small, order)));
    let mut packing = None;
    // The codecs of small floats compute with fewer digits than the floats that are shown.
    if packed != PackedArrays::Decoded && !inner.serializer.is_compressing() && data_type.small.is_none() {
        let before: Vec<CodecSpec> = of_elements.iter().chain(&inner.before).map(CodecEntry::spec).collect();
        packing = packed_view(&mut data_type, &before, json.member("fill_value"), packed, order, limits);
    }
    let mut is_reshaped = false;
    let before = of_elements.iter().chain(&inner.before).filter(|_| !matches!(packing, Some(Ok(_))));
    for codec in before {
        is_reshaped |= codec.name == "reshape";
        // Behind another shape, the number of axes is known when the chain is bound to chunks.
        codecs.extend(if is_reshaped { Some(codec.spec()) } else { codec.normal(rank)? });
    }
    if order == ByteOrder::Big && !inner.serializer.is_compressing() {
        // Types that codecs name have the byte order of the stored bytes.
        codecs.push(inner.serializer.spec());
    }
    codecs.extend(filters.iter().cloned());
    if inner.serializer.name == "packbits" && !inner.before.iter().chain(&of_elements).any(changes_type) {
        let name = json.member("data_type").and_then(JsonValue::as_str).unwrap_or_default();
        codecs.iter_mut().for_each(|codec| add_bits(codec, name, &data_type));
    }
    let fill = json.member("fill_value").cloned().unwrap_or(JsonValue::Null);
    let fill = match &data_type.small {
        Some(small) => widened_fill(&fill, small, limits),
        None => fill,
    };
    let fill = match &packing {
        Some(Ok(packing)) => packing.fill.clone(),
        _ => fill,
    };
    Ok(ArrayMetadata { grid, data_type, fill, codecs, filters, keys, shards, packing })
}

/// Shows the integers that codecs store instead of the floats that they mean; `None` if the codecs have another meaning, an error
/// with the reason if attributes cannot give the same floats.
fn packed_view(
    data_type: &mut DataType,
    codecs: &[CodecSpec],
    fill: Option<&JsonValue>,
    packed: PackedArrays,
    order: ByteOrder,
    limits: &Limits,
) -> Option<std::result::Result<PackedView, String>> {
    let is_single = match (&data_type.shown, &data_type.stored) {
        (ReaderType::Atomic(Atomic::Float), StoredType::Float { size: 4, .. }) => true,
        (ReaderType::Atomic(Atomic::Double), StoredType::Float { size: 8, .. }) => false,
        _ => return None,
    };
    let atomic = if is_single { Atomic::Float } else { Atomic::Double };
    let null = JsonValue::Null;
    let model = Model::new();
    let element =
        FillElement { model: &model, ty: atomic.into(), stored: &data_type.stored, in_base64: false };
    let fill = element.parse(fill.unwrap_or(&null)).ok()??.number(0)?;
    let (packing, stored_fill, extended) = Packing::of_codecs(is_single, codecs, fill)?;
    if packed == PackedArrays::Exact
        && let Err(reason) = packing.check().and_then(|()| packing.check_fill(fill, stored_fill))
    {
        return Some(Err(reason));
    }
    let size = u8::try_from(packing.stored.byte_len()?).ok()?;
    let signed = packing.stored.integer_range()?.0 < 0;
    let order = if size == 1 { ByteOrder::Little } else { order };
    data_type.stored = StoredType::Integer { size, signed, order };
    data_type.shown = ReaderType::Atomic(packing.stored);
    data_type.extended = Some(extended);
    let text = Bytes::from(stored_fill.to_string());
    let fill = crate::json::parse(&text, limits).ok()?;
    Some(Ok(PackedView { attributes: packing.attributes(), fill }))
}

/// The stage that widens numbers of a small type.
fn widening(small: &str, order: ByteOrder) -> CodecSpec {
    let mut configuration = Map::new();
    configuration.insert("data_type".to_owned(), Value::from(small));
    configuration.insert("big_endian".to_owned(), Value::from(order == ByteOrder::Big));
    CodecSpec::V3 { name: "ncirrus.widen".to_owned(), configuration }
}

/// Whether the elements behind a codec have another type.
fn changes_type(codec: &CodecEntry) -> bool {
    matches!(codec.name.as_str(), "cast_value" | "astype" | "numcodecs.astype" | "numcodecs.packbits")
}

/// Adds to the codec `packbits` what it does not say: the bits of a number of the data type.
fn add_bits(codec: &mut CodecSpec, name: &str, data_type: &DataType) {
    let CodecSpec::V3 { name: codec, configuration } = codec else { return };
    if codec != "packbits" {
        return;
    }
    let bytes = match (&data_type.small, &data_type.stored) {
        (Some(small), _) => {
            if small.ends_with("float16") {
                2
            } else {
                1
            }
        }
        (None, StoredType::Compound { byte_len, .. }) => byte_len / 2,
        (None, stored) => stored.byte_len().unwrap_or(1),
    };
    let digits = |word: &str| match word {
        "bool" => Some(1),
        "int2" | "uint2" => Some(2),
        "int4" | "uint4" => Some(4),
        other => SmallFloat::find(other).map(|format| u64::from(format.bits())),
    };
    let bits = digits(data_type.small.as_deref().unwrap_or(name)).unwrap_or(8 * bytes);
    configuration.insert("component_bytes".to_owned(), Value::from(bytes));
    configuration.insert("component_bits".to_owned(), Value::from(bits));
}

/// A fill value whose floats are given by the bits of a small type, with those of a binary32.
fn widened_fill(fill: &JsonValue, small: &str, limits: &Limits) -> JsonValue {
    let text = with_wide_bits(fill.to_value(), small).to_string();
    crate::json::parse(&Bytes::from(text), limits).unwrap_or_else(|_| fill.clone())
}

fn with_wide_bits(json: Value, small: &str) -> Value {
    match json {
        Value::String(text) => Value::from(wide_bits(&text, small).unwrap_or(text)),
        Value::Array(list) => list.into_iter().map(|item| with_wide_bits(item, small)).collect(),
        other => other,
    }
}

fn wide_bits(text: &str, small: &str) -> Option<String> {
    let bits = u16::from_str_radix(text.strip_prefix("0x")?, 16).ok()?;
    let value = match small {
        "float16" => from_half(bits),
        "bfloat16" => f32::from_bits(u32::from(bits) << 16),
        other => SmallFloat::find(other)?.value(u8::try_from(bits).ok()?),
    };
    Some(format!("0x{:08x}", value.to_bits()))
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
