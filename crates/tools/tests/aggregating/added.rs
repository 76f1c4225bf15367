//! Adding files: the master equals that of all files at once.
use super::files::{Bench, CONVENTIONS, doubles, master, text};
use ncirrus::{Atomic, Attribute, Attributes, CreateOptions, Dataset, Kind, Values};
use ncirrus_tools::aggregate::{
    AggregateOptions, AggregationWriter, Convention, MasterOptions, NewVariable, PreparedAggregation,
    SplitOptions, WriterOptions, aggregate, master_options, split,
};
use std::ops::Range;

/// Kinds of masters that can hold a convention.
fn kinds(convention: Convention) -> Vec<Kind> {
    match convention {
        Convention::Cf113 => vec![Kind::Nc3, Kind::Nc4, Kind::NcZarr],
        Convention::Cfa06 => vec![Kind::Nc4],
        Convention::Cfa05 => vec![Kind::NcZarr],
        Convention::Cfa04 => vec![Kind::Nc3, Kind::Nc4],
    }
}

/// A master as text: definitions, values, and the description of its fragments.
fn dump(bench: &Bench, url: &str) -> String {
    let mut text = Vec::new();
    let options = ncirrus_tools::cdl::PrintOptions::new().name("m");
    ncirrus_tools::dump(&bench.open_raw(url), &mut text, &options).unwrap();
    String::from_utf8(text).unwrap()
}

fn add(bench: &Bench, target: &str, files: &[String], options: &AggregateOptions<'_>) {
    let prepared = PreparedAggregation::adding(target, files, options, &bench.session).unwrap();
    let like = master_options(target, &bench.session).unwrap().overwrite(true);
    prepared.write(target, &like, &bench.session).unwrap();
}

/// For every initial part of the files, adding the rest, at once and one by one, gives the same as aggregating all of
/// them.
fn check(bench: &Bench, files: &[String], options: &AggregateOptions<'_>, made: &MasterOptions) {
    let case = format!("{} {:?}", made.convention.name(), made.kind.unwrap());
    let whole = bench.path("whole/m.nca");
    let made = made.clone().overwrite(true);
    aggregate(&whole, files, options, &made, &bench.session).unwrap();
    let want = dump(bench, &whole);
    for first in 1..files.len() {
        let target = bench.path("added/m.nca");
        let (there, rest) = files.split_at(first);
        aggregate(&target, there, options, &made, &bench.session).unwrap();
        add(bench, &target, rest, options);
        assert_eq!(dump(bench, &target), want, "{case}: {first} and the rest");
        if first > 1 {
            continue;
        }
        aggregate(&target, there, options, &made, &bench.session).unwrap();
        for file in rest {
            add(bench, &target, std::slice::from_ref(file), options);
        }
        assert_eq!(dump(bench, &target), want, "{case}: {first} and the rest one by one");
    }
    if made.kind == Some(Kind::NcZarr) {
        std::fs::remove_dir_all(bench.path("whole/m.nca")).unwrap();
        std::fs::remove_dir_all(bench.path("added/m.nca")).unwrap();
    }
}

fn check_all(bench: &Bench, files: &[String], options: &AggregateOptions<'_>) {
    for convention in CONVENTIONS {
        for kind in kinds(convention) {
            check(bench, files, options, &master(convention, kind));
        }
    }
}

