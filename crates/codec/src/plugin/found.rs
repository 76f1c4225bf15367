//! Searching the directories, and matching filters and codecs by HDF5 number.
use super::PluginOptions;
use super::declared::{self, DeclaredCodec};
use super::locations::{self, ProcessEnvironment};
use super::native::{self, LibraryExports, NativeCodec, NativeFilter};
use crate::{CodecEntry, CodecOrigin, IgnoredPlugin};
use ncirrus_model::CodecSpec;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The result of the search.
#[derive(Debug, Default)]
pub(super) struct FoundPlugins {
    pub(super) directories: Vec<PathBuf>,
    /// In the order of discovery; no two with the same number.
    pub(super) filters: Vec<Arc<FilterEntry>>,
    pub(super) ignored: Vec<IgnoredPlugin>,
}

/// A filter number: the function, the name in Zarr, or both.
#[derive(Debug)]
pub(super) struct FilterEntry {
    pub(super) id: u32,
    /// The function, and its library; none for built-in filters.
    pub(super) native: Option<(NativeFilter, PathBuf)>,
    pub(super) codec: Option<NamePair>,
}

/// The source of a filter's name in Zarr.
#[derive(Debug)]
pub(super) enum NamePair {
    Native(NativeCodec, PathBuf),
    /// From a file, or from the configuration.
    Declared(DeclaredCodec, Option<PathBuf>),
}

impl FilterEntry {
    pub(super) fn is_named(&self, spec: &CodecSpec) -> bool {
        match spec {
            // A codec for a built-in filter adds nothing in HDF5.
            CodecSpec::Hdf5 { id, .. } => self.id == *id && self.native.is_some(),
            CodecSpec::V2(_) => self.codec.as_ref().is_some_and(|codec| codec.v2() == spec.identifier()),
            CodecSpec::V3 { name, .. } => self.codec.as_ref().is_some_and(|codec| codec.v3() == name),
        }
    }

    /// Its name in messages.
    pub(super) fn label(&self) -> String {
        let named = self.codec.as_ref().map(NamePair::v2);
        let own = self.native.as_ref().map(|(filter, _)| filter.name.as_str()).unwrap_or_default();
        format!("{} (filter {})", named.unwrap_or(own), self.id).trim_start().to_owned()
    }

    pub(super) fn entry(&self) -> CodecEntry {
        let names =
            |name: fn(&NamePair) -> &str| self.codec.iter().map(|pair| name(pair).to_owned()).collect();
        let native = self.native.as_ref();
        let needs = native.is_some_and(|(filter, _)| filter.encodes && filter.sets_local);
        CodecEntry {
            name: self.label(),
            hdf5: Some(self.id),
            v2: names(NamePair::v2),
            v3: names(NamePair::v3),
            parameters: self.codec.as_ref().map(NamePair::parameter_names).unwrap_or_default(),
            origin: CodecOrigin::Plugin {
                filter: native.map(|(_, path)| path.clone()),
                codec: self.codec.as_ref().and_then(NamePair::path).map(Path::to_owned),
            },
            decodes: native.is_none_or(|(filter, _)| filter.decodes),
            encodes: native.is_none_or(|(filter, _)| filter.encodes),
            needs_complete_parameters: needs && !self.codec.as_ref().is_some_and(NamePair::completes),
        }
    }
}

impl NamePair {
    fn hdf5(&self) -> u32 {
        match self {
            Self::Native(codec, _) => codec.hdf5,
            Self::Declared(declared, _) => declared.hdf5,
        }
    }

    pub(super) fn v2(&self) -> &str {
        match self {
            Self::Native(codec, _) => &codec.id,
            Self::Declared(declared, _) => &declared.v2,
        }
    }

    pub(super) fn v3(&self) -> &str {
        match self {
            Self::Native(codec, _) => &codec.id,
            Self::Declared(declared, _) => &declared.v3,
        }
    }

    fn is_again(&self, other: &Self) -> bool {
        self.path() == other.path() && self.v2() == other.v2()
    }

    fn completes(&self) -> bool {
        match self {
            Self::Native(codec, _) => codec.modifies(),
            Self::Declared(declared, _) => declared.complete,
        }
    }

    fn path(&self) -> Option<&Path> {
        match self {
            Self::Native(_, path) => Some(path),
            Self::Declared(_, path) => path.as_deref(),
        }
    }

    fn parameter_names(&self) -> Vec<String> {
        match self {
            Self::Native(..) => Vec::new(),
            Self::Declared(declared, _) => declared.parameter_names().map(str::to_owned).collect(),
        }
    }
}

impl FoundPlugins {
    /// Loads every plugin of the directories.
    pub(super) fn new(options: &PluginOptions) -> Self {
        let mut finder = PluginFinder::default();
        let configured = options.configured.as_deref();
        let directories = options.directories.clone();
        let directories =
            directories.unwrap_or_else(|| locations::directories(&ProcessEnvironment, configured));
        for declared in &options.declared {
            finder.configured.push(NamePair::Declared(declared.clone(), None));
        }
        for directory in &directories {
            finder.look_through(directory);
        }
        Self { directories, ..finder.finish() }
    }
}

