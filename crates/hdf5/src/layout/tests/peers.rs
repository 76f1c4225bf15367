//! Files that h5py writes during the test: cases missing from the corpus.
use super::super::{ElementLayout, IndexKind, dataset, layout};
use super::reading::{chunks, open, read};
use crate::group::lookup;
use crate::object::ObjectRef;
use crate::superblock::load;
use crate::testing::done;
use ncirrus_layout::{Layout, Step, Tile, View};
use ncirrus_model::Region;
use ncirrus_testkit::corpus::peers_python;
use ncirrus_testkit::law::RandomSource;
use ncirrus_testkit::{MemoryView, ObjectView, StallingView, drive};
use serde_json::{Value, json};
use std::process::Command;

const SCRIPT: &str = include_str!("peers.py");

/// The files that h5py wrote, and its values of each dataset, by file and path.
fn written() -> Option<(MemoryView, serde_json::Map<String, Value>)> {
    let python = peers_python()?;
    let home = tempfile::tempdir().unwrap();
    let output = Command::new(python).args(["-c", SCRIPT]).arg(home.path()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let said = serde_json::from_slice(&output.stdout).unwrap();
    Some((MemoryView::new(ObjectView::from_dir(home.path()).unwrap()), said))
}

#[test]
fn files_by_h5py_are_read_whole_and_in_part() {
    let Some((view, said)) = written() else { return };
    read_whole(&view, &said);
    read_parts(&view, &said);
    read_late(&view, &said);
}

fn read_whole(view: &MemoryView, said: &serde_json::Map<String, Value>) {
    assert!(said.len() > 30, "{} datasets", said.len());
    for (name, said) in said {
        let (key, path) = name.split_once('/').unwrap();
        let object = open(view, key, path).unwrap();
        let described = done(dataset(view, &object)).unwrap();
        assert_eq!(json!(described.shape), said["shape"], "{name}");
        if let ElementLayout::Chunked { shape, .. } = &described.arrangement
            && !said["chunks"].is_null()
        {
            let listed = chunks(view, &object, &described, shape).unwrap();
            assert_eq!(json!(listed), said["chunks"], "{name}");
            continue;
        }
        let bytes = read(view, &object, &Region::all(&described.shape)).unwrap();
        let values: Vec<i32> =
            bytes.chunks(4).map(|word| i32::from_le_bytes(word.try_into().unwrap())).collect();
        assert!(json!(values) == said["values"], "{name}: {:?}", values.get(..60.min(values.len())));
        check_index(path, &described.arrangement);
    }
}

/// The script gets the indexes that it is written for.
fn check_index(path: &str, arrangement: &ElementLayout) {
    let ElementLayout::Chunked { index, .. } = arrangement else { return };
    let is_wanted = match path {
        "fixed" | "fixed paged" => matches!(index, IndexKind::FixedArray { .. }),
        "implicit" => matches!(index, IndexKind::Implicit),
        "second" | "paged" => matches!(index, IndexKind::ExtensibleArray { .. }),
        "shrunk" => matches!(index, IndexKind::BTree2),
        _ => true,
    };
    assert!(is_wanted, "{path}: {index:?}");
}

/// Regions that cut through the parts of virtual datasets.
fn read_parts(view: &MemoryView, said: &serde_json::Map<String, Value>) {
    for name in said.keys().filter(|name| name.starts_with("new.h5")) {
        let object = open(view, "new.h5", name.split_once('/').unwrap().1).unwrap();
        let shape = done(dataset(view, &object)).unwrap().shape.clone();
        let whole = read(view, &object, &Region::all(&shape)).unwrap();
        for skip in [0, 1] {
            let start: Vec<u64> = shape.iter().map(|len| (len / 3).min(len - 1) * skip).collect();
            let count: Vec<u64> =
                shape.iter().zip(&start).map(|(len, start)| (len - start).div_ceil(2)).collect();
            let region = Region { start, count };
            let part = read(view, &object, &region).unwrap();
            let expected: Vec<u8> = elements_of(&region, &shape, &whole);
            assert_eq!(part, expected, "{name} {region:?}");
        }
    }
}

/// Tiles do not depend on which bytes arrive when.
fn read_late(view: &MemoryView, said: &serde_json::Map<String, Value>) {
    for name in said.keys().filter(|name| name.starts_with("new.h5")) {
        let path = name.split_once('/').unwrap().1;
        let expected = done(whole_tiles(view, path)).unwrap();
        for seed in 0..3 {
            let mut random = RandomSource(seed);
            let rounds = StallingView::new(view.objects.clone());
            let found = drive(&rounds, |view| {
                let found = whole_tiles(view, path);
                if random.below(3) < seed {
                    rounds.evict();
                }
                found
            });
            assert_eq!(found.unwrap(), expected, "{name}, seed {seed}");
            assert!(seed > 0 || rounds.rounds() <= 14, "{name}: {} rounds", rounds.rounds());
        }
    }
}

/// The tiles of a virtual dataset.
fn whole_tiles(view: &dyn View, path: &str) -> Step<Vec<Tile>> {
    let file = load(view, &ObjectView::id("new.h5"))?;
    let root = ObjectRef { addr: file.root, file };
    let object = lookup(view, &root, path)?;
    let dataset = dataset(view, &object)?;
    match layout(view, &object, &dataset)? {
        Layout::Mosaic { tiles } => tiles.tiles(view, &Region::all(&dataset.shape)),
        _ => Ok(Vec::new()),
    }
}

fn elements_of(region: &Region, shape: &[u64], whole: &[u8]) -> Vec<u8> {
    let total = region.element_count().unwrap();
    let place = |number: u64| {
        let inner = super::reading::coords(&region.count, number);
        inner.iter().enumerate().fold(0, |at, (axis, inner)| at * shape[axis] + inner + region.start[axis])
    };
    (0..total).flat_map(|number| whole[usize::try_from(place(number)).unwrap() * 4..][..4].to_vec()).collect()
}
