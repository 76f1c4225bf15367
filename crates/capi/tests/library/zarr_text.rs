//! Text in Zarr: dictionaries are JSON, and strings that contain NUL are not shortened.
use super::calls::compiled;
use super::{Library, printed};

#[test]
fn dictionaries_are_json_and_strings_with_nul_are_errors() {
    let folder = tempfile::tempdir().unwrap();
    let program = compiled(folder.path(), "zarr_text");
    let store = folder.path().join("s.zarr");
    std::fs::create_dir_all(store.join("s")).unwrap();
    for (name, body) in [
        (".zgroup", r#"{"zarr_format": 2}"#),
        (
            ".zattrs",
            r#"{"mixed": ["a", 1], "_nczarr_superblock": {"version": "2.0.0"}, "_nczarr_group": {"dimensions": {"x": 2}, "arrays": ["s"], "groups": []}}"#,
        ),
        (
            "s/.zarray",
            r#"{"zarr_format": 2, "shape": [2], "chunks": [2], "dtype": "|S3", "fill_value": "", "order": "C", "compressor": null, "filters": null}"#,
        ),
        (
            "s/.zattrs",
            r#"{"list": ["c\u0000d", "e"], "text": "a\u0000b", "_nczarr_array": {"dimension_references": ["/x"], "storage": "chunked"},
            "_nczarr_attr": {"types": {"list": "|S3", "text": ">S1"}}}"#,
        ),
        ("s/0", "a\0bpq\0"),
    ] {
        std::fs::write(store.join(name), body).unwrap();
    }
    let address = |name: &str| format!("file://{}/{name}#mode=nczarr,file", folder.path().display());
    let arguments = [address("d.zarr"), address("s.zarr"), address("c.zarr")];
    let said = printed(Library::Own, folder.path(), &program, &arguments.each_ref().map(String::as_str));
    let failed: Vec<&str> = said.lines().filter(|line| line.contains("= -")).collect();
    let expected =
        ["nc_get_var_string(ncid, s, found) = -60", "nc_get_att_string(ncid, s, \"list\", found) = -60"];
    assert_eq!(failed, expected, "{said}");
    // White space in JSON is kept.
    assert!(said.contains("json is {\"a\": [1,\n2]}, a char: 1\n"), "{said}");
    for line in ["s[1] is pq", "text is 97 0 98"] {
        assert!(said.lines().any(|found| found == line), "{line}: {said}");
    }
    let stored = std::fs::read_to_string(folder.path().join("d.zarr/.zattrs")).unwrap();
    let copy = std::fs::read_to_string(folder.path().join("c.zarr/.zattrs")).unwrap();
    assert!(copy.contains(r#""mixed": ["a",1]"#), "{copy}");
    assert!(
        stored.contains("\"json\": {\"a\": [1,\n2]}") && stored.contains(r#""word": "word""#),
        "{stored}"
    );
}
