//! Files that have been read: what an aggregation of them will be.
mod cells;
mod merge;

use super::adding::take_apart;
use super::arrange::FileArrangement;
use super::each::each;
use super::existing::ExistingFragments;
use super::fills::{NumberRange, give_free_fill};
use super::master::{MasterOptions, MasterPlan, StoredValues, unpack};
use super::names::identities;
use super::parts::FilePart;
use super::relocate::single_file_kind;
use super::shape::{FirstFile, FirstVariable, VariableRole};
use super::{AggregateOptions, Aggregation};
use ncirrus::{Dataset, Error, LeftOut, OpenOptions, Result, Selection, Session, Values};
use ncirrus_aggregate::write::Convention;
use ncirrus_layout::grid::row_major_index;
use ncirrus_model::{Atomic, Attribute, DimId, DimensionLen, Fill, Model, TypeRef, VarId, Variable};
use ncirrus_store::{Scheme, Url};
use std::collections::{BTreeMap, BTreeSet};

/// Number of files read concurrently.
const AT_ONCE: usize = 16;

/// Files that have been read, ready to become an aggregation. Nothing is written yet.
pub struct PreparedAggregation {
    template: FirstFile,
    first: Dataset,
    parts: Vec<FilePart>,
    arrangement: FileArrangement,
    report: Aggregation,
    /// The existing aggregation: the first of the parts were its files.
    existing: Option<ExistingFragments>,
}

impl PreparedAggregation {
    /// Reads files: headers, coordinates of the axes, and the values of variables that do not lie along an axis.
    ///
    /// # Errors
    /// `Invalid` if there is no file or the axis cannot be determined; errors of reading the first file.
    pub fn of(files: &[String], options: &AggregateOptions<'_>, session: &Session) -> Result<Self> {
        let Some(first) = files.first() else {
            return Err(Error::invalid("there are no files to aggregate"));
        };
        let first = Dataset::open_with(first, &OpenOptions::default(), session)?;
        let template = FirstFile::of(&first, options).map_err(|error| error.at_object(first.url()))?;
        let parts =
            each(files, AT_ONCE, options.steps, |_, url| Ok(FilePart::read(url, &template, session)))?;
        let mut prepared = Self {
            template,
            first,
            parts,
            arrangement: FileArrangement::default(),
            report: Aggregation::default(),
            existing: None,
        };
        prepared.arrange(options.sort);
        Ok(prepared)
    }

    /// Reads files to be added to an aggregation; its own files are not read. The result is what all of them together
    /// would have given: existing files come first, or lie where their coordinates put them with
    /// [`AggregateOptions::sort`]. It is written in place of the old one, which needs [`MasterOptions::overwrite`].
    ///
    /// # Errors
    /// As [`of`](Self::of); `Unsupported` if the fragments of the aggregation cannot be determined, or if it consists
    /// of many objects of a store that cannot replace them atomically.
    pub fn adding(
        target: &str,
        files: &[String],
        options: &AggregateOptions<'_>,
        session: &Session,
    ) -> Result<Self> {
        let master = Dataset::open_with(target, &OpenOptions::default(), session)?;
        check_replaceable(&master)?;
        let existing = ExistingFragments::of(&master)?;
        if existing.arrays.is_empty() {
            return Err(Error::invalid("it contains no aggregated variable").at_object(target));
        }
        let (files, known) = existing.without_known(target, files, session)?;
        let file = match files.first() {
            Some(url) => Dataset::open_with(url, &OpenOptions::default(), session)?.model()?,
            None if known.is_empty() => return Err(Error::invalid("there are no files to add")),
            None => master.model()?,
        };
        let (template, mut parts) = take_apart(&master, &existing, &file, options)?;
        parts.extend(each(&files, AT_ONCE, options.steps, |_, url| {
            Ok(FilePart::read(url, &template, session))
        })?);
        let mut prepared = Self {
            template,
            first: master,
            parts,
            arrangement: FileArrangement::default(),
            report: Aggregation::default(),
            existing: Some(existing),
        };
        prepared.arrange(options.sort);
        prepared.report.files = files.len();
        prepared.report.notes.extend(known.iter().map(|url| format!("{url}: already in the aggregation")));
        Ok(prepared)
    }

    /// The result, and all problems.
    pub fn report(&self) -> &Aggregation {
        &self.report
    }

    fn arrange(&mut self, sort: bool) {
        for part in &self.parts {
            self.report
                .problems
                .extend(part.problems.iter().map(|problem| format!("{}: {problem}", part.url)));
        }
        self.report.left_out = self.left_out();
        self.report.files = self.parts.len();
        self.find_twice();
        if self.report.problems.is_empty() {
            self.arrangement = FileArrangement::of(&self.parts, &self.template, sort);
            self.report.problems.append(&mut self.arrangement.problems);
            self.report.notes.append(&mut self.arrangement.notes);
        }
        self.note_clashes();
        let lens = self.arrangement.sizes.iter().map(|sizes| (sizes.len(), sizes.iter().sum()));
        let names = self.template.axes.iter().map(|axis| axis.name.clone());
        self.report.axes = names.zip(lens).map(|(name, (blocks, len))| (name, blocks, len)).collect();
        for member in &self.template.members {
            match member.role {
                VariableRole::Aggregated | VariableRole::Kept(_) => {
                    self.report.aggregated.push(member.path.clone());
                }
                VariableRole::Collected | VariableRole::Common(_) | VariableRole::Bare => {
                    self.report.stored.push(member.path.clone());
                }
            }
        }
    }

