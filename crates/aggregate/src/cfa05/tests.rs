use crate::testing::{MemoryMaster, OpenedMaster, ints, strings};
use ncirrus_layout::{
    ErrorKind, Fragment, FragmentAbsence, FragmentPacking, FragmentVariable, Tile, TileSource,
};
use ncirrus_model::{Region, Values};
use proptest::prelude::*;
use rstest::rstest;
use std::sync::Arc;

const NONE: i32 = -2_147_483_647;

/// `v(y x)` of 2 by 2 partitions; the places are given one after the other.
fn square(places: &[[i32; 4]; 4], files: &[&str]) -> MemoryMaster {
    let places: Vec<i32> = places.iter().flatten().copied().collect();
    MemoryMaster::new()
        .dims("y=10 x=4 cfa_v/y=2 cfa_v/x=2 cfa_v/ndimensions=2 cfa_v/bounds=2")
        .var("v", Values::Float(vec![0.0]))
        .text("v", "units", "K")
        .text("v", "cf_role", "cfa_variable")
        .text("v", "cfa_dimensions", "y x")
        .text("v", "cfa_group", "cfa_v")
        .var("cfa_v/pmshape(ndimensions)", ints(&[2, 2]))
        .var("cfa_v/location(y x ndimensions bounds)", ints(&places))
        .var("cfa_v/file(y x)", strings(files))
        .var(
            "cfa_v/ncvar(y x)",
            strings(&files.iter().map(|name| if name.is_empty() { "" } else { "v" }).collect::<Vec<_>>()),
        )
        .var("cfa_v/format(y x)", strings(&["NETCDF4"; 4]))
        .var("cfa_v/shape(y x ndimensions)", ints(&[5, 2, 5, 2, 5, 2, 5, 2]))
}

const REGULAR: [[i32; 4]; 4] = [[0, 5, 0, 2], [0, 5, 2, 4], [5, 10, 0, 2], [5, 10, 2, 4]];
const FILES: [&str; 4] = ["a.nc", "b.nc", "c.nc", "d.nc"];

fn fragment(tile: &Tile) -> &Arc<Fragment> {
    match &tile.source {
        TileSource::Fragment(fragment) => fragment,
        other => panic!("no fragment: {other:?}"),
    }
}

fn seen(tiles: &[Tile]) -> Vec<(Vec<u64>, String)> {
    let name = |tile: &Tile| match &tile.source {
        TileSource::Fragment(fragment) => fragment.names[0].to_string(),
        _ => "-".to_owned(),
    };
    tiles.iter().map(|tile| (tile.region.start.clone(), name(tile))).collect()
}

fn expect(tiles: &[(&[u64], &str)]) -> Vec<(Vec<u64>, String)> {
    tiles.iter().map(|(start, name)| (start.to_vec(), (*name).to_owned())).collect()
}

/// The error of finding the fragments of `v`.
fn failure(master: &MemoryMaster) -> String {
    master.open().all("v").unwrap_err().to_string()
}

#[test]
fn a_partition_that_says_it_is_another_is_refused() {
    let indexed = |index: &[i32]| square(&REGULAR, &FILES).var("cfa_v/index(y x ndimensions)", ints(index));
    assert_eq!(indexed(&[0, 0, 0, 1, 1, 0, 1, 1]).open().all("v").unwrap().len(), 4);
    assert_eq!(indexed(&[0, 0, 0, 1, NONE, NONE, 1, 1]).open().all("v").unwrap().len(), 4);
    let swapped = indexed(&[0, 0, 1, 0, 0, 1, 1, 1]);
    assert!(failure(&swapped).contains("fragment [0, 1]: its own index is [1, 0]"), "{}", failure(&swapped));
    assert_eq!(swapped.open_lenient().all("v").unwrap().len(), 4);
}