/// Days of a field that differ in units of time, attributes, conventions and formats.
fn unlike(bench: &Bench) -> Vec<String> {
    let moved = |name: &str, days: Range<u32>, by: f64, conventions: &str| {
        bench.changed_field(name, days.clone(), |dataset| {
            let units = format!("hours since 2000-01-{:02}", 1 + days.start);
            text(&dataset.variable("time").unwrap(), "units", &units);
            let hours = |add: f64| {
                days.clone().map(move |day| f64::from(day - days.start) * 24.0 + add).collect::<Vec<_>>()
            };
            dataset.variable("time").unwrap().write_all(&hours(by)).unwrap();
            let bounds: Vec<f64> = hours(by).iter().flat_map(|hour| [hour - 12.0, hour + 12.0]).collect();
            dataset.variable("time_bnds").unwrap().write_all(&bounds).unwrap();
            dataset.root().set_attribute(Attribute::text("Conventions", conventions)).unwrap();
            text(&dataset.variable("tas").unwrap(), "long_name", name);
        })
    };
    let last = bench.path("in/d.nc");
    let create = CreateOptions::new().kind(Kind::Nc3);
    let options = ncirrus_tools::CopyOptions::new().create(create);
    let d = moved("in/d4.nc", 9..11, 0.0, "CF-1.8 ACDD-1.3");
    ncirrus_tools::copy(&bench.open(&d), &last, &options, &bench.session).unwrap();
    vec![
        bench.changed_field("in/a.nc", 0..3, |dataset| {
            dataset.root().set_attribute(Attribute::text("Conventions", "CF-1.7, ACDD-1.3")).unwrap();
        }),
        moved("in/b.nc", 3..7, 0.0, "CF-1.7 ACDD-1.3"),
        moved("in/c.nc", 7..9, 3.0, "CF-1.7 ACDD-1.3"),
        last,
    ]
}

#[test]
fn any_split_of_files_along_an_axis_gives_the_same_master() {
    let bench = Bench::new();
    check_all(&bench, &unlike(&bench), &AggregateOptions::default());
}

#[test]
fn files_of_any_order_are_sorted_among_those_that_are_there() {
    let bench = Bench::new();
    let mut files = unlike(&bench);
    files.rotate_left(2);
    let options = AggregateOptions::new().sort(true);
    check_all(&bench, &files, &options);
}

#[test]
fn tiles_are_added_to_a_grid() {
    let bench = Bench::new();
    let mut files = Vec::new();
    for (name, days) in [("a", 0..3), ("b", 3..5)] {
        for row in [2, 0, 1] {
            files.push(super::joined::band(&bench, &format!("{name}{row}.nc4"), days.clone(), row));
        }
    }
    let options = AggregateOptions::new().axes(vec!["time".into(), "lat".into()]);
    for convention in CONVENTIONS {
        for kind in kinds(convention) {
            // A convention without gaps needs whole rows.
            if convention.has_gaps() {
                check(&bench, &files, &options, &master(convention, kind));
            }
        }
    }
    let target = bench.path("rows.nca");
    aggregate(&target, &files[..3], &options, &MasterOptions::default(), &bench.session).unwrap();
    add(&bench, &target, &files[3..], &options);
    assert_eq!(bench.numbers(&target, "tas"), doubles(&(0..5)));
}

#[test]
fn members_are_added_along_a_new_axis() {
    let bench = Bench::new();
    let files = [3, 1, 4, 2].map(|number| bench.member(number));
    let options = AggregateOptions::new().new_axis("member".to_owned()).sort(true);
    check_all(&bench, &files, &options);
    // The axis is given by the caller, since the files lack it.
    let target = bench.path("m.nca");
    aggregate(&target, &files[..2], &options, &MasterOptions::default(), &bench.session).unwrap();
    add(&bench, &target, &files[2..], &AggregateOptions::new().sort(true));
    assert_eq!(bench.numbers(&target, "member"), [1.0, 2.0, 3.0, 4.0]);
    assert_eq!(bench.numbers(&target, "tas")[24..26], [200.0, 201.0]);
}

#[test]
fn packing_of_any_file_is_as_when_all_are_given_at_once() {
    for offsets in [[0.0, 0.0, 0.0], [0.0, 8.0, 0.0], [0.0, 0.0, 8.0]] {
        let bench = Bench::new();
        let files: Vec<String> = (0u32..3)
            .zip(offsets)
            .map(|(at, offset)| {
                super::joined::packed(&bench, &format!("{at}.nc"), at * 2..at * 2 + 2, offset)
            })
            .collect();
        check_all(&bench, &files, &AggregateOptions::default());
    }
}

