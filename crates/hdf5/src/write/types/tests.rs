use super::*;
use crate::datatypes::{ReferenceKind, datatype};
use crate::object::{HeaderMessage, kind};
use crate::testing::done;
use crate::write::tests::{any_type, file_with};
use ncirrus_model::UserType;
use proptest::prelude::*;
use rstest::rstest;

fn of(byte_len: u64, class: DatatypeClass) -> Datatype {
    Datatype { byte_len, class, committed: None }
}

fn atomic(atomic: Atomic, order: Endianness) -> Datatype {
    datatype_of(&Model::new(), atomic.into(), order).expect("a datatype")
}

/// A datatype as parsed by the reading code.
fn read_back(written: &Datatype) -> Datatype {
    let (view, file) = file_with(&[]);
    let body = encode_datatype(written).into();
    let message = HeaderMessage { kind: kind::DATATYPE, flags: 0, order: None, body };
    done(datatype(&view, &file, &message)).expect("a datatype").as_ref().clone()
}

#[rstest]
#[case(Atomic::Float, Endianness::Little, &[0x11, 0x20, 0x1f, 0, 4, 0, 0, 0, 0, 0, 32, 0, 23, 8, 0, 23, 127, 0, 0, 0])]
#[case(Atomic::Double, Endianness::Big, &[0x11, 0x21, 0x3f, 0, 8, 0, 0, 0, 0, 0, 64, 0, 52, 11, 0, 52, 255, 3, 0, 0])]
#[case(Atomic::Int, Endianness::Little, &[0x10, 8, 0, 0, 4, 0, 0, 0, 0, 0, 32, 0])]
#[case(Atomic::UShort, Endianness::Big, &[0x10, 1, 0, 0, 2, 0, 0, 0, 0, 0, 16, 0])]
#[case(Atomic::Byte, Endianness::Big, &[0x10, 8, 0, 0, 1, 0, 0, 0, 0, 0, 8, 0])]
#[case(Atomic::Char, Endianness::Native, &[0x13, 0, 0, 0, 1, 0, 0, 0])]
#[case(Atomic::String, Endianness::Native, &[0x19, 1, 1, 0, 16, 0, 0, 0, 0x10, 0, 0, 0, 1, 0, 0, 0, 0, 0, 8, 0])]
fn atomic_types_have_the_bytes_that_hdf5_gives_them(
    #[case] ty: Atomic,
    #[case] order: Endianness,
    #[case] bytes: &[u8],
) {
    assert_eq!(encode_datatype(&atomic(ty, order)), bytes);
}

#[test]
fn fields_lie_where_a_c_compiler_puts_them() {
    let mut model = Model::new();
    let root = model.root();
    let field =
        |name: &str, ty: Atomic, dims: &[u64]| Field { name: name.into(), ty: ty.into(), dims: dims.into() };
    let fields = vec![
        field("flag", Atomic::Byte, &[]),
        field("value", Atomic::Double, &[]),
        field("three", Atomic::Short, &[3]),
        field("name", Atomic::String, &[]),
        field("last", Atomic::Char, &[]),
    ];
    let user = UserType { name: "c".into(), kind: UserKind::Compound(fields) };
    let id = model.add_type(root, user).expect("a type");
    let datatype = datatype_of(&model, TypeRef::User(id), Endianness::Native).expect("a datatype");
    let DatatypeClass::Compound(members) = &datatype.class else { panic!("{datatype:?}") };
    assert_eq!(members.iter().map(|member| member.offset).collect::<Vec<_>>(), [0, 8, 16, 24, 40]);
    assert_eq!(datatype.byte_len, 48);
}

#[test]
fn types_that_hdf5_cannot_describe_are_errors() {
    let mut model = Model::new();
    let root = model.root();
    let mut refusal = |kind| {
        let id = model.insert_type(root, UserType { name: "t".into(), kind }).expect("a type");
        datatype_of(&model, TypeRef::User(id), Endianness::Native)
            .expect_err("no datatype")
            .message()
            .to_owned()
    };
    assert!(refusal(UserKind::Opaque(0)).contains("0 bytes"));
    assert!(refusal(UserKind::Opaque(1 << 32)).contains("4294967296 bytes"));
    assert!(refusal(UserKind::Compound(Vec::new())).contains("0 members"));
    let huge = Field { name: "f".into(), ty: Atomic::Int.into(), dims: vec![1 << 20, 1 << 20] };
    assert!(refusal(UserKind::Compound(vec![huge])).starts_with("type t: an element of"));
    let empty = Field { name: "f".into(), ty: Atomic::Int.into(), dims: vec![3, 0] };
    assert!(refusal(UserKind::Compound(vec![empty])).contains("length 0"));
}

#[test]
fn a_type_inside_another_is_never_newer() {
    let reference = of(8, DatatypeClass::Reference(ReferenceKind::Object));
    let list = of(16, DatatypeClass::Vlen(Box::new(reference.clone())));
    assert_eq!(encode_datatype(&list), [0x19, 0, 0, 0, 16, 0, 0, 0, 0x17, 0, 0, 0, 8, 0, 0, 0]);
    let member = CompoundMember { name: "dataset".into(), offset: 0, datatype: reference };
    let compound = of(8, DatatypeClass::Compound([member].into()));
    let list = of(16, DatatypeClass::Vlen(Box::new(compound)));
    assert_eq!(encode_datatype(&list).first(), Some(&0x39));
    assert_eq!(read_back(&list), list);
}

proptest! {
    #[test]
    fn what_is_written_is_read(spec in any_type()) {
        let datatype = spec.datatype();
        prop_assert_eq!(read_back(&datatype), datatype);
    }
}
