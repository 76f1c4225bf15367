//! The table of which readers read which kinds (`docs/formats/readers.md`): every source, copied to every kind, opened
//! by the readers that the kind is for. What they see after decoding equals what xarray sees in the source, except for
//! the exceptions in `corpus/table_exceptions.tsv`, each with its reason.
#![expect(clippy::unwrap_used, reason = "helpers of tests may panic")]

use crate::support::{Exceptions, Tally, open, session, temp};
use ncirrus::{CreateOptions, Dataset, Dialect, ErrorKind, Kind, Result, Session};
use ncirrus_testkit::corpus::{corpus, peers_python};
use ncirrus_testkit::sample::{all_cases, in_turn};
use ncirrus_tools::{CopyOptions, ReferenceOptions, copy, write_references};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A kind: its name in the table, its extension, its options.
const WAYS: [(&str, &str, Kind, Option<Dialect>); 10] = [
    ("nc3", "nc", Kind::Nc3, None),
    ("nc5", "nc", Kind::Nc5, None),
    ("nc4", "nc", Kind::Nc4, None),
    ("nc4c", "nc", Kind::Nc4Classic, None),
    ("att", "zarr", Kind::NcZarr, None),
    ("lc", "zarr", Kind::NcZarr, Some(Dialect::Lc)),
    ("uc", "zarr", Kind::NcZarr, Some(Dialect::Uc)),
    ("zarr2", "zarr", Kind::Zarr2, None),
    ("zarr3", "zarr", Kind::Zarr3, Some(Dialect::Plain)),
    ("nczarr3", "zarr", Kind::Zarr3, None),
];

/// Sources in which netCDF-C itself reads uninitialized memory.
const UNDEFINED: [&str; 2] = ["nc4_contig", "nc4_multi_unlim"];

fn sources(python: &Path, corpus: &Path, folder: &Path) -> Vec<PathBuf> {
    let made = Command::new(python).args(["-c", include_str!("table/make.py")]).arg(folder).output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let folders = [folder.to_owned(), corpus.join("gennc")];
    let mut all: Vec<PathBuf> = folders
        .iter()
        .flat_map(|folder| std::fs::read_dir(folder).unwrap())
        .map(|entry| entry.unwrap().path())
        .filter(|path| !UNDEFINED.contains(&name(path)))
        .collect();
    all.sort();
    all
}

fn name(path: &Path) -> &str {
    path.file_stem().unwrap().to_str().unwrap()
}

#[test]
fn readers_see_of_every_copy_what_xarray_sees_of_its_source() {
    let (Some(python), Some(corpus)) = (peers_python(), corpus("hdf5")) else { return };
    let (session, (_made, made), (_copies, copies)) = (session(), temp(), temp());
    let (exceptions, mut tally) = (Exceptions::load("table_exceptions.tsv"), Tally::default());
    let (mut cases, sources) = (Vec::new(), sources(&python, &corpus, &made));
    assert!(sources.len() >= 60, "{} sources", sources.len());
    for (number, path) in sources.into_iter().enumerate() {
        let source = open(&path, &session).unwrap();
        let ways = ways().enumerate().filter(|(at, _)| in_turn(number + at, 3));
        for (_, (way, ending, kind)) in ways {
            let target = copies.join(format!("{}-{way}.{ending}", name(&path)));
            match make(&source, &path, &target, kind, &session) {
                Ok(()) => {
                    cases.push(json!({"source": path, "way": way, "copy": target, "name": name(&path)}));
                }
                // The classic model cannot represent it.
                Err(error) if error.kind() == ErrorKind::Unsupported && ending == "nc" => {}
                Err(error) => {
                    let case = format!("{way}/{}", name(&path));
                    tally.record(&exceptions, &case, "copy", Err(error.to_string()));
                }
            }
        }
    }
    let list = made.join("cases.json");
    std::fs::write(&list, serde_json::to_vec(&cases).unwrap()).unwrap();
    let compared =
        Command::new(python).args(["-c", include_str!("table/compare.py")]).arg(&list).output().unwrap();
    assert!(compared.status.success(), "{}", String::from_utf8_lossy(&compared.stderr));
    let checks: Vec<[Value; 4]> = serde_json::from_slice(&compared.stdout).unwrap();
    let mut of_readers: BTreeMap<String, usize> = BTreeMap::new();
    for [case, way, reader, wrong] in checks {
        let outcome = wrong.as_str().map_or(Ok(()), |wrong| Err(wrong.to_owned()));
        let case = format!("{}/{}", way.as_str().unwrap(), case.as_str().unwrap());
        let reader = reader.as_str().unwrap();
        *of_readers.entry(reader.to_owned()).or_default() += 1;
        tally.record(&exceptions, &case, reader, outcome);
    }
    if !all_cases() {
        exceptions.need_no_case();
    }
    tally.finish(&format!("table ({of_readers:?})"), &exceptions);
}

/// Kinds of copies by name in the table, with the extension of their names; without a kind they are references.
fn ways() -> impl Iterator<Item = (&'static str, &'static str, Option<(Kind, Option<Dialect>)>)> {
    let kinds = WAYS.into_iter().map(|(way, ending, kind, dialect)| (way, ending, Some((kind, dialect))));
    kinds.chain([("reference", "json", None)])
}

fn make(
    source: &Dataset,
    path: &Path,
    target: &Path,
    kind: Option<(Kind, Option<Dialect>)>,
    session: &Session,
) -> Result<()> {
    let target = target.to_str().unwrap();
    let Some((kind, dialect)) = kind else {
        let options = ReferenceOptions::default();
        let report = write_references(&[path.to_str().unwrap().to_owned()], target, &options, session)?;
        assert_eq!(report.left_out, [], "{}", path.display());
        return Ok(());
    };
    let create = CreateOptions::new().kind(kind).dialect(dialect);
    let options = CopyOptions::new().create(create);
    copy(source, target, &options, session).map(drop)
}

/// The table in the documentation states the reason of every exception, and no others.
#[test]
fn every_exception_and_its_reason_are_in_the_documentation() {
    let reported =
        include_str!("../../../docs/formats/readers.md").split("| where | what | why |").nth(1).unwrap();
    let why = |row: &'static str| row.trim_end_matches(" |").rsplit(" | ").next().unwrap();
    let reported: BTreeSet<&str> =
        reported.lines().skip(2).take_while(|line| line.starts_with('|')).map(why).collect();
    assert_eq!(reported, Exceptions::load("table_exceptions.tsv").reasons());
}
