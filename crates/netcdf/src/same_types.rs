//! Whether types of two datasets are the same.
use ncirrus_model::{Field, Model, TypeRef, UserKind};

/// Deepest nesting of types.
const DEPTH: u32 = 32;

/// Whether two types, each of its own dataset, have the same name and structure.
pub fn same_types(one: (&Model, TypeRef), other: (&Model, TypeRef)) -> bool {
    are_same(one, other, DEPTH)
}

fn are_same((ours, one): (&Model, TypeRef), (theirs, two): (&Model, TypeRef), depth: u32) -> bool {
    let (TypeRef::User(one), TypeRef::User(two)) = (one, two) else { return one == two };
    let Some(depth) = depth.checked_sub(1) else { return false };
    let (Some(one), Some(two)) = (ours.user_type(one), theirs.user_type(two)) else { return false };
    let alike = |one: TypeRef, two: TypeRef| are_same((ours, one), (theirs, two), depth);
    let same_field =
        |(one, two): (&Field, &Field)| one.name == two.name && one.dims == two.dims && alike(one.ty, two.ty);
    one.name == two.name
        && match (&one.kind, &two.kind) {
            (UserKind::Compound(one), UserKind::Compound(two)) => {
                one.len() == two.len() && one.iter().zip(two).all(same_field)
            }
            (UserKind::Vlen(one), UserKind::Vlen(two)) => alike(*one, *two),
            (one, two) => one == two,
        }
}

#[cfg(test)]
mod tests {
    use super::same_types;
    use ncirrus_model::{Atomic, Model, TypeRef, UserKind, UserType};

    #[test]
    fn types_are_the_same_by_name_and_structure() {
        let with = |name: &str, base: Atomic| {
            let mut model = Model::new();
            let ty = UserType { name: name.to_owned(), kind: UserKind::Vlen(base.into()) };
            let id = model.insert_type(model.root(), ty).unwrap();
            (model, TypeRef::User(id))
        };
        let (one, other) = (with("a", Atomic::Int), with("a", Atomic::Int));
        assert!(same_types((&one.0, one.1), (&other.0, other.1)));
        for different in [with("b", Atomic::Int), with("a", Atomic::Float)] {
            assert!(!same_types((&one.0, one.1), (&different.0, different.1)));
        }
    }
}
