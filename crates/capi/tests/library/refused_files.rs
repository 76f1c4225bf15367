//! Files that netCDF-C refuses: `NCIRRUS_STRICT=1` refuses them, too.
use super::calls::compiled;
use super::{Library, loaded_from, printed};
use ncirrus_testkit::corpus::peers_python;
use std::path::Path;
use std::process::Command;

/// Files of HDF5: groups in a circle, a link that leads nowhere, groups without an order, and one that netCDF-C takes.
const MAKE: &str = r#"
import h5py, numpy
def made(name, tracks):
    file = h5py.File(name, "w", track_order=tracks)
    file["x"] = numpy.arange(3)
    return file
with made("circle.h5", False) as file:
    file.create_group("a/b")["up"] = h5py.SoftLink("/a")
with made("dangling.h5", True) as file:
    file["gone"] = h5py.SoftLink("/none")
with made("foreign.h5", True) as file:
    file["gone"] = h5py.ExternalLink("none.h5", "/x")
made("unordered.h5", False).close()
with made("inner.h5", True) as file:
    file.create_group("a", track_order=False)
with made("good.h5", True) as file:
    file["again"] = file.create_group("a", track_order=True)
"#;

const CDL: &str =
    "netcdf c { dimensions: x = 3 ; variables: byte a(x), b(x) ; data: a = 1, 2, 3 ; b = 4, 5, 6 ; }";

/// Of a classic file with two variables, the second begins a byte earlier.
fn move_second(folder: &Path) {
    printed(Library::Debian, folder, "ncgen", &["-o", "close.nc", "c.cdl"]);
    let mut bytes = std::fs::read(folder.join("close.nc")).unwrap();
    let begin = u32::try_from(bytes.len() - 4).unwrap().to_be_bytes();
    let at = bytes.windows(4).position(|word| word == begin).unwrap();
    bytes[at + 3] -= 1;
    std::fs::write(folder.join("close.nc"), bytes).unwrap();
}

#[test]
fn what_debians_library_does_not_open_is_refused_if_that_is_asked_for() {
    let Some(python) = peers_python() else { return };
    let home = tempfile::tempdir().unwrap();
    let folder = home.path();
    let made = Command::new(python).args(["-c", MAKE]).current_dir(folder).output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    std::fs::write(folder.join("c.cdl"), CDL).unwrap();
    printed(Library::Debian, folder, "ncgen", &["-o", "good.nc", "c.cdl"]);
    move_second(folder);
    let names = ["dangling.h5", "foreign.h5", "unordered.h5", "inner.h5", "good.h5", "close.nc", "good.nc"];
    let program = compiled(folder, "opening");
    let expected = printed(Library::Debian, folder, &program, &names);
    let codes: Vec<&str> =
        expected.lines().map(|line| line.split_once(": ").map_or("", |(_, code)| code)).collect();
    assert_eq!(codes, "-101 -101 -101 -101 0 -103 0 -103 0 0 -51 -51 0 0".split(' ').collect::<Vec<_>>());

    let strictly = |names: &[&str]| {
        let mut command = Command::new(&program);
        command.args(names).current_dir(folder).env("LD_LIBRARY_PATH", loaded_from(folder));
        let output = command.env("NCIRRUS_STRICT", "1").output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    assert_eq!(strictly(&names), expected);
    // Debian's goes round until its stack ends.
    assert_eq!(strictly(&["circle.h5"]), "1: -101\n1: -101\n");
    let lenient = printed(Library::Own, folder, &program, &names);
    assert!(lenient.lines().all(|line| line.ends_with(": 0")), "{lenient}");
}

#[test]
fn files_of_hdf5_that_are_cut_off_are_refused() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path();
    std::fs::write(folder.join("c.cdl"), CDL).unwrap();
    printed(Library::Debian, folder, "ncgen", &["-k", "nc4", "-o", "whole.nc", "c.cdl"]);
    let bytes = std::fs::read(folder.join("whole.nc")).unwrap();
    let lengths = [bytes.len() - 1, bytes.len() / 2, 2000, 600];
    let mut names = vec!["whole.nc".to_owned()];
    for len in lengths {
        names.push(format!("{len}.nc"));
        std::fs::write(folder.join(format!("{len}.nc")), &bytes[..len]).unwrap();
    }
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let program = compiled(folder, "opening");
    let expected = printed(Library::Debian, folder, &program, &names);
    assert_eq!(expected.matches(": -101\n").count(), 2 * lengths.len(), "{expected}");
    assert_eq!(printed(Library::Own, folder, &program, &names), expected);
}
