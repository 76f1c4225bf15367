//! The commands as a user types them.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail the test")]
use ncirrus_testkit::corpus::program;
use std::path::Path;
use std::process::Command;

fn ncirrus(arguments: &[&str]) -> String {
    let output = crate::program::command().args(arguments).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {error}");
    String::from_utf8(output.stdout).unwrap()
}

fn example() -> String {
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/sst.nc").to_owned()
}

fn at(folder: &Path, name: &str) -> String {
    folder.join(name).to_str().unwrap().to_owned()
}

#[test]
fn the_example_dumps_as_ncdump_does() {
    let Some(ncdump) = program("ncdump") else { return };
    for arguments in [
        &[][..],
        &["-h"],
        &["-c"],
        &["-v", "lat,time"],
        &["-p", "9,17"],
        &["-t", "-c"],
        &["-k"],
        &["-l", "40"],
    ] {
        let theirs = Command::new(&ncdump).args(arguments).arg(example()).output().unwrap();
        let path = example();
        let ours = ncirrus(&[&["dump"], arguments, &[path.as_str()]].concat());
        assert_eq!(ours, String::from_utf8_lossy(&theirs.stdout), "{arguments:?}");
    }
}

#[test]
fn a_copy_to_nczarr_and_back_is_the_same_dataset() {
    let folder = tempfile::tempdir().unwrap();
    let whole = ncirrus(&["dump", "-n", "x", "-p", "9,17", &example()]);
    for name in ["a.zarr", "b.zip", "c.nc", "file-d#mode=nczarr,file"] {
        let there = if name.contains('#') {
            format!("file://{}", at(folder.path(), name))
        } else {
            at(folder.path(), name)
        };
        let back = at(folder.path(), "back.nc");
        ncirrus(&["copy", &example(), &there]);
        assert_eq!(ncirrus(&["dump", "-n", "x", "-p", "9,17", &there]), whole, "{name}");
        ncirrus(&["copy", "--overwrite", &there, &back]);
        assert_eq!(ncirrus(&["dump", "-n", "x", "-p", "9,17", &back]), whole, "{name}");
    }
}

#[test]
fn options_of_copy_do_what_they_say() {
    let folder = tempfile::tempdir().unwrap();
    let to = at(folder.path(), "a.zarr");
    ncirrus(&["copy", "-c", "time/4,lat/9,lon/", "-d", "4", "-s", "-u", &example(), &to]);
    let header = ncirrus(&["dump", "-h", "-s", &to]);
    for line in [
        "time = 12 ;",
        "sst:_ChunkSizes = 4, 9, 36 ;",
        "sst:_DeflateLevel = 4 ;",
        "sst:_Shuffle = \"true\" ;",
    ] {
        assert!(header.contains(line), "{line}\n{header}");
    }
    let bare = at(folder.path(), "b.zarr");
    ncirrus(&["copy", "-d", "0", &to, &bare]);
    assert!(!ncirrus(&["dump", "-h", "-s", &bare]).contains("_DeflateLevel"));
    let zstd = at(folder.path(), "c.zarr");
    ncirrus(&["copy", "--codec", "{\"id\":\"zstd\",\"level\":3}", &example(), &zstd]);
    assert!(ncirrus(&["info", &zstd]).contains("zstd"));
}

#[test]
fn a_dry_run_reports_what_a_copy_takes_and_writes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (maps, to) = (at(folder.path(), "maps.zarr"), at(folder.path(), "series.nc4"));
    ncirrus(&["copy", "-q", "-c", "time/1,lat/,lon/", "-d", "1", "-s", &example(), &maps]);
    let text = ncirrus(&["copy", "--dry-run", "-c", "time/12,lat/9,lon/9", &maps, &to]);
    for part in
        ["/sst [12, 18, 36], 31104 bytes\n", "decodes     12 for 12 chunks, each at most 1 times", "total, "]
    {
        assert!(text.contains(part), "{part}\n{text}");
    }
    let text = ncirrus(&["copy", "--dry-run", &maps, &to]);
    assert!(text.contains("passed      12 chunks pass through as they are"), "{text}");
    assert!(!Path::new(&to).exists());
}

