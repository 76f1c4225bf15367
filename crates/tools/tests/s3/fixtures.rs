//! Every fixture is copied to a server and reads the same as from a directory.
use super::places::Place;
use crate::fixtures::{FIXTURES, source};
use crate::support::{difference, exact_cdl, open, temp};
use ncirrus::{CreateOptions, Dataset, Dialect, Kind, OpenOptions, Session};
use ncirrus_testkit::corpus::corpus;
use ncirrus_tools::{CopyOptions, copy};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Name, kind, dialect, and extension.
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
fn every_fixture_comes_back_in_every_way_from_a_server_that_checks_signatures() {
    round_trips(&Place::here(), |_| TREES.to_vec());
}

#[test]
fn every_fixture_comes_back_from_moto() {
    let Some((place, _)) = Place::moto() else { return };
    round_trips(&place, in_turn);
}

#[test]
fn every_fixture_comes_back_from_azurite() {
    let Some(place) = Place::azurite() else { return };
    round_trips(&place, in_turn);
}

#[test]
fn every_fixture_comes_back_by_the_api_of_google() {
    round_trips(&Place::google(), in_turn);
}

/// Each fixture is stored as one of the trees: these servers are slow.
fn in_turn(number: usize) -> Vec<Way> {
    vec![TREES[number % TREES.len()]]
}

/// Maximum number of concurrent copies.
const AT_ONCE: usize = 4;

/// Copies every fixture there and reads it: as some of the trees, and as every kind of file that can hold it.
fn round_trips(place: &Place, trees: impl Fn(usize) -> Vec<Way>) {
    let Some(root) = corpus("nczarr") else { return };
    let (_folder, temp) = temp();
    let session = place.session();
    let mut cases = Vec::new();
    for (number, (name, from)) in FIXTURES.into_iter().enumerate() {
        let Some(path) = source(&root, &temp, name, from) else { continue };
        let dataset = open(&path, &session).unwrap();
        let classic = if from.starts_with("nc") { &CLASSIC[..] } else { &[] };
        let ways = trees(number).into_iter().chain(FILES).chain(classic.iter().copied());
        cases.extend(ways.map(|way| (name, dataset.clone(), way)));
    }
    let next = AtomicUsize::new(0);
    let run = || {
        let cases = std::iter::from_fn(|| cases.get(next.fetch_add(1, Ordering::Relaxed)));
        let failures = cases.filter_map(|(name, source, way)| {
            let name = format!("{name}-{}{}", way.0, way.3);
            let here = temp.join(&name).to_str().unwrap().to_owned();
            let same = there_and_here(source, (&place.url(&name), &here), way, &session);
            same.err().map(|reason| format!("{name}: {reason}"))
        });
        failures.collect::<Vec<_>>()
    };
    let failures = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..AT_ONCE).map(|_| scope.spawn(run)).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
    });
    println!("{}: {} of {}", place.name, cases.len() - failures.len(), cases.len());
    assert!(failures.is_empty(), "{}: {} failures:\n{}", place.name, failures.len(), failures.join("\n"));
}

fn there_and_here(source: &Dataset, urls: (&str, &str), way: &Way, session: &Session) -> Result<(), String> {
    let create = CreateOptions::new().kind(way.1).dialect(way.2);
    let options = CopyOptions::new().create(create);
    let text = |url: &str| {
        copy(source, url, &options, session).map_err(|error| format!("copy to {url}: {error:?}"))?;
        let stored = Dataset::open_with(url, &OpenOptions::default(), session);
        Ok::<_, String>(exact_cdl(&stored.map_err(|error| format!("{error:?}"))?, "name"))
    };
    difference(&text(urls.1)?, &text(urls.0)?)
}
