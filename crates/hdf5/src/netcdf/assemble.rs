//! From the objects of a file to its model (hdf5-netcdf4.md H).
use super::catalog::Hdf5Catalog;
use super::describe::{DatasetFacts, Facts, GroupFacts};
use super::dimensions::{Axes, Dimensions, Scale, assign, lacks_scales};
use super::front::metadata_end;
use super::hidden::{self, Raw};
use super::types::{Types, unwrap_arrays};
use super::variable::{damaged, is_listed, variable};
use super::walk::{Member, Tree};
use super::{Key, attribute};
use crate::file::File;
use crate::object::ObjectRef;
use crate::place::Dataset;
use crate::word::Dataspace;
use ncirrus_layout::{Error, Stall, Step, View, join, settle};
use ncirrus_model::{AttributeState, DimId, Dimension, DimensionLen, Fault, GroupId, Model, Variable};
use std::collections::HashMap;
use std::sync::Arc;

/// Makes the catalog.
///
/// # Errors
/// A need; damage of members stays in its place.
pub(super) fn assemble(
    view: &dyn View,
    file: &Arc<File>,
    mut tree: Tree,
    facts: &[GroupFacts],
) -> Step<Hdf5Catalog> {
    let order = depth_first(&tree);
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
    second_choice(view, &scales, &mut variables)?;
    let (provenance, strict) = root_facts(view, file, facts)?;
    let is_ours = provenance.as_ref().is_some_and(|text| text.contains(",ncirrus="));
    let front = if is_ours { metadata_end(view, file, &tree, facts) } else { None };
    let mut assembly = Assembly {
        model: Model::new(),
        types: Types::default(),
        warnings: std::mem::take(&mut tree.warnings),
        groups: Vec::new(),
        variables: Vec::new(),
        scales: Vec::new(),
    };
    assembly.add_groups(&tree, &order)?;
    assembly.add_types(&tree, facts, &order);
    assembly.add_variables(&order, &scales, variables)?;
    assembly.add_types_of_attributes(facts, &order);
    Ok(Hdf5Catalog {
        object: file.object.clone(),
        version: file.version,
        user_block: file.base,
        provenance,
        front,
        strict,
        is_netcdf4: !strict && marks(facts) >= 2,
        paths: tree.take_paths(),
        model: Arc::new(assembly.model),
        types: assembly.types,
        groups: assembly.groups,
        variables: assembly.variables,
        scales: assembly.scales,
        warnings: assembly.warnings,
    })
}

/// The groups, each followed by all that lie in it.
fn depth_first(tree: &Tree) -> Vec<usize> {
    let mut order = Vec::with_capacity(tree.groups.len());
    let mut stack = vec![0];
    while let Some(at) = stack.pop() {
        order.push(at);
        stack.extend(tree.groups.get(at).into_iter().flat_map(|group| group.groups.iter().rev()));
    }
    order
}

/// A dataset that is a variable, or a damaged object in the place of one.
struct Found<'a> {
    name: &'a str,
    object: &'a ObjectRef,
    axes: Axes,
    facts: Result<(&'a DatasetFacts, &'a Dataset), &'a Error>,
}

/// The variable that a member is, if any; the scale that it is goes to the list.
fn found<'a>(
    group: usize,
    member: &'a Member,
    facts: &'a Facts,
    scales: &mut Vec<Scale>,
) -> Option<Found<'a>> {
    let (name, object) = (member.name.as_str(), &member.object);
    let nothing = |error| {
        let axes = Axes { group, ..Axes::default() };
        Some(Found { name, object, axes, facts: Err(error) })
    };
    let facts = match facts {
        Facts::Dataset(facts) => facts,
        Facts::Damaged(error) => return nothing(error),
        Facts::Type(_) => return None,
    };
    let dataset = match &facts.dataset {
        Ok(dataset) => dataset,
        Err(error) => return nothing(error),
    };
    let mut axes = axes_of(group, dataset, facts);
    if let (true, Some(&len), Some(&unlimited)) = (facts.is_scale, axes.lens.first(), axes.unlimited.first())
    {
        axes.scale = Some(scales.len());
        let (name, object) = (name.to_owned(), Key::from(object));
        scales.push(Scale { group, name, len, unlimited, id: facts.id, object });
    }
    facts.is_variable.then_some(Found { name, object, axes, facts: Ok((facts, dataset)) })
}

fn axes_of(group: usize, dataset: &Dataset, facts: &DatasetFacts) -> Axes {
    let max: &[Option<u64>] = match &dataset.space {
        Dataspace::Simple { max, .. } => max,
        Dataspace::Null | Dataspace::Scalar => &[],
    };
    let unlimited = |axis| max.get(axis).is_some_and(Option::is_none);
    Axes {
        group,
        lens: dataset.shape.clone(),
        unlimited: (0..dataset.shape.len()).map(unlimited).collect(),
        scale: None,
        coordinates: facts.coordinates.clone(),
        attached: facts.attached.clone(),
        late: !is_listed(&dataset.datatype),
    }
}

