//! Conventions that new groups and arrays of plain Zarr v3 declare in `zarr_conventions`: those of GeoZarr whose attributes they
//! have, and NZ, the netCDF conventions for Zarr v3, whose attributes have types (docs/spec/zarr3.md 5).
//!
//! Only attributes in the form that the schema of a convention asks for are declared. A declaration that is there is kept.
use super::text::render;
use crate::special;
use serde_json::{Map, Value, json};

/// The attribute that lists the conventions of a group or an array.
pub(crate) const CONVENTIONS: &str = "zarr_conventions";

/// A convention of the registry.
struct Convention {
    uuid: &'static str,
    name: &'static str,
    schema_url: &'static str,
    spec_url: &'static str,
    description: &'static str,
}

const PROJ: Convention = Convention {
    uuid: "f17cb550-5864-4468-aeb7-f3180cfb622f",
    name: "proj",
    schema_url: "https://raw.githubusercontent.com/zarr-conventions/proj/refs/tags/v0.1/schema.json",
    spec_url: "https://github.com/zarr-conventions/proj/blob/v0.1/README.md",
    description: "Coordinate reference system information for geospatial data",
};

const SPATIAL: Convention = Convention {
    uuid: "689b58e2-cf7b-45e0-9fff-9cfc0883d6b4",
    name: "spatial",
    schema_url: "https://raw.githubusercontent.com/zarr-conventions/spatial/refs/tags/v0.1/schema.json",
    spec_url: "https://github.com/zarr-conventions/spatial/blob/v0.1/README.md",
    description: "Spatial coordinate information",
};

const MULTISCALES: Convention = Convention {
    uuid: "d35379db-88df-4056-af3a-620245f8e347",
    name: "multiscales",
    schema_url: "https://raw.githubusercontent.com/zarr-conventions/multiscales/refs/tags/v0.1/schema.json",
    spec_url: "https://github.com/zarr-conventions/multiscales/blob/v0.1/README.md",
    description: "Multiscale layout of zarr datasets",
};

impl Convention {
    fn to_json(&self) -> Value {
        json!({
            "uuid": self.uuid, "schema_url": self.schema_url, "spec_url": self.spec_url, "name": self.name,
            "description": self.description,
        })
    }

    /// Whether an entry of `zarr_conventions` declares it, in whatever version.
    fn is_declared_by(&self, entry: &Value) -> bool {
        let has = |member: &str, wanted: &str| entry[member].as_str() == Some(wanted);
        let is_named = has("schema_url", self.schema_url) || has("spec_url", self.spec_url);
        has("uuid", self.uuid) || (entry["uuid"].is_null() && is_named)
    }
}

/// Whether a text attribute of that name is JSON in Zarr: its convention defines a list or a dictionary.
pub(super) fn is_json(name: &str, text: &[u8]) -> bool {
    let opening = match name {
        CONVENTIONS => b'[',
        "multiscales" | "proj:projjson" => b'{',
        _ => return false,
    };
    text.trim_ascii_start().first() == Some(&opening)
}

/// Declares the conventions whose attributes a group or an array has.
pub(super) fn declare(attributes: &mut Map<String, Value>, is_array: bool) {
    let of_conventions = |name: &&String| {
        let name = name.as_str();
        name == CONVENTIONS
            || name == "multiscales"
            || name.starts_with("proj:")
            || name.starts_with("spatial:")
    };
    // JSON of the source is kept in its spelling.
    let read = |(name, value): (&String, &Value)| {
        let value = serde_json::from_slice(&render(value)).unwrap_or(Value::Null);
        (name.clone(), value)
    };
    let plain: Map<String, Value> =
        attributes.iter().filter(|(name, _)| of_conventions(name)).map(read).collect();
    let mut list = match plain.get(CONVENTIONS) {
        None => Vec::new(),
        Some(Value::Array(list)) if list.iter().all(Value::is_object) => list.clone(),
        Some(_) => return,
    };
    let before = list.len();
    let found = [
        (has_proj(&plain), PROJ),
        (has_spatial(&plain, is_array), SPATIAL),
        (!is_array && has_multiscales(&plain), MULTISCALES),
    ];
    for (is_there, convention) in found {
        if is_there && !list.iter().any(|entry| convention.is_declared_by(entry)) {
            list.push(convention.to_json());
        }
    }
    if list.len() > before {
        attributes.insert(CONVENTIONS.to_owned(), Value::Array(list));
    }
}

