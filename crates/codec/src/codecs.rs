//! The built-in codecs, one family per module.
pub(crate) mod absent;
pub(crate) mod bitpack;
pub(crate) mod bitplanes;
pub(crate) mod bitshuffle;
pub(crate) mod block;
pub(crate) mod blosc;
pub(crate) mod blosc2;
mod blosclz;
pub(crate) mod bzip2;
pub(crate) mod cast_value;
pub(crate) mod checksum;
pub(crate) mod conditional;
pub(crate) mod deflate;
pub(crate) mod delta;
pub(crate) mod elementwise;
pub(crate) mod lz4;
pub(crate) mod lzf;
pub(crate) mod lzma;
pub(crate) mod n5;
pub(crate) mod nbit;
pub(crate) mod packbits;
pub(crate) mod pcodec;
pub(crate) mod reshape;
pub(crate) mod scale_offset;
pub(crate) mod scaleoffset;
pub(crate) mod shuffle;
pub(crate) mod szip;
#[cfg(test)]
mod tests;
pub(crate) mod transpose;
pub(crate) mod widen;
pub(crate) mod zfp;
pub(crate) mod zstd;

use crate::CodecError;
use crate::parameters::CodecParameters;
use ncirrus_model::CodecSpec;
use serde_json::{Map, Value};

/// The codecs in the parameter `codecs` of one that contains others, as in Zarr v3: names, or objects with a name.
///
/// # Errors
/// `Malformed` if it is not a list of codecs.
pub(crate) fn nested_specs(parameters: &CodecParameters) -> Result<Vec<CodecSpec>, CodecError> {
    let value = parameters.get("codecs").ok_or_else(|| parameters.missing("codecs"))?;
    let spec = |value: &Value| {
        let name = value.as_str().or_else(|| value.get("name")?.as_str())?.to_owned();
        let configuration = match value.get("configuration") {
            None | Some(Value::Null) => Map::new(),
            Some(configuration) => configuration.as_object()?.clone(),
        };
        Some(CodecSpec::V3 { name, configuration })
    };
    let specs = value.as_array().and_then(|list| list.iter().map(spec).collect());
    specs.ok_or_else(|| parameters.bad("codecs", value))
}
