//! The metadata documents of a whole dataset, derived from its model.
use super::attributes::{AttributeForm, WrittenAttributes, type_name};
use super::extension;
use super::plan::{ArrayForm, VariablePlan};
use super::present::OpenedDataset;
use super::{ZarrWriter, names};
use crate::special::EXTENSION;
use crate::{Dialect, special};
use ncirrus_layout::{Error, Result, StoredType};
use ncirrus_model::{
    Attribute, AttributeState, DimId, ExtendedType, GroupId, Model, NodeId, TypeId, TypeRef, Values, VarId,
};
use serde_json::{Map, Value, json};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

mod draft;
mod v2;
mod v3;

/// A metadata document.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct MetadataDocument {
    /// Key below the root of the dataset.
    pub(crate) key: String,
    /// Its position in the order of a commit.
    pub(crate) level: DocumentLevel,
    /// Its contents.
    pub(crate) body: Value,
}

/// The position of a document in the order of a commit: ascending at creation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum DocumentLevel {
    /// Before all others.
    First,
    /// Attributes of an array.
    ArrayAttributes,
    /// An array.
    Array,
    /// A group, the deepest first: the number falls with depth.
    Group(u32),
    /// Of the root, but not one by which a dataset is recognised.
    RootDetail,
    /// Consolidated metadata.
    Consolidated,
    /// Attributes of the root.
    RootAttributes,
    /// The root: the last object of a new dataset.
    Root,
    /// After all others.
    Last,
}

/// All documents; the consolidated one separate, because it depends on all others.
#[derive(Debug, Clone, Default)]
pub(crate) struct ComposedDocuments {
    /// The individual documents.
    pub(crate) list: Vec<MetadataDocument>,
    /// The document that consolidates them: `.zmetadata`, or the root's `zarr.json` with all others inside.
    pub(crate) consolidated: Option<MetadataDocument>,
}

/// The inputs from which the documents are derived.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DocumentComposer<'a> {
    pub(crate) writer: &'a ZarrWriter,
    pub(crate) model: &'a Model,
    pub(crate) plans: &'a HashMap<VarId, Arc<VariablePlan>>,
    /// The dataset as it was opened for update.
    pub(crate) present: Option<&'a OpenedDataset>,
    /// Whether the draft of 2018 can represent every type of the model.
    in_draft: bool,
    /// Variables with chunks that were never written.
    sparse: Option<&'a HashSet<VarId>>,
}

impl<'a> DocumentComposer<'a> {
    /// Derives documents from a model.
    pub(crate) fn new(
        writer: &'a ZarrWriter,
        model: &'a Model,
        plans: &'a HashMap<VarId, Arc<VariablePlan>>,
        present: Option<&'a OpenedDataset>,
    ) -> Self {
        let has_place = |id: &TypeId| extension::draft_definition(model, *id).is_some();
        let types = |id: GroupId| model.group(id).map(|group| group.types.iter()).into_iter().flatten();
        let in_draft =
            writer.dialect == Dialect::Draft2018 && model.walk().into_iter().flat_map(types).all(has_place);
        Self { writer, model, plans, present, in_draft, sparse: None }
    }

    /// For variables with missing chunks the fill value must be visible.
    pub(crate) fn with_sparse(self, sparse: &'a HashSet<VarId>) -> Self {
        Self { sparse: Some(sparse), ..self }
    }
}

