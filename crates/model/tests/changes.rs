//! A copy of a model that takes over its changes only.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail the test")]
use ncirrus_model::{
    Atomic, Attribute, DimId, DimensionLen, EnumMember, FileRoom, Model, NodeId, Storage, TypeRef, UserKind,
    UserType, Values, VarId,
};
use proptest::prelude::*;

/// A change: which, of which member, and a name.
type Op = (u8, usize, u8);

/// Makes a change; one that is refused leaves the model as it is.
fn apply(model: &mut Model, (what, at, name): Op) {
    let groups = model.walk();
    let group = groups[at % groups.len()];
    let name = format!("n{}", name % 40);
    let vars = model.variables();
    let var = vars.get(at % vars.len().max(1)).copied();
    let dims: Vec<_> = groups.iter().flat_map(|id| model.group(*id).unwrap().dims.clone()).collect();
    let dim = dims.get(at % dims.len().max(1)).copied();
    let types: Vec<_> = groups.iter().flat_map(|id| model.group(*id).unwrap().types.clone()).collect();
    let node =
        if at % 3 == 0 { NodeId::Group(group) } else { var.map_or(NodeId::Group(group), NodeId::Variable) };
    match what % 18 {
        0 => _ = model.add_group(group, &name),
        1 => _ = model.add_dimension(group, &name, DimensionLen::Unlimited(1)),
        2 => {
            let members = vec![EnumMember { name: "a".into(), value: 1 }];
            let kind = UserKind::Enum { base: Atomic::Int, members };
            _ = model.add_type(group, UserType { name, kind });
        }
        3 | 4 => _ = model.add_variable(group, &name, TypeRef::Atomic(Atomic::Int), dim.as_slice()),
        16 => {
            let along = dim.into_iter().chain(dims.last().copied()).collect();
            _ = var.map(|var| model.variable_mut(var).unwrap().dims = along);
        }
        5 | 6 => _ = model.set_attribute(node, Attribute::text(name, &at.to_string())),
        7 => _ = model.attributes_mut(node).unwrap().known_mut().remove(&name),
        8 => _ = dim.map(|dim| model.grow(dim, at as u64)),
        9 => _ = dim.map(|dim| model.rename_dimension(dim, &name)),
        10 => _ = var.map(|var| model.rename_variable(var, &name)),
        11 => _ = model.rename_group(group, &name),
        12 => _ = var.map(|var| model.remove_variable(var)),
        13 => _ = dim.map(|dim| model.remove_dimension(dim)),
        14 => _ = model.remove_group(group),
        15 => {
            _ = var.map(|var| model.set_fill(var, Values::Int(vec![3])));
            _ = var.map(|var| model.variable_mut(var).unwrap().storage = Storage::Contiguous);
            model.set_room(FileRoom { header_free: at as u64, ..FileRoom::default() });
        }
        _ => _ = types.first().map(|ty| model.rename_type(*ty, &name)),
    }
}

fn ops() -> impl Strategy<Value = Vec<Op>> {
    prop::collection::vec((any::<u8>(), 0..40usize, any::<u8>()), 0..150)
}

/// The users of dimensions are those of a walk over all variables.
fn assert_users(model: &Model) {
    let groups = model.walk();
    let dims: Vec<DimId> = groups.iter().flat_map(|id| model.group(*id).unwrap().dims.clone()).collect();
    let mut vars = model.variables();
    vars.sort();
    for dim in dims {
        let uses = |id: &VarId| model.variable(*id).unwrap().dims.contains(&dim);
        let walked: Vec<VarId> = vars.iter().copied().filter(uses).collect();
        assert_eq!(model.users_of(dim).collect::<Vec<_>>(), walked);
    }
}

/// Members are found by their names, as they are in another model.
fn assert_same(model: &Model, other: &Model) {
    assert_eq!(model, other);
    assert_users(model);
    for group in model.walk() {
        for name in (0..40).map(|n| format!("n{n}")) {
            assert_eq!(model.subgroup(group, &name), other.subgroup(group, &name));
            assert_eq!(model.variable_in(group, &name), other.variable_in(group, &name));
            assert_eq!(model.dimension_in(group, &name), other.dimension_in(group, &name));
            assert_eq!(model.type_in(group, &name), other.type_in(group, &name));
        }
    }
    for node in model.nodes() {
        let (own, theirs) = (model.attributes(node).unwrap(), other.attributes(node).unwrap());
        for name in (0..40).map(|n| format!("n{n}")) {
            assert_eq!(own.known().unwrap().find(&name), theirs.known().unwrap().find(&name));
        }
    }
}

proptest! {
    #[test]
    fn a_copy_follows_the_changes_of_a_model_and_takes_them_back(first in ops(), then in ops(), last in ops()) {
        let mut model = Model::new();
        first.into_iter().for_each(|op| apply(&mut model, op));
        let before = model.clone();
        let mut behind = model.clone();
        // From now on the models keep what they know of users.
        assert_users(&model);
        assert_users(&behind);
        model.track(7);
        then.into_iter().for_each(|op| apply(&mut model, op));
        let changes = model.take_changes(7).unwrap();
        let mut undone = model.clone();
        assert_users(&undone);
        undone.follow(&before, &changes);
        assert_same(&undone, &before);
        behind.follow(&model, &changes);
        assert_same(&behind, &model);
        // Both can be changed like the others.
        for op in last {
            apply(&mut model, op);
            apply(&mut behind, op);
            assert_users(&model);
        }
        assert_same(&behind, &model);
    }
}

#[test]
fn changes_of_a_model_that_was_replaced_are_not_known() {
    let mut model = Model::new();
    model.track(1);
    let other = model.clone();
    assert!(other.take_changes(1).is_none(), "a copy is not tracked");
    assert!(model.take_changes(2).is_none(), "another one's");
    model.track(1);
    model = Model::new();
    assert!(model.take_changes(1).is_none());
}
