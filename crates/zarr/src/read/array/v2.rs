//! `.zarray` (docs/spec/nczarr.md 3.2, 4, 11.1).
use super::{ArrayMetadata, regular, shown, transpose};
use crate::chunk_key::{ChunkKeys, KeySeparator};
use crate::dialect::Dialect;
use crate::dtype::v2::{TextRules, parse};
use crate::json::JsonValue;
use crate::read::provenance::DatasetProvenance;
use ncirrus_layout::{ChunkGrid, Error, Result};
use ncirrus_model::CodecSpec;

/// The meaning of one byte of text in a dataset (`docs/spec/nczarr.md` 3.12).
pub(in crate::read) fn rules(dialect: Dialect, provenance: &DatasetProvenance) -> TextRules {
    TextRules {
        big_s1_is_char: dialect.is_nczarr() || provenance.is_netcdf(),
        u1_is_char: dialect.has_one_byte_unicode() || provenance.has_one_byte_unicode(),
        sizes_in_bits: false,
    }
}

pub(super) fn describe(json: &JsonValue, shape: &[u64], rules: TextRules) -> Result<ArrayMetadata> {
    let chunks = regular(json.member("chunks").and_then(JsonValue::as_array), shape, "chunks")?;
    let dtype = json.member("dtype").ok_or_else(|| Error::malformed("dtype is missing"))?;
    let mut chain = chain(json)?;
    let (data_type, object_codec) = parse(dtype, &chain, rules)?;
    if let Some(at) = object_codec {
        if at > 0 {
            return Err(Error::unsupported(format!(
                "filters before the codec of objects: {}",
                shown(json, "filters")
            )));
        }
        chain.remove(at);
    }
    let filters = chain.iter().map(codec).collect::<Result<Vec<_>>>()?;
    let mut codecs = filters.clone();
    // Such a chunk holds the transposed array: it is transposed before all filters when it is encoded.
    if is_fortran(json)? {
        let reversed: Vec<usize> = (0..shape.len()).rev().collect();
        codecs.splice(0..0, transpose(&reversed));
    }
    Ok(ArrayMetadata {
        grid: ChunkGrid::regular(chunks)?,
        data_type,
        fill: json.member("fill_value").cloned().unwrap_or(JsonValue::Null),
        codecs,
        filters,
        keys: ChunkKeys::v2(separator(json)?),
        shards: None,
        packing: None,
    })
}

/// Filters and compressor, in the order of encoding; absent members are skipped.
fn chain(json: &JsonValue) -> Result<Vec<JsonValue>> {
    let mut chain = match json.member("filters") {
        None | Some(JsonValue::Null) => Vec::new(),
        Some(JsonValue::Array(list)) => list.items.clone(),
        Some(_) => return Err(Error::malformed(format!("filters {} is not a list", shown(json, "filters")))),
    };
    chain.extend(json.member("compressor").cloned());
    chain.retain(|codec| *codec != JsonValue::Null);
    Ok(chain)
}

fn codec(json: &JsonValue) -> Result<CodecSpec> {
    let object = json.as_object().filter(|object| object.find("id").is_some_and(|id| id.as_str().is_some()));
    let Some(object) = object else {
        let source = String::from_utf8_lossy(json.source());
        return Err(Error::malformed(format!("{source:?} is not a codec")));
    };
    Ok(CodecSpec::V2(object.to_map()))
}

fn is_fortran(json: &JsonValue) -> Result<bool> {
    match json.member("order").and_then(JsonValue::as_str) {
        Some("F") => Ok(true),
        Some("C") | None => Ok(false),
        Some(other) => Err(Error::malformed(format!("order {other:?} is neither C nor F"))),
    }
}

fn separator(json: &JsonValue) -> Result<KeySeparator> {
    match json.member("dimension_separator") {
        None | Some(JsonValue::Null) => Ok(KeySeparator::Dot),
        Some(text) => text.as_str().and_then(KeySeparator::from_text).ok_or_else(|| {
            let text = shown(json, "dimension_separator");
            Error::malformed(format!("dimension_separator {text} is neither . nor /"))
        }),
    }
}
