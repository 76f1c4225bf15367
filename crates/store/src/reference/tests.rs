use super::*;
use crate::StoreExt;
use crate::TranslatedReferences;
use crate::store::PutCondition;
use crate::{MemoryStore, create, open};
use ncirrus_layout::ErrorKind;
use proptest::prelude::*;
use serde_json::json;

fn context(text: &str) -> StoreContext {
    let context = StoreContext::default();
    let store = context.memory.create("refs");
    put(&store, "a/refs.json", text.as_bytes());
    put(&store, "a/data.bin", b"0123456789");
    put(&store, "b/other.bin", b"abcdef");
    context
}

fn parse(text: &[u8], limits: &Limits) -> Result<Option<ReferenceManifest>> {
    ReferenceManifest::parse(
        &ReferenceText::Bytes(Bytes::copy_from_slice(text)),
        TextCompression::of(text),
        limits,
    )
}

fn put(store: &MemoryStore, key: &str, body: &[u8]) {
    LocalStore::put(store, &store.root().child(key), body, &PutCondition::None).unwrap();
}

fn opened(text: &str) -> (Arc<dyn Store>, ObjectId) {
    let opened = open("memory://refs/a/refs.json", &context(text)).now_or_never().unwrap().unwrap();
    (opened.store, opened.root)
}

fn read(store: &dyn Store, root: &ObjectId, key: &str, want: &Want) -> Result<Option<Vec<u8>>> {
    let blob = store.get(&root.child(key), want).now_or_never().unwrap()?;
    Ok(blob.map(|blob| blob.bytes.to_vec()))
}

/// All features of the format.
fn everything() -> serde_json::Value {
    json!({
        "version": 1,
        "templates": {"m": "memory://refs", "f": "memory://refs/{{dir}}/other.bin"},
        "gen": [
            {"key": "g/{{i}}.{{name}}", "url": "{{m}}/a/data.bin", "offset": "{{i * 2}}", "length": "2",
             "dimensions": {"i": {"stop": 3}, "name": ["p", "q"]}},
            {"key": "whole{{i}}", "url": "data.bin", "dimensions": {"i": {"start": 9, "stop": 4, "step": -3}}}
        ],
        "refs": {
            ".zgroup": {"zarr_format": 2},
            "text": "é",
            "binary": "base64:AP8B",
            "whole": ["data.bin"],
            "range": ["./data.bin", 2, 5],
            "called": ["{{f(dir='b')}}", 1, 2],
            "up": ["../b/other.bin", "4", 2],
            "empty": ["data.bin", 3, 0],
            "short": ["data.bin", 8, 5],
            "absent": ["none.bin", 0, 5],
            "odd": [1, 2],
            "../x": "skipped"
        }
    })
}

