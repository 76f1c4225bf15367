//! Definitions that add members to a file whose data will move anyway: the work is in proportion to what they add. Whatever is more
//! than that, or does not fit, is left to the walk through the whole model, which also reports errors.
//!
//! The data move once, at the commit, however often the header has grown until then: where they go is determined there.
use crate::FormatVersion;
use crate::definition::{ModelScope, VariableDefinition, check_attribute, fixed_len, name_of};
use crate::encode::{attribute_len, dimension_len, variable_len};
use crate::placer::ClassicPlacer;
use crate::track::VariableTrack;
use ncirrus_layout::Result;
use ncirrus_model::{Attribute, Changes, DimId, DimensionLen, GroupId, Model, NodeId};
use std::collections::HashMap;

/// What is added to a file.
#[derive(Default)]
struct Additions {
    dims: Vec<(DimId, String, u64)>,
    /// Number of records, if there are more.
    records: Option<u64>,
    vars: Vec<(VariableDefinition, VariableTrack)>,
    attributes: Vec<(NodeId, Attribute)>,
    /// Bytes in the header.
    header_len: u64,
    /// Bytes of the new variables, padded.
    padded_len: u64,
}

impl ClassicPlacer {
    /// Applies what was added to the model since the last definition; nothing is changed, and `false` is returned, if more changed
    /// or if it may not fit.
    pub(crate) fn adopt_additions(&mut self, model: &Model, changes: &Changes) -> bool {
        let is_simple = self.moving && self.definition.room.is_none() && model.room().is_none();
        let added = if is_simple { self.additions(model, changes) } else { None };
        let Some(added) = added.filter(|added| self.has_place(added)) else { return false };
        let definition = &mut self.definition;
        for (id, name, len) in added.dims {
            definition.numbers.insert(id, definition.dims.len() as u64);
            definition.dims.push((name, len));
        }
        definition.records = added.records.unwrap_or(definition.records);
        for (var, track) in added.vars {
            definition.index.insert(var.id, definition.vars.len());
            definition.record_vars += usize::from(var.is_record);
            self.tracks.insert(var.id, track);
            definition.vars.push(var);
        }
        for (node, attribute) in added.attributes {
            match node {
                NodeId::Group(_) => definition.attributes.put(attribute),
                NodeId::Variable(id) => {
                    let at = definition.index.get(&id).copied();
                    if let Some(var) = at.and_then(|at| definition.vars.get_mut(at)) {
                        var.attributes.put(attribute);
                    }
                }
            }
        }
        definition.header_len += added.header_len;
        definition.padded_len += added.padded_len;
        self.is_target_old = true;
        true
    }

    /// Whether every variable begins where the variant has offsets, wherever the data go.
    fn has_place(&self, added: &Additions) -> bool {
        let parts = [
            self.definition.header_len,
            self.definition.padded_len,
            added.header_len,
            added.padded_len,
            self.header_pad(),
            ALIGNMENT,
        ];
        let bound = parts.into_iter().try_fold(0u64, u64::checked_add);
        bound.is_some_and(|bound| bound <= self.definition.version.max_begin())
    }

    fn additions(&self, model: &Model, changes: &Changes) -> Option<Additions> {
        let root = model.root();
        let has_types = changes.types().iter().any(|id| model.user_type(*id).is_some());
        let has_lists = !changes.attribute_lists().is_empty();
        if has_types || has_lists || !changes.groups().is_empty() || model.group_slots() > 1 {
            return None;
        }
        let mut added = Additions::default();
        self.add_dimensions(&mut added, (model, root), changes)?;
        self.add_variables(&mut added, (model, root), changes)?;
        for (node, name) in changes.attributes_set() {
            let is_new = matches!(node, NodeId::Variable(id) if !self.tracks.contains_key(&id));
            // The fill value is more than an attribute.
            if name == "_FillValue" && !is_new {
                return None;
            }
            if !is_new {
                let attribute = model.attributes(node)?.known()?.find(name)?;
                check_attribute(self.definition.version, attribute, "").ok()?;
                added.header_len += attribute_len(self.definition.version, attribute).ok()?;
                added.attributes.push((node, attribute.clone()));
            }
        }
        Some(added)
    }

    fn add_dimensions(
        &self,
        added: &mut Additions,
        (model, root): (&Model, GroupId),
        changes: &Changes,
    ) -> Option<()> {
        let definition = &self.definition;
        for &id in changes.dimensions() {
            let known =
                definition.numbers.get(&id).and_then(|at| definition.dims.get(usize::try_from(*at).ok()?));
            match (known, model.dimension(id)) {
                (None, None) => {}
                (Some((name, _)), Some(now)) if definition.record == Some(id) && now.len.is_unlimited() => {
                    let records = now.len.current();
                    if *name != now.name || records > definition.version.max_records() {
                        return None;
                    }
                    added.records = Some(records);
                }
                (Some((name, len)), Some(now))
                    if *name == now.name && now.len == DimensionLen::Fixed(*len) => {}
                (None, Some(new)) => {
                    let DimensionLen::Fixed(len) = new.len else { return None };
                    if model.dimension_in(root, &new.name) != Some(id) {
                        return None;
                    }
                    let name = name_of(&new.name, "").ok()?;
                    added.header_len += dimension_len(definition.version, &name).ok()?;
                    added.dims.push((id, name, fixed_len(definition.version, len).ok()?));
                }
                _ => return None,
            }
        }
        Some(())
    }

    fn add_variables(
        &self,
        added: &mut Additions,
        (model, root): (&Model, GroupId),
        changes: &Changes,
    ) -> Option<()> {
        let definition = &self.definition;
        let version = definition.version;
        for &id in changes.described_variables() {
            let is_known = definition.var(id).is_ok();
            let Some(variable) = model.variable(id) else {
                if is_known {
                    return None;
                }
                continue;
            };
            if is_known || model.variable_in(root, &variable.name) != Some(id) {
                return None;
            }
            let numbers = self.numbers_of(&variable.dims, &added.dims)?;
            let scope = ModelScope { version, model, numbers: &numbers, record: definition.record };
            let var = scope.variable(id).ok()?;
            // Only the last variable may be larger, which is no longer the last one.
            let largest = definition.padded_len.max(var.slab.byte_len);
            let is_large = version != FormatVersion::Data64 && largest > version.max_size();
            // The second record variable divides the records of the first one.
            if is_large || (var.is_record && definition.record_vars < 2) {
                return None;
            }
            added.header_len += variable_len(version, &var).ok()?;
            added.padded_len = added.padded_len.checked_add(var.padded_len().ok()?)?;
            let track = self.new_track(&var).ok()?;
            added.vars.push((var, track));
        }
        Some(())
    }

    /// Numbers of some dimensions, old ones or new ones.
    fn numbers_of(&self, dims: &[DimId], new: &[(DimId, String, u64)]) -> Option<HashMap<DimId, u64>> {
        let first_new = self.definition.dims.len();
        let number = |dim: &DimId| {
            let known = self.definition.numbers.get(dim).copied();
            known.or_else(|| Some((first_new + new.iter().position(|(id, ..)| id == dim)?) as u64))
        };
        dims.iter().map(|dim| Some((*dim, number(dim)?))).collect()
    }

    /// A variable whose records, if it has any, have those of others between them.
    fn new_track(&self, var: &VariableDefinition) -> Result<VariableTrack> {
        VariableTrack::new(var, self.cell_bytes(), false)
    }
}

/// What alignment adds to the header at most.
const ALIGNMENT: u64 = 8;
