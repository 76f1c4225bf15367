//! Variables that are assembled from others.

use crate::library::*;
use crate::support::*;
use bytes::Bytes;
use ncirrus_engine::{MissingChunks, Session};
use ncirrus_layout::*;
use ncirrus_model::*;
use ncirrus_store::{MemoryStore, Store};
use proptest::prelude::*;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// What a tile of a random mosaic is.
#[derive(Debug, Clone)]
enum Kind {
    Same { padded: Vec<u64>, squeezed: bool },
    Reshaped,
    Constant(i32),
    Missing,
    Absent,
}

fn kinds() -> impl Strategy<Value = Kind> {
    prop_oneof![
        4 => (prop::collection::vec(0u64..3, 3), any::<bool>())
            .prop_map(|(padded, squeezed)| Kind::Same { padded, squeezed }),
        2 => Just(Kind::Reshaped),
        1 => any::<i32>().prop_map(Kind::Constant),
        1 => Just(Kind::Missing),
        1 => Just(Kind::Absent),
    ]
}

fn axis_selection(len: u64) -> BoxedStrategy<AxisSelection> {
    let slice = (0..len, 1u64..4).prop_flat_map(move |(start, stride)| {
        (0..=(len - 1 - start) / stride + 1).prop_map(move |count| AxisSelection::Slice {
            start,
            count,
            stride,
        })
    });
    let indices = prop::collection::vec(0..len, 0..6).prop_map(AxisSelection::Indices);
    prop_oneof![3 => slice, 1 => indices].boxed()
}

/// Lengths of the tiles along each axis, their kinds, and a selection.
fn cases() -> impl Strategy<Value = (Vec<Vec<u64>>, Vec<Kind>, Selection)> {
    let lengths = prop::collection::vec(prop::collection::vec(1u64..5, 1..4), 1..4);
    lengths.prop_flat_map(|lengths| {
        let tiles = lengths.iter().map(Vec::len).product::<usize>();
        let axes: Vec<_> = lengths.iter().map(|axis| axis_selection(axis.iter().sum())).collect();
        (Just(lengths), prop::collection::vec(kinds(), tiles), axes.prop_map(Selection::new))
    })
}

