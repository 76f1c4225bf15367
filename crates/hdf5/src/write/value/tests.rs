use super::*;
use crate::address::FieldSizes;
use crate::datatypes::{BitField, values};
use crate::testing::done;
use crate::write::tests::{any_type, file_with};
use ncirrus_layout::ByteOrder;
use ncirrus_model::Strings;
use ncirrus_testkit::law::RandomSource;
use proptest::prelude::*;
use std::collections::HashMap;

const SIZES: FieldSizes = FieldSizes { offsets: 8, lengths: 8 };

fn encode(datatype: &Datatype, of: &Values) -> Result<Vec<u8>> {
    encode_values(datatype, of, 0..of.len(), &mut HeapBuilder::new(SIZES), &mut SpaceAllocator::new(4096))
}

fn of(byte_len: u64, class: DatatypeClass) -> Datatype {
    Datatype { byte_len, class, committed: None }
}

fn integer(byte_len: u64, signed: bool, offset: u16, precision: u16, order: ByteOrder) -> Datatype {
    of(byte_len, DatatypeClass::Integer(BitField { order, signed, offset, precision }))
}

#[test]
fn numbers_are_stored_in_their_order_and_bits() {
    let values = Values::Short(vec![-2, 300]);
    assert_eq!(encode(&integer(2, true, 0, 16, ByteOrder::Big), &values).expect("bytes"), [255, 254, 1, 44]);
    let odd = integer(3, true, 4, 12, ByteOrder::Little);
    assert_eq!(encode(&odd, &values).expect("bytes"), [0xe0, 0xff, 0, 0xc0, 0x12, 0]);
    let error = encode(&integer(1, true, 0, 8, ByteOrder::Little), &values).expect_err("300 in a byte");
    assert_eq!(error.message(), "300 does not fit 8 bits");
    assert!(encode(&integer(2, false, 0, 16, ByteOrder::Little), &values).is_err(), "-2 has a sign");
    assert!(encode(&integer(2, true, 0, 16, ByteOrder::Little), &Values::Float(vec![1.0])).is_err());
}

#[test]
fn text_of_fixed_length_is_padded_and_never_cut() {
    let values = Values::String([Some("ab"), None, Some("abc")].into_iter().collect::<Strings>());
    let text = |padding| of(3, DatatypeClass::Text(padding));
    assert_eq!(encode(&text(StringPadding::NulTerminated), &values).expect("bytes"), b"ab\0\0\0\0abc");
    assert_eq!(encode(&text(StringPadding::SpacePadded), &values).expect("bytes"), b"ab    abc");
    assert!(encode(&of(2, DatatypeClass::Text(StringPadding::NulPadded)), &values).is_err());
}

#[test]
fn strings_that_hold_nul_are_refused() {
    let strings = |text: &str| Values::String([Some("ok"), Some(text)].into_iter().collect::<Strings>());
    let vlen = || of(16, DatatypeClass::VlenText(StringPadding::NulTerminated));
    let fixed = |padding| of(4, DatatypeClass::Text(padding));
    let member = CompoundMember { name: "s".into(), offset: 0, datatype: vlen() };
    let compound = of(16, DatatypeClass::Compound([member].into()));
    for text in ["a\0b", "\0", "a\0", "\0a"] {
        let in_compound = Values::Compound { len: 2, fields: vec![strings(text)] };
        let sequence = Values::Vlen { ends: vec![2], elements: Box::new(strings(text)) };
        let many = of(16, DatatypeClass::Vlen(Box::new(vlen())));
        for refused in [
            encode(&vlen(), &strings(text)),
            encode(&fixed(StringPadding::NulTerminated), &strings(text)),
            encode(&fixed(StringPadding::NulPadded), &strings(text)),
            encode(&compound, &in_compound),
            encode(&many, &sequence),
        ] {
            let error = refused.expect_err("NUL");
            assert!(error.message().ends_with("holds NUL, which ends strings in HDF5"), "{error}");
        }
        assert!(encode(&fixed(StringPadding::SpacePadded), &strings(text)).is_ok(), "padded with blanks");
    }
}

#[test]
fn null_strings_are_null_references_and_empty_ones_are_not() {
    let values = Values::String([None, Some("")].into_iter().collect::<Strings>());
    let bytes =
        encode(&of(16, DatatypeClass::VlenText(StringPadding::NulTerminated)), &values).expect("bytes");
    let empty = [[0, 0, 0, 0].as_slice(), &4096_u64.to_le_bytes(), &[1, 0, 0, 0]].concat();
    assert_eq!(bytes, [[0; 16].as_slice(), &empty].concat());
}

#[test]
fn values_that_do_not_go_with_their_place_are_errors() {
    let field =
        CompoundMember { name: "a".into(), offset: 0, datatype: integer(4, true, 0, 32, ByteOrder::Little) };
    let compound = of(4, DatatypeClass::Compound([field].into()));
    assert!(encode(&compound, &Values::Int(vec![1])).is_err());
    assert!(encode(&compound, &Values::Compound { len: 1, fields: Vec::new() }).is_err());
    let short = Values::Compound { len: 2, fields: vec![Values::Int(vec![1])] };
    assert!(encode(&compound, &short).is_err(), "a field has fewer values than there are compounds");
    let opaque = Values::Opaque { size: 2, bytes: vec![1, 2] };
    assert!(encode(&of(3, DatatypeClass::Opaque), &opaque).is_err());
}

proptest! {
    #[test]
    fn what_is_written_is_read(spec in any_type(), count in 0usize..9, seed: u64) {
        let datatype = spec.datatype();
        let written = spec.values(count, &mut RandomSource(seed));
        let (mut heap, mut space) = (HeapBuilder::new(SIZES), SpaceAllocator::new(4096));
        let bytes = encode_values(&datatype, &written, 0..count, &mut heap, &mut space).expect("bytes");
        let (view, file) = file_with(&heap.take());
        let read = done(values(&view, &file, &datatype, &bytes, count, &HashMap::new())).expect("values");
        prop_assert_eq!(read, written);
    }
}
