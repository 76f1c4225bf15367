use super::{HEAP, at, file_with, handle, of, read, sequence, strings};
use crate::address::FileAddress;
use crate::datatypes::{Datatype, DatatypeClass, ReferenceKind, object_references, values};
use crate::testing::done;
use ncirrus_layout::{ErrorKind, Limits, Result};
use proptest::prelude::*;
use std::collections::HashMap;

fn reference(byte_len: u64, kind: ReferenceKind) -> Datatype {
    of(byte_len, DatatypeClass::Reference(kind))
}

fn old() -> Datatype {
    reference(8, ReferenceKind::Object)
}

fn addresses(
    objects: &[&[u8]],
    datatype: &Datatype,
    raw: &[u8],
    count: usize,
) -> Result<Vec<Vec<FileAddress>>> {
    let (view, file) = file_with(objects);
    done(object_references(&view, &file, datatype, raw, count))
}

#[test]
fn references_are_paths_as_far_as_they_are_known() {
    let raw = [800_u64, 0, u64::MAX, 801].map(u64::to_le_bytes).concat();
    let wanted = strings(&[Some("/g/x"), None, None, Some("#801")]);
    assert_eq!(read(&[], &old(), &raw, 4).unwrap(), wanted);
    assert_eq!(
        addresses(&[], &old(), &raw, 4).unwrap(),
        [vec![FileAddress(800)], vec![], vec![], vec![FileAddress(801)]]
    );
}

#[test]
fn new_references_hold_a_token() {
    let datatype = reference(12, ReferenceKind::NewObject);
    let here = [2, 0, 8, 0x20, 3, 0, 0, 0, 0, 0, 0, 0];
    let raw = [here, [0; 12]].concat();
    assert_eq!(read(&[], &datatype, &raw, 2).unwrap(), strings(&[Some("/g/x"), None]));
    let elsewhere = [2, 1, 8, 0x20, 3, 0, 0, 0, 0, 0, 0, 0];
    assert!(read(&[], &datatype, &elsewhere, 1).is_err());
    assert!(read(&[], &datatype, &[3; 12], 1).is_err());
}

/// The place of an object in the heap.
fn in_heap(index: u32) -> Vec<u8> {
    [HEAP.to_le_bytes().as_slice(), &index.to_le_bytes()].concat()
}

/// What a heap has of a region of the object at 800.
fn in_region(selection: &[u32]) -> Vec<u8> {
    [800_u64.to_le_bytes().to_vec(), words(selection)].concat()
}