/// A mosaic of those tiles as `/v` of the dataset `whole`, and its values by index.
fn build(lengths: &[Vec<u64>], kinds: &[Kind]) -> (Library, MemoryStore, HashMap<Vec<u64>, i32>, u64) {
    let shape: Vec<u64> = lengths.iter().map(|axis| axis.iter().sum()).collect();
    let grid = ChunkGrid::rectilinear(lengths).unwrap();
    let counts: Vec<u64> = lengths.iter().map(|axis| axis.len() as u64).collect();
    let (mut makers, mut tiles) = (Makers::default(), Vec::new());
    let mut expected: HashMap<Vec<u64>, i32> = indices(&shape).into_iter().map(|index| (index, -1)).collect();
    let mut holes = 0;
    for (number, (cell, kind)) in indices(&counts).iter().zip(kinds).enumerate() {
        let tile = grid.region(cell).unwrap();
        let dataset = format!("part{}", number % 3);
        let dataset = (number % 4 != 3).then_some(dataset.as_str());
        let (path, holder) = (format!("/s{number}"), dataset.unwrap_or("whole"));
        let inside = indices(&tile.count);
        let at =
            |offset: &[u64]| -> Vec<u64> { offset.iter().zip(&tile.start).map(|(a, b)| a + b).collect() };
        let source = match kind {
            Kind::Same { padded, squeezed } => {
                let keep = |len: &u64| !squeezed || *len != 1;
                let count: Vec<u64> = tile.count.iter().copied().filter(keep).collect();
                let start: Vec<u64> = padded.iter().copied().take(count.len()).collect();
                let room: Vec<u64> = count.iter().zip(&start).map(|(a, b)| a + b + 1).collect();
                let chunk: Vec<u64> = room.iter().map(|len| len.div_ceil(2)).collect();
                makers.add_array(holder, &path[1..], &Array::new(&room, &chunk));
                for offset in &inside {
                    let kept = offset.iter().zip(&tile.count).filter(|(_, len)| keep(len)).map(|(at, _)| at);
                    let index: Vec<u64> = kept.zip(&start).map(|(a, b)| a + b).collect();
                    expected.insert(at(offset), value_at(&index));
                }
                from(dataset, &path, region(&start, &count))
            }
            Kind::Reshaped => {
                let len = inside.len() as u64;
                makers.add_array(holder, &path[1..], &Array::new(&[len + 2, 1], &[3, 1]));
                for (offset, number) in inside.iter().zip(0u64..) {
                    expected.insert(at(offset), value_at(&[number + 2, 0]));
                }
                from(dataset, &path, region(&[2, 0], &[len, 1]))
            }
            Kind::Constant(value) => {
                inside.iter().for_each(|offset| _ = expected.insert(at(offset), *value));
                TileSource::Constant(Values::Int(vec![*value]))
            }
            Kind::Missing => TileSource::Missing,
            Kind::Absent => from(Some("nowhere"), "/x", tile.clone()),
        };
        holes += u64::from(matches!(kind, Kind::Missing | Kind::Absent));
        tiles.push(Tile { region: tile, source });
    }
    makers.add_mosaic("whole", "v", &shape, tiles);
    let (library, store) = makers.finish();
    (library, store, expected, holes)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn a_mosaic_reads_as_its_parts_put_together((lengths, kinds, selection) in cases()) {
        let (library, store, expected, holes) = build(&lengths, &kinds);
        let session = Session::builder().threads(2).build().unwrap();
        for shared in stores(&store) {
            let dataset = open_in(&session, shared, &library, "whole");
            let var = variable(&dataset, "/v");
            let values = session.block_on(dataset.read(var, &selection)).unwrap();
            prop_assert_eq!(values, Values::Int(select(&selection, |index| expected[index])));
            let all = Selection::all(&dataset.model().shape(var));
            let read = session.block_on(dataset.read_reported(var, &all, MissingChunks::Report)).unwrap();
            prop_assert_eq!(read.0, Values::Int(select(&all, |index| expected[index])));
            prop_assert_eq!(read.1.missing_count, holes);
            prop_assert_eq!(read.1.missing.len() as u64, holes);
        }
    }
}

/// A mosaic `/v` of the dataset `whole` of `count` rows of 100 elements, each a variable of a dataset of its own.
fn rows(count: u64) -> (Library, MemoryStore) {
    let (mut makers, mut tiles) = (Makers::default(), Vec::new());
    for row in 0..count {
        let dataset = format!("row{row}");
        makers.add_array(&dataset, "s", &Array::new(&[100], &[50]));
        let source = from(Some(&dataset), "/s", region(&[0], &[100]));
        tiles.push(Tile { region: region(&[row, 0], &[1, 100]), source });
    }
    makers.add_mosaic("whole", "v", &[count, 100], tiles);
    makers.finish()
}

#[test]
fn a_strided_selection_reads_only_what_it_needs() {
    let (library, store) = rows(4);
    let late = Arc::new(Late::new(store));
    let session = Session::builder().build().unwrap();
    let dataset = open_in(&session, Arc::clone(&late) as Arc<dyn Store>, &library, "whole");
    let selection = Selection::strided(&[1, 10], &[2, 4], &[2, 20]);
    let var = variable(&dataset, "/v");
    let plan = session.block_on(dataset.plan(var, &selection)).unwrap();
    assert_eq!(session.statistics().requests, 0, "a plan fetches nothing here");
    let values = session.block_on(dataset.read(var, &selection)).unwrap();
    assert_eq!(values, Values::Int(select(&selection, |index| value_at(&index[1..]))));
    let statistics = session.statistics();
    assert_eq!((plan.requests, plan.bytes), (statistics.requests, statistics.bytes_fetched));
    assert_eq!((plan.tiles, plan.sources, plan.needed_bytes), (2, 2, 8 * 4));
    assert!(plan.to_string().contains("row1 /s"), "{plan}");
    assert_eq!(session.block_on(dataset.stored_bytes(var)).unwrap(), None, "that would cost requests");
    assert_eq!(library.opened.load(Ordering::SeqCst), 3, "only the rows that are selected are opened");
}

