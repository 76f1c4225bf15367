//! Aggregations of files.
use super::files::{Bench, CONVENTIONS, KINDS, doubles, master, text};
use ncirrus::{
    Atomic, Attribute, CreateOptions, Dataset, DimensionLen, ErrorKind, Kind, Model, Selection, TypeRef,
    Values, Variable,
};
use ncirrus_model::{EnumMember, UserKind, UserType};
use ncirrus_tools::aggregate::{
    AggregateOptions, Convention, MasterOptions, Naming, PreparedAggregation, aggregate, rebuild,
};

fn three(bench: &Bench) -> Vec<String> {
    vec![bench.field("in/a.nc", 0..3), bench.field("in/b.nc", 3..7), bench.field("in/c.nc", 7..9)]
}

fn join(bench: &Bench, files: &[String], options: &AggregateOptions<'_>, name: &str) -> String {
    let target = bench.path(name);
    aggregate(&target, files, options, &MasterOptions::default(), &bench.session).unwrap();
    target
}

#[test]
fn every_convention_and_kind_of_master_reads_as_the_files_together() {
    let bench = Bench::new();
    let files = three(&bench);
    for convention in CONVENTIONS {
        for kind in KINDS {
            let case = format!("{} {kind:?}", convention.name());
            let target = bench.path(&format!("{}-{kind:?}.nca", convention.name()));
            let options = AggregateOptions::default();
            let made = aggregate(&target, &files, &options, &master(convention, kind), &bench.session);
            if convention == Convention::Cfa05 && kind.is_classic() {
                assert_eq!(made.unwrap_err().kind(), ErrorKind::Unsupported, "{case}");
                assert!(bench.is_absent(&target));
                continue;
            }
            let report = made.unwrap_or_else(|error| panic!("{case}: {error}"));
            assert_eq!(report.axes, [("time".to_owned(), 3, 9)], "{case}");
            assert_eq!(report.aggregated, ["/tas"], "{case}");
            let dataset = bench.open(&target);
            let tas = dataset.variable("tas").unwrap();
            assert_eq!(tas.shape(), [9, 3, 4], "{case}");
            assert_eq!(tas.read::<f64>().unwrap(), doubles(&(0..9)), "{case}");
            let part = tas.read_selection::<f64>(&Selection::slab(&[2, 0, 0], &[2, 3, 4])).unwrap();
            assert_eq!(part, doubles(&(2..4)), "{case}");
            let days: Vec<f64> = (0..9).map(f64::from).collect();
            assert_eq!(bench.numbers(&target, "time"), days, "{case}");
            assert_eq!(bench.numbers(&target, "time_bnds")[..3], [-0.5, 0.5, 0.5], "{case}");
            assert_eq!(bench.numbers(&target, "lat"), [-30.0, 0.0, 30.0], "{case}");
            assert_eq!(bench.numbers(&target, "height"), [2.0], "{case}");
            let global = |name: &str| dataset.attribute(name).unwrap().and_then(|text| text.as_text());
            assert_eq!(global("institution").as_deref(), Some("here"), "{case}");
            assert_eq!(global("history"), None, "{case}: it is another in each file");
        }
    }
}

#[test]
fn relative_names_move_with_the_folder() {
    let bench = Bench::new();
    let files = three(&bench);
    join(&bench, &files, &AggregateOptions::default(), "in/m.nca");
    let moved = bench.path("elsewhere");
    std::fs::rename(bench.path("in"), &moved).unwrap();
    assert_eq!(bench.numbers(&format!("{moved}/m.nca"), "tas"), doubles(&(0..9)));
}

#[test]
fn substitutions_are_recorded_and_followed() {
    let bench = Bench::new();
    let files = three(&bench);
    let base = format!("{}/", bench.path("in"));
    let naming = Naming::Substitute { base: "base".into(), url: base };
    let options = master(Convention::Cfa06, Kind::Nc4).naming(naming);
    let target = bench.path("m.nca");
    aggregate(&target, &files, &AggregateOptions::default(), &options, &bench.session).unwrap();
    assert_eq!(bench.numbers(&target, "tas"), doubles(&(0..9)));
    let names = crate::support::values(&bench.open_raw(&target).variable("cfa_file").unwrap()).unwrap();
    let Values::String(names) = names else { panic!("names are strings") };
    assert!(names.get(0).unwrap().starts_with(b"${base}"), "{:?}", names.get(0));
}