    /// What the first file cannot provide, and what only others have.
    fn left_out(&self) -> Vec<LeftOut> {
        let mut left_out = self.template.left_out.clone();
        let known: BTreeSet<String> = left_out.iter().map(|one| one.path.clone()).collect();
        let mut strange: BTreeMap<&str, (&str, usize)> = BTreeMap::new();
        for part in &self.parts {
            for path in part.strange.iter().filter(|path| !known.contains(*path)) {
                strange.entry(path).or_insert((&part.url, 0)).1 += 1;
            }
        }
        left_out.extend(strange.into_iter().map(|(path, (url, count))| {
            let more = match count - 1 {
                0 => String::new(),
                1 => " and one file more".to_owned(),
                more => format!(" and {more} files more"),
            };
            LeftOut {
                path: path.to_owned(),
                reason: format!("present in {url}{more} but not in the first file"),
            }
        }));
        left_out
    }

    /// Missing values that have to change.
    fn note_clashes(&mut self) {
        for (number, member) in self.template.members.iter().enumerate() {
            let clash = self.parts.iter().find_map(|part| Some((part, part.clashes.get(&number)?)));
            if let Some((part, value)) = clash {
                let (url, path) = (&part.url, &member.path);
                self.report.notes.push(format!(
                    "{url}: {path} has data equal to {value}, which is missing in other files: the aggregation has \
                     another _FillValue"
                ));
            }
        }
    }

    /// A file that is given twice would have two places.
    fn find_twice(&mut self) {
        let mut seen = BTreeSet::new();
        for part in self.parts.iter().filter(|part| part.fragments.is_none()) {
            let place = Url::parse(&part.url).and_then(|url| identities(&url)).unwrap_or_default();
            if place.iter().any(|text| seen.contains(text)) {
                self.report.problems.push(format!("{}: given twice", part.url));
            }
            seen.extend(place);
        }
    }

    /// Writes the master.
    ///
    /// # Errors
    /// `Invalid` with the first of the problems; errors if the convention or the master's kind cannot express it, or
    /// if writing fails: nothing has changed then.
    pub fn write(self, target: &str, options: &MasterOptions, session: &Session) -> Result<Aggregation> {
        if let Some(problem) = self.report.problems.first() {
            let more = match self.report.problems.len() {
                1 => String::new(),
                2 => ", and one more problem".to_owned(),
                count => format!(", and {} more problems", count - 1),
            };
            return Err(Error::invalid(format!("the files do not match: {problem}{more}")));
        }
        options.check(target)?;
        if self.existing.is_some() && self.report.files == 0 {
            return Ok(self.report);
        }
        let master = self.master(target, options)?;
        if self.existing.is_none() {
            options.check_target(target, self.parts.iter().map(|part| part.url.as_str()), session)?;
        }
        master.write(target, options, session)?;
        Ok(self.report)
    }

    fn master(&self, target: &str, options: &MasterOptions) -> Result<MasterPlan> {
        let mut model = Model::clone(&self.template.model);
        let axes = self.lengthen(&mut model)?;
        self.merge_attributes(&mut model);
        let names = self.names(target, options)?;
        let mut master = MasterPlan { model, ..MasterPlan::empty() };
        if let Some(existing) = self.existing.as_ref().filter(|_| options.convention == Convention::Cfa06) {
            master.substitutions.clone_from(&existing.substitutions);
        }
        let mut collected = 0;
        for (number, member) in self.template.members.iter().enumerate() {
            if self.template.is_new && member.along.contains(&true) {
                self.add_axis(&mut master.model, member.var, &axes);
            }
            match &member.role {
                VariableRole::Aggregated => {
                    let repacked = self.parts.iter().any(|part| part.repacked.contains(&number));
                    // Packing that differs between files cannot be in the master: the variable has the unpacked values then, and
                    // only packed values need a fill value that no file uses as data.
                    let is_unpacked = (repacked || options.convention.is_unpacked())
                        && unpack(&mut master.model, member.var);
                    if !is_unpacked {
                        let free = self.free_fill(&mut master.model, number, member);
                        free.map_err(|error| error.at_path(&*member.path))?;
                    }
                    let cells = self.cells(number, member, &names);
                    master
                        .aggregated
                        .push((member.var, cells.map_err(|error| error.at_path(&*member.path))?));
                }
                VariableRole::Kept(_) => {
                    if options.convention.is_unpacked() {
                        unpack(&mut master.model, member.var);
                    }
                    let old = self.existing.as_ref().and_then(|existing| existing.arrays.get(&member.var));
                    let array = old.map(|array| names.of_array(array));
                    master.aggregated.extend(array.map(|array| (member.var, array)));
                }
                // Its values are read from all files and stored in the master, in the order of the members.
                VariableRole::Collected => {
                    self.collect(&mut master, member, collected)?;
                    collected += 1;
                }
                VariableRole::Common(Some(values)) => {
                    let all = Selection::all(&master.model.shape(member.var));
                    master.stored.push(StoredValues::Values(member.var, all, values.clone()));
                }
                VariableRole::Common(None) => {
                    master.stored.push(StoredValues::Copied(member.var, self.first.clone(), member.var));
                }
                VariableRole::Bare => {}
            }
        }
        Ok(master)
    }

