//! Bad input: one line with the object and a hint, an exit code that is not 0, nothing written, no panic.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail the test")]
use std::path::Path;
use std::process::Output;

fn ncirrus(arguments: &[&str]) -> Output {
    crate::program::command().args(arguments).output().unwrap()
}

/// Runs a command that must fail as described; returns its one line.
fn fails(arguments: &[&str], code: i32, says: &[&str]) -> String {
    let output = ncirrus(arguments);
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {error}");
    assert_eq!(error.lines().count(), 1, "{arguments:?}: {error}");
    assert!(error.starts_with("ncirrus: "), "{error}");
    assert!(error.contains("hint: "), "{arguments:?}: {error}");
    for part in says {
        assert!(error.contains(part), "{arguments:?}: {part:?} is not in {error}");
    }
    error
}

fn write(folder: &Path, name: &str, bytes: &[u8]) -> String {
    let path = folder.join(name);
    std::fs::write(&path, bytes).unwrap();
    path.to_str().unwrap().to_owned()
}

/// A small local file.
fn example() -> String {
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/sst.nc").to_owned()
}

#[test]
fn an_unknown_scheme_is_reported() {
    fails(&["dump", "gopher://host/x.nc"], 2, &["gopher", "scheme"]);
}

#[test]
fn a_missing_object_is_reported() {
    for command in ["dump", "info"] {
        fails(&[command, "/no/such/file.nc"], 3, &["/no/such/file.nc"]);
    }
    fails(&["copy", "/no/such/file.nc", "/no/such/copy.zarr"], 3, &["/no/such/file.nc"]);
}

#[test]
fn a_member_that_a_dataset_does_not_have_is_reported_with_where_to_look() {
    fails(&["dump", "-v", "nope", &example()], 3, &["no variable named \"nope\"", "ncirrus info URL"]);
    fails(&["append", "--along", "nope", &example(), "b.nc"], 3, &["no dimension \"nope\"", "dump -h URL"]);
}

#[test]
fn a_wrong_magic_number_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let path = write(folder.path(), "x.nc", b"GRIB....7777");
    let error = fails(&["dump", &path], 5, &["x.nc"]);
    assert!(!error.contains("panicked"), "{error}");
}

#[test]
fn an_html_page_instead_of_data_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let path = write(folder.path(), "x.nc", b"<!DOCTYPE html>\n<html><body>Sign in</body></html>");
    fails(&["info", &path], 5, &["x.nc", "HTML"]);
}

#[test]
fn a_truncated_file_is_reported_and_nothing_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let whole = std::fs::read(example()).unwrap();
    for len in [0, 3, 4, 20, 300, whole.len() - 1] {
        let path = write(folder.path(), "cut.nc", &whole[..len]);
        let target = folder.path().join("out.zarr");
        let output = ncirrus(&["copy", &path, target.to_str().unwrap()]);
        assert!(!output.status.success(), "{len} bytes");
        assert_eq!(String::from_utf8_lossy(&output.stderr).lines().count(), 1, "{len} bytes");
        assert!(!target.exists(), "{len} bytes");
        assert_eq!(
            std::fs::read_dir(folder.path()).unwrap().count(),
            1,
            "{len} bytes: something was left behind"
        );
    }
}

#[test]
fn a_shape_of_10_to_the_18_elements_is_a_limit_and_not_an_allocation() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("huge.zarr");
    std::fs::create_dir_all(store.join("v")).unwrap();
    std::fs::write(store.join(".zgroup"), br#"{"zarr_format": 2}"#).unwrap();
    let array = br#"{"zarr_format": 2, "shape": [1000000000000000000], "chunks": [1000000000000000000],
        "dtype": "<f8", "fill_value": 0, "order": "C", "compressor": null, "filters": null}"#;
    std::fs::write(store.join("v/.zarray"), array).unwrap();
    std::fs::write(store.join("v/0"), b"12345678").unwrap();
    let target = folder.path().join("copy.nc");
    let output = ncirrus(&["copy", store.to_str().unwrap(), target.to_str().unwrap(), "-k", "nc5"]);
    assert!(!output.status.success());
    assert!(!target.exists());
    assert!(ncirrus(&["info", store.to_str().unwrap()]).status.success());
}

