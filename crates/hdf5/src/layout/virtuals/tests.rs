//! Virtual datasets made for the test; those that h5py makes are read in the tests of the parent module.
use super::super::{dataset, layout};
use crate::checksum::lookup3;
use crate::group::lookup;
use crate::object::ObjectRef;
use crate::superblock::load;
use crate::testing::build::{FileBuilder, hard, message, words};
use crate::testing::{KEY, done, view};
use ncirrus_layout::{Layout, Tile, TileIndex, TileSource, VariableRef};
use ncirrus_model::Region;
use ncirrus_testkit::{MemoryView, ObjectView};
use proptest::prelude::*;
use std::sync::Arc;

fn u32s(numbers: &[u32]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

/// Messages of a dataset of bytes: dataspace, datatype, layout.
fn described(dims: &[u64], layout: &[u8]) -> Vec<Vec<u8>> {
    let rank = u8::try_from(dims.len()).expect("few");
    let space = [&[2, rank, 0, 1][..], &words(dims)].concat();
    let unsigned_byte = [0x10, 0, 0, 0, 1, 0, 0, 0, 0, 0, 8, 0];
    vec![message(1, 0, &space), message(3, 0, &unsigned_byte), message(8, 0, layout)]
}

/// A file with `d` of 3 by 4 elements, and `v`, which is composed by these mappings.
fn file(dims: &[u64], mappings: &[Vec<u8>]) -> MemoryView {
    let mut builder = FileBuilder::new();
    let plain = described(&[3, 4], &[&[3, 1][..], &words(&[u64::MAX, 0])].concat());
    let plain = builder.header(&plain);
    let mut block = [&[0][..], &words(&[mappings.len() as u64]), &mappings.concat()].concat();
    block.extend(lookup3(&block).to_le_bytes());
    let entry = [&[1, 0, 1, 0, 0, 0, 0, 0][..], &words(&[block.len() as u64]), &block, &[0; 8]].concat();
    let heap = [b"GCOL\x01\0\0\0".as_slice(), &words(&[16 + entry.len() as u64]), &entry].concat();
    let heap = builder.put(&heap);
    let layout = [&[4, 3][..], &words(&[heap]), &[1, 0, 0, 0]].concat();
    let made = builder.header(&described(dims, &layout));
    let root = builder.group(&[hard("d", plain), hard("v", made)]);
    view(builder.finish(root))
}

fn index(view: &MemoryView) -> ncirrus_layout::Result<Arc<dyn TileIndex>> {
    let file = done(load(view, &ObjectView::id(KEY)))?;
    let root = ObjectRef { addr: file.root, file };
    let object = done(lookup(view, &root, "v"))?;
    let dataset = done(dataset(view, &object))?;
    match done(layout(view, &object, &dataset))? {
        Layout::Mosaic { tiles } => Ok(tiles),
        other => panic!("{other:?}"),
    }
}

fn tiles(view: &MemoryView, region: &Region) -> ncirrus_layout::Result<Vec<Tile>> {
    done(index(view)?.tiles(view, region))
}

fn region(start: [u64; 2], count: [u64; 2]) -> Region {
    Region { start: start.to_vec(), count: count.to_vec() }
}

fn of(dataset: &str, path: &str, region: Region) -> TileSource {
    let dataset = Some(ObjectView::id(dataset));
    TileSource::Variable { variable: VariableRef { dataset, path: path.to_owned() }, region }
}

fn mapping(file: &str, path: &str, source: &[u8], target: &[u8]) -> Vec<u8> {
    [file.as_bytes(), b"\0", path.as_bytes(), b"\0", source, target].concat()
}

/// Elements one by one, in this order.
fn points(coords: &[[u32; 2]]) -> Vec<u8> {
    let head = [1, 1, 0, 0, 2, u32::try_from(coords.len()).expect("few")];
    u32s(&[&head[..], &coords.concat()].concat())
}

/// A box, by its first and last element.
fn boxed(start: [u32; 2], last: [u32; 2]) -> Vec<u8> {
    u32s(&[&[2, 1, 0, 0, 2, 1][..], &start, &last].concat())
}

#[test]
fn points_come_in_the_order_of_their_list() {
    let source = points(&[[2, 3], [0, 1], [0, 2], [1, 0]]);
    let view = file(&[2, 3], &[mapping(".", "d", &source, &boxed([0, 1], [1, 2]))]);
    let found = tiles(&view, &Region::all(&[2, 3])).expect("tiles");
    let tile = |region, source| Tile { region, source };
    let expected = [
        tile(region([0, 1], [1, 1]), of(KEY, "/d", region([2, 3], [1, 1]))),
        tile(region([0, 2], [1, 1]), of(KEY, "/d", region([0, 1], [1, 1]))),
        tile(region([1, 1], [1, 1]), of(KEY, "/d", region([0, 2], [1, 1]))),
        tile(region([1, 2], [1, 1]), of(KEY, "/d", region([1, 0], [1, 1]))),
        tile(region([0, 0], [1, 1]), TileSource::Missing),
        tile(region([1, 0], [1, 1]), TileSource::Missing),
    ];
    assert_eq!(found, expected);
}

#[test]
fn only_the_part_in_the_region_is_requested() {
    let mappings = [
        mapping(".", "d", &boxed([0, 0], [2, 3]), &boxed([0, 0], [2, 3])),
        mapping("damaged", "d", &boxed([0, 0], [2, 3]), &boxed([3, 0], [5, 3])),
    ];
    let mut view = file(&[6, 4], &mappings);
    view.objects.put("folder/damaged", "no HDF5");
    let wanted = region([1, 2], [2, 1]);
    let found = tiles(&view, &wanted).expect("tiles");
    assert_eq!(found, [Tile { region: wanted.clone(), source: of(KEY, "/d", wanted) }]);
    let error = tiles(&view, &region([2, 0], [2, 4])).expect_err("a damaged source");
    assert!(error.to_string().contains("folder/damaged"), "{error}");
}

#[test]
fn datasets_put_together_from_themselves_are_errors() {
    let whole = boxed([0, 0], [2, 3]);
    let view = file(&[3, 4], &[mapping(".", "v", &whole, &whole)]);
    let error = tiles(&view, &Region::all(&[3, 4])).expect_err("a circle");
    assert!(error.message().contains("has itself as a source"), "{error}");
}

#[test]
fn mappings_of_another_rank_are_errors() {
    let whole = boxed([0, 0], [2, 3]);
    let view = file(&[12], &[mapping(".", "d", &whole, &whole)]);
    let error = tiles(&view, &Region::all(&[12])).expect_err("rank 2 in rank 1");
    assert!(error.message().contains("rank 2 in a dataset of rank 1"), "{error}");
}

/// Rows at equal distances, and a run of columns: of version 2, regular, in 64 bits.
fn stepped(start: [u64; 2], stride: u64, count: [u64; 2]) -> Vec<u8> {
    let head = [&u32s(&[2, 2])[..], &[1], &u32s(&[0, 2])].concat();
    let axes = [[start[0], stride, count[0], 1], [start[1], 1, 1, count[1]]];
    [head, words(&axes.concat())].concat()
}

/// The parts of a region that are requested separately.
fn parts(tiles: &dyn TileIndex, region: Region, max: u64) -> Vec<Region> {
    let (mut parts, mut rest) = (Vec::new(), vec![region]);
    while let Some(part) = rest.pop() {
        match tiles.halves(&part, max) {
            Some([first, second]) => rest.extend([second, first]),
            None => parts.push(part),
        }
    }
    parts
}

fn elements(region: &Region) -> impl Iterator<Item = (u64, u64)> + use<> {
    let ([y, x], [ny, nx]) = ([region.start[0], region.start[1]], [region.count[0], region.count[1]]);
    (y..y + ny).flat_map(move |row| (x..x + nx).map(move |column| (row, column)))
}

proptest! {
    #[test]
    fn what_was_mapped_last_counts_however_mappings_overlap(
        mappings in prop::collection::vec((0..30u64, 1..5u64, 1..4u64, 0..3u64, 1..3u64), 0..40),
        max in 1..20u64,
    ) {
        let bytes = |&(row, stride, rows, column, columns): &(u64, u64, u64, u64, u64)| {
            let target = stepped([row, column], stride, [rows, columns]);
            mapping(".", "d", &stepped([0, 0], 1, [rows, columns]), &target)
        };
        let view = file(&[40, 4], &mappings.iter().map(bytes).collect::<Vec<_>>());
        let mut expected = vec![None; 160];
        for (row, stride, rows, column, columns) in mappings {
            for (y, x) in elements(&region([0, 0], [rows, columns])) {
                expected[usize::try_from((row + y * stride) * 4 + column + x).unwrap()] = Some((y, x));
            }
        }
        let tiles = index(&view).unwrap();
        let mut found = vec![None; 160];
        let mut seen = vec![0; 160];
        for part in parts(tiles.as_ref(), region([0, 0], [40, 4]), max) {
            for tile in done(tiles.tiles(&view, &part)).unwrap() {
                let from: Vec<_> = match &tile.source {
                    TileSource::Variable { region, .. } => elements(region).map(Some).collect(),
                    _ => vec![None; usize::try_from(tile.region.element_count().unwrap()).unwrap()],
                };
                for ((y, x), from) in elements(&tile.region).zip(from) {
                    let at = usize::try_from(y * 4 + x).unwrap();
                    (found[at], seen[at]) = (from, seen[at] + 1);
                }
            }
        }
        prop_assert_eq!(found, expected);
        prop_assert_eq!(seen, vec![1; 160]);
    }
}

#[test]
fn of_very_many_mappings_only_those_in_the_region_are_looked_at() {
    const MANY: u64 = 20_000;
    let name = |at: u64| if at == 777 { ".".to_owned() } else { format!("damaged{at}") };
    let stacked: Vec<_> = (0..MANY)
        .map(|at| mapping(&name(at), "d", &stepped([0, 0], 1, [3, 4]), &stepped([at * 4, 0], 1, [3, 4])))
        .collect();
    let mut view = file(&[MANY * 4, 4], &stacked);
    view.objects.put("folder/damaged778", "no HDF5");
    let tiles = index(&view).unwrap();
    let wanted = region([777 * 4 + 1, 1], [2, 2]);
    let found = done(tiles.tiles(&view, &wanted)).unwrap();
    assert_eq!(found, [Tile { region: wanted, source: of(KEY, "/d", region([1, 1], [2, 2])) }]);
    assert!(done(tiles.tiles(&view, &region([777 * 4, 0], [5, 4]))).is_err(), "the next one is damaged");
    let parts = parts(tiles.as_ref(), Region::all(&[MANY * 4, 4]), 100);
    assert!(parts.len() <= 512, "{} parts", parts.len());
    assert_eq!(parts.iter().map(|part| part.count[0]).sum::<u64>(), MANY * 4);
    assert!(parts.iter().all(|part| part.count[0] <= 101 * 4 && part.start[0] % 4 == 0));
}

#[test]
fn interleaved_mappings_are_requested_some_rows_at_a_time() {
    let turns: Vec<_> = (0..50)
        .map(|at| mapping(".", "d", &stepped([0, 0], 0, [1, 4]), &stepped([at, 0], 50, [2000, 4])))
        .collect();
    let view = file(&[100_000, 4], &turns);
    let tiles = index(&view).unwrap();
    let parts = parts(tiles.as_ref(), Region::all(&[100_000, 4]), 4096);
    assert_eq!(parts.len(), 32);
    assert!(parts.iter().all(|part| part.count[0] <= 4096), "{parts:?}");
}
