//! A dataset opened for update: its current documents, so that what does not change stays as it is.
use super::attributes::WrittenAttributes;
use super::cells::CellSet;
use super::compose::DocumentComposer;
use super::definitions::{DefinedState, VariableState};
use super::names;
use super::placer::ZarrPlacer;
use super::plan::{ArrayForm, VariablePlan};
use super::{ZarrWriter, commit};
use crate::chunk_key::{ChunkKeys, KeySeparator};
use crate::special::EXTENSION;
use crate::{Dialect, read, special};
use ncirrus_layout::{
    Catalog, Encoding, Error, ErrorKind, Layout, ObjectId, Result, Source, Stall, Step, View, Want, join,
    join_each, settle,
};
use ncirrus_model::{Attribute, AttributeState, Attributes, GroupId, Model, NodeId, TypeId, Values, VarId};
use serde_json::{Map, Value, json};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

mod kept_json;

/// What the store held when the dataset was opened.
#[derive(Debug)]
pub(crate) struct OpenedDataset {
    /// The model, with all attributes.
    pub(crate) model: Model,
    /// Individual documents by key.
    pub(crate) objects: HashMap<String, Value>,
    /// Their copies in consolidated metadata.
    copies: HashMap<String, Value>,
    dialect: Dialect,
    /// Names of the variables that groups list; without NCZarr there are no lists.
    listed: HashMap<GroupId, HashSet<String>>,
    /// Types that the extension describes.
    defined: HashSet<TypeId>,
    /// The array that is the whole dataset, at the root.
    pub(crate) root_array: Option<VarId>,
}

/// The attributes of one node as they were.
pub(crate) struct KeptAttributes<'a> {
    pub(crate) known: &'a Attributes,
    plain: Option<&'a Map<String, Value>>,
    types: HashMap<&'a str, &'a Value>,
    /// Entries of the extension by name.
    extension: HashMap<&'a str, &'a Value>,
}

/// Opens a dataset for update, in its own dialect.
///
/// # Errors
/// A need; `Unsupported` for dialects that can only be read; errors of reading.
pub(crate) fn open(writer: &ZarrWriter, view: &dyn View, root: &ObjectId, model: &Model) -> Step<ZarrPlacer> {
    let catalog = read::open(view, root, &writer.reading, None)?;
    let dialect = catalog.dialect;
    check_writable(dialect)?;
    let tree = catalog.tree(view)?;
    check_same(&tree, model)?;
    let is_array = catalog.is_array;
    let (mut objects, copies, consolidated) = read_objects(view, root, &tree, dialect, is_array)?;
    let ahead = take_back(&mut objects, &copies);
    let with_attributes = attributes(view, &catalog, &tree)?;
    let root_array = tree.variables().first().copied().filter(|_| is_array);
    let present = OpenedDataset::new(with_attributes, objects, copies, (dialect, root_array));
    let variables = tree.variables();
    let sources = join_each(variables.iter(), |var| catalog.source(view, *var))?;
    let mut defined = DefinedState {
        groups: group_keys(&tree),
        group_slots: tree.group_slots(),
        root_array,
        ..DefinedState::default()
    };
    let mut closed = HashMap::new();
    for (var, source) in variables.into_iter().zip(sources) {
        match source.and_then(|source| present.plan(var, source)) {
            Ok((plan, state)) => {
                if plan.shards.is_none() && present.array(var, false).is_some_and(is_sharded) {
                    // It has a plan all the same: its attributes and its name can change.
                    let reason = Error::unsupported(
                        "changing values in shards of this form (shards in shards, codecs around shards)",
                    );
                    closed.insert(var, reason.at_path(tree.variable_path(var)));
                }
                defined.plans.insert(var, Arc::new(plan));
                defined.states.insert(var, Arc::new(state));
            }
            Err(error) => _ = closed.insert(var, error.at_path(tree.variable_path(var))),
        }
    }
    let writer = present.writer(writer, &defined, consolidated);
    // What would be written now: later commits put what differs from it, and so do not touch differences in form
    // only.
    let documents =
        DocumentComposer::new(&writer, &present.model, &defined.plans, Some(&present)).documents()?;
    let whole = documents.consolidated.clone().filter(|_| !consolidated);
    let committed = commit::after(documents, consolidated);
    let (root, present) = (root.clone(), Some(present));
    let (planned, guarded) = (None, false);
    Ok(ZarrPlacer {
        writer,
        root,
        present,
        defined,
        committed,
        closed,
        planned,
        whole,
        guarded,
        ahead,
        sparse: HashSet::new(),
    })
}

