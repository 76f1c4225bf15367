//! Names that are too long for netCDF-C (`NC_MAX_NAME`), but allowed in HDF5 and Zarr.
use ncirrus::{CreateOptions, Dialect, Error, Kind, Result};
use ncirrus_model::{AttributeState, GroupId, Model, NAME_MAX_BYTES};
use std::collections::{BTreeSet, HashMap};

/// What a copy does about names that netCDF-C cannot read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum LongNames {
    /// The copy is refused, naming the first of them.
    #[default]
    Refuse,
    /// They are truncated, and numbered where necessary to distinguish them; each is reported.
    Shorten,
}

/// netCDF-C cannot read attributes whose names have 256 bytes, either.
const ATTRIBUTE_BYTES: usize = NAME_MAX_BYTES - 1;

/// Makes all names readable for netCDF-C, if the copy is meant for it.
///
/// # Errors
/// `Unsupported` with the first name that is too long, unless names are to be shortened.
pub(super) fn fit(
    model: &mut Model,
    create: &CreateOptions,
    choice: LongNames,
    losses: &mut Vec<String>,
) -> Result<()> {
    let is_for_zarr_alone = match create.kind {
        Some(Kind::Zarr2) => create.dialect.is_none_or(|dialect| dialect == Dialect::Plain),
        Some(Kind::Zarr3) => create.dialect == Some(Dialect::Plain),
        _ => false,
    };
    if is_for_zarr_alone {
        return Ok(());
    }
    for group in model.walk() {
        let names = new_names(model, group, choice)?;
        rename_members(model, group, &names, losses)?;
    }
    for node in model.nodes() {
        let path = path_of(model, node);
        let Some(AttributeState::Known(list)) = model.attributes_mut(node) else { continue };
        let mut known: BTreeSet<String> = list.iter().map(|attribute| attribute.name.clone()).collect();
        let long: Vec<String> = known.iter().filter(|name| name.len() > ATTRIBUTE_BYTES).cloned().collect();
        for name in long {
            let new = shortened(&name, ATTRIBUTE_BYTES, &mut known, ("attribute", &path), choice)?;
            list.rename(&name, &new)?;
            losses.push(format!("attribute {name:?} of {path} is named {new:?} in the copy"));
        }
    }
    Ok(())
}

/// A new name for each of a group's members whose name is too long: members with a common name (a dimension and its
/// variable) keep a common name.
fn new_names(model: &Model, id: GroupId, choice: LongNames) -> Result<HashMap<String, String>> {
    let Some(group) = model.group(id) else { return Ok(HashMap::new()) };
    let dims = group.dims.iter().filter_map(|id| Some(("dimension", &model.dimension(*id)?.name)));
    let vars = group.vars.iter().filter_map(|id| Some(("variable", &model.variable(*id)?.name)));
    let types = group.types.iter().filter_map(|id| Some(("type", &model.user_type(*id)?.name)));
    let groups = group.groups.iter().filter_map(|id| Some(("group", &model.group(*id)?.name)));
    let members: Vec<(&str, &String)> = groups.chain(vars).chain(types).chain(dims).collect();
    let mut known: BTreeSet<String> = members.iter().map(|(_, name)| (*name).clone()).collect();
    let mut names = HashMap::new();
    for (what, name) in members {
        if name.len() > NAME_MAX_BYTES && !names.contains_key(name) {
            let place = (what, model.group_path(id));
            let new = shortened(name, NAME_MAX_BYTES, &mut known, (place.0, &place.1), choice)?;
            names.insert(name.clone(), new);
        }
    }
    Ok(names)
}

pub(super) fn rename_members(
    model: &mut Model,
    id: GroupId,
    names: &HashMap<String, String>,
    losses: &mut Vec<String>,
) -> Result<()> {
    let Some(group) = model.group(id).filter(|_| !names.is_empty()).cloned() else { return Ok(()) };
    let path = model.group_path(id);
    let mut reported = |what: &str, old: &str, new: &str| {
        losses.push(format!("{what} {old:?} of {path} is named {new:?} in the copy"));
    };
    for id in group.dims {
        if let Some((old, new)) = model.dimension(id).and_then(|dim| names.get_key_value(&dim.name)) {
            model.rename_dimension(id, new)?;
            reported("dimension", old, new);
        }
    }
    for id in group.types {
        if let Some((old, new)) = model.user_type(id).and_then(|ty| names.get_key_value(&ty.name)) {
            model.rename_type(id, new)?;
            reported("type", old, new);
        }
    }
    for id in group.vars {
        if let Some((old, new)) = model.variable(id).and_then(|var| names.get_key_value(&var.name)) {
            model.rename_variable(id, new)?;
            reported("variable", old, new);
        }
    }
    for id in group.groups {
        if let Some((old, new)) = model.group(id).and_then(|group| names.get_key_value(&group.name)) {
            model.rename_group(id, new)?;
            reported("group", old, new);
        }
    }
    Ok(())
}