#[test]
fn a_selection_is_copied_with_its_coordinates() {
    let folder = tempfile::tempdir().unwrap();
    let to = at(folder.path(), "box.nc");
    ncirrus(&["copy", "--select", "sst[0:10:2,5,3:6]", &example(), &to]);
    let text = ncirrus(&["dump", &to]);
    for part in [
        "time = UNLIMITED ; // (5 currently)",
        "lat = 1 ;",
        "lon = 3 ;",
        " lat = -35 ;",
        " lon = 35, 45, 55 ;",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
}

#[test]
fn a_choice_of_variables_takes_what_they_need_and_no_more() {
    let folder = tempfile::tempdir().unwrap();
    let to = at(folder.path(), "lat.nc");
    ncirrus(&["copy", "-V", "lat", &example(), &to]);
    let text = ncirrus(&["dump", "-h", &to]);
    assert!(text.contains("float lat(lat)") && !text.contains("sst") && !text.contains("time"), "{text}");
}

#[test]
fn info_is_for_people_and_for_programs() {
    let text = ncirrus(&["info", &example()]);
    for part in ["sst", "time=12 (unlimited)", "classic", "float", "lat=18"] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    let json: serde_json::Value = serde_json::from_str(&ncirrus(&["info", "--json", &example()])).unwrap();
    let variables = json["groups"][0]["variables"].as_array().unwrap();
    let sst = variables.iter().find(|variable| variable["name"] == "sst").unwrap();
    assert_eq!(sst["shape"], serde_json::json!([12, 18, 36]));
    assert_eq!(sst["raw_bytes"], 12 * 18 * 36 * 4);
}

#[test]
fn explain_lists_the_chunks_of_a_point_series() {
    let folder = tempfile::tempdir().unwrap();
    let to = at(folder.path(), "a.zarr");
    ncirrus(&["copy", "-c", "time/1,lat/,lon/", "-d", "1", &example(), &to]);
    let json: serde_json::Value =
        serde_json::from_str(&ncirrus(&["explain", "--json", &to, "sst[:,9,18]"])).unwrap();
    assert_eq!((&json["chunks"], &json["requests"]), (&12.into(), &12.into()));
    let text = ncirrus(&["explain", &to, "sst[:,9,18]"]);
    assert!(text.contains("requests    12"), "{text}");
}

#[test]
fn a_killed_copy_leaves_nothing_that_stops_the_next() {
    let folder = tempfile::tempdir().unwrap();
    let to = at(folder.path(), "a.zarr");
    for wait in [0, 1, 2, 4, 8] {
        let mut child = crate::program::command()
            .args(["copy", "-q", "-c", "time/1,lat/1,lon/1", "--overwrite", &example(), &to])
            .spawn()
            .unwrap();
        std::thread::sleep(std::time::Duration::from_millis(wait * 20));
        _ = child.kill();
        _ = child.wait();
        if Path::new(&to).exists() {
            assert!(ncirrus(&["dump", &to]).contains("sst ="), "what is there is whole");
        }
    }
    ncirrus(&["copy", "--overwrite", &example(), &to]);
    let left: Vec<_> =
        std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["a.zarr"]);
}

/// `filters` with plugins from that path.
#[cfg(all(unix, feature = "plugins"))]
fn filters(arguments: &[&str], plugins: &Path) -> std::process::Output {
    let mut command = crate::program::command();
    command.arg("filters").args(arguments).env("HDF5_PLUGIN_PATH", plugins).output().unwrap()
}

