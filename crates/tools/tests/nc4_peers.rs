//! Other programs read the netCDF-4 files that are written here, and programs that check files find no errors.

use crate::nc4::fixtures::{FIXTURES, Fixture, PLUGINS};
use crate::nc4::reading::{output_of, read_all, same};
use crate::nc4::structure::{Found, look};
use crate::support::{cdl_of, difference, session, temp};
use ncirrus::{Dataset, FileStructures};
use ncirrus_testkit::corpus::{peers_python, program};
use std::path::{Path, PathBuf};
use std::process::Command;

const ALL: [(&str, FileStructures); 2] = [("old", FileStructures::V18), ("new", FileStructures::V110)];

/// A fixture that was written.
struct Written {
    fixture: Fixture,
    structures: FileStructures,
    path: PathBuf,
    dataset: Dataset,
}

fn written(folder: &Path) -> Vec<Written> {
    let session = session();
    let fixtures =
        || FIXTURES.into_iter().map(|fixture| ALL.map(|(name, form)| (fixture.clone(), name, form)));
    let write = |(fixture, name, structures): (Fixture, &str, FileStructures)| {
        let path = folder.join(format!("{}-{name}.nc", fixture.name));
        let dataset = fixture.write(&path, structures, &session);
        Written { fixture, structures, path, dataset }
    };
    fixtures().flatten().map(write).collect()
}

