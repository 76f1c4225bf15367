//! Aggregations that are written like ordinary datasets: fragments are created when they are first written.
mod axis_parts;
mod fragment;
mod growing;
mod options;
mod related;
mod taken_over;
mod view;

use super::master::unpack;
use super::split::FragmentNames;
use crate::whole::completed;
use axis_parts::{AxisPart, gather};
use fragment::{FragmentDefinition, FragmentHome, WrittenPart};
use growing::{GrowingVariable, WrittenFragment};
use ncirrus::internals::DatasetInternals;
use ncirrus::{
    AxisSelection, CreateOptions, Dataset, Error, ErrorKind, Kind, Member, Result, Selection, Session, Values,
};
use ncirrus_aggregate::write::{FragmentArray, FragmentCell, FragmentDescriber, MasterForm};
use ncirrus_layout::LockExt;
use ncirrus_layout::grid::AxisBlocks;
use ncirrus_layout::grid::{block_starts, row_major_index};
use ncirrus_model::{AttributeState, DimId, DimensionLen, Model, VarId};
pub use options::{FragmentStorage, NewVariable, WriterOptions};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard};

/// An aggregation being written. Dimensions, coordinates and whatever else the master stores are defined and written
/// through [`dataset`](Self::dataset); aggregated variables are added and written here. Fragments are created when
/// they are first written, the master when it is closed.
///
/// In the master an aggregated variable is a scalar, from when it is added: its attributes and its name are changed
/// there, and fragments that are created later have them.
///
/// What was never written is missing: in CFA 0.4 to 0.6 nothing is stored for it; in CF-1.13, which cannot express
/// this, and with `compat`, a small file of fill values is.
pub struct AggregationWriter {
    master: Dataset,
    target: String,
    options: WriterOptions,
    kind: Kind,
    names: FragmentNames,
    variables: Mutex<BTreeMap<VarId, GrowingVariable>>,
    /// The same variables, without those whose values are in the master.
    divided: Mutex<BTreeSet<VarId>>,
}

impl AggregationWriter {
    /// Starts a new aggregation.
    ///
    /// # Errors
    /// `Conflict` if something exists; `Unsupported` if the master cannot express the convention.
    pub fn create(target: &str, options: &WriterOptions, session: &Session) -> Result<Self> {
        options.master.check(target)?;
        let kind = options.master.kind_for(target);
        let create = CreateOptions::new().kind(kind).overwrite(options.master.replaces());
        let master = Dataset::create_with(target, &create, session)?;
        Ok(Self::new(master, target, options, kind))
    }

    fn new(master: Dataset, target: &str, options: &WriterOptions, kind: Kind) -> Self {
        Self {
            master,
            target: target.to_owned(),
            options: options.clone(),
            kind,
            names: FragmentNames::beside(target, options.fragments.as_deref()),
            variables: Mutex::default(),
            divided: Mutex::default(),
        }
    }

    /// The master, for everything that it stores itself.
    pub fn dataset(&self) -> &Dataset {
        &self.master
    }

    /// Adds a variable that lies in fragments.
    ///
    /// # Errors
    /// `NotFound` for a dimension; `Conflict` if the name is taken; `Invalid` if the blocks do not fit.
    pub fn add_variable(&self, new: NewVariable) -> Result<()> {
        let path = absolute(&new.path);
        if self.master.snapshot().variable_at(&path).is_some() {
            return Err(Error::new(ErrorKind::Conflict, "the name is in use").at_path(path));
        }
        let blocks = new.blocks.iter().map(|block| AxisBlocks::new(Vec::new(), *block)).collect();
        let storage = FragmentStorage { blocks, filters: new.filters, chunks: None };
        if new.dimensions.len() != new.blocks.len() || new.blocks.contains(&0) {
            let message = format!("blocks {:?} for {} dimensions", new.blocks, new.dimensions.len());
            return Err(Error::invalid(message).at_path(path));
        }
        let dims = self.dims(&new.dimensions).map_err(|error| error.at_path(&*path))?;
        let var = self.master.edit(|model| {
            let var = fragment::add_variable(model, &path, new.ty, &[])?;
            let fill = new.attributes.find("_FillValue").map(|fill| fill.values.clone());
            if let Some(variable) = model.variable_mut(var) {
                variable.attributes = AttributeState::Known(new.attributes.clone());
            }
            fill.map_or(Ok(()), |fill| model.set_fill(var, fill))?;
            Ok(var)
        })?;
        self.add(var, GrowingVariable::new(dims, storage));
        Ok(())
    }

