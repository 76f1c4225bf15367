use crate::testing::{MemoryMaster, ints};
use ncirrus_layout::{
    Error, ErrorKind, Fragment, FragmentAxis, FragmentPart, FragmentVariable, Tile, TileSource,
};
use ncirrus_model::Values;
use proptest::prelude::*;
use rstest::rstest;
use std::sync::Arc;

/// `v(t y)` of 6 by 4 with that `cfa_array`.
fn master(array: &str) -> MemoryMaster {
    MemoryMaster::new()
        .dims("t=6 y=4")
        .var("v", Values::Double(vec![0.0]))
        .text("v", "cf_role", "cfa_variable")
        .text("v", "cfa_dimensions", "t y")
        .text("v", "cfa_array", array)
}

/// Two partitions along `t`.
const TWO: &str = r#"{"Partitions": [
    {"index": [1], "location": [[2, 5], [0, 3]], "subarray": {"file": "b.nc", "ncvar": "w", "shape": [4, 4]}},
    {"index": [0], "location": [[0, 1], [0, 3]], "subarray": {"file": "a.nc", "ncvar": "v", "shape": [2, 4]}}],
    "pmdimensions": ["t"], "pmshape": [2]}"#;

/// One partition: its members besides the sub-array, and those of the sub-array.
fn one(partition: &str, subarray: &str) -> MemoryMaster {
    master(&format!("{{\"Partitions\": [{{{partition} \"subarray\": {{{subarray}}}}}]}}"))
}

fn fragment(tile: &Tile) -> &Arc<Fragment> {
    match &tile.source {
        TileSource::Fragment(fragment) => fragment,
        other => panic!("no fragment: {other:?}"),
    }
}

fn seen(tiles: &[Tile]) -> Vec<(Vec<u64>, Vec<u64>, String)> {
    let name = |tile: &Tile| match &tile.source {
        TileSource::Fragment(fragment) => fragment.names.first().map(ToString::to_string).unwrap_or_default(),
        _ => "-".to_owned(),
    };
    tiles.iter().map(|tile| (tile.region.start.clone(), tile.region.count.clone(), name(tile))).collect()
}

fn error(master: &MemoryMaster) -> Error {
    master.open().all("v").unwrap_err()
}

#[test]
fn partitions_in_any_order_lie_on_a_grid() {
    let opened = master(TWO).open();
    let tiles = opened.all("v").unwrap();
    assert_eq!(
        seen(&tiles),
        [(vec![0, 0], vec![2, 4], "a.nc".to_owned()), (vec![2, 0], vec![4, 4], "b.nc".to_owned())]
    );
    let first = fragment(&tiles[0]);
    assert_eq!((first.index.as_slice(), first.shape.as_deref()), (&[0, 0][..], Some(&[2, 4][..])));
    assert_eq!((first.axes.as_ref(), first.units.as_ref()), (None, None));
    assert_eq!(opened.aggregation("v").unwrap().unwrap().shape, Some(vec![2, 1]));
    assert_eq!(seen(&opened.tiles("v", &[5, 1], &[1, 1]).unwrap())[0].2, "b.nc");
}

#[test]
fn partitions_that_are_lacking_are_missing() {
    let array =
        r#"{"Partitions": [{"location": [[4, 5], [0, 3]], "subarray": {"file": "b.nc", "ncvar": "w"}}]}"#;
    let tiles = master(array).open().all("v").unwrap();
    assert_eq!(
        seen(&tiles),
        [(vec![0, 0], vec![4, 4], "-".to_owned()), (vec![4, 0], vec![2, 4], "b.nc".to_owned())]
    );
}

