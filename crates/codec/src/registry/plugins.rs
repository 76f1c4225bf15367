//! The part of the registry that depends on plugins, with stubs for builds without them.
use super::CodecRegistry;
#[cfg(feature = "plugins")]
use super::build::build;
use crate::codec::Codec;
#[cfg(feature = "plugins")]
use crate::plugin::{BoundFilter, PluginSet};
use crate::{ChunkInfo, CodecEntry, CodecError, IgnoredPlugin};
use ncirrus_model::{CodecSpace, CodecSpec};
use std::path::PathBuf;
use std::sync::Arc;

#[cfg(feature = "plugins")]
impl CodecRegistry {
    /// Libraries and declarations in the directories of plugins that are not used, and why.
    pub fn ignored(&self) -> &[IgnoredPlugin] {
        self.plugins.as_ref().map(PluginSet::ignored).unwrap_or_default()
    }

    /// The directories in which plugins are searched for.
    pub fn plugin_directories(&self) -> &[PathBuf] {
        self.plugins.as_ref().map(PluginSet::directories).unwrap_or_default()
    }

    pub(super) fn prefers_plugins(&self) -> bool {
        self.plugins.as_ref().is_some_and(PluginSet::are_preferred)
    }

    pub(super) fn plugin_codec(
        &self,
        spec: &CodecSpec,
        chunk: &mut ChunkInfo,
        big_endian: bool,
    ) -> Option<Result<Option<Arc<dyn Codec>>, CodecError>> {
        let bound = self.plugins.as_ref()?.bind(spec, chunk)?;
        Some(bound.and_then(|bound| match bound {
            BoundFilter::Codec(codec) => Ok(Some(codec)),
            BoundFilter::BuiltIn(spec) => build(self, &spec, chunk, big_endian),
        }))
    }

    pub(super) fn plugin_translation(
        &self,
        spec: &CodecSpec,
        to: CodecSpace,
        chunk: &ChunkInfo,
    ) -> Option<Result<CodecSpec, CodecError>> {
        self.plugins.as_ref()?.translate(spec, to, chunk)
    }

    pub(super) fn plugin_entry(&self, spec: &CodecSpec) -> Option<CodecEntry> {
        self.plugins.as_ref()?.entry(spec)
    }

    pub(super) fn plugin_entries(&self) -> Vec<CodecEntry> {
        self.plugins.as_ref().map(PluginSet::entries).unwrap_or_default()
    }
}

#[cfg(not(feature = "plugins"))]
impl CodecRegistry {
    /// Libraries that are not used, and why: none, since none are searched for.
    pub fn ignored(&self) -> &[IgnoredPlugin] {
        &[]
    }

    /// The directories in which plugins are searched for: none.
    pub fn plugin_directories(&self) -> &[PathBuf] {
        &[]
    }

    pub(super) fn prefers_plugins(&self) -> bool {
        false
    }

    pub(super) fn plugin_codec(
        &self,
        _: &CodecSpec,
        _: &mut ChunkInfo,
        _: bool,
    ) -> Option<Result<Option<Arc<dyn Codec>>, CodecError>> {
        None
    }

    pub(super) fn plugin_translation(
        &self,
        _: &CodecSpec,
        _: CodecSpace,
        _: &ChunkInfo,
    ) -> Option<Result<CodecSpec, CodecError>> {
        None
    }

    pub(super) fn plugin_entry(&self, _: &CodecSpec) -> Option<CodecEntry> {
        None
    }

    pub(super) fn plugin_entries(&self) -> Vec<CodecEntry> {
        Vec::new()
    }
}
