//! Building the model from the objects of a file (docs/spec/hdf5-netcdf4.md H).
use super::attribute::has_references;
use super::catalog::Hdf5Catalog;
use super::describe::{DatasetFacts, GroupFacts, MemberFacts};
use super::dimensions::{DimensionScale, FileDimensions, VariableAxes, assign, lacks_scales};
use super::hidden::{self, AttributeResults};
use super::types::{DatasetTypes, unwrap_arrays};
use super::variable::{damaged, is_listed, variable};
use super::walk::{GroupNode, ObjectTree, TreeMember};
use super::{ObjectKey, attribute};
use crate::datatypes::{Dataspace, RawAttribute};
use crate::file::Hdf5File;
use crate::layout::StoredDataset;
use crate::object::ObjectRef;
use ncirrus_layout::{Error, ErrorKind, Stall, Step, View, join, settle};
use ncirrus_model::{
    AttributeState, DimId, Dimension, DimensionLen, Fault, FaultKind, GroupId, Model, Variable,
};
use std::collections::HashMap;
use std::sync::Arc;

/// Builds the catalog. `hides_references`: without variables and attributes of references.
///
/// # Errors
/// A need; damage of members is recorded in their place.
pub(super) fn assemble(
    view: &dyn View,
    file: &Arc<Hdf5File>,
    (tree, facts): (&mut ObjectTree, &[GroupFacts]),
    hides_references: bool,
) -> Step<Hdf5Catalog> {
    let order = depth_first(tree);
    let mut variables = Vec::new();
    let mut scales = Vec::new();
    for (group, &at) in order.iter().enumerate() {
        let members = tree.groups.get(at).zip(facts.get(at));
        for (member, facts) in
            members.into_iter().flat_map(|(node, facts)| node.members.iter().zip(&facts.members))
        {
            variables.extend(found(group, member, facts, &mut scales));
        }
    }
    if hides_references {
        variables.retain(|found| !found.facts.is_ok_and(|(_, dataset)| has_references(&dataset.datatype)));
    }
    // `lost` has positions in `order`, `losses` those of the tree.
    let lost = second_choice(view, &scales, &mut variables)?;
    let mut losses: Vec<Vec<Error>> = tree.groups.iter().map(|group| group.losses.clone()).collect();
    for (at, losses) in losses.iter_mut().enumerate() {
        losses.extend(tree.groups.get(at).zip(facts.get(at)).into_iter().flat_map(losses_of_members));
    }
    for (group, error) in lost {
        order.get(group).and_then(|at| losses.get_mut(*at)).into_iter().for_each(|of| of.push(error.clone()));
    }
    let (provenance, strict) = root_facts(view, file, facts)?;
    let mut assembly = ModelAssembly {
        model: Model::new(),
        types: DatasetTypes::default(),
        warnings: std::mem::take(&mut tree.warnings),
        groups: Vec::new(),
        variables: Vec::new(),
        scales: Vec::new(),
    };
    // Order matters: types are in groups, and variables have types. Types that only attributes use come last.
    assembly.add_groups(tree, &order, &losses)?;
    assembly.add_types(tree, facts, &order);
    assembly.add_variables(&order, &scales, variables)?;
    assembly.add_types_of_attributes(facts, &order, hides_references);
    if let Some(fault) = assembly.leaves_nothing(facts) {
        return Err(Error::malformed(format!("nothing can be read of the file: {fault}")).into());
    }
    Ok(Hdf5Catalog {
        object: file.object.clone(),
        version: file.version,
        user_block: file.base,
        missing: file.missing,
        provenance,
        front: None,
        headers_end: None,
        unshown: None,
        strict,
        is_netcdf4: !strict && marks(facts) >= 2,
        paths: tree.take_paths(),
        model: Arc::new(assembly.model),
        types: assembly.types,
        groups: assembly.groups,
        variables: assembly.variables,
        scales: assembly.scales,
        warnings: assembly.warnings,
        hides_references,
        writing: None,
    })
}

/// Faults of a group's datasets that are not recorded in any of them.
fn losses_of_members((group, facts): (&GroupNode, &GroupFacts)) -> Vec<Error> {
    let of_member = |(member, facts): (&TreeMember, &MemberFacts)| {
        let losses = match facts {
            MemberFacts::Dataset(facts) => facts.losses.clone(),
            MemberFacts::Type(Err(error)) if is_damage(error) => vec![error.clone()],
            MemberFacts::Type(_) | MemberFacts::Damaged(_) => Vec::new(),
        };
        let path = format!("{}/{}", group.path, member.name);
        let (file, addr) = (Arc::clone(&member.object.file), member.object.addr);
        losses.into_iter().map(move |error| {
            let reported = Error::malformed(format!("{path}: {}", error.message()));
            match (&error.place().object, error.place().offset) {
                (Some(object), Some(offset)) => reported.at_object(object).at_offset(offset),
                _ => file.at(addr, reported),
            }
        })
    };
    group.members.iter().zip(&facts.members).flat_map(of_member).collect()
}