/// Reads the attached scales of variables whose ids mean nothing.
fn second_choice(view: &dyn View, scales: &[Scale], variables: &mut [Found<'_>]) -> Step<()> {
    let lacking = lacks_scales(scales, variables.iter().map(|found| &found.axes));
    let attached = join(&lacking, |at| {
        let Some((found, Ok((facts, _)))) = variables.get(*at).map(|found| (found, &found.facts)) else {
            return Ok(Vec::new());
        };
        let none = Vec::new();
        let raw: &Raw = facts.attributes.as_deref().map_or(&none, Vec::as_slice);
        let list = hidden::attached(view, found.object, raw, found.axes.lens.len());
        Ok(settle(list).map_err(Stall::Need)?.unwrap_or_default())
    })?;
    for (at, attached) in lacking.into_iter().zip(attached) {
        if let Some(found) = variables.get_mut(at) {
            found.axes.attached = attached;
        }
    }
    Ok(())
}

/// Provenance, and whether the file was made by the rules of the classic model.
fn root_facts(view: &dyn View, file: &File, facts: &[GroupFacts]) -> Step<(Option<String>, bool)> {
    let Some(Ok(raw)) = facts.first().map(|root| &root.attributes) else { return Ok((None, false)) };
    let strict = hidden::find(raw, "_nc3_strict").is_some();
    let Some(provenance) = hidden::find(raw, "_NCProperties") else { return Ok((None, strict)) };
    let text = settle(attribute::text_of(view, file, provenance)).map_err(Stall::Need)?;
    Ok((text.ok().flatten(), strict))
}

/// How many attributes of datasets tell of netCDF.
fn marks(facts: &[GroupFacts]) -> usize {
    let of_member = |member: &Facts| match member {
        Facts::Dataset(facts) => facts.attributes.as_deref().map_or(0, |raw| hidden::count_marks(raw)),
        Facts::Type(_) | Facts::Damaged(_) => 0,
    };
    facts.iter().flat_map(|group| &group.members).map(of_member).sum()
}

/// What is put together so far.
struct Assembly {
    model: Model,
    types: Types,
    warnings: Vec<String>,
    /// By the number of the group.
    groups: Vec<(GroupId, ObjectRef)>,
    /// By the number of the variable.
    variables: Vec<ObjectRef>,
    scales: Vec<(DimId, Key, Option<i64>)>,
}

impl Assembly {
    fn add_groups(&mut self, tree: &Tree, order: &[usize]) -> Result<(), Error> {
        let mut ids: HashMap<usize, GroupId> = HashMap::new();
        for &at in order {
            let Some(node) = tree.groups.get(at) else { continue };
            let id = match node.parent.and_then(|parent| ids.get(&parent)) {
                Some(parent) => self.model.insert_group(*parent, node.name.clone())?,
                None => self.model.root(),
            };
            if let Some(group) = self.model.group_mut(id) {
                group.attributes = AttributeState::Pending;
                group.fault = node.fault.as_ref().map(Fault::from);
            }
            ids.insert(at, id);
            self.groups.push((id, node.object.clone()));
        }
        Ok(())
    }

    fn add_types(&mut self, tree: &Tree, facts: &[GroupFacts], order: &[usize]) {
        for (&at, (group, _)) in order.iter().zip(&self.groups) {
            let Some((node, facts)) = tree.groups.get(at).zip(facts.get(at)) else { continue };
            for (member, facts) in node.members.iter().zip(&facts.members) {
                match facts {
                    Facts::Type(Ok(datatype)) => {
                        let key = Key::from(&member.object);
                        self.types.commit(key, *group, &member.name, Arc::clone(datatype));
                    }
                    Facts::Type(Err(error)) => {
                        self.warnings.push(format!("type {:?} cannot be used: {error}", member.name));
                    }
                    Facts::Dataset(_) | Facts::Damaged(_) => {}
                }
            }
        }
        self.warnings.extend(self.types.define_committed(&mut self.model));
    }

    fn add_variables(
        &mut self,
        order: &[usize],
        scales: &[Scale],
        mut found: Vec<Found<'_>>,
    ) -> Result<(), Error> {
        let parents: Vec<Option<usize>> = self.parents(order.len());
        let axes: Vec<Axes> = found.iter_mut().map(|found| std::mem::take(&mut found.axes)).collect();
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
        Ok(())
    }

    fn variable(&mut self, group: GroupId, found: &Found<'_>, dims: Vec<DimId>) -> Variable {
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

    /// The parents of the groups, by their numbers: groups have the ids in which they were put into the model.
    fn parents(&self, count: usize) -> Vec<Option<usize>> {
        let parent = |(id, _): &(GroupId, ObjectRef)| self.model.group(*id).and_then(|group| group.parent);
        self.groups.iter().take(count).map(|group| parent(group).map(GroupId::index)).collect()
    }

    /// Puts the dimensions into the model, ordered by their ids.
    fn add_dimensions(&mut self, dimensions: &Dimensions) -> Result<HashMap<usize, DimId>, Error> {
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

    /// Types that only attributes have come after those of variables, as if they had been met later.
    fn add_types_of_attributes(&mut self, facts: &[GroupFacts], order: &[usize]) {
        for (&at, (group, holder)) in order.iter().zip(&self.groups) {
            let Some(facts) = facts.get(at) else { continue };
            let of_members = facts.members.iter().filter_map(|member| match member {
                Facts::Dataset(facts) => Some(&facts.attributes),
                Facts::Type(_) | Facts::Damaged(_) => None,
            });
            let lists = std::iter::once(&facts.attributes).chain(of_members).flatten();
            for raw in lists.flat_map(|list| list.iter()).flatten() {
                if !hidden::is_hidden(&raw.name) {
                    let (_, element) = unwrap_arrays(&raw.datatype);
                    // Without a type the attribute is a fault when it is read.
                    let _ = self.types.reference(&mut self.model, *group, &holder.file.object, element);
                }
            }
        }
    }
}
