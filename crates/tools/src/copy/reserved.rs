//! Names that the copy's format keeps for itself, or would make another path of.
use super::names::{path_of, rename_members};
use ncirrus::{CreateOptions, Detail, Error, Kind, Result};
use ncirrus_model::{AttributeState, GroupId, Model};
use ncirrus_netcdf_view::AttributeSpace;
use ncirrus_netcdf_view::names::MemberSpace;
use std::collections::{BTreeSet, HashMap};

/// Checks all names by the rules of the copy's format, before anything is written; changes those that break them if asked to.
///
/// # Errors
/// `Unsupported` with the first name that cannot be stored, unless names are to be changed.
pub(super) fn fit(
    model: &mut Model,
    create: &CreateOptions,
    renames: bool,
    losses: &mut Vec<String>,
) -> Result<()> {
    let (attributes, members) = match create.kind {
        Some(Kind::Nc4 | Kind::Nc4Classic) => (AttributeSpace::Hdf5, MemberSpace::Hdf5),
        Some(Kind::NcZarr | Kind::Zarr2) => (AttributeSpace::Zarr, MemberSpace::Zarr2),
        Some(Kind::Zarr3) => (AttributeSpace::Zarr, MemberSpace::Zarr3),
        _ => return Ok(()),
    };
    for group in model.walk() {
        let names = new_names(model, group, members, renames)?;
        rename_members(model, group, &names, losses)?;
    }
    for node in model.nodes() {
        let path = path_of(model, node);
        let Some(AttributeState::Known(list)) = model.attributes_mut(node) else { continue };
        let mut known: BTreeSet<String> = list.iter().map(|attribute| attribute.name.clone()).collect();
        let taken: Vec<String> = known.iter().filter(|name| attributes.is_taken(name)).cloned().collect();
        for name in taken {
            if !renames {
                let message = format!("attribute {name:?}: the format of the copy reserves this name");
                return Err(refused(message, &path));
            }
            let new = free_name(&name, &mut known, |name| attributes.is_taken(name))?;
            list.rename(&name, &new)?;
            losses.push(format!("attribute {name:?} of {path} is named {new:?} in the copy"));
        }
    }
    Ok(())
}

/// A new name for each of a group's members whose name breaks a rule: members with a common name (a dimension and its variable)
/// keep a common name.
fn new_names(
    model: &Model,
    id: GroupId,
    space: MemberSpace,
    renames: bool,
) -> Result<HashMap<String, String>> {
    let Some(group) = model.group(id) else { return Ok(HashMap::new()) };
    let named = |what, name, space| (what, name, space);
    // Names of dimensions and types are not segments of keys in Zarr, but parts of the paths in its attributes.
    let in_paths = MemberSpace::Hdf5;
    let dims =
        group.dims.iter().filter_map(|id| Some(named("dimension", &model.dimension(*id)?.name, in_paths)));
    let vars = group.vars.iter().filter_map(|id| Some(named("variable", &model.variable(*id)?.name, space)));
    let types =
        group.types.iter().filter_map(|id| Some(named("type", &model.user_type(*id)?.name, in_paths)));
    let groups = group.groups.iter().filter_map(|id| Some(named("group", &model.group(*id)?.name, space)));
    let members: Vec<_> = groups.chain(vars).chain(types).chain(dims).collect();
    let mut known: BTreeSet<String> = members.iter().map(|(_, name, _)| (*name).clone()).collect();
    let mut names = HashMap::new();
    for (what, name, space) in members {
        let Some(rule) = space.reserved_rule(name).filter(|_| !names.contains_key(name)) else { continue };
        if !renames {
            let message =
                format!("the name of {what} {name:?} {rule}: the format of the copy cannot store it");
            return Err(refused(message, &model.group_path(id)));
        }
        let new = free_name(name, &mut known, |name| space.reserved_rule(name).is_some())?;
        names.insert(name.clone(), new);
    }
    Ok(names)
}

fn refused(message: String, path: &str) -> Error {
    Error::unsupported(message).with_detail(Detail::ReservedName).at_path(path)
}

