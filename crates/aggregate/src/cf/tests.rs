use crate::testing::{MemoryMaster, ints, strings};
use ncirrus_layout::{Aggregation, ErrorKind, Fragment, FragmentVariable, OpenOptions, Tile, TileSource};
use ncirrus_model::{Region, Values};
use proptest::prelude::*;
use rstest::rstest;
use std::sync::Arc;

/// `v(x)` of two fragments of three elements (CF-1.13).
fn simple() -> MemoryMaster {
    MemoryMaster::new()
        .dims("x=6 fx=2 j=1 i=2")
        .var("v", Values::Double(vec![0.0]))
        .text("v", "units", "K")
        .text("v", "aggregated_dimensions", "x")
        .text("v", "aggregated_data", "map: fm uris: fu identifiers: fi")
        .var("fm(j i)", ints(&[3, 3]))
        .var("fu(fx)", strings(&["a.nc", "b.nc"]))
        .var("fi", strings(&["v"]))
}

fn fragment(tile: &Tile) -> &Arc<Fragment> {
    match &tile.source {
        TileSource::Fragment(fragment) => fragment,
        other => panic!("no fragment: {other:?}"),
    }
}

fn names(tiles: &[Tile]) -> Vec<String> {
    tiles.iter().map(|tile| fragment(tile).names.join("|")).collect()
}

fn region(start: &[u64], count: &[u64]) -> Region {
    Region { start: start.to_vec(), count: count.to_vec() }
}

/// What opening reports for a variable, or the error of finding its fragments.
fn failure(master: &MemoryMaster, path: &str) -> String {
    let opened = master.open();
    let fault = opened.model().variable(opened.id(path)).unwrap().fault.clone();
    fault.map_or_else(|| opened.all(path).unwrap_err().to_string(), |fault| fault.message.to_string())
}

#[test]
fn an_aggregated_variable_looks_like_any_other() {
    let opened = simple().open();
    let model = opened.model();
    assert_eq!(opened.paths(), ["/v"]);
    let v = model.variable(opened.id("v")).unwrap();
    assert_eq!(model.shape(opened.id("v")), [6]);
    let attributes: Vec<&str> = v.attributes.known().unwrap().iter().map(|a| a.name.as_str()).collect();
    assert_eq!(attributes, ["units"]);
    let root = model.group(model.root()).unwrap();
    let dims: Vec<&str> = root.dims.iter().map(|dim| model.dimension(*dim).unwrap().name.as_str()).collect();
    assert_eq!(dims, ["x"]);
}

#[test]
fn fragments_are_found_by_their_place() {
    let opened = simple().open();
    let tiles = opened.all("v").unwrap();
    assert_eq!(
        tiles.iter().map(|tile| tile.region.clone()).collect::<Vec<_>>(),
        [region(&[0], &[3]), region(&[3], &[3])]
    );
    assert_eq!(names(&tiles), ["a.nc", "b.nc"]);
    assert_eq!(fragment(&tiles[1]).index, [1]);
    assert_eq!(fragment(&tiles[1]).variables, [FragmentVariable::Path("v".into())]);
    assert_eq!(names(&opened.tiles("v", &[3], &[1]).unwrap()), ["b.nc"]);
    let facts = Aggregation { convention: "CF-1.13", shape: Some(vec![2]), fragments: 2 };
    assert_eq!(opened.aggregation("v").unwrap(), Some(facts));
    let summary = "CF-1.13, 1 variable of 2 fragments".to_owned();
    assert_eq!(opened.catalog.facts().pairs(), [("aggregation", summary)]);
}

#[test]
fn raw_datasets_and_those_without_aggregation_stay_as_they_are() {
    let raw = OpenOptions::new().raw(true);
    assert!(simple().open_with(&raw).unwrap().is_none());
    let plain = MemoryMaster::new().dims("x=6").var("v(x)", Values::Double(vec![0.0]));
    assert!(plain.open_with(&OpenOptions::default()).unwrap().is_none());
}

#[rstest]
#[case::no_data(MemoryMaster::new().dims("x=6").var("v", Values::Double(vec![0.0]))
    .text("v", "aggregated_dimensions", "x"), "without aggregated_data")]
