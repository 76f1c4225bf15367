//! Masters that are recreated from what their fragments record.
use super::files::{Bench, CONVENTIONS, master};
use ncirrus::{Atomic, Attribute, DimensionLen, Kind, Values};
use ncirrus_tools::aggregate::{
    AggregationWriter, NewVariable, SplitOptions, WriterOptions, rebuild, recorded_options, split,
};

/// Loses the master, and recreates it with the recorded options: it has the version, the unlimited dimension and the scalars.
fn assert_rebuilt(bench: &Bench, target: &str, kind: Kind, case: &str) {
    let before = bench.open(target).root().attribute("Conventions").unwrap();
    std::fs::remove_file(target).unwrap();
    let like = recorded_options(target, &bench.path("m"), &bench.session).unwrap();
    rebuild(target, &bench.path("m"), &like.kind(kind), &bench.session).unwrap();
    let rebuilt = bench.open(target);
    assert_eq!(rebuilt.root().attribute("Conventions").unwrap(), before, "{case}");
    assert!(rebuilt.root().attribute("ncirrus_aggregation").unwrap().is_none(), "{case}");
    let len = rebuilt.root().dimensions().into_iter().find(|it| it.name == "time").unwrap().len;
    assert_eq!(len, DimensionLen::Unlimited(5), "{case}");
    for (name, value) in [("run", 7.0), ("level", 2.5)] {
        assert_eq!(bench.numbers(target, name), [value], "{case}");
        assert_eq!(rebuilt.variable(name).unwrap().shape(), [0; 0], "{case}");
    }
}

fn cases() -> impl Iterator<Item = (ncirrus_tools::aggregate::Convention, Kind)> {
    let kinds = |convention| [Kind::Nc3, Kind::Nc4].map(|kind| (convention, kind));
    let has_form = |(convention, kind): &(ncirrus_tools::aggregate::Convention, Kind)| {
        convention.name() != "cfa-0.5" || !kind.is_classic()
    };
    CONVENTIONS.into_iter().flat_map(kinds).filter(has_form)
}

#[test]
fn a_lost_master_of_a_split_has_its_scalars_unlimited_dimensions_and_version_again() {
    for (convention, kind) in cases() {
        let case = format!("{convention:?} {kind:?}");
        let (bench, blocks) = (Bench::new(), [("time".to_owned(), 2), ("lat".to_owned(), 2)]);
        let source = bench.changed_field("a.nc", 0..5, |dataset| {
            // No attribute names them.
            dataset.root().add_variable("run", Atomic::Int, &[]).unwrap().write_all(&[7]).unwrap();
            dataset.root().add_variable("level", Atomic::Double, &[]).unwrap().write_all(&[2.5]).unwrap();
        });
        let target = bench.path("m.nca");
        let options = SplitOptions::new().shape(blocks.into());
        split(&bench.open(&source), &target, &options, &master(convention, kind), &bench.session).unwrap();
        assert_rebuilt(&bench, &target, kind, &case);
    }
}

#[test]
fn a_lost_master_of_a_writer_has_its_scalars_unlimited_dimensions_and_version_again() {
    for (convention, kind) in cases() {
        let case = format!("{convention:?} {kind:?}");
        let (bench, options) = (Bench::new(), WriterOptions::new().master(master(convention, kind)));
        let target = bench.path("m.nca");
        let writer = AggregationWriter::create(&target, &options, &bench.session).unwrap();
        let root = writer.dataset().root();
        root.add_dimension("time", DimensionLen::Unlimited(0)).unwrap();
        root.add_variable("run", Atomic::Int, &[]).unwrap().write_all(&[7]).unwrap();
        root.add_variable("level", Atomic::Double, &[]).unwrap().write_all(&[2.5]).unwrap();
        let new = NewVariable {
            path: "tas".into(),
            ty: Atomic::Float.into(),
            dimensions: vec!["time".into()],
            blocks: vec![5],
            attributes: [Attribute::text("units", "K")].into_iter().collect(),
            filters: Vec::new(),
        };
        writer.add_variable(new).unwrap();
        writer.write("tas", &[0], &[5], &Values::Float(vec![1.0; 5])).unwrap();
        writer.close().unwrap();
        assert_rebuilt(&bench, &target, kind, &case);
    }
}

#[test]
fn scalars_that_were_set_after_the_first_fragment_are_those_of_later_ones() {
    for (first, later, notes) in [(None, 7, 0), (Some(7), 7, 0), (Some(5), 7, 1)] {
        let bench = Bench::new();
        let options = WriterOptions::new().master(master(CONVENTIONS[0], Kind::Nc4));
        let target = bench.path("m.nca");
        let writer = AggregationWriter::create(&target, &options, &bench.session).unwrap();
        let root = writer.dataset().root();
        root.add_dimension("x", DimensionLen::Fixed(4)).unwrap();
        let run = root.add_variable("run", Atomic::Int, &[]).unwrap();
        if let Some(value) = first {
            run.write_all(&[value]).unwrap();
        }
        let new = NewVariable {
            path: "tas".into(),
            ty: Atomic::Float.into(),
            dimensions: vec!["x".into()],
            blocks: vec![2],
            attributes: ncirrus::Attributes::default(),
            filters: Vec::new(),
        };
        writer.add_variable(new).unwrap();
        writer.write("tas", &[0], &[2], &Values::Float(vec![1.0; 2])).unwrap();
        run.write_all(&[later]).unwrap();
        writer.write("tas", &[2], &[2], &Values::Float(vec![2.0; 2])).unwrap();
        writer.close().unwrap();
        std::fs::remove_file(&target).unwrap();
        let like = recorded_options(&target, &bench.path("m"), &bench.session).unwrap();
        let report = rebuild(&target, &bench.path("m"), &like, &bench.session).unwrap();
        assert_eq!(bench.numbers(&target, "run"), [f64::from(later)], "{first:?}");
        assert_eq!(report.notes.len(), notes, "{:?}", report.notes);
    }
}

#[test]
fn fragments_of_the_classic_model_leave_out_scalars_of_other_types() {
    for (kind, has_long) in [(Kind::Nc4Classic, false), (Kind::Nc5, true)] {
        let bench = Bench::new();
        let source = bench.changed_field("a.nc", 0..4, |dataset| {
            dataset.root().add_variable("long", Atomic::Int64, &[]).unwrap().write_all(&[7_i64]).unwrap();
            dataset.root().add_variable("run", Atomic::Int, &[]).unwrap().write_all(&[7]).unwrap();
        });
        let target = bench.path("m.nca");
        let options = SplitOptions::new().shape([("time".to_owned(), 2)].into()).fragment_kind(kind);
        let masters = master(CONVENTIONS[0], Kind::Nc4);
        split(&bench.open(&source), &target, &options, &masters, &bench.session).unwrap();
        let fragment = bench.open(&bench.path("m/m.tas.0.0.0.nc"));
        assert!(fragment.variable("run").is_ok(), "{kind:?}");
        assert_eq!(fragment.variable("long").is_ok(), has_long, "{kind:?}");
    }
}