fn is_damage(error: &Error) -> bool {
    error.kind() != ErrorKind::Unsupported
}

/// One fault for all losses of a group.
fn fault_of(losses: &[Error]) -> Option<Fault> {
    // A damaged group can have thousands: the output must stay readable.
    const MAX_REPORTED: usize = 20;
    if losses.is_empty() {
        return None;
    }
    let mut texts: Vec<String> = losses.iter().take(MAX_REPORTED).map(ToString::to_string).collect();
    if losses.len() > MAX_REPORTED {
        texts.push(format!("and {} more", losses.len() - MAX_REPORTED));
    }
    Some(Fault::new(FaultKind::Malformed, texts.join("; ")))
}

/// The groups, each followed by all its members.
fn depth_first(tree: &ObjectTree) -> Vec<usize> {
    let mut order = Vec::with_capacity(tree.groups.len());
    let mut stack = vec![0];
    while let Some(at) = stack.pop() {
        order.push(at);
        stack.extend(tree.groups.get(at).into_iter().flat_map(|group| group.groups.iter().rev()));
    }
    order
}

/// A dataset that is a variable, or a damaged object in the place of one.
struct FoundVariable<'a> {
    name: &'a str,
    object: &'a ObjectRef,
    axes: VariableAxes,
    facts: Result<(&'a DatasetFacts, &'a StoredDataset), &'a Error>,
}

/// The variable for a member, if any; its scale is added to the list.
fn found<'a>(
    group: usize,
    member: &'a TreeMember,
    facts: &'a MemberFacts,
    scales: &mut Vec<DimensionScale>,
) -> Option<FoundVariable<'a>> {
    let (name, object) = (member.name.as_str(), &member.object);
    let nothing = |error| {
        let axes = VariableAxes { group, ..VariableAxes::default() };
        Some(FoundVariable { name, object, axes, facts: Err(error) })
    };
    let facts = match facts {
        MemberFacts::Dataset(facts) => facts,
        MemberFacts::Damaged(error) => return nothing(error),
        MemberFacts::Type(_) => return None,
    };
    let dataset = match &facts.dataset {
        Ok(dataset) => dataset,
        Err(error) => return nothing(error),
    };
    let mut axes = axes_of(group, dataset, facts);
    if let (true, Some(&len), Some(&unlimited)) = (facts.is_scale, axes.lens.first(), axes.unlimited.first())
    {
        axes.scale = Some(scales.len());
        let (name, object) = (name.to_owned(), ObjectKey::from(object));
        scales.push(DimensionScale { group, name, len, unlimited, id: facts.id, object });
    }
    facts.is_variable.then_some(FoundVariable { name, object, axes, facts: Ok((facts, dataset)) })
}

fn axes_of(group: usize, dataset: &StoredDataset, facts: &DatasetFacts) -> VariableAxes {
    let max: &[Option<u64>] = match &dataset.space {
        Dataspace::Simple { max, .. } => max,
        Dataspace::Null | Dataspace::Scalar => &[],
    };
    let unlimited = |axis| max.get(axis).is_some_and(Option::is_none);
    VariableAxes {
        group,
        lens: dataset.shape.clone(),
        unlimited: (0..dataset.shape.len()).map(unlimited).collect(),
        scale: None,
        coordinates: facts.coordinates.clone(),
        attached: facts.attached.clone(),
        late: !is_listed(&dataset.datatype),
    }
}