fn check_writable(dialect: Dialect) -> Result<()> {
    match dialect {
        Dialect::V1 | Dialect::V1Documented | Dialect::Draft2018 => Err(Error::unsupported(format!(
            "a dataset of dialect {dialect} cannot be changed in place; copy it to a new one"
        ))),
        Dialect::UpperCase
        | Dialect::UpperCaseXarray
        | Dialect::LowerCase
        | Dialect::Attributes
        | Dialect::PlainXarray
        | Dialect::Plain
        | Dialect::Xarray
        | Dialect::V3
        | Dialect::Nczarr3 => Ok(()),
    }
}

/// The caller's model must be of this dataset: ids refer to its members.
fn check_same(tree: &Model, model: &Model) -> Result<()> {
    let paths = |model: &Model| -> Vec<(VarId, String)> {
        model.variables().into_iter().map(|var| (var, model.variable_path(var))).collect()
    };
    if paths(tree) == paths(model) && tree.walk() == model.walk() {
        return Ok(());
    }
    Err(Error::new(ErrorKind::Changed, "the dataset changed since it was opened"))
}

fn group_keys(tree: &Model) -> HashMap<GroupId, String> {
    tree.walk().into_iter().map(|id| (id, key(&tree.group_path(id)))).collect()
}

fn key(path: &str) -> String {
    path.trim_start_matches('/').to_owned()
}

fn join_key(prefix: &str, name: &str) -> String {
    if prefix.is_empty() { name.to_owned() } else { format!("{prefix}/{name}") }
}

type PresentObjects = HashMap<String, Value>;

/// The individual documents, their consolidated copies, and whether there are any.
fn read_objects(
    view: &dyn View,
    root: &ObjectId,
    tree: &Model,
    dialect: Dialect,
    is_array: bool,
) -> Step<(PresentObjects, PresentObjects, bool)> {
    let is_v3 = dialect.zarr_format() == 3;
    let keys = document_keys(tree, is_v3, is_array);
    let values = join(keys.iter(), |key| read_value(view, &root.child(key)))?;
    let mut objects: PresentObjects =
        keys.into_iter().zip(values).filter_map(|(key, value)| Some((key, value?))).collect();
    let zmetadata = objects.remove(special::ZMETADATA).filter(|_| !is_v3);
    if is_array && zmetadata.is_some() {
        let reason =
            "an array at the root with consolidated metadata cannot be changed; copy it to a new dataset";
        return Err(Error::unsupported(reason).into());
    }
    let copies = match (&zmetadata, is_v3) {
        (Some(whole), _) => copies_of(whole, |key| key.to_owned()),
        (None, true) => {
            let whole = objects.get(special::ZARR_JSON).and_then(|root| root.get("consolidated_metadata"));
            whole.map(|whole| copies_of(whole, |path| join_key(path, special::ZARR_JSON))).unwrap_or_default()
        }
        (None, false) => PresentObjects::new(),
    };
    let consolidated =
        zmetadata.is_some() || (is_v3 && objects.get(special::ZARR_JSON).is_some_and(has_consolidated));
    Ok((objects, copies, consolidated))
}

/// Keys of all documents that a dataset with that tree may have.
fn document_keys(tree: &Model, is_v3: bool, is_array: bool) -> Vec<String> {
    let group_names: &[&str] =
        if is_v3 { &[special::ZARR_JSON] } else { &[special::ZGROUP, special::ZATTRS] };
    let array_names: &[&str] =
        if is_v3 { &[special::ZARR_JSON] } else { &[special::ZARRAY, special::ZATTRS] };
    let mut keys = vec![special::ZMETADATA.to_owned(), special::ZARRAY.to_owned()];
    for group in tree.walk() {
        let prefix = key(&tree.group_path(group));
        keys.extend(group_names.iter().map(|name| join_key(&prefix, name)));
    }
    for var in tree.variables() {
        let prefix = if is_array { String::new() } else { key(&tree.variable_path(var)) };
        keys.extend(array_names.iter().map(|name| join_key(&prefix, name)));
    }
    keys
}

