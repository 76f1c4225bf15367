//! Which codecs change values, and what replaces those that would do so again.
use super::{CodecKind, DescribedCodec, describe, find};
use crate::codecs::zfp;
use crate::parameters::CodecParameters;
use crate::{DecodedElement, NumberType};
use ncirrus_model::CodecSpec;
use serde_json::json;

/// Registered filters that change values: APAX, JPEG-XR, B3D, SZ, JPEG, SZ3, SPERR, FFMPEG.
const OF_OTHERS: [u32; 8] = [32005, 32007, 32016, 32017, 32019, 32024, 32028, 32030];

/// Whether values that were encoded and decoded once may change if that is repeated: the loss depends on the neighbours
/// of a value. Codecs that round each number separately give the same again.
pub fn changes_again(spec: &CodecSpec, element: &DecodedElement) -> bool {
    match describe(spec) {
        Ok(described) => changes(&described, element),
        Err(_) => matches!(spec, CodecSpec::Hdf5 { id, .. } if OF_OTHERS.contains(id)),
    }
}

fn changes(described: &DescribedCodec, element: &DecodedElement) -> bool {
    let parameters = CodecParameters::new(described.name.label(), &described.parameters);
    let numbers = || parameters.numbers().unwrap_or_default();
    match described.kind() {
        CodecKind::Zfp if described.parameters.contains_key("parameters") => !zfp::is_reversible(&numbers()),
        CodecKind::Zfp => parameters.integer("mode").ok().flatten() != Some(5),
        CodecKind::ZfpStream => parameters.text("mode").ok().flatten() != Some("reversible"),
        CodecKind::ScaleOffset => match numbers().as_slice() {
            // As many bits as needed, or all of them.
            [2, bits, ..] => *bits != 0 && element.byte_len.is_none_or(|len| (*bits as usize) < 8 * len),
            _ => true,
        },
        // Sums of rounded differences.
        CodecKind::Delta => {
            let ty = parameters.text("dtype").ok().flatten().and_then(NumberType::parse);
            ty.is_none_or(NumberType::is_float)
        }
        _ => false,
    }
}

/// A chain without the codecs that would change values again: replaced by shuffle and zlib, if nothing else compresses.
/// `None` if there are none of them.
pub fn without_change(specs: &[CodecSpec], element: &DecodedElement) -> Option<Vec<CodecSpec>> {
    let kept: Vec<CodecSpec> = specs.iter().filter(|spec| !changes_again(spec, element)).cloned().collect();
    if kept.len() == specs.len() {
        return None;
    }
    if kept.iter().any(compresses) {
        return Some(kept);
    }
    let named = |value: serde_json::Value| CodecSpec::V2(value.as_object().cloned().unwrap_or_default());
    let instead = [named(json!({"id": "shuffle"})), named(json!({"id": "zlib", "level": 4}))];
    // Checksums come last.
    Some(instead.into_iter().chain(kept).collect())
}

/// Whether the stored bytes of a chunk depend on the elements outside the array: they share a bit budget with the
/// others, or must be 0 or 1 like them.
pub fn minds_padding(spec: &CodecSpec) -> bool {
    find(spec).is_some_and(|name| {
        matches!(
            name.kind,
            CodecKind::Zfp
                | CodecKind::ZfpStream
                | CodecKind::ScaleOffset
                | CodecKind::PackBits
                | CodecKind::BitPack
                | CodecKind::CastValue
                | CodecKind::ScaledValues
        )
    })
}

/// Whether a codec is meant to make chunks smaller, as far as that is known.
pub(crate) fn compresses(spec: &CodecSpec) -> bool {
    find(spec).is_none_or(|name| {
        matches!(
            name.kind,
            CodecKind::Zlib
                | CodecKind::Gzip
                | CodecKind::Szip
                | CodecKind::Bzip2
                | CodecKind::Lzf
                | CodecKind::Blosc
                | CodecKind::Lz4
                | CodecKind::Bitshuffle
                | CodecKind::Zstd
                | CodecKind::Blosc2
                | CodecKind::Lzma
                | CodecKind::Pcodec
        )
    })
}

/// Whether a codec decodes by the number type of the elements: a reader must then state it.
pub fn needs_number_type(spec: &CodecSpec) -> bool {
    find(spec).is_some_and(|name| {
        matches!(
            name.kind,
            CodecKind::CastValue | CodecKind::ScaledValues | CodecKind::BitPack | CodecKind::Pcodec
        )
    })
}