#[test]
fn irregular_partitions_are_read_by_place() {
    let part = |location: &str, file: &str| {
        format!(r#"{{"location": {location}, "subarray": {{"file": "{file}", "ncvar": "v"}}}}"#)
    };
    let all = [part("[[0, 2], [0, 3]]", "a"), part("[[3, 5], [0, 0]]", "b"), part("[[2, 5], [1, 3]]", "c")];
    let array = format!("{{\"Partitions\": [{}, {}]}}", all[0], all[1]);
    assert_eq!(seen(&master(&array).open().all("v").unwrap()).len(), 3);
    let overlapping = format!("{{\"Partitions\": [{}]}}", all.join(","));
    let opened = master(&overlapping).open();
    assert_eq!(opened.aggregation("v").unwrap().unwrap().shape, None);
    assert_eq!(seen(&opened.tiles("v", &[4, 0], &[1, 4]).unwrap()).len(), 2);
}

#[test]
fn one_partition_is_the_whole_array_and_may_lie_in_the_master() {
    let tiles = one("", r#""ncvar": "private", "shape": [6, 4]"#).var("private(t y)", ints(&[0])).text(
        "private",
        "cf_role",
        "cfa_private",
    );
    let opened = tiles.open();
    assert_eq!(opened.paths(), ["/v"]);
    let tiles = opened.all("v").unwrap();
    assert_eq!(seen(&tiles), [(vec![0, 0], vec![6, 4], String::new())]);
    assert_eq!(fragment(&tiles[0]).variables, [FragmentVariable::Path("/private".into())]);
}

#[test]
fn scalar_arrays_have_one_partition() {
    let array =
        r#"{"Partitions": [{"index": [], "location": [], "subarray": {"file": "s.nc", "varid": 3}}]}"#;
    let opened = master(array).text("v", "cfa_dimensions", "  ").open();
    let tiles = opened.all("v").unwrap();
    assert_eq!(seen(&tiles), [(vec![], vec![], "s.nc".to_owned())]);
    assert_eq!(fragment(&tiles[0]).variables, [FragmentVariable::Number(3)]);
}

#[test]
fn axes_are_turned_selected_and_dropped_as_it_says() {
    let partition = r#""pdimensions": ["y", "z", "t"], "reverse": ["y"], "part": "[[0, 6, 2], (3,), []]","#;
    assert!(
        error(&one(partition, r#""file": "a", "ncvar": "v""#)).message().contains("not a list of selections")
    );
    let partition = partition.replace("[]]", "[5, 0, -1]]");
    let axes =
        fragment(&one(&partition, r#""file": "a", "ncvar": "v""#).open().all("v").unwrap()[0]).axes.clone();
    let axis = |axis, part, reversed| FragmentAxis { axis, part, reversed };
    assert_eq!(
        axes.unwrap(),
        [
            axis(Some(1), FragmentPart::Slice { first: 0, last: 6, step: 2 }, true),
            axis(None, FragmentPart::Indices(vec![3]), false),
            axis(Some(0), FragmentPart::Slice { first: 5, last: 0, step: -1 }, false),
        ]
    );
}

#[test]
fn units_base_and_other_spellings_are_read() {
    let array = r#"{"base": "sub/", "Partitions": [{"flip": ["t"], "punits": "degC", "pcalendar": "noleap",
        "format": "netCDF", "data": {"file": "a.nc", "ncvar": "v", "varid": null, "dtype": "float"}}]}"#;
    let tiles = master(array).open().all("v").unwrap();
    let found = fragment(&tiles[0]);
    assert_eq!(found.names, ["sub/a.nc".into()]);
    let units = found.units.clone().unwrap();
    assert_eq!((units.units.as_deref(), units.calendar.as_deref()), (Some("degC"), Some("noleap")));
    assert!(found.axes.as_ref().unwrap()[0].reversed);
}

#[test]
fn half_open_locations_are_recognized_by_the_sizes() {
    let array = r#"{"Partitions": [
        {"location": [[0, 2], [0, 4]], "data": {"file": "a", "ncvar": "v", "shape": [2, 4]}},
        {"location": [[2, 6], [0, 4]], "data": {"file": "b", "ncvar": "v", "shape": [4, 4]}}]}"#;
    let tiles = master(array).open().all("v").unwrap();
    assert_eq!(
        seen(&tiles),
        [(vec![0, 0], vec![2, 4], "a".to_owned()), (vec![2, 0], vec![4, 4], "b".to_owned())]
    );
}

