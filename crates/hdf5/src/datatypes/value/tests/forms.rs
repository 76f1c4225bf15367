//! Types of the data model, and the forms that the engine decodes.
use super::{array, bits, compound, format, integer, of, read, sequence, short, single, strings};
use crate::datatypes::{
    Datatype, DatatypeClass, FloatOrder, MantissaNorm, NativeType, ReferenceKind, StringPadding, native,
    stored,
};
use ncirrus_layout::{ByteOrder, StoredField, StoredType, TextEncoding};
use ncirrus_model::{Atomic, Values};
use rstest::rstest;

fn text(byte_len: u64, padding: StringPadding) -> Datatype {
    of(byte_len, DatatypeClass::Text(padding))
}

fn reference(kind: ReferenceKind) -> Datatype {
    of(8, DatatypeClass::Reference(kind))
}

#[rstest]
#[case(StringPadding::NulTerminated, &["ab", "a", "", "abcd"])]
#[case(StringPadding::NulPadded, &["ab", "a\0b", "", "abcd"])]
#[case(StringPadding::SpacePadded, &["ab\0\0", "a\0b", "\0\0\0\0", "abcd"])]
fn fixed_text_loses_its_own_padding_only(#[case] padding: StringPadding, #[case] wanted: &[&str]) {
    let mut raw = *b"ab\0\0a\0b\0\0\0\0\0abcd";
    if padding == StringPadding::SpacePadded {
        raw[7] = b' ';
    }
    let wanted: Vec<_> = wanted.iter().copied().map(Some).collect();
    assert_eq!(read(&[], &text(4, padding), &raw, 4).unwrap(), strings(&wanted));
}

#[test]
fn one_byte_of_text_is_a_character() {
    let datatype = text(1, StringPadding::NulTerminated);
    assert_eq!(native(&datatype), NativeType::Atomic(Atomic::Char));
    assert_eq!(read(&[], &datatype, b"a\0b", 3).unwrap(), Values::Char(b"a\0b".to_vec()));
    assert_eq!(stored(&datatype), Some(StoredType::Char));
}

#[test]
fn the_engine_decodes_text_whose_padding_it_knows() {
    let form = |padding| stored(&text(4, padding));
    let of = |encoding| Some(StoredType::Text { byte_len: 4, encoding });
    assert_eq!(form(StringPadding::NulPadded), of(TextEncoding::NulPaddedEmpty));
    assert_eq!(form(StringPadding::SpacePadded), of(TextEncoding::SpacePadded));
    assert_eq!(form(StringPadding::NulTerminated), None);
}

#[test]
fn the_engine_copies_plain_numbers() {
    let big = ByteOrder::Big;
    let form = StoredType::Integer { size: 4, signed: true, order: big };
    assert_eq!(stored(&integer(4, true, big)), Some(form));
    assert_eq!(stored(&integer(3, true, big)), None);
    assert_eq!(stored(&bits(4, true, big, 0, 31)), None);
    let float = |order, bits: (u8, u8), bias| {
        let byte_len = u64::from(bits.0 + bits.1 + 1) / 8;
        stored(&of(
            byte_len,
            DatatypeClass::Float(format(order, bits.0, bits.1, bias, MantissaNorm::Implied)),
        ))
    };
    let known = |size| Some(StoredType::Float { size, order: big });
    assert_eq!(float(FloatOrder::Big, (5, 10), 15), known(2));
    assert_eq!(float(FloatOrder::Big, (8, 23), 127), known(4));
    assert_eq!(float(FloatOrder::Big, (11, 52), 1023), known(8));
    assert_eq!(float(FloatOrder::Big, (8, 7), 127), Some(StoredType::BFloat16 { order: big }));
    assert_eq!(float(FloatOrder::Big, (8, 23), 126), None);
    assert_eq!(float(FloatOrder::Vax, (8, 23), 127), None);
}

