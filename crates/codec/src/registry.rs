//! Binding descriptions to codecs.
mod build;
mod plugins;

use crate::chain::ChainStage;
use crate::codec::Codec;
use crate::codecs::absent::AbsentFilter;
use crate::codecs::widen;
use crate::custom::{CodecFactory, CustomCodecs};
use crate::names::{self, CodecName, TABLE};
#[cfg(feature = "plugins")]
use crate::plugin::{PluginOptions, PluginSet};
use crate::{ChunkInfo, CodecChain, CodecEntry, CodecError, CodecOrigin};
use build::build;
use ncirrus_model::{CodecSpace, CodecSpec};
use std::sync::Arc;

/// The available codecs.
#[derive(Debug, Clone, Default)]
pub struct CodecRegistry {
    custom: CustomCodecs,
    #[cfg(feature = "plugins")]
    plugins: Option<PluginSet>,
}

impl CodecRegistry {
    /// The codecs of this crate.
    pub fn builtin() -> Self {
        Self::default()
    }

    /// The same, and those of plugins.
    #[cfg(feature = "plugins")]
    pub fn with_plugins(options: PluginOptions) -> Self {
        Self { plugins: Some(PluginSet::new(options)), ..Self::default() }
    }

    /// Adds a custom codec.
    ///
    /// # Errors
    /// `Malformed` if a codec of this crate, or one that was registered before, has its name or number.
    pub fn register(&mut self, factory: Arc<dyn CodecFactory>) -> Result<(), CodecError> {
        self.custom.add(factory)
    }

    /// Binds descriptions, in the order of encoding, to codecs for chunks of that shape and element.
    ///
    /// # Errors
    /// `Unknown` or `Unsupported` if a codec is not available (an optional HDF5 filter may be missing until a chunk
    /// needs it), `Malformed` if its parameters are invalid.
    pub fn bind(&self, specs: &[CodecSpec], chunk: &ChunkInfo) -> Result<CodecChain, CodecError> {
        let mut chunk = chunk.clone();
        let big_endian = specs.iter().any(is_big_endian);
        let mut stages = Vec::with_capacity(specs.len());
        for (position, spec) in specs.iter().enumerate() {
            let optional = matches!(spec, CodecSpec::Hdf5 { optional: true, .. });
            let codec = match self.codec(spec, &mut chunk, big_endian) {
                // Chunks that were stored without it can be read, and it is skipped for new ones.
                Err(fault @ (CodecError::Unknown { .. } | CodecError::Unsupported { .. })) if optional => {
                    Some(Arc::new(AbsentFilter { fault }) as Arc<dyn Codec>)
                }
                built => built?,
            };
            stages.extend(codec.map(|codec| {
                let optional = optional && codec.encode_fault().is_none();
                ChainStage { position, optional, codec }
            }));
        }
        Ok(CodecChain::new(stages))
    }

    /// The codec for a description: a custom one, a built-in one, otherwise one of a plugin.
    fn codec(
        &self,
        spec: &CodecSpec,
        chunk: &mut ChunkInfo,
        big_endian: bool,
    ) -> Result<Option<Arc<dyn Codec>>, CodecError> {
        if let Some(codec) = self.custom.bind(spec, chunk) {
            return codec.map(Some);
        }
        if self.prefers_plugins()
            && let Some(codec) = self.plugin_codec(spec, chunk, big_endian)
        {
            return codec;
        }
        if let Some(codec) = widen::bind(spec, chunk) {
            return codec.map(Some);
        }
        match build(self, spec, chunk, big_endian) {
            Err(error @ (CodecError::Unknown { .. } | CodecError::Unsupported { .. })) => {
                self.plugin_codec(spec, chunk, big_endian).unwrap_or(Err(error))
            }
            built => built,
        }
    }

    /// The same codec described in another name space, as [`names::translate`], including custom codecs and those of
    /// plugins.
    ///
    /// # Errors
    /// As [`names::translate`].
    pub fn translate(
        &self,
        spec: &CodecSpec,
        to: CodecSpace,
        chunk: &ChunkInfo,
    ) -> Result<CodecSpec, CodecError> {
        if let Some(translated) = self.custom.translate(spec, to) {
            return translated;
        }
        match names::translate(spec, to, &chunk.element) {
            Err(error @ (CodecError::Unknown { .. } | CodecError::Unsupported { .. })) => {
                self.plugin_translation(spec, to, chunk).unwrap_or(Err(error))
            }
            translated => translated,
        }
    }

    /// Whether chunks can be encoded with a codec of that description.
    ///
    /// # Errors
    /// Why they cannot.
    pub fn check_encodes(&self, spec: &CodecSpec, chunk: &ChunkInfo) -> Result<(), CodecError> {
        if self.entry(spec).is_some_and(|entry| !entry.encodes) {
            return Err(CodecError::unsupported(&spec.identifier(), "it can be read but not written"));
        }
        match self.codec(spec, &mut chunk.clone(), false) {
            Ok(Some(codec)) => codec.encode_fault().map_or(Ok(()), Err),
            _ => Ok(()),
        }
    }

    /// The entry of the codec to which a description is bound; `None` if there is none. Plugins are consulted only if
    /// no built-in codec decodes it, or if they are preferred.
    pub fn entry(&self, spec: &CodecSpec) -> Option<CodecEntry> {
        if let Some(entry) = self.custom.entry(spec) {
            return Some(entry);
        }
        let built_in = names::find(spec).map(entry);
        match &built_in {
            Some(entry) if entry.decodes && !self.prefers_plugins() => built_in,
            _ => self.plugin_entry(spec).or(built_in),
        }
    }

    /// All codecs with a name here, including those that can only be named, custom codecs, and those of plugins, which
    /// are loaded for this.
    pub fn known(&self) -> Vec<CodecEntry> {
        TABLE.iter().map(entry).chain(self.custom.entries()).chain(self.plugin_entries()).collect()
    }
}

/// The entry of a built-in codec.
fn entry(name: &CodecName) -> CodecEntry {
    let list = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    CodecEntry {
        name: name.label().to_owned(),
        hdf5: name.hdf5,
        v2: list(name.v2),
        v3: list(name.v3),
        parameters: list(name.kind.members()),
        origin: CodecOrigin::BuiltIn,
        decodes: name.decodes,
        encodes: name.encodes,
        needs_complete_parameters: false,
    }
}

/// Whether the elements of the chunk are big-endian: the number types of earlier codecs do not state it in Zarr v3.
fn is_big_endian(spec: &CodecSpec) -> bool {
    let CodecSpec::V3 { name, configuration } = spec else { return false };
    matches!(name.as_str(), "bytes" | "endian")
        && configuration.get("endian").is_some_and(|order| order.as_str() == Some("big"))
}