#[case::no_dimension(simple().text("v", "aggregated_dimensions", "zz"), "no dimension zz")]
#[case::no_variable(simple().text("v", "aggregated_data", "map: nn uris: fu identifiers: fi"), "no variable nn")]
#[case::keywords(simple().text("v", "aggregated_data", "map: fm uris: fu"), "map, uris")]
#[case::sum(simple().dims("k=2 two=2").var("m2(j k)", ints(&[3, 4]))
    .text("v", "aggregated_data", "map: m2 uris: fu identifiers: fi"), "make 7, its length is 6")]
#[case::no_size(simple().dims("k=2").var("m2(j k)", ints(&[-2_147_483_647, -2_147_483_647]))
    .text("v", "aggregated_data", "map: m2 uris: fu identifiers: fi"), "there is none")]
#[case::hole(simple().dims("k=3").var("m2(j k)", ints(&[3, -2_147_483_647, 3]))
    .text("v", "aggregated_data", "map: m2 uris: fu identifiers: fi"), "after a missing one")]
#[case::negative(simple().dims("k=2").var("m2(j k)", ints(&[-3, 9]))
    .text("v", "aggregated_data", "map: m2 uris: fu identifiers: fi"), "-3 is not a size")]
#[case::map_of_floats(simple().dims("k=2").var("m2(j k)", Values::Float(vec![3.0, 3.0]))
    .text("v", "aggregated_data", "map: m2 uris: fu identifiers: fi"), "not integers")]
#[case::map_of_another_rank(simple().dims("k=2").var("m2(k)", ints(&[3, 3]))
    .text("v", "aggregated_data", "map: m2 uris: fu identifiers: fi"), "1 rows")]
#[case::uris_too_long(simple().dims("k=3").var("u2(k)", strings(&["a", "b", "c"]))
    .text("v", "aggregated_data", "map: fm uris: u2 identifiers: fi"), "the array of fragments 3")]
#[case::uris_of_another_rank(simple().dims("k=1").var("u2(fx k)", strings(&["a", "b"]))
    .text("v", "aggregated_data", "map: fm uris: u2 identifiers: fi"), "2 dimensions")]
#[case::uris_of_numbers(simple().var("u2(fx)", ints(&[1, 2]))
    .text("v", "aggregated_data", "map: fm uris: u2 identifiers: fi"), "not text")]
#[case::identifiers_shape(simple().dims("k=3").var("i2(k)", strings(&["v", "v", "v"]))
    .text("v", "aggregated_data", "map: fm uris: fu identifiers: i2"), "/i2 has the shape [3]")]
#[case::missing_uri(simple().var("u2(fx)", strings(&["a.nc", ""]))
    .text("v", "aggregated_data", "map: fm uris: u2 identifiers: fi"), "fragment [1]: /u2 has no name")]
#[case::absolute_path(simple().var("u2(fx)", strings(&["a.nc", "/b.nc"]))
    .text("v", "aggregated_data", "map: fm uris: u2 identifiers: fi"), "\"/b.nc\" is neither")]
#[case::missing_identifier(simple().var("i2(fx)", strings(&["v", ""]))
    .text("v", "aggregated_data", "map: fm uris: fu identifiers: i2"), "fragment [1]: /i2 has no variable")]
#[case::values_of_another_type(simple().var("uv(fx)", strings(&["1", "2"]))
    .text("v", "aggregated_data", "map: fm unique_values: uv"), "/uv holds values of a type other than")]
#[case::values_of_another_shape(simple().dims("k=3").var("uv(k)", ints(&[1, 2, 3]))
    .text("v", "aggregated_data", "map: fm unique_values: uv"), "the array of fragments 3")]
#[case::no_scalar(simple().var("w(x)", Values::Double(vec![0.0])).text("w", "aggregated_dimensions", "x")
    .text("v", "aggregated_data", "map: nn uris: fu identifiers: fi"), "no variable nn")]
fn broken_descriptions_are_refused(#[case] master: MemoryMaster, #[case] message: &str) {
    let found = failure(&master, "v");
    assert!(found.contains(message) && found.contains("/v"), "{found}");
}

