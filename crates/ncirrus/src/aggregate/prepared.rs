//! Files that were looked at: what an aggregation of them will be.
use super::arrange::Arrangement;
use super::each::each;
use super::master::{Master, MasterOptions, Stored, unpack};
use super::parts::Part;
use super::shape::{Member, Role, Template};
use super::split::place;
use super::{AggregateOptions, Aggregation};
use crate::{Dataset, Error, OpenOptions, Result, Selection, Session, Values};
use ncirrus_aggregate::write::{FragmentArray, FragmentCell};
use ncirrus_model::{Atomic, DimId, DimensionLen, FillValue, Model, NodeId, TypeRef, VarId};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Files that are looked at at once.
const AT_ONCE: usize = 16;

/// Files that were looked at, ready to become an aggregation. Nothing is written yet.
pub struct Prepared {
    template: Template,
    first: Dataset,
    parts: Vec<Part>,
    arrangement: Arrangement,
    report: Aggregation,
    /// The fragments of the aggregation that is added to, which is then the first of the parts.
    existing: BTreeMap<VarId, FragmentArray>,
}

impl Prepared {
    /// Looks at files: headers, coordinates of the axes, and the values of variables that do not lie along an axis.
    ///
    /// # Errors
    /// `Invalid` when there is no file or the axis cannot be told; when the first file cannot be read.
    pub fn of(files: &[String], options: &AggregateOptions<'_>, session: &Session) -> Result<Self> {
        let Some(first) = files.first() else {
            return Err(Error::invalid("there are no files to aggregate"));
        };
        let first = Dataset::open_with(first, &OpenOptions::default(), session)?;
        let template = Template::of(&first, options).map_err(|error| error.at_object(first.url()))?;
        let parts = each(files, AT_ONCE, options.steps, |_, url| Ok(Part::read(url, &template, session)))?;
        let mut prepared = Self {
            template,
            first,
            parts,
            arrangement: Arrangement::default(),
            report: Aggregation::default(),
            existing: BTreeMap::new(),
        };
        prepared.arrange(options.sort);
        Ok(prepared)
    }

    /// Looks at files that are to be added to an aggregation, along the axis that it has; its own files are not looked
    /// at. It is written in place of the old one, which needs [`MasterOptions::overwrite`].
    ///
    /// # Errors
    /// As [`of`](Self::of); `Unsupported` for several axes, or when fragments of the aggregation cannot be told.
    pub fn adding(
        target: &str,
        files: &[String],
        options: &AggregateOptions<'_>,
        session: &Session,
    ) -> Result<Self> {
        if options.axes.len() > 1 || options.new_axis.is_some() {
            return Err(Error::unsupported("files are added along one axis, which the aggregation has"));
        }
        let all: Vec<String> =
            std::iter::once(target).chain(files.iter().map(String::as_str)).map(str::to_owned).collect();
        let mut prepared = Self::of(&all, options, session)?;
        prepared.existing = super::existing::arrays(&prepared.first)?;
        prepared.report.files = files.len();
        for member in &mut prepared.template.members {
            if member.role == Role::Aggregated && !prepared.existing.contains_key(&member.var) {
                return Err(Error::unsupported("the master stores it, so nothing can be added")
                    .at_path(&*member.path));
            }
            let stays = !member.along.contains(&true) && prepared.existing.contains_key(&member.var);
            if stays {
                return Err(
                    Error::unsupported("it is aggregated, but not along the axis").at_path(&*member.path)
                );
            }
        }
        Ok(prepared)
    }

    /// What was found, and what is wrong.
    pub fn report(&self) -> &Aggregation {
        &self.report
    }

    fn arrange(&mut self, sort: bool) {
        for part in &self.parts {
            self.report
                .problems
                .extend(part.problems.iter().map(|problem| format!("{}: {problem}", part.url)));
            self.report.notes.extend(part.notes.iter().map(|note| format!("{}: {note}", part.url)));
        }
        self.report.files = self.parts.len();
        if self.report.problems.is_empty() {
            self.arrangement = Arrangement::of(&self.parts, &self.template, sort);
            self.report.problems.append(&mut self.arrangement.problems);
            self.report.notes.append(&mut self.arrangement.notes);
        }
        let lens = self.arrangement.sizes.iter().map(|sizes| (sizes.len(), sizes.iter().sum()));
        let names = self.template.axes.iter().map(|axis| axis.name.clone());
        self.report.axes = names.zip(lens).map(|(name, (blocks, len))| (name, blocks, len)).collect();
        for member in &self.template.members {
            match member.role {
                Role::Aggregated => self.report.aggregated.push(member.path.clone()),
                Role::Collected | Role::Common(_) | Role::Bare => {
                    self.report.stored.push(member.path.clone());
                }
            }
        }
    }

