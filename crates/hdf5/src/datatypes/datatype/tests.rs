use super::nested_datatype;
use crate::address::FieldSizes;
use crate::datatypes::{
    BitField, CompoundMember, Datatype, DatatypeClass, EnumValue, FloatFormat, FloatOrder, MantissaNorm,
    ReferenceKind, StringPadding,
};
use ncirrus_layout::{ByteOrder, Limits, Result};
use proptest::prelude::*;
use rstest::rstest;

const SIZES: FieldSizes = FieldSizes { offsets: 8, lengths: 8 };

fn parse(bytes: &[u8]) -> Result<Datatype> {
    let (datatype, len) = nested_datatype(bytes, SIZES, &Limits::default())?;
    assert_eq!(len, bytes.len(), "bytes that were not read");
    Ok(datatype)
}

fn refusal(bytes: &[u8]) -> String {
    parse(bytes).unwrap_err().message().to_owned()
}

/// A datatype: version and class, the bit field's lower bytes, the size, the rest.
fn message(first: u8, flags: [u8; 2], byte_len: u32, rest: &[&[u8]]) -> Vec<u8> {
    let head = [first, flags[0], flags[1], 0];
    [head.as_slice(), &byte_len.to_le_bytes(), &rest.concat()].concat()
}

fn i4() -> Vec<u8> {
    message(0x10, [8, 0], 4, &[&[0, 0, 32, 0]])
}

fn i2_big() -> Vec<u8> {
    message(0x10, [9, 0], 2, &[&[0, 0, 16, 0]])
}

fn f4() -> Vec<u8> {
    message(0x11, [0x20, 0x1f], 4, &[&[0, 0, 32, 0, 23, 8, 0, 23, 127, 0, 0, 0]])
}

fn signed(byte_len: u64, order: ByteOrder) -> Datatype {
    let precision = u16::try_from(8 * byte_len).unwrap();
    of(byte_len, DatatypeClass::Integer(BitField { order, signed: true, offset: 0, precision }))
}

fn of(byte_len: u64, class: DatatypeClass) -> Datatype {
    Datatype { byte_len, class, committed: None }
}

fn member(name: &str, offset: u64, datatype: Datatype) -> CompoundMember {
    CompoundMember { name: name.to_owned(), offset, datatype }
}

#[rstest]
#[case(1)]
#[case(2)]
#[case(3)]
#[case(4)]
#[case(5)]
fn plain_numbers_are_the_same_in_every_version(#[case] version: u8) {
    let mut bytes = i4();
    bytes[0] = version << 4;
    assert_eq!(parse(&bytes).unwrap(), signed(4, ByteOrder::Little));
    let mut bytes = f4();
    bytes[0] = version << 4 | 1;
    let format = FloatFormat {
        order: FloatOrder::Little,
        offset: 0,
        precision: 32,
        sign: 31,
        exponent: (23, 8),
        mantissa: (0, 23),
        bias: 127,
        norm: MantissaNorm::Implied,
    };
    assert_eq!(parse(&bytes).unwrap(), of(4, DatatypeClass::Float(format)));
}

#[test]
fn bits_may_be_fewer_than_bytes_have() {
    let bits = BitField { order: ByteOrder::Big, signed: false, offset: 3, precision: 17 };
    assert_eq!(
        parse(&message(0x10, [1, 0], 4, &[&[3, 0, 17, 0]])).unwrap(),
        of(4, DatatypeClass::Integer(bits))
    );
    assert_eq!(
        parse(&message(0x14, [1, 0], 4, &[&[3, 0, 17, 0]])).unwrap(),
        of(4, DatatypeClass::BitField(bits))
    );
}

#[test]
fn two_bits_state_the_order_of_floats_since_version_3() {
    let order = |version: u8, flags: u8| {
        let mut bytes = f4();
        (bytes[0], bytes[1]) = (version << 4 | 1, 0x20 | flags);
        parse(&bytes).map(|datatype| match datatype.class {
            DatatypeClass::Float(format) => format.order,
            other => panic!("{other:?}"),
        })
    };
    assert_eq!(order(1, 0x41).unwrap(), FloatOrder::Big);
    assert_eq!(order(2, 0x40).unwrap(), FloatOrder::Little);
    assert_eq!(order(3, 0x41).unwrap(), FloatOrder::Vax);
    assert!(order(3, 0x40).is_err());
}

#[test]
fn text_opaque_time_and_references_have_their_kinds() {
    assert_eq!(
        parse(&message(0x13, [0x12, 0], 5, &[])).unwrap(),
        of(5, DatatypeClass::Text(StringPadding::SpacePadded))
    );
    assert_eq!(parse(&message(0x15, [8, 0], 3, &[b"tag\0\0\0\0\0"])).unwrap(), of(3, DatatypeClass::Opaque));
    assert_eq!(parse(&message(0x12, [0, 0], 4, &[&[32, 0]])).unwrap(), of(4, DatatypeClass::Time));
    for (value, kind) in
        [(0, ReferenceKind::Object), (1, ReferenceKind::Region), (4, ReferenceKind::NewAttribute)]
    {
        assert_eq!(parse(&message(0x47, [value, 0], 8, &[])).unwrap(), of(8, DatatypeClass::Reference(kind)));
    }
}