    /// Puts a variable that the master has as a scalar, and that has no value yet, into fragments.
    ///
    /// # Errors
    /// `NotFound` for a dimension or a variable; `Invalid` if it is not a scalar, or the blocks do not fit; `Unsupported`
    /// if its type is one of the dataset.
    pub fn divide_variable(&self, path: &str, dimensions: &[String], storage: FragmentStorage) -> Result<()> {
        let path = absolute(path);
        let model = self.master.snapshot();
        let var = model.variable_at(&path).ok_or_else(|| {
            Error::no_member(Member::Variable, format_args!("{path:?}")).at_object(&*self.target)
        })?;
        let dims = self.dims(dimensions).map_err(|error| error.at_path(&*path))?;
        let is_scalar = model.variable(var).is_some_and(|variable| variable.dims.is_empty());
        if dims.len() != storage.blocks.len() || !is_scalar {
            let message = format!("blocks for {} of {} dimensions", storage.blocks.len(), dims.len());
            return Err(Error::invalid(message).at_path(path));
        }
        if model.variable(var).is_some_and(|variable| matches!(variable.ty, ncirrus::TypeRef::User(_))) {
            let message = "fragments contain numbers, characters and strings, not user-defined types";
            return Err(Error::unsupported(message).at_path(path));
        }
        self.add(var, GrowingVariable::new(dims, storage));
        Ok(())
    }

    fn add(&self, var: VarId, growing: GrowingVariable) {
        self.divided.guard().insert(var);
        self.lock().insert(var, growing);
    }

    fn dims(&self, paths: &[String]) -> Result<Vec<DimId>> {
        let model = self.master.snapshot();
        let find = |path: &String| {
            let found = model.dimension_at(path);
            found.ok_or_else(|| Error::no_member(Member::Dimension, format_args!("{path:?}")))
        };
        paths.iter().map(find).collect()
    }

    /// Present lengths of an aggregated variable along its dimensions; those that grow are as long as was written.
    ///
    /// # Errors
    /// `NotFound`.
    pub fn shape(&self, path: &str) -> Result<Vec<u64>> {
        let path = absolute(path);
        let var = self.var(&path)?;
        let variables = self.lock();
        let growing = variables.get(&var).ok_or_else(|| no_variable(&path))?;
        let (lens, model) = (self.lens(&variables), self.master.snapshot());
        Ok(growing.dims.iter().map(|dim| len_of(&model, &lens, *dim)).collect())
    }

    /// The dimensions of an aggregated variable, and how it is stored; `None` for other variables.
    pub fn division(&self, path: &str) -> Option<(Vec<DimId>, FragmentStorage)> {
        let var = self.master.snapshot().variable_at(&absolute(path))?;
        self.lock().get(&var).map(|growing| (growing.dims.clone(), growing.storage.clone()))
    }

    /// Writes a box of a variable; along unlimited dimensions it may lie past the end. Missing fragments are created,
    /// others changed.
    ///
    /// # Errors
    /// As [`write_selection`](Self::write_selection).
    pub fn write(&self, path: &str, start: &[u64], count: &[u64], values: &Values) -> Result<()> {
        if start.len() != count.len() {
            return Err(Error::invalid(format!("{} starts and {} counts", start.len(), count.len())));
        }
        self.write_selection(path, &Selection::slab(start, count), values)
    }

    /// Writes any selection of a variable, in row-major order; along unlimited dimensions it may lie past the end.
    /// Missing fragments are created, others changed.
    ///
    /// # Errors
    /// `NotFound`; `Invalid` if the selection or the values do not fit; errors of writing.
    pub fn write_selection(&self, path: &str, selection: &Selection, values: &Values) -> Result<()> {
        let path = absolute(path);
        let var = self.var(&path)?;
        let mut variables = self.lock();
        let growing = variables.get_mut(&var).ok_or_else(|| no_variable(&path))?;
        self.write_to(var, growing, selection, values).map_err(|error| error.at_path(path))
    }