#[test]
fn reference_dates_are_brought_to_one_with_their_bounds() {
    let bench = Bench::new();
    let later = bench.changed_field("in/b.nc", 0..4, |dataset| {
        text(&dataset.variable("time").unwrap(), "units", "hours since 2000-01-04 00:00");
        let [times, edges] = [(0..4).map(|day| f64::from(day) * 24.0).collect::<Vec<_>>(), {
            (0..4).flat_map(|day| [f64::from(day) * 24.0 - 12.0, f64::from(day) * 24.0 + 12.0]).collect()
        }];
        dataset.variable("time").unwrap().write_all(&times).unwrap();
        dataset.variable("time_bnds").unwrap().write_all(&edges).unwrap();
    });
    let files = [bench.field("in/a.nc", 0..3), later];
    let target = join(&bench, &files, &AggregateOptions::default(), "m.nca");
    assert_eq!(bench.numbers(&target, "time"), (0..7).map(f64::from).collect::<Vec<_>>());
    let edges: Vec<f64> = (0..7).flat_map(|day| [f64::from(day) - 0.5, f64::from(day) + 0.5]).collect();
    assert_eq!(bench.numbers(&target, "time_bnds"), edges);
}

#[test]
fn what_does_not_fit_is_named_before_anything_is_written() {
    type Change = fn(&Dataset);
    let cases: [(Change, &str); 7] = [
        (
            |dataset| text(&dataset.variable("tas").unwrap(), "units", "m"),
            "units \"m\" cannot be converted to \"K\"",
        ),
        (|dataset| text(&dataset.variable("time").unwrap(), "calendar", "noleap"), "of calendar noleap"),
        (
            |dataset| text(&dataset.variable("tas").unwrap(), "standard_name", "other"),
            "standard_name differs",
        ),
        (
            |dataset| dataset.variable("lat").unwrap().write_all(&[-30.0, 1.0, 30.0]).unwrap(),
            "/lat does not have the axis",
        ),
        (|dataset| dataset.variable("height").unwrap().rename("other").unwrap(), "no variable /height"),
        (|dataset| dataset.variable("time").unwrap().write_all(&[2.0, 3.0, 4.0, 5.0]).unwrap(), "overlaps"),
        (
            |dataset| dataset.variable("time").unwrap().write_all(&[-9.0, -8.0, -7.0, -6.0]).unwrap(),
            "lies before",
        ),
    ];
    for (number, (change, reason)) in cases.into_iter().enumerate() {
        let bench = Bench::new();
        let files = [bench.field("a.nc", 0..3), bench.changed_field("odd.nc", 3..7, change)];
        let target = bench.path("m.nca");
        let made = aggregate(
            &target,
            &files,
            &AggregateOptions::default(),
            &MasterOptions::default(),
            &bench.session,
        );
        let error = made.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid, "{number}: {error}");
        assert!(
            error.to_string().contains("odd.nc") && error.to_string().contains(reason),
            "{reason}: {error}"
        );
        assert!(bench.is_absent(&target));
    }
}

#[test]
fn files_are_sorted_by_their_coordinates_and_gaps_are_reported() {
    let bench = Bench::new();
    let files = [bench.field("b.nc", 10..12), bench.field("a.nc", 0..3)];
    let options = AggregateOptions::new().sort(true);
    let prepared = PreparedAggregation::of(&files, &options, &bench.session).unwrap();
    assert!(
        prepared.report().notes.iter().any(|note| note.contains("gap") && note.contains("b.nc")),
        "{:?}",
        prepared.report()
    );
    let target = bench.path("m.nca");
    prepared.write(&target, &MasterOptions::default(), &bench.session).unwrap();
    assert_eq!(bench.numbers(&target, "time"), [0.0, 1.0, 2.0, 10.0, 11.0]);
}

/// A file with one latitude of the field.
pub(super) fn band(bench: &Bench, name: &str, days: std::ops::Range<u32>, row: u8) -> String {
    let whole = bench.field("whole.nc", days);
    let target = bench.path(name);
    let select = ncirrus::VariableSelect::parse(&format!("tas[:,{row},:]")).unwrap();
    let options = ncirrus_tools::CopyOptions::new().select(vec![select]);
    ncirrus_tools::copy(&bench.open(&whole), &target, &options, &bench.session).unwrap();
    std::fs::remove_file(whole).unwrap();
    target
}