#[test]
fn a_matrix_of_other_dimensions_is_refused() {
    let named = |names: &str| square(&REGULAR, &FILES).var("cfa_v/pmdimensions", strings(&[names]));
    assert_eq!(named("y, x").open().all("v").unwrap().len(), 4);
    assert_eq!(named("").open().all("v").unwrap().len(), 4);
    let other = named("y, lon");
    assert!(failure(&other).contains("lon, which is not a dimension of the array"), "{}", failure(&other));
}

#[test]
fn a_regular_matrix_is_read_by_place() {
    let opened = square(&REGULAR, &FILES).open();
    assert_eq!(opened.paths(), ["/v"]);
    assert!(opened.model().group_at("cfa_v").is_none());
    let tiles = opened.all("v").unwrap();
    assert_eq!(
        seen(&tiles),
        expect(&[(&[0, 0], "a.nc"), (&[0, 2], "b.nc"), (&[5, 0], "c.nc"), (&[5, 2], "d.nc")])
    );
    let last = fragment(&tiles[3]);
    assert_eq!((last.index.as_slice(), last.shape.as_deref()), (&[1, 1][..], Some(&[5, 2][..])));
    assert_eq!(
        last.variables,
        [
            FragmentVariable::Path("/v".into()),
            FragmentVariable::Search { group: "/".into(), name: "v".into() }
        ]
    );
    assert_eq!((last.rules.packing, last.rules.absent), (FragmentPacking::Same, FragmentAbsence::Fill));
    assert_eq!(last.rules.attributes.len(), 1);
    assert_eq!(seen(&opened.tiles("v", &[7, 1], &[1, 1]).unwrap()), expect(&[(&[5, 0], "c.nc")]));
}

#[test]
fn undefined_partitions_are_missing() {
    let mut places = REGULAR;
    places[2] = [NONE; 4];
    let opened = square(&places, &["a.nc", "b.nc", "", "d.nc"]).open();
    let tiles = opened.all("v").unwrap();
    assert_eq!(
        seen(&tiles),
        expect(&[(&[0, 0], "a.nc"), (&[0, 2], "b.nc"), (&[5, 2], "d.nc"), (&[5, 0], "-")])
    );
    let nothing = square(&[[NONE; 4]; 4], &["", "", "", ""]).open();
    assert!(nothing.all("v").unwrap().iter().all(|tile| tile.source == TileSource::Missing));
}

#[test]
fn partitions_in_no_grid_are_read_one_by_one() {
    let places = [[0, 5, 0, 3], [0, 5, 3, 4], [5, 10, 0, 1], [5, 10, 1, 4]];
    let opened = square(&places, &FILES).open();
    let tiles = opened.all("v").unwrap();
    assert_eq!(
        seen(&tiles),
        expect(&[(&[0, 0], "a.nc"), (&[0, 3], "b.nc"), (&[5, 0], "c.nc"), (&[5, 1], "d.nc")])
    );
    assert_eq!(fragment(&tiles[3]).index, [1, 1]);
    assert_eq!(seen(&opened.tiles("v", &[5, 1], &[1, 1]).unwrap()), expect(&[(&[5, 1], "d.nc")]));
}

#[test]
fn partitions_beside_undefined_ones_may_reach_further() {
    let mut places = REGULAR;
    places[1] = [NONE; 4];
    places[3] = [3, 10, 2, 4];
    let opened = square(&places, &["a.nc", "", "c.nc", "d.nc"]).open();
    assert_eq!(seen(&opened.tiles("v", &[3, 2], &[1, 1]).unwrap()), expect(&[(&[3, 2], "d.nc")]));
    let short = [[0, 4, 0, 2], [0, 5, 2, 4], [5, 10, 0, 2], [5, 10, 2, 4]];
    let opened = square(&short, &FILES).open();
    assert_eq!(seen(&opened.tiles("v", &[4, 2], &[1, 1]).unwrap()), expect(&[(&[0, 2], "b.nc")]));
    assert_eq!(seen(&opened.tiles("v", &[4, 0], &[1, 1]).unwrap()), expect(&[(&[4, 0], "-")]));
}