    fn write_to(
        &self,
        var: VarId,
        growing: &mut GrowingVariable,
        selection: &Selection,
        values: &Values,
    ) -> Result<()> {
        let model = self.master.snapshot();
        let lens: Vec<DimensionLen> =
            growing.dims.iter().filter_map(|dim| model.dimension(*dim)).map(|dim| dim.len).collect();
        let shape: Vec<u64> = lens.iter().map(|len| len.current()).collect();
        let grows: Vec<bool> = lens.iter().map(|len| len.is_unlimited()).collect();
        selection.check_growing(&shape, &grows)?;
        if selection.element_count() != Some(values.len() as u64) || selection.rank() != shape.len() {
            let message = format!("{} values for a selection of {:?}", values.len(), selection.shape());
            return Err(Error::invalid(message));
        }
        let along = |(at, axis): (usize, &AxisSelection)| {
            let limit = grows.get(at).is_some_and(|grows| !grows).then(|| shape.get(at).copied()).flatten();
            let blocks = growing.storage.blocks.get(at);
            blocks.map_or_else(|| Ok(Vec::new()), |blocks| AxisPart::all(blocks, axis, limit))
        };
        let parts: Vec<Vec<AxisPart>> =
            selection.axes().iter().enumerate().map(along).collect::<Result<_>>()?;
        let counts: Vec<usize> = parts.iter().map(Vec::len).collect();
        let definition = FragmentDefinition::of(&model, var, &growing.storage)?;
        for number in 0..counts.iter().product() {
            let touched: Vec<&AxisPart> = parts
                .iter()
                .zip(row_major_index(number, &counts))
                .filter_map(|(parts, at)| parts.get(at))
                .collect();
            let part = WrittenPart {
                selection: Selection::new(touched.iter().map(|part| part.inside.clone()).collect()),
                values: gather(values, &selection.shape(), &touched)?,
            };
            self.put(growing, &definition, &touched, &grows, &part)?;
        }
        Ok(())
    }

    /// Writes a part of a fragment.
    fn put(
        &self,
        growing: &mut GrowingVariable,
        definition: &FragmentDefinition,
        touched: &[&AxisPart],
        grows: &[bool],
        part: &WrittenPart,
    ) -> Result<()> {
        let at: Vec<usize> = touched.iter().map(|part| part.block.at).collect();
        let ends = || touched.iter().map(|part| part.end());
        if let Some(fragment) = growing.cells.get_mut(&at) {
            fragment::update(fragment, definition, part, self.master.session())?;
            fragment.shape.iter_mut().zip(ends()).for_each(|(len, end)| *len = (*len).max(end));
            return Ok(());
        }
        let mut url = self.names.of_fragment(&definition.path, &at);
        // The fragments of an aggregation that was opened may be numbered in another way.
        while growing.cells.values().any(|other| other.name.is_some() && other.url == url) {
            url = format!(
                "{}.nc",
                url.strip_suffix(".nc").map_or_else(|| url.clone(), |url| format!("{url}-more"))
            );
        }
        let starts: Vec<u64> = touched.iter().map(|part| part.block.start).collect();
        let lens: Vec<u64> = touched.iter().map(|part| part.block.len).collect();
        let grows = fragment::may_grow(grows, self.fragment_kind());
        fragment::create(&url, definition, &self.home(growing), (&starts, &lens, &grows), Some(part))?;
        let lens = lens.iter().zip(ends()).zip(&grows);
        let shape = lens.map(|((len, end), grows)| if *grows { end } else { *len }).collect();
        let variable = definition.path.as_str().into();
        growing.cells.insert(at, WrittenFragment { url, variable, name: None, shape });
        Ok(())
    }

    fn home<'a>(&'a self, growing: &'a GrowingVariable) -> FragmentHome<'a> {
        FragmentHome {
            master: &self.master,
            kind: self.fragment_kind(),
            convention: self.options.master.convention,
            dims: &growing.dims,
            divided: self.divided.guard().clone(),
            replaces: self.options.replace_fragments,
        }
    }

    /// Takes over a fragment that another program wrote, at the place and in the form that
    /// [`fragment_at`](Self::fragment_at) gives.
    ///
    /// # Errors
    /// `NotFound`; `Invalid` for a place that is outside.
    pub fn adopt_fragment(&self, path: &str, at: &[usize]) -> Result<()> {
        let (url, region) = self.fragment_at(path, at)?;
        let path = absolute(path);
        let var = self.var(&path)?;
        let mut variables = self.lock();
        let growing = variables.get_mut(&var).ok_or_else(|| no_variable(&path))?;
        let variable = path.as_str().into();
        let shape = region.count;
        growing.cells.entry(at.to_vec()).or_insert(WrittenFragment { url, variable, name: None, shape });
        Ok(())
    }