impl DocumentComposer<'_> {
    /// All documents of the dataset.
    ///
    /// # Errors
    /// `Invalid` or `Unsupported` with the path of what cannot be written.
    pub(crate) fn documents(&self) -> Result<ComposedDocuments> {
        if self.dialect().zarr_format() == 3 { self.v3_documents() } else { self.v2_documents() }
    }

    /// The array that is the whole dataset, at the root.
    fn root_array(&self) -> Option<VarId> {
        self.present?.root_array
    }

    fn dialect(&self) -> Dialect {
        self.writer.dialect
    }

    /// The attributes of a node; unchanged ones are kept as written in the store.
    fn attributes(&self, node: NodeId) -> Result<WrittenAttributes> {
        let kept = self.present.and_then(|present| present.attributes(node));
        let mut written = WrittenAttributes::default();
        let array = match node {
            NodeId::Variable(id) => {
                self.model.variable(id).and_then(|array| self.model.base_atomic(array.ty))
            }
            NodeId::Group(_) => None,
        };
        let form = AttributeForm {
            dialect: self.dialect(),
            array,
            json_text: self.writer.json_text.unwrap_or(self.dialect().is_nczarr()),
            fill: self.visible_fill(node),
        };
        match self.model.attributes(node) {
            Some(AttributeState::Known(list)) => {
                for (index, attribute) in list.iter().enumerate() {
                    if self.is_implied(node, attribute) {
                        continue;
                    }
                    match &kept {
                        Some(kept) if kept.can_keep(attribute) => {
                            kept.copy(&attribute.name, index, &mut written);
                        }
                        _ => {
                            let added = written.add(self.model, form, index, attribute);
                            added.map_err(|error| error.at_path(self.path(node)))?;
                        }
                    }
                }
                if let Some(kept) = &kept {
                    kept.copy_hidden(&mut written);
                }
            }
            _ => match &kept {
                Some(kept) => kept.copy_all(&mut written),
                None => return Err(Error::internal("attributes were not read").at_path(self.path(node))),
            },
        }
        Ok(written)
    }

    /// Whether the data type of a new array says already what an attribute says.
    fn is_implied(&self, node: NodeId, attribute: &Attribute) -> bool {
        let NodeId::Variable(var) = node else { return false };
        let Some(ArrayForm::New(array)) = self.plans.get(&var).map(|plan| &plan.array) else { return false };
        let Some(extended) = self.model.variable(var).and_then(super::extended::kept) else { return false };
        // Packed numbers need their attributes wherever no codecs are written.
        let is_written = !matches!(extended, ExtendedType::Packed { .. }) || array.form.packed.is_some();
        is_written
            && super::stored::has_types(self.dialect())
            && super::extended::is_implied(extended, attribute)
    }

    /// The fill value in the metadata of an array of plain Zarr v2.
    fn visible_fill(&self, node: NodeId) -> Option<&Values> {
        let NodeId::Variable(var) = node else { return None };
        if self.dialect().is_nczarr() || self.dialect().zarr_format() != 2 {
            return None;
        }
        let plan = self.plans.get(&var)?;
        // Strings of any length have it as they are.
        if matches!(plan.encoding.stored, StoredType::Sequence(_)) {
            return None;
        }
        let is_null = match &plan.array {
            ArrayForm::New(array) => array.fill.is_null(),
            ArrayForm::Kept { .. } => self.present?.array(var, false)?.get("fill_value")?.is_null(),
        };
        (!is_null).then_some(&plan.encoding.fill)
    }

    fn path(&self, node: NodeId) -> String {
        match node {
            NodeId::Group(id) => self.model.group_path(id),
            NodeId::Variable(id) => self.model.variable_path(id),
        }
    }

    /// Key of a document of a group.
    fn group_key(&self, group: GroupId, name: &str) -> String {
        join(self.model.group_path(group).trim_start_matches('/'), name)
    }

    fn is_root(&self, group: GroupId) -> bool {
        group == self.model.root()
    }

    fn group_level(&self, group: GroupId) -> u32 {
        u32::MAX - u32::try_from(self.model.scope(group).len()).unwrap_or(u32::MAX - 1)
    }

    /// Simple names of the dimensions of a variable (docs/spec/nczarr.md 3.15).
    fn dimension_names(&self, var: VarId) -> Vec<String> {
        self.each_dimension(var, |id| self.model.dimension(id).map(|dimension| dimension.name.clone()))
    }

    /// Full names of the dimensions of a variable (docs/spec/nczarr.md 3.5).
    fn dimension_references(&self, var: VarId) -> Vec<String> {
        self.each_dimension(var, |id| Some(self.model.dimension_path(id)))
    }

    fn each_dimension<T>(&self, var: VarId, name: impl Fn(DimId) -> Option<T>) -> Vec<T> {
        let dims = self.model.variable(var).map(|variable| variable.dims.as_slice()).unwrap_or_default();
        dims.iter().filter_map(|id| name(*id)).collect()
    }

    /// Names of the variables of a group whose type the reference has.
    fn listed_arrays(&self, group: GroupId) -> Vec<&str> {
        self.variables_of(group).filter(|(var, _)| self.is_listed(*var)).map(|(_, name)| name).collect()
    }

    fn is_listed(&self, var: VarId) -> bool {
        match self.plans.get(&var) {
            Some(plan) => plan.array.is_listed(),
            None => self.present.is_some_and(|present| present.is_listed(var)),
        }
    }

    fn variables_of(&self, group: GroupId) -> impl Iterator<Item = (VarId, &str)> + '_ {
        let ids = self.model.group(group).map(|group| group.vars.as_slice()).unwrap_or_default();
        ids.iter().filter_map(|id| Some((*id, self.model.variable(*id)?.name.as_str())))
    }

    fn subgroup_names(&self, group: GroupId) -> Vec<&str> {
        let ids = self.model.group(group).map(|group| group.groups.as_slice()).unwrap_or_default();
        ids.iter().filter_map(|id| Some(self.model.group(*id)?.name.as_str())).collect()
    }

    /// The extension object of a group.
    fn group_extension(&self, group: GroupId, attributes: &[Value]) -> Option<Value> {
        let mut members = Map::new();
        let types = self.model.group(group).map(|group| group.types.as_slice()).unwrap_or_default();
        let types: Vec<Value> = types
            .iter()
            .filter(|id| self.present.is_none_or(|present| present.defines(**id)))
            .filter(|_| !self.in_draft)
            .filter_map(|id| Some(extension::definition(self.model, self.model.user_type(*id)?)))
            .collect();
        if !types.is_empty() {
            members.insert("types".to_owned(), Value::Array(types));
        }
        let all: Vec<&str> = self.variables_of(group).map(|(_, name)| name).collect();
        if self.dialect().is_nczarr() && self.listed_arrays(group).len() != all.len() {
            members.insert("arrays".to_owned(), json!(all));
        }
        let unlimited = self.unlimited_names(group);
        if !unlimited.is_empty() {
            members.insert("unlimited".to_owned(), json!(unlimited));
        }
        if !attributes.is_empty() {
            members.insert("attributes".to_owned(), Value::Array(attributes.to_vec()));
        }
        extension::object(members)
    }

    /// Names of the unlimited dimensions of a group's arrays, for plain Zarr, which has no other place for them. Datasets of other
    /// programs do not get any.
    fn unlimited_names(&self, group: GroupId) -> Vec<&str> {
        let mut names = Vec::new();
        if !keeps_unlimited_apart(self.dialect(), self.present) {
            return names;
        }
        for (var, _) in self.variables_of(group).filter(|(var, _)| self.names_dimensions(*var)) {
            let dims = self.model.variable(var).map(|variable| variable.dims.as_slice()).unwrap_or_default();
            let known = dims.iter().filter_map(|dim| self.model.dimension(*dim));
            for dimension in known.filter(|dimension| dimension.len.is_unlimited()) {
                if !names.contains(&dimension.name.as_str()) {
                    names.push(dimension.name.as_str());
                }
            }
        }
        names
    }

    /// The extension object of an array; `copy`: in the consolidated copy.
    fn array_extension(&self, var: VarId, copy: bool, attributes: &[Value]) -> Option<Value> {
        let mut members = match self.plans.get(&var).map(|plan| &plan.array) {
            Some(ArrayForm::Kept { .. }) => self.kept_extension(var, copy),
            Some(ArrayForm::New(array)) => {
                let mut members = Map::new();
                let fill_is_encoded = array.fill != array.copied_fill;
                let reference_char = super::stored::char_dtype(self.dialect()).is_some();
                let is_char = array.form.alias == Some("char") && reference_char;
                let word = match &array.form.extension_type {
                    Some(word) if self.draft_type(var).is_none() => Some(word.clone()),
                    None if copy && (fill_is_encoded || is_char) => array.form.alias.map(str::to_owned),
                    _ => None,
                };
                // The type is stated where the document cannot: for types of extensions, and in the copy if the data
                // type shown there is another.
                if let Some(word) = word {
                    members.insert("type".to_owned(), Value::String(word));
                }
                let is_unfilled = self.model.variable(var).is_some_and(|variable| {
                    !variable.is_filled() && matches!(variable.ty, TypeRef::Atomic(_))
                });
                if is_unfilled && self.dialect().zarr_format() == 2 && self.dialect() != Dialect::Draft2018 {
                    members.insert("fill".to_owned(), json!("none"));
                }
                if array.form.zeros_are_empty {
                    members.insert("zeros".to_owned(), json!("empty"));
                    if fill_is_encoded && !copy {
                        members.insert("fill".to_owned(), json!("text"));
                    }
                }
                if copy && self.shows_encoding(var) {
                    members.insert("shown".to_owned(), json!([special::ENCODING]));
                }
                members
            }
            None => Map::new(),
        };
        if !attributes.is_empty() {
            members.insert("attributes".to_owned(), Value::Array(attributes.to_vec()));
        }
        extension::object(members)
    }

    /// Whether the consolidated copy states an encoding, for readers that see strings as bytes: others do not need
    /// it.
    fn shows_encoding(&self, var: VarId) -> bool {
        let known = self.model.variable(var).and_then(|variable| variable.attributes.known());
        if known.is_some_and(|known| known.find(special::ENCODING).is_some()) {
            return false;
        }
        match self.plans.get(&var).map(|plan| &plan.array) {
            Some(ArrayForm::New(array)) => array.form.is_utf8 && self.dialect().zarr_format() == 2,
            Some(ArrayForm::Kept { .. }) => self
                .present
                .and_then(|present| present.array_attributes(var, true))
                .is_some_and(|body| super::present::shown(body).any(|name| name == special::ENCODING)),
            None => false,
        }
    }

    /// The path of the variable's type, if the draft of 2018 can represent it.
    fn draft_type(&self, var: VarId) -> Option<String> {
        let TypeRef::User(id) = self.model.variable(var)?.ty else { return None };
        self.in_draft.then(|| self.model.type_path(id))
    }

    fn kept_extension(&self, var: VarId, copy: bool) -> Map<String, Value> {
        let kept = self.present.and_then(|present| present.array_attributes(var, copy)?.get(EXTENSION));
        let mut members = kept.and_then(Value::as_object).cloned().unwrap_or_default();
        members.shift_remove("version");
        members.shift_remove("attributes");
        if !self.shows_encoding(var) {
            members.shift_remove("shown");
        }
        if let (Some(word), Some(variable)) = (members.get_mut("type"), self.model.variable(var))
            && matches!(variable.ty, TypeRef::User(_))
        {
            *word = Value::String(type_name(self.model, variable.ty));
        }
        members
    }

    /// Whether the array names its dimensions by xarray's convention.
    fn names_dimensions(&self, var: VarId) -> bool {
        match self.plans.get(&var).map(|plan| &plan.array) {
            Some(ArrayForm::Kept { names_dimensions, .. }) => *names_dimensions,
            _ => self.writer.array_dimensions,
        }
    }

    /// The shape to write for an array that existed before; `None` if it did not change.
    fn changed_shape(&self, var: VarId) -> Option<Vec<u64>> {
        let shape = self.model.shape(var);
        (self.present?.model.shape(var) != shape).then_some(shape)
    }

    /// `_NCProperties` of a new dataset; updates keep the existing one.
    fn properties(&self, group: GroupId) -> Option<Value> {
        (self.present.is_none() && self.is_root(group)).then(|| json!(self.writer.properties()))
    }
}