#[test]
fn a_broken_variable_leaves_the_others_readable() {
    let master = simple().var("w", Values::Float(vec![0.0])).text("w", "aggregated_dimensions", "y").text(
        "w",
        "aggregated_data",
        "map: fm uris: fu identifiers: fi",
    );
    let opened = master.open();
    assert!(opened.source("w").unwrap_err().message().contains("no dimension y"));
    assert_eq!(names(&opened.all("v").unwrap()), ["a.nc", "b.nc"]);
}

#[test]
fn an_aggregated_variable_with_dimensions_has_missing_values_and_is_reported() {
    let values = Values::Float(vec![0.0; 6]);
    let master = simple().var("w(x)", values.clone()).text("w", "aggregated_dimensions", "x");
    let opened = master.open();
    let tiles = opened.all("w").unwrap();
    assert!(!tiles.is_empty() && tiles.iter().all(|tile| tile.source == TileSource::Missing), "{tiles:?}");
    assert_eq!(
        opened.catalog.warnings(),
        ["/w is aggregated but not a scalar (it has the dimensions x): its values are missing"]
    );
    // Also where nothing else is aggregated.
    let alone = MemoryMaster::new().dims("x=6").var("w(x)", values).text("w", "aggregated_dimensions", "x");
    assert_eq!(alone.open().catalog.warnings().len(), 1);
}

#[test]
fn lenient_reading_accepts_what_is_clear() {
    let master = simple().dims("k=3").var("u2(k)", strings(&["a.nc", "/b.nc", ""])).text(
        "v",
        "aggregated_data",
        "map: fm uris: u2 identifiers: fi",
    );
    assert_eq!(names(&master.open_lenient().all("v").unwrap()), ["a.nc", "/b.nc"]);
    let more = simple().dims("k=3").var("u2(k)", strings(&["a.nc", "b.nc", "c.nc"])).text(
        "v",
        "aggregated_data",
        "map: fm uris: u2 identifiers: fi",
    );
    assert!(more.open_lenient().all("v").is_err());
}

#[test]
fn texts_may_be_arrays_of_characters() {
    let master = simple()
        .dims("len=5 one=3")
        .var("u2(fx len)", Values::Char(b"a.nc\0b.nc ".to_vec()))
        .var("i2(one)", Values::Char(b"/v ".to_vec()))
        .text("v", "aggregated_data", "map: fm uris: u2 identifiers: i2");
    let tiles = master.open().all("v").unwrap();
    assert_eq!(names(&tiles), ["a.nc", "b.nc"]);
    assert_eq!(fragment(&tiles[0]).variables, [FragmentVariable::Path("/v".into())]);
}

#[test]
fn characters_that_are_missing_are_no_part_of_texts() {
    let fill = |master: MemoryMaster, name: &str| master.text(name, "_FillValue", "_");
    let master = MemoryMaster::new()
        .dims("x=4 fx=2 j=1 i=2 len=5")
        .var("v", Values::Double(vec![0.0]))
        .text("v", "aggregated_dimensions", "x")
        .text("v", "aggregated_data", "location: l file: f format: n address: a")
        .var("l(j i)", ints(&[2, 2]))
        .var("f(fx len)", Values::Char(b"a.nc______".to_vec()))
        .var("n(fx len)", Values::Char(b"nc________".to_vec()))
        .var("a(fx len)", Values::Char(b"t_________".to_vec()));
    let tiles = fill(fill(fill(master, "f"), "n"), "a").open().all("v").unwrap();
    assert_eq!(names(&tiles[..1]), ["a.nc"]);
    assert_eq!(tiles[1].source, TileSource::Missing);
}

#[test]
fn scalar_data_have_one_fragment() {
    let master = MemoryMaster::new()
        .var("v", Values::Double(vec![0.0]))
        .text("v", "aggregated_dimensions", "")
        .text("v", "aggregated_data", "map: fm uris: fu identifiers: fi")
        .var("fm", ints(&[1]))
        .var("fu", strings(&["a.nc"]))
        .var("fi", strings(&["v"]));
    let tiles = master.open().all("v").unwrap();
    assert_eq!(names(&tiles), ["a.nc"]);
    assert_eq!(tiles[0].region, region(&[], &[]));
}