/// Reads the attached scales of variables with invalid ids; returns those that cannot be read, each with the index of
/// its group.
fn second_choice(
    view: &dyn View,
    scales: &[DimensionScale],
    variables: &mut [FoundVariable<'_>],
) -> Step<Vec<(usize, Error)>> {
    let lacking = lacks_scales(scales, variables.iter().map(|found| &found.axes));
    let attached = join(&lacking, |at| {
        let Some((found, Ok((facts, _)))) = variables.get(*at).map(|found| (found, &found.facts)) else {
            return Ok(Ok(Vec::new()));
        };
        let none = Vec::new();
        let raw: &AttributeResults = facts.attributes.as_deref().map_or(&none, Vec::as_slice);
        let list = hidden::attached(view, found.object, raw, found.axes.lens.len());
        settle(list).map_err(Stall::Need)
    })?;
    let mut lost = Vec::new();
    for (at, attached) in lacking.into_iter().zip(attached) {
        let found = variables.get_mut(at).ok_or_else(|| Error::internal(format!("no variable {at}")))?;
        match attached {
            Ok(attached) => found.axes.attached = attached,
            Err(error) => {
                let error = hidden::lost("DIMENSION_LIST", &error);
                let reported = Error::malformed(format!("variable {:?}: {}", found.name, error.message()));
                lost.push((found.axes.group, found.object.file.at(found.object.addr, reported)));
            }
        }
    }
    Ok(lost)
}

/// Provenance, and whether the file follows the classic model.
fn root_facts(view: &dyn View, file: &Hdf5File, facts: &[GroupFacts]) -> Step<(Option<String>, bool)> {
    let Some(Ok(raw)) = facts.first().map(|root| &root.attributes) else { return Ok((None, false)) };
    let strict = hidden::find(raw, "_nc3_strict").is_some();
    let Some(provenance) = hidden::find(raw, "_NCProperties") else { return Ok((None, strict)) };
    let text = settle(attribute::text_of(view, file, provenance)).map_err(Stall::Need)?;
    Ok((text.ok().flatten(), strict))
}

/// Number of attributes of datasets that are specific to netCDF.
fn marks(facts: &[GroupFacts]) -> usize {
    let of_member = |member: &MemberFacts| match member {
        MemberFacts::Dataset(facts) => facts.attributes.as_deref().map_or(0, |raw| hidden::count_marks(raw)),
        MemberFacts::Type(_) | MemberFacts::Damaged(_) => 0,
    };
    facts.iter().flat_map(|group| &group.members).map(of_member).sum()
}

/// The results so far.
struct ModelAssembly {
    model: Model,
    types: DatasetTypes,
    warnings: Vec<String>,
    /// By the index of the group.
    groups: Vec<(GroupId, ObjectRef)>,
    /// By the index of the variable.
    variables: Vec<ObjectRef>,
    scales: Vec<(DimId, ObjectKey, Option<i64>)>,
}

impl ModelAssembly {
    fn add_groups(&mut self, tree: &ObjectTree, order: &[usize], losses: &[Vec<Error>]) -> Result<(), Error> {
        let mut ids: HashMap<usize, GroupId> = HashMap::new();
        for &at in order {
            let Some(node) = tree.groups.get(at) else { continue };
            let id = match node.parent.and_then(|parent| ids.get(&parent)) {
                Some(parent) => self.model.insert_group(*parent, node.name.clone())?,
                None => self.model.root(),
            };
            if let Some(group) = self.model.group_mut(id) {
                *group.attributes = AttributeState::Pending;
                *group.fault = losses.get(at).and_then(|losses| fault_of(losses));
            }
            ids.insert(at, id);
            self.groups.push((id, node.object.clone()));
        }
        Ok(())
    }

    /// Why nothing of a damaged file can be shown.
    fn leaves_nothing(&self, facts: &[GroupFacts]) -> Option<Fault> {
        let root = self.model.group(self.model.root())?;
        let is_shown = |raw: &Result<RawAttribute, (String, Error)>| {
            raw.as_ref().is_ok_and(|attribute| !hidden::is_hidden(&attribute.name))
        };
        let raw = facts.first().and_then(|facts| facts.attributes.as_ref().ok());
        let has_attributes = raw.is_some_and(|raw| raw.iter().any(is_shown));
        root.fault.clone().filter(|_| root.is_empty() && !has_attributes)
    }

    fn add_types(&mut self, tree: &ObjectTree, facts: &[GroupFacts], order: &[usize]) {
        for (&at, (group, _)) in order.iter().zip(&self.groups) {
            let Some((node, facts)) = tree.groups.get(at).zip(facts.get(at)) else { continue };
            for (member, facts) in node.members.iter().zip(&facts.members) {
                match facts {
                    MemberFacts::Type(Ok(datatype)) => {
                        let key = ObjectKey::from(&member.object);
                        self.types.commit(key, *group, &member.name, Arc::clone(datatype));
                    }
                    MemberFacts::Type(Err(error)) if !is_damage(error) => {
                        self.warnings.push(format!("type {:?} cannot be used: {error}", member.name));
                    }
                    MemberFacts::Type(Err(_)) | MemberFacts::Dataset(_) | MemberFacts::Damaged(_) => {}
                }
            }
        }
        self.warnings.extend(self.types.define_committed(&mut self.model));
    }

    fn add_variables(
        &mut self,
        order: &[usize],
        scales: &[DimensionScale],
        mut found: Vec<FoundVariable<'_>>,
    ) -> Result<(), Error> {
        let parents: Vec<Option<usize>> = self.parents(order.len());
        let axes: Vec<VariableAxes> = found.iter_mut().map(|found| std::mem::take(&mut found.axes)).collect();
        let dimensions = assign(&parents, scales, &axes);
        let ids = self.add_dimensions(&dimensions)?;
        // Dimensions begin with those of the scales.
        let known = scales.iter().enumerate();
        self.scales =
            known.filter_map(|(at, scale)| Some((*ids.get(&at)?, scale.object.clone(), scale.id))).collect();
        for ((found, axes), dims) in found.iter().zip(&axes).zip(&dimensions.axes) {
            let Some((group, _)) = self.groups.get(axes.group) else { continue };
            let dims = dims.iter().filter_map(|dim| ids.get(dim).copied()).collect();
            let variable = self.variable(*group, found, dims);
            let group = self.groups.get(axes.group).map_or(self.model.root(), |(group, _)| *group);
            self.model.insert_variable(group, variable)?;
            self.variables.push(found.object.clone());
        }
        for axis in &dimensions.contradicted {
            let (Some(found), Some(axes)) = (found.get(axis.variable), axes.get(axis.variable)) else {
                continue;
            };
            let place = self.groups.get(axes.group).map(|(group, _)| self.model.group_path(*group));
            let path = format!("{}/{}", place.unwrap_or_default().trim_end_matches('/'), found.name);
            let name = dimensions.list.get(axis.dimension);
            let (name, len) = name.map(|dim| (dim.name.as_str(), dim.len)).unwrap_or_default();
            self.warnings.push(format!(
                "{path}: axis {} has {} elements, its dimension {name} has length {len}: it is shown with a dimension of its own",
                axis.axis, axis.len
            ));
        }
        Ok(())
    }

    fn variable(&mut self, group: GroupId, found: &FoundVariable<'_>, dims: Vec<DimId>) -> Variable {
        match found.facts {
            Err(error) => damaged(found.name, error),
            Ok((facts, dataset)) => {
                let file = &found.object.file.object;
                let ty = self.types.reference(&mut self.model, group, file, &dataset.element);
                if let Dataspace::Null = dataset.space {
                    let place = self.model.group_path(group);
                    self.warnings
                        .push(format!("variable {:?} of group {place} has no elements at all", found.name));
                }
                variable(&self.model, found.name, dataset, facts, (ty, dims))
            }
        }
    }

    /// The parents of the groups, by index: group ids are in the order in which they were added to the model.
    fn parents(&self, count: usize) -> Vec<Option<usize>> {
        let parent = |(id, _): &(GroupId, ObjectRef)| self.model.group(*id).and_then(|group| group.parent);
        self.groups.iter().take(count).map(|group| parent(group).map(GroupId::index)).collect()
    }

    /// Puts the dimensions into the model, ordered by their ids.
    fn add_dimensions(&mut self, dimensions: &FileDimensions) -> Result<HashMap<usize, DimId>, Error> {
        let mut order: Vec<usize> = (0..dimensions.list.len()).collect();
        order.sort_by_key(|at| dimensions.list.get(*at).map(|dim| dim.id));
        let mut ids = HashMap::new();
        for at in order {
            let Some(dim) = dimensions.list.get(at) else { continue };
            let Some((group, _)) = self.groups.get(dim.group) else { continue };
            let len =
                if dim.unlimited { DimensionLen::Unlimited(dim.len) } else { DimensionLen::Fixed(dim.len) };
            ids.insert(at, self.model.insert_dimension(*group, Dimension { name: dim.name.clone(), len })?);
        }
        Ok(ids)
    }

    /// Types used only by attributes come after those of variables, as if they had been found later.
    fn add_types_of_attributes(&mut self, facts: &[GroupFacts], order: &[usize], hides_references: bool) {
        for (&at, (group, holder)) in order.iter().zip(&self.groups) {
            let Some(facts) = facts.get(at) else { continue };
            let of_members = facts.members.iter().filter_map(|member| match member {
                MemberFacts::Dataset(facts) => Some(&facts.attributes),
                MemberFacts::Type(_) | MemberFacts::Damaged(_) => None,
            });
            let lists = std::iter::once(&facts.attributes).chain(of_members).flatten();
            for raw in lists.flat_map(|list| list.iter()).flatten() {
                let is_left_out = hides_references && has_references(&raw.datatype);
                if !is_left_out && !hidden::is_hidden(&raw.name) {
                    let (_, element) = unwrap_arrays(&raw.datatype);
                    // Without a type the attribute is a fault when it is read.
                    let _ = self.types.reference(&mut self.model, *group, &holder.file.object, element);
                }
            }
        }
    }
}