/// The beginning of a name, up to that many bytes, with a number if the result is taken.
fn shortened(
    name: &str,
    max: usize,
    known: &mut BTreeSet<String>,
    (what, of): (&str, &str),
    choice: LongNames,
) -> Result<String> {
    if choice == LongNames::Refuse {
        let len = name.len();
        let message =
            format!("the name of {what} {name:?} has {len} bytes, more than the {max} that netCDF-C reads");
        return Err(Error::unsupported(message).at_path(of));
    }
    let cut = |room: usize| {
        let end = (0..=room.min(name.len())).rev().find(|end| name.is_char_boundary(*end)).unwrap_or(0);
        name.split_at(end).0.trim_end()
    };
    let numbered = |number: u32| match number {
        0 => cut(max).to_owned(),
        number => {
            let end = format!("_{number}");
            format!("{}{end}", cut(max - end.len()))
        }
    };
    let new = (0..=u32::MAX).map(numbered).find(|new| !known.contains(new));
    let new = new.ok_or_else(|| Error::limit("too many names with the same prefix"))?;
    known.insert(new.clone());
    Ok(new)
}

pub(super) fn path_of(model: &Model, node: ncirrus_model::NodeId) -> String {
    match node {
        ncirrus_model::NodeId::Group(id) => model.group_path(id),
        ncirrus_model::NodeId::Variable(id) => model.variable_path(id),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ncirrus_model::{Atomic, Attribute, Attributes, DimensionLen, Group, Variable};

    /// A model with two groups, a dimension with its variable and an attribute, all with long names.
    fn long() -> Model {
        let (mut model, name) = (Model::new(), "ä".repeat(200));
        let root = model.root();
        model.insert_group(root, format!("{name}1")).unwrap();
        model.insert_group(root, format!("{name}2")).unwrap();
        let dimension = ncirrus_model::Dimension { name: name.clone(), len: DimensionLen::Fixed(2) };
        let dim = model.insert_dimension(root, dimension).unwrap();
        let mut variable = Variable::new(name.clone(), Atomic::Int.into(), vec![dim]);
        let mut list = Attributes::new();
        list.put(Attribute::text("a".repeat(256), "x"));
        variable.attributes = AttributeState::Known(list);
        model.insert_variable(root, variable).unwrap();
        model
    }

    fn of(kind: Kind) -> CreateOptions {
        CreateOptions::new().kind(kind)
    }

    #[test]
    fn long_names_are_refused_by_name() {
        let error = fit(&mut long(), &of(Kind::Nc4), LongNames::Refuse, &mut Vec::new()).unwrap_err();
        assert!(error.message().contains("401 bytes") && error.message().contains("group \"ää"), "{error}");
    }

    #[test]
    fn names_are_cut_between_characters_and_stay_apart() {
        let (mut model, mut losses) = (long(), Vec::new());
        fit(&mut model, &of(Kind::Nc4), LongNames::Shorten, &mut losses).unwrap();
        assert_eq!(losses.len(), 5, "{losses:#?}");
        let root = model.group(model.root()).unwrap();
        let groups: Vec<&str> = root
            .groups
            .iter()
            .map(|id| model.group(*id).unwrap())
            .map(|Group { name, .. }| name.as_str())
            .collect();
        assert_eq!(groups, ["ä".repeat(128), format!("{}_1", "ä".repeat(127))]);
        let variable = model.variable(root.vars[0]).unwrap();
        let dimension = model.dimension(root.dims[0]).unwrap();
        assert_eq!(variable.name, dimension.name);
        assert_eq!(variable.name, format!("{}_2", "ä".repeat(127)));
        let attributes = variable.attributes.known().unwrap();
        assert_eq!(attributes.iter().next().unwrap().name, "a".repeat(255));
    }

    #[test]
    fn plain_zarr_keeps_them() {
        let (mut model, mut losses) = (long(), Vec::new());
        fit(&mut model, &of(Kind::Zarr2), LongNames::Refuse, &mut losses).unwrap();
        assert_eq!((model, losses), (long(), vec![]));
    }
}
