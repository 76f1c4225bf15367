//! What is kept as it is, because something would be lost.
use super::single::{cmip7, deflate, failure, made, one};
use super::text;
use crate::support::{session, temp};
use ncirrus::{Dataset, ErrorKind, OpenOptions, Selection};
use ncirrus_testkit::corpus::peers_python;
use std::path::Path;
use std::process::Command;

#[test]
fn a_file_whose_name_looks_like_an_option_is_not_taken_for_another() {
    let (_guard, root) = temp();
    let session = session();
    let (plain, named) = (root.join("a.nc"), root.join("a.nc#mode=bytes"));
    // Creating it under that name would take the end for an option.
    made(&plain, 10, 32, deflate());
    std::fs::rename(&plain, &named).unwrap();
    made(&plain, 20, 32, deflate());
    let read = || [&plain, &named].map(|path| std::fs::read(path).unwrap());
    let before = read();
    let (kind, message) = failure(&text(&named), &cmip7(), &session);
    assert!(kind == ErrorKind::Unsupported && message.contains("rename it"), "{message}");
    assert_eq!(read(), before);
    // Without such a file it is an option.
    std::fs::remove_file(&named).unwrap();
    assert_eq!(one(&named, &cmip7(), &session).outcome.name(), "optimized");
}

#[test]
fn a_copy_in_the_folder_that_has_other_values_is_not_complete() {
    let (_guard, root) = temp();
    let (path, folder, session) = (root.join("a.nc"), root.join("out"), session());
    std::fs::create_dir(&folder).unwrap();
    made(&path, 20, 32, deflate());
    let options = cmip7().folder(folder.clone());
    assert_eq!(one(&path, &options, &session).outcome.name(), "optimized");
    let dataset = Dataset::update_with(&text(&path), &OpenOptions::default(), &session).unwrap();
    dataset.variable("maps").unwrap().write(&Selection::slab(&[3, 4, 5], &[1, 1, 1]), &[-1.0_f32]).unwrap();
    dataset.close().unwrap();
    assert_eq!(failure(&text(&path), &options, &session).0, ErrorKind::Conflict);
    assert_eq!(one(&path, &options.overwrite(true), &session).outcome.name(), "optimized");
}

#[test]
fn only_datasets_in_the_folder_are_overwritten() {
    let (_guard, root) = temp();
    let (path, folder, session) = (root.join("a.nc"), root.join("out"), session());
    std::fs::create_dir(&folder).unwrap();
    made(&path, 20, 32, deflate());
    let there = folder.join("a.nc");
    let options = cmip7().folder(folder).overwrite(true);
    std::fs::write(&there, "a diary").unwrap();
    assert_eq!(failure(&text(&path), &options, &session).0, ErrorKind::Conflict);
    assert_eq!(std::fs::read(&there).unwrap(), b"a diary");
    std::fs::remove_file(&there).unwrap();
    #[cfg(unix)]
    {
        let outside = root.join("outside.nc");
        made(&outside, 5, 32, deflate());
        let before = std::fs::read(&outside).unwrap();
        std::os::unix::fs::symlink(&outside, &there).unwrap();
        let (kind, message) = failure(&text(&path), &options, &session);
        assert!(kind == ErrorKind::Conflict && message.contains("is a link"), "{message}");
        assert_eq!(std::fs::read(&outside).unwrap(), before);
    }
}

#[test]
fn a_dry_run_refuses_files_with_several_names() {
    let (_guard, root) = temp();
    let (path, session) = (root.join("a.nc"), session());
    made(&path, 20, 32, deflate());
    std::fs::hard_link(&path, root.join("b.nc")).unwrap();
    assert_eq!(failure(&text(&path), &cmip7().dry_run(true), &session).0, ErrorKind::Conflict);
}

#[cfg(unix)]
#[test]
fn nobody_else_reads_the_unfinished_copy_of_a_private_file() {
    use std::os::unix::fs::PermissionsExt;
    use std::sync::Mutex;
    let (_guard, root) = temp();
    let (path, session) = (root.join("a.nc"), session());
    made(&path, 60, 64, deflate());
    let modes = Mutex::new(Vec::new());
    let look = |_: ncirrus_tools::OptimizeProgress<'_>| {
        let entries = std::fs::read_dir(&root).unwrap().map(|entry| entry.unwrap().path());
        let folders = entries.filter(|path| path.is_dir());
        let mode = |path: std::path::PathBuf| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        modes.lock().unwrap().extend(folders.map(mode));
    };
    assert_eq!(one(&path, &cmip7().progress(&look), &session).outcome.name(), "optimized");
    let modes = modes.into_inner().unwrap();
    assert!(!modes.is_empty() && modes.iter().all(|mode| *mode == 0o700), "{modes:?}");
}

