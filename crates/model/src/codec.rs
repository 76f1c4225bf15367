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

    /// A Zarr codec as JSON text, as `ncdump` prints it in `_Codecs` (`docs/spec/nczarr.md` 11.8); HDF5 filters have none.
    pub fn text(&self) -> Option<String> {
        match self {
            Self::Hdf5 { .. } => None,
            Self::V2(map) => Some(json_text(&Value::Object(map.clone()))),
            Self::V3 { name, configuration } => {
                let mut object = Map::new();
                object.insert("name".to_owned(), Value::from(name.as_str()));
                if !configuration.is_empty() {
                    object.insert("configuration".to_owned(), Value::Object(configuration.clone()));
                }
                Some(json_text(&Value::Object(object)))
            }
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

/// JSON with the separators of docs/spec/nczarr.md 3.1: a blank after `:` and after `,` in objects, none in lists.
fn json_text(value: &Value) -> String {
    match value {
        Value::Object(map) => {
            let members = map
                .iter()
                .map(|(name, value)| format!("{}: {}", Value::from(name.as_str()), json_text(value)));
            format!("{{{}}}", members.collect::<Vec<_>>().join(", "))
        }
        Value::Array(list) => format!("[{}]", list.iter().map(json_text).collect::<Vec<_>>().join(",")),
        scalar => scalar.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codecs_are_printed_with_the_separators_of_the_reference() {
        let map = serde_json::json!({"id": "blosc", "list": [1, 2], "clevel": 5});
        let Value::Object(map) = map else { unreachable!() };
        let text = CodecSpec::V2(map).text().unwrap();
        assert_eq!(text, r#"{"id": "blosc", "list": [1,2], "clevel": 5}"#);
    }
}