#[test]
fn members_of_version_1_have_lengths_of_their_own() {
    let head = |offset: u32, rank: u8, lens: [u8; 2]| {
        let mut bytes = offset.to_le_bytes().to_vec();
        bytes.extend([rank, 0, 0, 0]);
        bytes.extend([0; 8]);
        bytes.extend([lens[0], 0, 0, 0, lens[1], 0, 0, 0, 9, 9, 9, 9, 9, 9, 9, 9]);
        bytes
    };
    let name = *b"seven..\0";
    let bytes = message(
        0x16,
        [2, 0],
        20,
        &[&name, &head(16, 0, [5, 5]), &i2_big(), b"a\0......", &head(0, 2, [2, 2]), &i4()],
    );
    let base = Box::new(signed(4, ByteOrder::Little));
    let members = [
        member("seven..", 16, signed(2, ByteOrder::Big)),
        member("a", 0, of(16, DatatypeClass::Array { dims: vec![2, 2], base })),
    ];
    assert_eq!(parse(&bytes).unwrap(), of(20, DatatypeClass::Compound(members.into())));
}

#[test]
fn names_of_version_2_are_padded_with_their_nul() {
    let name = *b"eight...\0pppppp.";
    let bytes = message(0x26, [1, 0], 4, &[&name, &[0, 0, 0, 0], &i4()]);
    let members = [member("eight...", 0, signed(4, ByteOrder::Little))];
    assert_eq!(parse(&bytes).unwrap(), of(4, DatatypeClass::Compound(members.into())));
}

#[rstest]
#[case(255, 1)]
#[case(256, 2)]
#[case(65_536, 3)]
#[case(1 << 24, 4)]
fn offsets_of_version_3_are_as_wide_as_the_size_needs(#[case] byte_len: u32, #[case] width: usize) {
    let offset = (byte_len - 2).to_le_bytes();
    let bytes = message(0x36, [1, 0], byte_len, &[b"b\0", &offset[..width], &i2_big()]);
    let members = [member("b", u64::from(byte_len) - 2, signed(2, ByteOrder::Big))];
    assert_eq!(parse(&bytes).unwrap(), of(u64::from(byte_len), DatatypeClass::Compound(members.into())));
}

#[test]
fn values_of_enumerations_are_in_the_order_of_their_base() {
    let wanted = |members: &[(&str, i128)]| {
        let members =
            members.iter().map(|(name, value)| EnumValue { name: (*name).to_owned(), value: *value });
        of(2, DatatypeClass::Enum { base: Box::new(signed(2, ByteOrder::Big)), members: members.collect() })
    };
    let old = message(0x18, [2, 0], 2, &[&i2_big(), b"NO\0.....", b"YES\0....", &[0xff, 0xff, 1, 0]]);
    assert_eq!(parse(&old).unwrap(), wanted(&[("NO", -1), ("YES", 256)]));
    let packed = message(0x38, [2, 0], 2, &[&i2_big(), b"NO\0YES\0", &[0, 0, 0, 1]]);
    assert_eq!(parse(&packed).unwrap(), wanted(&[("NO", 0), ("YES", 1)]));
}

#[test]
fn of_two_constants_of_one_name_the_first_wins() {
    let bytes = message(0x38, [2, 0], 2, &[&i2_big(), b"A\0A\0", &[0, 0, 0, 1]]);
    let DatatypeClass::Enum { members, .. } = parse(&bytes).unwrap().class else { panic!() };
    assert_eq!(*members, [EnumValue { name: "A".to_owned(), value: 0 }]);
}

#[test]
fn arrays_have_a_permutation_until_version_2() {
    let wanted =
        of(24, DatatypeClass::Array { dims: vec![2, 3], base: Box::new(signed(4, ByteOrder::Little)) });
    let lens = [2, 0, 0, 0, 3, 0, 0, 0];
    let old = message(0x2a, [0, 0], 24, &[&[2, 0, 0, 0], &lens, &[7; 8], &i4()]);
    assert_eq!(parse(&old).unwrap(), wanted);
    let new = message(0x3a, [0, 0], 24, &[&[2], &lens, &i4()]);
    assert_eq!(parse(&new).unwrap(), wanted);
}

#[test]
fn variable_length_is_of_elements_or_text() {
    let sequence = message(0x19, [0, 0], 16, &[&i4()]);
    let base = Box::new(signed(4, ByteOrder::Little));
    assert_eq!(parse(&sequence).unwrap(), of(16, DatatypeClass::Vlen(base)));
    let byte = message(0x10, [0, 0], 1, &[&[0, 0, 8, 0]]);
    let text = message(0x19, [1, 1], 16, &[&byte]);
    assert_eq!(parse(&text).unwrap(), of(16, DatatypeClass::VlenText(StringPadding::NulTerminated)));
    let short = message(0x19, [0, 0], 12, &[&i4()]);
    assert_eq!(refusal(&short), "a variable-length datatype of 12 bytes, not 16");
}

