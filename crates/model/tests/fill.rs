//! Where the fill value of a variable comes from, whatever becomes of the attribute `_FillValue`.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail the test")]
use ncirrus_model::{
    Atomic, Attribute, AttributeState, Attributes, EnumMember, Fill, Model, NodeId, Strings, TypeRef,
    UserKind, UserType, Values, VarId, default_fill,
};
use proptest::prelude::*;

const NAMES: [&str; 3] = ["_FillValue", "old", "units"];

/// A change of a variable's attributes or of its fill value.
#[derive(Debug, Clone)]
enum Op {
    /// Sets an attribute: its name, type and values by number.
    Set(usize, usize, usize),
    Remove(usize),
    Rename(usize, usize),
    /// Chooses a fill value.
    Choose(usize),
    /// Where the fill value comes from: by number, with a value.
    From(usize, usize),
    /// Stores the fill value apart from the attribute.
    Settle,
    /// Reads all attributes again, after the rest.
    Reread,
}

fn ops() -> impl Strategy<Value = Vec<Op>> {
    let op = prop_oneof![
        4 => (0..3usize, 0..4usize, 0..6usize).prop_map(|(name, ty, at)| Op::Set(name, ty, at)),
        2 => (0..3usize).prop_map(Op::Remove),
        2 => (0..3usize, 0..3usize).prop_map(|(from, to)| Op::Rename(from, to)),
        1 => (0..3usize).prop_map(Op::Choose),
        2 => (0..4usize, 0..3usize).prop_map(|(from, at)| Op::From(from, at)),
        1 => Just(Op::Settle),
        1 => Just(Op::Reread),
    ];
    prop::collection::vec(op, 0..40)
}

/// A type, and what attributes of it have: three single elements, then none, two and three of them.
fn samples(ty: usize, model: &Model, user: TypeRef) -> (TypeRef, [Values; 6]) {
    let (ty, three) = match ty {
        0 => (Atomic::Float.into(), Values::Float(vec![7.0, f32::NAN, -0.0])),
        1 => (Atomic::Int.into(), Values::Int(vec![7, 0, -1])),
        2 => (Atomic::String.into(), Values::String(Strings::from_iter([Some("a"), Some(""), None]))),
        _ => (user, Values::Int(vec![1, 2, 7])),
    };
    let single = |at: usize| three.slice(at..at + 1);
    assert!(three.is_of(ty) && model.zeros(ty, 1, 8).is_some());
    (ty, [single(0), single(1), single(2), three.slice(0..0), three.slice(0..2), three.clone()])
}

fn model_of(ty: usize) -> (Model, VarId, TypeRef) {
    let mut model = Model::new();
    let root = model.root();
    let members = vec![EnumMember { name: "one".into(), value: 1 }];
    let kind = UserKind::Enum { base: Atomic::Int, members };
    let user = model.add_type(root, UserType { name: "e".into(), kind }).unwrap();
    let user = TypeRef::User(user);
    let ty = samples(ty, &model, user).0;
    let var = model.add_variable(root, "v", ty, &[]).unwrap();
    (model, var, user)
}

/// The rule, by a list of attributes: what is `Some` is the variable's own fill value.
fn expected(list: &[Attribute], ty: TypeRef, fill: &Fill) -> Option<Values> {
    match fill {
        Fill::Attribute => {
            let mut named = list.iter().filter(|attribute| attribute.name == "_FillValue");
            let fits = |attribute: &&Attribute| attribute.ty == ty && attribute.values.len() == 1;
            named.next().filter(fits).map(|attribute| attribute.values.clone())
        }
        Fill::Apart(value) => Some(value.clone()),
        Fill::Default | Fill::None => None,
    }
}

fn are_identical(ours: Option<&Values>, theirs: Option<&Values>) -> bool {
    match (ours, theirs) {
        (Some(ours), Some(theirs)) => ours.is_identical(theirs),
        (ours, theirs) => ours.is_none() && theirs.is_none(),
    }
}

