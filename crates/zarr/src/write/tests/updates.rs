//! Datasets that are changed in place.
use super::fixtures::{basic, extended, put, wide};
use super::positions::updating;
use super::*;
use ncirrus_layout::{CellList, Location};
use ncirrus_model::Values;
use serde_json::{Value, json};

#[test]
fn a_commit_without_changes_puts_nothing() {
    for dialect in
        [Dialect::Attributes, Dialect::LowerCase, Dialect::UpperCase, Dialect::Xarray, Dialect::Nczarr3]
    {
        for model in [basic(), wide(), extended()] {
            let objects = created(&ZarrWriter::new(dialect), &model);
            let old = opened(&objects).unwrap();
            let mut hand = updating(objects, &old);
            hand.define(&old);
            hand.commit(&old);
            assert_eq!(hand.history.len(), 0, "{dialect}");
        }
    }
}

#[test]
fn one_changed_attribute_puts_its_object_and_the_copy() {
    let objects = created(&ZarrWriter::default(), &basic());
    let old = opened(&objects).unwrap();
    let mut hand = updating(objects, &old);
    let mut model = (*old).clone();
    let v = model.variable_at("v").unwrap();
    put(&mut model, NodeId::Variable(v), Attribute::text("long_name", "other"));
    hand.define(&model);
    hand.commit(&model);
    assert_eq!(hand.history.len(), 2);
    assert!(text(&hand.objects, "v/.zattrs").contains(r#""long_name": "other", "_ARRAY_DIMENSIONS""#));
}

#[test]
fn appended_chunks_are_invisible_until_the_shape_grows() {
    let objects = created(&ZarrWriter::default(), &wide());
    let old = opened(&objects).unwrap();
    let mut hand = updating(objects, &old);
    let mut model = (*old).clone();
    let time = model.dimension_at("time").unwrap();
    let var = model.variable_at("v_int").unwrap();
    model.grow(time, 5).unwrap();
    hand.define(&model);
    let view = MemoryView::new(hand.objects.clone());
    let cells = CellList::one(&[2, 0]);
    let location = |hand: &HandPlacer| hand.placer.locate(&view, var, &cells).unwrap().remove(0).location;
    assert_eq!(location(&hand), Location::Absent, "left over by a writer that was killed");
    hand.place(var, &[2, 0], &[1; 32]);
    assert_eq!(location(&hand), Location::Object(ObjectView::id("v_int/2.0")));
    assert_eq!(opened(&hand.objects).unwrap(), old);
    hand.commit(&model);
    assert!(text(&hand.objects, "v_int/.zarray").contains(r#""shape": [5,4]"#));
    assert!(text(&hand.objects, ".zattrs").contains(r#""time": {"size": 5, "unlimited": 1}"#));
    assert_eq!(opened(&hand.objects).unwrap().shape(var), [5, 4]);
}

#[test]
fn foreign_members_stay() {
    let mut objects = created(&ZarrWriter::default().consolidated(false), &basic());
    let body = text(&objects, "v/.zarray")
        .replace(r#""zarr_format": 2"#, r#""zarr_format": 2, "mine": [1.50, "x"]"#);
    objects.put("v/.zarray", body);
    let old = opened(&objects).unwrap();
    let mut hand = updating(objects, &old);
    let mut model = (*old).clone();
    let lat = model.dimension_at("lat").unwrap();
    model.set_dimension_len(lat, DimensionLen::Fixed(9)).unwrap();
    hand.define(&model);
    hand.commit(&model);
    assert!(text(&hand.objects, "v/.zarray").contains(r#""mine": [1.50,"x"], "shape": [9,4]"#));
    assert!(hand.objects.find(".zmetadata").is_none());
}

#[test]
fn text_that_another_program_stored_as_numbers_stays_text() {
    let mut objects = created(&ZarrWriter::default().consolidated(false), &basic());
    let body = text(&objects, ".zattrs").replace(r#""title": "basic""#, r#""title": 3.1400"#);
    objects.put(".zattrs", body);
    let old = opened(&objects).unwrap();
    let mut hand = updating(objects, &old);
    hand.define(&old);
    hand.commit(&old);
    assert!(hand.history.is_empty());
    let mut model = (*old).clone();
    let root = NodeId::Group(model.root());
    put(&mut model, root, Attribute::text("more", "text"));
    hand.define(&model);
    hand.commit(&model);
    assert!(text(&hand.objects, ".zattrs").starts_with(r#"{"title": "3.1400", "#));
    assert!(text(&hand.objects, ".zattrs").contains("_NCProperties"));
}

/// Attributes as other programs store them, as members of a JSON object.
const FOREIGN: &str = r#""nested": {"a": [1,2,{"b": null}], "small": 1e-05}, "mixed": [1,"x"], "empty": [],
    "nothing": null, "huge": {"n": 123456789012345678901234567890}, "quoted": "{\"a\": 1}""#;

/// A dataset to whose root and variable `v` another program added those attributes.
fn with_foreign_attributes(writer: &ZarrWriter) -> ObjectView {
    let mut objects = created(writer, &basic());
    let keys: Vec<String> = objects.keys().map(str::to_owned).collect();
    for key in keys {
        let mut body = text(&objects, &key).to_owned();
        for old in [r#""title": "basic""#, r#""long_name": "value""#] {
            body = body.replace(old, &format!("{old}, {FOREIGN}"));
        }
        objects.put(&key, body);
    }
    objects
}

/// The attributes of the root and of `v`, in their own documents and in the consolidated copies.
fn stored_attributes(objects: &ObjectView) -> Vec<Value> {
    let document = |key: &str| {
        objects
            .find(key)
            .map(|body| serde_json::from_slice::<Value>(body).unwrap_or_else(|_| panic!("{key}")))
    };
    let mut found: Vec<Value> = [".zattrs", "v/.zattrs"].into_iter().filter_map(document).collect();
    if let Some(whole) = document(".zmetadata") {
        found.extend([".zattrs", "v/.zattrs"].map(|key| whole["metadata"][key].clone()));
    }
    if let (Some(root), Some(v)) = (document("zarr.json"), document("v/zarr.json")) {
        found.extend([&root, &v].map(|body| body["attributes"].clone()));
        let copy = &root["consolidated_metadata"]["metadata"]["v"];
        found.extend((!copy.is_null()).then(|| copy["attributes"].clone()));
    }
    found
}

const JSON_DIALECTS: [Dialect; 5] =
    [Dialect::Plain, Dialect::Xarray, Dialect::V3, Dialect::Attributes, Dialect::Nczarr3];

#[test]
fn json_in_attributes_that_do_not_change_stays_json() {
    let expected: Value = serde_json::from_str(&format!("{{{FOREIGN}}}")).unwrap();
    for (dialect, consolidated) in JSON_DIALECTS.into_iter().flat_map(|d| [(d, true), (d, false)]) {
        let objects = with_foreign_attributes(&ZarrWriter::new(dialect).consolidated(consolidated));
        let old = opened(&objects).unwrap();
        let mut hand = updating(objects, &old);
        let mut model = (*old).clone();
        let v = model.variable_at("v").unwrap();
        for node in [NodeId::Group(model.root()), NodeId::Variable(v)] {
            put(&mut model, node, Attribute::text("more", r#"{"a": 1}"#));
        }
        hand.define(&model);
        hand.commit(&model);
        let stored = stored_attributes(&hand.objects);
        assert!(stored.len() >= 2, "{dialect} consolidated {consolidated}");
        for attributes in stored {
            for (name, value) in expected.as_object().unwrap() {
                assert_eq!(
                    attributes[name.as_str()],
                    *value,
                    "{dialect} consolidated {consolidated}: {name}"
                );
            }
            let set = if dialect.is_nczarr() { json!({"a": 1}) } else { json!(r#"{"a": 1}"#) };
            assert_eq!(attributes["more"], set, "{dialect}");
        }
    }
}

/// Attributes as Python's json module writes them, spelt as they are written again.
const BARE: [&str; 9] = [
    r#""nan": NaN"#,
    r#""high": Infinity"#,
    r#""low": -Infinity"#,
    r#""list": [NaN,1.5,-Infinity]"#,
    r#""deep": {"x": NaN, "y": [1,{"z": Infinity}]}"#,
    r#""several": [1,"a",NaN]"#,
    r#""rows": [[NaN],[2]]"#,
    r#""digits": 123456789012345678901234567890"#,
    r#""spelt": [1.50,1E5,1e-07]"#,
];

/// A dataset to whose documents another program added those attributes.
fn with_bare_numbers(dialect: Dialect, consolidated: bool) -> ObjectView {
    let mut model = wide();
    let recorded = model.variable_at("v_int").unwrap();
    put(&mut model, NodeId::Variable(recorded), Attribute::text("units", "K"));
    let mut objects = created(&ZarrWriter::new(dialect).consolidated(consolidated), &model);
    let keys: Vec<String> = objects.keys().map(str::to_owned).collect();
    for key in keys {
        let mut body = text(&objects, &key).to_owned();
        for old in [r#""title": "#, r#""units": "#] {
            body = body.replace(old, &format!("{}, {old}", BARE.join(", ")));
        }
        objects.put(&key, body);
    }
    objects
}

#[test]
fn numbers_in_attributes_that_do_not_change_keep_their_source_text() {
    let occurrences = |objects: &ObjectView, needle: &str| -> usize {
        let keys: Vec<&str> = objects.keys().collect();
        keys.into_iter()
            .map(|key| String::from_utf8_lossy(objects.find(key).unwrap()).matches(needle).count())
            .sum()
    };
    for (dialect, consolidated) in JSON_DIALECTS.into_iter().flat_map(|d| [(d, true), (d, false)]) {
        let before = with_bare_numbers(dialect, consolidated);
        let old = opened(&before).unwrap();
        let counts = BARE.map(|needle| occurrences(&before, needle));
        assert!(counts.iter().all(|count| *count > 0), "{dialect}: {counts:?}");
        // An attribute changes; a record is appended; both.
        for (attribute, record) in [(true, false), (false, true), (true, true)] {
            let mut hand = updating(before.clone(), &old);
            let mut model = (*old).clone();
            if attribute {
                let nodes: Vec<NodeId> = model.variables().into_iter().map(NodeId::Variable).collect();
                for node in nodes.into_iter().chain([NodeId::Group(model.root())]) {
                    put(&mut model, node, Attribute::text("more", "text"));
                }
            }
            if record {
                let recorded = model.variable_at("v_int").unwrap();
                let time = model.variable(recorded).unwrap().dims[0];
                model.set_dimension_len(time, DimensionLen::Unlimited(7)).unwrap();
            }
            hand.define(&model);
            hand.commit(&model);
            assert!(!hand.history.is_empty());
            assert_eq!(
                BARE.map(|needle| occurrences(&hand.objects, needle)),
                counts,
                "{dialect} {consolidated}"
            );
            let again = opened(&hand.objects).unwrap();
            assert_eq!(again.variables().len(), old.variables().len(), "{dialect}");
        }
    }
}

#[test]
fn text_that_replaces_json_is_a_string() {
    for dialect in JSON_DIALECTS {
        let objects = with_foreign_attributes(&ZarrWriter::new(dialect));
        let old = opened(&objects).unwrap();
        let mut hand = updating(objects, &old);
        let mut model = (*old).clone();
        let v = model.variable_at("v").unwrap();
        for node in [NodeId::Group(model.root()), NodeId::Variable(v)] {
            put(&mut model, node, Attribute::text("nested", "[1,{}]"));
        }
        hand.define(&model);
        hand.commit(&model);
        for attributes in stored_attributes(&hand.objects) {
            assert_eq!(attributes["nested"], json!("[1,{}]"), "{dialect}");
            assert_eq!(attributes["mixed"], json!([1, "x"]), "{dialect}");
        }
    }
}

#[test]
fn a_renamed_variable_takes_its_chunks_along() {
    let mut hand = HandPlacer::create(&ZarrWriter::default());
    let mut model = basic();
    hand.define(&model);
    let v = model.variable_at("v").unwrap();
    hand.place(v, &[0, 0], &[7; 48]);
    hand.commit(&model);
    model.rename_variable(v, "w").unwrap();
    hand.define(&model);
    assert!(hand.objects.find("v/0.0").is_some(), "the old name is still the true one");
    hand.commit(&model);
    assert!(hand.objects.find("v/0.0").is_none() && hand.objects.find("v/.zarray").is_none());
    assert_eq!(hand.objects.find("w/0.0").map(|body| body.len()), Some(48));
    assert!(opened(&hand.objects).unwrap().variable_at("w").is_some());
}

#[test]
fn a_name_is_free_again_only_after_a_commit() {
    let mut hand = HandPlacer::create(&ZarrWriter::default());
    let mut model = basic();
    hand.define(&model);
    hand.commit(&model);
    let v = model.variable_at("v").unwrap();
    model.remove_variable(v).unwrap();
    hand.define(&model);
    let mut again = model.clone();
    again.add_variable(again.root(), "v", Atomic::Byte.into(), &[]).unwrap();
    let view = MemoryView::new(hand.objects.clone());
    assert!(hand.placer.define(&view, &again, None).is_err());
    hand.commit(&model);
    hand.define(&again);
    hand.commit(&again);
    assert!(opened(&hand.objects).unwrap().variable_at("v").is_some());
}

#[test]
fn names_are_not_swapped_over_data() {
    let mut hand = HandPlacer::create(&ZarrWriter::default());
    let mut model = basic();
    hand.define(&model);
    hand.commit(&model);
    let (lat, lon) = (model.variable_at("lat").unwrap(), model.variable_at("lon").unwrap());
    for (var, name) in [(lat, "passing"), (lon, "lat"), (lat, "lon")] {
        model.rename_variable(var, name).unwrap();
    }
    let view = MemoryView::new(hand.objects.clone());
    let refused = format!("{:?}", hand.placer.define(&view, &model, None));
    assert!(refused.contains("sync first"), "{refused}");
}

#[test]
fn a_group_is_renamed_with_its_variables() {
    let mut hand = HandPlacer::create(&ZarrWriter::default());
    let mut model = wide();
    hand.define(&model);
    let w = model.variable_at("g/inner/w w").unwrap();
    hand.place(w, &[0, 0], &[1; 8]);
    hand.commit(&model);
    let g = model.group_at("g").unwrap();
    model.rename_group(g, "h").unwrap();
    hand.define(&model);
    hand.commit(&model);
    assert!(!hand.objects.keys().any(|key| key.starts_with("g/")));
    assert!(hand.objects.find("h/inner/w w/0.0").is_some());
    assert!(text(&hand.objects, "h/inner/w w/.zattrs").contains(r#"["/h/inner/y","/lon"]"#));
    assert!(opened(&hand.objects).unwrap().variable_at("h/inner/w w").is_some());
}

#[test]
fn a_variable_that_was_never_committed_is_forgotten_at_once() {
    let mut hand = HandPlacer::create(&ZarrWriter::default());
    let mut model = basic();
    hand.define(&model);
    let v = model.variable_at("v").unwrap();
    hand.place(v, &[0, 0], &[1; 48]);
    model.remove_variable(v).unwrap();
    model.add_variable(model.root(), "v", Atomic::Byte.into(), &[]).unwrap();
    hand.define(&model);
    hand.commit(&model);
    assert!(hand.objects.find("v/0.0").is_none());
    assert!(text(&hand.objects, "v/.zarray").contains(r#""dtype": "|i1""#));
}

#[test]
fn what_was_written_cannot_change_its_type_or_fill() {
    let mut hand = HandPlacer::create(&ZarrWriter::default());
    let mut model = basic();
    hand.define(&model);
    let v = model.variable_at("v").unwrap();
    model.set_fill(v, Values::Int(vec![5])).unwrap();
    hand.define(&model);
    hand.place(v, &[0, 0], &[7; 48]);
    model.set_fill(v, Values::Int(vec![6])).unwrap();
    let view = MemoryView::new(hand.objects.clone());
    let refused = hand.placer.define(&view, &model, None);
    assert!(format!("{refused:?}").contains("fill value"));
}

#[test]
fn deleted_attributes_and_groups_are_gone() {
    let objects = created(&ZarrWriter::default(), &wide());
    let old = opened(&objects).unwrap();
    let mut hand = updating(objects, &old);
    let mut model = (*old).clone();
    model.attributes_mut(NodeId::Group(model.root())).unwrap().known_mut().remove("title");
    let inner = model.group_at("g/inner").unwrap();
    let w = model.variable_at("g/inner/w w").unwrap();
    model.remove_variable(w).unwrap();
    model.remove_dimension(model.dimension_at("g/inner/y").unwrap()).unwrap();
    model.remove_group(inner).unwrap();
    hand.define(&model);
    hand.commit(&model);
    let new = opened(&hand.objects).unwrap();
    assert!(new.group_at("g/inner").is_none());
    assert!(!text(&hand.objects, ".zattrs").contains("title"));
    assert!(!hand.objects.keys().any(|key| key.starts_with("g/inner")));
}

#[test]
fn read_only_dialects_say_so() {
    let objects = created(&ZarrWriter::new(Dialect::Draft2018), &basic());
    let model = opened(&objects).unwrap();
    let view = MemoryView::new(objects);
    let refused = ZarrWriter::default().update(&view, &ObjectView::id(""), &model);
    assert!(format!("{:?}", refused.err()).contains("copy it to a new one"));
}

#[test]
fn a_damaged_variable_can_be_removed_but_not_renamed() {
    let mut objects = created(&ZarrWriter::default().consolidated(false), &basic());
    let body = text(&objects, "v/.zarray").replace("<i4", "<q9");
    objects.put("v/.zarray", body);
    objects.put("v/0.0", vec![0; 48]);
    let old = opened(&objects).unwrap();
    let v = old.variable_at("v").unwrap();
    assert!(old.variable(v).unwrap().fault.is_some());
    let mut hand = updating(objects, &old);
    let mut renamed = (*old).clone();
    renamed.rename_variable(v, "w").unwrap();
    let view = MemoryView::new(hand.objects.clone());
    assert!(format!("{:?}", hand.placer.define(&view, &renamed, None)).contains("cannot be renamed"));
    let mut removed = (*old).clone();
    removed.remove_variable(v).unwrap();
    hand.define(&removed);
    hand.commit(&removed);
    assert!(!hand.objects.keys().any(|key| key.starts_with("v/")));
    assert_eq!(opened(&hand.objects).unwrap().variables().len(), 2);
}

#[test]
fn a_damaged_variable_stays_in_consolidated_metadata_and_keeps_its_attributes() {
    for (dialect, key, whole) in
        [(Dialect::Attributes, "v/.zarray", ".zmetadata"), (Dialect::V3, "v/zarr.json", "zarr.json")]
    {
        let mut objects = created(&ZarrWriter::new(dialect).consolidated(true), &basic());
        for key in [key, whole] {
            let body = text(&objects, key)
                .replace("<i4", "<q9")
                .replace(r#""data_type": "int32""#, r#""data_type": "q9""#);
            objects.put(key, body);
        }
        let old = opened(&objects).unwrap();
        let v = old.variable_at("v").unwrap();
        assert!(old.variable(v).unwrap().fault.is_some(), "{dialect}");
        let mut hand = updating(objects, &old);
        let mut model = (*old).clone();
        put(&mut model, NodeId::Group(old.root()), Attribute::text("title", "other"));
        hand.define(&model);
        hand.commit(&model);
        let body = text(&hand.objects, whole);
        assert!(body.contains("q9") && body.contains("other"), "{dialect}: {body}");
        assert!(opened(&hand.objects).unwrap().variable_at("v").is_some(), "{dialect}");
        put(&mut model, NodeId::Variable(v), Attribute::text("long_name", "other"));
        let view = MemoryView::new(hand.objects.clone());
        let refused = format!("{:?}", hand.placer.define(&view, &model, None));
        assert!(refused.contains("cannot be changed"), "{dialect}: {refused}");
    }
}

#[test]
fn a_sharded_array_is_renamed_and_gets_attributes() {
    const BYTES: &str = r#"[{"name": "bytes", "configuration": {"endian": "little"}}]"#;
    let plain = format!(r#""fill_value": -1, "codecs": {BYTES}"#);
    let shards = format!(r#"{{"chunk_shape": [3,2], "codecs": {BYTES}, "index_codecs": {BYTES}}}"#);
    let sharded =
        format!(r#""fill_value": -1, "codecs": [{{"name": "sharding_indexed", "configuration": {shards}}}]"#);
    for (dialect, consolidated) in
        [(Dialect::V3, false), (Dialect::V3, true), (Dialect::Nczarr3, false), (Dialect::Nczarr3, true)]
    {
        let mut objects = created(&ZarrWriter::new(dialect).consolidated(consolidated), &basic());
        for key in ["v/zarr.json", "zarr.json"] {
            let body = text(&objects, key).replace(&plain, &sharded);
            objects.put(key, body);
        }
        objects.put("v/c/0/0", vec![7; 80]);
        let old = opened(&objects).unwrap();
        let v = old.variable_at("v").unwrap();
        let mut hand = updating(objects, &old);
        let sharding = hand.placer.sharding(v).unwrap();
        assert!(sharding.slot_count(&[0, 0]) > 1, "{dialect}: {sharding:?}");
        let mut model = (*old).clone();
        model.rename_variable(v, "w").unwrap();
        put(&mut model, NodeId::Variable(v), Attribute::text("long_name", "other"));
        hand.define(&model);
        hand.commit(&model);
        assert!(!hand.objects.keys().any(|key| key.starts_with("v/")), "{dialect}");
        assert_eq!(hand.objects.find("w/c/0/0").map(|body| body.len()), Some(80), "{dialect}");
        let body = text(&hand.objects, "w/zarr.json");
        assert!(body.contains("sharding_indexed") && body.contains(r#""long_name": "other""#), "{body}");
        assert!(opened(&hand.objects).unwrap().variable_at("w").is_some(), "{dialect} {consolidated}");
        assert!(hand.placer.encoding(v).is_ok(), "{dialect}");
    }
}

#[test]
fn names_of_dimensions_that_are_not_shown_stay() {
    let modes = ["zarr", "noxarray"].map(str::to_owned).to_vec();
    let address = ncirrus_layout::AddressHints { modes, ..Default::default() };
    let view = ncirrus_layout::DatasetView::NetcdfC;
    for options in [OpenOptions::new().address(address), OpenOptions::new().view(view)] {
        let objects = created(&ZarrWriter::new(Dialect::Xarray), &basic());
        let before = MemoryView::new(objects.clone());
        let catalog = ZarrDriver.open(&before, &ObjectView::id(""), &options).unwrap();
        let mut model = (*catalog.tree(&before).unwrap()).clone();
        let placer = catalog.writing().unwrap().update(&before, &ObjectView::id(""), &model).unwrap();
        let mut hand = HandPlacer { placer, objects, history: Vec::new() };
        let v = model.variable_at("v").unwrap();
        put(&mut model, NodeId::Variable(v), Attribute::text("more", "text"));
        hand.define(&model);
        hand.commit(&model);
        let attributes = text(&hand.objects, "v/.zattrs");
        assert!(attributes.contains(r#""_ARRAY_DIMENSIONS": ["lat","lon"]"#), "{attributes}");
        assert!(attributes.contains(r#""more": "text""#), "{attributes}");
    }
}