#[test]
fn complex_numbers_are_two_floats() {
    let complex = message(0x5b, [1, 0], 8, &[&f4()]);
    let DatatypeClass::Complex(base) = parse(&complex).unwrap().class else { panic!() };
    assert_eq!(*base, parse(&f4()).unwrap());
    assert!(parse(&message(0x5b, [1, 0], 12, &[&f4()])).is_err());
    assert!(parse(&message(0x5b, [0, 0], 8, &[&f4()])).is_err());
}

#[rstest]
#[case(message(0x10, [0, 0], 0, &[&[0, 0, 8, 0]]), "a datatype of class 0 and 0 bytes")]
#[case(message(0x60, [0, 0], 1, &[]), "a datatype of version 6")]
#[case(message(0x1c, [0, 0], 1, &[]), "a datatype of class 12")]
#[case(message(0x10, [0, 0], 1, &[&[0, 0, 0, 0]]), "a number of 0 bits from bit 0 in 1 bytes")]
#[case(message(0x10, [0, 0], 1, &[&[1, 0, 8, 0]]), "a number of 8 bits from bit 1 in 1 bytes")]
#[case(message(0x11, [0x20, 32], 4, &[&f4()[8..]]), "a sign of 1 bits from bit 32 in 4 bytes")]
#[case(message(0x13, [3, 0], 4, &[]), "text with unknown padding 3")]
#[case(message(0x17, [5, 0], 8, &[]), "references of kind 5")]
#[case(message(0x18, [0, 0], 4, &[&i2_big()]), "an enumeration of 4 bytes on a base of 2")]
#[case(message(0x18, [0, 0], 4, &[&f4()]), "an enumeration whose base type is not an integer")]
#[case(message(0x3a, [0, 0], 8, &[&[1, 3, 0, 0, 0], &i4()]), "an array datatype of 8 bytes: [3] elements of 4")]
#[case(message(0x3a, [0, 0], 8, &[&[33]]), "an array datatype of 33 dimensions")]
#[case(message(0x36, [1, 0], 4, &[b"a\0\x01", &i4()]), "member a of 4 bytes at byte 1 of a compound of 4")]
#[case(message(0x36, [2, 0], 7, &[b"a\0\x00", &i4(), b"b\0\x03", &i4()]), "member b at byte 3 overlaps another")]
#[case(message(0x36, [2, 0], 8, &[b"a\0\x00", &i4(), b"a\0\x04", &i4()]), "a compound with two members a")]
fn impossible_types_are_refused(#[case] bytes: Vec<u8>, #[case] message: &str) {
    assert_eq!(refusal(&bytes), message);
}

#[test]
fn nesting_has_an_end() {
    let nested = |levels: usize| {
        let level = message(0x3a, [0, 0], 4, &[&[0]]);
        [level.repeat(levels), i4()].concat()
    };
    assert!(parse(&nested(63)).is_ok());
    assert!(refusal(&nested(64)).contains("levels"));
    assert!(refusal(&nested(100_000)).contains("levels"));
}

/// A type that has something of everything.
fn everything() -> Vec<u8> {
    let sequence = message(0x19, [0, 0], 16, &[&f4()]);
    let array = message(0x3a, [0, 0], 8, &[&[1, 2, 0, 0, 0], &i4()]);
    let answer = message(0x38, [2, 0], 2, &[&i2_big(), b"NO\0YES\0", &[0, 0, 0, 1]]);
    let inner = message(0x36, [1, 0], 2, &[b"e\0\x00", &answer]);
    message(0x36, [3, 0], 26, &[b"s\0\x00", &sequence, b"a\0\x10", &array, b"c\0\x18", &inner])
}

#[test]
fn every_prefix_is_an_error() {
    let whole = everything();
    assert!(parse(&whole).is_ok());
    for len in 0..whole.len() {
        assert!(nested_datatype(&whole[..len], SIZES, &Limits::default()).is_err(), "{len} bytes");
    }
}

proptest! {
    #[test]
    fn any_bytes_are_a_type_or_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..120)) {
        if let Ok((datatype, len)) = nested_datatype(&bytes, SIZES, &Limits::default()) {
            prop_assert!(len <= bytes.len() && datatype.byte_len > 0);
        }
    }

    #[test]
    fn a_damaged_type_is_a_type_or_an_error(at in 0usize..200, mask in 1u8..) {
        let mut bytes = everything();
        let at = at % bytes.len();
        bytes[at] ^= mask;
        if let Ok((datatype, len)) = nested_datatype(&bytes, SIZES, &Limits::default()) {
            prop_assert!(len <= bytes.len() && datatype.byte_len > 0);
        }
    }
}