#[test]
fn names_stay_as_they_are_written() {
    let bench = Bench::new();
    let files = unlike(&bench);
    let substitute =
        ncirrus_tools::aggregate::Naming::Substitute { base: "IN".into(), url: bench.path("in") };
    for (convention, naming, compat) in [
        (Convention::Cfa06, substitute, false),
        (Convention::Cf113, ncirrus_tools::aggregate::Naming::Absolute, false),
        (Convention::Cfa04, ncirrus_tools::aggregate::Naming::Absolute, false),
    ] {
        let made = master(convention, Kind::Nc4).naming(naming).compat(compat);
        check(&bench, &files, &AggregateOptions::default(), &made);
    }
}

#[test]
fn what_does_not_fit_is_refused_as_at_once_and_the_master_stays() {
    let bench = Bench::new();
    let target = bench.path("m.nca");
    let files = [bench.field("b.nc", 3..6), bench.field("c.nc", 8..9)];
    aggregate(&target, &files, &AggregateOptions::default(), &MasterOptions::default(), &bench.session)
        .unwrap();
    let before = dump(&bench, &target);
    let odd = bench.changed_field("odd.nc", 9..10, |dataset| {
        dataset.variable("height").unwrap().write_all(&[10.0]).unwrap();
    });
    for (file, sort, reported) in [
        (bench.field("a.nc", 0..3), false, "a.nc lies before"),
        (bench.field("x.nc", 5..8), true, "overlaps"),
        (odd, false, "/height does not have the axis and has different values"),
    ] {
        let options = AggregateOptions::new().sort(sort);
        let prepared = PreparedAggregation::adding(&target, &[file], &options, &bench.session).unwrap();
        assert!(
            prepared.report().problems.iter().any(|problem| problem.contains(reported)),
            "{:?}",
            prepared.report()
        );
        let overwrite = MasterOptions::new().overwrite(true);
        prepared.write(&target, &overwrite, &bench.session).unwrap_err();
        assert_eq!(dump(&bench, &target), before);
    }
    let options = AggregateOptions::new().sort(true);
    let far = bench.field("far.nc", 40..41);
    let prepared = PreparedAggregation::adding(&target, &[far], &options, &bench.session).unwrap();
    assert!(prepared.report().notes.iter().any(|note| note.contains("gap")), "{:?}", prepared.report());
    // Files that are already part of the master are reported and skipped.
    let prepared = PreparedAggregation::adding(&target, &files[1..], &options, &bench.session).unwrap();
    assert!(
        prepared.report().notes.iter().any(|note| note.contains("already in the aggregation")),
        "{:?}",
        prepared.report()
    );
    prepared.write(&target, &MasterOptions::default(), &bench.session).unwrap();
    assert_eq!(dump(&bench, &target), before);
}