#[test]
fn every_kind_of_reference_is_followed() {
    let (store, root) = opened(&everything().to_string());
    let all = |key: &str| read(store.as_ref(), &root, key, &Want::All).unwrap();
    for (key, expected) in [
        (".zgroup", br#"{"zarr_format":2}"#.as_slice()),
        ("text", "é".as_bytes()),
        ("binary", &[0, 255, 1]),
        ("whole", b"0123456789"),
        ("range", b"23456"),
        ("called", b"bc"),
        ("up", b"ef"),
        ("empty", b""),
        ("g/2.q", b"45"),
        ("whole6", b"0123456789"),
    ] {
        assert_eq!(all(key).as_deref(), Some(expected), "{key}");
    }
    assert_eq!(all("nothing"), None);
    assert_eq!(all("whole3"), None);
    let part = |want| read(store.as_ref(), &root, "range", &want).unwrap().unwrap();
    assert_eq!(part(Want::Range(1..3)), b"34");
    assert_eq!(part(Want::Range(3..99)), b"56");
    assert_eq!(part(Want::Suffix(2)), b"56");
    assert_eq!(part(Want::Parse(9..12)), b"");
    for (key, kind, words) in [
        ("short", ErrorKind::Malformed, "data.bin ends at 10"),
        ("absent", ErrorKind::NotFound, "none.bin"),
        ("odd", ErrorKind::Malformed, "[1,2]"),
    ] {
        let error = read(store.as_ref(), &root, key, &Want::All).unwrap_err();
        assert_eq!(error.kind(), kind, "{error}");
        assert!(error.to_string().contains(words) && error.to_string().contains(key), "{error}");
    }
    let listed = store.list(&root, None).now_or_never().unwrap().unwrap();
    let names: Vec<&str> = listed.entries.iter().map(|entry| entry.name.as_str()).collect();
    assert!(names.contains(&"g") && names.contains(&"whole9") && !names.contains(&".."), "{names:?}");
}

#[test]
fn files_without_a_version_and_datasets_below_a_prefix_are_known() {
    let (store, root) = opened(r#"{"top/.zattrs": "{}", "top/x": ["data.bin", 0, 1], "top/{{x}}": "{{x}}"}"#);
    assert_eq!(root.key(), "top");
    assert_eq!(read(store.as_ref(), &root, "x", &Want::All).unwrap().unwrap(), b"0");
    assert_eq!(read(store.as_ref(), &root, "{{x}}", &Want::All).unwrap().unwrap(), b"{{x}}");
}

#[test]
fn other_json_is_left_alone_and_damage_is_reported() {
    for text in ["[1, 2]", "{\"type\": \"FeatureCollection\"}", "no json", ""] {
        let (store, root) = opened(text);
        assert_eq!(root.key(), "a/refs.json", "{text}");
        assert!(store.local().is_some());
    }
    for (text, kind) in [
        ("{\"refs\": {", ErrorKind::Malformed),
        ("{\"version\": 3, \"refs\": {}}", ErrorKind::Unsupported),
        ("{\"version\": 1, \"refs\": {}, \"templates\": {\"a\": \"{{b|c}}\"}}", ErrorKind::Unsupported),
    ] {
        let opened = open("memory://refs/a/refs.json", &context(text)).now_or_never().unwrap();
        assert_eq!(opened.unwrap_err().kind(), kind, "{text}");
    }
}

#[test]
fn generators_that_claim_too_much_are_refused_at_once() {
    for (stop, step) in [(1_000_000_000_000i64, 1), (i64::MAX, 1), (i64::MIN, -1)] {
        let text = json!({
            "version": 1, "refs": {},
            "gen": [{"key": "{{i}}", "url": "u", "dimensions": {"i": {"stop": stop, "step": step}}}]
        });
        let opened = open("memory://refs/a/refs.json", &context(&text.to_string())).now_or_never().unwrap();
        assert_eq!(opened.unwrap_err().kind(), ErrorKind::Limit);
    }
    let long = "x".repeat(60_000);
    let text = json!({
        "version": 1, "refs": {},
        "gen": [{"key": "{{i}}", "url": format!("{long}{{{{i}}}}"), "dimensions": {"i": {"stop": 10_000_000}}}]
    });
    let limits = Limits { metadata_bytes: 1 << 20, ..Limits::default() };
    let error = parse(text.to_string().as_bytes(), &limits).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit);
}

#[test]
fn ranges_are_read_of_the_objects_that_they_lie_in() {
    let (store, root) = opened(&everything().to_string());
    let within = |key: &str| store.within(&root.child(key));
    let (target, range) = within("range").unwrap();
    assert_eq!(range, 2..7);
    let shown = target.to_string();
    assert!(shown.starts_with("memory://refs/a/refs.json?") && shown.ends_with("=./data.bin"), "{shown}");
    assert_eq!(within("short").map(|(_, range)| range), Some(8..13));
    for key in ["text", "whole", "empty", "nothing", "odd"] {
        assert_eq!(within(key), None, "{key}");
    }
    let read = |object: &ObjectId, want| store.get(object, &want).now_or_never().unwrap();
    let blob = read(&target, Want::Range(2..7)).unwrap().unwrap();
    assert_eq!((blob.bytes.as_ref(), blob.offset, blob.size), (b"23456".as_slice(), 2, 10));
    let short = read(&within("short").unwrap().0, Want::Range(8..13)).unwrap_err();
    assert_eq!(short.kind(), ErrorKind::Malformed);
    assert!(short.message().ends_with("data.bin ends at 10, before the 5 bytes from 8 on"), "{short}");
    let absent = read(&within("absent").unwrap().0, Want::All).unwrap_err();
    assert_eq!(absent.kind(), ErrorKind::NotFound);
    assert!(absent.to_string().ends_with("(in none.bin)"), "{absent}");
}

#[test]
fn references_are_not_changed() {
    let context = context(&everything().to_string());
    let error = crate::update("memory://refs/a/refs.json", &context).now_or_never().unwrap().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    let staged = create(
        "memory://refs/new.json",
        crate::DatasetShape::Object,
        crate::OverwritePolicy::Never,
        &context,
    );
    assert!(staged.now_or_never().unwrap().is_ok());
}

#[test]
fn local_files_refer_to_their_neighbours() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("data")).unwrap();
    std::fs::write(folder.path().join("data/x.bin"), b"0123").unwrap();
    let absolute = folder.path().join("data/x.bin");
    let text = json!({".zgroup": "{}", "a": ["data/x.bin", 1, 2], "b": [absolute], "c": ["data/../data/x.bin", 0, 1]});
    std::fs::write(folder.path().join("refs.json"), text.to_string()).unwrap();
    let path = folder.path().join("refs.json");
    let opened = open(path.to_str().unwrap(), &StoreContext::default()).now_or_never().unwrap().unwrap();
    let read = |key: &str| read(opened.store.as_ref(), &opened.root, key, &Want::All).unwrap().unwrap();
    assert_eq!((read("a"), read("b"), read("c")), (b"12".to_vec(), b"0123".to_vec(), b"0".to_vec()));
}

