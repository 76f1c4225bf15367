//! Entries about codecs, and about unused libraries: returned by the registry, and filled in by plugins.
use std::path::PathBuf;

/// What is known about one codec.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct CodecEntry {
    /// Its name in messages.
    pub name: String,
    /// Its HDF5 filter number.
    pub hdf5: Option<u32>,
    /// Its Zarr v2 identifiers, the one that is written first.
    pub v2: Vec<String>,
    /// Its Zarr v3 names, the one that is written first.
    pub v3: Vec<String>,
    /// The members of its Zarr v2 JSON, if known.
    pub parameters: Vec<String>,
    /// Its origin.
    pub origin: CodecOrigin,
    /// Whether chunks can be decoded.
    pub decodes: bool,
    /// Whether chunks can be encoded.
    pub encodes: bool,
    /// Whether encoding needs all parameters that the filter works with, including those that HDF5 would add.
    pub needs_complete_parameters: bool,
}

/// The origin of a codec.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum CodecOrigin {
    /// This crate.
    BuiltIn,
    /// The program, which registered it.
    Program,
    /// Shared libraries.
    Plugin {
        /// The library with the filter; `None` for a built-in filter with another name.
        filter: Option<PathBuf>,
        /// The library or file that defines its name in Zarr, unless the configuration does.
        codec: Option<PathBuf>,
    },
}

/// A library, or a file that declares codecs, that is not used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IgnoredPlugin {
    /// Its path; empty for declarations of the configuration.
    pub path: PathBuf,
    /// Why it is not used.
    pub reason: String,
}
