//! Casts against what netCDF-C 4.10.1 stores and returns (`nc_put_var_*`, netCDF-4 and CDF-5 files, x86-64).
use super::*;
use TestNumber::{F, I};

#[derive(Debug, Clone, Copy)]
enum TestNumber {
    I(i128),
    F(f64),
}

fn one(atomic: Atomic, number: TestNumber) -> Values {
    let F(float) = number else {
        let I(int) = number else { unreachable!() };
        let bytes = int.to_ne_bytes();
        let size = atomic.byte_len().unwrap();
        let part = if cfg!(target_endian = "big") { &bytes[16 - size..] } else { &bytes[..size] };
        return Values::from_native_bytes(atomic, part).unwrap();
    };
    match atomic {
        Atomic::Double => Values::Double(vec![float]),
        _ => cast(&Values::Double(vec![float]), Atomic::Float).unwrap().0,
    }
}

fn same(one: &Values, other: &Values) -> bool {
    one == other || matches!((one.number(0), other.number(0)), (Some(a), Some(b)) if a.is_nan() && b.is_nan())
}

#[test]
fn casts_give_what_the_c_library_gives() {
    for &(excess, from, value, to, expected, out_of_range) in TRUTH {
        let rules = CastRules { excess, bytes: ByteRule::Typed };
        let (values, report) = cast_with(&one(from, value), to, rules).unwrap();
        assert_eq!(report.count == 1, out_of_range, "{excess:?} {from:?} {value:?} to {to:?}");
        assert!(same(&values, &one(to, expected)), "{excess:?} {from:?} {value:?} to {to:?}: {values:?}");
    }
}

#[test]
fn the_nearest_value_stands_for_what_is_out_of_range() {
    let rules = CastRules { excess: RangeExcess::Nearest, ..CastRules::default() };
    let cases = [
        (Values::Int(vec![-129, 127, 128]), Values::Byte(vec![-128, 127, 127]), 2),
        (Values::Int(vec![-1, 70_000]), Values::UShort(vec![0, 65_535]), 2),
        (Values::UInt64(vec![u64::MAX]), Values::Int64(vec![i64::MAX]), 1),
        (
            Values::Double(vec![-1e9, 1.9, f64::NAN, 3e9]),
            Values::Int(vec![-1_000_000_000, 1, 0, i32::MAX]),
            2,
        ),
        (Values::Float(vec![-0.5, 1e30]), Values::UInt64(vec![0, u64::MAX]), 2),
        (Values::Double(vec![1e300]), Values::Float(vec![f32::INFINITY]), 1),
    ];
    for (from, expected, outside) in cases {
        let (values, report) = cast_with(&from, expected.atomic().unwrap(), rules).unwrap();
        assert_eq!((values, report.count), (expected, outside));
    }
}

#[test]
fn text_does_not_become_numbers_nor_numbers_text() {
    assert!(cast(&Values::Char(vec![b'1']), Atomic::Int).is_err());
    assert!(cast(&Values::Int(vec![1]), Atomic::Char).is_err());
    assert!(cast(&Values::Int(vec![1]), Atomic::String).is_err());
    assert!(cast(&Values::String(Strings::from_iter([Some("1")])), Atomic::Double).is_err());
    assert!(cast(&Values::Opaque { size: 1, bytes: vec![1] }, Atomic::Byte).is_err());
}

#[test]
fn classic_bytes_are_signed_and_unsigned_at_once() {
    let rules = CastRules { bytes: ByteRule::Classic, ..CastRules::default() };
    let (values, report) = cast_with(&Values::UByte(vec![0, 128, 255]), Atomic::Byte, rules).unwrap();
    assert_eq!(values, Values::Byte(vec![0, -128, -1]));
    assert!(report.is_clean());
    let (_, report) = cast(&Values::UByte(vec![0, 128, 255]), Atomic::Byte).unwrap();
    assert_eq!(report, RangeReport { count: 2, first: Some(1) });
}

