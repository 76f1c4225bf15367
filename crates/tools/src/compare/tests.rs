//! Datasets that are the same, and each way in which they differ.
use super::*;
use ncirrus::{Atomic, Attribute, CreateOptions, DimensionLen, OpenOptions, Session, Values, VariableSelect};
use proptest::prelude::*;

/// A dataset in memory with one variable `v` of these values along `x`, and whatever else is defined.
fn dataset(name: &str, values: &Values, more: impl FnOnce(&Dataset)) -> Dataset {
    let session = Session::new().unwrap();
    let url = format!("memory://compare/{name}");
    let options = CreateOptions::default().overwrite(true);
    let new = Dataset::create_with(&url, &options, &session).unwrap();
    new.root().add_dimension("x", DimensionLen::Fixed(values.len() as u64)).unwrap();
    let v = new.root().add_variable("v", values.atomic().unwrap(), &["x"]).unwrap();
    more(&new);
    v.write_values(&Selection::all(&[values.len() as u64]), values).unwrap();
    new.close().unwrap();
    Dataset::open_with(&url, &OpenOptions::default(), &session).unwrap()
}

use ncirrus::Selection;

fn doubles(name: &str, values: &[f64]) -> Dataset {
    dataset(name, &Values::Double(values.to_vec()), |_| {})
}

fn values_of(first: &Dataset, second: &Dataset, options: &CompareOptions) -> VariableComparison {
    compare(first, second, options).unwrap().variables.remove(0)
}

#[test]
fn the_same_values_in_another_kind_are_the_same() {
    let one = doubles("same.nc", &[1.0, f64::NAN, -0.0, f64::INFINITY]);
    let other = doubles("same.zarr", &[1.0, f64::NAN, 0.0, f64::INFINITY]);
    let report = compare(&one, &other, &CompareOptions::new()).unwrap();
    assert!(report.is_same(), "{report}");
    assert_eq!(report.variables[0].compared, 4);
}

#[test]
fn differences_have_counts_places_and_sizes() {
    let one = doubles("counts_a.nc", &[1.0, 2.0, f64::NAN, 4.0]);
    let other = doubles("counts_b.nc", &[1.0, 2.5, 3.0, 2.0]);
    let found = values_of(&one, &other, &CompareOptions::new().first(9));
    assert_eq!((found.differing, found.nan, found.missing, found.compared), (2, 1, 0, 4));
    assert_eq!((found.max_absolute, found.max_relative), (2.0, 0.5));
    assert_eq!(found.rms, (4.25f64 / 4.0).sqrt());
    let places: Vec<_> = found.elements.iter().map(|element| element.index.clone()).collect();
    assert_eq!(places, [[1], [2], [3]]);
    assert_eq!((found.elements[0].first.as_str(), found.elements[0].second.as_str()), ("2", "2.5"));
}

#[test]
fn a_value_that_is_missing_on_one_side_is_counted_apart() {
    let fill = |value: i16| {
        move |new: &Dataset| new.variable("v").unwrap().set_fill(Values::Short(vec![value])).unwrap()
    };
    let one = dataset("fill_a.nc", &Values::Short(vec![-9, 1, 0]), fill(-9));
    let other = dataset("fill_b.nc", &Values::Short(vec![0, 1, 5]), fill(0));
    let found = values_of(&one, &other, &CompareOptions::new());
    assert_eq!(
        (found.differing, found.missing),
        (1, 0),
        "-9 and 0 are both missing; 0 is a number in the first"
    );
    let third = dataset("fill_c.nc", &Values::Short(vec![7, 1, 0]), fill(0));
    let found = values_of(&one, &third, &CompareOptions::new());
    assert_eq!((found.differing, found.missing), (0, 2));
}

#[test]
fn equal_bytes_are_not_the_same_where_the_fill_values_differ() {
    let fill = |value: i16| {
        move |new: &Dataset| new.variable("v").unwrap().set_fill(Values::Short(vec![value])).unwrap()
    };
    let one = dataset("bytes_a.nc", &Values::Short(vec![0, 1]), fill(0));
    let other = dataset("bytes_b.nc", &Values::Short(vec![0, 1]), fill(-1));
    let found = values_of(&one, &other, &CompareOptions::new().scope(CompareScope::Data));
    assert_eq!((found.differing, found.missing), (0, 1));
}

