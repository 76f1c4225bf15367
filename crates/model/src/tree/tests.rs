use crate::{Atomic, DimensionLen, Model};

#[test]
fn an_id_of_a_group_that_leads_nowhere_is_reported() {
    let mut model = Model::new();
    let root = model.root();
    let group = model.add_group(root, "g").unwrap();
    let x = model.add_dimension(root, "x", DimensionLen::Fixed(3)).unwrap();
    let y = model.add_dimension(root, "y", DimensionLen::Fixed(3)).unwrap();
    model.add_variable(group, "v", Atomic::Int.into(), &[x]).unwrap();
    model.remove_dimension(y).unwrap();
    assert_eq!(model.dangling(), None);
    model.group_slot(group).unwrap().dims.push(y);
    assert_eq!(model.dangling().unwrap(), "dimension 1 of the group /g");
}

#[test]
fn equal_models_are_shown_alike() {
    let made = || {
        let mut model = Model::new();
        let root = model.root();
        for at in 0..40 {
            let id = model.add_variable(root, &format!("v{at}"), Atomic::Int.into(), &[]).unwrap();
            let attributes = model.variable_mut(id).unwrap().attributes.known_mut();
            (0..40).for_each(|at| attributes.put(crate::Attribute::text(format!("a{at}"), "")));
        }
        model
    };
    assert_eq!(format!("{:?}", made()), format!("{:?}", made()));
}
