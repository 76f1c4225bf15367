//! A DMR as definitions of netCDF-4 (docs/spec/dap.md 6.6).
mod attributes;

use super::types::{self, MemberTree, TypeTree};
use super::{ShownDataset, ShownVariable, WirePath, atomic_of, is_coordinate, refused};
use crate::conversion::ValueConversion;
use crate::path::segments;
use crate::place::{DapPlace, DapView};
use crate::{Dmr, DmrAxis, DmrGroup, DmrKind, DmrVariable};
use attributes::AttributeReader;
use ncirrus_layout::{Error, Limits, Result};
use ncirrus_model::{
    AttributeState, DimId, Dimension, DimensionLen, EnumMember, GroupId, Model, TypeId, UserKind, UserType,
    Variable,
};
use std::collections::{HashMap, HashSet};

/// The dataset in a view.
///
/// # Errors
/// `Limit` for more variables than are allowed.
pub(crate) fn show(dmr: &Dmr, place: &DapPlace, limits: &Limits) -> Result<ShownDataset> {
    limits.count(dmr.variables().len() as u64, "the dataset")?;
    let shown =
        ShownDataset { model: Model::new(), variables: HashMap::new(), warnings: place.warnings.clone() };
    let unlimited = attributes::unlimited(&dmr.root.attributes);
    let mut definitions = Dap4Definitions {
        place,
        shown,
        unlimited,
        dims: HashMap::new(),
        enums: HashMap::new(),
        path: Vec::new(),
    };
    let root = definitions.shown.model.root();
    definitions.shared(&dmr.root, root)?;
    definitions.path.clear();
    definitions.members(&dmr.root, root)?;
    Ok(definitions.shown)
}

/// Builds the model.
struct Dap4Definitions<'a> {
    place: &'a DapPlace,
    shown: ShownDataset,
    unlimited: Option<String>,
    dims: HashMap<Vec<String>, DimId>,
    enums: HashMap<Vec<String>, TypeId>,
    path: Vec<String>,
}

