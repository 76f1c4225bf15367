//! The rules of the classic model, for files marked `_nc3_strict`.
use ncirrus_layout::{Detail, Error, Result};
use ncirrus_model::{Model, NodeId, TypeRef, VarId};

/// Refuses what the classic model does not have: groups, newer types, several unlimited dimensions. That one need not be the
/// first of a variable, as it must in netCDF-3: netCDF-C writes such files.
///
/// # Errors
/// `Unsupported` naming the first such member.
pub(crate) fn check(model: &Model) -> Result<()> {
    let refuse = |path: String, what: &str| {
        let message = format!("the classic model has no {what}");
        Err(Error::unsupported(message).with_detail(Detail::BeyondClassic).at_path(path))
    };
    // The root comes first.
    if let Some(group) = model.walk().get(1) {
        return refuse(model.group_path(*group), "groups");
    }
    let Some(root) = model.group(model.root()) else { return Ok(()) };
    if let Some(ty) = root.types.first() {
        // Readers define types of their own, such as that of complex numbers: the variable is what users know.
        let is_of =
            |var: &VarId| model.variable(*var).is_some_and(|variable| variable.ty == TypeRef::User(*ty));
        let path = match model.variables().into_iter().find(is_of) {
            Some(var) => model.variable_path(var),
            None => model.type_path(*ty),
        };
        let name = model.user_type(*ty).map(|ty| ty.name.clone()).unwrap_or_default();
        return refuse(path, &format!("types of its own, such as {name}"));
    }
    let mut unlimited = root
        .dims
        .iter()
        .filter(|dim| model.dimension(**dim).is_some_and(|dimension| dimension.len.is_unlimited()));
    if let Some(second) = unlimited.nth(1) {
        return refuse(model.dimension_path(*second), "second unlimited dimension");
    }
    for var in model.variables() {
        let newer = model.variable(var).is_some_and(|variable| !is_classic(variable.ty));
        if newer {
            return refuse(model.variable_path(var), "such type");
        }
    }
    for node in model.nodes() {
        let attributes = model.attributes(node).and_then(|state| state.known());
        let newer = attributes.and_then(|list| list.iter().find(|attribute| !is_classic(attribute.ty)));
        if let Some(attribute) = newer {
            let path = match node {
                NodeId::Group(id) => model.group_path(id),
                NodeId::Variable(id) => model.variable_path(id),
            };
            return refuse(path, &format!("type such as that of attribute {:?}", attribute.name));
        }
    }
    Ok(())
}

fn is_classic(ty: TypeRef) -> bool {
    matches!(ty, TypeRef::Atomic(atomic) if atomic.is_classic())
}
