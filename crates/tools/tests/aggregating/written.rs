//! Aggregations that are written part by part.
use super::files::{Bench, CONVENTIONS, master};
use super::killed::session_with;
use ncirrus::store::{MemoryStore, StoreOptions};
use ncirrus::{
    Atomic, Attribute, Attributes, AxisSelection, DimensionLen, ErrorKind, Kind, Selection, Values,
};
use ncirrus_tools::aggregate::{AggregationWriter, Convention, NewVariable, WriterOptions};

fn options(convention: Convention, kind: Kind) -> WriterOptions {
    WriterOptions::new().master(master(convention, kind))
}

/// A writer with dimensions `time` (which grows) and `x` (of length 6), and a variable in blocks of 4 by 3.
fn begun(bench: &Bench, target: &str, options: &WriterOptions) -> AggregationWriter {
    let writer = AggregationWriter::create(target, options, &bench.session).unwrap();
    let root = writer.dataset().root();
    root.add_dimension("time", DimensionLen::Unlimited(0)).unwrap();
    root.add_dimension("x", DimensionLen::Fixed(6)).unwrap();
    let time = root.add_variable("time", Atomic::Double, &["time"]).unwrap();
    time.set_attribute(Attribute::text("units", "days since 2000-01-01")).unwrap();
    root.add_variable("x", Atomic::Double, &["x"])
        .unwrap()
        .write_all(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0])
        .unwrap();
    let mut attributes = Attributes::new();
    attributes.put(Attribute::text("units", "K"));
    attributes.put(Attribute::atomic("_FillValue", Values::Float(vec![-9.0])));
    let new = NewVariable {
        path: "tas".into(),
        ty: Atomic::Float.into(),
        dimensions: vec!["time".into(), "x".into()],
        blocks: vec![4, 3],
        attributes,
        filters: Vec::new(),
    };
    writer.add_variable(new).unwrap();
    writer
}

#[test]
fn fragments_appear_when_they_are_written_and_the_rest_is_missing() {
    for convention in CONVENTIONS {
        for kind in [Kind::Nc3, Kind::Nc4] {
            if convention == Convention::Cfa05 && kind.is_classic() {
                continue;
            }
            let case = format!("{convention:?} {kind:?}");
            let bench = Bench::new();
            let target = bench.path("m.nca");
            let writer = begun(&bench, &target, &options(convention, kind));
            let first = bench.path("m/m.tas.0.0.nc");
            assert!(bench.is_absent(&first), "{case}");
            writer.write("tas", &[0, 1], &[2, 1], &Values::Float(vec![1.0, 2.0])).unwrap();
            assert!(!bench.is_absent(&first) && bench.is_absent(&target), "{case}");
            // Two fragments at once, past the end.
            writer.write("/tas", &[5, 2], &[1, 2], &Values::Float(vec![3.0, 4.0])).unwrap();
            let time = writer.dataset().variable("time").unwrap();
            time.write(&Selection::slab(&[0], &[6]), &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]).unwrap();
            writer.close().unwrap_or_else(|error| panic!("{case}: {error}"));
            assert!(bench.is_absent(&bench.path("m/m.tas.0.1.nc")), "{case}");
            let mut want = vec![-9.0; 36];
            (want[1], want[7], want[32], want[33]) = (1.0, 2.0, 3.0, 4.0);
            assert_eq!(bench.numbers(&target, "tas"), want, "{case}");
            assert_eq!(bench.open(&target).variable("tas").unwrap().shape(), [6, 6], "{case}");
        }
    }
}

#[test]
fn an_aggregation_is_opened_changed_and_grows() {
    for convention in CONVENTIONS {
        let bench = Bench::new();
        let target = bench.path("m.nca");
        let options = options(convention, Kind::Nc4);
        let writer = begun(&bench, &target, &options);
        writer.write("tas", &[0, 0], &[4, 6], &Values::Float(vec![1.0; 24])).unwrap();
        writer.close().unwrap();
        let writer = AggregationWriter::open(&target, &options, &bench.session).unwrap();
        writer.write("tas", &[3, 2], &[2, 2], &Values::Float(vec![2.0; 4])).unwrap();
        writer.close().unwrap();
        let mut want = vec![1.0; 24];
        (want[20], want[21]) = (2.0, 2.0);
        want.extend([-9.0, -9.0, 2.0, 2.0, -9.0, -9.0]);
        assert_eq!(bench.numbers(&target, "tas"), want, "{convention:?}");
        assert_eq!(bench.numbers(&target, "x").len(), 6, "{convention:?}");
    }
}