/// Rule, source type, value, target type, what is read back, whether `NC_ERANGE` was returned. NaN to an integer is a
/// range error in ncirrus only: the C library reports nothing.
#[rustfmt::skip]
const TRUTH: &[(RangeExcess, Atomic, TestNumber, Atomic, TestNumber, bool)] = &[
    (RangeExcess::Wrap, Atomic::Double, F(1.9), Atomic::Int, I(1), false),
    (RangeExcess::Wrap, Atomic::Double, F(-1.9), Atomic::Int, I(-1), false),
    (RangeExcess::Wrap, Atomic::Double, F(2147483647.0), Atomic::Int, I(2147483647), false),
    (RangeExcess::Wrap, Atomic::Double, F(2147483647.5), Atomic::Int, I(2147483647), true),
    (RangeExcess::Wrap, Atomic::Double, F(2147483648.0), Atomic::Int, I(-2147483648), true),
    (RangeExcess::Wrap, Atomic::Double, F(-2147483648.9), Atomic::Int, I(-2147483648), true),
    (RangeExcess::Wrap, Atomic::Double, F(-2147483649.0), Atomic::Int, I(-2147483648), true),
    (RangeExcess::Wrap, Atomic::Double, F(f64::NAN), Atomic::Int, I(-2147483648), true),
    (RangeExcess::Wrap, Atomic::Double, F(f64::INFINITY), Atomic::Int, I(-2147483648), true),
    (RangeExcess::Wrap, Atomic::Double, F(1e+300), Atomic::Int, I(-2147483648), true),
    (RangeExcess::Wrap, Atomic::Double, F(127.9), Atomic::Byte, I(127), true),
    (RangeExcess::Wrap, Atomic::Double, F(128.0), Atomic::Byte, I(-128), true),
    (RangeExcess::Wrap, Atomic::Double, F(-128.9), Atomic::Byte, I(-128), true),
    (RangeExcess::Wrap, Atomic::Double, F(-129.0), Atomic::Byte, I(127), true),
    (RangeExcess::Wrap, Atomic::Double, F(f64::NAN), Atomic::Byte, I(0), true),
    (RangeExcess::Wrap, Atomic::Double, F(300.7), Atomic::Byte, I(44), true),
    (RangeExcess::Wrap, Atomic::Double, F(-300.7), Atomic::Byte, I(-44), true),
    (RangeExcess::Wrap, Atomic::Double, F(1e+300), Atomic::Byte, I(0), true),
    (RangeExcess::Wrap, Atomic::Double, F(32767.9), Atomic::Short, I(32767), true),
    (RangeExcess::Wrap, Atomic::Double, F(32768.0), Atomic::Short, I(-32768), true),
    (RangeExcess::Wrap, Atomic::Double, F(-32768.5), Atomic::Short, I(-32768), true),
    (RangeExcess::Wrap, Atomic::Double, F(f64::NAN), Atomic::Short, I(0), true),
    (RangeExcess::Wrap, Atomic::Double, F(70000.0), Atomic::Short, I(4464), true),
    (RangeExcess::Wrap, Atomic::Double, F(1e+300), Atomic::Short, I(0), true),
    (RangeExcess::Wrap, Atomic::Double, F(255.9), Atomic::UByte, I(255), true),
    (RangeExcess::Wrap, Atomic::Double, F(256.0), Atomic::UByte, I(0), true),
    (RangeExcess::Wrap, Atomic::Double, F(-0.9), Atomic::UByte, I(0), true),
    (RangeExcess::Wrap, Atomic::Double, F(-1.0), Atomic::UByte, I(255), true),
    (RangeExcess::Wrap, Atomic::Double, F(f64::NAN), Atomic::UByte, I(0), true),
    (RangeExcess::Wrap, Atomic::Double, F(300.0), Atomic::UByte, I(44), true),
    (RangeExcess::Wrap, Atomic::Double, F(1e+300), Atomic::UByte, I(0), true),
    (RangeExcess::Wrap, Atomic::Double, F(4294967295.9), Atomic::UInt, I(4294967295), true),
    (RangeExcess::Wrap, Atomic::Double, F(4294967296.0), Atomic::UInt, I(0), true),
    (RangeExcess::Wrap, Atomic::Double, F(-1.0), Atomic::UInt, I(4294967295), true),
    (RangeExcess::Wrap, Atomic::Double, F(-0.5), Atomic::UInt, I(0), true),
    (RangeExcess::Wrap, Atomic::Double, F(f64::NAN), Atomic::UInt, I(0), true),
    (RangeExcess::Wrap, Atomic::Double, F(1e+300), Atomic::UInt, I(0), true),
    (RangeExcess::Wrap, Atomic::Double, F(9.2e+18), Atomic::Int64, I(9200000000000000000), false),
    (RangeExcess::Wrap, Atomic::Double, F(9.223372036854776e+18), Atomic::Int64, I(-9223372036854775808), false),
    (RangeExcess::Wrap, Atomic::Double, F(1e+300), Atomic::Int64, I(-9223372036854775808), true),
    (RangeExcess::Wrap, Atomic::Double, F(-9.223372036854776e+18), Atomic::Int64, I(-9223372036854775808), false),
    (RangeExcess::Wrap, Atomic::Double, F(f64::NAN), Atomic::Int64, I(-9223372036854775808), true),
    (RangeExcess::Wrap, Atomic::Double, F(1.8e+19), Atomic::UInt64, I(18000000000000000000), false),
    (RangeExcess::Wrap, Atomic::Double, F(1.8446744073709552e+19), Atomic::UInt64, I(0), false),
    (RangeExcess::Wrap, Atomic::Double, F(-1.0), Atomic::UInt64, I(18446744073709551615), true),
    (RangeExcess::Wrap, Atomic::Double, F(f64::NAN), Atomic::UInt64, I(9223372036854775808), true),
    (RangeExcess::Wrap, Atomic::Double, F(1e+300), Atomic::UInt64, I(0), true),
    (RangeExcess::Wrap, Atomic::Double, F(3.5e+38), Atomic::Float, F(f64::INFINITY), true),
    (RangeExcess::Wrap, Atomic::Double, F(1e+300), Atomic::Float, F(f64::INFINITY), true),
    (RangeExcess::Wrap, Atomic::Double, F(f64::INFINITY), Atomic::Float, F(f64::INFINITY), true),
    (RangeExcess::Wrap, Atomic::Double, F(f64::NAN), Atomic::Float, F(f64::NAN), false),
    (RangeExcess::Wrap, Atomic::Double, F(3.4028235677973366e+38), Atomic::Float, F(f64::INFINITY), true),
    (RangeExcess::Wrap, Atomic::Double, F(1e-50), Atomic::Float, F(0.0), false),
    (RangeExcess::Wrap, Atomic::Float, F(2147483648.0), Atomic::Int, I(-2147483648), true),
    (RangeExcess::Wrap, Atomic::Float, F(2147483520.0), Atomic::Int, I(2147483520), false),
    (RangeExcess::Wrap, Atomic::Float, F(f64::NAN), Atomic::Int, I(-2147483648), true),
    (RangeExcess::Wrap, Atomic::Float, F(1e+30), Atomic::Int, I(-2147483648), true),
    (RangeExcess::Wrap, Atomic::Float, F(32767.9), Atomic::Short, I(32767), true),
    (RangeExcess::Wrap, Atomic::Float, F(32768.0), Atomic::Short, I(-32768), true),
    (RangeExcess::Wrap, Atomic::Float, F(f64::NAN), Atomic::Short, I(0), true),
    (RangeExcess::Wrap, Atomic::Int, I(127), Atomic::Byte, I(127), false),
    (RangeExcess::Wrap, Atomic::Int, I(128), Atomic::Byte, I(-128), true),
    (RangeExcess::Wrap, Atomic::Int, I(-128), Atomic::Byte, I(-128), false),
    (RangeExcess::Wrap, Atomic::Int, I(-129), Atomic::Byte, I(127), true),
    (RangeExcess::Wrap, Atomic::Int, I(300), Atomic::Byte, I(44), true),
    (RangeExcess::Wrap, Atomic::Int, I(-1), Atomic::UByte, I(255), true),
    (RangeExcess::Wrap, Atomic::Int, I(0), Atomic::UByte, I(0), false),
    (RangeExcess::Wrap, Atomic::Int, I(255), Atomic::UByte, I(255), false),
    (RangeExcess::Wrap, Atomic::Int, I(256), Atomic::UByte, I(0), true),
    (RangeExcess::Wrap, Atomic::Int, I(-1), Atomic::UShort, I(65535), true),
    (RangeExcess::Wrap, Atomic::Int, I(65536), Atomic::UShort, I(0), true),
    (RangeExcess::Wrap, Atomic::Int, I(-1), Atomic::UInt, I(4294967295), true),
    (RangeExcess::Wrap, Atomic::Int, I(5), Atomic::UInt, I(5), false),
    (RangeExcess::Wrap, Atomic::Int, I(-1), Atomic::UInt64, I(18446744073709551615), true),
    (RangeExcess::Wrap, Atomic::Int, I(5), Atomic::UInt64, I(5), false),
    (RangeExcess::Wrap, Atomic::Int, I(16777217), Atomic::Float, F(16777216.0), false),
    (RangeExcess::Wrap, Atomic::Int, I(2147483647), Atomic::Float, F(2147483648.0), false),
    (RangeExcess::Wrap, Atomic::UInt64, I(9223372036854775808), Atomic::Int64, I(-9223372036854775808), true),
    (RangeExcess::Wrap, Atomic::UInt64, I(1), Atomic::Int64, I(1), false),
    (RangeExcess::Wrap, Atomic::UInt64, I(18446744073709551615), Atomic::Float, F(1.8446744073709552e+19), false),
    (RangeExcess::Wrap, Atomic::UByte, I(127), Atomic::Byte, I(127), false),
    (RangeExcess::Wrap, Atomic::UByte, I(128), Atomic::Byte, I(-128), true),
    (RangeExcess::Wrap, Atomic::UByte, I(255), Atomic::Byte, I(-1), true),
    (RangeExcess::Wrap, Atomic::Byte, I(-1), Atomic::UByte, I(255), true),
    (RangeExcess::Wrap, Atomic::Byte, I(5), Atomic::UByte, I(5), false),
    (RangeExcess::Wrap, Atomic::Byte, I(-1), Atomic::Short, I(-1), false),
    (RangeExcess::Wrap, Atomic::Byte, I(5), Atomic::Short, I(5), false),
    (RangeExcess::Wrap, Atomic::Byte, I(-1), Atomic::UShort, I(65535), true),
    (RangeExcess::Wrap, Atomic::Byte, I(5), Atomic::UShort, I(5), false),
    (RangeExcess::Fill, Atomic::Double, F(1.9), Atomic::Int, I(1), false),
    (RangeExcess::Fill, Atomic::Double, F(-1.9), Atomic::Int, I(-1), false),
    (RangeExcess::Fill, Atomic::Double, F(2147483647.0), Atomic::Int, I(2147483647), false),
    (RangeExcess::Fill, Atomic::Double, F(2147483647.5), Atomic::Int, I(-2147483647), true),
    (RangeExcess::Fill, Atomic::Double, F(2147483648.0), Atomic::Int, I(-2147483647), true),
    (RangeExcess::Fill, Atomic::Double, F(-2147483648.9), Atomic::Int, I(-2147483647), true),
    (RangeExcess::Fill, Atomic::Double, F(-2147483649.0), Atomic::Int, I(-2147483647), true),
    (RangeExcess::Fill, Atomic::Double, F(f64::NAN), Atomic::Int, I(-2147483647), true),
    (RangeExcess::Fill, Atomic::Double, F(f64::INFINITY), Atomic::Int, I(-2147483647), true),
    (RangeExcess::Fill, Atomic::Double, F(1e+300), Atomic::Int, I(-2147483647), true),
    (RangeExcess::Fill, Atomic::Double, F(127.9), Atomic::Byte, I(-127), true),
    (RangeExcess::Fill, Atomic::Double, F(128.0), Atomic::Byte, I(-127), true),
    (RangeExcess::Fill, Atomic::Double, F(-128.9), Atomic::Byte, I(-127), true),
    (RangeExcess::Fill, Atomic::Double, F(-129.0), Atomic::Byte, I(-127), true),
    (RangeExcess::Fill, Atomic::Double, F(f64::NAN), Atomic::Byte, I(-127), true),
    (RangeExcess::Fill, Atomic::Double, F(300.7), Atomic::Byte, I(-127), true),
    (RangeExcess::Fill, Atomic::Double, F(-300.7), Atomic::Byte, I(-127), true),
    (RangeExcess::Fill, Atomic::Double, F(1e+300), Atomic::Byte, I(-127), true),
    (RangeExcess::Fill, Atomic::Double, F(32767.9), Atomic::Short, I(-32767), true),
    (RangeExcess::Fill, Atomic::Double, F(32768.0), Atomic::Short, I(-32767), true),
    (RangeExcess::Fill, Atomic::Double, F(-32768.5), Atomic::Short, I(-32767), true),
    (RangeExcess::Fill, Atomic::Double, F(f64::NAN), Atomic::Short, I(-32767), true),
    (RangeExcess::Fill, Atomic::Double, F(70000.0), Atomic::Short, I(-32767), true),
    (RangeExcess::Fill, Atomic::Double, F(1e+300), Atomic::Short, I(-32767), true),
    (RangeExcess::Fill, Atomic::Double, F(255.9), Atomic::UByte, I(255), true),
    (RangeExcess::Fill, Atomic::Double, F(256.0), Atomic::UByte, I(255), true),
    (RangeExcess::Fill, Atomic::Double, F(-0.9), Atomic::UByte, I(255), true),
    (RangeExcess::Fill, Atomic::Double, F(-1.0), Atomic::UByte, I(255), true),
    (RangeExcess::Fill, Atomic::Double, F(f64::NAN), Atomic::UByte, I(255), true),
    (RangeExcess::Fill, Atomic::Double, F(300.0), Atomic::UByte, I(255), true),
    (RangeExcess::Fill, Atomic::Double, F(1e+300), Atomic::UByte, I(255), true),
    (RangeExcess::Fill, Atomic::Double, F(4294967295.9), Atomic::UInt, I(4294967295), true),
    (RangeExcess::Fill, Atomic::Double, F(4294967296.0), Atomic::UInt, I(4294967295), true),
    (RangeExcess::Fill, Atomic::Double, F(-1.0), Atomic::UInt, I(4294967295), true),
    (RangeExcess::Fill, Atomic::Double, F(-0.5), Atomic::UInt, I(4294967295), true),
    (RangeExcess::Fill, Atomic::Double, F(f64::NAN), Atomic::UInt, I(4294967295), true),
    (RangeExcess::Fill, Atomic::Double, F(1e+300), Atomic::UInt, I(4294967295), true),
    (RangeExcess::Fill, Atomic::Double, F(9.2e+18), Atomic::Int64, I(9200000000000000000), false),
    (RangeExcess::Fill, Atomic::Double, F(9.223372036854776e+18), Atomic::Int64, I(-9223372036854775808), false),
    (RangeExcess::Fill, Atomic::Double, F(1e+300), Atomic::Int64, I(-9223372036854775806), true),
    (RangeExcess::Fill, Atomic::Double, F(-9.223372036854776e+18), Atomic::Int64, I(-9223372036854775808), false),
    (RangeExcess::Fill, Atomic::Double, F(f64::NAN), Atomic::Int64, I(-9223372036854775806), true),
    (RangeExcess::Fill, Atomic::Double, F(1.8e+19), Atomic::UInt64, I(18000000000000000000), false),
    (RangeExcess::Fill, Atomic::Double, F(1.8446744073709552e+19), Atomic::UInt64, I(0), false),
    (RangeExcess::Fill, Atomic::Double, F(-1.0), Atomic::UInt64, I(18446744073709551614), true),
    (RangeExcess::Fill, Atomic::Double, F(f64::NAN), Atomic::UInt64, I(18446744073709551614), true),
    (RangeExcess::Fill, Atomic::Double, F(1e+300), Atomic::UInt64, I(18446744073709551614), true),
    (RangeExcess::Fill, Atomic::Double, F(3.5e+38), Atomic::Float, F(9.969209968386869e+36), true),
    (RangeExcess::Fill, Atomic::Double, F(1e+300), Atomic::Float, F(9.969209968386869e+36), true),
    (RangeExcess::Fill, Atomic::Double, F(f64::INFINITY), Atomic::Float, F(9.969209968386869e+36), true),
    (RangeExcess::Fill, Atomic::Double, F(f64::NAN), Atomic::Float, F(f64::NAN), false),
    (RangeExcess::Fill, Atomic::Double, F(3.4028235677973366e+38), Atomic::Float, F(9.969209968386869e+36), true),
    (RangeExcess::Fill, Atomic::Double, F(1e-50), Atomic::Float, F(0.0), false),
    (RangeExcess::Fill, Atomic::Float, F(2147483648.0), Atomic::Int, I(-2147483647), true),
    (RangeExcess::Fill, Atomic::Float, F(2147483520.0), Atomic::Int, I(2147483520), false),
    (RangeExcess::Fill, Atomic::Float, F(f64::NAN), Atomic::Int, I(-2147483647), true),
    (RangeExcess::Fill, Atomic::Float, F(1e+30), Atomic::Int, I(-2147483647), true),
    (RangeExcess::Fill, Atomic::Float, F(32767.9), Atomic::Short, I(-32767), true),
    (RangeExcess::Fill, Atomic::Float, F(32768.0), Atomic::Short, I(-32767), true),
    (RangeExcess::Fill, Atomic::Float, F(f64::NAN), Atomic::Short, I(-32767), true),
    (RangeExcess::Fill, Atomic::Int, I(127), Atomic::Byte, I(127), false),
    (RangeExcess::Fill, Atomic::Int, I(128), Atomic::Byte, I(-127), true),
    (RangeExcess::Fill, Atomic::Int, I(-128), Atomic::Byte, I(-128), false),
    (RangeExcess::Fill, Atomic::Int, I(-129), Atomic::Byte, I(-127), true),
    (RangeExcess::Fill, Atomic::Int, I(300), Atomic::Byte, I(-127), true),
    (RangeExcess::Fill, Atomic::Int, I(-1), Atomic::UByte, I(255), true),
    (RangeExcess::Fill, Atomic::Int, I(0), Atomic::UByte, I(0), false),
    (RangeExcess::Fill, Atomic::Int, I(255), Atomic::UByte, I(255), false),
    (RangeExcess::Fill, Atomic::Int, I(256), Atomic::UByte, I(255), true),
    (RangeExcess::Fill, Atomic::Int, I(-1), Atomic::UShort, I(65535), true),
    (RangeExcess::Fill, Atomic::Int, I(65536), Atomic::UShort, I(65535), true),
    (RangeExcess::Fill, Atomic::Int, I(-1), Atomic::UInt, I(4294967295), true),
    (RangeExcess::Fill, Atomic::Int, I(5), Atomic::UInt, I(5), false),
    (RangeExcess::Fill, Atomic::Int, I(-1), Atomic::UInt64, I(18446744073709551614), true),
    (RangeExcess::Fill, Atomic::Int, I(5), Atomic::UInt64, I(5), false),
    (RangeExcess::Fill, Atomic::Int, I(16777217), Atomic::Float, F(16777216.0), false),
    (RangeExcess::Fill, Atomic::Int, I(2147483647), Atomic::Float, F(2147483648.0), false),
    (RangeExcess::Fill, Atomic::UInt64, I(9223372036854775808), Atomic::Int64, I(-9223372036854775806), true),
    (RangeExcess::Fill, Atomic::UInt64, I(1), Atomic::Int64, I(1), false),
    (RangeExcess::Fill, Atomic::UInt64, I(18446744073709551615), Atomic::Float, F(1.8446744073709552e+19), false),
    (RangeExcess::Fill, Atomic::UByte, I(127), Atomic::Byte, I(127), false),
    (RangeExcess::Fill, Atomic::UByte, I(128), Atomic::Byte, I(-127), true),
    (RangeExcess::Fill, Atomic::UByte, I(255), Atomic::Byte, I(-127), true),
    (RangeExcess::Fill, Atomic::Byte, I(-1), Atomic::UByte, I(255), true),
    (RangeExcess::Fill, Atomic::Byte, I(5), Atomic::UByte, I(5), false),
    (RangeExcess::Fill, Atomic::Byte, I(-1), Atomic::Short, I(-1), false),
    (RangeExcess::Fill, Atomic::Byte, I(5), Atomic::Short, I(5), false),
    (RangeExcess::Fill, Atomic::Byte, I(-1), Atomic::UShort, I(65535), true),
    (RangeExcess::Fill, Atomic::Byte, I(5), Atomic::UShort, I(5), false),
];