    /// Writes the master.
    ///
    /// # Errors
    /// `Invalid` with the first of the problems that were found; when the convention or the master's kind cannot say
    /// it; when writing fails: nothing has changed then.
    pub fn write(self, target: &str, options: &MasterOptions, session: &Session) -> Result<Aggregation> {
        if let Some(problem) = self.report.problems.first() {
            let more = match self.report.problems.len() {
                1 => String::new(),
                count => format!(", and {} problems more", count - 1),
            };
            return Err(Error::invalid(format!("the files do not fit each other: {problem}{more}")));
        }
        options.check(target)?;
        let master = self.master(target, options)?;
        master.write(target, options, session)?;
        Ok(self.report)
    }

    fn master(&self, target: &str, options: &MasterOptions) -> Result<Master> {
        let mut model = Model::clone(&self.template.model);
        let axes = self.lengthen(&mut model)?;
        self.merge_attributes(&mut model);
        let names = self.parts.iter().map(|part| Ok(options.naming().name(target, &part.url)?.into()));
        let names = names.collect::<Result<Vec<Arc<str>>>>()?;
        let mut master = Master { model, stored: Vec::new(), aggregated: Vec::new() };
        let mut collected = 0;
        for (number, member) in self.template.members.iter().enumerate() {
            if self.template.is_new && member.along.contains(&true) {
                self.add_axis(&mut master.model, member.var, &axes);
            }
            match &member.role {
                Role::Aggregated => {
                    let repacked = self.parts.iter().any(|part| part.repacked.contains(&number));
                    if repacked || options.convention.is_unpacked() {
                        unpack(&mut master.model, member.var);
                    }
                    let mut array = self.fragments(&master.model, member, &names);
                    if let Some(existing) = self.existing.get(&member.var) {
                        let at = self.axis_place(member);
                        array = splice(existing, &array, at).map_err(|error| error.at_path(&*member.path))?;
                    }
                    master.aggregated.push((member.var, array));
                }
                Role::Collected => {
                    self.collect(&mut master, member, collected)?;
                    collected += 1;
                }
                Role::Common(Some(values)) => {
                    let all = Selection::all(&master.model.shape(member.var));
                    master.stored.push(Stored::Values(member.var, all, values.clone()));
                }
                Role::Common(None) => {
                    master.stored.push(Stored::Copied(member.var, self.first.clone(), member.var));
                }
                Role::Bare => {}
            }
        }
        Ok(master)
    }

    /// Which dimension of a variable the first axis is.
    fn axis_place(&self, member: &Member) -> usize {
        let dims = self.template.model.variable(member.var).map(|variable| variable.dims.as_slice());
        dims.and_then(|dims| dims.iter().position(|dim| self.template.axis_of(*dim) == Some(0))).unwrap_or(0)
    }

    /// Gives the axes their lengths; a new one is added. Gives their dimensions.
    fn lengthen(&self, model: &mut Model) -> Result<Vec<DimId>> {
        let mut dims = Vec::new();
        for (axis, sizes) in self.template.axes.iter().zip(&self.arrangement.sizes) {
            let len: u64 = sizes.iter().sum();
            let dim = match axis.dim {
                Some(dim) => {
                    let grows = model.dimension(dim).is_some_and(|dim| dim.len.is_unlimited());
                    let len = if grows { DimensionLen::Unlimited(len) } else { DimensionLen::Fixed(len) };
                    model.set_dimension_len(dim, len)?;
                    dim
                }
                None => model.add_dimension(model.root(), &axis.name, DimensionLen::Fixed(len))?,
            };
            dims.push(dim);
        }
        Ok(dims)
    }

    fn add_axis(&self, model: &mut Model, var: VarId, axes: &[DimId]) {
        if let Some(variable) = model.variable_mut(var) {
            let dims = std::mem::take(&mut variable.dims);
            variable.dims = axes.iter().copied().chain(dims).collect();
            variable.storage = crate::Storage::Default;
        }
    }

    /// Attributes that are the same in all files stay.
    fn merge_attributes(&self, model: &mut Model) {
        for (path, name) in self.parts.iter().flat_map(|part| &part.differing) {
            let group = model.group_at(path).map(NodeId::Group);
            let node = model.variable_at(path).map(NodeId::Variable).or(group);
            if let Some(attributes) = node.and_then(|node| model.attributes_mut(node)) {
                attributes.known_mut().remove(name);
            }
        }
    }

    /// Values that the master gets of every file, at their places.
    fn collect(&self, master: &mut Master, member: &Member, number: usize) -> Result<()> {
        let doubles =
            |part: &Part| part.collected.get(number).and_then(Values::atomic) == Some(Atomic::Double);
        if self.parts.iter().any(doubles)
            && let Some(variable) = master.model.variable_mut(member.var)
            && matches!(variable.ty, TypeRef::Atomic(atomic) if atomic != Atomic::Double)
        {
            variable.ty = Atomic::Double.into();
            variable.fill = FillValue::Default;
            variable.attributes.known_mut().remove("_FillValue");
        }
        let path = &member.path;
        let shape = master.model.shape(member.var);
        let dims =
            master.model.variable(member.var).map(|variable| variable.dims.clone()).unwrap_or_default();
        let mut taken: Vec<(Vec<u64>, &Values)> = Vec::new();
        for (place, part) in self.places() {
            let Some(part) = part else { continue };
            let (mut start, mut count) = (Vec::new(), Vec::new());
            for (at, (dim, len)) in dims.iter().zip(&shape).enumerate() {
                let axis =
                    if self.template.is_new { (at == 0).then_some(0) } else { self.template.axis_of(*dim) };
                let (first, size) = axis.map_or((0, *len), |axis| self.extent(axis, &place));
                start.push(first);
                count.push(size);
            }
            let Some(values) = part.collected.get(number) else { continue };
            match taken.iter().find(|(other, _)| *other == start) {
                Some((_, other)) if *other != values => {
                    return Err(Error::invalid(format!("{path} has other values in {}", part.url)));
                }
                Some(_) => {}
                None => {
                    let selection = Selection::slab(&start, &count);
                    master.stored.push(Stored::Values(member.var, selection, values.clone()));
                    // Along all axes no two files have a place in common.
                    if member.along.contains(&false) {
                        taken.push((start, values));
                    }
                }
            }
        }
        Ok(())
    }