#[test]
fn a_metadata_document_larger_than_the_memory_allows_is_a_limit() {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in [
        ("a.zarr/.zgroup", "zarr_format\": 2"),
        ("b.zarr/zarr.json", "zarr_format\": 3, \"node_type\": \"group\""),
    ] {
        std::fs::create_dir(folder.path().join(name).parent().unwrap()).unwrap();
        let file = write(folder.path(), name, format!("{{\"{text}}}").as_bytes());
        let store = file.rsplit_once('/').unwrap().0.to_owned();
        assert!(ncirrus(&["info", &store]).status.success());
        std::fs::OpenOptions::new().write(true).open(&file).unwrap().set_len(300 << 20).unwrap();
        fails(&["info", &store], 9, &[&file, "314572800 bytes", "the limit of 134217728", "--memory"]);
    }
}

#[test]
fn an_existing_target_is_kept_by_default() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("x.zarr");
    let target = target.to_str().unwrap();
    assert!(ncirrus(&["copy", &example(), target]).status.success());
    let before = ncirrus(&["dump", target]).stdout;
    fails(&["copy", &example(), target, "-V", "time"], 7, &["x.zarr", "exist", "--overwrite"]);
    assert_eq!(ncirrus(&["dump", target]).stdout, before);
    assert!(ncirrus(&["copy", "--overwrite", &example(), target, "-V", "time"]).status.success());
    assert_ne!(ncirrus(&["dump", target]).stdout, before);
}

#[test]
fn a_copy_into_its_own_source_is_refused_before_anything_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    assert!(ncirrus(&["copy", &example(), &at("x.zarr")]).status.success());
    let before = ncirrus(&["keys", "--sizes", &at("x.zarr")]).stdout;
    for target in ["x.zarr/in.zarr", "x.zarr/../x.zarr/in.nc", "x.zarr/lat"] {
        for more in [&["--dry-run"][..], &["--overwrite"], &[]] {
            let (from, to) = (at("x.zarr"), at(target));
            let arguments = [&["copy", "-k", "nczarr", &from, &to], more].concat();
            fails(&arguments, 7, &["lies inside the source", &from, &to]);
        }
    }
    assert_eq!(ncirrus(&["keys", "--sizes", &at("x.zarr")]).stdout, before);
    // The source may be replaced, because that happens when the copy is complete.
    fails(
        &["copy", "--overwrite", "-d", "1", &at("x.zarr"), &at("x.zarr")],
        7,
        &["x.zarr", "one of the input files", "--overwrite=any"],
    );
    assert!(ncirrus(&["copy", "--overwrite=any", "-d", "1", &at("x.zarr"), &at("x.zarr")]).status.success());
    assert!(ncirrus(&["info", &at("x.zarr")]).status.success());
}

#[test]
fn a_folder_that_is_no_dataset_is_never_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let precious = folder.path().join("precious.zarr");
    std::fs::create_dir(&precious).unwrap();
    std::fs::write(precious.join("thesis.tex"), b"words").unwrap();
    let output = ncirrus(&["copy", "--overwrite", &example(), precious.to_str().unwrap()]);
    assert!(!output.status.success());
    assert_eq!(std::fs::read(precious.join("thesis.tex")).unwrap(), b"words");
}

#[test]
fn a_folder_that_cannot_be_written_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let file = write(folder.path(), "file", b"");
    let target = format!("{file}/x.zarr");
    let output = ncirrus(&["copy", &example(), &target]);
    assert!(!output.status.success());
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(error.lines().count() == 1 && error.contains("file"), "{error}");
}

#[test]
fn a_name_that_leaves_the_dataset_is_never_followed() {
    let folder = tempfile::tempdir().unwrap();
    let secret = folder.path().join("secret");
    std::fs::create_dir(&secret).unwrap();
    let array = br#"{"zarr_format":2,"shape":[1],"chunks":[1],"dtype":"|u1","fill_value":0,"order":"C","compressor":null,"filters":null}"#;
    std::fs::write(secret.join(".zarray"), array).unwrap();
    std::fs::write(secret.join("0"), b"S").unwrap();
    let store = folder.path().join("x.zarr");
    std::fs::create_dir(&store).unwrap();
    std::fs::write(store.join(".zgroup"), br#"{"zarr_format": 2}"#).unwrap();
    let attributes = br#"{"_nczarr_superblock": {"version": "2.0.0"},
        "_nczarr_group": {"dimensions": {}, "arrays": ["../secret"], "groups": []}}"#;
    std::fs::write(store.join(".zattrs"), attributes).unwrap();
    let output = ncirrus(&["dump", store.to_str().unwrap()]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(!text.contains("83"), "the byte outside was read: {text}");
    assert!(!String::from_utf8_lossy(&output.stderr).contains("panicked"));
}

#[test]
fn a_folder_of_datasets_is_distinguished_from_a_damaged_one() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "notes.txt", b"words");
    fails(&["info", folder.path().to_str().unwrap()], 5, &["directory", "ncirrus ls"]);
}