#[test]
fn fragments_on_object_stores_are_changed_whole_on_request() {
    for rewrite in [false, true] {
        let mut bench = Bench::new();
        let memory = MemoryStore::new("memory://written");
        let stores = StoreOptions { rewrite, ..StoreOptions::default() };
        bench.session = session_with(&memory, usize::MAX, stores);
        let target = "far://store/m.nca";
        let writer = begun(&bench, target, &options(Convention::Cf113, Kind::Nc4));
        writer.write("tas", &[0, 0], &[2, 6], &Values::Float(vec![1.0; 12])).unwrap();
        let again = writer.write("tas", &[1, 0], &[1, 1], &Values::Float(vec![2.0]));
        if !rewrite {
            assert_eq!(again.unwrap_err().kind(), ErrorKind::Unsupported);
            continue;
        }
        again.unwrap();
        writer.close().unwrap();
        let mut want = vec![1.0; 12];
        want[6] = 2.0;
        assert_eq!(bench.numbers(target, "tas"), want);
    }
}

#[test]
fn boxes_that_do_not_fit_are_refused() {
    let bench = Bench::new();
    let writer = begun(&bench, &bench.path("m.nca"), &options(Convention::Cf113, Kind::Nc4));
    let one = Values::Float(vec![1.0]);
    assert!(writer.write("tas", &[0, 6], &[1, 1], &one).is_err());
    assert!(writer.write("tas", &[0, 0], &[1, 2], &one).is_err());
    assert!(writer.write("tas", &[0], &[1], &one).is_err());
    assert!(writer.write("other", &[0, 0], &[1, 1], &one).is_err());
    assert!(bench.is_absent(&bench.path("m")));
}

#[test]
fn strides_and_lists_are_written_and_what_was_written_is_read() {
    let bench = Bench::new();
    let target = bench.path("m.nca");
    let writer = begun(&bench, &target, &options(Convention::Cfa05, Kind::Nc4));
    let every_fifth = AxisSelection::Slice { start: 0, count: 2, stride: 5 };
    let selection = Selection::new(vec![every_fifth, AxisSelection::Indices(vec![5, 0])]);
    writer.write_selection("tas", &selection, &Values::Float(vec![1.0, 2.0, 3.0, 4.0])).unwrap();
    let mut want = vec![-9.0; 36];
    (want[5], want[0], want[35], want[30]) = (1.0, 2.0, 3.0, 4.0);
    let numbers =
        |dataset: &ncirrus::Dataset| dataset.variable("tas").unwrap().read::<f64>().unwrap().to_vec();
    assert_eq!(numbers(&writer.view().unwrap()), want);
    assert_eq!(writer.shape("tas").unwrap(), [6, 6]);
    // What is published goes on with the same division.
    let writer = writer.reopen().unwrap();
    assert_eq!(bench.numbers(&target, "tas"), want);
    writer.write("tas", &[8, 0], &[1, 1], &Values::Float(vec![5.0])).unwrap();
    assert!(!bench.is_absent(&bench.path("m/m.tas.2.0.nc")));
    want.extend([-9.0; 18]);
    want[48] = 5.0;
    assert_eq!(numbers(&writer.view().unwrap()), want);
    writer.close().unwrap();
    assert_eq!(bench.numbers(&target, "tas"), want);
}

#[test]
fn what_is_written_to_a_place_without_a_fragment_is_not_for_the_other_places() {
    for convention in CONVENTIONS {
        let bench = Bench::new();
        let target = bench.path("m.nca");
        let options = options(convention, Kind::Nc4);
        let writer = begun(&bench, &target, &options);
        writer.write("tas", &[15, 0], &[1, 1], &Values::Float(vec![1.0])).unwrap();
        writer.close().unwrap();
        let writer = AggregationWriter::open(&target, &options, &bench.session).unwrap();
        writer.write("tas", &[4, 0], &[1, 1], &Values::Float(vec![2.0])).unwrap();
        writer.close().unwrap();
        let mut want = vec![-9.0; 96];
        (want[90], want[24]) = (1.0, 2.0);
        assert_eq!(bench.numbers(&target, "tas"), want, "{convention:?}");
        assert!(!bench.is_absent(&bench.path("m/m.tas.1.0.nc")), "{convention:?}");
    }
}
