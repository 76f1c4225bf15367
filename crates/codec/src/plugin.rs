//! Filters and codecs from shared libraries: HDF5's filter plugins, and netCDF's codec plugins that name them in Zarr
//! (docs/spec/nczarr.md 11.9, 11.10).
//!
//! Nothing is loaded until a filter is needed that is not built in, or the list is requested. Then every library of the
//! directories is loaded, which runs its code: a library that crashes takes the process with it.
mod bound;
mod declared;
mod found;
mod locations;
#[expect(unsafe_code, reason = "calls into shared libraries")]
mod native;
mod pairing;

use crate::codec::Codec;
use crate::{ChunkInfo, CodecEntry, CodecError, IgnoredPlugin};
use declared::DeclaredCodec;
use found::{FilterEntry, FoundPlugins};
use ncirrus_model::{CodecSpace, CodecSpec};
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

/// Which plugins are used, and how.
#[derive(Debug, Clone)]
pub struct PluginOptions {
    directories: Option<Vec<PathBuf>>,
    /// Instead of those of the environment, if that does not turn plugins off.
    configured: Option<Vec<PathBuf>>,
    declared: Vec<DeclaredCodec>,
    preferred: bool,
    complete: bool,
    concurrent: Vec<u32>,
}

impl Default for PluginOptions {
    fn default() -> Self {
        Self {
            directories: None,
            configured: None,
            declared: Vec::new(),
            preferred: false,
            complete: false,
            concurrent: STATELESS.to_vec(),
        }
    }
}

/// Filters whose registered implementations keep no state between calls: bzip2, LZ4, bit shuffle, Zstandard.
const STATELESS: [u32; 4] = [307, 32004, 32008, 32015];

impl PluginOptions {
    /// The directories that are searched where none are chosen: those of the environment, the user's configuration, or the
    /// usual ones.
    pub fn usual_directories() -> Vec<PathBuf> {
        locations::directories(&locations::ProcessEnvironment, None)
    }

    /// Plugins of these directories instead of those in the environment; none without directories.
    #[must_use]
    pub fn directories(self, directories: impl IntoIterator<Item = impl Into<PathBuf>>) -> Self {
        Self { directories: Some(directories.into_iter().map(Into::into).collect()), ..self }
    }

    /// As [`directories`](Self::directories), for directories that a configuration file names: there are no plugins all the
    /// same if the environment turns them off (`HDF5_PLUGIN_PRELOAD=::`).
    #[must_use]
    pub fn configured_directories(self, directories: impl IntoIterator<Item = impl Into<PathBuf>>) -> Self {
        let configured = Some(directories.into_iter().map(Into::into).collect());
        Self { directories: None, configured, ..self }
    }

    /// Names in Zarr for filters whose plugins have none: JSON as in the files `*.ncfilter.json` beside plugins.
    ///
    /// # Errors
    /// `Malformed` if it is not such JSON.
    pub fn declare(mut self, json: &str) -> Result<Self, CodecError> {
        let declared = declared::parse(json);
        let declared =
            declared.map_err(|reason| CodecError::malformed("declared by configuration", reason))?;
        self.declared.extend(declared);
        Ok(self)
    }

    /// Whether plugins are preferred to built-in codecs (not by default).
    #[must_use]
    pub fn preferred(self, preferred: bool) -> Self {
        Self { preferred, ..self }
    }

    /// Whether the parameters given for encoding are all that a filter needs, although its plugin would complete them
    /// with HDF5's help (not by default: such a filter then refuses to encode).
    #[must_use]
    pub fn complete_parameters(self, complete: bool) -> Self {
        Self { complete, ..self }
    }

    /// Filters (by HDF5 number) whose plugins several threads may use at once; by default those known to be stateless.
    #[must_use]
    pub fn concurrent(self, ids: impl IntoIterator<Item = u32>) -> Self {
        Self { concurrent: ids.into_iter().collect(), ..self }
    }
}

/// The plugins of a registry; loaded when first needed.
#[derive(Debug, Clone)]
pub(crate) struct PluginSet(Arc<PluginSetInner>);

#[derive(Debug)]
struct PluginSetInner {
    options: PluginOptions,
    found: OnceLock<FoundPlugins>,
}

/// The result of binding a description.
#[derive(Debug)]
pub(crate) enum BoundFilter {
    Codec(Arc<dyn Codec>),
    /// A plugin defines the name, and a built-in codec does the work.
    BuiltIn(CodecSpec),
}

impl PluginSet {
    pub(crate) fn new(options: PluginOptions) -> Self {
        Self(Arc::new(PluginSetInner { options, found: OnceLock::new() }))
    }

    /// Whether they take precedence over built-in codecs.
    pub(crate) fn are_preferred(&self) -> bool {
        self.0.options.preferred
    }

    /// The codec for a description, if a plugin provides it.
    ///
    /// # Errors
    /// If its parameters are invalid.
    pub(crate) fn bind(
        &self,
        spec: &CodecSpec,
        chunk: &ChunkInfo,
    ) -> Option<Result<BoundFilter, CodecError>> {
        let filter = self.find(spec)?;
        Some(bound::bind(filter, spec, chunk, &self.0.options))
    }

    /// A description in another name space, if a plugin provides it.
    ///
    /// # Errors
    /// If it has no name there, or its parameters are invalid.
    pub(crate) fn translate(
        &self,
        spec: &CodecSpec,
        to: CodecSpace,
        chunk: &ChunkInfo,
    ) -> Option<Result<CodecSpec, CodecError>> {
        Some(pairing::translate(self.find(spec)?, spec, to, chunk))
    }

    /// The entry of the plugin for a description.
    pub(crate) fn entry(&self, spec: &CodecSpec) -> Option<CodecEntry> {
        self.find(spec).map(|filter| filter.entry())
    }

    /// The entries of all of them.
    pub(crate) fn entries(&self) -> Vec<CodecEntry> {
        self.found().filters.iter().map(|filter| filter.entry()).collect()
    }

    /// Libraries and declarations that are not used, and why.
    pub(crate) fn ignored(&self) -> &[IgnoredPlugin] {
        &self.found().ignored
    }

    /// The directories that were searched.
    pub(crate) fn directories(&self) -> &[PathBuf] {
        &self.found().directories
    }

    fn find(&self, spec: &CodecSpec) -> Option<&Arc<FilterEntry>> {
        self.found().filters.iter().find(|filter| filter.is_named(spec))
    }

    fn found(&self) -> &FoundPlugins {
        self.0.found.get_or_init(|| FoundPlugins::new(&self.0.options))
    }
}