#[test]
#[cfg(all(unix, feature = "plugins"))]
fn filters_lists_built_in_ones_and_plugins_and_what_is_ignored() {
    let folder = tempfile::tempdir().unwrap();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../codec/tests/plugins/both.c");
    let library = folder.path().join("libboth.so");
    let Some(()) = ncirrus_testkit::library::shared_library(&source, &library) else { return };
    std::fs::write(folder.path().join("libtext.so"), "text").unwrap();
    let text = String::from_utf8(filters(&[], folder.path()).stdout).unwrap();
    let line = |id: &str| text.lines().find(|line| line.starts_with(id)).unwrap().to_owned();
    assert!(line("32015 ").contains("zstd") && line("32015 ").ends_with("built in"), "{text}");
    assert!(line("40001 ").contains("mixing") && line("40001 ").ends_with("libboth.so"), "{text}");
    assert!(!text.contains("libtext.so"), "{text}");
    let text = String::from_utf8(filters(&["-v"], folder.path()).stdout).unwrap();
    assert!(text.contains("libtext.so") && text.contains("cannot be loaded"), "{text}");

    // What a dataset needs, with the plugin and without.
    let array = folder.path().join("a.zarr/v");
    std::fs::create_dir_all(&array).unwrap();
    std::fs::write(folder.path().join("a.zarr/.zgroup"), r#"{"zarr_format":2}"#).unwrap();
    let metadata = r#"{"zarr_format":2,"shape":[2],"chunks":[2],"dtype":"<i4","order":"C","fill_value":0,
        "filters":[{"id":"shuffle","elementsize":4}],"compressor":{"id":"mixing","key":5}}"#;
    std::fs::write(array.join(".zarray"), metadata).unwrap();
    let url = at(folder.path(), "a.zarr");
    let with = filters(&["--url", &url], folder.path());
    let text = String::from_utf8(with.stdout).unwrap();
    assert!(with.status.success() && text.contains("libboth.so") && text.contains("shuffle"), "{text}");
    let without = filters(&["--url", &url], Path::new("/nowhere"));
    let text = String::from_utf8(without.stdout).unwrap();
    assert_eq!(without.status.code(), Some(1));
    assert!(text.lines().any(|line| line.contains("mixing") && line.ends_with("missing")), "{text}");
}

#[test]
#[cfg(all(unix, feature = "plugins"))]
fn the_environment_turns_off_plugins_that_the_configuration_names() {
    let folder = tempfile::tempdir().unwrap();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../codec/tests/plugins/both.c");
    let library = folder.path().join("libboth.so");
    let Some(()) = ncirrus_testkit::library::shared_library(&source, &library) else { return };
    let file = folder.path().join(".config/ncirrus/config.toml");
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(&file, format!("plugin_path = [{:?}]\n", folder.path())).unwrap();
    let listed = |variables: &[(&str, &str)]| {
        let mut command = crate::program::command();
        command.arg("filters").env("HOME", folder.path()).env_remove("XDG_CONFIG_HOME");
        command.env_remove("HDF5_PLUGIN_PATH").env_remove("HDF5_PLUGIN_PRELOAD");
        String::from_utf8(command.envs(variables.iter().copied()).output().unwrap().stdout).unwrap()
    };
    assert!(listed(&[]).contains("libboth.so"));
    assert!(!listed(&[("HDF5_PLUGIN_PRELOAD", "::")]).contains("libboth.so"));
}

#[test]
fn options_of_yes_and_no_accept_the_words_of_addresses() {
    let folder = tempfile::tempdir().unwrap();
    for (number, word) in ["yes", "On", "1", "true", "no", "OFF", "0", "False"].into_iter().enumerate() {
        let to = at(folder.path(), &format!("{number}.zarr"));
        ncirrus(&["copy", "--dialect", "2018", "--json-attributes", word, &example(), &to]);
    }
    let mut command = crate::program::command();
    let odd =
        command.args(["copy", "--json-attributes", "odd", &example(), "/nowhere.zarr"]).output().unwrap();
    assert_eq!(odd.status.code(), Some(2), "{odd:?}");
}