#[test]
fn files_elsewhere_do_not_reach_into_this_machine() {
    let names = ["/etc/hostname", "file:///etc/hostname", "memory://refs/a/data.bin"].map(str::to_owned);
    let context = context("{}");
    let here = open("memory://refs/a/refs.json", &context).now_or_never().unwrap().unwrap();
    let far = Opened { url: crate::Url::parse("http://example.org/a/refs.json").unwrap(), ..here };
    for (allowed, expected) in [(false, Some(ErrorKind::Denied)), (true, None)] {
        let mut context = context.clone();
        context.options.local_references = allowed;
        let targets = ReferenceTargets::new(&names, &far.url, &context);
        for number in 0..3 {
            assert_eq!(targets.get(number).err().map(|error| error.kind()), expected);
        }
    }
}

#[test]
fn every_prefix_of_a_file_is_refused() {
    let text = everything().to_string();
    for len in 0..text.len() {
        let Some(part) = text.as_bytes().get(..len) else { continue };
        assert!(parse(part, &Limits::default()).is_err(), "{len}");
    }
}

proptest! {
    #[test]
    fn no_file_makes_it_panic(at in 0usize..900, byte: u8, other in "[\\[\\]{}\":,a-z0-9.-]{0,8}") {
        let mut text = everything().to_string().into_bytes();
        let at = at % text.len();
        text.splice(at..=at, std::iter::once(byte).chain(other.bytes()));
        let limits = Limits { count: 10_000, ..Limits::default() };
        let _ = parse(&text, &limits);
    }
}

