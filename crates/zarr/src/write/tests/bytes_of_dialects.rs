//! Objects compared, byte for byte, with samples of the specification (docs/spec/nczarr.md 3.2).
use super::fixtures::{basic, extended, put, wide};
use super::*;
use serde_json::Value;

const PROPERTIES: &str = "version=2,netcdf=4.10.2-development,nczarr=2.0.0";

fn sample(dialect: Dialect) -> ObjectView {
    created(&ZarrWriter::new(dialect).provenance(PROPERTIES), &basic())
}

#[test]
fn att_objects_are_those_of_the_reference() {
    let objects = sample(Dialect::Attributes);
    let expected = [
        (".zgroup", r#"{"zarr_format": 2}"#),
        (
            ".zattrs",
            r#"{"title": "basic", "version": 2, "pi": 3.141592653589793, "_NCProperties": "version=2,netcdf=4.10.2-development,nczarr=2.0.0", "_nczarr_group": {"dimensions": {"lat": 3, "lon": 4}, "arrays": ["lat","lon","v"], "groups": []}, "_nczarr_superblock": {"version": "2.0.0"}, "_nczarr_attr": {"types": {"title": ">S1", "version": "<i4", "pi": "<f8", "_NCProperties": ">S1", "_nczarr_group": "|J0", "_nczarr_superblock": "|J0", "_nczarr_attr": "|J0"}}}"#,
        ),
        (
            "lat/.zarray",
            r#"{"zarr_format": 2, "shape": [3], "dtype": "<f4", "chunks": [3], "fill_value": 9.96921e+36, "order": "C", "compressor": null, "filters": null}"#,
        ),
        (
            "lat/.zattrs",
            r#"{"units": "degrees_north", "_ARRAY_DIMENSIONS": ["lat"], "_nczarr_array": {"dimension_references": ["/lat"], "storage": "chunked"}, "_nczarr_attr": {"types": {"units": ">S1", "_nczarr_array": "|J0", "_nczarr_attr": "|J0"}}}"#,
        ),
        (
            "v/.zarray",
            r#"{"zarr_format": 2, "shape": [3,4], "dtype": "<i4", "chunks": [3,4], "fill_value": -1, "order": "C", "compressor": null, "filters": null}"#,
        ),
        (
            "v/.zattrs",
            r#"{"_FillValue": -1, "valid_range": [0,100], "long_name": "value", "_ARRAY_DIMENSIONS": ["lat","lon"], "_nczarr_array": {"dimension_references": ["/lat","/lon"], "storage": "chunked"}, "_nczarr_attr": {"types": {"_FillValue": "<i4", "valid_range": "<i4", "long_name": ">S1", "_nczarr_array": "|J0", "_nczarr_attr": "|J0"}}}"#,
        ),
    ];
    for (key, body) in expected {
        assert_eq!(text(&objects, key), body, "{key}");
    }
}

#[test]
fn older_dialects_are_those_of_the_reference() {
    let lower = sample(Dialect::LowerCase);
    assert_eq!(
        text(&lower, ".zgroup"),
        r#"{"zarr_format": 2, "_nczarr_superblock": {"version": "2.0.0"}, "_nczarr_group": {"dims": {"lat": 3, "lon": 4}, "vars": ["lat","lon","v"], "groups": []}}"#
    );
    assert_eq!(
        text(&lower, "v/.zarray"),
        r#"{"zarr_format": 2, "shape": [3,4], "dtype": "<i4", "chunks": [3,4], "fill_value": -1, "order": "C", "compressor": null, "filters": null, "_nczarr_array": {"dimrefs": ["/lat","/lon"], "storage": "chunked"}}"#
    );
    assert_eq!(
        text(&lower, "v/.zattrs"),
        r#"{"_FillValue": -1, "valid_range": [0,100], "long_name": "value", "_ARRAY_DIMENSIONS": ["lat","lon"], "_nczarr_attr": {"types": {"_FillValue": "<i4", "valid_range": "<i4", "long_name": ">S1"}}}"#
    );
    let upper = created(&ZarrWriter::new(Dialect::UpperCase).array_dimensions(false), &basic());
    assert_eq!(
        text(&upper, ".zgroup"),
        r#"{"zarr_format": 2, "_NCZARR_SUPERBLOCK": {"version": "2.0.0"}, "_NCZARR_GROUP": {"dims": {"lat": 3, "lon": 4}, "vars": ["lat","lon","v"], "groups": []}}"#
    );
    assert_eq!(
        text(&upper, "v/.zattrs"),
        r#"{"_FillValue": -1, "valid_range": [0,100], "long_name": "value", "_NCZARR_ATTR": {"types": {"_FillValue": "<i4", "valid_range": "<i4", "long_name": "<U1"}}}"#
    );
}

#[test]
fn plain_zarr_has_nothing_of_nczarr() {
    for dialect in [Dialect::Xarray, Dialect::Plain, Dialect::V3] {
        let objects = created(&ZarrWriter::new(dialect), &wide());
        for key in objects.keys() {
            let body = text(&objects, key);
            assert!(!body.contains("_nczarr") && !body.contains("_NCZARR"), "{key}: {body}");
            assert_eq!(
                body.contains("_ARRAY_DIMENSIONS"),
                dialect == Dialect::Xarray
                    && (key.ends_with("/.zattrs") && key != "g/.zattrs" && key != "g/inner/.zattrs"
                        || key == ".zmetadata"),
                "{key}"
            );
        }
    }
}

#[test]
fn v3_objects_are_as_other_programs_write_them() {
    let objects = created(&ZarrWriter::new(Dialect::V3).consolidated(false), &basic());
    assert_eq!(
        text(&objects, "v/zarr.json"),
        r#"{"shape": [3,4], "data_type": "int32", "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [3,4]}}, "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}}, "fill_value": -1, "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}], "attributes": {"_FillValue": -1, "valid_range": [0,100], "long_name": "value"}, "dimension_names": ["lat","lon"], "zarr_format": 3, "node_type": "array", "storage_transformers": []}"#
    );
}

#[test]
fn every_object_is_strict_json_in_every_dialect() {
    let dialects = [
        Dialect::Attributes,
        Dialect::LowerCase,
        Dialect::UpperCase,
        Dialect::Draft2018,
        Dialect::Xarray,
        Dialect::Plain,
        Dialect::V3,
        Dialect::Nczarr3,
    ];
    for (dialect, model) in
        dialects.into_iter().flat_map(|dialect| [(dialect, wide()), (dialect, extended())])
    {
        let objects = created(&ZarrWriter::new(dialect), &model);
        assert!(objects.keys().count() > 5);
        for key in objects.keys() {
            let parsed = serde_json::from_slice::<Value>(objects.find(key).unwrap());
            assert!(parsed.is_ok(), "{dialect} {key}: {parsed:?}");
        }
    }
}

#[test]
fn quantize_attributes_stand_behind_the_dimension_names_and_have_no_type() {
    let mut model = basic();
    let v = model.variable_at("v").unwrap();
    let name = "_QuantizeBitGroomNumberOfSignificantDigits";
    let digits = Attribute::atomic(name, ncirrus_model::Values::Int(vec![3]));
    put(&mut model, NodeId::Variable(v), digits);
    let objects = created(&ZarrWriter::default(), &model);
    let body = text(&objects, "v/.zattrs");
    assert!(body.contains(r#""_ARRAY_DIMENSIONS": ["lat","lon"], "_QuantizeBitGroomNumberOfSignificantDigits": 3, "_nczarr_array""#));
    assert_eq!(body.matches(name).count(), 1);
}
