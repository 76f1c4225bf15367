use super::*;

fn orders() -> [ByteOrder; 2] {
    [ByteOrder::Little, ByteOrder::Big]
}

fn integers(signed: bool) -> Vec<(u8, Atomic)> {
    let atomics = [Atomic::Byte, Atomic::Short, Atomic::Int, Atomic::Int64];
    let unsigned = [Atomic::UByte, Atomic::UShort, Atomic::UInt, Atomic::UInt64];
    [1, 2, 4, 8].into_iter().zip(if signed { atomics } else { unsigned }).collect()
}

proptest! {
    #[test]
    fn numbers_survive_in_either_byte_order(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
        let types = types();
        let bytes = &bytes[..bytes.len() / 8 * 8];
        for order in orders() {
            for signed in [true, false] {
                for (size, atomic) in integers(signed) {
                    let values = Values::from_native_bytes(atomic, bytes).unwrap();
                    round_trip(&types, atomic.into(), &StoredType::Integer { size, signed, order }, &values);
                }
            }
            let short = Values::from_native_bytes(Atomic::Short, bytes).unwrap();
            let stored = StoredType::Integer { size: 2, signed: true, order };
            round_trip(&types, types.enumeration, &stored, &short);
        }
    }

    #[test]
    fn floats_survive_in_either_byte_order(numbers in prop::collection::vec(any::<f64>(), 0..9)) {
        let types = types();
        #[expect(clippy::cast_possible_truncation, reason = "any float will do")]
        let floats: Vec<f32> = numbers.iter().map(|number| *number as f32).collect();
        for order in orders() {
            round_trip(&types, Atomic::Double.into(), &StoredType::Float { size: 8, order },
                &Values::Double(numbers.clone()));
            round_trip(&types, Atomic::Float.into(), &StoredType::Float { size: 4, order },
                &Values::Float(floats.clone()));
        }
    }

    #[test]
    fn text_survives_in_its_room(texts in prop::collection::vec("[a-zé]{1,6}", 0..5)) {
        let types = types();
        let values = Values::String(texts.iter().map(Some).collect());
        for encoding in [TextEncoding::NulPadded, TextEncoding::NulPaddedEmpty, TextEncoding::SpacePadded,
            TextEncoding::Utf32(ByteOrder::Little), TextEncoding::Utf32(ByteOrder::Big)] {
            round_trip(&types, Atomic::String.into(), &StoredType::Text { byte_len: 24, encoding }, &values);
        }
    }

    #[test]
    fn hostile_bytes_never_panic(raw in prop::collection::vec(any::<u8>(), 0..64), count in 0usize..1 << 40) {
        let types = types();
        let stored = compound(ByteOrder::Big, 40);
        for (ty, stored) in [(types.point, stored),
            (Atomic::String.into(), StoredType::Text { byte_len: 8, encoding: TextEncoding::Utf32(ByteOrder::Big) }),
            (Atomic::String.into(), StoredType::Text { byte_len: 0, encoding: TextEncoding::NulPadded }),
            (Atomic::Int.into(), StoredType::Integer { size: 4, signed: true, order: ByteOrder::Big })] {
            let _ = decode(&types.model, ty, &stored, &raw, count);
            let _ = decode(&types.model, ty, &stored, &raw, count % 9);
        }
    }
}

fn compound(order: ByteOrder, byte_len: u64) -> StoredType {
    let fields = vec![
        StoredField { offset: 3, stored: StoredType::Integer { size: 2, signed: true, order }, count: 1 },
        StoredField { offset: 8, stored: StoredType::Float { size: 8, order }, count: 2 },
    ];
    StoredType::Compound { byte_len, fields: fields.into() }
}

#[test]
fn padded_compounds_survive() {
    let types = types();
    let fields = vec![Values::Short(vec![1, -2, 3]), Values::Double(vec![1.5, 2.5, 3.5, 4.5, 5.5, 6.5])];
    let values = Values::Compound { len: 3, fields };
    for order in orders() {
        round_trip(&types, types.point, &compound(order, 30), &values);
    }
    let stored = compound(ByteOrder::Big, 30);
    let bytes = encode(&types.model, types.point, &stored, &values, 0..1).unwrap();
    assert_eq!(&bytes[..8], &[0, 0, 0, 0, 1, 0, 0, 0]);
    assert_eq!(&bytes[8..10], &1.5f64.to_be_bytes()[..2]);
    assert_eq!(bytes.len(), 30);
    assert!(encode(&types.model, types.point, &compound(ByteOrder::Big, 20), &values, 0..1).is_err());
}