#[test]
fn the_chunk_of_a_scalar_may_have_no_name_of_its_own() {
    let text = json!({".zgroup": {"zarr_format": 2}, "s/.zarray": "{}", "s/": "two", "t/.zarray": "{}", "t/0": "one",
        "t/": "other", "g/u/zarr.json": "{}", "g/u/": "three", "/": "odd"});
    let (store, root) = opened(&text.to_string());
    let found = |key: &str| read(store.as_ref(), &root, key, &Want::All).unwrap();
    assert_eq!(found("s/0").as_deref(), Some(&b"two"[..]));
    assert_eq!(found("t/0").as_deref(), Some(&b"one"[..]));
    assert_eq!(found("g/u/c").as_deref(), Some(&b"three"[..]));
}

/// The same text compressed.
fn compressed(text: &[u8]) -> [(&'static str, Vec<u8>); 2] {
    let mut gzip = Vec::new();
    let mut encoder = flate2::read::GzEncoder::new(text, flate2::Compression::default());
    std::io::Read::read_to_end(&mut encoder, &mut gzip).unwrap();
    let mut zstd = vec![0; zstd_safe::compress_bound(text.len())];
    let len = zstd_safe::compress(zstd.as_mut_slice(), text, 3).unwrap();
    zstd.truncate(len);
    [("a/refs.json.gz", gzip), ("a/refs.json.zst", zstd)]
}

#[test]
fn compressed_files_are_read_like_others() {
    let context = context("{}");
    let store = context.memory.create("refs");
    for (name, body) in compressed(everything().to_string().as_bytes()) {
        put(&store, name, &body);
        let opened = open(&format!("memory://refs/{name}"), &context).now_or_never().unwrap().unwrap();
        let found = |key: &str| read(opened.store.as_ref(), &opened.root, key, &Want::All).unwrap();
        assert_eq!(found("called").as_deref(), Some(&b"bc"[..]), "{name}");
        assert_eq!(found("g/2.q").as_deref(), Some(&b"45"[..]), "{name}");
        for len in 0..body.len() {
            // The first bytes alone do not show that it is compressed.
            let result = parse(&body[..len], &Limits::default());
            assert!(result.is_err() || len < 4, "{name} {len}");
        }
        let limits = Limits { metadata_bytes: 200, ..Limits::default() };
        assert_eq!(parse(&body, &limits).unwrap_err().kind(), ErrorKind::Limit, "{name}");
    }
}

#[test]
fn templates_may_come_after_the_references() {
    let text =
        r#"{"refs": {".zgroup": "{}", "x": ["{{d}}", 2, 3]}, "templates": {"d": "data.bin"}, "version": 1}"#;
    let (store, root) = opened(text);
    assert_eq!(read(store.as_ref(), &root, "x", &Want::All).unwrap().unwrap(), b"234");
}

#[test]
fn of_keys_that_occur_twice_the_last_counts() {
    let (store, root) = opened(r#"{"refs": {".zgroup": "{}", "x": "one", "a": "", "x": "two"}}"#);
    assert_eq!(read(store.as_ref(), &root, "x", &Want::All).unwrap().unwrap(), b"two");
}

#[test]
fn documents_of_other_formats_are_translated() {
    let mut context = context("{}");
    context.formats.add(".other", |document, _| {
        let chunk = |key: &str, href: Option<&str>| (key.to_owned(), href.map(str::to_owned), 1, 2);
        Ok(TranslatedReferences {
            objects: vec![(".zgroup".to_owned(), document.to_vec())],
            chunks: vec![chunk("x", None), chunk("y", Some("../b/other.bin"))],
            warnings: vec!["z is left out".to_owned()],
            ..TranslatedReferences::default()
        })
    });
    let store = context.memory.create("refs");
    put(&store, "a/data.bin.other", b"group");
    let opened = open("memory://refs/a/data.bin.other", &context).now_or_never().unwrap().unwrap();
    let found = |key: &str| read(opened.store.as_ref(), &opened.root, key, &Want::All).unwrap().unwrap();
    assert_eq!(
        (found(".zgroup"), found("x"), found("y")),
        (b"group".to_vec(), b"12".to_vec(), b"bc".to_vec())
    );
    assert_eq!(opened.warnings, ["z is left out"]);
}
