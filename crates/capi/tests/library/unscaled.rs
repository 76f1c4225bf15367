//! Changes of files of HDF5 in which axes have no scale and attributes cannot be shown. Debian's library gives every such axis a
//! scale as soon as it closes the file, by which it attaches `b` of this file to another dimension.
use super::calls::compiled;
use super::{Library, printed};
use ncirrus_testkit::corpus::peers_python;
use std::process::Command;

const MAKE: &str = r#"
import sys, h5py, numpy
with h5py.File(sys.argv[1], "w", track_order=True, libver="latest") as file:
    file.create_dataset("a", data=numpy.arange(6).reshape(2, 3), track_order=True)
    file.create_dataset("b", data=numpy.arange(3.0), maxshape=(None,), chunks=(2,), track_order=True)
    file.attrs["reference"] = file["a"].ref
    file.attrs["seen"] = 1
"#;

const SCALES: &str = r#"
import sys, h5py
with h5py.File(sys.argv[1]) as file:
    for name in file:
        for axis in getattr(file[name], "dims", []):
            print(name, [scale.name for scale in axis.values()])
"#;

/// What h5py shows of the scales of all axes, and Debian's `ncdump` of all else, after a step of `tests/c/unscaled.c`.
fn changed(step: &str) -> Option<[String; 2]> {
    let python = peers_python()?.to_string_lossy().into_owned();
    let folder = tempfile::tempdir().unwrap();
    let made = Command::new(&python).args(["-c", MAKE, "own.h5"]).current_dir(folder.path()).status();
    assert!(made.unwrap().success());
    std::fs::copy(folder.path().join("own.h5"), folder.path().join("debian.h5")).unwrap();
    let program = compiled(folder.path(), "unscaled");
    let expected = printed(Library::Debian, folder.path(), &program, &["debian.h5", step]);
    let said = printed(Library::Own, folder.path(), &program, &["own.h5", step]);
    assert!(!expected.contains("= -"), "{expected}");
    let lines = |said: &str| {
        let lines = said.lines().filter(|line| !line.starts_with("b:"));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(lines(&said), lines(&expected), "{step}");
    let scales = printed(Library::Debian, folder.path(), &python, &["-c", SCALES, "own.h5"]);
    Some([scales, printed(Library::Debian, folder.path(), "ncdump", &["own.h5"])])
}

#[test]
fn a_dimension_without_a_scale_gets_one_when_it_is_renamed() {
    let Some([scales, dump]) = changed("rename") else { return };
    assert_eq!(scales, "a ['/first']\na ['/phony_dim_1']\nb []\nfirst []\nphony_dim_1 []\n");
    assert!(dump.contains("int64 a(first, phony_dim_1) ;") && dump.contains(":other = 7 ;"), "{dump}");
    assert!(dump.contains("b = 0, 1, 2 ;"), "{dump}");
}

#[test]
fn a_dimension_without_a_scale_gets_one_when_a_new_variable_has_it() {
    let Some([scales, dump]) = changed("define") else { return };
    let expected =
        "a ['/phony_dim_0']\na ['/phony_dim_1']\nb []\nnew ['/phony_dim_0']\nnew ['/phony_dim_1']\n";
    let mut lines: Vec<&str> = scales.lines().filter(|line| !line.starts_with("phony")).collect();
    lines.sort_unstable();
    assert_eq!(lines, expected.lines().collect::<Vec<_>>());
    assert!(dump.contains("int new(phony_dim_0, phony_dim_1) ;"), "{dump}");
    assert!(dump.contains("new =\n  1, 2, 3,\n  4, 5, 6 ;"), "{dump}");
    let Some([_, both]) = changed("rename-define") else { return };
    assert!(both.contains("int new(first, phony_dim_1) ;"), "{both}");
}

#[test]
fn an_attribute_that_cannot_be_shown_gives_its_name_to_a_new_one() {
    let Some([_, dump]) = changed("attribute") else { return };
    assert!(dump.contains(":reference = 7 ;") && dump.contains(":other = 7 ;"), "{dump}");
    let Some([_, dump]) = changed("title") else { return };
    assert!(dump.contains(":reference = 1LL ;") && !dump.contains(":seen"), "{dump}");
}