/// Collects; codecs are ranked by their source: configuration, the library itself, files, defaults.
#[derive(Default)]
struct PluginFinder {
    natives: Vec<(NativeFilter, PathBuf)>,
    configured: Vec<NamePair>,
    own: Vec<NamePair>,
    files: Vec<NamePair>,
    defaults: Vec<NamePair>,
    ignored: Vec<IgnoredPlugin>,
    /// Libraries by their resolved paths.
    seen: HashMap<PathBuf, PathBuf>,
}

impl PluginFinder {
    fn look_through(&mut self, directory: &Path) {
        let entries = match std::fs::read_dir(directory) {
            Ok(entries) => entries,
            Err(error) => return self.ignore(directory, format!("cannot be listed: {error}")),
        };
        let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
        paths.sort();
        for path in paths {
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            if name.ends_with(DECLARATIONS) {
                self.read(&path);
            } else if is_library(&name) {
                self.load(&path);
            }
        }
    }

    fn read(&mut self, path: &Path) {
        let text = std::fs::read_to_string(path).map_err(|error| format!("cannot be read: {error}"));
        match text.and_then(|text| declared::parse(&text)) {
            Ok(declared) => {
                let pairs =
                    declared.into_iter().map(|declared| NamePair::Declared(declared, Some(path.to_owned())));
                self.files.extend(pairs);
            }
            Err(reason) => self.ignore(path, reason),
        }
    }

    fn load(&mut self, path: &Path) {
        let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        if let Some(first) = self.seen.get(&real) {
            let reason = format!("the same library as {}", first.display());
            return self.ignore(path, reason);
        }
        self.seen.insert(real, path.to_owned());
        let exports = match native::load(path) {
            Ok(exports) => exports,
            Err(reason) => return self.ignore(path, reason),
        };
        let LibraryExports { filter, codec, defaults, refused } = exports;
        refused.into_iter().for_each(|reason| self.ignore(path, reason));
        let pair = |codec| NamePair::Native(codec, path.to_owned());
        self.own.extend(codec.map(pair));
        self.defaults.extend(defaults.into_iter().map(pair));
        if let Some(filter) = filter {
            match self.natives.iter().find(|(other, _)| other.id == filter.id) {
                Some((_, first)) => {
                    let reason = format!("filter {} is that of {}", filter.id, first.display());
                    self.ignore(path, reason);
                }
                None => self.natives.push((filter, path.to_owned())),
            }
        }
    }

    fn ignore(&mut self, path: &Path, reason: String) {
        self.ignored.push(IgnoredPlugin { path: path.to_owned(), reason });
    }

    fn finish(mut self) -> FoundPlugins {
        let mut filters: Vec<FilterEntry> = std::mem::take(&mut self.natives)
            .into_iter()
            .map(|native| FilterEntry { id: native.0.id, native: Some(native), codec: None })
            .collect();
        let own = [std::mem::take(&mut self.configured), std::mem::take(&mut self.own)];
        let others = [std::mem::take(&mut self.files), std::mem::take(&mut self.defaults)];
        for pair in own.into_iter().chain(others).flatten() {
            self.pair(&mut filters, pair);
        }
        let filters = filters.into_iter().map(Arc::new).collect();
        FoundPlugins { directories: Vec::new(), filters, ignored: self.ignored }
    }

    /// Assigns a codec to a filter, unless it has one; a name belongs to its first owner.
    fn pair(&mut self, filters: &mut Vec<FilterEntry>, pair: NamePair) {
        let path = pair.path().map(Path::to_owned).unwrap_or_default();
        let taken = filters.iter().find(|filter| {
            let codec = filter.codec.as_ref();
            filter.id != pair.hdf5()
                && codec.is_some_and(|codec| codec.v2() == pair.v2() || codec.v3() == pair.v3())
        });
        if let Some(other) = taken {
            let reason = format!("the name {:?} is that of filter {} already", pair.v2(), other.id);
            return self.ignore(&path, reason);
        }
        match filters.iter_mut().find(|filter| filter.id == pair.hdf5()) {
            // Some libraries offer one codec in both ways.
            Some(filter) if filter.codec.as_ref().is_some_and(|codec| codec.is_again(&pair)) => {}
            Some(filter) if filter.codec.is_some() => {
                let reason = format!("filter {} has a codec already", filter.id);
                self.ignore(&path, reason);
            }
            Some(filter) => filter.codec = Some(pair),
            None if crate::names::is_built_in(pair.hdf5()) => {
                filters.push(FilterEntry { id: pair.hdf5(), native: None, codec: Some(pair) });
            }
            None => {
                let reason = format!("codec {:?} is for filter {}, which is nowhere", pair.v2(), pair.hdf5());
                self.ignore(&path, reason);
            }
        }
    }
}

/// Extension of files with declarations.
const DECLARATIONS: &str = ".ncfilter.json";

/// Whether a file's name is that of a shared library.
fn is_library(name: &str) -> bool {
    if cfg!(windows) {
        name.to_ascii_lowercase().ends_with(".dll")
    } else {
        [".so", ".dylib", ".bundle"].iter().any(|end| name.ends_with(end)) || name.contains(".so.")
    }
}