#[test]
fn an_unlimited_dimension_without_records_has_the_length_of_the_map() {
    let master = MemoryMaster::new()
        .dims("t=*0")
        .dims("g/defs/ft=2 g/defs/j=1 g/defs/i=2")
        .var("g/t", Values::Double(vec![0.0]))
        .text("g/t", "aggregated_dimensions", "t")
        .text("g/t", "aggregated_data", "map: defs/fm uris: /g/defs/fu identifiers: defs/fi")
        .var("g/defs/fm(j i)", ints(&[3, 2]))
        .var("g/defs/fu(ft)", strings(&["a.nc", "b.nc"]))
        .var("g/defs/fi", strings(&["time"]));
    let opened = master.open();
    assert_eq!(opened.model().shape(opened.id("g/t")), [5]);
    assert_eq!(opened.paths(), ["/g/t"]);
    assert!(opened.model().group_at("g/defs").is_none());
    assert_eq!(names(&opened.all("g/t").unwrap()), ["a.nc", "b.nc"]);
}

#[test]
fn cfa06_knows_missing_fragments_those_in_the_master_and_versions() {
    let base = MemoryMaster::new()
        .dims("x=8 fx=4 k=2 j=1 i=4")
        .var("v", Values::Double(vec![0.0]))
        .text("v", "aggregated_dimensions", "x")
        .text("v", "aggregated_data", "LOCATION: l File: f format: n address: a extra: e")
        .var("l(j i)", ints(&[2, 2, 2, 2]))
        .var("f(fx k)", strings(&["http://h/${B}a.nc", "${B}a.nc", "b.nc", "", "", "", "", ""]))
        .text("f", "substitutions", "${B}: sub/")
        .var("n", strings(&["NC"]))
        .var("a(fx k)", strings(&["r", "t", "u", "", "/g/in", "", "", ""]))
        .var("e(fx)", strings(&["1", "2", "3", "4"]));
    let opened = base.open();
    assert_eq!(opened.paths(), ["/v"]);
    assert_eq!(opened.catalog.warnings(), ["/v: the term extra of aggregated_data is ignored"]);
    let tiles = opened.all("v").unwrap();
    let search = |name: &str| FragmentVariable::Search { group: "/".into(), name: name.into() };
    let first = fragment(&tiles[0]);
    assert_eq!(first.names, ["sub/a.nc".into(), "http://h/sub/a.nc".into()]);
    assert_eq!((first.variables.as_slice(), first.is_paired), ([search("t"), search("r")].as_slice(), true));
    assert_eq!(names(&tiles[1..2]), ["b.nc"]);
    assert!(fragment(&tiles[2]).names.is_empty());
    assert_eq!(fragment(&tiles[2]).variables, [search("/g/in")]);
    assert_eq!(tiles[3].source, TileSource::Missing);
}

#[test]
fn an_address_for_all_applies_only_where_there_is_a_name() {
    let master = MemoryMaster::new()
        .dims("x=4 fx=2 j=1 i=2")
        .var("v", Values::Double(vec![0.0]))
        .text("v", "aggregated_dimensions", "x")
        .text("v", "aggregated_data", "location: l file: f format: n address: a")
        .var("l(j i)", ints(&[2, 2]))
        .var("f(fx)", strings(&["a.nc", "none"]))
        .text("f", "_FillValue", "none")
        .var("n(fx)", strings(&["nc", ""]))
        .var("a", strings(&["t"]));
    let tiles = master.open().all("v").unwrap();
    assert_eq!(names(&tiles[..1]), ["a.nc"]);
    assert_eq!(tiles[1].source, TileSource::Missing);
}

#[test]
fn other_formats_of_fragments_are_refused_by_name() {
    let master = MemoryMaster::new()
        .dims("x=4 fx=2 j=1 i=2")
        .var("v", Values::Double(vec![0.0]))
        .text("v", "aggregated_dimensions", "x")
        .text("v", "aggregated_data", "location: l file: f format: n address: a")
        .var("l(j i)", ints(&[2, 2]))
        .var("f(fx)", strings(&["a.nc", "b.um"]))
        .var("n(fx)", strings(&["nc", "um"]))
        .var("a", strings(&["t"]));
    let opened = master.open();
    assert_eq!(names(&opened.tiles("v", &[0], &[2]).unwrap()), ["a.nc"]);
    let error = opened.all("v").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(error.message().contains("fragment [1]") && error.message().contains("um"), "{error}");
}

