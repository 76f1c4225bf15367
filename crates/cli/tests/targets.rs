//! Existing targets: what is replaced, and what never is.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail the test")]
use std::fs;
use std::path::Path;
use std::process::Output;

fn ncirrus(arguments: &[&str], folder: &Path) -> Output {
    crate::program::command().args(arguments).current_dir(folder).output().unwrap()
}

fn messages(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn done(arguments: &[&str], folder: &Path) -> String {
    let output = ncirrus(arguments, folder);
    assert!(output.status.success(), "{arguments:?}: {}", messages(&output));
    String::from_utf8(output.stdout).unwrap()
}

fn example() -> String {
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/sst.nc").to_owned()
}

/// Three files that follow each other, and their bytes.
fn files(folder: &Path) -> Vec<Vec<u8>> {
    for (name, from, to) in [("g1.nc", 0, 4), ("g2.nc", 4, 8), ("g3.nc", 8, 12)] {
        let part = format!("sst[{from}:{to},:,:]");
        done(&["copy", "--select", &part, &example(), name], folder);
    }
    ["g1.nc", "g2.nc", "g3.nc"].map(|name| fs::read(folder.join(name)).unwrap()).into()
}

#[test]
fn a_forgotten_target_costs_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let before = files(folder);
    fs::write(folder.join("notes.txt"), "dear diary").unwrap();
    for arguments in [
        &["reference", "--axis", "time", "g1.nc", "g2.nc"][..],
        &["reference", "-f", "--axis", "time", "g1.nc", "g2.nc"],
        &["reference", "--overwrite", "--axis", "time", "g1.nc", "g2.nc"],
        &["reference", "--overwrite", "g1.nc", "g1.nc"],
        &["reference", "--overwrite=any", "g1.nc", "./g1.nc"],
        &["reference", "--overwrite", "g1.nc", "notes.txt"],
        &["reference", "--overwrite=any", "g1.nc", "notes.txt"],
        &["aggregate", "--overwrite", "--axis", "time", "g1.nc", "g2.nc", "g3.nc"],
        &["aggregate", "--overwrite=any", "--axis", "time", "g1.nc", "g1.nc", "g2.nc"],
        &["aggregate", "--overwrite", "--axis", "time", "notes.txt", "g1.nc"],
        &["split", "--overwrite", "--shape", "time=1", "g1.nc", "g2.nc"],
        &["split", "--overwrite=any", "g1.nc", "g1.nc"],
        &["split", "--overwrite", "g1.nc", "notes.txt"],
        &["copy", "--overwrite", "g1.nc", "g1.nc"],
        &["copy", "--overwrite", "-k", "nc3", "g1.nc", "notes.txt"],
        &["copy", "--overwrite=any", "-k", "nc4", "g1.nc", "notes.txt"],
        &["copy", "--overwrite", "-k", "nczarr", "g1.nc", "notes.txt"],
    ] {
        let output = ncirrus(arguments, folder);
        assert_eq!(output.status.code(), Some(7), "{arguments:?}: {}", messages(&output));
        for (name, bytes) in ["g1.nc", "g2.nc", "g3.nc"].iter().zip(&before) {
            assert_eq!(&fs::read(folder.join(name)).unwrap(), bytes, "{arguments:?}: {name}");
        }
        assert_eq!(fs::read_to_string(folder.join("notes.txt")).unwrap(), "dear diary", "{arguments:?}");
        if !arguments.contains(&"notes.txt") {
            assert!(
                messages(&output).contains("is the target missing from the command?"),
                "{arguments:?}: {}",
                messages(&output)
            );
        }
    }
}

#[test]
fn what_is_of_the_same_kind_is_replaced_and_anything_else_when_that_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    files(folder);
    fs::write(folder.join("empty.nc"), "").unwrap();
    for arguments in [
        &["reference", "g1.nc", "r.json"][..],
        &["reference", "--overwrite", "g2.nc", "r.json"],
        &["reference", "g1.nc", "refs"],
        &["reference", "--overwrite", "g2.nc", "refs"],
        &["aggregate", "--axis", "time", "m.nca", "g1.nc", "g2.nc"],
        &["aggregate", "--overwrite", "--axis", "time", "m.nca", "g1.nc", "g2.nc", "g3.nc"],
        &["split", "--overwrite", "--shape", "time=2", "g3.nc", "m.nca"],
        &["copy", "--overwrite", "g1.nc", "g2.nc"],
        &["copy", "--overwrite", "g1.nc", "r.json", "-k", "nc3"],
        &["copy", "--overwrite", "g1.nc", "empty.nc"],
        &["copy", "--overwrite=any", "-d", "1", "-k", "nc4", "g1.nc", "g1.nc"],
        &["reference", "--overwrite=any", "g1.nc", "g2.nc"],
        &["aggregate", "--overwrite=any", "--axis", "time", "empty.nc", "g1.nc", "g3.nc"],
    ] {
        done(arguments, folder);
    }
}

