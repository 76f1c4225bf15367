use super::*;

fn strings(items: &[Option<&str>]) -> Values {
    Values::String(items.iter().copied().collect())
}

fn rows(rows: &[&[i32]]) -> Values {
    let mut end = 0;
    let ends = rows.iter().map(|row| {
        end += row.len();
        end
    });
    Values::Vlen { ends: ends.collect(), elements: Box::new(Values::Int(rows.concat())) }
}

fn records() -> Values {
    let point = vec![Values::Short(vec![1, 2]), Values::Double(vec![1., 2., 3., 4.])];
    Values::Compound {
        len: 2,
        fields: vec![
            Values::Int(vec![7, 8]),
            strings(&[Some("a"), None, Some(""), Some("long")]),
            rows(&[&[], &[1, 2, 3]]),
            Values::Compound { len: 2, fields: point },
            Values::Opaque { size: 5, bytes: (0..10).collect() },
        ],
    }
}

fn array(size: u8) -> SequenceItem {
    SequenceItem::Array(Box::new(StoredType::Integer { size, signed: true, order: ByteOrder::Little }))
}

#[test]
fn sequences_survive() {
    let types = types();
    let text = strings(&[Some("a"), None, Some(""), Some("\u{e9}t\u{e9}")]);
    round_trip(&types, Atomic::String.into(), &StoredType::Sequence(SequenceItem::Text), &text);
    round_trip(&types, Atomic::String.into(), &StoredType::Sequence(SequenceItem::Packed), &text);
    let lists = rows(&[&[1, 2], &[], &[-3]]);
    round_trip(&types, types.vlen, &StoredType::Sequence(array(4)), &lists);
    round_trip(&types, types.vlen, &StoredType::Sequence(SequenceItem::Packed), &lists);
    let deep = Values::Vlen { ends: vec![2, 2, 3], elements: Box::new(lists) };
    round_trip(&types, types.deep, &StoredType::Sequence(SequenceItem::Packed), &deep);
    let nested = SequenceItem::Array(Box::new(StoredType::Sequence(array(4))));
    round_trip(&types, types.deep, &StoredType::Sequence(nested), &deep);
    let names = Values::Vlen { ends: vec![0, 4], elements: Box::new(text) };
    round_trip(&types, types.names, &StoredType::Sequence(SequenceItem::Packed), &names);
    round_trip(&types, types.record, &StoredType::Sequence(SequenceItem::Packed), &records());
}

#[test]
fn bytes_become_a_vlen_of_ubyte() {
    let mut types = types();
    let ty = add(&mut types.model, "bytes", UserKind::Vlen(Atomic::UByte.into()));
    let values = Values::Vlen { ends: vec![0, 3], elements: Box::new(Values::UByte(vec![1, 2, 3])) };
    round_trip(&types, ty, &StoredType::Sequence(SequenceItem::Bytes), &values);
}

#[test]
fn the_packed_form_is_as_documented() {
    let mut types = types();
    let (int, string) = (Atomic::Int.into(), Atomic::String.into());
    let fields = vec![field("a", int, &[]), field("s", string, &[]), field("v", types.vlen, &[])];
    let ty = add(&mut types.model, "example", UserKind::Compound(fields));
    let fields = vec![Values::Int(vec![7]), strings(&[Some("hi")]), rows(&[&[1, 2]])];
    let values = Values::Compound { len: 1, fields };
    let stored = StoredType::Sequence(SequenceItem::Packed);
    let bytes = encode(&types.model, ty, &stored, &values, 0..1).unwrap();
    let packed = [7, 0, 0, 0, 2, 0, 0, 0, 0x68, 0x69, 2, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0];
    assert_eq!(bytes[..8], [1, 0, 0, 0, 22, 0, 0, 0]);
    assert_eq!(bytes[8..], packed);
    let bytes = encode(&types.model, types.vlen, &stored, &rows(&[&[5]]), 0..1).unwrap();
    assert_eq!(bytes, [1, 0, 0, 0, 4, 0, 0, 0, 5, 0, 0, 0]);
}

#[test]
fn json_lists_survive_and_nested_ones_are_read() {
    let types = types();
    let string: TypeRef = Atomic::String.into();
    let text = strings(&[Some("a"), None, Some("b\"c")]);
    round_trip(&types, string, &StoredType::Json, &text);
    let nested = br#"[["a", 1], [null, [2, 3]], "|O", [2, 2]]"#;
    let read = decode(&types.model, string, &StoredType::Json, nested, 4).unwrap();
    assert_eq!(read, strings(&[Some("a"), Some("1"), None, Some("[2,3]")]));
    let numbers = decode(&types.model, Atomic::UByte.into(), &StoredType::Json, b"[1, 255, \"|u1\", [2]]", 2);
    assert_eq!(numbers.unwrap(), Values::UByte(vec![1, 255]));
    for bad in ["[1, 2, \"|O\", [3]]", "[1, \"|O\", [1]", "{}", "[]", "[\"|O\", [0]]"] {
        assert!(decode(&types.model, string, &StoredType::Json, bad.as_bytes(), 2).is_err(), "{bad}");
    }
    assert!(
        decode(&types.model, Atomic::UByte.into(), &StoredType::Json, b"[256, \"|u1\", [1]]", 1).is_err()
    );
}

#[test]
fn a_sequence_of_another_length_is_damage() {
    let types = types();
    let stored = StoredType::Sequence(SequenceItem::Text);
    let bytes = encode(&types.model, Atomic::String.into(), &stored, &strings(&[Some("a")]), 0..1).unwrap();
    for count in [0, 2, 1 << 33, usize::MAX] {
        let read = decode(&types.model, Atomic::String.into(), &stored, &bytes, count);
        assert_eq!(read.unwrap_err().kind(), ErrorKind::Malformed);
    }
    let nul = encode(&types.model, Atomic::String.into(), &stored, &strings(&[Some("\0")]), 0..1);
    assert_eq!(nul.unwrap_err().kind(), ErrorKind::Invalid);
}

proptest! {
    #[test]
    fn hostile_sequences_never_panic_nor_allocate_what_they_claim(
        mut raw in prop::collection::vec(prop_oneof![Just(0u8), Just(255), Just(1), any::<u8>()], 0..64),
        count in 0usize..6,
        honest in any::<bool>(),
    ) {
        let types = types();
        if let (true, Some(head)) = (honest, raw.first_chunk_mut::<4>()) {
            *head = u32::try_from(count).unwrap().to_le_bytes();
        }
        for item in [SequenceItem::Text, SequenceItem::Bytes, SequenceItem::Packed, array(4),
            SequenceItem::Array(Box::new(StoredType::Sequence(array(4))))] {
            for ty in [Atomic::String.into(), types.vlen, types.deep, types.names, types.record, types.point] {
                let _ = decode(&types.model, ty, &StoredType::Sequence(item.clone()), &raw, count);
            }
        }
        let _ = decode(&types.model, Atomic::String.into(), &StoredType::Json, &raw, count);
    }
}
