//! What cannot be read is reported, completely and once, and the exit code is 1.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail the test")]
use ncirrus::{Atomic, Dataset, Selection};
use std::path::Path;
use std::process::Output;

fn ncirrus(arguments: &[&str], folder: &Path) -> Output {
    crate::program::command().args(arguments).current_dir(folder).output().unwrap()
}

fn messages(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn example() -> String {
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/sst.nc").to_owned()
}

/// A store with a variable of an unknown type, and a valid one.
fn odd_store(folder: &Path) {
    let store = folder.join("odd.zarr");
    for (name, dtype) in [("odd", "<f16"), ("sound", "<i4"), ("t", "<i4")] {
        std::fs::create_dir_all(store.join(name)).unwrap();
        let dims = if name == "odd" { "t" } else { name };
        let dims = if name == "sound" { "t" } else { dims };
        let metadata = format!(
            r#"{{"zarr_format":2,"shape":[2],"chunks":[2],"dtype":"{dtype}","order":"C","fill_value":null,"filters":null,"compressor":null}}"#
        );
        std::fs::write(store.join(name).join(".zarray"), metadata).unwrap();
        std::fs::write(store.join(name).join(".zattrs"), format!(r#"{{"_ARRAY_DIMENSIONS":["{dims}"]}}"#))
            .unwrap();
        std::fs::write(store.join(name).join("0"), [1, 0, 0, 0, 2, 0, 0, 0]).unwrap();
    }
    std::fs::write(store.join(".zgroup"), r#"{"zarr_format":2}"#).unwrap();
}

#[test]
fn every_command_that_leaves_something_out_says_so_once_and_ends_with_1() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    odd_store(folder);
    for arguments in [
        &["dump", "odd.zarr"][..],
        &["dump", "-h", "odd.zarr"],
        &["info", "odd.zarr"],
        &["info", "--json", "odd.zarr"],
        &["copy", "odd.zarr", "copy.nc"],
        &["copy", "--dry-run", "odd.zarr", "dry.nc"],
        &["copy", "odd.zarr", "copy.zarr"],
        &["split", "--shape", "t=1", "odd.zarr", "split.nca"],
        &["aggregate", "--axis", "t", "all.nca", "odd.zarr"],
        &["reference", "odd.zarr", "odd.json"],
    ] {
        let output = ncirrus(arguments, folder);
        let messages = messages(&output);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {messages}");
        let lines: Vec<&str> = messages.lines().filter(|line| line.contains("/odd is left out: ")).collect();
        assert_eq!(lines.len(), 1, "{arguments:?}: {messages}");
    }
    for made in ["copy.nc", "copy.zarr", "split.nca", "all.nca", "odd.json"] {
        let output = ncirrus(&["dump", "-v", "sound", made], folder);
        assert!(output.status.success(), "{made}: {}", messages(&output));
        assert!(text(&output).contains(" sound = 1, 2 ;"), "{made}: {}", text(&output));
    }
    let json = text(&ncirrus(&["info", "--json", "odd.zarr"], folder));
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["left_out"][0]["path"], "/odd", "{json}");
    // What is not selected is not reported.
    assert!(ncirrus(&["copy", "-V", "sound", "odd.zarr", "one.nc"], folder).status.success());
}

#[test]
fn a_variable_that_only_one_of_many_files_has_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    for (name, more) in [("a.nc", false), ("b.nc", true)] {
        let dataset = Dataset::create(folder.join(name).to_str().unwrap()).unwrap();
        let root = dataset.root();
        root.add_dimension("t", ncirrus::DimensionLen::Unlimited(0)).unwrap();
        let time = root.add_variable("t", Atomic::Int, &["t"]).unwrap();
        if more {
            root.add_variable("more", Atomic::Int, &[]).unwrap();
        }
        time.write(&Selection::slab(&[0], &[1]), &[i32::from(more)]).unwrap();
        dataset.close().unwrap();
    }
    for arguments in [
        &["aggregate", "--axis", "t", "all.nca", "a.nc", "b.nc"][..],
        &["reference", "--axis", "t", "a.nc", "b.nc", "all.json"],
    ] {
        let output = ncirrus(arguments, folder);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {}", messages(&output));
        assert!(messages(&output).contains("/more is left out: present in b.nc"), "{}", messages(&output));
    }
}

#[test]
fn an_aggregated_variable_that_is_not_a_scalar_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    for (name, with_sound_one) in [("alone.nc4", false), ("alone.zarr", false), ("beside.nc4", true)] {
        let dataset = Dataset::create(folder.join(name).to_str().unwrap()).unwrap();
        let root = dataset.root();
        root.add_dimension("x", ncirrus::DimensionLen::Fixed(3)).unwrap();
        let wrong = root.add_variable("wrong", Atomic::Int, &["x"]).unwrap();
        wrong.set_attribute(ncirrus::Attribute::text("aggregated_dimensions", "x")).unwrap();
        wrong
            .set_attribute(ncirrus::Attribute::text("aggregated_data", "map: m uris: u identifiers: i"))
            .unwrap();
        if with_sound_one {
            let other = root.add_variable("other", Atomic::Int, &[]).unwrap();
            other.set_attribute(ncirrus::Attribute::text("aggregated_dimensions", "x")).unwrap();
            other.set_attribute(ncirrus::Attribute::text("aggregated_data", "map: m")).unwrap();
        }
        dataset.close().unwrap();
        for arguments in [&["dump", name][..], &["copy", "--overwrite", name, "copy.nc"]] {
            let output = ncirrus(arguments, folder);
            let messages = messages(&output);
            assert_eq!(output.status.code(), Some(1), "{arguments:?}: {messages}");
            let says = "/wrong is left out: it is aggregated but not a scalar (it has the dimensions x): its values are missing";
            assert_eq!(messages.matches(says).count(), 1, "{arguments:?}: {messages}");
        }
        let dump = text(&ncirrus(&["dump", "-v", "wrong", name], folder));
        assert!(dump.contains("wrong = _, _, _ ;"), "{dump}");
        // As stored, nothing is missing.
        assert!(ncirrus(&["dump", "--raw", name], folder).status.success());
    }
}