/// Whether the extension has the names of unlimited dimensions: in plain Zarr that ncirrus made.
pub(crate) fn keeps_unlimited_apart(dialect: Dialect, present: Option<&OpenedDataset>) -> bool {
    matches!(dialect, Dialect::Plain | Dialect::PlainXarray | Dialect::Xarray | Dialect::V3)
        && present.is_none_or(|present| present.root_array.is_none() && present.is_ours())
}

/// Moves trailing quantization attributes behind the dimension names, as in the reference (docs/spec/nczarr.md 3.13).
fn split_quantize(plain: Map<String, Value>) -> (Map<String, Value>, Map<String, Value>) {
    let last = plain.iter().rposition(|(name, value)| !(names::is_quantize(name) && value.is_i64()));
    let split = last.map_or(0, |at| at + 1);
    let mut before = Map::new();
    let mut after = Map::new();
    for (at, (name, value)) in plain.into_iter().enumerate() {
        if at < split {
            before.insert(name, value)
        } else {
            after.insert(name, value)
        };
    }
    (before, after)
}

/// Consolidated documents with those of one group's members together: otherwise zarr-python finds no group. `node_of`
/// returns the path of the node that a key belongs to.
fn gathered(copies: Map<String, Value>, node_of: impl Fn(&str) -> &str) -> Map<String, Value> {
    let mut entries: Vec<(String, Value)> = copies.into_iter().collect();
    let parent = |key: &str| {
        let node = node_of(key);
        // The root comes first, then its members.
        (!node.is_empty(), node.rsplit_once('/').map_or_else(String::new, |(parent, _)| parent.to_owned()))
    };
    // Members keep their order.
    entries.sort_by_cached_key(|(key, _)| parent(key));
    entries.into_iter().collect()
}

fn join(prefix: &str, name: &str) -> String {
    if prefix.is_empty() { name.to_owned() } else { format!("{prefix}/{name}") }
}

/// Dimension names as an attribute; a scalar of shape `[1]` has one of its own (docs/spec/nczarr.md 3.7).
fn array_dimensions(names: &[String], has_unit_axis: bool) -> Value {
    if names.is_empty() && has_unit_axis { json!([special::SCALAR_DIMENSION]) } else { json!(names) }
}
