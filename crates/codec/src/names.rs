//! Names and parameters of codecs in HDF5, Zarr v2 and Zarr v3, and translation between them.
//!
//! Internally, every description has the parameters of Zarr v2 (numcodecs), whatever its origin.
mod bytes;
mod complete;
mod hdf5;
mod loss;
mod registered;
mod table;
mod v3;

use crate::codecs::szip::usual_scanline;
use crate::codecs::zfp;
use crate::parameters::CodecParameters;
use crate::{CodecError, DecodedElement};
pub use bytes::make_same_bytes;
pub use complete::complete;
pub(crate) use loss::compresses;
pub use loss::{changes_again, minds_padding, needs_number_type, without_change};
use ncirrus_model::{CodecSpace, CodecSpec};
use serde_json::{Map, Value};
pub(crate) use table::{CodecKind, CodecName, TABLE};

/// A description reduced to the codec and its parameters in Zarr v2.
#[derive(Debug, Clone)]
pub(crate) struct DescribedCodec {
    pub(crate) name: &'static CodecName,
    /// Parameters without `id`.
    pub(crate) parameters: Map<String, Value>,
    /// The origin of the description: some codecs frame their bytes differently in HDF5.
    pub(crate) space: CodecSpace,
}

impl DescribedCodec {
    pub(crate) fn kind(&self) -> CodecKind {
        self.name.kind
    }
}

/// The same codec described in another name space; missing parameters get their defaults.
///
/// # Errors
/// `Unknown` if the codec has no known name, `Unsupported` if it has none in that space, `Malformed` if its parameters
/// are damaged.
pub fn translate(
    spec: &CodecSpec,
    to: CodecSpace,
    element: &DecodedElement,
) -> Result<CodecSpec, CodecError> {
    if spec.space() == to {
        return Ok(spec.clone());
    }
    let described = describe(spec)?;
    let name = described.name;
    let nameless =
        |space: &str| CodecError::unsupported(&spec.identifier(), format!("it has no name in {space}"));
    match to {
        CodecSpace::Hdf5 => {
            let id = name.hdf5.ok_or_else(|| nameless("HDF5"))?;
            let parameters = hdf5::parameters(&described)?;
            // As the HDF5 library's own calls declare them; a checksum must not be skipped.
            Ok(CodecSpec::Hdf5 { id, parameters, optional: described.kind() != CodecKind::Fletcher32 })
        }
        CodecSpace::V2 => {
            let id = name.v2.first().ok_or_else(|| nameless("Zarr v2"))?;
            let mut map = Map::new();
            map.insert("id".to_owned(), Value::from(*id));
            map.extend(completed(&described, element)?);
            Ok(CodecSpec::V2(map))
        }
        CodecSpace::V3 => {
            let v3_name = name.v3.first().ok_or_else(|| nameless("Zarr v3"))?;
            let parameters = completed(&described, element)?;
            let configuration = v3::configuration(described.kind(), parameters, element)?;
            Ok(CodecSpec::V3 { name: (*v3_name).to_owned(), configuration })
        }
    }
}

/// The codecs of a variable of that shape, with parameters that depend on the shape and were not stored: netcdf-c codes
/// szip chunks by the scanlines of the variable, and HDF5 by those of the chunk (docs/spec/nczarr.md 11.5).
pub fn with_shape(specs: &[CodecSpec], shape: &[u64]) -> Vec<CodecSpec> {
    specs.iter().map(|spec| with_scanline(spec, shape).unwrap_or_else(|| spec.clone())).collect()
}

fn with_scanline(spec: &CodecSpec, shape: &[u64]) -> Option<CodecSpec> {
    const KEY: &str = "pixels-per-scanline";
    let CodecSpec::V2(map) = spec else { return None };
    let parameters = CodecParameters::new("szip", map);
    if find(spec)?.kind != CodecKind::Szip || parameters.get(KEY).is_some() {
        return None;
    }
    let block = parameters.size("pixels-per-block").ok()?.unwrap_or(16);
    let scanline = usual_scanline(shape, u64::try_from(block).ok()?).ok()?;
    let mut map = map.clone();
    map.insert(KEY.to_owned(), Value::from(scanline));
    Some(CodecSpec::V2(map))
}