#[test]
fn numbers_within_any_tolerance_are_the_same() {
    let (one, other) = (doubles("near_a.nc", &[100.0, 0.001]), doubles("near_b.nc", &[100.1, 0.002]));
    let differing = |options: CompareOptions| values_of(&one, &other, &options).differing;
    assert_eq!(differing(CompareOptions::new()), 2);
    assert_eq!(differing(CompareOptions::new().tolerance(0.01)), 1);
    assert_eq!(differing(CompareOptions::new().relative(0.01)), 1);
    assert_eq!(differing(CompareOptions::new().tolerance(0.01).relative(0.01)), 0);
    let error = compare(&one, &other, &CompareOptions::new().tolerance(-1.0)).unwrap_err();
    assert!(error.message().contains("-1"), "{error}");
}

#[test]
fn units_in_the_last_place_are_those_of_the_type() {
    let next = f32::from_bits(1.0f32.to_bits() + 3);
    let one = dataset("ulps_a.nc", &Values::Float(vec![1.0, -f32::MIN_POSITIVE * 0.0]), |_| {});
    let other = dataset("ulps_b.nc", &Values::Float(vec![next, f32::from_bits(1)]), |_| {});
    let differing = |ulps| values_of(&one, &other, &CompareOptions::new().ulps(ulps)).differing;
    assert_eq!((differing(0), differing(1), differing(3)), (2, 1, 0));
}

#[test]
fn numbers_of_other_types_are_compared_exactly() {
    let one = dataset("types_a.nc4", &Values::Int64(vec![i64::MAX, 3]), |_| {});
    let other = dataset("types_b.nc4", &Values::UInt64(vec![i64::MAX as u64 - 1, 3]), |_| {});
    let report = compare(&one, &other, &CompareOptions::new()).unwrap();
    assert_eq!((report.variables[0].differing, report.variables[0].max_absolute), (1, 1.0));
    assert_eq!((report.definitions[0].path.as_str(), report.definitions[0].aspect), ("/v", "variable"));
}

#[test]
fn packed_values_are_compared_by_what_they_stand_for() {
    let packed = |scale: f64| {
        move |new: &Dataset| {
            let v = new.variable("v").unwrap();
            v.set_attribute(Attribute::atomic("scale_factor", Values::Double(vec![scale]))).unwrap();
            v.set_attribute(Attribute::atomic("missing_value", Values::Short(vec![-1]))).unwrap();
        }
    };
    let one = dataset("packed_a.nc", &Values::Short(vec![2, 4, -1]), packed(0.5));
    let other = dataset("packed_b.nc", &Values::Short(vec![1, 2, -1]), packed(1.0));
    let options = CompareOptions::new().scope(CompareScope::Data);
    assert_eq!(values_of(&one, &other, &options).differing, 2);
    assert!(compare(&one, &other, &options.unpacked(true)).unwrap().is_same());
}

#[test]
fn definitions_that_differ_are_listed_with_what_each_has() {
    let one = dataset("defs_a.nc", &Values::Int(vec![1, 2]), |new| {
        let v = new.variable("v").unwrap();
        v.set_attribute(Attribute::text("units", "m")).unwrap();
        v.set_attribute(Attribute::text("history", "made today")).unwrap();
        new.root().set_attribute(Attribute::text("title", "a")).unwrap();
        new.root().add_dimension("y", DimensionLen::Fixed(3)).unwrap();
    });
    let other = dataset("defs_b.nc", &Values::Int(vec![1, 2]), |new| {
        let v = new.variable("v").unwrap();
        v.set_attribute(Attribute::text("units", "km")).unwrap();
        new.root().add_dimension("y", DimensionLen::Fixed(4)).unwrap();
        new.root().add_variable("w", Atomic::Int, &["y"]).unwrap();
    });
    let report = compare(&one, &other, &CompareOptions::new()).unwrap();
    let found: Vec<_> = report
        .definitions
        .iter()
        .map(|it| (it.path.as_str(), it.aspect, it.first.is_some(), it.second.is_some()))
        .collect();
    let wanted = [
        ("/y", "dimension", true, true),
        ("/:title", "attribute", true, false),
        ("/v:units", "attribute", true, true),
        ("/w", "variable", false, true),
    ];
    assert_eq!(found, wanted);
    assert!(!report.is_same() && report.variables.iter().all(VariableComparison::is_same));
    let only =
        CompareOptions::new().variables(["v".to_owned()]).ignore(["units".to_owned(), "history".to_owned()]);
    assert!(compare(&one, &other, &only).unwrap().is_same());
}