fn has_consolidated(root: &Value) -> bool {
    root.get("consolidated_metadata").is_some_and(|whole| !whole.is_null())
}

fn copies_of(whole: &Value, key: impl Fn(&str) -> String) -> PresentObjects {
    let members = whole.get("metadata").and_then(Value::as_object);
    members.into_iter().flatten().map(|(name, body)| (key(name), body.clone())).collect()
}

/// Keys of documents that are ahead of their copies, which are what readers see: a writer was killed before it put
/// the copies. The shape of an array goes back to that of its copy.
fn take_back(objects: &mut PresentObjects, copies: &PresentObjects) -> HashSet<String> {
    let mut ahead = HashSet::new();
    for (key, copy) in copies {
        let Some(object) = objects.get_mut(key) else { continue };
        if substance(object) == substance(copy) {
            continue;
        }
        if let (Some(shape), Some(object)) = (copy.get("shape"), object.as_object_mut())
            && key_is_array(key)
        {
            object.insert("shape".to_owned(), shape.clone());
        }
        ahead.insert(key.clone());
    }
    ahead
}

fn key_is_array(key: &str) -> bool {
    key.ends_with(special::ZARRAY) || key.ends_with(special::ZARR_JSON)
}

/// Names of attributes in a consolidated copy that are only for other readers.
pub(crate) fn shown(attributes: &Map<String, Value>) -> impl Iterator<Item = &str> {
    let list = attributes.get(EXTENSION).and_then(|extension| extension.get("shown")?.as_array());
    list.into_iter().flatten().filter_map(Value::as_str)
}

/// A document without what its copy writes differently.
fn substance(body: &Value) -> Value {
    let mut body = body.clone();
    if let Some(members) = body.as_object_mut() {
        // In the copy a scalar has no axis; netCDF-C's has an axis of length 1.
        for (name, axis) in [
            ("shape", json!([1])),
            ("chunks", json!([1])),
            (special::ARRAY_DIMENSIONS, json!([special::SCALAR_DIMENSION])),
        ] {
            if let Some(axes) = members.get_mut(name).filter(|axes| **axes == axis) {
                *axes = json!([]);
            }
        }
        let shown: Vec<String> = shown(members).map(str::to_owned).collect();
        for name in shown.iter().map(String::as_str) {
            members.shift_remove(name);
        }
        for name in ["dtype", "fill_value", "consolidated_metadata", EXTENSION] {
            members.shift_remove(name);
        }
        if let Some(attributes) = members.get_mut("attributes").and_then(Value::as_object_mut) {
            attributes.shift_remove(EXTENSION);
        }
    }
    body
}

/// A document; absent and unreadable ones are `None`: the model has a fault in their place.
fn read_value(view: &dyn View, object: &ObjectId) -> Step<Option<Value>> {
    let read = settle(view.read(object, Want::All)).map_err(Stall::Need)?;
    let Some(blob) = read? else { return Ok(None) };
    Ok(crate::json::parse(&blob.bytes, view.limits()).ok().map(|json| json.to_kept()))
}

/// The model with all attributes read.
fn attributes(view: &dyn View, catalog: &dyn Catalog, tree: &Model) -> Step<Model> {
    let groups = tree.walk().into_iter().map(NodeId::Group);
    let nodes: Vec<NodeId> = groups.chain(tree.variables().into_iter().map(NodeId::Variable)).collect();
    let pending = |node: &&NodeId| matches!(tree.attributes(**node), Some(AttributeState::Pending));
    let nodes: Vec<NodeId> = nodes.iter().filter(pending).copied().collect();
    let mut model = tree.clone();
    for (node, attributes) in nodes.iter().zip(catalog.attributes(view, &nodes)?) {
        model.take_attributes(*node, attributes.into());
    }
    Ok(model)
}

