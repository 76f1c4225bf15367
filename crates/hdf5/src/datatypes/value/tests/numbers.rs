use super::{bits, format, integer, of, read, single};
use crate::datatypes::{
    BitField, Datatype, DatatypeClass, EnumValue, FloatOrder, MantissaNorm, NativeType, native,
};
use ncirrus_layout::ByteOrder;
use ncirrus_model::{Atomic, Values};
use proptest::prelude::*;
use rstest::rstest;

fn value(datatype: &Datatype, raw: &[u8]) -> Values {
    read(&[], datatype, raw, 1).unwrap()
}

fn double(datatype: &Datatype, raw: &[u8]) -> f64 {
    match value(datatype, raw) {
        Values::Double(values) => values[0],
        other => panic!("{other:?}"),
    }
}

#[test]
fn whole_integers_are_read_in_either_order() {
    let raw = [0xff, 0xfe];
    assert_eq!(value(&integer(2, true, ByteOrder::Little), &raw), Values::Short(vec![-257]));
    assert_eq!(value(&integer(2, false, ByteOrder::Big), &raw), Values::UShort(vec![0xfffe]));
}

#[test]
fn odd_integers_take_the_next_size_up() {
    let three = integer(3, true, ByteOrder::Big);
    assert_eq!(value(&three, &[0xff, 0xff, 0xfe]), Values::Int(vec![-2]));
    let five = integer(5, false, ByteOrder::Little);
    assert_eq!(value(&five, &[1, 0, 0, 0, 1]), Values::UInt64(vec![0x1_0000_0001]));
    let sixteen = bits(16, true, ByteOrder::Big, 4, 60);
    assert_eq!(native(&sixteen), NativeType::Atomic(Atomic::Int64));
    let raw = [[0; 8], (-16_i64).to_be_bytes()].concat();
    assert_eq!(value(&sixteen, &raw), Values::Int64(vec![-1]));
    let wide = integer(16, true, ByteOrder::Little);
    assert_eq!(native(&wide), NativeType::None("integers of 128 bits are not supported".to_owned()));
}

#[test]
fn bits_are_cut_out_and_their_sign_extended() {
    let signed = bits(4, true, ByteOrder::Little, 3, 17);
    let raw = (0x1_fffe_u32 << 3 | 7 | 0xf000_0000).to_le_bytes();
    assert_eq!(value(&signed, &raw), Values::Int(vec![-2]));
    let unsigned = bits(2, false, ByteOrder::Big, 0, 12);
    assert_eq!(value(&unsigned, &[0xfa, 0xbc]), Values::UShort(vec![0xabc]));
}

#[test]
fn bit_fields_are_unsigned_and_enumerations_have_their_base() {
    let order = ByteOrder::Little;
    let field = of(2, DatatypeClass::BitField(BitField { order, signed: false, offset: 0, precision: 16 }));
    assert_eq!(value(&field, &[0xff, 0xff]), Values::UShort(vec![0xffff]));
    let member = EnumValue { name: "A".to_owned(), value: 1 };
    let base = Box::new(integer(2, true, ByteOrder::Big));
    let answer = of(2, DatatypeClass::Enum { base, members: [member].into() });
    assert_eq!(native(&answer), NativeType::Enum(Atomic::Short));
    assert_eq!(value(&answer, &[0, 1]), Values::Short(vec![1]));
}

#[test]
fn half_precision_becomes_float() {
    let half = of(2, DatatypeClass::Float(format(FloatOrder::Big, 5, 10, 15, MantissaNorm::Implied)));
    for (raw, wanted) in
        [([0x3e, 0], 1.5), ([0xfc, 0], f32::NEG_INFINITY), ([0, 1], 5.960_464_5e-8), ([0x80, 0], -0.0)]
    {
        assert_eq!(value(&half, &raw), Values::Float(vec![wanted]));
    }
    let brain = of(2, DatatypeClass::Float(format(FloatOrder::Little, 8, 7, 127, MantissaNorm::Implied)));
    assert_eq!(value(&brain, &[0xc0, 0x3f]), Values::Float(vec![1.5]));
}

#[test]
fn other_formats_become_double() {
    let eight = of(1, DatatypeClass::Float(format(FloatOrder::Little, 4, 3, 7, MantissaNorm::Implied)));
    assert_eq!(double(&eight, &[0x3c]), 1.5);
    assert_eq!(double(&eight, &[0x01]), 0.001_953_125);
    let packed = of(4, DatatypeClass::Float(format(FloatOrder::Little, 6, 20, 31, MantissaNorm::Implied)));
    assert_eq!(double(&packed, &(31_u32 << 20 | 1 << 19 | 1 << 26).to_le_bytes()), -1.5);
}