#[cfg(unix)]
#[test]
fn what_is_no_place_for_data_is_named_by_every_command() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    std::fs::create_dir(at("empty")).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
    let long = at(&"n".repeat(256));
    for (place, code, says) in [
        ("/".to_owned(), 5, "a directory that is not a dataset"),
        (at("empty"), 5, "an empty directory"),
        (at("socket"), 2, "not a regular file"),
        ("/dev/null".to_owned(), 2, "not a regular file"),
        (long, 2, "file name too long"),
        (String::new(), 2, "address is empty"),
    ] {
        for command in [&["info"][..], &["dump"], &["explain"]] {
            let mut arguments = [command, &[place.as_str()]].concat();
            arguments.extend((command == ["explain"]).then_some("v"));
            let output = ncirrus(&arguments);
            let reported = String::from_utf8_lossy(&output.stderr).into_owned();
            assert_eq!(output.status.code(), Some(code), "{arguments:?}: {reported}");
            let named = place.is_empty() || reported.contains(&format!("(in {place})"));
            assert!(reported.contains(says) && named, "{arguments:?}: {reported}");
        }
    }
    // The others are listed all the same, each on its line.
    std::fs::copy(example(), at("a\nb\u{1b}[31m.nc")).unwrap();
    let output = ncirrus(&["ls", &at("")]);
    let reported = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && reported.ends_with(" a\\nb\\u{1b}[31m.nc\n"), "{reported}");
}

#[test]
fn nothing_in_a_name_reaches_the_terminal_as_a_command() {
    let error = fails(&["info", "a\u{1b}[31mb\nc"], 3, &["[31mb c"]);
    assert!(!error.contains('\u{1b}'), "{error:?}");
}

#[test]
fn no_command_shows_a_password_or_a_query() {
    let url = "http://me:hunter2@127.0.0.1:1/x.nc?hunter2#aws.profile=p";
    let commands: [&[&str]; 11] = [
        &["dump", url],
        &["info", url],
        &["explain", url, "v"],
        &["filters", "--url", url],
        &["copy", url, "/no/such/copy.nc"],
        &["copy", "/no/such/file.nc", url],
        &["ls", url],
        &["keys", url],
        &["rm", "-y", url],
        &["clean", url],
        &["whoami", "--check", url],
    ];
    for command in commands {
        let output = ncirrus(command);
        let all = format!("{output:?}");
        assert!(!output.status.success() && !all.contains("hunter2"), "{command:?}: {all}");
    }
}

#[cfg(unix)]
#[test]
fn a_closed_output_is_no_error_and_a_full_disk_is() {
    let run = |arguments: &[&str], output: std::process::Stdio| {
        let mut command = crate::program::command();
        command.args(arguments).stdout(output).stderr(std::process::Stdio::piped());
        let output = command.spawn().unwrap().wait_with_output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let example = example();
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("x.zarr");
    let store = store.to_str().unwrap();
    assert!(ncirrus(&["copy", &example, store]).status.success());
    let commands: [&[&str]; 5] = [
        &["dump", &example],
        &["dump", "-x", &example],
        &["info", &example],
        &["keys", store],
        &["keys", "--get", "sst/0.0.0", store],
    ];
    for command in commands {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        assert_eq!(run(command, writer.into()), (Some(0), String::new()), "{command:?}");
        if let Ok(full) = std::fs::File::options().write(true).open("/dev/full") {
            let (code, error) = run(command, full.into());
            assert!(
                code == Some(8) && error.starts_with("ncirrus: standard output: "),
                "{command:?}: {error}"
            );
        }
    }
}

#[test]
fn wrong_requests_of_the_user_are_reported() {
    fails(&["explain", &example(), "nope"], 3, &["nope"]);
    fails(&["explain", &example(), "sst[99]"], 2, &["99"]);
    fails(&["copy", &example(), "/tmp/target-without-an-ending"], 2, &["kind"]);
    assert_eq!(ncirrus(&["nonsense"]).status.code(), Some(2));
}
