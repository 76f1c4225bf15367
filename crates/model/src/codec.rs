//! How a stored chunk was encoded, in the notation of each format.
use serde_json::{Map, Value};

/// One codec or filter: its identifier in one of three name spaces, and its configuration.
///
/// The engine binds a `CodecSpec` to code; formats only pass it on.
#[derive(Debug, Clone, PartialEq)]
pub enum CodecSpec {
    /// An HDF5 filter: registered id and unsigned parameters (HDF5 file format, filter pipeline message).
    Hdf5 {
        /// Registered filter id.
        id: u32,
        /// Client data values.
        parameters: Vec<u32>,
        /// Whether the writer may skip this filter if it fails.
        optional: bool,
    },
    /// A Zarr v2 codec: the whole JSON object, `id` included (Zarr v2 specification, "filters", "compressor").
    V2(Map<String, Value>),
    /// A Zarr v3 codec: name and configuration (Zarr v3 core specification, "codecs").
    V3 {
        /// Name, for instance `zstd`.
        name: String,
        /// Configuration members; empty when absent.
        configuration: Map<String, Value>,
    },
}

/// The name spaces in which codecs are identified.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CodecSpace {
    /// Numbers and unsigned parameters.
    Hdf5,
    /// `{"id": ...}`.
    V2,
    /// `{"name": ..., "configuration": {...}}`.
    V3,
}

impl CodecSpec {
    /// The name space of this description.
    pub fn space(&self) -> CodecSpace {
        match self {
            Self::Hdf5 { .. } => CodecSpace::Hdf5,
            Self::V2(_) => CodecSpace::V2,
            Self::V3 { .. } => CodecSpace::V3,
        }
    }

    /// The identifier as text: a number for HDF5, the `id` or `name` for Zarr.
    pub fn identifier(&self) -> String {
        match self {
            Self::Hdf5 { id, .. } => id.to_string(),
            Self::V2(map) => map.get("id").and_then(Value::as_str).unwrap_or_default().to_owned(),
            Self::V3 { name, .. } => name.clone(),
        }
    }

    /// A Zarr v3 codec without configuration.
    pub fn v3(name: &str) -> Self {
        Self::V3 { name: name.to_owned(), configuration: Map::new() }
    }

    /// An HDF5 filter that must not be skipped.
    pub fn hdf5(id: u32, parameters: &[u32]) -> Self {
        Self::Hdf5 { id, parameters: parameters.to_vec(), optional: false }
    }
}