#[test]
fn a_leading_bit_may_be_stored() {
    let x87 = of(16, DatatypeClass::Float(format(FloatOrder::Little, 15, 64, 16383, MantissaNorm::None)));
    let element = |exponent: u16, mantissa: u64| {
        let mut raw = [mantissa.to_le_bytes().as_slice(), &exponent.to_le_bytes()].concat();
        raw.resize(16, 0xee);
        raw
    };
    assert_eq!(double(&x87, &element(0x3fff, 3 << 62)), 1.5);
    assert_eq!(double(&x87, &element(0xffff, 1 << 63)), f64::NEG_INFINITY);
    assert!(double(&x87, &element(0x7fff, 3 << 62)).is_nan());
    assert_eq!(double(&x87, &element(0, 0)), 0.0);
    assert_eq!(double(&x87, &element(1, 1 << 63)), 0.0);
}

#[test]
fn vax_words_come_most_significant_first() {
    let f = of(4, DatatypeClass::Float(format(FloatOrder::Vax, 8, 23, 129, MantissaNorm::Implied)));
    // 1.5 is 0 10000001 1000..., the upper word first and each word little-endian.
    assert_eq!(double(&f, &[0xc0, 0x40, 0, 0]), 1.5);
    assert_eq!(double(&f, &[0x80, 0x40, 1, 0]), 1.0 + 2_f64.powi(-23));
}

/// A number as binary128.
fn quad(sign: u128, exponent: u128, mantissa: u128) -> [u8; 16] {
    (sign << 127 | exponent << 112 | mantissa).to_be_bytes()
}

#[rstest]
#[case(quad(0, 16383, 1 << 111), 1.5)]
#[case(quad(0, 16383, 1 << 59), 1.0)] // half of the last place: to even
#[case(quad(0, 16383, 1 << 59 | 1), 1.0 + f64::EPSILON)]
#[case(quad(0, 16383, 3 << 59), 1.0 + 2.0 * f64::EPSILON)] // a half above an odd one: to even
#[case(quad(0, 16383 + 1023, (1 << 112) - 1), f64::INFINITY)]
#[case(quad(1, 16383 + 1024, 0), f64::NEG_INFINITY)]
#[case(quad(0, 16383 - 1074, 0), 5e-324)]
#[case(quad(0, 16383 - 1075, 0), 0.0)] // half of the least: to even
#[case(quad(0, 16383 - 1075, 1), 5e-324)]
#[case(quad(0, 16383 - 1023, (1 << 112) - 1), f64::MIN_POSITIVE)]
#[case(quad(0, 1, 0), 0.0)]
#[case(quad(0, 0x7fff, 0), f64::INFINITY)]
fn wider_numbers_are_rounded_to_the_nearest_double(#[case] raw: [u8; 16], #[case] wanted: f64) {
    let quad = of(16, DatatypeClass::Float(format(FloatOrder::Big, 15, 112, 16383, MantissaNorm::Implied)));
    assert_eq!(double(&quad, &raw).to_bits(), wanted.to_bits());
}

#[test]
fn formats_without_end_are_refused() {
    let wide = of(64, DatatypeClass::Float(format(FloatOrder::Big, 40, 200, 16383, MantissaNorm::Implied)));
    assert!(matches!(native(&wide), NativeType::None(_)));
    assert!(read(&[], &wide, &[0; 64], 1).is_err());
}

proptest! {
    #[test]
    fn doubles_survive_a_wider_format(value in any::<f64>()) {
        prop_assume!(value.is_normal());
        let bits = value.to_bits();
        let exponent = u128::from(bits >> 52 & 0x7ff) + 16383 - 1023;
        let raw = quad(u128::from(bits >> 63), exponent, u128::from(bits & ((1 << 52) - 1)) << 60);
        let quad = of(16, DatatypeClass::Float(format(FloatOrder::Big, 15, 112, 16383, MantissaNorm::Implied)));
        prop_assert_eq!(double(&quad, &raw).to_bits(), bits);
    }

    #[test]
    fn the_general_way_gives_plain_floats(bits in any::<u32>()) {
        // One bit more of precision makes the format an odd one with the same values.
        let value = f32::from_bits(bits);
        prop_assume!(!value.is_nan());
        let DatatypeClass::Float(mut format) = single().class else { panic!() };
        format.precision = 31;
        prop_assert_eq!(double(&of(4, DatatypeClass::Float(format)), &bits.to_le_bytes()), f64::from(value));
    }

    #[test]
    fn integers_of_any_bits_are_what_a_shift_gives(raw in any::<u64>(), offset in 0u16..64, len in 1u16..64) {
        let len = len.min(64 - offset);
        let unsigned = raw >> offset & (u64::MAX >> (64 - len));
        let signed = (unsigned << (64 - len)).cast_signed() >> (64 - len);
        let of = |signed, order| bits(8, signed, order, offset, len);
        prop_assert_eq!(value(&of(false, ByteOrder::Big), &raw.to_be_bytes()), Values::UInt64(vec![unsigned]));
        prop_assert_eq!(value(&of(true, ByteOrder::Little), &raw.to_le_bytes()), Values::Int64(vec![signed]));
    }
}
