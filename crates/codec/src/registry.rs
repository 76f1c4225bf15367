//! Binding of descriptions to codecs.
use crate::chain::Stage;
use crate::codec::Codec;
use crate::codecs::blosc::{Blosc, compressor};
use crate::codecs::checksum::{Algorithm, Checksum};
use crate::codecs::deflate::{Deflate, Envelope};
use crate::codecs::shuffle::Shuffle;
use crate::codecs::transpose::Transpose;
use crate::codecs::zstd::Zstd;
use crate::ffi::BloscOptions;
use crate::names::{Described, Kind, TABLE, describe, shuffle_size};
use crate::parameters::Parameters;
use crate::{ChunkInfo, CodecChain, CodecError};
use ncirrus_model::CodecSpec;
use serde_json::Value;
use std::sync::Arc;

/// The codecs that are there.
#[derive(Debug, Clone, Default)]
pub struct Registry(());

/// What is known of one codec.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodecEntry {
    /// Its HDF5 filter number.
    pub hdf5: Option<u32>,
    /// Its Zarr v2 identifiers, the one that is written first.
    pub v2: &'static [&'static str],
    /// Its Zarr v3 names, the one that is written first.
    pub v3: &'static [&'static str],
    /// Whether chunks can be decoded.
    pub decodes: bool,
    /// Whether chunks can be encoded.
    pub encodes: bool,
}

impl Registry {
    /// The codecs that this crate brings along.
    pub fn builtin() -> Self {
        Self(())
    }

    /// Binds descriptions, in the order of encoding, to codecs for chunks of that shape and element.
    ///
    /// # Errors
    /// `Unknown` or `Unsupported` when a codec is not there, `Malformed` when its parameters make no sense.
    pub fn bind(&self, specs: &[CodecSpec], chunk: &ChunkInfo) -> Result<CodecChain, CodecError> {
        let mut chunk = chunk.clone();
        let mut stages = Vec::with_capacity(specs.len());
        for (position, spec) in specs.iter().enumerate() {
            let optional = matches!(spec, CodecSpec::Hdf5 { optional: true, .. });
            if let Some(codec) = build(&describe(spec)?, &mut chunk)? {
                stages.push(Stage { position, optional, codec });
            }
        }
        Ok(CodecChain::new(stages))
    }

    /// All codecs that have a name here, those that can be named only included.
    pub fn known(&self) -> Vec<CodecEntry> {
        TABLE
            .iter()
            .map(|name| CodecEntry {
                hdf5: name.hdf5,
                v2: name.v2,
                v3: name.v3,
                decodes: name.decodes,
                encodes: name.encodes,
            })
            .collect()
    }
}

/// The codec for a description, `None` when it changes nothing; `chunk` becomes what the next codec gets.
fn build(described: &Described, chunk: &mut ChunkInfo) -> Result<Option<Arc<dyn Codec>>, CodecError> {
    let label = described.kind.name().label();
    let parameters = Parameters::new(label, &described.parameters);
    Ok(match described.kind {
        Kind::Zlib => Some(Arc::new(deflate(Envelope::Zlib, &parameters)?)),
        Kind::Gzip => Some(Arc::new(deflate(Envelope::Gzip, &parameters)?)),
        Kind::Zstd => {
            Some(Arc::new(Zstd::new(parameters.integer("level")?.unwrap_or(0), parameters.flag("checksum")?)))
        }
        Kind::Blosc => Some(Arc::new(blosc(&parameters, chunk)?)),
        Kind::Shuffle => {
            let size = shuffle_size(&parameters, &chunk.element)?;
            if size > 1 { Some(Arc::new(Shuffle { size })) } else { None }
        }
        Kind::Fletcher32 => Some(Arc::new(checksum(Algorithm::Fletcher32, false, &parameters)?)),
        Kind::Crc32 => Some(Arc::new(checksum(Algorithm::Crc32, true, &parameters)?)),
        Kind::Crc32c => Some(Arc::new(checksum(Algorithm::Crc32c, false, &parameters)?)),
        Kind::Adler32 => Some(Arc::new(checksum(Algorithm::Adler32, true, &parameters)?)),
        Kind::Transpose => transpose(&parameters, chunk)?,
        Kind::Identity => None,
        _ => return Err(CodecError::unsupported(label, "it is not implemented")),
    })
}

fn deflate(envelope: Envelope, parameters: &Parameters) -> Result<Deflate, CodecError> {
    Deflate::new(envelope, parameters.integer("level")?.unwrap_or(1))
}

fn checksum(algorithm: Algorithm, at_start: bool, parameters: &Parameters) -> Result<Checksum, CodecError> {
    let at_start = match parameters.get("location").map(|value| (value, value.as_str())) {
        None => at_start,
        Some((_, Some("start"))) => true,
        Some((_, Some("end"))) => false,
        Some((value, _)) => return Err(parameters.bad("location", value)),
    };
    Ok(Checksum { algorithm, at_start })
}

fn blosc(parameters: &Parameters, chunk: &ChunkInfo) -> Result<Blosc, CodecError> {
    let cname = parameters.text("cname")?.unwrap_or("lz4");
    // Chunks say themselves how they were compressed; the name matters for writing only.
    let compressor = compressor(cname)
        .ok_or_else(|| CodecError::unsupported("blosc", format!("the compressor {cname:?}")))?;
    let level = parameters.integer("clevel")?.unwrap_or(5).clamp(0, 9);
    let stated = parameters.size("typesize")?.filter(|&size| size > 0);
    let type_size = stated.or(chunk.element.byte_len).filter(|size| (1..256).contains(size)).unwrap_or(1);
    let shuffle = match parameters.integer("shuffle")?.unwrap_or(1) {
        -1 if type_size == 1 => 2,
        -1 => 1,
        known @ 0..=2 => known,
        other => return Err(parameters.bad("shuffle", &Value::from(other))),
    };
    let small = |number: i64| i32::try_from(number).unwrap_or(0);
    let block_len = parameters.size("blocksize")?.unwrap_or(0);
    Ok(Blosc {
        options: BloscOptions {
            level: small(level),
            shuffle: small(shuffle),
            type_size,
            compressor,
            block_len,
        },
    })
}

fn transpose(parameters: &Parameters, chunk: &mut ChunkInfo) -> Result<Option<Arc<dyn Codec>>, CodecError> {
    let rank = chunk.shape.len();
    let order = match parameters.get("order") {
        None => return Err(CodecError::malformed("transpose", "parameter \"order\" is missing")),
        Some(Value::String(word)) if word == "C" => (0..rank).collect(),
        Some(Value::String(word)) if word == "F" => (0..rank).rev().collect(),
        Some(value) => indices(value).ok_or_else(|| parameters.bad("order", value))?,
    };
    let codec = Transpose::new(&chunk.shape, chunk.element.byte_len, &order)?;
    chunk.shape = order.iter().filter_map(|&axis| chunk.shape.get(axis).copied()).collect();
    Ok(codec.map(|codec| Arc::new(codec) as Arc<dyn Codec>))
}

fn indices(value: &Value) -> Option<Vec<usize>> {
    value.as_array()?.iter().map(|axis| axis.as_u64().and_then(|axis| usize::try_from(axis).ok())).collect()
}