#[test]
fn files_are_tiles_of_a_grid() {
    let bench = Bench::new();
    let mut files = Vec::new();
    for (name, days) in [("a", 0..3), ("b", 3..5)] {
        files.extend([2, 0, 1].map(|row| band(&bench, &format!("{name}{row}.nc4"), days.clone(), row)));
    }
    let options = AggregateOptions::new().axes(vec!["time".into(), "lat".into()]);
    let target = join(&bench, &files, &options, "m.nca");
    assert_eq!(bench.numbers(&target, "tas"), doubles(&(0..5)));
    assert_eq!(bench.numbers(&target, "lat"), [-30.0, 0.0, 30.0]);
    files.remove(1);
    let prepared = PreparedAggregation::of(&files, &options, &bench.session).unwrap();
    assert!(
        prepared.report().notes.iter().any(|note| note.contains("no file starts at")),
        "{:?}",
        prepared.report()
    );
    let target = bench.path("gap.nca");
    prepared.write(&target, &master(Convention::Cfa06, Kind::Nc4), &bench.session).unwrap();
    let values = bench.numbers(&target, "tas");
    assert_eq!((values[0], values[4]), (-999.0, 4.0));
    let prepared = PreparedAggregation::of(&files, &options, &bench.session).unwrap();
    let error = prepared.write(&target, &MasterOptions::new().overwrite(true), &bench.session);
    assert!(error.unwrap_err().to_string().contains("fragments are missing"));
}

#[test]
fn each_file_is_a_step_of_a_new_axis() {
    for convention in CONVENTIONS {
        let bench = Bench::new();
        let files = [3, 1, 2].map(|number| bench.member(number));
        let options = AggregateOptions::new().new_axis("member".to_owned()).sort(true);
        let target = bench.path("m.nca");
        aggregate(&target, &files, &options, &master(convention, Kind::Nc4), &bench.session).unwrap();
        assert_eq!(bench.numbers(&target, "member"), [1.0, 2.0, 3.0], "{convention:?}");
        let dataset = bench.open(&target);
        assert_eq!(dataset.variable("tas").unwrap().shape(), [3, 2, 3, 4], "{convention:?}");
        let values = bench.numbers(&target, "tas");
        assert_eq!((values[0], values[24], values[71]), (100.0, 200.0, 323.0), "{convention:?}");
        assert_eq!(bench.numbers(&target, "time"), [0.0, 1.0], "{convention:?}");
    }
}

#[test]
fn files_are_added_to_an_aggregation() {
    for convention in CONVENTIONS {
        let bench = Bench::new();
        let files = three(&bench);
        let target = bench.path("m.nca");
        let options = master(convention, Kind::Nc4).overwrite(true);
        aggregate(&target, &files[..2], &AggregateOptions::default(), &options, &bench.session).unwrap();
        // Its own files are not examined.
        let away = bench.path("away.nc");
        std::fs::rename(&files[0], &away).unwrap();
        let prepared =
            PreparedAggregation::adding(&target, &files[2..], &AggregateOptions::default(), &bench.session)
                .unwrap();
        prepared.write(&target, &options, &bench.session).unwrap();
        std::fs::rename(&away, &files[0]).unwrap();
        assert_eq!(bench.numbers(&target, "tas"), doubles(&(0..9)), "{convention:?}");
        assert_eq!(bench.numbers(&target, "time").len(), 9, "{convention:?}");
    }
}

