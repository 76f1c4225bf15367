//! A DDS and a DAS as definitions of netCDF-4 (docs/spec/dap.md 5).
mod attributes;
mod dimensions;
mod lengths;
mod walk;

pub(crate) use lengths::declared_length;
pub(crate) use walk::{SequenceColumn, sequence_columns, string_paths};

use super::types::{self, MemberTree, TypeTree};
use super::{ShownDataset, ShownVariable, TakenNames, WirePath, atomic_of, is_coordinate, refused};
use crate::conversion::{ValueConversion, signed_type};
use crate::lookup;
use crate::place::{DapPlace, DapView};
use crate::{Das, Dds, DdsKind, DdsType, DdsVariable};
use attributes::{OwnAttributes, SharedAttributes};
use dimensions::DimensionTable;
use ncirrus_layout::{Error, Limits, Result};
use ncirrus_model::{
    Atomic, Attribute, Detail, DimId, Dimension, DimensionLen, Fault, Model, TypeRef, Variable,
};
use std::collections::HashMap;
use walk::{DdsWalker, FoundVariable};

/// What was found out besides the documents.
#[derive(Debug, Default)]
pub(crate) struct Dap2Facts {
    /// Rows of each sequence, by its place in the DDS, or why they cannot be counted.
    pub(crate) rows: HashMap<Vec<usize>, Result<u64>>,
    /// Bytes of the longest string of variables, by place.
    pub(crate) longest: HashMap<Vec<usize>, u64>,
    /// The variables without the projections of the address, where it has some.
    pub(crate) unprojected: Option<Dds>,
}

/// The dataset in a view.
///
/// # Errors
/// `Limit` for more nesting or variables than are allowed.
pub(crate) fn show(
    dds: &Dds,
    das: &Das,
    place: &DapPlace,
    facts: &Dap2Facts,
    limits: &Limits,
) -> Result<ShownDataset> {
    let mut found = DdsWalker::new(place.view, facts).walk(dds)?;
    limits.count(found.len() as u64, "the dataset")?;
    let mut shared = SharedAttributes::new(das, (dds, facts.unprojected.as_ref()), &found, place.view);
    if place.view == DapView::NetcdfC {
        found.sort_by_key(|variable| variable.order);
        shared.sort_like(&found);
    }
    Dap2Definitions::new(place, facts).define(&found, shared)
}

/// Builds the model.
struct Dap2Definitions<'a> {
    place: &'a DapPlace,
    facts: &'a Dap2Facts,
    shown: ShownDataset,
    names: TakenNames,
}

impl<'a> Dap2Definitions<'a> {
    fn new(place: &'a DapPlace, facts: &'a Dap2Facts) -> Self {
        let shown =
            ShownDataset { model: Model::new(), variables: HashMap::new(), warnings: place.warnings.clone() };
        Self { place, facts, shown, names: TakenNames::default() }
    }

