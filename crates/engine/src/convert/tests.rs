use super::*;
use ncirrus_layout::{ByteOrder, ErrorKind, StoredField, TextEncoding};
use ncirrus_model::{EnumMember, Field, Strings, TypeId, UserType};
use proptest::prelude::*;

mod cast;
mod fixed;
mod variable;

/// A model with one type of each kind, including nested ones.
struct ModelTypes {
    model: Model,
    enumeration: TypeRef,
    opaque: TypeRef,
    vlen: TypeRef,
    names: TypeRef,
    deep: TypeRef,
    point: TypeRef,
    record: TypeRef,
}

fn add(model: &mut Model, name: &str, kind: UserKind) -> TypeRef {
    let root = model.root();
    let id: TypeId = model.add_type(root, UserType { name: name.to_owned(), kind }).unwrap();
    TypeRef::User(id)
}

fn field(name: &str, ty: TypeRef, dims: &[u64]) -> Field {
    Field { name: name.to_owned(), ty, dims: dims.to_vec() }
}

fn types() -> ModelTypes {
    let mut model = Model::new();
    let atomic = TypeRef::Atomic;
    let members = vec![EnumMember { name: "low".to_owned(), value: 1 }];
    let enumeration = add(&mut model, "level", UserKind::Enum { base: Atomic::Short, members });
    let opaque = add(&mut model, "raw", UserKind::Opaque(5));
    let vlen = add(&mut model, "row", UserKind::Vlen(atomic(Atomic::Int)));
    let names = add(&mut model, "names", UserKind::Vlen(atomic(Atomic::String)));
    let deep = add(&mut model, "deep", UserKind::Vlen(vlen));
    let point = vec![field("level", enumeration, &[]), field("xy", atomic(Atomic::Double), &[2])];
    let point = add(&mut model, "point", UserKind::Compound(point));
    let record = vec![
        field("id", atomic(Atomic::Int), &[]),
        field("name", atomic(Atomic::String), &[2]),
        field("row", vlen, &[]),
        field("at", point, &[]),
        field("raw", opaque, &[]),
    ];
    let record = add(&mut model, "record", UserKind::Compound(record));
    ModelTypes { model, enumeration, opaque, vlen, names, deep, point, record }
}

fn round_trip(types: &ModelTypes, ty: TypeRef, stored: &StoredType, values: &Values) {
    let bytes = encode(&types.model, ty, stored, values, 0..values.len()).unwrap();
    let back = decode(&types.model, ty, stored, &bytes, values.len()).unwrap();
    assert_eq!(&back, values, "{stored:?}");
    for cut in 0..bytes.len().min(200) {
        let short = &bytes[..bytes.len() - 1 - cut.min(bytes.len() - 1)];
        let damaged = decode(&types.model, ty, stored, short, values.len());
        assert!(damaged.is_err() || values.is_empty(), "{stored:?} cut to {} bytes", short.len());
    }
    if values.len() > 1 {
        let part = encode(&types.model, ty, stored, values, 1..values.len()).unwrap();
        let back = decode(&types.model, ty, stored, &part, values.len() - 1).unwrap();
        assert_eq!(back, values.slice(1..values.len()), "{stored:?}, without the first");
    }
}

#[test]
fn types_that_refer_to_themselves_end_with_an_error() {
    let mut model = Model::new();
    let root = model.root();
    let first = UserType { name: "a".to_owned(), kind: UserKind::Vlen(TypeRef::Atomic(Atomic::Int)) };
    let id = model.insert_type(root, first).unwrap();
    let mut circular = Model::new();
    let root = circular.root();
    let kind = UserKind::Vlen(TypeRef::User(id));
    circular.insert_type(root, UserType { name: "a".to_owned(), kind }).unwrap();
    assert_eq!(empty(&circular, TypeRef::User(id)).unwrap_err().kind(), ErrorKind::Limit);
}

#[test]
fn values_are_taken_and_assigned_by_index() {
    let types = types();
    let text = |items: &[&str]| Values::String(items.iter().map(|item| Some(*item)).collect());
    assert_eq!(take(&text(&["a", "b", "c"]), &[2, 0, 0, 1]).unwrap(), text(&["c", "a", "a", "b"]));
    assert!(take(&text(&["a"]), &[1]).is_err());
    let mut to = text(&["a", "b", "c"]);
    assign(&mut to, &[0, 2], &text(&["x", "long one"]), &[1, 0]).unwrap();
    assert_eq!(to, text(&["long one", "b", "x"]));
    let mut to = Values::Int(vec![1, 2, 3]);
    assign(&mut to, &[2, 0], &Values::Int(vec![7, 8]), &[0, 1]).unwrap();
    assert_eq!(to, Values::Int(vec![8, 2, 7]));
    assert!(assign(&mut to, &[3], &Values::Int(vec![7]), &[0]).is_err());
    assert!(assign(&mut to, &[0], &Values::UInt(vec![7]), &[0]).is_err());
    let mut records = zeros(&types.model, types.record, 3).unwrap();
    let one = zeros(&types.model, types.record, 1).unwrap();
    assign(&mut records, &[1], &one, &[0]).unwrap();
    assert_eq!(records, zeros(&types.model, types.record, 3).unwrap());
}

#[test]
fn values_are_matched_with_their_type_at_every_depth() {
    let types = types();
    for ty in [types.enumeration, types.opaque, types.names, types.deep, types.point, types.record] {
        assert!(matches(&types.model, ty, &zeros(&types.model, ty, 2).unwrap()));
    }
    assert!(!matches(&types.model, types.deep, &zeros(&types.model, types.names, 1).unwrap()));
    assert!(!matches(&types.model, Atomic::Int.into(), &Values::UInt(vec![])));
}
