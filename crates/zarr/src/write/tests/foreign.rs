//! Documents of other programs: fill values in every form, and members that are not known.
use super::*;
use ncirrus_layout::ErrorKind;
use ncirrus_model::{TypeRef, Values};

const GROUP_3: &str = r#"{"zarr_format": 3, "node_type": "group""#;

/// A dataset of Zarr v3 with one array `v` of that type and fill value, and those other members.
fn v3(data_type: &str, fill: &str, more: &str) -> ObjectView {
    let mut objects = ObjectView::new();
    objects.put("zarr.json", format!("{GROUP_3}}}"));
    objects.put(
        "v/zarr.json",
        format!(
            r#"{{"zarr_format": 3, "node_type": "array", "shape": [4], "data_type": {data_type},
            "chunk_grid": {{"name": "regular", "configuration": {{"chunk_shape": [2]}}}},
            "chunk_key_encoding": {{"name": "default"}}, "dimension_names": ["x"],
            "codecs": [{{"name": "bytes", "configuration": {{"endian": "little"}}}}], "fill_value": {fill}{more}}}"#
        ),
    );
    objects
}

fn v2(dtype: &str, fill: &str) -> ObjectView {
    let mut objects = ObjectView::new();
    objects.put(".zgroup", r#"{"zarr_format": 2}"#);
    objects.put("v/.zattrs", r#"{"_ARRAY_DIMENSIONS": ["x"]}"#);
    objects.put(
        "v/.zarray",
        format!(
            r#"{{"zarr_format": 2, "shape": [4], "chunks": [2], "dtype": {dtype}, "compressor": null, "filters": null,
            "order": "C", "fill_value": {fill}}}"#
        ),
    );
    objects
}

/// The model, the value of elements that were never written in `v`, and the warnings.
fn seen(objects: &ObjectView) -> (std::sync::Arc<Model>, Option<Values>, Vec<String>) {
    let view = MemoryView::new(objects.clone());
    let catalog = ZarrDriver.open(&view, &ObjectView::id(""), &OpenOptions::default()).unwrap();
    let model = catalog.tree(&view).unwrap();
    let var = model.variable_at("v").unwrap();
    let fill = catalog.source(&view, var).ok().map(|source| source.fill.clone());
    (model, fill, catalog.warnings())
}

