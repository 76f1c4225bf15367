//! Binding of descriptions to codecs.
mod build;

use crate::chain::Stage;
use crate::codec::Codec;
use crate::codecs::absent::Absent;
use crate::names::TABLE;
use crate::{ChunkInfo, CodecChain, CodecError};
use build::build;
use ncirrus_model::CodecSpec;
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
    /// `Unknown` or `Unsupported` when a codec is not there (an optional HDF5 filter may be missing until a chunk needs it), `Malformed` when its parameters make no sense.
    pub fn bind(&self, specs: &[CodecSpec], chunk: &ChunkInfo) -> Result<CodecChain, CodecError> {
        let mut chunk = chunk.clone();
        let big_endian = specs.iter().any(is_big_endian);
        let mut stages = Vec::with_capacity(specs.len());
        for (position, spec) in specs.iter().enumerate() {
            let optional = matches!(spec, CodecSpec::Hdf5 { optional: true, .. });
            let codec = match build(spec, &mut chunk, big_endian) {
                // Chunks that went without it can be read, and new ones go without it.
                Err(CodecError::Unknown { codec } | CodecError::Unsupported { codec, .. }) if optional => {
                    Some(Arc::new(Absent { codec }) as Arc<dyn Codec>)
                }
                built => built?,
            };
            stages.extend(codec.map(|codec| Stage { position, optional, codec }));
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

/// Whether the elements of the chunk are big-endian: the number types of the codecs before do not say it in Zarr v3.
fn is_big_endian(spec: &CodecSpec) -> bool {
    let CodecSpec::V3 { name, configuration } = spec else { return false };
    matches!(name.as_str(), "bytes" | "endian")
        && configuration.get("endian").is_some_and(|order| order.as_str() == Some("big"))
}