fn has_proj(attributes: &Map<String, Value>) -> bool {
    let code = attributes.get("proj:code").map(|code| {
        code.as_str().is_some_and(|code| {
            let mut parts = code.split(':').map(str::is_empty);
            (parts.next(), parts.next(), parts.next()) == (Some(false), Some(false), None)
        })
    });
    let wkt = attributes.get("proj:wkt2").map(Value::is_string);
    let json = attributes.get("proj:projjson").map(Value::is_object);
    all_right(&[code, wkt, json])
}

fn has_spatial(attributes: &Map<String, Value>, is_array: bool) -> bool {
    let list = |name: &str, len: usize, is_right: fn(&Value) -> bool| {
        let list = attributes.get(name)?;
        Some(list.as_array().is_some_and(|list| list.len() == len && list.iter().all(is_right)))
    };
    let dims = list("spatial:dimensions", 2, Value::is_string);
    let registration = attributes.get("spatial:registration");
    let registration = registration.map(|text| matches!(text.as_str(), Some("node" | "pixel")));
    let of_levels = attributes.get("multiscales").and_then(|scales| scales["layout"].as_array());
    let of_levels = of_levels.map(|levels| {
        let has_own =
            ["spatial:transform", "spatial:shape"].iter().any(|name| attributes.contains_key(*name));
        !has_own && levels.iter().all(|level| level["spatial:transform"].is_array())
    });
    let is_there = all_right(&[
        dims,
        list("spatial:transform", 6, Value::is_number),
        list("spatial:bbox", 4, Value::is_number),
        list("spatial:shape", 2, |len| len.as_u64().is_some_and(|len| len > 0)),
        attributes.get("spatial:transform_type").map(Value::is_string),
        registration,
    ]);
    is_there && of_levels.unwrap_or(true) && (dims.is_some() || !is_array)
}

fn has_multiscales(attributes: &Map<String, Value>) -> bool {
    let layout = attributes.get("multiscales").and_then(|scales| scales["layout"].as_array());
    let is_level = |level: &Value| {
        let is_path =
            |name: &str| level[name].as_str().is_some_and(|path| !path.is_empty() && !path.starts_with('/'));
        let is_derived = level
            .get("derived_from")
            .is_none_or(|_| is_path("derived_from") && level["transform"].is_object());
        is_path("asset") && is_derived
    };
    layout.is_some_and(|levels| !levels.is_empty() && levels.iter().all(is_level))
}

/// Whether one of the attributes is there, and those that are there are right.
fn all_right(found: &[Option<bool>]) -> bool {
    found.iter().any(Option::is_some) && found.iter().flatten().all(|is_right| *is_right)
}

/// Whether the attributes of the root say that the dataset follows NZ.
pub(super) fn is_nz(conventions: Option<&str>) -> bool {
    let is_name = |word: &str| ["NZ-1.0", "NZUG-1.0"].iter().any(|name| word.eq_ignore_ascii_case(name));
    conventions.is_some_and(|text| text.split([' ', ',']).any(is_name))
}

/// The types of attributes by NZ: those of numbers that JSON does not determine. `types` has them in the form of NCZarr, `kept`
/// as they are stored.
pub(super) fn nz_types(
    attributes: &Map<String, Value>,
    types: &Map<String, Value>,
    kept: Option<&Value>,
) -> Option<Value> {
    let mut all = Map::new();
    let old = kept.and_then(|kept| kept["types"].as_object());
    for (name, word) in old.into_iter().flatten().filter(|(name, _)| attributes.contains_key(*name)) {
        all.insert(name.clone(), word.clone());
    }
    for (name, word) in types {
        let is_number = |value: &Value| {
            value.is_number() || value.as_array().is_some_and(|list| list.iter().all(Value::is_number))
        };
        let is_typed = name != special::FILL_VALUE && attributes.get(name).is_some_and(is_number);
        match word.as_str().and_then(nz_name).filter(|_| is_typed) {
            // JSON determines doubles. Readers differ in what they take an integer for.
            Some("float64") => _ = all.shift_remove(name),
            None => {}
            Some(word) => _ = all.insert(name.clone(), json!(word)),
        }
    }
    (!all.is_empty()).then(|| json!({"types": all}))
}