fn words(numbers: &[u32]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

/// An element of a new kind that lies in an object of the heap.
fn new_element(kind: u8, len: usize, index: u32) -> Vec<u8> {
    [&[kind, 0][..], &u32::try_from(len).unwrap().to_le_bytes(), &in_heap(index)].concat()
}

/// What a heap has of a new reference to the object at 800.
fn new_object(rest: &[u8]) -> Vec<u8> {
    [&[8][..], &800_u64.to_le_bytes(), rest].concat()
}

#[test]
fn regions_are_paths_with_selections() {
    let datatype = reference(12, ReferenceKind::Region);
    let block = in_region(&[2, 1, 0, 24, 2, 1, 0, 2, 3, 5]);
    let nowhere = [u64::MAX.to_le_bytes().to_vec(), words(&[3, 1, 0, 0])].concat();
    let objects = [&block[..], &in_region(&[3, 1, 0, 0]), &nowhere];
    let raw = [in_heap(1), vec![0; 12], vec![255; 12], in_heap(2), in_heap(3)].concat();
    let wanted = strings(&[Some("/g/x {(0,2)-(3,5)}"), None, None, Some("/g/x {all}"), None]);
    assert_eq!(read(&objects, &datatype, &raw, 5).unwrap(), wanted);
}

#[test]
fn new_references_to_parts_lie_in_the_heap() {
    let points = [1, 1, 0, 24, 2, 2, 1, 2, 3, 4];
    let region = new_object(&[words(&[40, 2]), words(&points)].concat());
    let attribute = new_object(b"\x05\0units");
    let objects = [&region[..], &attribute];
    let raw = [new_element(3, region.len(), 1), new_element(4, attribute.len(), 2), vec![0; 18]].concat();
    let wanted = strings(&[Some("/g/x {(1,2),(3,4)}"), Some("/g/x:units"), None]);
    for kind in [ReferenceKind::NewObject, ReferenceKind::NewRegion, ReferenceKind::NewAttribute] {
        assert_eq!(read(&objects, &reference(18, kind), &raw, 3).unwrap(), wanted);
    }
    let elsewhere = [&[3, 1][..], &new_element(3, region.len(), 1)[2..]].concat();
    assert!(read(&objects, &reference(18, ReferenceKind::NewRegion), &elsewhere, 1).is_err());
}

#[test]
fn cut_regions_are_errors() {
    let old = in_region(&[2, 1, 0, 24, 2, 1, 0, 2, 3, 5]);
    for len in 0..old.len() {
        assert!(read(&[&old[..len]], &reference(12, ReferenceKind::Region), &in_heap(1), 1).is_err());
    }
    for (kind, whole) in [(3, new_object(&words(&[16, 2, 3, 1, 0, 0]))), (4, new_object(b"\x05\0units"))] {
        let datatype = reference(18, ReferenceKind::NewRegion);
        for len in 0..whole.len() {
            let in_short_object = read(&[&whole[..len]], &datatype, &new_element(kind, whole.len(), 1), 1);
            let in_few_bytes = read(&[&whole], &datatype, &new_element(kind, len, 1), 1);
            assert!(in_short_object.is_err() && in_few_bytes.is_err(), "{kind} {len}");
        }
    }
}

#[test]
fn many_references_to_one_large_region_are_bounded() {
    let corners = (0..200).flat_map(|number| [number * 2, number * 2]);
    let selection: Vec<u32> = [2, 1, 0, 0, 1, 200].into_iter().chain(corners).collect();
    let (view, file) = file_with(&[&in_region(&selection)]);
    let view = view.with_limits(Limits { chunk_bytes: 8192, ..Limits::default() });
    let read = |count: usize| {
        let datatype = reference(12, ReferenceKind::Region);
        done(values(&view, &file, &datatype, &in_heap(1).repeat(count), count, &HashMap::new()))
    };
    assert!(read(2).is_ok());
    assert_eq!(read(9).unwrap_err().kind(), ErrorKind::Limit);
}

proptest! {
    #[test]
    fn damaged_regions_are_values_or_an_error(at in 0usize..64, mask in 1u8.., kind in 2u8..5) {
        let mut old = in_region(&[2, 1, 0, 24, 2, 1, 0, 2, 3, 5]);
        let mut new = new_object(&words(&[40, 2, 1, 1, 0, 24, 2, 2, 1, 2, 3, 4]));
        if let Some(byte) = old.get_mut(at) { *byte ^= mask };
        if let Some(byte) = new.get_mut(at) { *byte ^= mask };
        let objects = [&old[..], &new];
        if let Ok(values) = read(&objects, &reference(12, ReferenceKind::Region), &in_heap(1), 1) {
            prop_assert_eq!(values.len(), 1);
        }
        let mut element = new_element(kind, new.len(), 2);
        if let Some(byte) = element.get_mut(at) { *byte ^= mask };
        if let Ok(values) = read(&objects, &reference(18, ReferenceKind::NewRegion), &element, 1) {
            prop_assert_eq!(values.len(), 1);
        }
    }
}

#[test]
fn sequences_of_references_give_one_list_each() {
    let object = [800_u64, 0, 900].map(u64::to_le_bytes).concat();
    let raw = [handle(3, 1), at(0, 0, 0), handle(1, 1)].concat();
    let lists = addresses(&[&object], &sequence(old()), &raw, 3).unwrap();
    assert_eq!(lists, [vec![FileAddress(800), FileAddress(900)], vec![], vec![FileAddress(800)]]);
}

#[test]
fn elements_of_other_types_are_no_references() {
    assert!(addresses(&[], &super::short(), &[0; 2], 1).is_err());
    let region = reference(12, ReferenceKind::Region);
    assert!(addresses(&[&in_region(&[3, 1, 0, 0])], &region, &in_heap(1), 1).is_err());
    assert!(addresses(&[], &reference(2, ReferenceKind::Object), &[1; 2], 1).is_err());
}