impl OpenedDataset {
    fn new(
        model: Model,
        objects: PresentObjects,
        copies: PresentObjects,
        (dialect, root_array): (Dialect, Option<VarId>),
    ) -> Self {
        let (listed, defined) = (HashMap::new(), HashSet::new());
        let mut present = Self { model, objects, copies, dialect, listed, defined, root_array };
        for group in present.model.walk() {
            let names = present.listed_names(group);
            let types = present.types_defined_in(group);
            present.defined.extend(types);
            if let Some(names) = names {
                present.listed.insert(group, names);
            }
        }
        present
    }

    fn is_v3(&self) -> bool {
        self.dialect.zarr_format() == 3
    }

    /// The caller's options, overridden by those of the dataset.
    fn writer(&self, writer: &ZarrWriter, defined: &DefinedState, consolidated: bool) -> ZarrWriter {
        let names =
            |plan: &Arc<VariablePlan>| matches!(plan.array, ArrayForm::Kept { names_dimensions: true, .. });
        let mut plans = defined.plans.values();
        let first = plans.clone().next();
        ZarrWriter {
            dialect: self.dialect,
            array_dimensions: if first.is_none() { writer.array_dimensions } else { plans.any(names) },
            consolidated,
            slash: writer.slash.or(first.map(|plan| plan.keys.separator == KeySeparator::Slash)),
            ..writer.clone()
        }
    }

    /// How an existing variable is stored.
    fn plan(&self, var: VarId, source: Source) -> Result<(VariablePlan, VariableState)> {
        let Some(described) = self.model.variable(var).cloned() else {
            return Err(Error::internal("the variable is not in the model"));
        };
        let array =
            self.array(var, false).ok_or_else(|| Error::not_found("the array has no metadata object"))?;
        let Layout::Grid { grid, edge, index, codecs } = source.layout else {
            return Err(Error::unsupported("the variable is not stored in chunks"));
        };
        if grid.rank() != described.rank() {
            return Err(Error::unsupported("the array has more axes than the variable"));
        }
        let keys = chunk_keys(array, self.is_v3())?;
        let names_dimensions = if self.is_v3() {
            array.contains_key("dimension_names")
        } else {
            self.array_attributes(var, false)
                .is_some_and(|attributes| attributes.contains_key(special::ARRAY_DIMENSIONS))
        };
        let array = ArrayForm::Kept { listed: self.is_listed(var), names_dimensions };
        let encoding = Encoding { grid, edge, stored: source.stored, codecs, fill: source.fill };
        let plan = VariablePlan {
            key: self.array_key(var),
            encoding: Arc::new(encoding),
            keys,
            shards: index.sharding(),
            array,
            is_extended: false,
        };
        let placed = CellSet::new(0);
        let state = VariableState { described, extent: Some(source.extent), placed, has_data: true };
        Ok((plan, state))
    }

    /// Key of an existing array: that of the root if the array is the whole dataset.
    fn array_key(&self, var: VarId) -> String {
        if self.root_array == Some(var) { String::new() } else { key(&self.model.variable_path(var)) }
    }

    /// Key of a document of an existing group.
    pub(crate) fn group_key(&self, group: GroupId, name: &str) -> Option<String> {
        self.model.group(group).map(|_| join_key(&key(&self.model.group_path(group)), name))
    }

    /// The document of an existing array; `copy`: the one in consolidated metadata, if there is one.
    pub(crate) fn array(&self, var: VarId, copy: bool) -> Option<&Map<String, Value>> {
        let name = if self.is_v3() { special::ZARR_JSON } else { special::ZARRAY };
        self.array_document(var, name, copy)
    }

    /// Whether ncirrus made the dataset.
    pub(crate) fn is_ours(&self) -> bool {
        let root = if self.is_v3() { special::ZARR_JSON } else { special::ZATTRS };
        let body = self.objects.get(root).or_else(|| self.copies.get(root));
        let attributes = body.map(|body| if self.is_v3() { &body["attributes"] } else { body });
        let text = attributes.and_then(|attributes| attributes[special::PROPERTIES].as_str());
        text.is_some_and(|text| text.contains("ncirrus="))
    }

    /// The stored attributes of an existing array.
    pub(crate) fn array_attributes(&self, var: VarId, copy: bool) -> Option<&Map<String, Value>> {
        if self.is_v3() {
            return self.array(var, copy)?.get("attributes")?.as_object();
        }
        self.array_document(var, special::ZATTRS, copy)
    }