/// A name like another one that breaks no rule and is free: without characters of paths, with `_` behind it, or with a letter
/// in front where its beginning is reserved.
fn free_name(name: &str, known: &mut BTreeSet<String>, is_taken: impl Fn(&str) -> bool) -> Result<String> {
    let plain = name.replace(['/', '\\', '\0'], "_");
    let plain = match plain.strip_prefix('.') {
        Some(rest) => format!("_{rest}"),
        None => plain,
    };
    let plain = if plain == name { format!("{name}_") } else { plain };
    let base = if is_taken(&plain) { format!("x{}", plain.trim_end_matches('_')) } else { plain };
    let numbered = |number: u32| if number == 0 { base.clone() } else { format!("{base}_{number}") };
    let free = |new: &String| !known.contains(new) && !is_taken(new);
    let new = (0..=u32::MAX).map(numbered).find(free);
    let new = new.ok_or_else(|| Error::limit("too many names with the same beginning"))?;
    known.insert(new.clone());
    Ok(new)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ncirrus_model::{Atomic, Attribute, Attributes, Dimension, DimensionLen, Variable};

    /// A model with a dimension and its variable, and a group, of these names, and the attributes.
    fn named(member: &str, group: &str, attributes: &[&str]) -> Model {
        let mut model = Model::new();
        let root = model.root();
        let dimension = Dimension { name: member.to_owned(), len: DimensionLen::Fixed(2) };
        let dim = model.insert_dimension(root, dimension).unwrap();
        let mut variable = Variable::new(member.to_owned(), Atomic::Int.into(), vec![dim]);
        let mut list = Attributes::new();
        attributes.iter().for_each(|name| list.put(Attribute::text((*name).to_owned(), "x")));
        variable.attributes = AttributeState::Known(list);
        model.insert_variable(root, variable).unwrap();
        model.insert_group(root, group.to_owned()).unwrap();
        model
    }

    fn fitted(mut model: Model, kind: Kind, renames: bool) -> Result<(Vec<String>, Vec<String>)> {
        let mut losses = Vec::new();
        fit(&mut model, &CreateOptions::new().kind(kind), renames, &mut losses)?;
        let root = model.group(model.root()).unwrap();
        let variable = model.variable(root.vars[0]).unwrap();
        let mut names = vec![
            model.dimension(root.dims[0]).unwrap().name.clone(),
            variable.name.clone(),
            model.group(root.groups[0]).unwrap().name.clone(),
        ];
        names.extend(variable.attributes.known().unwrap().iter().map(|attribute| attribute.name.clone()));
        Ok((names, losses))
    }

    #[test]
    fn names_are_reserved_by_the_format_of_the_copy_alone() {
        let model = || named("v", "g", &["CLASS", "NAME", "_nczarr_x", "_ncirrus", "units"]);
        let all = ["v", "v", "g", "CLASS", "NAME", "_nczarr_x", "_ncirrus", "units"];
        assert_eq!(fitted(model(), Kind::Nc5, false).unwrap().0, all);
        for (kind, first, renamed) in [
            (Kind::Nc4, "CLASS", ["CLASS_", "NAME_", "_nczarr_x", "_ncirrus"]),
            (Kind::Nc4Classic, "CLASS", ["CLASS_", "NAME_", "_nczarr_x", "_ncirrus"]),
            (Kind::NcZarr, "_ncirrus", ["CLASS", "NAME", "x_nczarr_x", "_ncirrus_"]),
            (Kind::Zarr2, "_ncirrus", ["CLASS", "NAME", "x_nczarr_x", "_ncirrus_"]),
            (Kind::Zarr3, "_ncirrus", ["CLASS", "NAME", "x_nczarr_x", "_ncirrus_"]),
        ] {
            let error = fitted(model(), kind, false).unwrap_err();
            assert_eq!(error.kind(), ncirrus::ErrorKind::Unsupported, "{kind:?}");
            assert!(error.message().contains(first) && error.to_string().contains("/v"), "{kind:?}: {error}");
            let (names, losses) = fitted(model(), kind, true).unwrap();
            assert_eq!(names[3..7], renamed, "{kind:?}");
            assert_eq!(losses.len(), 2, "{losses:?}");
        }
    }

    #[test]
    fn names_that_are_other_paths_are_changed_together() {
        for (member, group, kind, new) in [
            ("a\\b", "..", Kind::Zarr2, ["a_b", "a_b", "_."]),
            (".a", "zarr.json", Kind::NcZarr, ["_a", "_a", "zarr.json"]),
            ("v", "zarr.json", Kind::Zarr3, ["v", "v", "zarr.json_"]),
            ("__a", "..", Kind::Zarr3, ["x__a", "x__a", "_."]),
            ("v", ".", Kind::Nc4, ["v", "v", "_"]),
        ] {
            let error = fitted(named(member, group, &[]), kind, false).unwrap_err();
            assert_eq!(error.detail(), Some(&Detail::ReservedName), "{error}");
            let (names, losses) = fitted(named(member, group, &[]), kind, true).unwrap();
            assert_eq!(names, new, "{kind:?} {losses:?}");
        }
    }

    #[test]
    fn a_new_name_is_free() {
        let (names, _) = fitted(named("v", "g", &["CLASS", "CLASS_", "CLASS__1"]), Kind::Nc4, true).unwrap();
        assert_eq!(names[3..], ["CLASS__2", "CLASS_", "CLASS__1"]);
    }
}