/// Reduces a description to the codec and its Zarr v2 parameters.
///
/// # Errors
/// `Unknown` if the name is not known, `Malformed` if the parameters are invalid.
pub(crate) fn describe(spec: &CodecSpec) -> Result<DescribedCodec, CodecError> {
    let name = find(spec).ok_or_else(|| CodecError::Unknown { codec: label(spec) })?;
    let parameters = match spec {
        CodecSpec::Hdf5 { parameters, .. } => hdf5::members(name.kind, parameters)?,
        CodecSpec::V2(map) => map
            .iter()
            .filter(|(key, _)| *key != "id")
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect(),
        CodecSpec::V3 { configuration, .. } => v3::members(name.kind, configuration)?,
    };
    Ok(DescribedCodec { name, parameters, space: spec.space() })
}

/// Whether zarr-python has a codec: not all HDF5 filters that are carried over into Zarr exist there.
pub fn is_in_numcodecs(spec: &CodecSpec) -> bool {
    find(spec).is_some_and(|name| name.kind.is_in_numcodecs())
}

/// The name of an unknown codec in messages.
pub fn label(spec: &CodecSpec) -> String {
    match spec {
        CodecSpec::Hdf5 { id, .. } => registered::label(*id),
        _ => spec.identifier(),
    }
}

/// The row of the table for a description.
pub(crate) fn find(spec: &CodecSpec) -> Option<&'static CodecName> {
    let has = |names: &[&str], wanted: &str| names.contains(&wanted);
    TABLE.iter().find(|name| match spec {
        // gzip has the same number as zlib and follows it in the table.
        CodecSpec::Hdf5 { id, .. } => name.hdf5 == Some(*id),
        CodecSpec::V2(_) => has(name.v2, &spec.identifier()),
        CodecSpec::V3 { name: wanted, .. } => has(name.v3, wanted),
    })
}

/// Whether chunks of that HDF5 filter can be decoded without a plugin.
#[cfg(feature = "plugins")]
pub(crate) fn is_built_in(hdf5: u32) -> bool {
    TABLE.iter().any(|name| name.hdf5 == Some(hdf5) && name.decodes)
}

/// The parameters including those that writers omit, as numbers where writers put text (`docs/spec/nczarr.md` 11.2).
fn completed(described: &DescribedCodec, element: &DecodedElement) -> Result<Map<String, Value>, CodecError> {
    let mut map = described.parameters.clone();
    let parameters = CodecParameters::new(described.name.label(), &described.parameters);
    for (key, default) in described.kind().integers() {
        let value = parameters.integer(key)?.unwrap_or(*default);
        map.insert((*key).to_owned(), Value::from(value));
    }
    match described.kind() {
        CodecKind::Shuffle => {
            let size = shuffle_size(&parameters, element)?;
            map.insert("elementsize".to_owned(), Value::from(size));
        }
        // The header in HDF5 applies to all its chunks; in Zarr each chunk has its own.
        CodecKind::Zfp if described.space == CodecSpace::Hdf5 => map = zfp::members(&parameters.numbers()?)?,
        // Stored by HDF5 only: both follow from the chunk.
        CodecKind::Lz4 => _ = map.remove("blocksize"),
        CodecKind::Blosc => {
            map.remove("typesize");
            map.entry("cname").or_insert_with(|| Value::from("lz4"));
        }
        _ => {}
    }
    Ok(map)
}

/// The element size that shuffle works with: the stored one is used only if it is meaningful (`docs/spec/nczarr.md`
/// 11.3).
pub(crate) fn shuffle_size(
    parameters: &CodecParameters,
    element: &DecodedElement,
) -> Result<usize, CodecError> {
    let stored = parameters.size("elementsize")?.filter(|&size| size > 0);
    Ok(stored.or(element.byte_len).unwrap_or(1).max(1))
}

#[cfg(test)]
mod tests;
