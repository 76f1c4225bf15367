use super::CfDecoding;
use crate::{TimeUnits, UnitErrorKind};
use ncirrus_model::{Atomic, Attribute, Attributes, Values};
use proptest::prelude::*;

fn attributes(list: &[(&str, Values)]) -> Attributes {
    list.iter().map(|(name, values)| Attribute::atomic(*name, values.clone())).collect()
}

fn text(text: &str) -> Values {
    Values::Char(text.as_bytes().to_vec())
}

fn decoding(ty: Atomic, list: &[(&str, Values)]) -> CfDecoding {
    CfDecoding::new(ty, &attributes(list)).unwrap()
}

#[test]
fn packed_numbers_are_unpacked_to_the_type_of_the_packing() {
    for (scale, ty) in [
        (Values::Float(vec![0.5]), Atomic::Float),
        (Values::Double(vec![0.5]), Atomic::Double),
        (Values::Int(vec![2]), Atomic::Double),
    ] {
        let decoding = decoding(Atomic::Short, &[("scale_factor", scale.clone())]);
        let decoded = decoding.decode(Values::Short(vec![4]));
        assert_eq!((decoding.decoded_type(), decoded.values.atomic()), (ty, Some(ty)));
        assert_eq!(decoded.values.number(0), scale.number(0).map(|scale| 4.0 * scale));
    }
    let offset = [("scale_factor", Values::Float(vec![0.5])), ("add_offset", Values::Double(vec![1.0]))];
    assert_eq!(decoding(Atomic::Byte, &offset).decoded_type(), Atomic::Double);
    assert_eq!(decoding(Atomic::Byte, &[]).decoded_type(), Atomic::Byte);
}

#[test]
fn unsigned_numbers_are_taken_for_such_with_their_attributes() {
    let list = [("_Unsigned", text("true")), ("_FillValue", Values::Byte(vec![-1]))];
    let decoding = decoding(Atomic::Byte, &list);
    let decoded = decoding.decode(Values::Byte(vec![-2, -1, 3]));
    assert_eq!(decoded.values, Values::UByte(vec![254, 255, 3]));
    assert_eq!(decoded.missing, [false, true, false]);
    assert_eq!(decoding.encode(&[254.0, 3.0]), Ok(Values::Byte(vec![-2, 3])));
}

#[test]
fn fill_values_missing_values_and_valid_ranges_are_missing() {
    let list = [
        ("_FillValue", Values::Float(vec![-9.0])),
        ("missing_value", Values::Float(vec![f32::NAN, -8.0])),
        ("valid_range", Values::Float(vec![0.0, 10.0])),
    ];
    let decoded = decoding(Atomic::Float, &list).decode(Values::Float(vec![
        -9.0,
        -8.0,
        f32::NAN,
        0.0,
        10.0,
        10.5,
        -0.5,
    ]));
    assert_eq!(decoded.missing, [true, true, true, false, false, true, true]);
    let numbers = decoded.numbers();
    assert_eq!(numbers[3..5], [0.0, 10.0]);
    assert!(numbers[0].is_nan() && numbers[6].is_nan());
}

#[test]
fn times_have_dates_in_their_calendar() {
    let list = [("units", text("days since 2000-02-28 12:00")), ("calendar", text("noleap"))];
    let decoding = decoding(Atomic::Int, &list);
    let fill = ncirrus_model::default_fill(Atomic::Int).integer(0).unwrap();
    let stored = Values::Int(vec![0, 1, i32::try_from(fill).unwrap()]);
    let dates = decoding.dates(&decoding.decode(stored));
    let shown: Vec<_> = dates.iter().map(|date| date.map(|date| date.to_string())).collect();
    assert_eq!(shown, [Some("2000-02-28 12:00:00".to_owned()), Some("2000-03-01 12:00:00".to_owned()), None]);
    assert!(CfDecoding::new(Atomic::Int, &attributes(&[("units", text("K"))])).unwrap().time().is_none());
}

#[test]
fn text_and_strings_are_left_alone() {
    let decoded = decoding(Atomic::Char, &[("scale_factor", Values::Double(vec![2.0]))]).decode(text("ab"));
    assert_eq!((decoded.values, decoded.missing), (text("ab"), vec![false, false]));
}

#[test]
fn what_the_type_cannot_hold_is_not_encoded() {
    let plain = decoding(Atomic::Byte, &[]);
    let error = plain.encode(&[1.0, 300.0]).unwrap_err();
    assert_eq!(
        (error.kind(), error.message()),
        (UnitErrorKind::Invalid, "the number 300 has no place in the type byte")
    );
    assert!(plain.encode(&[f64::NAN]).is_err());
    let filled = decoding(Atomic::Byte, &[("_FillValue", Values::Byte(vec![-1]))]);
    assert_eq!(filled.encode(&[f64::NAN, 2.0]), Ok(Values::Byte(vec![-1, 2])));
}

proptest! {
    /// Packed numbers that are unpacked and packed again are unchanged.
    #[test]
    fn packing_goes_both_ways(
        stored in proptest::collection::vec(-32_766i16..=32_767, 0..20),
        scale in prop_oneof![1e-6..1e6f64, -1e6..-1e-6f64],
        offset in -1e6..1e6f64,
    ) {
        // An offset far larger than the packed numbers would use up the precision.
        let offset = offset.clamp(-scale.abs() * 1e6, scale.abs() * 1e6);
        let list = [("scale_factor", Values::Double(vec![scale])), ("add_offset", Values::Double(vec![offset]))];
        let decoding = decoding(Atomic::Short, &list);
        let decoded = decoding.decode(Values::Short(stored.clone()));
        prop_assert_eq!(decoding.encode(&decoded.numbers()), Ok(Values::Short(stored)));
    }

    /// There are as many values and marks as stored values, whatever the attributes are.
    #[test]
    fn nothing_is_lost_or_added(stored in proptest::collection::vec(any::<f64>(), 0..20), fill: f64, least: f64, scale: f32) {
        let list = [
            ("_FillValue", Values::Double(vec![fill])),
            ("valid_min", Values::Double(vec![least])),
            ("scale_factor", Values::Float(vec![scale])),
        ];
        let decoded = decoding(Atomic::Double, &list).decode(Values::Double(stored.clone()));
        prop_assert_eq!((decoded.values.len(), decoded.missing.len()), (stored.len(), stored.len()));
        for (number, missing) in stored.iter().zip(&decoded.missing) {
            prop_assert!(*missing || !(*number == fill || *number < least));
        }
    }

    /// Dates are those obtained by counting units one by one.
    #[test]
    fn dates_are_those_of_the_units(stored in proptest::collection::vec(-100_000i32..100_000, 0..20)) {
        let units = "hours since 1900-01-01";
        let decoding = decoding(Atomic::Int, &[("units", text(units))]);
        let due = TimeUnits::parse(units, None).unwrap().unwrap();
        let dates = decoding.dates(&decoding.decode(Values::Int(stored.clone())));
        let due: Vec<_> = stored.iter().map(|number| due.date(f64::from(*number))).collect();
        prop_assert_eq!(dates, due);
    }
}