    fn array_document(&self, var: VarId, name: &str, copy: bool) -> Option<&Map<String, Value>> {
        self.model.variable(var)?;
        let key = join_key(&self.array_key(var), name);
        let (first, second) =
            if copy { (&self.copies, &self.objects) } else { (&self.objects, &self.copies) };
        first.get(&key).or_else(|| second.get(&key))?.as_object()
    }

    fn group_attributes(&self, group: GroupId) -> Option<&Map<String, Value>> {
        let name = if self.is_v3() { special::ZARR_JSON } else { special::ZATTRS };
        let key = self.group_key(group, name)?;
        let body = self.true_document(&key)?;
        if self.is_v3() { body.get("attributes")?.as_object() } else { body.as_object() }
    }

    /// The stored attributes of an existing node.
    pub(crate) fn stored_attributes(&self, node: NodeId) -> Option<&Map<String, Value>> {
        match node {
            NodeId::Group(group) => self.group_attributes(group),
            NodeId::Variable(var) => self.array_attributes(var, false),
        }
    }

    /// The document that readers see: a killed writer may have left individual ones ahead of their copies.
    fn true_document(&self, key: &str) -> Option<&Value> {
        self.copies.get(key).or_else(|| self.objects.get(key))
    }

    /// The attributes of an existing node, if they could be read.
    pub(crate) fn attributes(&self, node: NodeId) -> Option<KeptAttributes<'_>> {
        let known = self.model.attributes(node)?.known()?;
        let plain = match node {
            NodeId::Group(id) => self.group_attributes(id),
            NodeId::Variable(id) => self.array_attributes(id, true),
        };
        let entries = plain.and_then(|plain| plain.get(EXTENSION)?.get("attributes")?.as_array());
        let mut extension = HashMap::new();
        for entry in entries.into_iter().flatten() {
            if let Some(name) = entry.get("name").and_then(Value::as_str) {
                extension.entry(name).or_insert(entry);
            }
        }
        Some(KeptAttributes { known, plain, types: plain.map(type_words).unwrap_or_default(), extension })
    }

    /// Whether the group's list has the variable; without NCZarr there is no list.
    pub(crate) fn is_listed(&self, var: VarId) -> bool {
        let Some(group) = self.model.variable_group(var) else { return false };
        let Some(variable) = self.model.variable(var) else { return false };
        self.listed.get(&group).is_none_or(|names| names.contains(&variable.name))
    }

    fn listed_names(&self, group: GroupId) -> Option<HashSet<String>> {
        let in_zgroup = || self.true_document(&self.group_key(group, special::ZGROUP)?)?.as_object();
        let attributes = self.group_attributes(group);
        let information = [attributes, in_zgroup()]
            .into_iter()
            .flatten()
            .find_map(|body| body.get(special::GROUP).or_else(|| body.get(special::UC_GROUP)));
        let list =
            information.and_then(|body| body.get("arrays").or_else(|| body.get("vars"))?.as_array())?;
        Some(list.iter().filter_map(|name| Some(name.as_str()?.to_owned())).collect())
    }

    /// Whether a type is to be described by the extension: those that the reader created are not.
    pub(crate) fn defines(&self, id: TypeId) -> bool {
        self.model.user_type(id).is_none() || self.defined.contains(&id)
    }

    fn types_defined_in(&self, group: GroupId) -> Vec<TypeId> {
        let attributes = self.group_attributes(group);
        let types = attributes.and_then(|body| body.get(EXTENSION)?.get("types")?.as_array());
        let names = types.into_iter().flatten().filter_map(|definition| definition.get("name")?.as_str());
        let names: HashSet<&str> = names.collect();
        let ids = self.model.group(group).map(|group| group.types.as_slice()).unwrap_or_default();
        let is_named =
            |id: &TypeId| self.model.user_type(*id).is_some_and(|ty| names.contains(ty.name.as_str()));
        ids.iter().copied().filter(is_named).collect()
    }
}