#[test]
fn empty_partitions_are_skipped() {
    let array = r#"{"Partitions": [
        {"location": [[0, -1], [0, 3]], "subarray": {"file": "a", "ncvar": "v", "shape": [0, 4]}},
        {"location": [[0, 5], [0, 3]], "subarray": {"file": "b", "ncvar": "v", "shape": [6, 4]}}]}"#;
    assert_eq!(seen(&master(array).open().all("v").unwrap()), [(vec![0, 0], vec![6, 4], "b".to_owned())]);
}

#[test]
fn an_unlimited_dimension_without_records_is_as_long_as_its_partitions() {
    let master = MemoryMaster::new()
        .dims("t=*0")
        .var("v", Values::Double(vec![0.0]))
        .text("v", "cf_role", "cfa_variable")
        .text("v", "cfa_dimensions", "t")
        .text(
            "v",
            "cfa_array",
            r#"{"Partitions": [{"location": [[0, 6]], "subarray": {"file": "a", "ncvar": "v"}}]}"#,
        );
    let opened = master.open();
    assert_eq!(opened.model().shape(opened.id("v")), [7]);
}

const SUB: &str = r#""subarray": {"file": "a", "ncvar": "v"}"#;

#[rstest]
#[case::no_json("{", "not as CFA-0.4 defines it")]
#[case::no_partitions(r#"{"pmshape": [2], "pmdimensions": ["t"]}"#, "no Partitions")]
#[case::no_subarray(r#"{"Partitions": [{"location": [[0, 5], [0, 3]]}]}"#, "subarray")]
#[case::index(r#"{"pmshape": [2], "pmdimensions": ["t"], "Partitions": [{"index": [2], "location": [[0,5],[0,3]], SUB}]}"#,
    "partition 0 has the index 2 along t, where pmshape is 2")]
#[case::index_rank(r#"{"pmshape": [2], "pmdimensions": ["t"], "Partitions": [{"index": [1, 0], "location": [[0,5],[0,3]], SUB}]}"#,
    "indices have 2 entries")]
#[case::same_index(
    r#"{"pmshape": [2], "pmdimensions": ["t"], "Partitions": [
        {"index": [1], "location": [[0,2],[0,3]], SUB}, {"index": [0], "location": [[3,4],[0,3]], SUB},
        {"index": [1], "location": [[5,5],[0,3]], SUB}]}"#,
    "the partitions 0 and 2 have the same index [1]"
)]
#[case::pmdimensions(r#"{"pmdimensions": ["z"], "Partitions": [{SUB}]}"#, "pmdimensions has z")]
#[case::pmshape(
    r#"{"pmshape": [1, 1], "pmdimensions": ["t"], "Partitions": [{SUB}]}"#,
    "pmshape has 2 lengths"
)]
#[case::outside(
    r#"{"Partitions": [{"location": [[0,6],[0,3]], SUB}]}"#,
    "partition 0 has the location [0, 6] along t"
)]
#[case::backwards(r#"{"Partitions": [{"location": [[3,1],[0,3]], SUB}]}"#, "[3, 1] along t")]
#[case::rank(r#"{"Partitions": [{"location": [[0,5]], SUB}]}"#, "locations have 1 dimensions")]
#[case::no_locations(r#"{"Partitions": [{SUB}, {SUB}]}"#, "without locations")]
#[case::mixed(r#"{"Partitions": [{"location": [[0,5],[0,3]], SUB}, {SUB}]}"#, "partition 1 has no location")]
#[case::twice(
    r#"{"Partitions": [{"location": [[0,5],[0,3]], SUB}, {"location": [[0,5],[0,3]], SUB}]}"#,
    "0 and 1 overlap"
)]
#[case::reverse(r#"{"Partitions": [{"reverse": ["z"], SUB}]}"#, "reverse has z")]
#[case::part(r#"{"Partitions": [{"part": "[(0,)]", SUB}]}"#, "1 selections for 2 dimensions")]
#[case::pdimensions(r#"{"Partitions": [{"pdimensions": ["t", "t"], SUB}]}"#, "t twice")]
#[case::neither(r#"{"Partitions": [{"subarray": {"file": "a"}}]}"#, "neither ncvar nor varid")]
fn broken_arrays_are_refused(#[case] array: &str, #[case] message: &str) {
    let found = error(&master(&array.replace("SUB", SUB))).to_string();
    assert!(found.contains(message) && found.contains("/v"), "{found}");
}