#[test]
fn a_directory_of_datasets_is_listed_with_their_kinds() {
    let folder = tempfile::tempdir().unwrap();
    ncirrus(&["copy", &example(), &at(folder.path(), "a.zarr")]);
    ncirrus(&["copy", &example(), &at(folder.path(), "b.nc")]);
    std::fs::write(folder.path().join("c.txt"), "text").unwrap();
    let top = folder.path().to_str().unwrap();
    assert_eq!(ncirrus(&["ls", top]), "Zarr v2         a.zarr\nnetCDF-3        b.nc\n");
    assert!(ncirrus(&["ls", "-a", "-l", top]).contains("4 B  object          c.txt"));
    let json = ncirrus(&["ls", "--json", &at(folder.path(), "b.nc")]);
    assert!(json.starts_with(r#"{"path":"","kind":"netCDF-3","size":"#), "{json}");
}

#[test]
fn the_keys_of_a_store_are_listed_and_read() {
    let folder = tempfile::tempdir().unwrap();
    let tree = at(folder.path(), "a.zarr");
    ncirrus(&["copy", &example(), &tree]);
    let keys = ncirrus(&["keys", &tree]);
    assert!(keys.lines().any(|key| key == "lat/.zarray"), "{keys}");
    let sizes = ncirrus(&["keys", "--sizes", &tree, "lat"]);
    let len = std::fs::metadata(folder.path().join("a.zarr/lat/.zarray")).unwrap().len();
    assert!(sizes.contains(&format!("{len} lat/.zarray\n")) && !sizes.contains(".zgroup"), "{sizes}");
    let body = ncirrus(&["keys", "--get", "lat/.zarray", &tree]);
    assert_eq!(body, std::fs::read_to_string(folder.path().join("a.zarr/lat/.zarray")).unwrap());
    let file = at(folder.path(), "b.nc");
    ncirrus(&["copy", &example(), &file]);
    assert_eq!(ncirrus(&["keys", &file]), "b.nc\n");
}

#[test]
fn a_reference_file_is_written_and_opened() {
    let folder = tempfile::tempdir().unwrap();
    let refs = at(folder.path(), "refs.json");
    let reported = ncirrus(&["reference", &example(), &refs]);
    assert!(reported.contains(" variables, ") && reported.contains(" references, "), "{reported}");
    let keys = ncirrus(&["keys", &refs]);
    assert!(keys.lines().any(|line| line.trim_start_matches('/') == ".zgroup"), "{keys}");
    let sum = |path: &str| {
        let text = ncirrus(&["dump", "-n", "x", "-v", "sst,lat", path]);
        text.split_once("data:").map(|(_, data)| data.to_owned())
    };
    assert_eq!(sum(&refs), sum(&example()));
    assert!(ncirrus(&["info", &refs]).contains("sst"));
    let again = crate::program::command().args(["reference", &example(), &refs]).output();
    assert!(String::from_utf8_lossy(&again.unwrap().stderr).contains("exists already"));
    ncirrus(&["reference", "-f", "--inline-threshold", "0", &example(), &refs]);
}

#[test]
fn netcdf4_of_the_classic_model_is_printed_as_ncml() {
    let folder = tempfile::tempdir().unwrap();
    let copied = at(folder.path(), "classic.nc");
    ncirrus(&["copy", "-k", "nc4c", "-d", "4", &example(), &copied]);
    let ours = ncirrus(&["dump", "-x", &copied]);
    assert!(ours.contains("<variable name=\"sst\""), "{ours}");
    if let Some(ncdump) = program("ncdump") {
        let theirs = Command::new(ncdump).args(["-x", &copied]).output().unwrap();
        assert_eq!(ours, String::from_utf8_lossy(&theirs.stdout));
    }
}

#[test]
fn compare_reports_by_its_exit_code_whether_two_datasets_are_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str]| {
        let output = crate::program::command().args(arguments).current_dir(folder.path()).output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/sst.nc");
    assert_eq!(run(&["copy", "-c", "time/1", "-d", "3", example, "a.zarr"]).0, Some(0));
    assert_eq!(run(&["compare", example, "a.zarr"]), (Some(0), String::new()));
    assert_eq!(run(&["copy", "--select", "sst[0:6,:,:]", example, "part.nc"]).0, Some(0));
    let (code, reported) = run(&["compare", example, "part.nc"]);
    assert_eq!(code, Some(1));
    assert!(reported.contains("/sst: values were not compared: the shapes are"), "{reported}");
    assert_eq!(run(&["compare", "-q", example, "part.nc"]), (Some(1), String::new()));
    let (code, reported) = run(&["compare", "--json", "--only", "data", "-v", "lat", example, "part.nc"]);
    assert_eq!(code, Some(0));
    let report: serde_json::Value = serde_json::from_str(&reported).unwrap();
    assert_eq!((&report["same"], &report["variables"][0]["path"]), (&true.into(), &"/lat".into()));
    assert_eq!(run(&["compare", example, "absent.nc"]).0, Some(3));
    assert_eq!(run(&["compare", "-v", "nope", example, example]).0, Some(3));
}