impl KeptAttributes<'_> {
    /// Whether an attribute can be kept as it is written. Text that another program stored as a number loses its form
    /// when it is parsed (docs/spec/nczarr.md 3.10): it is rewritten, as text.
    pub(crate) fn can_keep(&self, attribute: &Attribute) -> bool {
        let known = self.known.find(&attribute.name);
        // NaN is the same as itself here.
        let same = known
            .is_some_and(|known| known.ty == attribute.ty && known.values.is_identical(&attribute.values));
        let spelt = self.plain.and_then(|plain| plain.get(&attribute.name));
        match (&attribute.values, spelt) {
            (Values::Char(text), Some(value)) if !value.is_string() => {
                let is_declared = self.types.contains_key(attribute.name.as_str());
                same && kept_json::keeps(text, value, is_declared)
            }
            _ => same,
        }
    }

    /// Copies an unchanged attribute; does nothing if the reader created it.
    pub(crate) fn copy(&self, name: &str, index: usize, written: &mut WrittenAttributes) {
        if let Some(value) = self.plain.and_then(|plain| plain.get(name)) {
            written.plain.insert(name.to_owned(), value.clone());
            if let Some(word) = self.types.get(name) {
                written.types.insert(name.to_owned(), (*word).clone());
            }
        }
        if let Some(entry) = self.extension.get(name) {
            let mut entry = (*entry).clone();
            entry["index"] = Value::from(index);
            written.extension.push(entry);
        }
    }

    /// Copies what the store has and the model does not show.
    pub(crate) fn copy_hidden(&self, written: &mut WrittenAttributes) {
        for (name, value) in self.plain.into_iter().flatten() {
            let is_shown = self.known.find(name).is_some() || written.plain.contains_key(name);
            if !is_shown && !is_composed(name) {
                written.plain.insert(name.clone(), value.clone());
                if let Some(word) = self.types.get(name.as_str()) {
                    written.types.insert(name.clone(), (*word).clone());
                }
            }
        }
    }

    /// Copies everything.
    pub(crate) fn copy_all(&self, written: &mut WrittenAttributes) {
        for (index, attribute) in self.known.iter().enumerate() {
            self.copy(&attribute.name, index, written);
        }
        self.copy_hidden(written);
    }
}

/// Whether the composer writes the attribute itself.
fn is_composed(name: &str) -> bool {
    names::is_reserved(name) && name != special::PROPERTIES && !special::is_virtual(name)
}

/// Attribute types in any dialect.
fn type_words(plain: &Map<String, Value>) -> HashMap<&str, &Value> {
    let dictionary = [special::ATTRIBUTES, special::UC_ATTRIBUTES]
        .into_iter()
        .find_map(|name| plain.get(name)?.get("types")?.as_object());
    let named = dictionary.into_iter().flatten().map(|(name, word)| (name.as_str(), word));
    let list = plain.get(special::ATTRIBUTES_3).and_then(|body| body.get("attribute_types")?.as_array());
    let listed = list
        .into_iter()
        .flatten()
        .filter_map(|entry| Some((entry.get("name")?.as_str()?, entry.get("configuration")?.get("type")?)));
    named.chain(listed).collect()
}

fn is_sharded(array: &Map<String, Value>) -> bool {
    let codecs = array.get("codecs").and_then(Value::as_array);
    codecs
        .into_iter()
        .flatten()
        .any(|codec| codec.get("name").and_then(Value::as_str) == Some("sharding_indexed"))
}

fn chunk_keys(array: &Map<String, Value>, is_v3: bool) -> Result<ChunkKeys> {
    let unknown = || Error::unsupported("the names of the array's chunks follow an unknown rule");
    if !is_v3 {
        let text = array.get("dimension_separator").map_or(Some("."), Value::as_str).ok_or_else(unknown)?;
        return KeySeparator::from_text(text).map(ChunkKeys::v2).ok_or_else(unknown);
    }
    let encoding = array.get("chunk_key_encoding").ok_or_else(unknown)?;
    let separator =
        encoding.get("configuration").and_then(|body| body.get("separator")).and_then(Value::as_str);
    let name = encoding.get("name").and_then(Value::as_str).or_else(|| encoding.as_str());
    let (default, keys): (_, fn(KeySeparator) -> ChunkKeys) = match name {
        Some("default") => ("/", ChunkKeys::v3),
        Some("v2") => (".", ChunkKeys::v2),
        _ => return Err(unknown()),
    };
    KeySeparator::from_text(separator.unwrap_or(default)).map(keys).ok_or_else(unknown)
}
