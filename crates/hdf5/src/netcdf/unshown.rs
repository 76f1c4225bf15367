//! What a file has and its model does not: a file that is written from the model would not have it.
use super::ObjectKey;
use super::catalog::Hdf5Catalog;
use super::describe::{DatasetFacts, GroupFacts, MemberFacts, RawAttributes};
use super::hidden;
use super::walk::ObjectTree;
use crate::datatypes::{BitField, Dataspace, Datatype, DatatypeClass, FloatOrder, RawAttribute};
use crate::layout::{ElementLayout, StoredDataset};
use ncirrus_layout::{ByteOrder, Result};
use ncirrus_model::TypeId;
use std::collections::HashMap;

/// The first thing that is not shown, in words.
pub(super) fn unshown(tree: &ObjectTree, facts: &[GroupFacts], catalog: &Hdf5Catalog) -> Option<String> {
    if let Some(found) = &tree.unshown {
        return Some(found.clone());
    }
    let types: HashMap<&ObjectKey, TypeId> =
        catalog.types.committed_types().map(|(id, key)| (key, id)).collect();
    for (group, facts) in tree.groups.iter().zip(facts) {
        if let Some(found) = of_attributes(&facts.attributes, false) {
            return Some(format!("{}/: {found}", group.path));
        }
        for (member, facts) in group.members.iter().zip(&facts.members) {
            let found = match facts {
                MemberFacts::Dataset(facts) => of_dataset(facts),
                MemberFacts::Type(_) if types.contains_key(&ObjectKey::from(&member.object)) => None,
                MemberFacts::Type(_) => Some("a committed type that netCDF does not have".to_owned()),
                // It is a fault of the model.
                MemberFacts::Damaged(_) => None,
            };
            if let Some(found) = found {
                return Some(format!("{}/{}: {found}", group.path, member.name));
            }
        }
    }
    None
}

fn of_dataset(facts: &DatasetFacts) -> Option<String> {
    let of_elements = facts.dataset.as_ref().ok().and_then(|dataset| of_elements(dataset));
    of_elements.map(str::to_owned).or_else(|| of_attributes(&facts.attributes, facts.is_scale))
}

fn of_elements(dataset: &StoredDataset) -> Option<&'static str> {
    if matches!(dataset.arrangement, ElementLayout::External(_)) {
        return Some("elements in other files");
    }
    if matches!(dataset.datatype.class, DatatypeClass::Array { .. }) {
        return Some("elements of an array type");
    }
    match &dataset.space {
        Dataspace::Null => Some("a dataset without any elements"),
        Dataspace::Simple { dims, max } => {
            let is_bounded = |(len, max): (&u64, &Option<u64>)| max.is_some_and(|max| max > *len);
            let grows = dims.iter().zip(max).any(is_bounded);
            grows.then_some("a dimension that may grow to a maximum length")
        }
        Dataspace::Scalar => None,
    }
}

fn of_attributes(raw: &Result<RawAttributes>, of_scale: bool) -> Option<String> {
    // One that cannot be read is a fault when it is copied.
    let known = raw.iter().flat_map(|list| list.iter()).flatten();
    let mut found = known.filter_map(|attribute| Some((attribute, of_attribute(attribute, of_scale)?)));
    found.next().map(|(attribute, what)| format!("attribute {:?}: {what}", attribute.name))
}

fn of_attribute(attribute: &RawAttribute, of_scale: bool) -> Option<&'static str> {
    if hidden::is_hidden(&attribute.name) {
        let is_lost = match attribute.name.as_str() {
            "CLASS" | "NAME" => !of_scale,
            name => name == "DIMENSION_LABELS",
        };
        return is_lost.then_some("it is not shown");
    }
    if attribute.space.dims().len() > 1 || matches!(attribute.datatype.class, DatatypeClass::Array { .. }) {
        return Some("several dimensions");
    }
    (!is_usual(&attribute.datatype)).then_some("a type that netCDF does not write")
}

/// Whether netCDF writes values of attributes in that form: complete little-endian numbers, text, and user-defined types of
/// them.
fn is_usual(datatype: &Datatype) -> bool {
    let bits = datatype.byte_len.saturating_mul(8);
    match &datatype.class {
        DatatypeClass::Integer(BitField { order, offset, precision, .. }) => {
            let is_little = *order == ByteOrder::Little || datatype.byte_len == 1;
            is_little && *offset == 0 && u64::from(*precision) == bits
        }
        DatatypeClass::Float(format) => {
            let is_little = format.order == FloatOrder::Little;
            is_little && matches!(bits, 32 | 64) && u64::from(format.precision) == bits
        }
        DatatypeClass::Compound(members) => members.iter().all(|member| is_usual(&member.datatype)),
        DatatypeClass::Enum { base, .. } | DatatypeClass::Vlen(base) | DatatypeClass::Array { base, .. } => {
            is_usual(base)
        }
        DatatypeClass::Text(_) | DatatypeClass::VlenText(_) | DatatypeClass::Opaque => true,
        DatatypeClass::BitField(_)
        | DatatypeClass::Time
        | DatatypeClass::Reference(_)
        | DatatypeClass::Complex(_) => false,
    }
}