#[test]
fn files_are_added_to_what_was_split() {
    for convention in CONVENTIONS {
        let bench = Bench::new();
        let target = bench.path("m.nca");
        let map = |dataset: &Dataset| {
            let map = dataset.root().add_variable("map", Atomic::Float, &["lat", "lon"]).unwrap();
            map.write_all(&[1.0f32; 12]).unwrap();
            let mean = dataset.root().add_variable("mean", Atomic::Float, &["time"]).unwrap();
            let len = dataset.variable("time").unwrap().shape()[0];
            let len = usize::try_from(len).unwrap();
            mean.write_all(&vec![7.0f32; len]).unwrap();
        };
        let source = bench.changed_field("a.nc", 0..5, map);
        let shape = SplitOptions::new().shape([("time".to_owned(), 2)].into());
        let made = master(convention, Kind::Nc4);
        split(&bench.open(&source), &target, &shape, &made, &bench.session).unwrap();
        let later = bench.changed_field("later.nc", 5..9, map);
        add(&bench, &target, &[later], &AggregateOptions::default());
        assert_eq!(bench.numbers(&target, "tas"), doubles(&(0..9)), "{convention:?}");
        assert_eq!(bench.numbers(&target, "map"), [1.0; 12], "{convention:?}");
        assert_eq!(bench.numbers(&target, "mean"), [7.0; 9], "{convention:?}");
        let dataset = bench.open(&target);
        let tas = dataset.variable("tas").unwrap();
        let fragments = tas.fragments(&ncirrus::Selection::all(&tas.shape())).unwrap();
        assert_eq!(fragments.len(), 4, "{convention:?}");
        // If fragments are also cut along latitudes, whole rows do not fit.
        let tiles = shape.shape([("lat".to_owned(), 2)].into()).fragments(bench.path("t"));
        let other = bench.path("t.nca");
        split(&bench.open(&source), &other, &tiles, &made, &bench.session).unwrap();
        let options = AggregateOptions::new().axes(vec!["time".into()]);
        let file = [bench.changed_field("last.nc", 5..6, map)];
        let prepared = PreparedAggregation::adding(&other, &file, &options, &bench.session).unwrap();
        let like = made.overwrite(true);
        let error = prepared.write(&other, &like, &bench.session).unwrap_err().to_string();
        assert!(error.contains("last.nc") && error.contains("fragments of"), "{error}");
    }
}

#[test]
fn files_are_added_to_what_was_written_part_by_part() {
    for convention in CONVENTIONS {
        let bench = Bench::new();
        let target = bench.path("m.nca");
        let options = WriterOptions::new().master(master(convention, Kind::Nc4));
        let writer = AggregationWriter::create(&target, &options, &bench.session).unwrap();
        let root = writer.dataset().root();
        root.add_dimension("time", ncirrus::DimensionLen::Unlimited(0)).unwrap();
        for (name, len) in [("lat", 3), ("lon", 4)] {
            root.add_dimension(name, ncirrus::DimensionLen::Fixed(len)).unwrap();
        }
        let time = root.add_variable("time", Atomic::Double, &["time"]).unwrap();
        text(&time, "units", "days since 2000-01-01");
        let slab = ncirrus::Selection::slab;
        time.write(&slab(&[0], &[4]), &[0.0, 1.0, 2.0, 3.0]).unwrap();
        let new = NewVariable {
            path: "tas".into(),
            ty: Atomic::Float.into(),
            dimensions: ["time", "lat", "lon"].map(str::to_owned).to_vec(),
            blocks: vec![2, 3, 4],
            attributes: [Attribute::text("units", "K"), Attribute::text("standard_name", "air_temperature")]
                .into_iter()
                .collect::<Attributes>(),
            filters: Vec::new(),
        };
        writer.add_variable(new).unwrap();
        let values = super::files::values(&(0..2));
        writer.write("tas", &[0, 0, 0], &[2, 3, 4], &Values::Float(values)).unwrap();
        let gap = convention.has_gaps();
        if !gap {
            writer.write("tas", &[2, 0, 0], &[2, 3, 4], &Values::Float(vec![0.0; 24])).unwrap();
        }
        writer.close().unwrap();
        let file = |name: &str, days: Range<u32>| {
            bench.changed_field(name, days, |dataset| {
                let tas = dataset.variable("tas").unwrap();
                for name in ["coordinates", "grid_mapping"] {
                    tas.remove_attribute(name).unwrap();
                }
            })
        };
        // A file finds its place where nothing was written.
        let mut files = vec![file("late.nc", 4..6)];
        files.extend(gap.then(|| file("between.nc", 2..4)));
        add(&bench, &target, &files, &AggregateOptions::default());
        let tas = bench.numbers(&target, "tas");
        assert_eq!((tas.len(), tas[0], tas[23], tas[71]), (72, 0.0, 23.0, 71.0), "{convention:?}");
        assert_eq!(tas[24], if gap { 24.0 } else { 0.0 }, "{convention:?}");
    }
}
