//! Numbers of all types.
use ncirrus::{Atomic, Values};

/// The types of numbers.
pub(crate) const NUMBERS: [Atomic; 10] = [
    Atomic::Byte,
    Atomic::Short,
    Atomic::Int,
    Atomic::Float,
    Atomic::Double,
    Atomic::UByte,
    Atomic::UShort,
    Atomic::UInt,
    Atomic::Int64,
    Atomic::UInt64,
];

/// Six values of a type, including its extremes.
pub(crate) fn six(atomic: Atomic) -> Values {
    match atomic {
        Atomic::Byte => Values::Byte(vec![i8::MIN, -1, 0, 1, 2, i8::MAX]),
        Atomic::Short => Values::Short(vec![i16::MIN, -1, 0, 1, 2, i16::MAX]),
        Atomic::Int => Values::Int(vec![i32::MIN, -1, 0, 1, 2, i32::MAX]),
        Atomic::Float => Values::Float(vec![f32::NAN, f32::INFINITY, 0.1, 1.0, -2.5, f32::MAX]),
        Atomic::Double => Values::Double(vec![f64::NAN, f64::NEG_INFINITY, 0.1, 1.0, -2.5, 5e-324]),
        Atomic::UByte => Values::UByte(vec![0, 1, 2, 3, 4, u8::MAX]),
        Atomic::UShort => Values::UShort(vec![0, 1, 2, 3, 4, u16::MAX]),
        Atomic::UInt => Values::UInt(vec![0, 1, 2, 3, 4, u32::MAX]),
        Atomic::Int64 => Values::Int64(vec![i64::MIN, -1, 0, 1, (1 << 53) + 1, i64::MAX]),
        Atomic::UInt64 => Values::UInt64(vec![0, 1, 2, 3, (1 << 53) + 1, u64::MAX]),
        Atomic::Char => Values::Char(b"abcdef".to_vec()),
        Atomic::String => {
            Values::String(["one", "", "µ", "four", "5", "x y"].into_iter().map(Some).collect())
        }
    }
}
