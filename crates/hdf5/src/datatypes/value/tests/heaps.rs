//! Elements of variable length.
use super::{HEAP, array, at, compound, file_with, handle, of, read, sequence, short, strings};
use crate::datatypes::value::values;
use crate::datatypes::{Datatype, DatatypeClass, StringPadding};
use crate::testing::{KEY, done};
use ncirrus_layout::{ErrorKind, Limits};
use ncirrus_model::Values;
use ncirrus_testkit::{MemoryView, ObjectView, StallingView, drive};
use proptest::prelude::*;
use std::collections::HashMap;

fn text() -> Datatype {
    of(16, DatatypeClass::VlenText(StringPadding::NulTerminated))
}

#[test]
fn null_strings_differ_from_empty_ones_and_text_has_no_nul_at_its_end() {
    let elements = [handle(3, 1), at(0, 0, 0), at(3, u64::MAX, 1), handle(0, 9), handle(4, 2), handle(2, 1)];
    let wanted = [Some("abc"), None, None, Some(""), Some("x\0y"), Some("ab")];
    let values = read(&[b"abc", b"x\0y\0"], &text(), &elements.concat(), 6).unwrap();
    assert_eq!(values, strings(&wanted));
}

#[test]
fn the_count_rules_and_must_fit_its_object() {
    let datatype = sequence(short());
    let elements = [handle(2, 1), at(0, 0, 0), handle(1, 1)].concat();
    let wanted = Values::Vlen { ends: vec![2, 2, 3], elements: Box::new(Values::Short(vec![1, 2, 1])) };
    assert_eq!(read(&[&[1, 0, 2, 0, 3, 0]], &datatype, &elements, 3).unwrap(), wanted);
    let error = read(&[&[1, 0, 2, 0, 3, 0]], &datatype, &handle(4, 1), 1).unwrap_err();
    assert_eq!(error.message(), "4 elements of 2 bytes in a heap object of 6 bytes");
    assert!(read(&[&[1]], &datatype, &handle(u32::MAX, 1), 1).is_err());
}

#[test]
fn an_object_that_is_not_there_is_an_error_with_its_place() {
    let error = read(&[b"abc"], &text(), &handle(1, 7), 1).unwrap_err();
    assert_eq!((error.kind(), error.place().offset), (ErrorKind::Malformed, Some(HEAP)));
    assert!(read(&[], &text(), &at(1, 1 << 40, 1), 1).is_err());
}

#[test]
fn sequences_of_compounds_hold_text_and_sequences() {
    let inner = compound(36, vec![("n", 16, short()), ("s", 0, text()), ("v", 20, sequence(short()))]);
    let element = |text: Vec<u8>, number: u8, list: Vec<u8>| [text, vec![number, 0, 9, 9], list].concat();
    let objects = [element(handle(2, 2), 7, handle(1, 3)), element(at(0, 0, 0), 8, handle(0, 3))].concat();
    let values =
        read(&[&objects, b"hi", &[5, 0]], &sequence(inner), &[handle(2, 1), handle(1, 1)].concat(), 2)
            .unwrap();
    let fields = vec![
        Values::Short(vec![7, 8, 7]),
        strings(&[Some("hi"), None, Some("hi")]),
        Values::Vlen { ends: vec![1, 1, 2], elements: Box::new(Values::Short(vec![5, 5])) },
    ];
    let elements = Box::new(Values::Compound { len: 3, fields });
    assert_eq!(values, Values::Vlen { ends: vec![2, 3], elements });
}

#[test]
fn arrays_of_sequences_are_flat() {
    let datatype = array(&[2], sequence(sequence(short())));
    let objects = [handle(1, 2), at(0, 0, 0)].concat();
    let values = read(&[&objects, &[5, 0]], &datatype, &[handle(2, 1), handle(1, 1)].concat(), 1).unwrap();
    let inner = Values::Vlen { ends: vec![1, 1, 2], elements: Box::new(Values::Short(vec![5, 5])) };
    assert_eq!(values, Values::Vlen { ends: vec![2, 3], elements: Box::new(inner) });
}

#[test]
fn many_references_to_one_large_object_are_bounded() {
    let limits = Limits { chunk_bytes: 8192, ..Limits::default() };
    for (datatype, count) in [(text(), 1000), (sequence(short()), 500)] {
        let (view, file) = file_with(&[&[b'a'; 1000]]);
        let view = view.with_limits(limits.clone());
        let read = |elements: usize| {
            let raw = handle(count, 1).repeat(elements);
            done(values(&view, &file, &datatype, &raw, elements, &HashMap::new()))
        };
        assert!(read(8).is_ok());
        assert_eq!(read(9).unwrap_err().kind(), ErrorKind::Limit);
    }
}

#[test]
fn each_level_of_references_costs_one_round() {
    let (first, mut file) = file_with(&[b"abc", &at(1, HEAP + 4096, 2)]);
    let (second, _) = file_with(&[b"xyz", &[5, 0]]);
    let collection = |view: &MemoryView| view.objects.find(KEY).unwrap().to_vec();
    let bytes = [collection(&first), collection(&second)[64..].to_vec()].concat();
    file.size = bytes.len() as u64;
    let read = |datatype: &Datatype, raw: &[u8]| {
        let rounds = StallingView::new(ObjectView::one(KEY, bytes.clone()));
        let values = drive(&rounds, |view| values(view, &file, datatype, raw, 1, &HashMap::new())).unwrap();
        (values, rounds.rounds())
    };
    let pair = compound(32, vec![("a", 0, text()), ("b", 16, text())]);
    let fields = vec![strings(&[Some("abc")]), strings(&[Some("xyz")])];
    let raw = [handle(3, 1), at(3, HEAP + 4096, 1)].concat();
    assert_eq!(read(&pair, &raw), (Values::Compound { len: 1, fields }, 1));
    let inner = Values::Vlen { ends: vec![1], elements: Box::new(Values::Short(vec![5])) };
    let nested = Values::Vlen { ends: vec![1], elements: Box::new(inner) };
    assert_eq!(read(&sequence(sequence(short())), &handle(1, 2)), (nested, 2));
}

proptest! {
    #[test]
    fn any_elements_are_values_or_an_error(raw in proptest::collection::vec(any::<u8>(), 0..160)) {
        let datatype = compound(32, vec![("s", 0, text()), ("v", 16, sequence(sequence(text())))]);
        let count = raw.len() / 32;
        if let Ok(values) = read(&[b"abc", &handle(1, 1)], &datatype, &raw, count) {
            prop_assert_eq!(values.len(), count);
        }
    }

    #[test]
    fn damaged_references_are_values_or_an_error(at in 0usize..64, mask in 1u8..) {
        let datatype = compound(32, vec![("s", 0, text()), ("v", 16, sequence(sequence(short())))]);
        let mut raw = [handle(3, 1), handle(1, 2), handle(2, 1), handle(1, 2)].concat();
        raw[at] ^= mask;
        if let Ok(values) = read(&[b"abc", &handle(1, 1)], &datatype, &raw, 2) {
            prop_assert_eq!(values.len(), 2);
        }
    }
}