#[test]
fn sources_are_read_together() {
    let (library, store) = rows(64);
    let late = Arc::new(Late::new(store));
    let session = Session::builder().build().unwrap();
    let dataset = open_in(&session, Arc::clone(&late) as Arc<dyn Store>, &library, "whole");
    let all = Selection::all(&[64, 100]);
    session.block_on(dataset.read(variable(&dataset, "/v"), &all)).unwrap();
    assert!(late.max_in_flight.load(Ordering::SeqCst) >= 8);
    assert_eq!(late.requested().len(), 128);
}

#[test]
fn many_threads_open_each_source_once() {
    let (library, store) = rows(20);
    let session = Session::builder().threads(4).build().unwrap();
    for (turn, shared) in stores(&store).into_iter().enumerate() {
        let dataset = open_in(&session, shared, &library, "whole");
        let (var, all) = (variable(&dataset, "/v"), Selection::all(&[20, 100]));
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    let values = session.block_on(dataset.read(var, &all)).unwrap();
                    assert_eq!(values, Values::Int(select(&all, |index| value_at(&index[1..]))));
                });
            }
        });
        assert_eq!(library.opened.load(Ordering::SeqCst), 21 * (turn + 1));
    }
}

#[test]
fn more_sources_than_are_kept_open_can_be_read() {
    let (library, store) = rows(600);
    let session = Session::builder().threads(2).build().unwrap();
    let dataset = open_in(&session, store.shared(), &library, "whole");
    let all = Selection::all(&[600, 100]);
    let values = session.block_on(dataset.read(variable(&dataset, "/v"), &all)).unwrap();
    assert_eq!(values, Values::Int(select(&all, |index| value_at(&index[1..]))));
    let stored = session.block_on(dataset.stored_bytes(variable(&dataset, "/v"))).unwrap();
    assert_eq!(stored, Some(600 * 400), "what the sources take");
}

#[test]
fn a_source_that_is_not_there_is_missing() {
    let mut makers = Makers::default();
    makers.add_array("part", "s", &Array::new(&[4], &[4]));
    let tile = |at: u64, source| Tile { region: region(&[at * 2], &[2]), source };
    let tiles = vec![
        tile(0, from(Some("part"), "/s", region(&[0], &[2]))),
        tile(1, from(Some("part"), "/other", region(&[0], &[2]))),
        tile(2, from(Some("nowhere"), "/s", region(&[0], &[2]))),
        tile(3, from(Some("part"), "/s", region(&[3], &[2]))),
    ];
    makers.add_mosaic("whole", "v", &[8], tiles);
    let (library, store) = makers.finish();
    let session = Session::builder().build().unwrap();
    for shared in stores(&store) {
        let dataset = open_in(&session, shared, &library, "whole");
        let (var, all) = (variable(&dataset, "/v"), Selection::all(&[8]));
        let (values, report) =
            session.block_on(dataset.read_reported(var, &all, MissingChunks::Report)).unwrap();
        assert_eq!(values, Values::Int(vec![1000, 1001, -1, -1, -1, -1, 1003, -1]));
        assert_eq!(report.missing, [[2], [4], [6]]);
        let error = session.block_on(dataset.read_reported(var, &all, MissingChunks::Error)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Missing);
        let first = Selection::slab(&[0], &[2]);
        assert!(session.block_on(dataset.read_reported(var, &first, MissingChunks::Error)).is_ok());
    }
}

#[test]
fn errors_name_the_source() {
    let mut makers = Makers::default();
    let mut array = Array::new(&[4], &[4]).zlib();
    makers.add_array("part", "s", &array);
    makers.objects.last_mut().unwrap().1 = Bytes::from_static(b"no zlib");
    array.codecs = Vec::new();
    makers.add_array("part", "t", &array);
    let tiles = |path| {
        vec![Tile { region: region(&[0], &[4]), source: from(Some("part"), path, region(&[0], &[4])) }]
    };
    makers.add_mosaic("whole", "v", &[4], tiles("/s"));
    let wrong =
        vec![Tile { region: region(&[0], &[4]), source: from(Some("part"), "/t", region(&[0, 0], &[2, 2])) }];
    makers.add_mosaic("whole", "w", &[4], wrong);
    let elsewhere =
        VariableRef { dataset: Some(ObjectId::new(StoreId::new("elsewhere"), "x")), path: "/s".into() };
    let source = TileSource::Variable { variable: elsewhere, region: region(&[0], &[4]) };
    makers.add_mosaic("whole", "x", &[4], vec![Tile { region: region(&[0], &[4]), source }]);
    let (library, store) = makers.finish();
    let session = Session::builder().build().unwrap();
    for shared in stores(&store) {
        let dataset = open_in(&session, shared, &library, "whole");
        let expected = [
            ("/v", ErrorKind::Malformed, "part/s"),
            ("/w", ErrorKind::Malformed, "/t, in memory://test/part"),
            ("/x", ErrorKind::Unsupported, "elsewhere/x"),
        ];
        for (path, kind, text) in expected {
            let read = session.block_on(dataset.read(variable(&dataset, path), &Selection::all(&[4])));
            let error = read.unwrap_err();
            assert!(error.kind() == kind && error.to_string().contains(text), "{error:?}");
        }
    }
}

