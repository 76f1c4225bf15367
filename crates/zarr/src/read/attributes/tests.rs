use super::*;
use crate::json::parse;
use bytes::Bytes;
use ncirrus_layout::Limits;
use std::sync::Arc;

/// The attributes of a document with types.
fn read(text: &str, types: &[(&str, &str)], dialect: Dialect) -> (Vec<Attribute>, Vec<String>) {
    let json = parse(&Bytes::copy_from_slice(text.as_bytes()), &Limits::default()).unwrap();
    let mut holder = AttributeHolder::whole(Some(Ok(Arc::new(json))));
    holder.types = types.iter().map(|&(name, ty)| (name.to_owned(), ty.to_owned())).collect();
    let mut warnings = Vec::new();
    (attributes(&holder, dialect, &mut warnings), warnings)
}

fn one(value: &str, ty: &str, dialect: Dialect) -> Values {
    read(&format!("{{\"a\": {value}}}"), &[("a", ty)], dialect).0.remove(0).values
}

fn chars(text: &str) -> Values {
    Values::Char(text.as_bytes().to_vec())
}

#[test]
fn every_dictionary_of_types_is_understood() {
    let att = Dialect::Attributes;
    assert_eq!(one("5", "<i2", att), Values::Short(vec![5]));
    assert_eq!(one("5", ">i2", att), Values::Short(vec![5]));
    assert_eq!(one("5", "|u1", att), Values::UByte(vec![5]));
    assert_eq!(one("[0.5]", "5", Dialect::V1), Values::Float(vec![0.5]));
    assert_eq!(one("\"x\"", "2", Dialect::V1), chars("x"));
    assert_eq!(one("1", "short", Dialect::Nczarr3), Values::Short(vec![1]));
    assert_eq!(one("\"x\"", "<U1", Dialect::UpperCase), chars("x"));
    assert_eq!(one("1", "<f8", att), Values::Double(vec![1.0]));
    assert_eq!(one("[]", "<i4", att), Values::Int(Vec::new()));
    assert_eq!(one("\"\"", ">S1", att), chars(""));
    assert_eq!(
        one("[\"a\",\"b\"]", "|S5", att),
        Values::String([Some("a"), Some("b")].into_iter().collect())
    );
    assert_eq!(one("\"NaN\"", ">S1", att), chars("NaN"));
    assert_eq!(one("{\"k\": [1,2]}", "|J0", att), chars("{\"k\": [1,2]}"));
}

#[test]
fn text_declared_as_such_is_its_source() {
    for source in ["0", "12", "true", "null", "NaN", "[0.,0.,1.]", "{\"k\": 1}"] {
        assert_eq!(one(source, ">S1", Dialect::Attributes), chars(source));
    }
}

#[test]
fn types_that_do_not_fit_are_inferred_instead() {
    for ty in ["|b1", "<U1", "bogus", "|J0", "|S3", "99", "\u{e9}"] {
        assert_eq!(one("5", ty, Dialect::Attributes), Values::Int(vec![5]), "{ty}");
    }
    assert_eq!(one("300", "<i1", Dialect::Attributes), Values::Int(vec![300]));
    assert_eq!(one("\"x\"", "<f4", Dialect::Attributes), chars("x"));
}

#[test]
fn order_is_kept_and_the_libraries_own_names_are_left_out() {
    let text = r#"{"z": 1, "_ARRAY_DIMENSIONS": ["x"], "_nczarr_attr": {}, "_NCZARR_ATTR": {}, "_NCProperties": "p",
        "_Format": "f", "_nczarr_maxstrlen": 4, "a": 2, "_ncirrus": {}}"#;
    let (list, warnings) = read(text, &[], Dialect::Plain);
    let names: Vec<&str> = list.iter().map(|attribute| attribute.name.as_str()).collect();
    assert_eq!(names, ["z", "_nczarr_maxstrlen", "a"]);
    assert_eq!(warnings.len(), 1);
}

#[test]
fn names_of_hdf5_are_ordinary_attributes() {
    let text = r#"{"CLASS": "IMAGE", "NAME": "n", "DIMENSION_LIST": 1, "_Netcdf4Dimid": 2}"#;
    let (list, warnings) = read(text, &[], Dialect::Plain);
    let names: Vec<&str> = list.iter().map(|attribute| attribute.name.as_str()).collect();
    assert_eq!(names, ["CLASS", "NAME", "DIMENSION_LIST", "_Netcdf4Dimid"]);
    assert!(warnings.is_empty(), "{warnings:?}");
}
