//! From the nodes of a dataset to its model: groups, dimensions, types, then variables and attributes.
use super::array::rules;
use super::attributes::attributes;
use super::catalog::ZarrCatalog;
use super::dimensions::DimensionNames;
use super::draft;
use super::extension::{self, TypeNesting};
use super::node::{AttributeHolder, DatasetMetadata, GroupNode};
use super::provenance::DatasetProvenance;
use crate::dialect::Dialect;
use crate::dtype::ReaderType;
use crate::dtype::v2::TextRules;
use crate::json::JsonValue;
use crate::special::EXTENSION;
use ncirrus_layout::{
    Error, ErrorKind, Limits, ObjectId, OpenOptions, PackedArrays, Result, Source, Writing,
};
use ncirrus_model::{
    Attribute, AttributeState, Attributes, EnumMember, Fault, GroupId, Model, StorageFacts, UserKind,
    UserType,
};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// The state while a dataset's members are added to the model.
pub(super) struct DatasetAssembly<'a> {
    pub(super) model: Model,
    pub(super) dialect: Dialect,
    pub(super) provenance: DatasetProvenance,
    pub(super) rules: TextRules,
    pub(super) repairs: bool,
    /// Whether netCDF-C's view is shown, which has no unlimited dimensions in plain Zarr.
    is_netcdf_c: bool,
    /// How floats are shown that codecs store as integers.
    pub(super) packed: PackedArrays,
    pub(super) limits: &'a Limits,
    pub(super) warnings: Vec<String>,
    /// Dimensions by name.
    pub(super) dimensions: DimensionNames,
    /// Whether the address asks not to use `_ARRAY_DIMENSIONS` (docs/spec/nczarr.md 8.4).
    pub(super) ignores_array_dimensions: bool,
    /// The separator between the indices in chunk names.
    pub(super) separators: BTreeSet<&'static str>,
    /// Sources by the number of their variable.
    pub(super) sources: Vec<Result<Source>>,
    nesting: TypeNesting,
    /// Spellings of compounds of the draft of 2018 whose strings got their lengths, by the path of the type.
    pub(super) draft_dtypes: HashMap<String, JsonValue>,
}

/// Builds the catalog.
///
/// # Errors
/// If the model refuses a group or dimension; damage of members is recorded in their place.
pub(super) fn assemble(
    mut dataset: DatasetMetadata,
    root: &ObjectId,
    options: &OpenOptions,
    limits: &Limits,
    writing: Option<Arc<dyn Writing>>,
) -> Result<ZarrCatalog> {
    let is_array = dataset.root.arrays.first().is_some_and(|array| array.name.is_empty());
    name_root_array(&mut dataset.root, root, options);
    let provenance = DatasetProvenance::of(&dataset.root.attributes);
    let mut assembly = DatasetAssembly {
        model: Model::new(),
        dialect: dataset.dialect,
        rules: TextRules {
            sizes_in_bits: draft::has_sizes_in_bits(dataset.dialect, &dataset.root),
            ..rules(dataset.dialect, &provenance)
        },
        draft_dtypes: HashMap::new(),
        provenance,
        repairs: !options.no_repairs,
        is_netcdf_c: options.view.is_netcdf_c(),
        packed: options.packed,
        limits,
        warnings: Vec::new(),
        dimensions: DimensionNames::new(options.view),
        ignores_array_dimensions: options.address.has_mode("noxarray"),
        separators: BTreeSet::new(),
        sources: Vec::new(),
        nesting: TypeNesting::default(),
    };
    let mut groups = Vec::new();
    // Groups first, then all types, then variables: each refers to what may be defined in any group before it.
    assembly.groups(&dataset.root, None, &mut groups)?;
    for (id, node) in &groups {
        assembly.types(*id, node)?;
    }
    for (id, node) in &groups {
        for array in &node.arrays {
            assembly.variable(*id, array)?;
        }
    }
    if !assembly.dialect.is_nczarr() && !assembly.is_netcdf_c && !options.raw {
        assembly.georeference(&groups)?;
    }
    assembly.check_superblock(&dataset);
    let DatasetAssembly { model, dialect, provenance, warnings, sources, separators, .. } = assembly;
    let facts = StorageFacts {
        separators: (!separators.is_empty()).then(|| separators.into_iter().collect::<Vec<_>>().join(" ")),
        provenance: provenance.text,
        ..super::facts_of(&dataset)
    };
    Ok(ZarrCatalog { model: Arc::new(model), dialect, is_array, sources, facts, warnings, writing })
}

/// An array at the root gets its name from the caller, its key, or the address of its store.
fn name_root_array(root: &mut GroupNode, object: &ObjectId, options: &OpenOptions) {
    let Some(array) = root.arrays.first_mut().filter(|array| array.name.is_empty()) else { return };
    let address = object.store.as_str().trim_end_matches('/');
    let last =
        if object.key().is_empty() { address.rsplit('/').next().unwrap_or_default() } else { object.name() };
    let stem = last.rsplit_once('.').map_or(last, |(stem, _)| stem);
    let usable = if stem.is_empty() || stem.contains(':') { "array" } else { stem };
    array.name = options.name.clone().unwrap_or_else(|| usable.to_owned());
}