#[test]
fn cycles_end_and_depth_is_bounded() {
    let mut makers = Makers::default();
    let whole = |dataset: Option<&str>, path: &str| {
        vec![Tile { region: region(&[0], &[4]), source: from(dataset, path, region(&[0], &[4])) }]
    };
    makers.add_mosaic("one", "itself", &[4], whole(None, "/itself"));
    makers.add_mosaic("one", "there", &[4], whole(Some("two"), "/back"));
    makers.add_mosaic("two", "back", &[4], whole(Some("one"), "/there"));
    makers.add_array("one", "end", &Array::new(&[4], &[4]));
    for level in 0..20 {
        let next = if level == 0 { "/end".to_owned() } else { format!("/level{}", level - 1) };
        makers.add_mosaic("one", &format!("level{level}"), &[4], whole(None, &next));
    }
    let (library, store) = makers.finish();
    let session = Session::builder().build().unwrap();
    for shared in stores(&store) {
        let dataset = open_in(&session, shared, &library, "one");
        let read =
            |path: &str| session.block_on(dataset.read(variable(&dataset, path), &Selection::all(&[4])));
        assert_eq!(read("/itself").unwrap_err().kind(), ErrorKind::Malformed);
        assert_eq!(read("/there").unwrap_err().kind(), ErrorKind::Malformed);
        assert_eq!(read("/level15").unwrap(), Values::Int(vec![1000, 1001, 1002, 1003]));
        assert_eq!(read("/level16").unwrap_err().kind(), ErrorKind::Limit);
        let plan = session.block_on(dataset.plan(variable(&dataset, "/itself"), &Selection::all(&[4])));
        assert_eq!(plan.unwrap_err().kind(), ErrorKind::Malformed);
    }
}

#[test]
fn values_of_sources_stop_at_the_bounds_and_constants_must_fit() {
    let mut makers = Makers::default();
    makers.add_array("whole", "s", &Array::new(&[3], &[3]));
    let tiles = vec![
        Tile { region: region(&[0], &[3]), source: from(None, "/s", region(&[0], &[3])) },
        Tile { region: region(&[3], &[1]), source: TileSource::Constant(Values::Double(vec![-2.5])) },
        Tile { region: region(&[4], &[1]), source: TileSource::Constant(Values::Double(vec![-1e9])) },
        Tile { region: region(&[5], &[1]), source: TileSource::Constant(Values::Double(vec![f64::NAN])) },
    ];
    let source = mosaic(&[6], Values::Byte(vec![7]), tiles);
    makers.add("whole", "v", Atomic::Byte.into(), &[6], source);
    let text = vec![Tile { region: region(&[0], &[3]), source: from(None, "/s", region(&[0], &[3])) }];
    let source = mosaic(&[3], Values::Char(vec![0]), text);
    makers.add("whole", "w", Atomic::Char.into(), &[3], source);
    let (library, store) = makers.finish();
    let session = Session::builder().build().unwrap();
    let dataset = open_in(&session, store.shared(), &library, "whole");
    let read = |start: u64, count: u64| {
        let selection = Selection::slab(&[start], &[count]);
        session.block_on(dataset.read(variable(&dataset, "/v"), &selection))
    };
    assert_eq!(read(0, 4).unwrap(), Values::Byte(vec![127, 127, 127, -2]));
    for (at, reported) in [(4, "-1000000000"), (5, "NaN")] {
        let error = read(at, 1).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Malformed);
        assert!(error.message().contains(reported) && error.message().contains("byte"), "{error}");
    }
    let error = session.block_on(dataset.read(variable(&dataset, "/w"), &Selection::all(&[3]))).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Malformed);
}