#[test]
fn fill_values_are_understood_in_every_form_that_writers_use() {
    for (dtype, fill, expected) in [
        (r#""<i4""#, r#""-9999""#, Values::Int(vec![-9999])),
        (r#""<i4""#, "-9999.0", Values::Int(vec![-9999])),
        (r#""<i4""#, r#""-9999.0""#, Values::Int(vec![-9999])),
        (r#""<i2""#, "[7]", Values::Short(vec![7])),
        (r#""<i8""#, r#""9007199254740993""#, Values::Int64(vec![9_007_199_254_740_993])),
        (r#""<u8""#, r#""18446744073709551615""#, Values::UInt64(vec![u64::MAX])),
        (r#""|i1""#, "1e1", Values::Byte(vec![10])),
        (r#""<f4""#, r#""-9999""#, Values::Float(vec![-9999.0])),
        (r#""<f8""#, r#""Infinity""#, Values::Double(vec![f64::INFINITY])),
        (r#""<f8""#, r#""-inf""#, Values::Double(vec![f64::NEG_INFINITY])),
        (r#""<f8""#, "-Infinity", Values::Double(vec![f64::NEG_INFINITY])),
    ] {
        let (_, found, warnings) = seen(&v2(dtype, fill));
        assert_eq!(found, Some(expected), "{dtype} {fill}: {warnings:?}");
    }
    for nan in [r#""NaN""#, "NaN", r#""nan""#] {
        let (_, found, _) = seen(&v2(r#""<f4""#, nan));
        assert!(found.is_some_and(|values| values.number(0).is_some_and(f64::is_nan)), "{nan}");
    }
    for (data_type, fill, expected) in [
        (r#""r16""#, "[5, 6]", Values::Opaque { size: 2, bytes: vec![5, 6] }),
        (r#""r8""#, "[5]", Values::Opaque { size: 1, bytes: vec![5] }),
        (r#""int16""#, r#""0x000a""#, Values::Short(vec![10])),
        (r#""float32""#, r#""0x3f800000""#, Values::Float(vec![1.0])),
        (r#""bfloat16""#, r#""0x3f80""#, Values::Float(vec![1.0])),
        (r#""float16""#, r#""0x3c00""#, Values::Float(vec![1.0])),
        (r#""float64""#, r#""-Infinity""#, Values::Double(vec![f64::NEG_INFINITY])),
        (r#""bool""#, "true", Values::UByte(vec![1])),
    ] {
        let (_, found, warnings) = seen(&v3(data_type, fill, ""));
        assert_eq!(found, Some(expected), "{data_type} {fill}: {warnings:?}");
    }
}

#[test]
fn a_fill_value_that_is_not_understood_costs_a_warning_and_not_the_variable() {
    for (objects, ty) in [
        (v2(r#""<i4""#, r#""none""#), Atomic::Int),
        (v2(r#""<i4""#, "1e20"), Atomic::Int),
        (v2(r#""<i2""#, "0.5"), Atomic::Short),
        (v2(r#""|u1""#, "-1"), Atomic::UByte),
        (v2(r#""<i4""#, "[1, 2]"), Atomic::Int),
        (v2(r#""<f8""#, "{}"), Atomic::Double),
        (v3(r#""uint8""#, "300", ""), Atomic::UByte),
        (v3(r#""int64""#, r#""NaN""#, ""), Atomic::Int64),
    ] {
        let (model, fill, warnings) = seen(&objects);
        let var = model.variable_at("v").unwrap();
        let variable = model.variable(var).unwrap();
        assert!(variable.fault.is_none() && fill.is_some(), "{:?}", variable.fault);
        assert_eq!(variable.ty, TypeRef::Atomic(ty));
        assert!(
            warnings.iter().any(|text| text.contains("/v") && text.contains("fill value")),
            "{warnings:?}"
        );
    }
}

#[test]
fn a_variable_that_cannot_be_read_keeps_its_type_shape_and_dimensions() {
    let codecs = r#"[{"name": "bytes"}, {"name": "unheard_of"}]"#;
    let unknown =
        |body: &str| body.replace(r#"[{"name": "bytes", "configuration": {"endian": "little"}}]"#, codecs);
    let mut no_grid = v3(r#""float64""#, "0", "");
    let body = text(&no_grid, "v/zarr.json").replace("regular", "hexagonal");
    no_grid.put("v/zarr.json", body);
    let mut member = v3(r#""float64""#, "0", r#", "other": 1"#);
    let body = unknown(text(&member, "v/zarr.json"));
    member.put("v/zarr.json", body);
    let mut filters = v2(r#""<f8""#, "0");
    let body = text(&filters, "v/.zarray").replace(r#""filters": null"#, r#""filters": 5"#);
    filters.put("v/.zarray", body);
    for objects in [no_grid, member, filters] {
        let (model, _, _) = seen(&objects);
        let var = model.variable_at("v").unwrap();
        let variable = model.variable(var).unwrap();
        assert!(variable.fault.is_some());
        assert_eq!((variable.ty, model.shape(var)), (TypeRef::Atomic(Atomic::Double), vec![4]));
        assert!(model.dimension_at("x").is_some());
    }
}

#[test]
fn members_that_are_not_known_must_be_understood_unless_they_say_otherwise() {
    let must =
        [r#""other": 1"#, r#""other": {}"#, r#""other": {"must_understand": true}"#, r#""other": null"#];
    let may =
        [r#""other": {"must_understand": false}"#, r#""other": {"name": "x", "must_understand": false}"#];
    let is_sound = |objects: &ObjectView| {
        let (model, _, _) = seen(objects);
        model
            .variable_at("v")
            .and_then(|var| model.variable(var))
            .is_some_and(|variable| variable.fault.is_none())
    };
    let in_parts = |member: &str| {
        let parts = [
            (r#"{"name": "regular", "#, format!(r#"{{"name": "regular", {member}, "#)),
            (r#"{"name": "default"}"#, format!(r#"{{"name": "default", {member}}}"#)),
            (r#"{"name": "bytes", "#, format!(r#"{{"name": "bytes", {member}, "#)),
        ];
        parts.map(|(from, to)| {
            let mut objects = v3(r#""int16""#, "0", "");
            let body = text(&objects, "v/zarr.json").replace(from, &to);
            objects.put("v/zarr.json", body);
            objects
        })
    };
    for member in must {
        assert!(!is_sound(&v3(r#""int16""#, "0", &format!(", {member}"))), "{member}");
        assert!(in_parts(member).iter().all(|objects| !is_sound(objects)), "{member}");
    }
    for member in may {
        assert!(is_sound(&v3(r#""int16""#, "0", &format!(", {member}"))), "{member}");
        assert!(in_parts(member).iter().all(is_sound), "{member}");
    }
    for (list, sound) in
        [("[]", true), (r#"[{"name": "x"}]"#, false), (r#"[{"name": "x", "must_understand": false}]"#, true)]
    {
        let more = format!(r#", "storage_transformers": {list}"#);
        assert_eq!(is_sound(&v3(r#""int16""#, "0", &more)), sound, "{list}");
    }
}

#[test]
fn members_of_groups_that_are_not_known_must_be_understood_too() {
    for (member, sound) in [(r#""other": 1"#, false), (r#""other": {"must_understand": false}"#, true)] {
        let mut objects = v3(r#""int16""#, "0", "");
        objects.put("g/zarr.json", format!("{GROUP_3}, {member}}}"));
        let (model, _, _) = seen(&objects);
        let group = model.group_at("g").and_then(|group| model.group(group)).unwrap();
        assert_eq!(group.fault.is_none(), sound, "{member}");
        let mut root = v3(r#""int16""#, "0", "");
        root.put("zarr.json", format!("{GROUP_3}, {member}}}"));
        let view = MemoryView::new(root);
        let opened = ZarrDriver.open(&view, &ObjectView::id(""), &OpenOptions::default());
        match opened {
            Ok(_) => assert!(sound, "{member}"),
            Err(ncirrus_layout::Stall::Fail(error)) => {
                assert!(!sound && error.kind() == ErrorKind::Unsupported, "{error}");
            }
            Err(stall) => panic!("{stall:?}"),
        }
    }
}