    /// Makes a variable of any dataset the fragment at a place, whatever was there before. The dataset is not opened.
    ///
    /// # Errors
    /// `NotFound`; `Invalid` for a place that is outside.
    pub fn place_fragment(&self, path: &str, at: &[usize], url: &str, variable: &str) -> Result<()> {
        let shape = self.fragment_at(path, at)?.1.count;
        let path = absolute(path);
        let var = self.var(&path)?;
        let mut variables = self.lock();
        let growing = variables.get_mut(&var).ok_or_else(|| no_variable(&path))?;
        let (url, variable) = (url.to_owned(), absolute(variable).as_str().into());
        growing.cells.insert(at.to_vec(), WrittenFragment { url, variable, name: None, shape });
        Ok(())
    }

    /// The address of the fragment at a place, and the box of the variable that it holds.
    ///
    /// # Errors
    /// `NotFound`; `Invalid` for a place that is outside.
    pub fn fragment_at(&self, path: &str, at: &[usize]) -> Result<(String, ncirrus::Region)> {
        let shape = self.shape(path)?;
        let path = absolute(path);
        let var = self.var(&path)?;
        let variables = self.lock();
        let growing = variables.get(&var).ok_or_else(|| no_variable(&path))?;
        let outside =
            || Error::invalid(format!("no fragment {at:?} of an array of shape {shape:?}")).at_path(&*path);
        let region = growing.region(at, &shape).ok_or_else(outside)?;
        let url = match growing.cells.get(at) {
            Some(fragment) => fragment.url.clone(),
            None => self.names.of_fragment(&path, at),
        };
        Ok((url, region))
    }

    /// Lengths of the fragments of a variable along each of its dimensions.
    ///
    /// # Errors
    /// `NotFound`.
    pub fn fragment_sizes(&self, path: &str) -> Result<Vec<Vec<u64>>> {
        let shape = self.shape(path)?;
        let path = absolute(path);
        let var = self.var(&path)?;
        let variables = self.lock();
        let growing = variables.get(&var).ok_or_else(|| no_variable(&path))?;
        Ok(growing.sizes(&shape))
    }

    /// Writes the master, which appears or is replaced atomically.
    ///
    /// # Errors
    /// If the convention cannot express what was written; errors of writing: the master stays as it was.
    pub fn close(self) -> Result<()> {
        completed(self.master.clone(), |_| self.write_master())
    }

    fn write_master(&self) -> Result<()> {
        let mut variables = std::mem::take(&mut *self.lock());
        let lens = self.lens(&variables);
        let fills = !self.options.master.convention.has_gaps() || self.options.master.compat;
        let described = self.describe(&mut variables, &lens, fills)?;
        let form = self.options.master.form(self.kind)?;
        let is_unpacked = self.options.master.convention.is_unpacked();
        let values = self.master.edit(|model| {
            if self.kind.is_classic() {
                crate::copy::make_attributes_classic(model);
            }
            described_in(model, &lens, described, form, is_unpacked)
        })?;
        for (var, values) in values {
            let all = Selection::all(&self.master.snapshot().shape(var));
            self.master.write_values(var, &all, &values)?;
        }
        Ok(())
    }

    /// Ends without a master: a dataset of that name stays. Fragments that were written stay, too.
    ///
    /// # Errors
    /// If what was staged cannot be removed.
    pub fn abort(self) -> Result<()> {
        self.master.abort()
    }

    /// The fragments of all variables, with `fills` in place of those that were never written.
    fn describe(
        &self,
        variables: &mut BTreeMap<VarId, GrowingVariable>,
        lens: &BTreeMap<DimId, u64>,
        fills: bool,
    ) -> Result<Vec<DescribedVariable>> {
        let model = self.master.snapshot();
        let mut described = Vec::new();
        for (var, growing) in variables {
            // It may have been removed from the master.
            if model.variable(*var).is_none() {
                continue;
            }
            let definition = FragmentDefinition::of(&model, *var, &growing.storage)?;
            let array = self
                .array(&definition, growing, lens, fills)
                .map_err(|error| error.at_path(&*definition.path))?;
            described.push((*var, growing.dims.clone(), array));
        }
        Ok(described)
    }

    /// The lengths of unlimited dimensions, from what was written.
    fn lens(&self, variables: &BTreeMap<VarId, GrowingVariable>) -> BTreeMap<DimId, u64> {
        let model = self.master.snapshot();
        let mut lens: BTreeMap<DimId, u64> = BTreeMap::new();
        for growing in variables.values() {
            for (at, dim) in growing.dims.iter().enumerate() {
                let Some(len) = model.dimension(*dim).map(|dim| dim.len).filter(|len| len.is_unlimited())
                else {
                    continue;
                };
                let end = growing.end(at).max(len.current());
                let longest = lens.entry(*dim).or_default();
                *longest = end.max(*longest);
            }
        }
        lens
    }