#[test]
fn variables_of_types_that_a_file_defines_are_stored_in_the_master() {
    let bench = Bench::new();
    let file = |name: &str, days: std::ops::Range<u32>, yes: i128| {
        bench.changed_field(name, days.clone(), |dataset| {
            let members = ["no", "yes"].into_iter().zip([0, yes]);
            let kind = UserKind::Enum {
                base: Atomic::Byte,
                members: members.map(|(name, value)| EnumMember { name: name.into(), value }).collect(),
            };
            let defined = dataset.edit(|model: &mut Model| {
                let root = model.root();
                let ty = model.add_type(root, UserType { name: "answer".into(), kind })?;
                let time: Vec<_> = model.dimension_at("time").into_iter().collect();
                Ok(model.add_variable(root, "flag", TypeRef::User(ty), &time)?)
            });
            defined.unwrap();
            let flag = dataset.variable("flag").unwrap();
            let values = Values::Byte(days.clone().map(|day| i8::from(day % 2 == 0)).collect());
            flag.write_values(&Selection::all(&[u64::from(days.end - days.start)]), &values).unwrap();
        })
    };
    let files = [file("a.nc", 0..3, 1), file("b.nc", 3..5, 1)];
    let odd = [files[0].clone(), file("odd.nc", 3..5, 2)];
    let prepared = PreparedAggregation::of(&odd, &AggregateOptions::default(), &bench.session).unwrap();
    let reported = &prepared.report().problems;
    assert!(reported[0].contains("odd.nc: /flag is of a different type answer"), "{reported:?}");
    let target = join(&bench, &files[..1], &AggregateOptions::default(), "m.nca");
    let prepared =
        PreparedAggregation::adding(&target, &files[1..], &AggregateOptions::default(), &bench.session)
            .unwrap();
    assert!(prepared.report().stored.contains(&"/flag".to_owned()), "{:?}", prepared.report());
    let overwrite = MasterOptions::new().overwrite(true);
    prepared.write(&target, &overwrite, &bench.session).unwrap();
    assert_eq!(bench.numbers(&target, "flag"), [1.0, 0.0, 1.0, 0.0, 1.0]);
}

/// A field that is packed in shorts.
pub(super) fn packed(bench: &Bench, name: &str, days: std::ops::Range<u32>, offset: f32) -> String {
    bench.changed_field(name, days.clone(), |dataset| {
        let rain = dataset.root().add_variable("rain", Atomic::Short, &["time", "lat", "lon"]).unwrap();
        rain.set_fill(Values::Short(vec![-1])).unwrap();
        rain.set_attribute(Attribute::atomic("scale_factor", Values::Float(vec![0.5]))).unwrap();
        rain.set_attribute(Attribute::atomic("add_offset", Values::Float(vec![offset]))).unwrap();
        let stored: Vec<f64> = doubles(&days).iter().map(|value| (value - f64::from(offset)) * 2.0).collect();
        rain.write_all(&stored).unwrap();
    })
}

#[test]
fn packed_files_are_unpacked_unless_all_are_packed_alike_and_the_convention_allows_it() {
    for (convention, offset, ty) in [
        (Convention::Cf113, 0.0, Atomic::Float),
        (Convention::Cfa06, 8.0, Atomic::Float),
        (Convention::Cfa04, 0.0, Atomic::Short),
        (Convention::Cfa05, 8.0, Atomic::Float),
    ] {
        let bench = Bench::new();
        let files = [packed(&bench, "a.nc", 0..2, 0.0), packed(&bench, "b.nc", 2..4, offset)];
        let target = bench.path("m.nca");
        let options = master(convention, Kind::Nc4);
        aggregate(&target, &files, &AggregateOptions::default(), &options, &bench.session).unwrap();
        let rain = bench.open(&target).variable("rain").unwrap();
        assert_eq!(rain.ty(), Some(TypeRef::Atomic(ty)), "{convention:?}");
        let scale = if ty == Atomic::Short { 2.0 } else { 1.0 };
        let want: Vec<f64> = doubles(&(0..4)).iter().map(|value| value * scale).collect();
        assert_eq!(rain.read::<f64>().unwrap(), want, "{convention:?}");
        assert_eq!(rain.attribute("scale_factor").unwrap().is_some(), ty == Atomic::Short, "{convention:?}");
    }
}

#[test]
fn a_lost_master_is_made_anew_of_its_fragments() {
    for convention in CONVENTIONS {
        let bench = Bench::new();
        let (source, target) = (bench.field("a.nc", 0..5), bench.path("m.nca"));
        let split = ncirrus_tools::aggregate::SplitOptions::new()
            .shape([("time".to_owned(), 2), ("lat".to_owned(), 2)].into());
        let options = master(convention, Kind::Nc4);
        ncirrus_tools::aggregate::split(&bench.open(&source), &target, &split, &options, &bench.session)
            .unwrap();
        std::fs::remove_file(&target).unwrap();
        let report = rebuild(&target, &bench.path("m"), &options, &bench.session).unwrap();
        assert_eq!(report.files, 6, "{convention:?}");
        assert_eq!(bench.numbers(&target, "tas"), doubles(&(0..5)), "{convention:?}");
        assert_eq!(bench.numbers(&target, "time_bnds").len(), 10, "{convention:?}");
        assert_eq!(bench.numbers(&target, "lat"), [-30.0, 0.0, 30.0], "{convention:?}");
    }
}

