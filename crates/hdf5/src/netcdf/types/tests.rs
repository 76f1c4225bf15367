use super::DatasetTypes;
use crate::address::FileAddress;
use crate::datatypes::{BitField, CompoundMember, Datatype, DatatypeClass, EnumValue};
use crate::netcdf::ObjectKey;
use ncirrus_layout::{ByteOrder, ObjectId, StoreId};
use ncirrus_model::{Atomic, Model, TypeRef, UserKind};
use std::sync::Arc;

fn file() -> ObjectId {
    ObjectId::new(StoreId::new("memory:"), "f")
}

fn key(addr: u64) -> ObjectKey {
    ObjectKey { file: file(), addr: FileAddress(addr) }
}

fn of(class: DatatypeClass, byte_len: u64) -> Datatype {
    Datatype { byte_len, class, committed: None }
}

fn int(byte_len: u64, order: ByteOrder) -> Datatype {
    let precision = u16::try_from(8 * byte_len).unwrap();
    of(DatatypeClass::Integer(BitField { order, signed: true, offset: 0, precision }), byte_len)
}

fn compound(members: &[(&str, u64, Datatype)], byte_len: u64) -> Datatype {
    let member = |(name, offset, datatype): &(&str, u64, Datatype)| CompoundMember {
        name: (*name).to_owned(),
        offset: *offset,
        datatype: datatype.clone(),
    };
    of(DatatypeClass::Compound(members.iter().map(member).collect()), byte_len)
}

fn truth() -> Datatype {
    let value = |name: &str, value| EnumValue { name: name.to_owned(), value };
    let members = [value("FALSE", 0), value("TRUE", 1)].into();
    of(DatatypeClass::Enum { base: Box::new(int(1, ByteOrder::Little)), members }, 1)
}

fn at(datatype: &Datatype, addr: u64) -> Datatype {
    Datatype { committed: Some(FileAddress(addr)), ..datatype.clone() }
}

fn name(model: &Model, ty: TypeRef) -> String {
    match ty {
        TypeRef::User(id) => model.type_path(id),
        TypeRef::Atomic(atomic) => atomic.name().to_owned(),
    }
}

#[test]
fn a_committed_type_is_known_by_its_address_even_beside_an_equal_one() {
    let (mut model, mut types) = (Model::new(), DatasetTypes::default());
    let root = model.root();
    types.commit(key(1), root, "first", Arc::new(truth()));
    types.commit(key(2), root, "second", Arc::new(truth()));
    assert!(types.define_committed(&mut model).is_empty());
    let second = types.reference(&mut model, root, &file(), &at(&truth(), 2)).unwrap();
    let uncommitted = types.reference(&mut model, root, &file(), &truth()).unwrap();
    let elsewhere = types.reference(&mut model, root, &file(), &at(&truth(), 99)).unwrap();
    assert_eq!([second, uncommitted, elsewhere].map(|ty| name(&model, ty)), ["/second", "/first", "/first"]);
}

#[test]
fn byte_order_and_padding_do_not_make_another_type() {
    let (mut model, mut types) = (Model::new(), DatasetTypes::default());
    let root = model.root();
    let little = compound(&[("a", 0, int(2, ByteOrder::Little)), ("b", 2, int(4, ByteOrder::Little))], 6);
    let padded = compound(&[("a", 0, int(2, ByteOrder::Big)), ("b", 4, int(4, ByteOrder::Big))], 8);
    let other = compound(&[("a", 0, int(2, ByteOrder::Little)), ("c", 2, int(4, ByteOrder::Little))], 6);
    let names = [&little, &padded, &other].map(|datatype| {
        let ty = types.reference(&mut model, root, &file(), datatype).unwrap();
        name(&model, ty)
    });
    assert_eq!(names, ["/_AnonymousCompound1", "/_AnonymousCompound1", "/_AnonymousCompound2"]);
}

#[test]
fn types_are_defined_after_those_that_they_are_made_of() {
    let (mut model, mut types) = (Model::new(), DatasetTypes::default());
    let root = model.root();
    types.commit(key(1), root, "a", Arc::new(compound(&[("flag", 0, truth())], 1)));
    types.commit(key(2), root, "z", Arc::new(truth()));
    assert!(types.define_committed(&mut model).is_empty());
    let names: Vec<&str> = model
        .group(root)
        .unwrap()
        .types
        .iter()
        .map(|id| model.user_type(*id).unwrap().name.as_str())
        .collect();
    assert_eq!(names, ["z", "a"]);
}

#[test]
fn an_equal_type_that_the_group_sees_is_taken_before_one_that_it_does_not() {
    let (mut model, mut types) = (Model::new(), DatasetTypes::default());
    let root = model.root();
    let g = model.insert_group(root, "g").unwrap();
    let h = model.insert_group(root, "h").unwrap();
    types.commit(key(1), g, "there", Arc::new(truth()));
    types.commit(key(2), h, "here", Arc::new(truth()));
    types.define_committed(&mut model);
    let ty = types.reference(&mut model, h, &file(), &truth()).unwrap();
    assert_eq!(name(&model, ty), "/h/here");
}

#[test]
fn members_that_are_arrays_of_arrays_have_all_their_dimensions() {
    let (mut model, mut types) = (Model::new(), DatasetTypes::default());
    let root = model.root();
    let row = of(DatatypeClass::Array { dims: vec![3], base: Box::new(int(4, ByteOrder::Little)) }, 12);
    let rows = of(DatatypeClass::Array { dims: vec![2], base: Box::new(row) }, 24);
    let ty = types.reference(&mut model, root, &file(), &compound(&[("m", 0, rows)], 24)).unwrap();
    let TypeRef::User(id) = ty else { panic!("{ty:?}") };
    let UserKind::Compound(fields) = &model.user_type(id).unwrap().kind else { panic!("no compound") };
    assert_eq!((fields[0].ty, fields[0].dims.as_slice()), (Atomic::Int.into(), &[2, 3][..]));
}

#[test]
fn a_member_without_a_type_in_netcdf_refuses_the_whole_type() {
    let (mut model, mut types) = (Model::new(), DatasetTypes::default());
    let root = model.root();
    let when = compound(&[("when", 0, of(DatatypeClass::Time, 8))], 8);
    types.commit(key(1), root, "t", Arc::new(when.clone()));
    assert_eq!(types.define_committed(&mut model).len(), 1);
    assert!(types.reference(&mut model, root, &file(), &at(&when, 1)).is_err());
    assert!(model.group(root).unwrap().types.is_empty());
}