#[test]
fn a_version_in_another_format_is_passed_over() {
    let master = MemoryMaster::new()
        .dims("x=2 fx=1 k=2 j=1 i=1")
        .var("v", Values::Double(vec![0.0]))
        .text("v", "aggregated_dimensions", "x")
        .text("v", "aggregated_data", "location: l file: f format: n address: a")
        .var("l(j i)", ints(&[2]))
        .var("f(fx k)", strings(&["a.pp", "a.nc"]))
        .var("n(fx k)", strings(&["pp", "nc"]))
        .var("a(fx k)", strings(&["p", "t"]));
    let tiles = master.open().all("v").unwrap();
    assert_eq!(names(&tiles), ["a.nc"]);
    let search = FragmentVariable::Search { group: "/".into(), name: "t".into() };
    assert_eq!(fragment(&tiles[0]).variables, [search]);
}

#[test]
fn missing_values_of_types_of_the_dataset_are_what_nothing_written_is() {
    let master = simple().enumerated("e").text("e", "aggregated_dimensions", "x").text(
        "e",
        "aggregated_data",
        "map: fm uris: fu identifiers: fi",
    );
    let opened = master.open();
    assert_eq!(opened.model().variable(opened.id("e")).unwrap().fault, None);
    assert_eq!(opened.source("e").unwrap().fill, Values::Byte(vec![0]));
}

#[test]
fn substitutions_of_the_caller_go_first() {
    let master = simple().var("u2(fx)", strings(&["${A}a.nc", "${A}b.nc"])).text(
        "v",
        "aggregated_data",
        "map: fm uris: u2 identifiers: fi",
    );
    let substitutions = [("${A}".to_owned(), "s3://x/".to_owned())].into_iter().collect();
    let options = OpenOptions::new().substitutions(substitutions);
    let opened = master.open_with(&options).unwrap().unwrap();
    assert_eq!(names(&opened.all("v").unwrap()), ["s3://x/a.nc", "s3://x/b.nc"]);
}

#[rstest]
#[case::draft_a("map: fm location: fu variable: fi")]
#[case::draft_b("shape: fm location: fu address: fi")]
fn drafts_are_read(#[case] data: &str) {
    let opened = simple().text("v", "aggregated_data", data).open();
    assert_eq!(names(&opened.all("v").unwrap()), ["a.nc", "b.nc"]);
    assert_eq!(opened.aggregation("v").unwrap().unwrap().convention, "CF-1.12 draft");
}

#[test]
fn one_step_of_a_million_costs_one_entry() {
    let million = 1_000_000;
    let master = MemoryMaster::new()
        .dims(&format!("t={million} x=10 ft={million} fx=1 j=2 i={million}"))
        .var("v", Values::Float(vec![0.0]))
        .text("v", "aggregated_dimensions", "t x")
        .text("v", "aggregated_data", "map: fm uris: fu identifiers: fi")
        .var("fm(j i)", ints(&map_of_ones(million, 10)))
        .var("fu(ft fx)", strings(&["same.nc"]))
        .var("fi", strings(&["v"]));
    let opened = master.open();
    assert_eq!(opened.cost("v", &[123_456, 0], &[1, 10]), 2);
    assert_eq!(fragment(&opened.tiles("v", &[123_456, 0], &[1, 10]).unwrap()[0]).index, [123_456, 0]);
}

/// A row of ones, then a row with one size.
fn map_of_ones(count: usize, size: i32) -> Vec<i32> {
    let mut map = vec![1; count];
    map.push(size);
    map.resize(2 * count, -2_147_483_647);
    map
}