    fn define(mut self, found: &[FoundVariable<'_>], shared: SharedAttributes) -> Result<ShownDataset> {
        let characters: Vec<Option<u64>> = found.iter().map(|variable| self.characters(variable)).collect();
        let mut table = DimensionTable::new(found, &characters);
        if self.place.view == DapView::NetcdfC {
            table.sort(shared.unlimited.as_deref());
        }
        let ids = self.dimensions(&table, shared.unlimited.as_deref())?;
        let root = self.shown.model.root();
        for ((variable, dims), (characters, attributes)) in
            found.iter().zip(&table.uses).zip(characters.into_iter().zip(shared.of_variables))
        {
            let dims: Vec<DimId> = dims.iter().filter_map(|index| ids.get(*index).copied()).collect();
            self.variable(variable, dims, characters, attributes)?;
        }
        self.shown.warnings.extend(shared.warnings);
        if let Some(group) = self.shown.model.group_mut(root) {
            let list = group.attributes.known_mut();
            shared.global.into_iter().for_each(|attribute| list.put(attribute));
        }
        Ok(self.shown)
    }

    fn dimensions(&mut self, table: &DimensionTable, unlimited: Option<&str>) -> Result<Vec<DimId>> {
        let root = self.shown.model.root();
        let mut ids = Vec::new();
        // Ids are those of the table's entries; their order in the model is that of the view.
        let mut by_entry = HashMap::new();
        for index in &table.order {
            let Some((name, size)) = table.entries.get(*index) else { continue };
            let is_unlimited = unlimited == Some(name.as_str());
            let len = if is_unlimited { DimensionLen::Unlimited(*size) } else { DimensionLen::Fixed(*size) };
            let dimension = Dimension { name: name.clone(), len };
            by_entry.insert(
                *index,
                self.shown.model.insert_dimension(root, dimension).map_err(|error| refused(&error))?,
            );
        }
        for index in 0..table.entries.len() {
            ids.push(*by_entry.get(&index).ok_or_else(|| Error::internal("a dimension without order"))?);
        }
        Ok(ids)
    }

    /// How many characters each string is shown with; `None` where strings are strings.
    fn characters(&self, variable: &FoundVariable<'_>) -> Option<u64> {
        let is_text = matches!(variable.node.kind, DdsKind::Atomic(DdsType::String | DdsType::Url));
        if self.place.view == DapView::Native || !is_text {
            return None;
        }
        let longest = self.facts.longest.get(&variable.index).copied().unwrap_or(0);
        let own = self.place.string_lengths.get(&variable.name).copied();
        Some(own.or(self.place.string_length).unwrap_or_else(|| longest.max(USUAL_LENGTH)))
    }

    fn variable(
        &mut self,
        found: &FoundVariable<'_>,
        dims: Vec<DimId>,
        characters: Option<u64>,
        attributes: OwnAttributes,
    ) -> Result<()> {
        let model = &mut self.shown.model;
        let root = model.root();
        let name = self.names.unique(&found.name);
        let (mut ty, mut conversion) =
            types::define(model, root, &name, &type_of(found.node, self.place.view, attributes.is_signed))?;
        if let Some(len) = characters {
            (ty, conversion) = (TypeRef::Atomic(Atomic::Char), ValueConversion::Characters(len));
        }
        let mut shape: Vec<u64> =
            dims.iter().map(|dim| model.dimension(*dim).map_or(0, |dim| dim.len.current())).collect();
        // The server has strings: the dimension of their characters exists on this side only.
        if characters.is_some() {
            shape.pop();
        }
        let is_coordinate = found.rows.is_none() && is_coordinate(model, &name, &dims);
        let mut variable = Variable::new(name, ty, dims);
        // The attributes and the type are known; only its shape, and with it the values, cannot be had.
        let unread = |error: &Error| Fault { detail: Some(Detail::ShapeUnread), ..error.into() };
        variable.fault = found.fault.as_ref().map(unread);
        let list = variable.attributes.known_mut();
        for attribute in attributes.list {
            list.put(typed(attribute, ty, &found.name, &mut self.shown.warnings));
        }
        let id = model.insert_variable(root, variable).map_err(|error| refused(&error))?;
        let (segments, rows, map) = (found.segments.clone(), found.rows, found.map);
        let wire = WirePath::Dap2 { segments, rows, map };
        let element_len = element_len(found.node);
        let atomic = atomic_of(ty);
        let fault = found.fault.clone();
        let shown =
            ShownVariable { wire, shape, conversion, atomic, element_len, is_coordinate, characters, fault };
        self.shown.variables.insert(id, shown);
        Ok(())
    }
}

/// The type of a variable: bytes may be signed, and netCDF-3 has no other integers.
fn type_of(variable: &DdsVariable, view: DapView, is_signed: bool) -> TypeTree {
    let mut tree = tree_of(variable, view);
    if let TypeTree::Atomic { shown, conversion } = &mut tree
        && is_signed
        && (*shown == Atomic::UByte || view == DapView::NetcdfC)
        && signed_type(*shown) != *shown
    {
        (*shown, *conversion) = (signed_type(*shown), ValueConversion::Signed);
    }
    tree
}

/// Characters that a string is shown with unless it is longer.
const USUAL_LENGTH: u64 = 64;

/// The type of a variable without its dimensions.
fn tree_of(variable: &DdsVariable, view: DapView) -> TypeTree {
    let members = || {
        let member = |member: &&DdsVariable| MemberTree {
            name: walk::name_of(&member.name, view),
            ty: tree_of(member, view),
            dims: member.dims.iter().map(|dim| dim.size).collect(),
        };
        variable.members().iter().map(member).collect()
    };
    match &variable.kind {
        DdsKind::Atomic(ty) => TypeTree::Atomic { shown: ty.atomic(), conversion: ValueConversion::Same },
        DdsKind::Structure(_) | DdsKind::Grid { .. } => TypeTree::Structure(members()),
        DdsKind::Sequence(_) => TypeTree::Sequence { columns: members(), unwrapped: false },
    }
}

/// The attribute as its variable's type demands it: a fill value is one value of that type.
fn typed(attribute: Attribute, ty: TypeRef, variable: &str, warnings: &mut Vec<String>) -> Attribute {
    let TypeRef::Atomic(atomic) = ty else { return attribute };
    if attribute.name != "_FillValue" || attribute.ty == ty && attribute.values.len() == 1 {
        return attribute;
    }
    match super::fill::converted(&attribute.values, atomic) {
        Some((values, is_same)) => {
            if !is_same {
                warnings.push(format!("{variable}: its _FillValue does not fit its type and was wrapped"));
            }
            Attribute { name: attribute.name, ty, values, is_json: false }
        }
        None => attribute,
    }
}

/// Bytes of an element in an answer: only in arrays are those of `Byte` packed.
fn element_len(variable: &DdsVariable) -> Option<u64> {
    match &variable.kind {
        DdsKind::Atomic(DdsType::Byte) if !variable.dims.is_empty() => Some(1),
        kind => lookup::element_len(kind),
    }
}
