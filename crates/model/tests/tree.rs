//! Scoping and editing of a model.
use ncirrus_model::{
    Atomic, DimensionLen, EnumMember, Field, Fill, Model, ModelError, TypeRef, UserKind, UserType, Values,
};

fn enum_type(name: &str, base: Atomic, values: &[(&str, i128)]) -> UserType {
    let members =
        values.iter().map(|(name, value)| EnumMember { name: (*name).to_owned(), value: *value }).collect();
    UserType { name: name.to_owned(), kind: UserKind::Enum { base, members } }
}

#[test]
fn a_name_means_the_dimension_of_the_nearest_enclosing_group() {
    let mut model = Model::new();
    let root = model.root();
    let outer = model.add_dimension(root, "x", DimensionLen::Fixed(3)).unwrap();
    let group = model.add_group(root, "g").unwrap();
    let deep = model.add_group(group, "h").unwrap();
    assert_eq!(model.visible_dimension(deep, "x"), Some(outer));
    let inner = model.add_dimension(group, "x", DimensionLen::Fixed(5)).unwrap();
    assert_eq!(model.visible_dimension(deep, "x"), Some(inner));
    assert_eq!(model.dimension_path(inner), "/g/x");
    assert_eq!(model.dimension_at("/x"), Some(outer));
}

#[test]
fn a_variable_cannot_use_what_it_cannot_see() {
    let mut model = Model::new();
    let root = model.root();
    let group = model.add_group(root, "g").unwrap();
    let hidden = model.add_dimension(group, "y", DimensionLen::Fixed(2)).unwrap();
    let ty = model.add_type(group, enum_type("e", Atomic::Byte, &[("A", 1)])).unwrap();
    let error = model.add_variable(root, "v", Atomic::Int.into(), &[hidden]).unwrap_err();
    assert!(matches!(error, ModelError::OutOfScope { what: "dimension", .. }), "{error}");
    let error = model.add_variable(root, "v", TypeRef::User(ty), &[]).unwrap_err();
    assert!(matches!(error, ModelError::OutOfScope { what: "type", .. }), "{error}");
    assert!(model.add_variable(group, "v", TypeRef::User(ty), &[hidden]).is_ok());
}

#[test]
fn groups_variables_and_types_share_a_name_space_but_dimensions_have_their_own() {
    let mut model = Model::new();
    let root = model.root();
    let dim = model.add_dimension(root, "x", DimensionLen::Fixed(2)).unwrap();
    model.add_variable(root, "x", Atomic::Int.into(), &[dim]).unwrap();
    assert!(matches!(model.add_group(root, "x"), Err(ModelError::NameInUse { .. })));
    assert!(model.add_type(root, enum_type("x", Atomic::Byte, &[("A", 1)])).is_err());
    assert!(model.add_dimension(root, "x", DimensionLen::Fixed(2)).is_err());
}

#[test]
fn badly_formed_types_are_refused() {
    let mut model = Model::new();
    let root = model.root();
    for bad in [
        enum_type("e", Atomic::Float, &[("A", 1)]),
        enum_type("e", Atomic::Byte, &[("A", 128)]),
        enum_type("e", Atomic::Byte, &[("A", 1), ("A", 2)]),
        enum_type("e", Atomic::Byte, &[]),
        UserType { name: "o".into(), kind: UserKind::Opaque(0) },
        UserType { name: "c".into(), kind: UserKind::Compound(Vec::new()) },
    ] {
        assert!(model.add_type(root, bad.clone()).is_err(), "{bad:?}");
    }
}

#[test]
fn removed_members_leave_their_ids_behind() {
    let mut model = Model::new();
    let root = model.root();
    let dim = model.add_dimension(root, "x", DimensionLen::Fixed(2)).unwrap();
    let first = model.add_variable(root, "v", Atomic::Int.into(), &[dim]).unwrap();
    assert!(matches!(model.remove_dimension(dim), Err(ModelError::InUse { .. })));
    model.remove_variable(first).unwrap();
    let second = model.add_variable(root, "v", Atomic::Int.into(), &[]).unwrap();
    assert_ne!(first, second);
    assert!(model.variable(first).is_none());
    model.remove_dimension(dim).unwrap();
    assert!(model.remove_dimension(dim).is_err());
}

#[test]
fn only_unlimited_dimensions_grow() {
    let mut model = Model::new();
    let root = model.root();
    let fixed = model.add_dimension(root, "x", DimensionLen::Fixed(2)).unwrap();
    let grows = model.add_dimension(root, "t", DimensionLen::Unlimited(0)).unwrap();
    model.grow(grows, 5).unwrap();
    model.grow(grows, 3).unwrap();
    let var = model.add_variable(root, "v", Atomic::Int.into(), &[grows, fixed]).unwrap();
    assert_eq!(model.shape(var), [5, 2]);
    assert_eq!(model.growing(var), [true, false]);
    assert!(model.grow(fixed, 2).is_ok());
    assert!(model.grow(fixed, 3).is_err());
}

#[test]
fn a_fill_value_must_be_one_element_of_the_variables_type() {
    let mut model = Model::new();
    let root = model.root();
    let var = model.add_variable(root, "v", Atomic::Short.into(), &[]).unwrap();
    assert!(model.set_fill(var, Values::Int(vec![1])).is_err());
    assert!(model.set_fill(var, Values::Short(vec![1, 2])).is_err());
    model.set_fill(var, Values::Short(vec![-9])).unwrap();
    let variable = model.variable(var).unwrap();
    assert_eq!((&variable.fill, variable.own_fill()), (&Fill::Attribute, Some(&Values::Short(vec![-9]))));
    assert_eq!(
        variable.attributes.known().unwrap().find("_FillValue").unwrap().values,
        Values::Short(vec![-9])
    );
}

#[test]
fn packed_length_adds_fields_without_padding_and_is_unknown_for_variable_length() {
    let mut model = Model::new();
    let root = model.root();
    let field = |name: &str, ty, dims: &[u64]| Field { name: name.into(), ty, dims: dims.to_vec() };
    let fixed = vec![field("a", Atomic::Byte.into(), &[]), field("b", Atomic::Double.into(), &[2, 3])];
    let fixed = model.add_type(root, UserType { name: "c".into(), kind: UserKind::Compound(fixed) }).unwrap();
    assert_eq!(model.packed_len(TypeRef::User(fixed)), Some(49));
    let varying = vec![field("s", Atomic::String.into(), &[])];
    let varying =
        model.add_type(root, UserType { name: "d".into(), kind: UserKind::Compound(varying) }).unwrap();
    assert!(model.is_variable_length(TypeRef::User(varying)));
    let huge = vec![field("h", Atomic::Double.into(), &[u64::MAX, 2])];
    let huge = model.add_type(root, UserType { name: "h".into(), kind: UserKind::Compound(huge) }).unwrap();
    assert_eq!(model.packed_len(TypeRef::User(huge)), None);
}

#[test]
fn ids_that_lead_nowhere_are_reported() {
    let mut model = Model::new();
    let root = model.root();
    let x = model.add_dimension(root, "x", DimensionLen::Fixed(3)).unwrap();
    let y = model.add_dimension(root, "y", DimensionLen::Fixed(3)).unwrap();
    let group = model.add_group(root, "g").unwrap();
    let var = model.add_variable(group, "v", Atomic::Int.into(), &[x]).unwrap();
    assert_eq!(model.dangling(), None);
    model.remove_dimension(y).unwrap();
    assert_eq!(model.dangling(), None);
    model.variable_mut(var).unwrap().dims.push(y);
    assert_eq!(model.dangling().unwrap(), "dimension 1 of the variable /g/v");
}