/// Sets an access control list, with which the group of the file may read nothing and another user may read; or prints it.
#[cfg(target_os = "linux")]
const ACCESS: &str = r#"
import os, struct, sys
path, name = sys.argv[1], "system.posix_acl_access"
if sys.argv[2] == "set":
    entries = [(1, 6, -1), (2, 4, 12345), (4, 0, -1), (16, 4, -1), (32, 0, -1)]
    acl = struct.pack("<I", 2) + b"".join(struct.pack("<HHi", *entry) for entry in entries)
    os.setxattr(path, name, acl)
print(os.getxattr(path, name).hex(), oct(os.stat(path).st_mode))
"#;

#[cfg(target_os = "linux")]
#[test]
fn an_access_control_list_stays() {
    let (_guard, root) = temp();
    let (path, session) = (root.join("a.nc"), session());
    let Some(python) = peers_python() else { return };
    made(&path, 20, 32, deflate());
    let run = |what: &str| {
        let output = Command::new(&python).args(["-c", ACCESS]).arg(&path).arg(what).output().unwrap();
        output.status.success().then_some(output.stdout)
    };
    // Not every file system has such lists.
    let Some(list) = run("set") else { return };
    assert_eq!(one(&path, &cmip7(), &session).outcome.name(), "optimized");
    assert_eq!(run("show"), Some(list));
}

/// Makes a file of each thing that HDF5 has and netCDF does not show, and `plain.nc`, which has none.
const MAKE: &str = r#"
import sys, h5py, numpy as np
folder = sys.argv[1]
def soft(f): f["alias"] = h5py.SoftLink("/v")
def dangling(f): f["alias"] = h5py.SoftLink("/absent")
def external(f): f["alias"] = h5py.ExternalLink("other.nc", "/v")
def hard(f): f["alias"] = f["v"]
def group(f): f.create_group("g", track_order=True); f["h"] = f["g"]
def raw(f): f.create_dataset("raw", (4,), "f4", external=[(folder + "/raw.bin", 0, 16)])
def named(f): f["type"] = np.dtype("f4")
def half_type(f): f["type"] = np.dtype("f2")
def grows(f): f.create_dataset("grows", data=np.arange(4), maxshape=(9,), chunks=(2,))
def matrix(f): f.attrs["matrix"] = np.ones((2, 2))
def big(f): f["v"].attrs["big"] = np.array([1, 2], ">i4")
def half(f): f.attrs["half"] = np.float16(1)
def reference(f): f.attrs["reference"] = f["v"].ref
def image(f): f["v"].attrs["CLASS"] = np.bytes_("IMAGE")
def empty(f): f["empty"] = h5py.Empty("f4")
def comment(f): h5py.h5o.set_comment(f["v"].id, b"remark")
def plain(f):
    f.attrs["text"], f.attrs["numbers"] = "text", np.arange(3, dtype="f8")
    f["v"].attrs["texts"] = ["one", "two"]
    f["v"].make_scale("v")
for make in [soft, dangling, external, hard, group, raw, named, half_type, grows, matrix, big, half, reference, image, empty, comment, plain]:
    with h5py.File(f"{folder}/{make.__name__}.nc", "w", track_order=True) as f:
        f.create_dataset("v", data=np.arange(100, dtype="f4"), chunks=(1,), track_order=True)
        make(f)
"#;

#[test]
fn files_of_hdf5_with_more_than_netcdf_shows_are_kept() {
    let (_guard, root) = temp();
    let session = session();
    let Some(python) = peers_python() else { return };
    let made = Command::new(python).args(["-c", MAKE]).arg(&root).output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let keeps = |name: &str, reason: &str| {
        let path = root.join(name).with_extension("nc");
        let before = std::fs::read(&path).unwrap();
        let (kind, message) = failure(&text(&path), &cmip7(), &session);
        let is_refused = kind == ErrorKind::Unsupported && message.contains("without loss");
        assert!(is_refused && message.contains(reason), "{name}: {kind:?}: {message}");
        assert!(std::fs::read(&path).unwrap() == before, "{name}");
    };
    for (name, reason) in [
        ("soft", "/alias: a soft or external link"),
        ("dangling", "/alias: a soft or external link"),
        ("external", "/alias: a soft or external link"),
        ("hard", "another name of"),
        ("group", "another name of"),
        ("raw", "/raw: elements in other files"),
        ("named", "/type: a committed type"),
        ("half_type", "/type: a committed type"),
        ("grows", "/grows: a dimension that may grow"),
        ("matrix", "\"matrix\": several dimensions"),
        ("big", "\"big\": a type"),
        ("half", "\"half\": a type"),
        ("reference", "\"reference\": a type"),
        ("image", "\"CLASS\": it is not shown"),
        ("empty", "/empty: a dataset without any elements"),
        ("comment", "/v: a comment"),
    ] {
        keeps(name, reason);
    }
    let plain: &Path = &root.join("plain.nc");
    let file = one(plain, &cmip7(), &session);
    assert_eq!(file.outcome.name(), "optimized", "{file}");
}
