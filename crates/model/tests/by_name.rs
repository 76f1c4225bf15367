//! Members and attributes are found by name as by walking over them all, whatever was added, renamed, removed, replaced.
use ncirrus_model::{
    Atomic, Attribute, Attributes, DimId, Dimension, DimensionLen, GroupId, Model, TypeId, UserKind,
    UserType, VarId, Variable,
};
use proptest::prelude::*;
use std::collections::HashMap;

/// More names than a list that is searched may have, and few enough to meet again.
const NAMES: usize = 40;

fn name(at: usize) -> String {
    format!("n{}", at % NAMES)
}

fn pick<T: Copy>(list: &[T], at: usize) -> Option<T> {
    list.get(at % list.len().max(1)).copied()
}

/// A change: what is done, to which member, with which name.
type Change = (u8, usize, usize);

fn changes(kinds: u8) -> impl Strategy<Value = Vec<Change>> {
    prop::collection::vec((0..kinds, 0..1000usize, 0..1000usize), 0..600)
}

/// Changes may fail, as the name may be in use.
fn change(model: &mut Model, (kind, at, new): Change) {
    let groups = model.walk();
    let group = pick(&groups[..groups.len().min(2)], at / 7).unwrap_or(model.root());
    let Some(home) = model.group(group).cloned() else { return };
    let name = &name(new);
    let opaque = UserType { name: name.clone(), kind: UserKind::Opaque(1) };
    let done = match kind {
        0 => model.add_group(group, name).map(drop),
        1 => model.insert_group(group, name.clone()).map(drop),
        2 => model.add_dimension(group, name, DimensionLen::Fixed(1)).map(drop),
        3 => {
            let dimension = Dimension { name: name.clone(), len: DimensionLen::Fixed(1) };
            model.insert_dimension(group, dimension).map(drop)
        }
        4 => model.add_type(group, opaque).map(drop),
        5 => model.insert_type(group, opaque).map(drop),
        6 | 7 => model.add_variable(group, name, Atomic::Int.into(), &[]).map(drop),
        8 => model.insert_variable(group, Variable::new(name, Atomic::Int.into(), Vec::new())).map(drop),
        9 => pick(&home.groups, at).map_or(Ok(()), |id| model.rename_group(id, name)),
        10 => pick(&home.dims, at).map_or(Ok(()), |id| model.rename_dimension(id, name)),
        11 => pick(&home.types, at).map_or(Ok(()), |id| model.rename_type(id, name)),
        12 => pick(&home.vars, at).map_or(Ok(()), |id| model.rename_variable(id, name)),
        13 => pick(&home.groups, at).map_or(Ok(()), |id| model.remove_group(id)),
        14 => pick(&home.dims, at).map_or(Ok(()), |id| model.remove_dimension(id).map(drop)),
        15 => pick(&home.vars, at).map_or(Ok(()), |id| model.remove_variable(id).map(drop)),
        16 => {
            let lent = pick(&home.vars, at).and_then(|id| model.variable_mut(id));
            lent.into_iter().for_each(|variable| variable.name.clone_from(name));
            Ok(())
        }
        // A variable is moved: a copy of it replaces another.
        17 => {
            let copy = pick(&home.vars, at).and_then(|id| model.variable(id).cloned());
            let lent = pick(&home.vars, new).and_then(|id| model.variable_mut(id));
            lent.zip(copy).into_iter().for_each(|(variable, copy)| *variable = copy);
            Ok(())
        }
        _ => {
            *model = model.clone();
            Ok(())
        }
    };
    drop(done);
}

/// The first member of each kind by name, from a walk over the members of a group.
fn walked(model: &Model, group: GroupId) -> HashMap<String, [Option<usize>; 4]> {
    let mut first: HashMap<String, [Option<usize>; 4]> = HashMap::new();
    let Some(home) = model.group(group) else { return first };
    let groups = home.groups.iter().filter_map(|id| Some((0, &model.group(*id)?.name, id.index())));
    let dims = home.dims.iter().filter_map(|id| Some((1, &model.dimension(*id)?.name, id.index())));
    let types = home.types.iter().filter_map(|id| Some((2, &model.user_type(*id)?.name, id.index())));
    let vars = home.vars.iter().filter_map(|id| Some((3, &model.variable(*id)?.name, id.index())));
    for (kind, name, id) in groups.chain(dims).chain(types).chain(vars) {
        let kinds: &mut [Option<usize>; 4] = first.entry(name.clone()).or_default();
        kinds[kind].get_or_insert(id);
    }
    first
}

fn found(model: &Model, group: GroupId, name: &str) -> [Option<usize>; 4] {
    [
        model.subgroup(group, name).map(GroupId::index),
        model.dimension_in(group, name).map(DimId::index),
        model.type_in(group, name).map(TypeId::index),
        model.variable_in(group, name).map(VarId::index),
    ]
}

fn change_attributes(attributes: &mut Attributes, (kind, at, new): Change) {
    let (old, new) = (name(at), name(new));
    match kind {
        0 | 1 => attributes.put(Attribute::text(new, &old)),
        2 => attributes.push_distinct(Attribute::text(new, &old)),
        3 => drop(attributes.remove(&old)),
        4 => drop(attributes.rename(&old, &new)),
        _ => *attributes = attributes.clone(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn members_are_those_of_a_walk(changes in changes(19)) {
        let mut model = Model::new();
        for applied in changes {
            change(&mut model, applied);
            for group in model.walk().into_iter().take(2) {
                let walked = walked(&model, group);
                for name in (0..NAMES).map(name) {
                    let first = walked.get(&name).copied().unwrap_or_default();
                    prop_assert_eq!(found(&model, group, &name), first, "{} {:?}", name, applied);
                }
            }
        }
    }

    #[test]
    fn attributes_are_those_of_a_walk(changes in changes(6)) {
        let mut attributes = Attributes::new();
        let mut list: Vec<(String, String)> = Vec::new();
        for applied in changes {
            change_attributes(&mut attributes, applied);
            let (kind, at, new) = applied;
            let (old, new) = (name(at), name(new));
            let place = |name: &str| list.iter().position(|(listed, _)| listed == name);
            match (kind, place(&old), place(&new)) {
                (0 | 1, _, Some(place)) => list[place].1 = old,
                (0..=2, ..) => list.push((new, old)),
                (3, Some(place), _) => drop(list.remove(place)),
                (4, Some(place), None) => list[place].0 = new,
                _ => {}
            }
            let reported = |attribute: &Attribute| (attribute.name.clone(), attribute.as_text().unwrap());
            prop_assert_eq!(attributes.iter().map(reported).collect::<Vec<_>>(), &list[..]);
            for at in 0..NAMES {
                let first = list.iter().find(|(listed, _)| *listed == name(at)).cloned();
                prop_assert_eq!(attributes.find(&name(at)).map(reported), first);
            }
        }
    }
}