#[test]
fn options_stand_between_operands() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    files(folder);
    done(&["reference", "g1.nc", "--axis", "time", "g2.nc", "r.json"], folder);
    done(&["aggregate", "m.nca", "g1.nc", "--axis", "time", "g2.nc", "--sort", "g3.nc"], folder);
    done(&["copy", "g1.nc", "-d", "1", "a.nc4"], folder);
    assert_eq!(ncirrus(&["reference", "g1.nc"], folder).status.code(), Some(2));
}

#[test]
fn what_others_put_into_a_store_stays_when_it_is_replaced_or_removed() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    done(&["copy", &example(), "s.zarr"], folder);
    let others = ["s.zarr/notes/letter.txt", "s.zarr/sst/plot.png", "s.zarr/readme", "s.zarr/notes/12"];
    fs::create_dir(folder.join("s.zarr/notes")).unwrap();
    for other in others {
        fs::write(folder.join(other), "mine").unwrap();
    }
    let output = ncirrus(&["copy", "--overwrite", "-V", "time", &example(), "s.zarr"], folder);
    assert!(output.status.success(), "{}", messages(&output));
    assert!(messages(&output).contains("letter.txt was kept"), "{}", messages(&output));
    let dumped = done(&["dump", "-h", "s.zarr"], folder);
    assert!(dumped.contains("time(time)") && !dumped.contains("sst("), "{dumped}");
    for other in others {
        assert_eq!(fs::read_to_string(folder.join(other)).unwrap(), "mine", "{other}");
    }
    let tried = done(&["rm", "--dry-run", "s.zarr"], folder);
    assert!(tried.contains("would keep"), "{tried}");
    let output = ncirrus(&["rm", "-y", "s.zarr"], folder);
    assert!(
        output.status.success() && messages(&output).contains("plot.png was kept"),
        "{}",
        messages(&output)
    );
    for other in others {
        assert_eq!(fs::read_to_string(folder.join(other)).unwrap(), "mine", "{other}");
    }
    assert!(!folder.join("s.zarr/time").exists() && !folder.join("s.zarr/.zgroup").exists());
    done(&["rm", "-y", "--force", "s.zarr"], folder);
    assert!(!folder.join("s.zarr").exists());
}

#[test]
fn a_part_of_another_store_is_not_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    done(&["copy", &example(), "s.zarr"], folder);
    done(&["copy", "-V", "lat", &example(), "b.nc"], folder);
    let whole = done(&["dump", "s.zarr"], folder);
    for arguments in [
        &["copy", "--overwrite", "-k", "zarr2", "b.nc", "s.zarr/sst"][..],
        &["copy", "--overwrite=any", "-k", "nczarr", "b.nc", "s.zarr/sst"],
    ] {
        let output = ncirrus(arguments, folder);
        assert_eq!(output.status.code(), Some(7), "{}", messages(&output));
        assert!(messages(&output).contains("part of the dataset"), "{}", messages(&output));
        assert_eq!(done(&["dump", "s.zarr"], folder), whole);
    }
}

#[test]
fn options_without_effect_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    for (option, value, name) in [
        ("-c", "nodim/3", "nodim"),
        ("-c", "nov:3", "nov"),
        ("-F", "nov,zstd", "nov"),
        ("--quantize", "nov,bitround=3", "nov"),
    ] {
        let output = ncirrus(&["copy", option, value, &example(), "x.nc4"], folder);
        assert_eq!(output.status.code(), Some(3), "{option} {value}: {}", messages(&output));
        assert!(messages(&output).contains(name) && !folder.join("x.nc4").exists(), "{}", messages(&output));
    }
    for (options, word) in [
        (&["-d", "4"][..], "filters have no effect"),
        (&["--codec", "zstd"], "filters have no effect"),
        (&["-c", "time/1"], "chunk shapes have no effect"),
        (&["--dialect", "att"], "the dialect has no effect"),
    ] {
        let source = example();
        let all = [&["copy", "--overwrite", "-k", "nc3"], options, &[&source, "x.nc"]].concat();
        let output = ncirrus(&all, folder);
        assert!(
            output.status.success() && messages(&output).contains(word),
            "{all:?}: {}",
            messages(&output)
        );
    }
    done(&["copy", "-k", "nc3", &example(), "y.nc"], folder);
}