    /// The places of the grid of files, and what lies there.
    fn places(&self) -> impl Iterator<Item = (Vec<usize>, Option<&Part>)> {
        let lens: Vec<usize> = self.arrangement.sizes.iter().map(Vec::len).collect();
        self.arrangement.places.iter().enumerate().map(move |(number, part)| {
            let place = place(number, &lens);
            (place, part.and_then(|part| self.parts.get(part)))
        })
    }

    /// First element and length of a block along an axis.
    fn extent(&self, axis: usize, place: &[usize]) -> (u64, u64) {
        let at = place.get(axis).copied().unwrap_or(0);
        let of = |all: &[Vec<u64>]| all.get(axis).and_then(|along| along.get(at)).copied().unwrap_or(0);
        (of(&self.arrangement.starts), of(&self.arrangement.sizes))
    }

    /// The fragments of a variable: it may lie along the axes in any order.
    fn fragments(&self, model: &Model, member: &Member, names: &[Arc<str>]) -> FragmentArray {
        let dims = model.variable(member.var).map(|variable| variable.dims.clone()).unwrap_or_default();
        let axis_of = |at: usize, dim: DimId| match self.template.is_new {
            true => (at == 0).then_some(0),
            false => self.template.axis_of(dim),
        };
        let axes: Vec<Option<usize>> = dims.iter().enumerate().map(|(at, dim)| axis_of(at, *dim)).collect();
        let size = |(axis, len): (&Option<usize>, u64)| match axis {
            Some(axis) => self.arrangement.sizes.get(*axis).cloned().unwrap_or_default(),
            None => vec![len],
        };
        let sizes: Vec<Vec<u64>> = axes.iter().zip(model.shape(member.var)).map(size).collect();
        let mut cells = vec![None; sizes.iter().map(Vec::len).product()];
        let path: Arc<str> = member.path.as_str().into();
        for ((place, _), part) in self.places().zip(&self.arrangement.places) {
            let number = axes.iter().zip(&sizes).fold(0, |number, (axis, sizes)| {
                let at = axis.and_then(|axis| place.get(axis).copied()).unwrap_or(0);
                number * sizes.len() + at
            });
            let cell = part.and_then(|part| {
                let file = Arc::clone(names.get(part)?);
                let format = self.parts.get(part)?.format;
                Some(FragmentCell { file, variable: Arc::clone(&path), format })
            });
            if let Some(slot) = cells.get_mut(number) {
                *slot = cell;
            }
        }
        let lacking = axes.iter().map(|axis| self.template.is_new && axis.is_some()).collect();
        FragmentArray { sizes, cells, lacking }
    }
}

/// An array of fragments with that of an older aggregation in place of its first block along an axis.
fn splice(old: &FragmentArray, new: &FragmentArray, axis: usize) -> Result<FragmentArray> {
    let mut sizes = new.sizes.clone();
    for (at, (sizes, old)) in sizes.iter_mut().zip(&old.sizes).enumerate() {
        if at == axis {
            sizes.splice(..1, old.iter().copied());
        } else if sizes != old {
            return Err(Error::unsupported("its fragments are cut along other dimensions, too"));
        }
    }
    let (lens, old_lens, new_lens) = (lens(&sizes), lens(&old.sizes), lens(&new.sizes));
    let before = old_lens.get(axis).copied().unwrap_or(0);
    let count: usize = lens.iter().product();
    let cell = |number: usize| {
        let mut place = place(number, &lens);
        let at = place.get_mut(axis)?;
        if *at < before {
            return old.cells.get(flat(&place, &old_lens))?.clone();
        }
        *at = *at - before + 1;
        new.cells.get(flat(&place, &new_lens))?.clone()
    };
    Ok(FragmentArray { cells: (0..count).map(cell).collect(), lacking: new.lacking.clone(), sizes })
}

fn lens(sizes: &[Vec<u64>]) -> Vec<usize> {
    sizes.iter().map(Vec::len).collect()
}

/// The number of a place in row-major order.
fn flat(place: &[usize], lens: &[usize]) -> usize {
    place.iter().zip(lens).fold(0, |number, (at, len)| number * len + at)
}