/// The example in compressed chunks of one time each, with the third of them damaged.
fn damaged(folder: &Path) {
    let copied = ncirrus(&["copy", "-c", "time/1,lat/9,lon/", "-d", "4", &example(), "a.zarr"], folder);
    assert!(copied.status.success(), "{}", messages(&copied));
    std::fs::write(folder.join("a.zarr/sst/2.1.0"), b"no chunk of zlib").unwrap();
}

#[test]
fn a_damaged_chunk_fails_the_copy_and_the_option_to_go_on_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    damaged(folder);
    // Decoded, because the chunks of the copy have a different shape.
    let output = ncirrus(&["copy", "-d", "1", "a.zarr", "b.nc4"], folder);
    assert_eq!(output.status.code(), Some(5), "{}", messages(&output));
    assert!(
        messages(&output).contains("--skip-damaged") && !folder.join("b.nc4").exists(),
        "{}",
        messages(&output)
    );
}

#[test]
fn damaged_chunks_become_fill_when_that_is_wanted() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    damaged(folder);
    for arguments in [
        &["b.nc4"][..],
        &["b.zarr"],
        &["b.nc"],
        &["-c", "time/12,lat/6,lon/36", "-d", "1", "c.zarr"],
        &["--select", "sst[1:5:2,3:12,:]", "part.nc"],
    ] {
        let all = [&["copy", "--skip-damaged", "a.zarr"], arguments].concat();
        let output = ncirrus(&all, folder);
        let messages = messages(&output);
        // Every second time of the selection begins at 1: the damaged one is not among them.
        let is_hit = !arguments.contains(&"--select");
        assert_eq!(output.status.code(), Some(i32::from(is_hit)), "{all:?}: {messages}");
        let lines = messages
            .matches("/sst: chunk [2, 1, 0] cannot be decoded and has fill values in the copy")
            .count();
        assert_eq!(lines, usize::from(is_hit), "{messages}");
    }
    let whole = Dataset::open(&example()).unwrap().variable("sst").unwrap().read::<f32>().unwrap().into_vec();
    for name in ["b.nc4", "b.zarr", "b.nc", "c.zarr"] {
        let copy = Dataset::open(folder.join(name).to_str().unwrap()).unwrap();
        let variable = copy.variable("sst").unwrap();
        let fill = match variable.attribute("_FillValue").unwrap().map(|attribute| attribute.values) {
            Some(ncirrus::Values::Float(values)) => values[0],
            _ => 9.969_21e36,
        };
        let read = variable.read::<f32>().unwrap().into_vec();
        for (at, (read, whole)) in read.iter().zip(&whole).enumerate() {
            let is_damaged = at / (18 * 36) == 2 && at / 36 % 18 >= 9;
            let want = if is_damaged { fill } else { *whole };
            assert!((read - want).abs() <= want.abs() * 1e-6, "{name}: {at}: {read} for {want}");
        }
    }
}