/// A file of integers with a missing value of its own.
fn shorts(bench: &Bench, name: &str, values: &[i16], fill: i16) -> String {
    changed_shorts(bench, name, (values, fill), |_| ())
}

fn changed_shorts(
    bench: &Bench,
    name: &str,
    (values, fill): (&[i16], i16),
    change: impl FnOnce(&Variable),
) -> String {
    let url = bench.path(name);
    let create = CreateOptions::new().kind(Kind::Nc4);
    let dataset = Dataset::create_with(&url, &create, &bench.session).unwrap();
    let root = dataset.root();
    root.add_dimension("time", DimensionLen::Unlimited(0)).unwrap();
    let v = root.add_variable("v", Atomic::Short, &["time"]).unwrap();
    v.set_attribute(Attribute::atomic("_FillValue", Values::Short(vec![fill]))).unwrap();
    v.set_attribute(Attribute::text("units", "1")).unwrap();
    change(&v);
    v.write(&Selection::slab(&[0], &[values.len() as u64]), values).unwrap();
    dataset.close().unwrap();
    url
}

#[test]
fn data_of_one_file_are_not_missing_because_another_file_calls_them_so() {
    let bench = Bench::new();
    for convention in CONVENTIONS {
        let name = |part: &str| format!("{}/{part}.nc", convention.name());
        let files = [shorts(&bench, &name("a"), &[5, 0], 0), shorts(&bench, &name("b"), &[0, -9], -9)];
        let target = bench.path(&name("m"));
        let options = AggregateOptions::default();
        let master = master(convention, Kind::Nc4);
        let report = aggregate(&target, &files, &options, &master, &bench.session).unwrap();
        assert!(report.notes.iter().any(|note| note.contains("has data equal to 0")), "{:?}", report.notes);
        let v = bench.open(&target).variable("v").unwrap();
        let fill = v.attribute("_FillValue").unwrap().unwrap().values.integer(0).unwrap();
        assert!(![5, 0, -9].contains(&fill), "{fill}");
        let fill = i16::try_from(fill).unwrap();
        assert_eq!(v.read::<i16>().unwrap(), [5, fill, 0, fill], "{}", convention.name());
        // If nothing clashes, the first file's value is kept.
        let files = [files[0].clone(), shorts(&bench, &name("c"), &[7, -9], -9)];
        let target = bench.path(&name("n"));
        aggregate(&target, &files, &options, &master, &bench.session).unwrap();
        assert_eq!(bench.open(&target).variable("v").unwrap().read::<i16>().unwrap(), [5, 0, 7, 0]);
    }
}

#[test]
fn a_valid_range_of_unpacked_values_masks_no_packed_ones() {
    let bench = Bench::new();
    let made = |name: &str, values: &[i16]| {
        changed_shorts(&bench, name, (values, -32767), |v| {
            for (name, value) in [("scale_factor", 0.01f32), ("valid_min", -90.0), ("valid_max", 90.0)] {
                v.set_attribute(Attribute::atomic(name, Values::Float(vec![value]))).unwrap();
            }
        })
    };
    let files = [made("a.nc", &[-9000, 4500]), made("b.nc", &[9000, -32767])];
    for convention in CONVENTIONS {
        let target = bench.path(&format!("{}.nca", convention.name()));
        let options = AggregateOptions::default();
        aggregate(&target, &files, &options, &master(convention, Kind::Nc4), &bench.session).unwrap();
        let read = bench.numbers(&target, "v");
        let scale = if convention.is_unpacked() { f64::from(0.01f32) } else { 1.0 };
        for (read, packed) in read.iter().zip([-9000.0, 4500.0, 9000.0]) {
            assert!((read - packed * scale).abs() < 1e-4, "{} {read} {packed}", convention.name());
        }
    }
}