fn none(failures: &[String]) {
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn python_programs_read_every_fixture() {
    let Some(python) = peers_python() else { return };
    let (_folder, temp) = temp();
    let all = written(&temp);
    let mut failures = Vec::new();
    for common in [true, false] {
        let programs = if common { "h5py,netcdf4,h5netcdf,xarray" } else { "h5py" };
        let some: Vec<&Written> = all.iter().filter(|one| one.fixture.common == common).collect();
        let paths: Vec<PathBuf> = some.iter().map(|one| one.path.clone()).collect();
        let read = read_all(&python, programs, &paths);
        for one in some {
            let path = one.path.to_str().unwrap();
            failures.extend(programs.split(',').filter_map(|program| {
                let what = format!("{program} {}", one.path.file_name().unwrap().display());
                same(&one.dataset, &read[path][program], &what).err()
            }));
        }
    }
    none(&failures);
}

#[test]
fn ncdump_prints_every_fixture_as_we_do() {
    let Some(ncdump) = program("ncdump") else { return };
    let (_folder, temp) = temp();
    let mut failures = Vec::new();
    for one in written(&temp) {
        let (ours, whole) = cdl_of(&one.dataset, "it", |_| ()).unwrap();
        assert!(whole, "{}", one.fixture.name);
        let theirs = output_of(Command::new(&ncdump).args(["-n", "it"]).arg(&one.path));
        let outcome = theirs.and_then(|theirs| difference(&theirs, &ours));
        failures.extend(outcome.err().map(|reason| format!("{}: {reason}", one.path.display())));
    }
    none(&failures);
}

#[test]
fn the_tools_of_hdf5_find_nothing_wrong() {
    let (Some(h5dump), Some(h5stat), Some(h5debug)) =
        (program("h5dump"), program("h5stat"), program("h5debug"))
    else {
        return;
    };
    let (_folder, temp) = temp();
    let mut failures = Vec::new();
    for one in written(&temp) {
        for command in [
            Command::new(&h5dump).arg("-p").arg(&one.path),
            Command::new(&h5stat).arg(&one.path),
            Command::new(&h5debug).arg(&one.path),
        ] {
            failures.extend(output_of(command).err());
        }
        let headers = look(&std::fs::read(&one.path).unwrap()).headers;
        for at in headers.iter().take(20) {
            failures.extend(output_of(Command::new(&h5debug).arg(&one.path).arg(at.to_string())).err());
        }
    }
    none(&failures);
}

#[test]
fn h5dump_shows_the_filters() {
    let Some(h5dump) = program("h5dump") else { return };
    let (_folder, temp) = temp();
    for one in written(&temp).into_iter().filter(|one| one.fixture.name == "filters") {
        let reported = |name: &str| {
            let mut command = Command::new(&h5dump);
            let text = output_of(command.args(["-p", "-H", "-d", name]).arg(&one.path)).unwrap();
            text.split_whitespace().collect::<Vec<_>>().join(" ")
        };
        for (name, words) in [
            ("deflate", "FILTERS { COMPRESSION DEFLATE { LEVEL 4 } }"),
            ("shuffled", "FILTERS { PREPROCESSING SHUFFLE COMPRESSION DEFLATE { LEVEL 9 } }"),
            ("checked", "FILTERS { CHECKSUM FLETCHER32 }"),
            ("all", "FILTERS { PREPROCESSING SHUFFLE COMPRESSION DEFLATE { LEVEL 1 } CHECKSUM FLETCHER32 }"),
            ("nbit", "FILTERS { COMPRESSION NBIT }"),
            ("scaleoffset", "FILTERS { COMPRESSION SCALEOFFSET"),
        ] {
            assert!(reported(name).contains(words), "{name}: {}", reported(name));
        }
    }
}

/// h5py, with the plugins that users have, reads each filter, and would have recorded the same parameters.
#[test]
fn filters_of_plugins_are_recorded_as_the_plugins_do() {
    let Some(python) = peers_python() else { return };
    let ((_folder, temp), session) = (temp(), session());
    for (name, structures) in ALL {
        let path = temp.join(format!("plugins-{name}.nc"));
        let dataset = PLUGINS.write(&path, structures, &session);
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/nc4/filters.py");
        let reported = output_of(Command::new(&python).arg(script).arg(&path)).unwrap();
        let reported: serde_json::Value = serde_json::from_str(&reported).unwrap();
        same(&dataset, &reported["read"], name).unwrap();
        let ours = reported["read"].as_object().unwrap().iter();
        for (path, variable) in ours {
            assert_eq!(variable["filters"], reported["wanted"][path], "{name} {path}");
        }
    }
}

#[test]
fn nco_copies_and_concatenates() {
    let (Some(ncks), Some(ncrcat), Some(ncdump)) = (program("ncks"), program("ncrcat"), program("ncdump"))
    else {
        return;
    };
    let ((_folder, temp), session) = (temp(), session());
    let data = |path: &Path, extra: &[&str]| {
        let text =
            output_of(Command::new(&ncdump).args(["-n", "it", "-p", "9,17"]).args(extra).arg(path)).unwrap();
        let lines = text.lines().filter(|line| !line.contains(":history") && !line.contains(":NCO"));
        lines.map(str::to_owned).collect::<Vec<_>>().join("\n")
    };
    for one in written(&temp) {
        // NCO does not support nested types, and drops dimensions without variables.
        if !one.fixture.common || matches!(one.fixture.name, "many" | "unlimited") {
            continue;
        }
        let copy = temp.join("copy.nc");
        output_of(Command::new(&ncks).args(["-O", "-h"]).arg(&one.path).arg(&copy)).unwrap();
        for variable in one.dataset.variables() {
            let name = variable.name();
            let only = ["-v", name.as_str()];
            let (ours, theirs) = (data(&one.path, &only), data(&copy, &only));
            let values = |text: &str| text.split_once("data:").map(|(_, data)| data.to_owned());
            assert_eq!(values(&ours), values(&theirs), "{} {name}", one.path.display());
        }
    }
    for (name, structures) in ALL {
        let paths = ["a", "b"].map(|part| temp.join(format!("{part}-{name}.nc")));
        for path in &paths {
            let fixture = FIXTURES.into_iter().find(|fixture| fixture.name == "classic").unwrap();
            fixture.write(path, structures, &session);
        }
        let both = temp.join("both.nc");
        output_of(Command::new(&ncrcat).args(["-O", "-h"]).args(&paths).arg(&both)).unwrap();
        let dataset = crate::support::open(&both, &session).unwrap();
        assert_eq!(dataset.variable("t").unwrap().read::<f64>().unwrap(), [0.5, 1.5, 0.5, 1.5], "{name}");
    }
}

#[test]
fn structures_are_those_that_old_readers_know() {
    let (_folder, temp) = temp();
    for one in written(&temp) {
        let Found { superblock, headers, layouts, signatures } = look(&std::fs::read(&one.path).unwrap());
        let name = one.path.file_name().unwrap().display();
        assert_eq!(superblock, 2, "{name}");
        assert!(!headers.is_empty(), "{name}");
        let indexes = [*b"FAHD", *b"EAHD", *b"BTHD"];
        match one.structures {
            FileStructures::V18 => {
                assert!(layouts.iter().all(|version| *version == 3), "{name}: {layouts:?}");
                assert!(!signatures.iter().any(|found| indexes.contains(found)), "{name}: {signatures:?}");
                let chunked = matches!(one.fixture.name, "storages" | "unlimited" | "filters" | "classic");
                assert!(!chunked || signatures.contains(b"TREE"), "{name}: {signatures:?}");
            }
            FileStructures::V110 => {
                let chunked = matches!(one.fixture.name, "storages" | "unlimited" | "filters" | "classic");
                assert!(!chunked || layouts.contains(&4), "{name}: {layouts:?}");
                assert!(!signatures.contains(b"TREE"), "{name}: {signatures:?}");
            }
        }
    }
}