/// The name in Zarr v3 of a type in the notation of NumPy.
fn nz_name(word: &str) -> Option<&'static str> {
    Some(match word {
        "<i1" => "int8",
        "<u1" => "uint8",
        "<i2" => "int16",
        "<u2" => "uint16",
        "<i4" => "int32",
        "<u4" => "uint32",
        "<i8" => "int64",
        "<u8" => "uint64",
        "<f4" => "float32",
        "<f8" => "float64",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn declared(attributes: Value, is_array: bool) -> Vec<String> {
        let Value::Object(mut attributes) = attributes else { unreachable!("an object") };
        declare(&mut attributes, is_array);
        let list = attributes.get(CONVENTIONS).and_then(Value::as_array).cloned().unwrap_or_default();
        list.iter().map(|entry| entry["name"].as_str().unwrap_or("?").to_owned()).collect()
    }

    #[test]
    fn attributes_in_the_form_of_a_convention_are_declared() {
        let spatial = json!({"spatial:dimensions": ["y", "x"], "spatial:transform": [1, 0, 0, 0, -1, 0.5]});
        let level = json!({"asset": "r1", "spatial:transform": [1, 0, 0, 0, -1, 0]});
        let pyramid = json!({"multiscales": {"layout": [level]}, "spatial:dimensions": ["y", "x"], "proj:code": "EPSG:4326"});
        for (attributes, is_array, due) in [
            (json!({"proj:code": "EPSG:4326"}), true, &["proj"][..]),
            (json!({"proj:wkt2": "PROJCRS[]", "proj:projjson": {}}), false, &["proj"]),
            (spatial.clone(), true, &["spatial"]),
            (pyramid.clone(), false, &["proj", "spatial", "multiscales"]),
            // An array inherits dimensions of its group, which the schema does not allow.
            (json!({"spatial:transform": [1, 0, 0, 0, -1, 0]}), true, &[]),
            (json!({"spatial:transform": [1, 0, 0, 0, -1, 0]}), false, &["spatial"]),
            (json!({"proj:code": "4326"}), true, &[]),
            (json!({"proj:code": "EPSG:4326", "proj:projjson": "{}"}), true, &[]),
            (json!({"spatial:dimensions": ["y", "x"], "spatial:shape": [0, 3]}), true, &[]),
            (json!({"spatial:dimensions": ["y", "x"], "spatial:registration": "corner"}), true, &[]),
            (json!({"multiscales": {"layout": []}}), false, &[]),
            (json!({"multiscales": {"layout": [{"asset": "a", "derived_from": "b"}]}}), false, &[]),
            (json!({"multiscales": [1]}), false, &[]),
            (pyramid["multiscales"].clone(), true, &[]),
            (json!({"title": "t"}), false, &[]),
            // Declarations that are there stay as they are.
            (json!({"proj:code": "EPSG:1", "zarr_conventions": [{"uuid": PROJ.uuid}]}), true, &["?"]),
            (
                json!({"proj:code": "EPSG:1", "zarr_conventions": [{"schema_url": PROJ.schema_url}]}),
                true,
                &["?"],
            ),
            (json!({"proj:code": "EPSG:1", "zarr_conventions": [{"uuid": "other"}]}), true, &["?", "proj"]),
            (json!({"proj:code": "EPSG:1", "zarr_conventions": "text"}), true, &[]),
        ] {
            assert_eq!(declared(attributes.clone(), is_array), due, "{attributes}");
        }
    }

    #[test]
    fn text_of_conventions_that_is_a_list_or_a_dictionary_is_json() {
        for (name, text, due) in [
            (CONVENTIONS, " [{}]", true),
            (CONVENTIONS, "{}", false),
            (CONVENTIONS, "", false),
            ("multiscales", "{}", true),
            ("proj:projjson", "{}", true),
            ("proj:code", "{}", false),
        ] {
            assert_eq!(is_json(name, text.as_bytes()), due, "{name}: {text}");
        }
    }

    #[test]
    fn types_of_nz_are_those_that_json_does_not_determine() {
        assert!(is_nz(Some("CF-1.12 nz-1.0")) && is_nz(Some("NZUG-1.0,CF-1.12")));
        assert!(!is_nz(Some("CF-1.12")) && !is_nz(Some("NZ-1.01")) && !is_nz(None));
        let object = |value: Value| value.as_object().cloned().unwrap_or_default();
        let attributes =
            object(json!({"a": 0.5, "b": [1, 2], "c": 1.5, "d": "text", "_FillValue": 1, "half": 1.5}));
        let types = object(
            json!({"a": "<f4", "b": "<i2", "c": "<f8", "d": ">S1", "_FillValue": "<i4", "gone": "<i4"}),
        );
        let kept = json!({"types": {"half": "float16", "old": "int8", "c": "float32"}});
        let due = json!({"types": {"half": "float16", "a": "float32", "b": "int16"}});
        assert_eq!(nz_types(&attributes, &types, Some(&kept)), Some(due));
        assert_eq!(nz_types(&attributes, &Map::new(), None), None);
    }
}