#[test]
fn elements_in_no_partition_are_missing() {
    let places = [[0, 4, 0, 2], [0, 4, 2, 4], [4, 8, 0, 2], [4, 8, 2, 4]];
    let tiles = square(&places, &FILES).open().tiles("v", &[7, 0], &[3, 2]).unwrap();
    assert_eq!(seen(&tiles), expect(&[(&[4, 0], "c.nc"), (&[8, 0], "-")]));
}

#[rstest]
#[case::outside([5, 11, 2, 4], "fragment [1, 1]: it ends at 11 along dimension y, whose length is 10")]
#[case::backwards([8, 5, 2, 4], "a place 8 to 5")]
#[case::negative([-5, 10, 2, 4], "a place -5 to 10")]
#[case::overlap([2, 10, 2, 4], "overlap")]
fn partitions_in_wrong_places_are_refused(#[case] last: [i32; 4], #[case] message: &str) {
    let mut places = REGULAR;
    places[3] = last;
    let opened = square(&places, &FILES).open();
    let error = opened.all("v").unwrap_err();
    assert!(error.to_string().contains(message) && error.to_string().contains("/v"), "{error}");
    if message.starts_with("fragment") {
        assert_eq!(seen(&opened.tiles("v", &[0, 0], &[1, 1]).unwrap()), expect(&[(&[0, 0], "a.nc")]));
    }
}

fn fault(opened: &OpenedMaster) -> String {
    opened.source("v").unwrap_err().to_string()
}

#[rstest]
#[case::no_group(square(&REGULAR, &FILES).text("v", "cfa_group", "nothing"), "no group \"nothing\"")]
#[case::own_group(square(&REGULAR, &FILES).text("v", "cfa_group", "/"), "no group \"/\"")]
#[case::rank(square(&REGULAR, &FILES).text("v", "cfa_dimensions", "y"), "was expected")]
#[case::matrix(square(&REGULAR, &FILES).dims("w/n=2").text("v", "cfa_group", "w"), "no variable file")]
fn broken_groups_are_refused(#[case] master: MemoryMaster, #[case] message: &str) {
    let found = fault(&master.open());
    assert!(found.contains(message), "{found}");
}

#[test]
fn another_format_is_refused_by_name() {
    let master = square(&REGULAR, &FILES);
    let master = MemoryMaster::clone(&master)
        .replace("/cfa_v/format", strings(&["NETCDF4", "PP", "NETCDF4", "NETCDF4"]));
    let error = master.open().all("v").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(error.message().contains("fragment [0, 1]"), "{error}");
}

#[test]
fn the_fragment_of_a_variable_in_a_group_is_looked_for_in_both_places() {
    let master = MemoryMaster::new()
        .dims("x=2 ocean/cfa_v/x=1 ocean/cfa_v/ndimensions=1 ocean/cfa_v/bounds=2")
        .var("ocean/v", Values::Float(vec![0.0]))
        .text("ocean/v", "cf_role", "cfa_variable")
        .text("ocean/v", "cfa_dimensions", "x")
        .text("ocean/v", "cfa_group", "cfa_v")
        .var("ocean/cfa_v/location(x ndimensions bounds)", ints(&[0, 2]))
        .var("ocean/cfa_v/file(x)", strings(&["a.nc"]))
        .var("ocean/cfa_v/base", strings(&["sub"]))
        .var("ocean/cfa_v/ncvar(x)", strings(&["v"]));
    let tiles = master.open().all("ocean/v").unwrap();
    let found = fragment(&tiles[0]);
    assert_eq!(found.names, ["sub/a.nc".into()]);
    assert_eq!(
        found.variables,
        [
            FragmentVariable::Path("/v".into()),
            FragmentVariable::Path("/ocean/v".into()),
            FragmentVariable::Search { group: "/ocean".into(), name: "v".into() }
        ]
    );
}