#[test]
fn what_is_cut_off_a_variable_without_chunks_becomes_fill() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let copied = ncirrus(&["copy", "-u", "-c", "/", &example(), "a.nc4"], folder);
    assert!(copied.status.success(), "{}", messages(&copied));
    let bytes = std::fs::read(folder.join("a.nc4")).unwrap();
    std::fs::write(folder.join("a.nc4"), &bytes[..bytes.len() - 7000]).unwrap();
    let failed = ncirrus(&["copy", "a.nc4", "b.nc"], folder);
    assert_eq!(failed.status.code(), Some(5), "{}", messages(&failed));
    let output = ncirrus(&["copy", "--skip-damaged", "a.nc4", "b.nc"], folder);
    let messages = messages(&output);
    assert_eq!(output.status.code(), Some(1), "{messages}");
    assert_eq!(messages.matches("elements from [9, 0, 0], [3, 18, 36] of them,").count(), 1, "{messages}");
}

/// The first 70 % of files by netCDF-C: whatever is left, every command first reports that the file is truncated.
#[test]
fn files_that_are_cut_off_are_reported_by_every_command() {
    let Some(corpus) = ncirrus_testkit::corpus::corpus("hdf5/gennc") else { return };
    let folder = tempfile::tempdir().unwrap();
    let (cut, copied) = (folder.path().join("cut.nc"), folder.path().join("copied.nc"));
    let (cut, copied) = (cut.to_str().unwrap(), copied.to_str().unwrap());
    let mut codes = std::collections::BTreeMap::new();
    for entry in std::fs::read_dir(corpus).unwrap().map(|entry| entry.unwrap().path()).take(20) {
        let whole = std::fs::read(&entry).unwrap();
        if !whole.starts_with(b"\x89HDF") {
            continue;
        }
        let len = whole.len() * 7 / 10;
        std::fs::write(cut, &whole[..len]).unwrap();
        let message = format!("the file is cut off: {len} of ");
        for arguments in
            [&["dump", "-h", cut][..], &["dump", cut], &["info", cut], &["copy", "-k", "nc4", cut, copied]]
        {
            let output = crate::program::command().args(arguments).output().unwrap();
            let messages = String::from_utf8_lossy(&output.stderr).into_owned();
            let code = output.status.code().unwrap();
            assert!(
                [1, 5].contains(&code),
                "{arguments:?} of {} ends with {code}: {messages}",
                entry.display()
            );
            let is_chunk = code == 5 && arguments[0] == "copy";
            assert!(
                messages.contains(&message) || is_chunk,
                "{arguments:?} of {}: {messages}",
                entry.display()
            );
            *codes.entry(code).or_insert(0) += 1;
            _ = std::fs::remove_file(copied);
        }
    }
    assert!(codes.contains_key(&1), "{codes:?}");
}
