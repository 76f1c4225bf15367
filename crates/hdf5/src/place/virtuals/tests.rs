//! Virtual datasets that are made for the test; those that h5py makes are read in the tests of the room.
use super::super::{dataset, layout};
use crate::checksum::lookup3;
use crate::file::load;
use crate::group::lookup;
use crate::object::ObjectRef;
use crate::testing::build::{Builder, hard, message, words};
use crate::testing::{KEY, done, view};
use ncirrus_layout::{Layout, Tile, TileSource, VariableRef};
use ncirrus_model::Region;
use ncirrus_testkit::{MemoryView, Objects};

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

/// A file with `d` of 3 by 4 elements, and `v`, which is put together by these mappings.
fn file(dims: &[u64], mappings: &[Vec<u8>]) -> MemoryView {
    let mut builder = Builder::new();
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

fn tiles(view: &MemoryView, region: &Region) -> ncirrus_layout::Result<Vec<Tile>> {
    let file = done(load(view, &Objects::id(KEY)))?;
    let root = ObjectRef { addr: file.root, file };
    let object = done(lookup(view, &root, "v"))?;
    let dataset = done(dataset(view, &object))?;
    match done(layout(view, &object, &dataset))? {
        Layout::Mosaic { tiles } => done(tiles.tiles(view, region)),
        other => panic!("{other:?}"),
    }
}

fn region(start: [u64; 2], count: [u64; 2]) -> Region {
    Region { start: start.to_vec(), count: count.to_vec() }
}

fn of(dataset: &str, path: &str, region: Region) -> TileSource {
    let dataset = Some(Objects::id(dataset));
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
fn only_the_part_in_the_region_is_asked_for() {
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
    assert!(error.message().contains("put together from itself"), "{error}");
}

#[test]
fn mappings_of_another_rank_are_errors() {
    let whole = boxed([0, 0], [2, 3]);
    let view = file(&[12], &[mapping(".", "d", &whole, &whole)]);
    let error = tiles(&view, &Region::all(&[12])).expect_err("rank 2 in rank 1");
    assert!(error.message().contains("rank 2 in a dataset of rank 1"), "{error}");
}