#[test]
fn compounds_have_a_form_when_all_members_have() {
    let short_form = StoredType::Integer { size: 2, signed: true, order: ByteOrder::Little };
    let plain = compound(
        20,
        vec![("b", 8, array(&[2], array(&[3], short()))), ("a", 0, text(1, StringPadding::NulPadded))],
    );
    let fields = [
        StoredField { offset: 8, stored: short_form, count: 6 },
        StoredField { offset: 0, stored: StoredType::Char, count: 1 },
    ];
    assert_eq!(stored(&plain), Some(StoredType::Compound { byte_len: 20, fields: fields.into() }));
    let odd = compound(20, vec![("a", 0, integer(3, true, ByteOrder::Big))]);
    assert_eq!((native(&odd), stored(&odd)), (NativeType::Compound, None));
    let complex = of(8, DatatypeClass::Complex(Box::new(single())));
    let float = StoredType::Float { size: 4, order: ByteOrder::Little };
    let fields = [0, 4].map(|offset| StoredField { offset, stored: float.clone(), count: 1 });
    assert_eq!(stored(&complex), Some(StoredType::Compound { byte_len: 8, fields: fields.into() }));
}

#[test]
fn what_is_in_heaps_has_no_form() {
    assert_eq!(stored(&sequence(short())), None);
    assert_eq!(stored(&of(16, DatatypeClass::VlenText(StringPadding::NulTerminated))), None);
    assert_eq!(stored(&reference(ReferenceKind::Object)), None);
    assert_eq!(stored(&array(&[2], short())), None);
}

#[test]
fn a_member_without_values_is_named() {
    let datatype = compound(8, vec![("ok", 0, short()), ("when", 4, of(4, DatatypeClass::Time))]);
    let reason = "member when: time datatypes (class 2) are not supported";
    assert_eq!(native(&datatype), NativeType::None(reason.to_owned()));
    assert_eq!(read(&[], &datatype, &[0; 8], 1).unwrap_err().message(), reason);
    assert_eq!(native(&sequence(datatype.clone())), NativeType::None(reason.to_owned()));
    assert_eq!(native(&array(&[2], datatype)), NativeType::None(reason.to_owned()));
}

#[test]
fn references_have_values_and_empty_compounds_have_not() {
    let old = [ReferenceKind::Object, ReferenceKind::Region];
    let new = [ReferenceKind::NewObject, ReferenceKind::NewRegion, ReferenceKind::NewAttribute];
    for kind in old.into_iter().chain(new) {
        assert_eq!(native(&reference(kind)), NativeType::Reference);
    }
    assert!(matches!(native(&compound(4, Vec::new())), NativeType::None(_)));
    assert!(matches!(native(&sequence(array(&[2], short()))), NativeType::None(_)));
}

#[test]
fn members_become_columns_in_the_order_of_definition() {
    let inner = compound(3, vec![("c", 1, integer(1, false, ByteOrder::Little))]);
    let datatype = compound(
        10,
        vec![("b", 2, array(&[2], inner)), ("a", 0, short()), ("o", 9, of(1, DatatypeClass::Opaque))],
    );
    let raw = [1, 0, 9, 10, 9, 9, 11, 9, 9, 7, 2, 0, 9, 20, 9, 9, 21, 9, 9, 8];
    let b = Values::Compound { len: 4, fields: vec![Values::UByte(vec![10, 11, 20, 21])] };
    let o = Values::Opaque { size: 1, bytes: vec![7, 8] };
    let wanted = Values::Compound { len: 2, fields: vec![b, Values::Short(vec![1, 2]), o] };
    assert_eq!(read(&[], &datatype, &raw, 2).unwrap(), wanted);
}

#[test]
fn complex_numbers_are_two_columns_and_arrays_one() {
    let raw = [1.0_f32, 2.0, 3.0, 4.0].map(f32::to_le_bytes).concat();
    let complex = of(8, DatatypeClass::Complex(Box::new(single())));
    let fields = vec![Values::Float(vec![1.0, 3.0]), Values::Float(vec![2.0, 4.0])];
    assert_eq!(native(&complex), NativeType::Compound);
    assert_eq!(read(&[], &complex, &raw, 2).unwrap(), Values::Compound { len: 2, fields });
    let flat = read(&[], &array(&[2], single()), &raw, 2).unwrap();
    assert_eq!(flat, Values::Float(vec![1.0, 2.0, 3.0, 4.0]));
}

#[test]
fn fewer_bytes_than_elements_are_an_error() {
    let error = read(&[], &short(), &[0; 5], 3).unwrap_err();
    assert_eq!(error.message(), "5 bytes where 3 elements of 2 bytes were expected");
    assert!(read(&[], &short(), &[0; 5], usize::MAX).is_err());
}