#[rstest]
#[case::pp(r#"{"Partitions": [{"subarray": {"file": "a.pp", "format": "PP", "ncvar": "v"}}]}"#, "PP")]
#[case::offset(
    r#"{"Partitions": [{"subarray": {"file": "a", "file_offset": 7348, "ncvar": "v"}}]}"#,
    "offset"
)]
#[case::obsolete_format(
    r#"{"Partitions": [{"subarray": {"file": "a", "Format": "netCDF", "ncvar": "v"}}]}"#,
    "before CFA-0.4"
)]
#[case::obsolete(
    r#"{"Partitions": [{"pdirections": {"t": true}, "subarray": {"file": "a", "ncvar": "v"}}]}"#,
    "before CFA-0.4"
)]
fn what_is_not_supported_is_said(#[case] array: &str, #[case] message: &str) {
    let found = error(&master(array));
    assert_eq!(found.kind(), ErrorKind::Unsupported);
    assert!(found.message().contains(message), "{found}");
}

#[test]
fn a_fragment_in_another_format_leaves_the_others_readable() {
    let array = TWO.replace("\"b.nc\"", "\"b.pp\", \"format\": \"PP\"");
    let opened = master(&array).open();
    assert_eq!(seen(&opened.tiles("v", &[0, 0], &[1, 1]).unwrap())[0].2, "a.nc");
    assert!(opened.tiles("v", &[5, 0], &[1, 1]).unwrap_err().message().contains("fragment [1, 0]"));
}

#[test]
fn every_beginning_of_a_text_is_refused() {
    for end in 0..TWO.trim_end().len() {
        assert!(super::json::parse(&TWO.as_bytes()[..end]).is_err(), "{end}");
    }
    assert!(super::json::parse(TWO.as_bytes()).is_ok());
}

proptest! {
    #[test]
    fn damaged_texts_never_panic(at in 0..400usize, with in any::<u8>()) {
        let mut text = TWO.as_bytes().to_vec();
        let at = at % text.len();
        text[at] = with;
        let text = String::from_utf8_lossy(&text).into_owned();
        let _ = master(&text).open().source("v").map(|_| ());
    }

    #[test]
    fn tiles_are_those_of_a_list(
        cells in prop::collection::vec(any::<bool>(), 6),
        start in (0..6u64, 0..4u64),
        count in (1..6u64, 1..4u64),
    ) {
        let cuts = [[0..1u64, 1..4, 4..6], [0..3, 3..4, 0..0]];
        let (mut all, mut expected) = (Vec::new(), Vec::new());
        let (t, y) = (start.0..(start.0 + count.0).min(6), start.1..(start.1 + count.1).min(4));
        for (number, defined) in cells.into_iter().enumerate() {
            let (a, b) = (&cuts[0][number / 2], &cuts[1][number % 2]);
            let touches = a.start < t.end && t.start < a.end && b.start < y.end && y.start < b.end;
            if defined {
                let location = format!("[[{}, {}], [{}, {}]]", a.start, a.end - 1, b.start, b.end - 1);
                let sub = format!("{{\"file\": \"{number}\", \"ncvar\": \"v\"}}");
                all.push(format!("{{\"location\": {location}, \"subarray\": {sub}}}"));
                if touches {
                    expected.push((vec![a.start, b.start], number.to_string()));
                }
            }
        }
        let opened = master(&format!("{{\"Partitions\": [{}]}}", all.join(","))).open();
        let tiles = opened.tiles("v", &[t.start, y.start], &[t.end - t.start, y.end - y.start]).unwrap();
        let mut found: Vec<(Vec<u64>, String)> = seen(&tiles)
            .into_iter()
            .filter(|(_, _, name)| name != "-")
            .map(|(start, _, name)| (start, name))
            .collect();
        found.sort();
        expected.sort();
        prop_assert_eq!(found, expected);
    }
}