#[test]
fn opaque_values_are_copied() {
    let types = types();
    let values = Values::Opaque { size: 5, bytes: (0..20).collect() };
    round_trip(&types, types.opaque, &StoredType::Opaque { byte_len: 5 }, &values);
    assert!(encode(&types.model, types.opaque, &StoredType::Opaque { byte_len: 4 }, &values, 0..4).is_err());
}

#[test]
fn small_floats_are_widened_and_rounded_back() {
    let types = types();
    let float: TypeRef = Atomic::Float.into();
    let half = StoredType::Float { size: 2, order: ByteOrder::Little };
    let brain = StoredType::BFloat16 { order: ByteOrder::Big };
    let values = Values::Float(vec![0.5, -65504.0, f32::INFINITY, 0.0]);
    round_trip(&types, float, &half, &values);
    round_trip(&types, float, &brain, &Values::Float(vec![1.0, -2.5, f32::NEG_INFINITY]));
    assert_eq!(decode(&types.model, float, &half, &[0x00, 0x3c], 1).unwrap(), Values::Float(vec![1.0]));
    assert_eq!(decode(&types.model, float, &brain, &[0x3f, 0x80], 1).unwrap(), Values::Float(vec![1.0]));
    let large = encode(&types.model, float, &half, &Values::Float(vec![65520.0]), 0..1).unwrap_err();
    assert_eq!(large.kind(), ErrorKind::Invalid);
}

#[test]
fn smaller_stored_integers_are_extended_and_must_fit_on_the_way_back() {
    let types = types();
    let stored = StoredType::Integer { size: 2, signed: true, order: ByteOrder::Big };
    let read = decode(&types.model, Atomic::Int.into(), &stored, &[0xff, 0xfe, 0x01, 0x00], 2).unwrap();
    assert_eq!(read, Values::Int(vec![-2, 256]));
    round_trip(&types, Atomic::Int64.into(), &stored, &Values::Int64(vec![-32768, 32767]));
    assert!(encode(&types.model, Atomic::Int.into(), &stored, &Values::Int(vec![40000]), 0..1).is_err());
    let negative = decode(&types.model, Atomic::UInt.into(), &stored, &[0xff, 0xfe], 1);
    assert_eq!(negative.unwrap_err().kind(), ErrorKind::Unsupported);
}

#[test]
fn text_is_never_cut_and_nulls_are_never_invented() {
    let types = types();
    let string: TypeRef = Atomic::String.into();
    let text = |encoding, byte_len| StoredType::Text { byte_len, encoding };
    let store = |stored: &StoredType, text: Option<&str>| {
        encode(&types.model, string, stored, &Values::String(Strings::from_iter([text])), 0..1)
    };
    let long = store(&text(TextEncoding::NulPadded, 4), Some("abcde")).unwrap_err();
    assert_eq!(long.message(), "text of 5 bytes does not fit the 4 bytes of its type: \"abcde\"");
    assert!(store(&text(TextEncoding::Utf32(ByteOrder::Little), 8), Some("abc")).is_err());
    assert!(store(&text(TextEncoding::NulPadded, 4), Some("a\0b")).is_err());
    assert!(store(&text(TextEncoding::SpacePadded, 4), Some("a ")).is_err());
    assert!(store(&text(TextEncoding::NulPaddedEmpty, 4), None).is_err());
    assert_eq!(store(&text(TextEncoding::NulPadded, 2), None).unwrap(), [0, 0]);
    let read = |encoding| decode(&types.model, string, &text(encoding, 2), &[0, 0], 1).unwrap();
    assert_eq!(read(TextEncoding::NulPadded), Values::String(Strings::from_iter([None::<&str>])));
    assert_eq!(read(TextEncoding::NulPaddedEmpty), Values::String(Strings::from_iter([Some("")])));
}

#[test]
fn rows_are_gathered_with_a_stride() {
    let types = types();
    let stored = StoredType::Integer { size: 4, signed: true, order: ByteOrder::Big };
    let copier = RowCopier::new(&types.model, Atomic::Int.into(), &stored).unwrap();
    let raw: Vec<u8> = (0i32..10).flat_map(i32::to_be_bytes).collect();
    let mut values = Values::Int(vec![0; 4]);
    copier.gather(&raw, 12, values.as_bytes_mut().unwrap());
    assert_eq!(values, Values::Int(vec![0, 3, 6, 9]));
    let mut back = vec![0; 16];
    copier.store(values.as_bytes().unwrap(), &mut back);
    assert_eq!(back[4..8], 3i32.to_be_bytes());
    assert!(!copier.is_plain() && copier.is_reversible());
}