impl DatasetAssembly<'_> {
    /// Groups with their dimensions, each before its subgroups.
    fn groups<'n>(
        &mut self,
        node: &'n GroupNode,
        parent: Option<GroupId>,
        list: &mut Vec<(GroupId, &'n GroupNode)>,
    ) -> Result<()> {
        let id = match parent {
            None => self.model.root(),
            Some(parent) => self.model.insert_group(parent, node.name.clone())?,
        };
        self.dimensions.enter(&self.model, id);
        for (name, len) in &node.dims {
            if self.dimensions.find(id, name).is_none() {
                self.dimensions.define(&mut self.model, id, name, *len)?;
            }
        }
        if !self.dialect.is_nczarr() && !self.is_netcdf_c {
            self.dimensions.note_unlimited(id, extension::unlimited(&node.attributes));
        }
        self.warnings.extend(node.warnings.iter().cloned());
        list.push((id, node));
        for group in &node.groups {
            self.groups(group, Some(id), list)?;
        }
        Ok(())
    }

    /// A group's types, then its attributes, which may be of these types.
    fn types(&mut self, id: GroupId, node: &GroupNode) -> Result<()> {
        self.warnings.extend(extension::ignored(&node.attributes));
        let damaged =
            extension::define_types(&mut self.model, id, &node.attributes, &mut self.nesting, self.limits);
        let mut losses = node.losses.clone();
        losses.extend(damaged.iter().cloned());
        self.warnings.extend(damaged);
        if let Some(types) = node.types.as_deref().and_then(JsonValue::as_object) {
            for (name, json) in types.iter() {
                if let Err(error) = self.draft_type(id, name, json, &node.attributes) {
                    let reported = format!("type {name:?} is ignored: {error}");
                    losses.extend((error.kind() == ErrorKind::Malformed).then(|| reported.clone()));
                    self.warnings.push(reported);
                }
            }
        }
        let mut list = attributes(&node.attributes, self.dialect, &mut self.warnings);
        let damaged = extension::insert_attributes(&self.model, &node.attributes, &mut list);
        let state = self.state(list, damaged, node.attributes.fault.as_ref());
        if let Some(group) = self.model.group_mut(id) {
            *group.attributes = state;
            let lost = || Fault::new(ncirrus_model::FaultKind::Malformed, losses.join("; "));
            let fault = node.fault.as_ref().map(Fault::from);
            *group.fault = fault.or_else(|| (!losses.is_empty()).then(lost));
        }
        Ok(())
    }

    /// A type of the 2018 draft (`docs/spec/nczarr.md` 7): NumPy's spelling, or a base type with constants.
    fn draft_type(
        &mut self,
        group: GroupId,
        name: &str,
        json: &JsonValue,
        attributes: &AttributeHolder,
    ) -> Result<()> {
        let sized = draft::with_lengths(json, name, attributes, self.limits);
        let spelling = sized.as_ref().or_else(|| json.member("basetype")).unwrap_or(json);
        let (data_type, _) = crate::dtype::v2::parse(spelling, &[], self.rules)?;
        let kind = match (json.member("constants").and_then(JsonValue::as_object), data_type.shown) {
            (Some(constants), ReaderType::Atomic(base)) => {
                let member = |(name, value): (&str, &JsonValue)| {
                    Some(EnumMember { name: name.to_owned(), value: value.as_number()?.as_i128()? })
                };
                let members = constants.iter().map(member).collect::<Option<_>>();
                UserKind::Enum {
                    base,
                    members: members.ok_or_else(|| Error::malformed("a constant has no value"))?,
                }
            }
            (_, shown) => match shown.kind(&mut self.model, group, name)? {
                Some(kind) => kind,
                None => return Err(Error::unsupported("an alias of an atomic type")),
            },
        };
        let ty = UserType { name: name.to_owned(), kind };
        let id = self.nesting.define(&mut self.model, group, ty, self.limits)?;
        self.draft_dtypes.extend(sized.map(|spelling| (self.model.type_path(id), spelling)));
        Ok(())
    }

    /// The attributes, or why there are none.
    pub(super) fn state(
        &mut self,
        list: Vec<Attribute>,
        damaged: Vec<String>,
        fault: Option<&Error>,
    ) -> AttributeState {
        if let Some(error) = fault {
            self.warnings.push(error.to_string());
            return AttributeState::Damaged(error.into());
        }
        let mut attributes = Attributes::new();
        list.into_iter().for_each(|attribute| attributes.push_distinct(attribute));
        for message in damaged {
            let fault = Fault::new(ncirrus_model::FaultKind::Malformed, message.clone());
            attributes.faults.push((EXTENSION.to_owned(), fault));
            self.warnings.push(message);
        }
        AttributeState::Known(attributes)
    }

    fn check_superblock(&mut self, dataset: &DatasetMetadata) {
        let major = |version: &str| version.split('.').next().and_then(|major| major.parse::<u32>().ok());
        let known = if self.dialect == Dialect::Nczarr3 { 3 } else { 2 };
        let newer =
            dataset.superblock.as_deref().filter(|version| major(version).is_some_and(|major| major > known));
        if let Some(version) = newer {
            self.warnings.push(format!("superblock version {version} is newer than any known version"));
        }
    }
}
