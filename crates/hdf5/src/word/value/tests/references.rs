use super::{at, file_with, handle, of, read, sequence, strings};
use crate::file::Addr;
use crate::testing::done;
use crate::word::{Class, Datatype, ReferenceKind, object_references};
use ncirrus_layout::Result;

fn reference(byte_len: u64, kind: ReferenceKind) -> Datatype {
    of(byte_len, Class::Reference(kind))
}

fn old() -> Datatype {
    reference(8, ReferenceKind::Object)
}

fn addresses(objects: &[&[u8]], datatype: &Datatype, raw: &[u8], count: usize) -> Result<Vec<Vec<Addr>>> {
    let (view, file) = file_with(objects);
    done(object_references(&view, &file, datatype, raw, count))
}

#[test]
fn references_are_paths_as_far_as_they_are_known() {
    let raw = [800_u64, 0, u64::MAX, 801].map(u64::to_le_bytes).concat();
    let wanted = strings(&[Some("/g/x"), None, None, Some("#801")]);
    assert_eq!(read(&[], &old(), &raw, 4).unwrap(), wanted);
    assert_eq!(addresses(&[], &old(), &raw, 4).unwrap(), [vec![Addr(800)], vec![], vec![], vec![Addr(801)]]);
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

#[test]
fn sequences_of_references_give_one_list_each() {
    let object = [800_u64, 0, 900].map(u64::to_le_bytes).concat();
    let raw = [handle(3, 1), at(0, 0, 0), handle(1, 1)].concat();
    let lists = addresses(&[&object], &sequence(old()), &raw, 3).unwrap();
    assert_eq!(lists, [vec![Addr(800), Addr(900)], vec![], vec![Addr(800)]]);
}

#[test]
fn elements_of_other_types_are_no_references() {
    assert!(addresses(&[], &super::short(), &[0; 2], 1).is_err());
    assert!(addresses(&[], &reference(8, ReferenceKind::Region), &[1; 8], 1).is_err());
    assert!(addresses(&[], &reference(2, ReferenceKind::Object), &[1; 2], 1).is_err());
}
