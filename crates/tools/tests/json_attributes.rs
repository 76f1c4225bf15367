//! Attributes that are JSON in Zarr: copies keep them, and text that is a JSON dictionary becomes one in NCZarr.
use crate::support::{json, open, session, temp};
use ncirrus::{Attribute, CreateOptions, Dataset, Dialect, Kind, Session};
use ncirrus_tools::{CopyOptions, copy};
use serde_json::{Value, json};
use std::path::Path;

/// As GDAL and zarr-python store them.
const FOREIGN: &str = r#"{"_CRS": {"wkt": "GEOGCS[\"a\"]", "projjson": {"v": 1.50, "l": [1, null]}},
    "nested": [[1, 2], [3]], "mixed": [1, "x"], "nothing": null, "empty": [],
    "text": "{\"a\": 1}", "n": 5}"#;

fn plain_zarr(path: &Path) {
    std::fs::create_dir_all(path.join("v")).unwrap();
    let array = json!({"zarr_format": 2, "shape": [2], "chunks": [2], "dtype": "<i4", "fill_value": 0, "order": "C",
        "compressor": null, "filters": null});
    let named = FOREIGN.replacen('{', r#"{"_ARRAY_DIMENSIONS": ["x"], "#, 1);
    for (name, text) in [
        (".zgroup", r#"{"zarr_format": 2}"#),
        (".zattrs", FOREIGN),
        ("v/.zarray", &array.to_string()),
        ("v/.zattrs", &named),
    ] {
        std::fs::write(path.join(name), text).unwrap();
    }
}

/// The attributes of the root and of `v`, by whichever document has them.
fn stored(path: &Path) -> [Value; 2] {
    ["", "v"].map(|node| stored_root(&path.join(node)))
}

fn stored_root(node: &Path) -> Value {
    let v3 = node.join("zarr.json");
    if v3.exists() { json(&v3)["attributes"].clone() } else { json(&node.join(".zattrs")) }
}

/// All Zarr that copies are made in: kind, dialect, whether it is NCZarr.
const TARGETS: [(Kind, Option<Dialect>, bool); 7] = [
    (Kind::NcZarr, None, true),
    (Kind::NcZarr, Some(Dialect::Lc), true),
    (Kind::NcZarr, Some(Dialect::Uc), true),
    (Kind::NcZarr, Some(Dialect::D18), true),
    (Kind::Zarr2, None, false),
    (Kind::Zarr3, None, true),
    (Kind::Zarr3, Some(Dialect::Plain), false),
];

fn copied(from: &Path, to: &Path, create: CreateOptions, session: &Session) {
    let options = CopyOptions::new().create(create.overwrite(true));
    copy(&open(from, session).unwrap(), to.to_str().unwrap(), &options, session).unwrap();
}

fn texts(path: &Path, session: &Session) -> Vec<(String, String)> {
    let dataset: Dataset = open(path, session).unwrap();
    let model = dataset.model().unwrap();
    let nodes = model.nodes();
    let lists = nodes.iter().filter_map(|node| model.attributes(*node)?.known());
    // An empty list is shown as such where types are stored, and as empty text elsewhere.
    let shown = |text: String| if text == "[]" { String::new() } else { text };
    let text = |attribute: &Attribute| Some((attribute.name.clone(), shown(attribute.as_text()?)));
    lists.flat_map(|list| list.iter().filter_map(text).collect::<Vec<_>>()).collect()
}

#[test]
fn what_is_json_in_the_source_is_json_in_every_copy() {
    let (session, (_folder, temp)) = (session(), temp());
    let source = temp.join("gdal.zarr");
    plain_zarr(&source);
    let expected: Value = serde_json::from_str(FOREIGN).unwrap();
    let shown = texts(&source, &session);
    for (kind, dialect, is_nczarr) in TARGETS {
        for option in [None, Some(true), Some(false)] {
            let (first, second) = (temp.join("first.zarr"), temp.join("second.zarr"));
            let create = CreateOptions::new().kind(kind).dialect(dialect).json_attributes(option);
            copied(&source, &first, create.clone(), &session);
            copied(&first, &second, create, &session);
            for path in [first, second] {
                assert_eq!(texts(&path, &session), shown, "{kind:?} {dialect:?} {option:?}");
                for attributes in stored(&path) {
                    for name in ["_CRS", "nested", "mixed", "nothing", "empty"] {
                        assert_eq!(
                            attributes[name], expected[name],
                            "{kind:?} {dialect:?} {option:?} {name}"
                        );
                    }
                    let text =
                        if option.unwrap_or(is_nczarr) { json!({"a": 1}) } else { json!("{\"a\": 1}") };
                    assert_eq!(attributes["text"], text, "{kind:?} {dialect:?} {option:?}");
                }
            }
        }
    }
}

#[test]
fn dictionaries_of_other_formats_are_json_in_nczarr_and_text_again() {
    let (session, (_folder, temp)) = (session(), temp());
    let (zarr, source) = (temp.join("gdal.zarr"), temp.join("a.nc"));
    plain_zarr(&zarr);
    copied(&zarr, &source, CreateOptions::new().kind(Kind::Nc4), &session);
    let shown = texts(&source, &session);
    assert!(shown.iter().any(|(name, text)| name == "_CRS" && text.contains("1.50")), "{shown:?}");
    for (kind, dialect, is_nczarr) in TARGETS {
        for option in [None, Some(false)] {
            let (copy, back) = (temp.join("b.zarr"), temp.join("b.nc"));
            let create = CreateOptions::new().kind(kind).dialect(dialect).json_attributes(option);
            copied(&source, &copy, create, &session);
            copied(&copy, &back, CreateOptions::new().kind(Kind::Nc4), &session);
            assert_eq!(texts(&back, &session), shown, "{kind:?} {dialect:?} {option:?}");
            for attributes in stored(&copy) {
                let is_json = option.unwrap_or(is_nczarr);
                assert_eq!(attributes["_CRS"].is_object(), is_json, "{kind:?} {dialect:?} {option:?}");
                assert!(attributes["nested"].is_string(), "dictionaries only");
            }
        }
    }
}

#[test]
fn the_address_chooses_dialect_and_form_of_text() {
    let (session, (_folder, temp)) = (session(), temp());
    let (zarr, source) = (temp.join("gdal.zarr"), temp.join("a.nc"));
    plain_zarr(&zarr);
    copied(&zarr, &source, CreateOptions::new().kind(Kind::Nc4), &session);
    let target = temp.join("b.zarr");
    let address = format!("file://{}#mode=nczarr,file&dialect=uc&json_attributes=no", target.display());
    let options = CopyOptions::new();
    copy(&open(&source, &session).unwrap(), &address, &options, &session).unwrap();
    assert!(json(&target.join(".zgroup")).get("_NCZARR_SUPERBLOCK").is_some());
    assert!(stored(&target)[0]["_CRS"].is_string());
    let odd = format!("file://{}#mode=nczarr,file&dialect=no", temp.join("c").display());
    let error = copy(&open(&source, &session).unwrap(), &odd, &options, &session).unwrap_err();
    assert!(error.message().contains("dialect \"no\""), "{error}");
}

#[test]
fn white_space_between_members_is_kept() {
    let (session, (_folder, temp)) = (session(), temp());
    let text = "{\n\t\"a\": [1,\r\n 2],\n  \"b\" : \"c  d\"\n}";
    for (kind, dialect, is_nczarr) in TARGETS {
        let path = temp.join("multi.zarr");
        let address = path.to_str().unwrap();
        let create = CreateOptions::new().kind(kind).dialect(dialect).overwrite(true);
        let dataset = Dataset::create_with(address, &create, &session).unwrap();
        dataset.root().set_attribute(Attribute::text("a", text)).unwrap();
        dataset.close().unwrap();
        let shown = |name: &str| {
            let attributes = open(&path, &session).unwrap().root().attributes().unwrap();
            attributes.find(name).unwrap().as_text().unwrap()
        };
        assert_eq!(shown("a"), text, "{kind:?} {dialect:?}");
        assert_eq!(stored_root(&path)["a"].is_object(), is_nczarr, "{kind:?} {dialect:?}");
        // Datasets of the draft are not changed in place.
        if dialect == Some(Dialect::D18) {
            continue;
        }
        let dataset = Dataset::update_with(address, &Default::default(), &session).unwrap();
        dataset.root().set_attribute(Attribute::text("other", "x")).unwrap();
        dataset.close().unwrap();
        assert_eq!((shown("a"), shown("other")), (text.to_owned(), "x".to_owned()), "{kind:?} {dialect:?}");
    }
}

#[test]
fn booleans_and_lists_of_one_element_stay_so_between_plain_zarr() {
    let (_folder, root) = temp();
    let session = session();
    let source = root.join("a.zarr");
    plain_zarr(&source);
    let odd = json!({"flag": true, "flags": [true, false], "one": [1], "half": [0.5], "word": ["x"], "n": 1, "text": "x"});
    std::fs::write(source.join(".zattrs"), odd.to_string()).unwrap();
    let from = open(&source, &session).unwrap();
    for (name, kind, dialect, is_kept) in [
        ("b.zarr", Kind::Zarr3, Some(Dialect::Plain), true),
        ("c.zarr", Kind::Zarr2, None, true),
        ("d.zarr", Kind::NcZarr, None, false),
    ] {
        let to = root.join(name);
        let options = CopyOptions::new().create(CreateOptions::new().kind(kind).dialect(dialect));
        copy(&from, to.to_str().unwrap(), &options, &session).unwrap();
        let found = stored_root(&to);
        for (name, value) in odd.as_object().unwrap() {
            let is_plain = ["n", "text"].contains(&name.as_str());
            assert_eq!(found[name] == *value, is_kept || is_plain, "{name} of {kind:?}: {}", found[name]);
        }
    }
    // A new value is a number or a text.
    let copied = Dataset::update_with(
        root.join("b.zarr").to_str().unwrap(),
        &ncirrus::OpenOptions::default(),
        &session,
    );
    let copied = copied.unwrap();
    copied.root().set_attribute(Attribute::atomic("flag", ncirrus::Values::UByte(vec![0]))).unwrap();
    copied.close().unwrap();
    assert_eq!(stored_root(&root.join("b.zarr"))["flag"], json!(0));
    assert_eq!(stored_root(&root.join("b.zarr"))["flags"], json!([true, false]));
}
