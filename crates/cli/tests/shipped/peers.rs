//! Other programs read the files that the program writes: Debian's ncdump and h5dump, netCDF4, h5py and zarr-python.
use super::sources::{self, Source};
use super::{done, is_large, none, str_of};
use crate::fixtures::FIXTURES;
use crate::reading::{output_of, read_all, same_of};
use crate::support::{cdl_of, difference, open, session, temp};
use ncirrus::{Dataset, FileStructures, Session, TypeRef};
use ncirrus_testkit::corpus::{peers_python, program};
use ncirrus_testkit::sample::{all_cases, in_turn};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A copy that the program made.
struct Written {
    source: PathBuf,
    path: PathBuf,
    dataset: Dataset,
}

/// Small datasets of the corpus, and the fixtures, as the program copies them; without those that a kind cannot
/// represent. One in so many is taken, beginning with the one that `first` counts down to, or each if all cases are wanted.
fn written(
    temp: &Path,
    session: &Session,
    ending: &str,
    options: &[&str],
    (first, one_in): (usize, usize),
) -> Vec<Written> {
    let all = ["nczarr", "hdf5", "cfa", "realdata"]
        .into_iter()
        .flat_map(sources::of)
        .chain(fixtures(&temp.join(ending), session));
    let copied = |(number, source): (usize, Source)| {
        let dataset = open(&source.path, session).ok()?;
        let path = temp.join(format!("{number}.{ending}"));
        let command =
            [&["copy", "-q", "--no-sync", "--drop-filters"], options, &[str_of(&source.path), str_of(&path)]];
        let copied = !is_large(&dataset) && done(&command.concat()).is_ok();
        copied.then(|| Written { dataset: open(&path, session).unwrap(), path, source: source.path })
    };
    let chosen = all.enumerate().filter(|(number, _)| in_turn(number + first, one_in));
    let written: Vec<Written> = chosen.filter_map(copied).collect();
    assert!(written.len() > 50, "{ending}: {} copies", written.len());
    written
}

fn fixtures(temp: &Path, session: &Session) -> Vec<Source> {
    std::fs::create_dir(temp).unwrap();
    let fixture = |fixture: &crate::fixtures::Fixture| {
        let path = temp.join(format!("fixture-{}.nc", fixture.name));
        fixture.write(&path, FileStructures::V18, session);
        Source { id: fixture.name.to_owned(), path }
    };
    FIXTURES.iter().map(fixture).collect()
}

#[test]
fn ncdump_prints_netcdf4_copies_as_we_do_and_h5dump_reads_them() {
    let (Some(ncdump), Some(h5dump)) = (program("ncdump"), program("h5dump")) else { return };
    let (session, (_folder, temp)) = (session(), temp());
    let mut failures = Vec::new();
    for one in written(&temp, &session, "nc4", &["-d", "1", "-s"], (0, 2)) {
        failures.extend(printed_alike(&ncdump, &one).err());
        failures.extend(output_of(Command::new(&h5dump).arg("-H").arg(&one.path)).err());
    }
    none(&failures);
}

#[test]
fn ncdump_prints_netcdf3_copies_as_we_do() {
    let Some(ncdump) = program("ncdump") else { return };
    let (session, (_folder, temp)) = (session(), temp());
    let copies = written(&temp, &session, "nc", &["-k", "nc5"], (1, 2));
    none(&copies.iter().filter_map(|one| printed_alike(&ncdump, one).err()).collect::<Vec<_>>());
}

fn printed_alike(ncdump: &Path, one: &Written) -> Result<(), String> {
    let (ours, _) = cdl_of(&one.dataset, "x", |_| ()).map_err(|error| error.to_string())?;
    let print = |path: &Path| output_of(Command::new(ncdump).args(["-n", "x"]).arg(path));
    let theirs = match print(&one.path) {
        // Values of an enumeration without a name, for example, are more than it can print.
        Err(_) if one.source.extension().is_some_and(|it| it == "nc") && print(&one.source).is_err() => {
            return Ok(());
        }
        printed => printed?,
    };
    difference(&theirs, &ours).map_err(|reason| format!("{}: {reason}", one.path.display()))
}

/// What netCDF4-python cannot do whoever wrote the file: a part of the source's name, of the message, and the reason.
const BEYOND_NETCDF4: [(&str, &str, &str); 5] = [
    ("", "undefined filter encountered", "the libraries that it brings lack the filter"),
    ("blosc_snappy", "HDF error", "the Blosc that it brings lacks the compressor"),
    (
        "groups",
        "exceeds dimension bound",
        "it looks dimensions up by name: one of the group hides its parent's",
    ),
    ("", "nested structured dtype arrays not supported", "its own words"),
    ("", "Not a valid data type", "it has no compounds with strings in them"),
];

#[test]
fn netcdf4_and_h5py_read_the_values_of_netcdf_files() {
    let Some(python) = peers_python() else { return };
    let (session, (_folder, temp)) = (session(), temp());
    let (mut failures, mut met) = (Vec::new(), BTreeSet::new());
    let kinds = [("nc4", &[][..], "h5py,netcdf4"), ("nc", &["-k", "nc5"], "netcdf4")];
    for (at, (ending, options, programs)) in kinds.into_iter().enumerate() {
        let copies = written(&temp, &session, ending, options, (at, 2));
        let paths: Vec<PathBuf> = copies.iter().map(|one| one.path.clone()).collect();
        let read = read_all(&python, programs, &paths);
        for (one, program) in
            copies.iter().flat_map(|one| programs.split(',').map(move |program| (one, program)))
        {
            let Err(reason) = same(one, &read[str_of(&one.path)][program], program) else { continue };
            let source = one.source.to_string_lossy();
            let known = BEYOND_NETCDF4.iter().position(|(part, message, _)| {
                program == "netcdf4" && source.contains(part) && reason.contains(message)
            });
            match known {
                Some(known) => drop(met.insert(known)),
                None => failures.push(format!("{reason} (of {source})")),
            }
        }
    }
    let stale = BEYOND_NETCDF4.iter().enumerate().filter(|(at, _)| !met.contains(at));
    if all_cases() {
        failures.extend(stale.map(|(_, (_, message, why))| format!("no {message:?} any more: {why}")));
    }
    none(&failures);
}

#[test]
fn zarr_python_reads_the_values_of_zarr_copies() {
    let Some(python) = peers_python() else { return };
    let (session, (_folder, temp)) = (session(), temp());
    let mut failures = Vec::new();
    for (at, (ending, kind)) in [("v2", "zarr2"), ("v3", "zarr3")].into_iter().enumerate() {
        let copies = written(&temp, &session, ending, &["-k", kind, "-d", "1"], (at, 3));
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/shipped/zarr_values.py");
        let mut command = Command::new(&python);
        let told = output_of(command.arg(script).args(copies.iter().map(|one| &one.path))).unwrap();
        let read: Value = serde_json::from_str(&told).unwrap();
        failures.extend(copies.iter().filter_map(|one| same(one, &read[str_of(&one.path)], "zarr").err()));
    }
    none(&failures);
}

/// User-defined types are compared in the library's tests.
fn same(one: &Written, read: &Value, program: &str) -> Result<(), String> {
    let what = format!("{program} of {} ({})", one.path.display(), one.dataset.kind());
    same_of(&one.dataset, read, &what, |ty| matches!(ty, TypeRef::Atomic(_)))
}