    /// The fragments of a variable; the last ones along a growing dimension are extended to its length.
    fn array(
        &self,
        definition: &FragmentDefinition,
        growing: &mut GrowingVariable,
        lens: &BTreeMap<DimId, u64>,
        fills: bool,
    ) -> Result<FragmentArray> {
        let model = self.master.snapshot();
        let shape: Vec<u64> = growing.dims.iter().map(|dim| len_of(&model, lens, *dim)).collect();
        let sizes = growing.sizes(&shape);
        let counts: Vec<usize> = sizes.iter().map(Vec::len).collect();
        let grid: Vec<Vec<u64>> = sizes.iter().map(|sizes| block_starts(sizes)).collect();
        let mut cells = Vec::new();
        for number in 0..counts.iter().product() {
            let at = row_major_index(number, &counts);
            let pick = |all: &[Vec<u64>]| -> Vec<u64> {
                all.iter().zip(&at).filter_map(|(along, at)| along.get(*at).copied()).collect()
            };
            let (shape, starts) = (pick(&sizes), pick(&grid));
            let cell = match growing.cells.get_mut(&at) {
                Some(fragment) => {
                    fragment::lengthen(fragment, definition, &shape, self.master.session())?;
                    Some(self.cell(fragment)?)
                }
                None if fills => Some(self.fill_cell(definition, growing, &starts, &shape)?),
                None => None,
            };
            cells.push(cell);
        }
        Ok(FragmentArray { lacking: vec![false; sizes.len()], sizes, cells })
    }

    /// A fragment as the master names it.
    fn cell(&self, fragment: &WrittenFragment) -> Result<FragmentCell> {
        if let Some(cell) = &fragment.name {
            return Ok(cell.clone());
        }
        let file = self.options.master.effective_naming().name(&self.target, &fragment.url)?.into();
        let variable = Arc::clone(&fragment.variable);
        Ok(FragmentCell { file, variable, format: fragment::format(self.fragment_kind()) })
    }

    /// The substitute for a fragment that was never written: a file of fill values.
    fn fill_cell(
        &self,
        definition: &FragmentDefinition,
        growing: &GrowingVariable,
        starts: &[u64],
        shape: &[u64],
    ) -> Result<FragmentCell> {
        let url = self.names.of_fill(&definition.path, shape);
        let grows = vec![false; shape.len()];
        let home = FragmentHome { replaces: false, ..self.home(growing) };
        match fragment::create(&url, definition, &home, (starts, shape, &grows), None) {
            Err(error) if error.kind() == ErrorKind::Conflict => {}
            made => made?,
        }
        let (variable, shape) = (definition.path.as_str().into(), shape.to_vec());
        self.cell(&WrittenFragment { url, variable, name: None, shape })
    }

    fn fragment_kind(&self) -> Kind {
        self.options.fragment_kind.unwrap_or(if self.kind.is_classic() { self.kind } else { Kind::Nc4 })
    }

    fn var(&self, path: &str) -> Result<VarId> {
        self.master.snapshot().variable_at(path).ok_or_else(|| no_variable(path))
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<VarId, GrowingVariable>> {
        self.variables.guard()
    }
}

/// A variable with its dimensions and fragments.
type DescribedVariable = (VarId, Vec<DimId>, FragmentArray);

/// Describes fragments in the master's definitions. Returns the values that the description has.
fn described_in(
    model: &mut Model,
    lens: &BTreeMap<DimId, u64>,
    described: Vec<DescribedVariable>,
    form: MasterForm,
    is_unpacked: bool,
) -> Result<Vec<(VarId, Arc<Values>)>> {
    for (dim, len) in lens {
        model.grow(*dim, *len)?;
    }
    for (var, ..) in described.iter().filter(|_| is_unpacked) {
        unpack(model, *var);
    }
    let mut describer = FragmentDescriber::new(model, form)?;
    for (var, dims, array) in described {
        describer.describe(var, &dims, &array)?;
    }
    Ok(describer.finish())
}

fn len_of(model: &Model, lens: &BTreeMap<DimId, u64>, dim: DimId) -> u64 {
    let now = || model.dimension(dim).map(|dim| dim.len.current()).unwrap_or(0);
    lens.get(&dim).copied().unwrap_or_else(now)
}

fn absolute(path: &str) -> String {
    format!("/{}", path.trim_start_matches('/'))
}

fn no_variable(path: &str) -> Error {
    Error::not_found(format!("no aggregated variable {path:?}"))
}