#[test]
fn order_counts_when_requested() {
    let with = |names: [&'static str; 2]| {
        move |new: &Dataset| {
            for name in names {
                new.root().set_attribute(Attribute::text(name, "1")).unwrap();
            }
        }
    };
    let one = dataset("order_a.nc", &Values::Int(vec![1]), with(["a", "b"]));
    let other = dataset("order_b.nc", &Values::Int(vec![1]), with(["b", "a"]));
    assert!(compare(&one, &other, &CompareOptions::new()).unwrap().is_same());
    let report = compare(&one, &other, &CompareOptions::new().order(true)).unwrap();
    assert_eq!(report.definitions[0].first.as_deref(), Some("attributes a, b"));
}

#[test]
fn what_cannot_be_compared_is_a_difference() {
    let (one, other) = (doubles("shape_a.nc", &[1.0]), doubles("shape_b.nc", &[1.0, 2.0]));
    let found = values_of(&one, &other, &CompareOptions::new());
    assert!(found.skipped.as_deref().is_some_and(|reason| reason.contains("[1] and [2]")), "{found}");
    let text = dataset("text.nc", &Values::Char(b"a".to_vec()), |_| {});
    assert!(
        values_of(&one, &text, &CompareOptions::new()).skipped.is_some_and(|reason| reason.contains("char"))
    );
}

#[test]
fn parts_are_compared_and_indices_are_those_of_the_variable() {
    let (one, other) =
        (doubles("part_a.nc", &[1.0, 2.0, 3.0, 4.0]), doubles("part_b.nc", &[9.0, 2.0, 3.0, 5.0]));
    let part = |text: &str| CompareOptions::new().select([VariableSelect::parse(text).unwrap()]);
    assert!(compare(&one, &other, &part("v[1:3]")).unwrap().is_same());
    let found = values_of(&one, &other, &part("v[1:4:2]"));
    assert_eq!((found.compared, found.elements[0].index.clone()), (2, vec![3]));
    let unknown = compare(&one, &other, &CompareOptions::new().variables(["nope".to_owned()])).unwrap_err();
    assert_eq!(unknown.kind(), ncirrus::ErrorKind::NotFound);
}

#[test]
fn strings_are_compared_as_they_are() {
    let list = |last: Option<&[u8]>| {
        let mut strings = ncirrus_model::Strings::new();
        strings.push(Some(b"one"));
        strings.push(last);
        Values::String(strings)
    };
    let (one, other) = (
        dataset("strings_a.nc4", &list(Some(b"two")), |_| {}),
        dataset("strings_b.nc4", &list(Some(b"2")), |_| {}),
    );
    let found = values_of(&one, &other, &CompareOptions::new());
    assert_eq!((found.differing, found.elements[0].first.as_str()), (1, "\"two\""));
    assert!(compare(&one, &one, &CompareOptions::new()).unwrap().is_same());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn counts_are_those_of_a_loop(pairs in prop::collection::vec((-3i32..3, -3i32..3), 1..3000)) {
        let (ours, theirs): (Vec<i32>, Vec<i32>) = pairs.iter().copied().unzip();
        let one = dataset("loop_a.nc", &Values::Int(ours), |_| {});
        let other = dataset("loop_b.zarr", &Values::Int(theirs), |_| {});
        let found = values_of(&one, &other, &CompareOptions::new());
        let wanted = pairs.iter().filter(|(a, b)| a != b).count() as u64;
        let first = pairs.iter().position(|(a, b)| a != b).map(|at| at as u64);
        prop_assert_eq!(found.differing, wanted);
        prop_assert_eq!(found.elements.first().map(|element| element.index[0]), first);
        let max = pairs.iter().map(|(a, b)| (a - b).abs()).max();
        prop_assert_eq!(Some(found.max_absolute), max.map(f64::from));
    }
}
