use super::find;
use ncirrus_layout::FragmentVariable;
use ncirrus_model::{Atomic, GroupId, Model, ModelError, TypeRef};
use std::sync::Arc;

/// `/v`, `/g/v`, `/g/h/w` and `/k/u`.
fn model() -> Result<Model, ModelError> {
    let mut model = Model::default();
    let root = model.root();
    let g = model.add_group(root, "g")?;
    let h = model.add_group(g, "h")?;
    let k = model.add_group(root, "k")?;
    let mut add =
        |group: GroupId, name: &str| model.add_variable(group, name, TypeRef::Atomic(Atomic::Int), &[]);
    add(root, "v")?;
    add(g, "v")?;
    add(h, "w")?;
    add(k, "u")?;
    Ok(model)
}

#[track_caller]
fn is(variable: &FragmentVariable, path: Option<&str>) {
    let found = model().map(|model| find(&model, variable).map(|id| model.variable_path(id)));
    assert_eq!(found, Ok(path.map(str::to_owned)));
}

fn search(group: &str, name: &str) -> FragmentVariable {
    FragmentVariable::Search { group: Arc::from(group), name: Arc::from(name) }
}

#[test]
fn a_name_is_looked_for_in_its_group_then_around_it_then_below() {
    is(&search("/g", "v"), Some("/g/v"));
    is(&search("/g/h", "v"), Some("/g/v"));
    is(&search("/k", "v"), Some("/v"));
    is(&search("/", "w"), Some("/g/h/w"));
    is(&search("/", "x"), None);
}

#[test]
fn a_path_may_be_absolute_or_relative() {
    is(&search("/g", "/v"), Some("/v"));
    is(&search("/", "g/v"), Some("/g/v"));
    is(&search("/g/h", "../v"), Some("/g/v"));
    is(&search("/g", "../k/u"), Some("/k/u"));
    is(&search("/g", "./h/w"), Some("/g/h/w"));
    is(&search("/", "../v"), None);
}

#[test]
fn numbers_count_the_variables_of_the_root() {
    is(&FragmentVariable::Number(0), Some("/v"));
    is(&FragmentVariable::Number(1), None);
}
