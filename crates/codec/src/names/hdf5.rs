//! Parameters of HDF5 filters: vectors of unsigned integers (`docs/spec/nczarr.md` 11.2, 11.4, 11.5).
use super::{CodecKind, DescribedCodec};
use crate::CodecError;
use crate::codecs::zfp;
use crate::parameters::CodecParameters;
use serde_json::{Map, Value};

const COMPRESSORS: [&str; 6] = ["blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd"];

/// The Zarr v2 members for a parameter vector; those that the vector lacks stay missing.
pub(super) fn members(kind: CodecKind, parameters: &[u32]) -> Result<Map<String, Value>, CodecError> {
    let mut map = Map::new();
    let mut put = |index: usize, key: &str| {
        if let Some(&value) = parameters.get(index) {
            map.insert(key.to_owned(), Value::from(value));
        }
    };
    match kind {
        CodecKind::Zlib | CodecKind::Gzip | CodecKind::Bzip2 => put(0, "level"),
        // Working parameters only: the size with which the filter was used.
        CodecKind::Shuffle => put(0, "elementsize"),
        CodecKind::Szip => {
            let keys = ["mask", "pixels-per-block", "bits-per-pixel", "pixels-per-scanline"];
            keys.iter().enumerate().for_each(|(index, key)| put(index, key));
        }
        CodecKind::Blosc => {
            put(2, "typesize");
            // Once the revision is filled in, this entry is the length of the chunk (docs/spec/nczarr.md 11.4).
            if parameters.first() == Some(&0) {
                put(3, "blocksize");
            }
            put(4, "clevel");
            put(5, "shuffle");
        }
        CodecKind::Lz4 => put(0, "blocksize"),
        CodecKind::Bitshuffle => {
            put(2, "elementsize");
            put(3, "blocksize");
            put(4, "compression");
            put(5, "level");
        }
        // No parameters.
        CodecKind::Fletcher32 => {}
        // Signed, stored as unsigned.
        CodecKind::Zstd => {
            if let Some(level) = parameters.first() {
                map.insert("level".to_owned(), Value::from(level.cast_signed()));
            }
        }
        _ => {
            map.insert("parameters".to_owned(), Value::from(parameters.to_vec()));
        }
    }
    if let (CodecKind::Blosc, Some(&code)) = (kind, parameters.get(6)) {
        map.insert("cname".to_owned(), Value::from(compressor(code)?));
    }
    Ok(map)
}

/// The vector of visible parameters.
pub(super) fn parameters(described: &DescribedCodec) -> Result<Vec<u32>, CodecError> {
    let members = CodecParameters::new(described.name.label(), &described.parameters);
    let number = |key: &str, default: u32| -> Result<u32, CodecError> {
        let Some(value) = members.integer(key)? else { return Ok(default) };
        u32::try_from(value).map_err(|_| members.bad(key, &Value::from(value)))
    };
    Ok(match described.kind() {
        CodecKind::Zlib | CodecKind::Gzip | CodecKind::Bzip2 => vec![number("level", 1)?],
        CodecKind::Szip => vec![number("mask", 4)?, number("pixels-per-block", 16)?],
        CodecKind::Zstd => {
            let level = members.integer("level")?.unwrap_or(0);
            let level = i32::try_from(level).map_err(|_| members.bad("level", &Value::from(level)))?;
            vec![level.cast_unsigned()]
        }
        CodecKind::Blosc => {
            let shuffle = members.integer("shuffle")?.unwrap_or(1);
            // The automatic choice has no number; it usually means byte shuffle.
            let shuffle = u32::try_from(shuffle).unwrap_or(1);
            let cname = members.text("cname")?.unwrap_or("lz4");
            vec![0, 0, 0, number("blocksize", 0)?, number("clevel", 5)?, shuffle, code(cname)?]
        }
        CodecKind::Lz4 => vec![number("blocksize", 0)?],
        CodecKind::Bitshuffle => {
            vec![0, 0, 0, number("blocksize", 0)?, number("compression", 0)?, number("level", 0)?]
        }
        CodecKind::Zfp if members.get("parameters").is_none() => zfp::user_numbers(&members)?,
        _ => members.numbers()?,
    })
}

fn compressor(code: u32) -> Result<&'static str, CodecError> {
    let index = usize::try_from(code).unwrap_or(usize::MAX);
    COMPRESSORS
        .get(index)
        .copied()
        .ok_or_else(|| CodecError::malformed("blosc", format!("compressor {code} is not known")))
}

fn code(name: &str) -> Result<u32, CodecError> {
    let index = COMPRESSORS.iter().position(|known| *known == name);
    index
        .and_then(|index| u32::try_from(index).ok())
        .ok_or_else(|| CodecError::malformed("blosc", format!("compressor {name:?} is not known")))
}