/// `v(t)` with a million partitions of `size` elements.
fn million(places: impl Iterator<Item = (i32, i32)>, len: u64) -> MemoryMaster {
    let places: Vec<i32> = places.flat_map(|(start, end)| [start, end]).collect();
    let count = places.len() / 2;
    MemoryMaster::new()
        .dims(&format!("t={len} cfa_v/t={count} cfa_v/ndimensions=1 cfa_v/bounds=2"))
        .var("v", Values::Float(vec![0.0]))
        .text("v", "cf_role", "cfa_variable")
        .text("v", "cfa_dimensions", "t")
        .text("v", "cfa_group", "cfa_v")
        .var("cfa_v/location(t ndimensions bounds)", ints(&places))
        .var("cfa_v/file(t)", strings(&["a.nc"]))
        .var("cfa_v/ncvar(t)", strings(&["v"]))
}

#[test]
fn a_step_of_a_million_regular_partitions_costs_a_few_entries() {
    let opened = million((0..1_000_000).map(|at| (3 * at, 3 * at + 3)), 3_000_000).open();
    assert_eq!(opened.cost("v", &[1_500_000], &[3]), 4);
    let tiles = opened.tiles("v", &[1_500_000], &[3]).unwrap();
    assert_eq!((fragment(&tiles[0]).index.as_slice(), tiles.len()), (&[500_000][..], 1));
}

#[test]
fn long_irregular_matrices_are_read_along_their_axis() {
    let sizes = |at: i32| 1 + at % 3;
    let mut end = 0;
    let places = (0..10_000).map(|at| {
        let start = end;
        end += sizes(at);
        (start, end)
    });
    let places: Vec<(i32, i32)> = places.collect();
    let len = u64::try_from(places[9_999].1).unwrap();
    let opened = million(places.into_iter(), len).open();
    let tiles = opened.tiles("v", &[6_000], &[2]).unwrap();
    assert_eq!(fragment(&tiles[0]).index, [3_000]);
    assert_eq!(tiles[0].region, Region { start: vec![6_000], count: vec![1] });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn tiles_are_those_of_a_list(
        partitions in prop::collection::vec((0..2i32, 0..4i32, any::<bool>()), 1..8),
        start in 0..20u64,
        count in 1..20u64,
    ) {
        let mut at = 0;
        let mut all = Vec::new();
        for (gap, size, defined) in partitions {
            all.push(((at + gap, at + gap + size), defined));
            at += gap + size;
        }
        let len = u64::try_from(at).unwrap() + 1;
        let place = |(place, defined): &((i32, i32), bool)| if *defined { *place } else { (NONE, NONE) };
        let names: Vec<String> = (0..all.len()).map(|number| format!("{number}.nc")).collect();
        let names = strings(&names.iter().map(String::as_str).collect::<Vec<_>>());
        let master = million(all.iter().map(place), len).replace("/cfa_v/file", names);
        let start = start.min(len - 1);
        let wanted = Region { start: vec![start], count: vec![count.min(len - start)] };
        let tiles = master.open().tiles("v", &wanted.start, &wanted.count).unwrap();
        let mut owner = vec!["-".to_owned(); usize::try_from(len).unwrap()];
        for (number, ((start, end), defined)) in all.into_iter().enumerate() {
            let range = usize::try_from(start).unwrap()..usize::try_from(end).unwrap();
            if defined {
                owner[range].fill(format!("{number}.nc"));
            }
        }
        let mut found = vec![String::new(); owner.len()];
        for tile in &tiles {
            let first = usize::try_from(tile.region.start[0]).unwrap();
            let range = first..first + usize::try_from(tile.region.count[0]).unwrap();
            found[range].fill(seen(std::slice::from_ref(tile))[0].1.clone());
        }
        let range = usize::try_from(wanted.start[0]).unwrap()
            ..usize::try_from(wanted.start[0] + wanted.count[0]).unwrap();
        prop_assert_eq!(&found[range.clone()], &owner[range]);
    }
}