#[test]
fn text_of_any_length_is_put_together_and_memory_of_the_caller_is_filled() {
    let mut makers = Makers::default();
    let strings = |texts: &[&str]| Values::String(texts.iter().map(|text| Some(*text)).collect());
    let tiles = vec![
        Tile { region: region(&[0, 0], &[2, 1]), source: TileSource::Constant(strings(&["left"])) },
        Tile { region: region(&[0, 1], &[1, 1]), source: TileSource::Constant(strings(&[""])) },
        Tile { region: region(&[1, 1], &[1, 1]), source: TileSource::Missing },
    ];
    makers.add(
        "whole",
        "v",
        Atomic::String.into(),
        &[2, 2],
        mosaic(&[2, 2], strings(&["fill"]), tiles.clone()),
    );
    let again = vec![Tile { region: region(&[0], &[4]), source: from(None, "/v", region(&[0, 0], &[2, 2])) }];
    makers.add("whole", "w", Atomic::String.into(), &[4], mosaic(&[4], strings(&["fill"]), again));
    makers.add_array("whole", "s", &Array::new(&[4], &[4]));
    let numbers =
        vec![Tile { region: region(&[0, 0], &[2, 2]), source: from(None, "/s", region(&[0], &[4])) }];
    makers.add_mosaic("whole", "n", &[2, 2], numbers);
    let (library, store) = makers.finish();
    let session = Session::builder().build().unwrap();
    for shared in stores(&store) {
        let dataset = open_in(&session, shared, &library, "whole");
        let read = |path: &str, selection| {
            session.block_on(dataset.read(variable(&dataset, path), &selection)).unwrap()
        };
        assert_eq!(read("/v", Selection::all(&[2, 2])), strings(&["left", "", "left", "fill"]));
        let reversed = Selection::new(vec![AxisSelection::Indices(vec![3, 1, 3])]);
        assert_eq!(read("/w", reversed), strings(&["fill", "", "fill"]));
        let mut out = [0u8; 8];
        let column = Selection::slab(&[0, 1], &[2, 1]);
        session.block_on(dataset.read_into(variable(&dataset, "/n"), &column, &mut out)).unwrap();
        assert_eq!(out, [1001i32.to_ne_bytes(), 1003i32.to_ne_bytes()].concat()[..]);
    }
}

/// An index that looks up chunks in a variable of another dataset.
#[derive(Debug)]
struct ByTable {
    table: VariableRef,
    data: ObjectId,
}

impl ChunkIndex for ByTable {
    fn locate(&self, view: &dyn View, cells: &CellList) -> Step<Vec<ChunkRef>> {
        join(cells.iter(), |cell| {
            let one = view.values(&self.table, &Selection::slab(cell, &[1]))?;
            let at = one.integer(0).unwrap_or(-1);
            Ok(ChunkRef::new(Location::Object(self.data.child(&at.to_string()))))
        })
    }
}

#[test]
fn steps_are_given_values_of_other_datasets() {
    let mut makers = Makers::default();
    makers.add_array("table", "t", &Array::new(&[4], &[2]));
    let array = Array::new(&[4], &[1]);
    let table = VariableRef { dataset: Some(store_root().child("table")), path: "/t".into() };
    let mut source = array.source(&store_root());
    let Layout::Grid { index, .. } = &mut source.layout else { panic!() };
    *index = Arc::new(ByTable { table, data: store_root() });
    makers.add("whole", "v", Atomic::Int.into(), &[4], source);
    makers.objects.push(("1001".to_owned(), Bytes::copy_from_slice(&41i32.to_le_bytes())));
    let (library, store) = makers.finish();
    let session = Session::builder().build().unwrap();
    for shared in stores(&store) {
        let dataset = open_in(&session, shared, &library, "whole");
        let values = session.block_on(dataset.read(variable(&dataset, "/v"), &Selection::all(&[4]))).unwrap();
        assert_eq!(values, Values::Int(vec![-7, 41, -7, -7]));
    }
}