impl Dap4Definitions<'_> {
    /// Groups, and in them what variables of any group may refer to.
    fn shared(&mut self, group: &DmrGroup, id: GroupId) -> Result<()> {
        for dimension in &group.dimensions {
            let is_named = self.path.is_empty() && self.unlimited.as_deref() == Some(&dimension.name);
            let len = if dimension.unlimited || is_named {
                DimensionLen::Unlimited(dimension.size)
            } else {
                DimensionLen::Fixed(dimension.size)
            };
            let new = Dimension { name: shown_name(&dimension.name), len };
            let dim = self.shown.model.insert_dimension(id, new).map_err(|error| refused(&error))?;
            self.dims.insert(self.inside(&dimension.name), dim);
        }
        for enumeration in &group.enumerations {
            let member = |(name, value): &(String, i128)| EnumMember { name: name.clone(), value: *value };
            let members = enumeration.constants.iter().map(member).collect();
            let kind = UserKind::Enum { base: enumeration.base, members };
            let new = UserType { name: shown_name(&enumeration.name), kind };
            let ty = self.shown.model.insert_type(id, new).map_err(|error| refused(&error))?;
            self.enums.insert(self.inside(&enumeration.name), ty);
        }
        for inner in &group.groups {
            let child = self
                .shown
                .model
                .insert_group(id, shown_name(&inner.name))
                .map_err(|error| refused(&error))?;
            self.path.push(inner.name.clone());
            self.shared(inner, child)?;
            self.path.pop();
        }
        Ok(())
    }

    /// Variables and attributes.
    fn members(&mut self, group: &DmrGroup, id: GroupId) -> Result<()> {
        for variable in self.ordered(group) {
            self.variable(variable, id)?;
        }
        let mut reader = AttributeReader { place: self.place, warnings: &mut self.shown.warnings };
        let attributes = reader.of_group(&group.attributes);
        if let Some(shown) = self.shown.model.group_mut(id) {
            let list = shown.attributes.known_mut();
            attributes.into_iter().for_each(|attribute| list.put(attribute));
        }
        let ids = self.shown.model.group(id).map(|group| group.groups.clone()).unwrap_or_default();
        for (inner, id) in group.groups.iter().zip(ids) {
            self.path.push(inner.name.clone());
            self.members(inner, id)?;
            self.path.pop();
        }
        Ok(())
    }

    /// The variables of a group; netCDF-C defines the maps of a variable before it.
    fn ordered<'d>(&self, group: &'d DmrGroup) -> Vec<&'d DmrVariable> {
        if self.place.view == DapView::Native {
            return group.variables.iter().collect();
        }
        let by_path: HashMap<Vec<String>, usize> = group
            .variables
            .iter()
            .enumerate()
            .map(|(at, variable)| (self.inside(&variable.name), at))
            .collect();
        let maps = |at: usize| {
            let maps = group.variables.get(at).map(|variable| variable.maps.as_slice()).unwrap_or_default();
            maps.iter().filter_map(|map| by_path.get(&segments(map)).copied()).collect::<Vec<_>>()
        };
        let (mut order, mut begun) = (Vec::new(), HashSet::new());
        for first in 0..group.variables.len() {
            // A variable is left when the second time it is met: after its maps.
            let mut rest = vec![(first, false)];
            while let Some((at, is_done)) = rest.pop() {
                if is_done {
                    order.push(at);
                } else if begun.insert(at) {
                    rest.push((at, true));
                    rest.extend(maps(at).into_iter().rev().map(|map| (map, false)));
                }
            }
        }
        order.into_iter().filter_map(|at| group.variables.get(at)).collect()
    }

    fn variable(&mut self, found: &DmrVariable, group: GroupId) -> Result<()> {
        let mut dims = Vec::new();
        for axis in &found.dims {
            dims.push(self.dimension(axis)?);
        }
        let name = shown_name(&found.name);
        let tree = self.tree(found)?;
        let (ty, conversion) = types::define(&mut self.shown.model, group, &name, &tree)?;
        let is_coordinate = is_coordinate(&self.shown.model, &name, &dims);
        let mut variable = Variable::new(name, ty, dims);
        let mut reader = AttributeReader { place: self.place, warnings: &mut self.shown.warnings };
        let attributes = reader.of_variable(found, ty, &self.shown.model);
        variable.attributes = AttributeState::Known(attributes.into_iter().collect());
        let id = self.shown.model.insert_variable(group, variable).map_err(|error| refused(&error))?;
        let shown = ShownVariable {
            wire: WirePath::Dap4 { path: self.inside(&found.name) },
            shape: found.dims.iter().map(|axis| axis.size).collect(),
            conversion,
            atomic: atomic_of(ty),
            element_len: element_len(found),
            is_coordinate,
            characters: None,
            fault: None,
        };
        self.shown.variables.insert(id, shown);
        Ok(())
    }

    /// A dimension: what the path names, seen from the group; one without a name is shared by all of that length.
    fn dimension(&mut self, axis: &DmrAxis) -> Result<DimId> {
        let Some(path) = &axis.path else {
            let (root, name) = (self.shown.model.root(), format!("_Anonymous_Dim_{}", axis.size));
            if let Some(dim) = self.shown.model.dimension_in(root, &name) {
                return Ok(dim);
            }
            let new = Dimension { name, len: DimensionLen::Fixed(axis.size) };
            return self.shown.model.insert_dimension(root, new).map_err(|error| refused(&error));
        };
        let found = referred(&self.dims, path, &self.path);
        found.ok_or_else(|| Error::malformed(format!("the DMR has no dimension {}", crate::shortened(path))))
    }

    fn tree(&self, variable: &DmrVariable) -> Result<TypeTree> {
        let members = |members: &[DmrVariable]| {
            let member = |member: &DmrVariable| {
                let dims = member.dims.iter().map(|axis| axis.size).collect();
                Ok(MemberTree { name: shown_name(&member.name), ty: self.tree(member)?, dims })
            };
            members.iter().map(member).collect::<Result<Vec<_>>>()
        };
        Ok(match &variable.kind {
            DmrKind::Atomic(atomic) => TypeTree::Atomic { shown: *atomic, conversion: ValueConversion::Same },
            DmrKind::Enum { path, base } => match referred(&self.enums, path, &self.path) {
                Some(id) => TypeTree::Defined(id),
                None => TypeTree::Atomic { shown: *base, conversion: ValueConversion::Same },
            },
            DmrKind::Opaque => {
                let hint = attributes::hint(&variable.attributes, "_edu.ucar.opaque.size");
                let size = hint.and_then(|text| text.trim().parse().ok()).filter(|size| *size > 0);
                // netCDF-C gives opaque values without a stated size this one.
                let usual = (self.place.view == DapView::NetcdfC).then_some(USUAL_OPAQUE);
                TypeTree::Opaque(size.or(usual))
            }
            DmrKind::Structure(inner) => TypeTree::Structure(members(inner)?),
            DmrKind::Sequence(inner) => {
                let hint = attributes::hint(&variable.attributes, "_edu.ucar.isvlen");
                let unwrapped = self.place.view == DapView::Native
                    && matches!(&inner[..], [only] if only.dims.is_empty())
                    && hint.is_some_and(|text| text != "0");
                TypeTree::Sequence { columns: members(inner)?, unwrapped }
            }
        })
    }

    /// The path of a member of the group.
    fn inside(&self, name: &str) -> Vec<String> {
        self.path.iter().cloned().chain([name.to_owned()]).collect()
    }
}

/// Bytes of opaque values in netCDF-C.
const USUAL_OPAQUE: u64 = 16;

/// What a path refers to, as the parser of the DMR finds it.
fn referred<T: Copy>(known: &HashMap<Vec<String>, T>, reference: &str, group: &[String]) -> Option<T> {
    let path = segments(reference);
    if reference.starts_with('/') {
        return known.get(&path).or_else(|| known.get(&[reference.to_owned()][..])).copied();
    }
    (0..=group.len()).rev().find_map(|depth| {
        let outer = group.get(..depth).unwrap_or_default();
        known.get(&[outer, &path[..]].concat()).copied()
    })
}

/// A name as netCDF allows it.
fn shown_name(name: &str) -> String {
    name.trim_start_matches('/').replace('/', "%2F")
}

/// Bytes of an element in an answer.
fn element_len(variable: &DmrVariable) -> Option<u64> {
    match &variable.kind {
        DmrKind::Atomic(atomic) | DmrKind::Enum { base: atomic, .. } => {
            atomic.byte_len().map(|len| len as u64)
        }
        DmrKind::Opaque | DmrKind::Sequence(_) => None,
        DmrKind::Structure(members) => {
            let mut total = 0_u64;
            for member in members {
                let count = member.dims.iter().try_fold(1_u64, |count, axis| count.checked_mul(axis.size))?;
                total = total.checked_add(element_len(member)?.checked_mul(count)?)?;
            }
            Some(total)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_no_slashes() {
        assert_eq!((shown_name("/a/b"), shown_name("c")), ("a%2Fb".into(), "c".into()));
    }
}