    /// Gives a variable another missing value if data of some file equal the current one.
    fn free_fill(&self, model: &mut Model, number: usize, member: &FirstVariable) -> Result<()> {
        let Some(clash) = self.parts.iter().find(|part| part.clashes.contains_key(&number)) else {
            return Ok(());
        };
        if self.existing.is_some() {
            let message =
                format!("the aggregation's missing value is data in {}: create a new aggregation", clash.url);
            return Err(Error::invalid(message));
        }
        let Some(variable) = model.variable_mut(member.var) else { return Ok(()) };
        let mut range = None::<NumberRange>;
        if !matches!(variable.ty, TypeRef::Atomic(Atomic::Float | Atomic::Double)) {
            for part in &self.parts {
                if let Some((min, max)) = part.range(member, &self.template, self.first.session())? {
                    let (first, last) = range.unwrap_or((min, max));
                    range = Some((first.min(min), last.greatest(max)));
                }
            }
        }
        give_free_fill(variable, range)
    }

    /// Sets the lengths of the axes; a new one is added. Returns their dimensions.
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
            variable.storage = ncirrus::Storage::Default;
            variable.shards = None;
        }
    }

    /// Values that the master collects from all files, at their places.
    fn collect(&self, master: &mut MasterPlan, member: &FirstVariable, number: usize) -> Result<()> {
        let doubles =
            |part: &FilePart| part.collected.get(number).and_then(Values::atomic) == Some(Atomic::Double);
        if self.parts.iter().any(doubles)
            && let Some(variable) = master.model.variable_mut(member.var)
            && matches!(variable.ty, TypeRef::Atomic(atomic) if atomic != Atomic::Double)
        {
            make_doubles(variable);
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
                    return Err(Error::invalid(format!("{path} has different values in {}", part.url)));
                }
                Some(_) => {}
                None => {
                    let selection = Selection::slab(&start, &count);
                    master.stored.push(StoredValues::Values(member.var, selection, values.clone()));
                    // Along all axes together, no two files have the same place.
                    if member.along.contains(&false) {
                        taken.push((start, values));
                    }
                }
            }
        }
        Ok(())
    }

    /// The places of the grid of files, and their contents.
    pub(super) fn places(&self) -> impl Iterator<Item = (Vec<usize>, Option<&FilePart>)> {
        let lens: Vec<usize> = self.arrangement.sizes.iter().map(Vec::len).collect();
        self.arrangement.places.iter().enumerate().map(move |(number, part)| {
            let place = row_major_index(number, &lens);
            (place, part.and_then(|part| self.parts.get(part)))
        })
    }

    /// First element and length of a block along an axis.
    fn extent(&self, axis: usize, place: &[usize]) -> (u64, u64) {
        let at = place.get(axis).copied().unwrap_or(0);
        let of = |all: &[Vec<u64>]| all.get(axis).and_then(|along| along.get(at)).copied().unwrap_or(0);
        (of(&self.arrangement.starts), of(&self.arrangement.sizes))
    }
}

/// Outside of local folders many objects cannot be replaced atomically: a killed run would leave none.
fn check_replaceable(master: &Dataset) -> Result<()> {
    let url = Url::parse(master.url())?;
    let is_zip = url.path().ends_with(".zip") || url.fragment().modes().contains("zip");
    if single_file_kind(master).is_some() || is_zip || url.scheme() == Scheme::File {
        return Ok(());
    }
    let message =
        "a master of many objects cannot be replaced atomically there: aggregate all files under a new name";
    Err(Error::unsupported(message).at_object(master.url()))
}

/// Turns a variable into one of doubles, with its missing values.
fn make_doubles(variable: &mut Variable) {
    variable.ty = Atomic::Double.into();
    variable.fill = Fill::Attribute;
    for name in ["_FillValue", "missing_value"] {
        let attributes = variable.attributes.known_mut();
        let Some(values) = attributes.find(name).map(|attribute| &attribute.values) else { continue };
        let numbers = Values::Double((0..values.len()).filter_map(|at| values.number(at)).collect());
        attributes.put(Attribute::atomic(name, numbers));
    }
}