#[test]
fn a_billion_fragments_are_opened_quickly() {
    let side = 31_623;
    let master = MemoryMaster::new()
        .dims(&format!("y={side} x={side} j=2 i={side}"))
        .var("v", Values::Float(vec![0.0]))
        .text("v", "aggregated_dimensions", "y x")
        .text("v", "aggregated_data", "map: fm uris: fu identifiers: fi")
        .var("fm(j i)", ints(&[1]))
        .var("fu(y x)", strings(&["same.nc"]))
        .var("fi", strings(&["v"]));
    let opened = master.open();
    assert_eq!(opened.cost("v", &[31_000, 5], &[1, 1]), 2);
    let error = opened.all("v").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit);
}

#[test]
fn as_many_fragments_as_elements_need_no_list_of_sizes() {
    let billion = 1_000_000_000;
    let master = MemoryMaster::new()
        .dims(&format!("t={billion} j=1"))
        .var("v", Values::Float(vec![0.0]))
        .text("v", "aggregated_dimensions", "t")
        .text("v", "aggregated_data", "map: fm uris: fu identifiers: fi")
        .var("fm(j t)", ints(&[1]))
        .var("fu(t)", strings(&["same.nc"]))
        .var("fi", strings(&["v"]));
    let opened = master.open();
    assert_eq!(fragment(&opened.tiles("v", &[999_999_999], &[1]).unwrap()[0]).index, [999_999_999]);
    let wrong = master.replace("/fm", ints(&[2])).open();
    assert_eq!(wrong.all("v").unwrap_err().kind(), ErrorKind::Limit);
}

/// Tiles by examining every block.
fn naive(sizes: &[Vec<u64>; 2], wanted: &Region) -> Vec<(Region, String)> {
    let mut tiles = Vec::new();
    let starts = |sizes: &[u64]| -> Vec<u64> {
        sizes.iter().scan(0, |at, size| Some(std::mem::replace(at, *at + size))).collect()
    };
    for (i, y) in starts(&sizes[0]).into_iter().enumerate() {
        for (j, x) in starts(&sizes[1]).into_iter().enumerate() {
            let tile = region(&[y, x], &[sizes[0][i], sizes[1][j]]);
            if tile.intersect(wanted).is_some() {
                tiles.push((tile, format!("{i}.{j}.nc")));
            }
        }
    }
    tiles
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn tiles_are_those_of_a_list(
        rows in prop::collection::vec(1..4u64, 1..5),
        columns in prop::collection::vec(1..4u64, 1..5),
        start in (0..8u64, 0..8u64),
        count in (1..8u64, 1..8u64),
    ) {
        let (ylen, xlen): (u64, u64) = (rows.iter().sum(), columns.iter().sum());
        let (y, x) = (start.0.min(ylen - 1), start.1.min(xlen - 1));
        let wanted = region(&[y, x], &[count.0.min(ylen - y), count.1.min(xlen - x)]);
        let width = rows.len().max(columns.len());
        let mut map = Vec::new();
        for row in [&rows, &columns] {
            map.extend(row.iter().map(|size| i16::try_from(*size).unwrap()));
            map.resize(map.len().div_ceil(width) * width, -1);
        }
        let cells: Vec<String> =
            (0..rows.len()).flat_map(|i| (0..columns.len()).map(move |j| format!("{i}.{j}.nc"))).collect();
        let cells: Vec<&str> = cells.iter().map(String::as_str).collect();
        let master = MemoryMaster::new()
            .dims(&format!("y={ylen} x={xlen} fy={} fx={} j=2 i={width}", rows.len(), columns.len()))
            .var("v", Values::Float(vec![0.0]))
            .text("v", "aggregated_dimensions", "y x")
            .text("v", "aggregated_data", "map: fm uris: fu identifiers: fi")
            .var("fm(j i)", Values::Short(map))
            .put("fm", "_FillValue", Values::Short(vec![-1]))
            .var("fu(fy fx)", strings(&cells))
            .var("fi", strings(&["v"]));
        let tiles = master.open().tiles("v", &wanted.start, &wanted.count).unwrap();
        let found: Vec<(Region, String)> =
            tiles.iter().map(|tile| (tile.region.clone(), fragment(tile).names[0].to_string())).collect();
        prop_assert_eq!(found, naive(&[rows, columns], &wanted));
    }
}
