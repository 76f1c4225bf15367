//! Every fixture goes to a server and comes back as it does from a directory.
use super::places::Place;
use crate::fixtures::{FIXTURES, source};
use crate::support::{difference, exact_cdl, open, temp};
use ncirrus::{CopyOptions, CreateOptions, Dataset, Dialect, Kind, OpenOptions, Session, copy};
use ncirrus_testkit::corpus::corpus;

/// Name, kind, dialect, and how the name ends.
type Way = (&'static str, Kind, Option<Dialect>, &'static str);

const TREES: [Way; 7] = [
    ("att", Kind::NcZarr, None, ""),
    ("lc", Kind::NcZarr, Some(Dialect::Lc), ""),
    ("uc", Kind::NcZarr, Some(Dialect::Uc), ""),
    ("2018", Kind::NcZarr, Some(Dialect::D18), ""),
    ("plain", Kind::Zarr2, None, ""),
    ("nczarr3", Kind::Zarr3, None, ""),
    ("v3", Kind::Zarr3, Some(Dialect::Plain), ""),
];
const FILES: [Way; 2] = [("zip", Kind::NcZarr, None, ".zip"), ("nc4", Kind::Nc4, None, ".nc")];
const CLASSIC: [Way; 1] = [("nc5", Kind::Nc5, None, ".nc")];

#[test]
fn every_fixture_comes_back_from_a_server_that_checks_signatures() {
    let place = Place::here();
    round_trips(&place, &FIXTURES[..1], &TREES);
    // The others take turns: in which tree they are stored makes no difference to the store.
    for (number, fixture) in FIXTURES.iter().enumerate().skip(1) {
        round_trips(&place, &[*fixture], &[TREES[number % TREES.len()]]);
    }
}

#[test]
fn every_fixture_comes_back_from_moto() {
    let Some((place, _)) = Place::moto() else { return };
    // moto's server is slow: each fixture takes one of the trees.
    for (number, fixture) in FIXTURES.iter().enumerate() {
        round_trips(&place, &[*fixture], &[TREES[number % TREES.len()]]);
    }
}

#[test]
fn some_fixtures_come_back_from_azurite() {
    let Some(place) = Place::azurite() else { return };
    round_trips(&place, &FIXTURES[..3], &[TREES[0], TREES[6]]);
}

fn round_trips(place: &Place, fixtures: &[(&str, &str)], trees: &[Way]) {
    let Some(root) = corpus("nczarr") else { return };
    let (_folder, temp) = temp();
    let session = place.session();
    let mut failures = Vec::new();
    for (name, from) in fixtures {
        let Some(path) = source(&root, &temp, name, from) else { continue };
        let source = open(&path, &session).unwrap();
        let classic = if from.starts_with("nc") { &CLASSIC[..] } else { &[] };
        for way in trees.iter().chain(&FILES).chain(classic) {
            let name = format!("{name}-{}{}", way.0, way.3);
            let here = temp.join(&name).to_str().unwrap().to_owned();
            let there = place.url(&name);
            let same = there_and_here(&source, (&there, &here), way, &session);
            failures.extend(same.err().map(|reason| format!("{name}: {reason}")));
        }
    }
    assert!(failures.is_empty(), "{}: {} failures:\n{}", place.name, failures.len(), failures.join("\n"));
}

fn there_and_here(source: &Dataset, urls: (&str, &str), way: &Way, session: &Session) -> Result<(), String> {
    let create = CreateOptions { kind: Some(way.1), dialect: way.2, ..CreateOptions::default() };
    let options = CopyOptions { create, ..CopyOptions::default() };
    let text = |url: &str| {
        copy(source, url, &options, session).map_err(|error| format!("copy to {url}: {error:?}"))?;
        let stored = Dataset::open_with(url, &OpenOptions::default(), session);
        Ok::<_, String>(exact_cdl(&stored.map_err(|error| format!("{error:?}"))?, "name"))
    };
    difference(&text(urls.1)?, &text(urls.0)?)
}
