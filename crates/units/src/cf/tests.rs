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
        (Values::Short(vec![2]), Atomic::Short),
    ] {
        let decoding = decoding(Atomic::Short, &[("scale_factor", scale.clone())]);
        let decoded = decoding.decode(Values::Short(vec![4])).unwrap();
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
    let decoded = decoding.decode(Values::Byte(vec![-2, -1, 3])).unwrap();
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
    let decoded = decoding(Atomic::Float, &list)
        .decode(Values::Float(vec![-9.0, -8.0, f32::NAN, 0.0, 10.0, 10.5, -0.5]))
        .unwrap();
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
    let dates = decoding.dates(&decoding.decode(stored).unwrap());
    let shown: Vec<_> = dates.iter().map(|date| date.map(|date| date.to_string())).collect();
    assert_eq!(shown, [Some("2000-02-28 12:00:00".to_owned()), Some("2000-03-01 12:00:00".to_owned()), None]);
    assert!(CfDecoding::new(Atomic::Int, &attributes(&[("units", text("K"))])).unwrap().time().is_none());
}

#[test]
fn text_and_strings_are_left_alone() {
    let decoded =
        decoding(Atomic::Char, &[("scale_factor", Values::Double(vec![2.0]))]).decode(text("ab")).unwrap();
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

#[test]
fn integers_that_are_packed_in_their_own_type_stay_integers() {
    let one = |ty, number: i128| {
        ncirrus_model::ExactNumber::all_as(&[ncirrus_model::ExactNumber::Integer(number)], ty).unwrap()
    };
    for ty in Atomic::ALL.into_iter().filter(|ty| ty.integer_range().is_some()) {
        let (_, max) = ty.integer_range().unwrap();
        for list in [
            vec![("scale_factor", one(ty, 2)), ("add_offset", one(ty, 1))],
            vec![("scale_factor", one(ty, 2))],
            vec![("add_offset", one(ty, 1))],
        ] {
            let (scale, offset) = match list.as_slice() {
                [_, _] => (2, 1),
                [("scale_factor", _)] => (2, 0),
                _ => (1, 1),
            };
            let list = [list, vec![("_FillValue", one(ty, 1))]].concat();
            let decoding = decoding(ty, &list);
            assert_eq!(decoding.decoded_type(), ty);
            for packed in [0, 5, (max - 1) / 2 - 1] {
                let unpacked = packed * scale + offset;
                let decoded = decoding.decode(one(ty, packed)).unwrap();
                assert_eq!(decoded.values, one(ty, unpacked), "{}", ty.name());
                assert_eq!(decoding.encode_integers(&[Some(unpacked)]), Ok(one(ty, packed)));
            }
            let error = decoding.decode(one(ty, max)).unwrap_err();
            assert!(error.message().contains("cannot hold"), "{}", error.message());
            assert!(scale == 1 || decoding.encode_integers(&[Some(offset + 1)]).is_err());
        }
    }
    // Signed attributes of integers that are interpreted as unsigned are of the same type.
    let list = [("_Unsigned", text("true")), ("scale_factor", Values::Byte(vec![2]))];
    assert_eq!(
        decoding(Atomic::Byte, &list).decode(Values::Byte(vec![-127])).unwrap_err().kind(),
        UnitErrorKind::Invalid
    );
    assert_eq!(
        decoding(Atomic::Byte, &list).decode(Values::Byte(vec![127])).unwrap().values,
        Values::UByte(vec![254])
    );
    // One of them of another type makes them doubles, as before.
    let list = [("scale_factor", Values::Int(vec![2])), ("add_offset", Values::Double(vec![1.0]))];
    assert_eq!(decoding(Atomic::Int, &list).decoded_type(), Atomic::Double);
}

#[test]
fn every_time_of_64_bits_has_its_date() {
    for (units, number, date) in [
        ("nanoseconds since 1970-01-01", 1_704_153_600_000_000_001, "2024-01-02 00:00:00.000000001"),
        ("nanoseconds since 1970-01-01", 999_999_999_999_999_999, "2001-09-09 01:46:39.999999999"),
        ("nanoseconds since 1970-01-01", i64::MAX, "2262-04-11 23:47:16.854775807"),
        ("nanoseconds since 1970-01-01", -1_704_153_600_000_000_001, "1915-12-31 23:59:59.999999999"),
        ("microseconds since 1970-01-01", 9_007_199_254_740_993, "2255-06-05 23:47:34.740993"),
    ] {
        let decoding = decoding(Atomic::Int64, &[("units", text(units))]);
        let decoded = decoding.decode(Values::Int64(vec![number])).unwrap();
        let dates = decoding.dates(&decoded);
        let shown = dates[0].map(|date| (date.to_string(), date.nanosecond));
        let digits = date.split_once('.').map_or("0", |(_, digits)| digits);
        let nanosecond: u32 = format!("{digits:0<9}").parse().unwrap();
        let (shown, found) = shown.unwrap_or_else(|| panic!("{number} {units} has no date"));
        assert!(shown.starts_with(&date[..19]), "{shown} instead of {date}");
        assert_eq!(found, nanosecond, "{date}");
    }
    // Doubles beyond 10^18 have dates, too.
    let units = TimeUnits::parse("nanoseconds since 1970-01-01", None).unwrap().unwrap();
    assert_eq!(units.date(1.704_153_6e18).unwrap().to_string(), "2024-01-02");
    assert_eq!(units.date(f64::INFINITY), None);
    assert_eq!(units.date(1e30), None);
}

#[test]
fn ranges_and_missing_values_of_64_bits_are_exact() {
    let big = 1_i64 << 62;
    let stored = Values::Int64(vec![big - 1, big, big + 1]);
    for (list, missing) in [
        (vec![("valid_max", Values::Int64(vec![big]))], [false, false, true]),
        (vec![("valid_min", Values::Int64(vec![big]))], [true, false, false]),
        (vec![("valid_range", Values::Int64(vec![big, big]))], [true, false, true]),
        (vec![("valid_range", Values::UInt64(vec![big as u64, big as u64]))], [true, false, true]),
        (vec![("_FillValue", Values::Int64(vec![big + 1]))], [false, false, true]),
        (vec![("missing_value", Values::UInt64(vec![big as u64 + 1]))], [false, false, true]),
        (vec![("missing_value", Values::Double(vec![big as f64]))], [false, true, false]),
        (vec![("valid_max", Values::Double(vec![big as f64]))], [false, false, true]),
    ] {
        let decoded = decoding(Atomic::Int64, &list).decode(stored.clone()).unwrap();
        assert_eq!(decoded.missing, missing, "{list:?}");
    }
    let max = Values::UInt64(vec![u64::MAX - 1, u64::MAX]);
    let list = [("valid_max", Values::UInt64(vec![u64::MAX - 1])), ("_FillValue", Values::UInt64(vec![7]))];
    assert_eq!(decoding(Atomic::UInt64, &list).decode(max).unwrap().missing, [false, true]);
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
        let decoded = decoding.decode(Values::Short(stored.clone())).unwrap();
        prop_assert_eq!(decoding.encode(&decoded.numbers()), Ok(Values::Short(stored)));
    }

    /// There are as many values and marks as stored values, whatever the attributes are.
    #[test]
    fn nothing_is_lost_or_added(stored in proptest::collection::vec(any::<f64>(), 0..20), fill: f64, min: f64, scale: f32) {
        let list = [
            ("_FillValue", Values::Double(vec![fill])),
            ("valid_min", Values::Double(vec![min])),
            ("scale_factor", Values::Float(vec![scale])),
        ];
        let decoded = decoding(Atomic::Double, &list).decode(Values::Double(stored.clone())).unwrap();
        prop_assert_eq!((decoded.values.len(), decoded.missing.len()), (stored.len(), stored.len()));
        for (number, missing) in stored.iter().zip(&decoded.missing) {
            prop_assert!(*missing || !(*number == fill || *number < min));
        }
    }

    /// Dates are those obtained by counting units one by one.
    #[test]
    fn dates_are_those_of_the_units(stored in proptest::collection::vec(-100_000i32..100_000, 0..20)) {
        let units = "hours since 1900-01-01";
        let decoding = decoding(Atomic::Int, &[("units", text(units))]);
        let due = TimeUnits::parse(units, None).unwrap().unwrap();
        let dates = decoding.dates(&decoding.decode(Values::Int(stored.clone())).unwrap());
        let due: Vec<_> = stored.iter().map(|number| due.date(f64::from(*number))).collect();
        prop_assert_eq!(dates, due);
    }
}