/// Makes a change of a model, and of a list of attributes and a fill as they should be.
fn apply(
    op: &Op,
    (model, var, user): (&mut Model, VarId, TypeRef),
    list: &mut Vec<Attribute>,
    fill: &mut Fill,
) {
    let ty = model.variable(var).unwrap().ty;
    let own = |at: usize, model: &Model| {
        let types = (0..4).map(|number| samples(number, model, user));
        let (_, values) = types.into_iter().find(|(found, _)| *found == ty).unwrap();
        values[at].clone()
    };
    let put = |list: &mut Vec<Attribute>, attribute: Attribute| match list
        .iter_mut()
        .find(|old| old.name == attribute.name)
    {
        Some(old) => *old = attribute,
        None => list.push(attribute),
    };
    let node = NodeId::Variable(var);
    match *op {
        Op::Set(name, number, at) => {
            let (ty, values) = samples(number, model, user);
            let attribute =
                Attribute { name: NAMES[name].into(), ty, values: values[at].clone(), is_json: false };
            put(list, attribute.clone());
            model.set_attribute(node, attribute).unwrap();
        }
        Op::Remove(name) => {
            list.retain(|attribute| attribute.name != NAMES[name]);
            _ = model.attributes_mut(node).unwrap().known_mut().remove(NAMES[name]);
        }
        Op::Rename(from, to) => {
            let renamed = model.attributes_mut(node).unwrap().known_mut().rename(NAMES[from], NAMES[to]);
            if renamed.is_ok() {
                list.iter_mut().find(|old| old.name == NAMES[from]).unwrap().name = NAMES[to].into();
            }
        }
        Op::Choose(at) => {
            let values = own(at, model);
            put(list, Attribute { name: "_FillValue".into(), ty, values: values.clone(), is_json: false });
            *fill = Fill::Attribute;
            model.set_fill(var, values).unwrap();
        }
        Op::From(from, at) => {
            let value = own(at, model);
            *fill = [Fill::Attribute, Fill::Default, Fill::Apart(value), Fill::None][from].clone();
            model.variable_mut(var).unwrap().fill = fill.clone();
        }
        Op::Settle => {
            *fill = match (&*fill, expected(list, ty, fill)) {
                (Fill::None, _) => Fill::None,
                (_, Some(own)) => Fill::Apart(own),
                (_, None) => Fill::Default,
            };
            let variable = model.variable_mut(var).unwrap();
            variable.fill = variable.settled_fill();
        }
        Op::Reread => {
            let read: Attributes = list.iter().cloned().collect();
            let before = model.variable(var).unwrap().own_fill().cloned();
            model.take_attributes(node, AttributeState::Known(read));
            let variable = model.variable(var).unwrap();
            assert!(are_identical(variable.own_fill(), before.as_ref()), "read attributes change nothing");
            // A value that is the attribute's is that from now on.
            fill.clone_from(&variable.fill);
        }
    }
}

proptest! {
    #[test]
    fn the_fill_value_is_the_attribute_unless_it_is_stored_apart(ty in 0..4usize, all in ops()) {
        let (mut model, var, user) = model_of(ty);
        let (mut list, mut fill) = (Vec::new(), Fill::default());
        for op in &all {
            apply(op, (&mut model, var, user), &mut list, &mut fill);
            let variable = model.variable(var).unwrap();
            let own = expected(&list, variable.ty, &fill);
            prop_assert!(are_identical(variable.own_fill(), own.as_ref()), "after {:?}", op);
            prop_assert_eq!(variable.is_filled(), fill != Fill::None);
            prop_assert_eq!(&variable.fill, &fill);
            let usual = match variable.ty {
                TypeRef::Atomic(atomic) => Some(default_fill(atomic)),
                TypeRef::User(_) => None,
            };
            prop_assert!(are_identical(variable.fill_value().as_ref(), own.or(usual).as_ref()));
            let mut settled = variable.clone();
            settled.fill = variable.settled_fill();
            prop_assert!(settled.is_filled_as(variable));
            settled.attributes.known_mut().remove("_FillValue");
            prop_assert!(settled.is_filled_as(variable), "a settled value outlives the attribute");
        }
    }
}

#[test]
fn a_value_that_was_read_before_the_attributes_stays_if_they_are_of_another_form() {
    let (mut model, var, _) = model_of(1);
    let node = NodeId::Variable(var);
    let read = |model: &mut Model, values: Values| {
        let variable = model.variable_mut(var).unwrap();
        (variable.fill, variable.attributes) = (Fill::Apart(Values::Int(vec![7])), AttributeState::Pending);
        let list = Attributes::from_iter([Attribute::atomic("_FillValue", values)]);
        model.take_attributes(node, AttributeState::Known(list));
        model.variable(var).unwrap().clone()
    };
    assert_eq!(read(&mut model, Values::Int(vec![7])).fill, Fill::Attribute);
    for values in [Values::Int(vec![8]), Values::Int(vec![7, 7]), Values::Short(vec![7])] {
        let variable = read(&mut model, values);
        assert_eq!(
            (&variable.fill, variable.own_fill()),
            (&Fill::Apart(Values::Int(vec![7])), Some(&Values::Int(vec![7])))
        );
    }
}

#[test]
fn only_a_chosen_fill_value_is_noted_as_chosen() {
    let (mut model, var, _) = model_of(1);
    model.track(1);
    model
        .set_attribute(NodeId::Variable(var), Attribute::atomic("_FillValue", Values::Int(vec![7])))
        .unwrap();
    let changes = model.take_changes(1).unwrap();
    assert!(!changes.chose_fill(var) && changes.variables().contains(&var));
    model.track(1);
    model.set_fill(var, Values::Int(vec![8])).unwrap();
    let mut changes = changes;
    changes.add(model.take_changes(1).unwrap());
    assert!(changes.chose_fill(var));
}
