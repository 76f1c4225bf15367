//! What is known of codecs, and of libraries that are not used: what the registry answers, and plugins tell it.
use std::path::PathBuf;

/// What is known of one codec.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct CodecEntry {
    /// What messages call it.
    pub name: String,
    /// Its HDF5 filter number.
    pub hdf5: Option<u32>,
    /// Its Zarr v2 identifiers, the one that is written first.
    pub v2: Vec<String>,
    /// Its Zarr v3 names, the one that is written first.
    pub v3: Vec<String>,
    /// The members of its Zarr v2 JSON, where they are known.
    pub parameters: Vec<String>,
    /// Where it comes from.
    pub origin: CodecOrigin,
    /// Whether chunks can be decoded.
    pub decodes: bool,
    /// Whether chunks can be encoded.
    pub encodes: bool,
    /// Whether encoding needs all parameters that the filter works with, those included that HDF5 would add.
    pub needs_complete_parameters: bool,
}

/// Where a codec comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum CodecOrigin {
    /// This crate.
    BuiltIn,
    /// The program, which registered it.
    Program,
    /// Shared libraries.
    Plugin {
        /// The library with the filter; `None` when it is a built-in one with another name.
        filter: Option<PathBuf>,
        /// The library or file that gives it its name in Zarr, unless the configuration does.
        codec: Option<PathBuf>,
    },
}

/// A library, or a file that declares codecs, that is not used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IgnoredPlugin {
    /// Where it is; empty for declarations of the configuration.
    pub path: PathBuf,
    /// Why it is not used.
    pub reason: String,
}
