//! Aggregations that are written like ordinary datasets: fragments are created when they are first written.
mod fragment;
mod setters;

use super::existing::ExistingFragments;
use super::master::{MasterOptions, copy_values, unpack};
use super::names::resolve;
use super::relocate::single_file_kind;
use super::shape::known;
use super::split::{FragmentNames, place};
use fragment::{FragmentBox, FragmentDefinition};
use ncirrus::internals::DatasetInternals;
use ncirrus::{
    Attributes, CodecSpec, CreateOptions, Dataset, Error, Kind, Member, OpenOptions, Result, Selection,
    Session, TypeRef, Values,
};
use ncirrus_aggregate::write::{FragmentArray, FragmentCell, FragmentDescriber};
use ncirrus_layout::LockExt;
use ncirrus_layout::grid::{AxisBlock, AxisBlocks};
use ncirrus_model::{AttributeState, DimId, DimensionLen, Model, NodeId, VarId};
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard};

/// How an aggregation is written.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct WriterOptions {
    /// How the master is written.
    pub master: MasterOptions,
    /// Folder or prefix of the fragments; `None`: beside the master, named after it.
    pub fragments: Option<String>,
    /// Kind of the fragments; `None`: netCDF-4, or netCDF-3 for a netCDF-3 master.
    pub fragment_kind: Option<Kind>,
}

/// A variable to be stored in fragments.
#[derive(Debug, Clone)]
pub struct NewVariable {
    /// Its path.
    pub path: String,
    /// Its type.
    pub ty: TypeRef,
    /// Paths of its dimensions, which the master has.
    pub dimensions: Vec<String>,
    /// Lengths of the fragments along them.
    pub blocks: Vec<u64>,
    /// Its attributes; `_FillValue` is the value of elements that were never written.
    pub attributes: Attributes,
    /// Filters of the fragments.
    pub filters: Vec<CodecSpec>,
}

/// An aggregation being written. Dimensions, coordinates and whatever else the master stores are defined and written
/// through [`dataset`](Self::dataset); aggregated variables are added and written here. Fragments are created when
/// they are first written, the master when it is closed.
///
/// What was never written is missing: in CFA 0.4 to 0.6 nothing is stored for it; in CF-1.13, which cannot express
/// this, and with `compat`, a small file of fill values is.
pub struct AggregationWriter {
    master: Dataset,
    target: String,
    options: WriterOptions,
    kind: Kind,
    names: FragmentNames,
    variables: Mutex<BTreeMap<String, GrowingVariable>>,
}

/// A variable that is written.
struct GrowingVariable {
    definition: FragmentDefinition,
    dims: Vec<DimId>,
    cuts: Vec<AxisBlocks>,
    /// Existing fragments, by their places.
    cells: BTreeMap<Vec<usize>, WrittenFragment>,
}

/// An existing fragment.
struct WrittenFragment {
    url: String,
    /// Its name in the existing master.
    name: Option<FragmentCell>,
    shape: Vec<u64>,
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

    /// Opens an aggregation for writing: its fragments are changed in place (on object stores as the session's
    /// options allow), missing ones are created, the master is replaced when it is closed. The convention may change.
    ///
    /// # Errors
    /// `NotFound`; `Unsupported` if its fragments cannot be determined.
    pub fn open(target: &str, options: &WriterOptions, session: &Session) -> Result<Self> {
        let source = Dataset::open_with(target, &OpenOptions::default(), session)?;
        let model = source.model()?;
        let mut existing = ExistingFragments::of(&source)?;
        existing.make_names_whole();
        let arrays = existing.arrays;
        let kind = single_file_kind(&source).unwrap_or(Kind::NcZarr);
        let create = CreateOptions::new().kind(kind).overwrite(true);
        let writer = Self::new(Dataset::create_with(target, &create, session)?, target, options, kind);
        writer.master.edit(|new| {
            *new = Model::clone(&model);
            arrays.keys().try_for_each(|var| Ok(new.remove_variable(*var).map(|_| ())?))
        })?;
        for var in model.variables().into_iter().filter(|var| !arrays.contains_key(var)) {
            copy_values(&writer.master, var, &source, var)?;
        }
        for (var, array) in &arrays {
            writer.take_over(&model, *var, array)?;
        }
        Ok(writer)
    }

    fn new(master: Dataset, target: &str, options: &WriterOptions, kind: Kind) -> Self {
        Self {
            master,
            target: target.to_owned(),
            options: options.clone(),
            kind,
            names: FragmentNames::beside(target, options.fragments.as_deref()),
            variables: Mutex::default(),
        }
    }

    /// A variable of the aggregation that was opened.
    fn take_over(&self, model: &Model, var: VarId, array: &FragmentArray) -> Result<()> {
        let Some(variable) = model.variable(var) else { return Ok(()) };
        let path = model.variable_path(var);
        let lens: Vec<usize> = array.sizes.iter().map(Vec::len).collect();
        let mut cells = BTreeMap::new();
        for (number, cell) in array.cells.iter().enumerate() {
            let Some(cell) = cell else { continue };
            let at = place(number, &lens);
            let shape =
                array.sizes.iter().zip(&at).filter_map(|(sizes, at)| sizes.get(*at).copied()).collect();
            let url = resolve(&self.target, &cell.file)?.to_string();
            cells.insert(at, WrittenFragment { url, name: Some(cell.clone()), shape });
        }
        let definition = FragmentDefinition {
            path: path.clone(),
            ty: variable.ty,
            attributes: known(model, NodeId::Variable(var)),
            filters: Vec::new(),
        };
        let block = |sizes: &Vec<u64>| AxisBlocks::new(sizes.clone(), sizes.first().copied().unwrap_or(1));
        let cuts = array.sizes.iter().map(block).collect();
        self.lock().insert(path, GrowingVariable { definition, dims: variable.dims.clone(), cuts, cells });
        Ok(())
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
        let path = format!("/{}", new.path.trim_start_matches('/'));
        let model = self.master.snapshot();
        let find = |name: &String| {
            model
                .dimension_at(name)
                .ok_or_else(|| Error::no_member(Member::Dimension, format_args!("{name:?}")).at_path(&*path))
        };
        let dims = new.dimensions.iter().map(find).collect::<Result<Vec<DimId>>>()?;
        if dims.len() != new.blocks.len() || new.blocks.contains(&0) {
            let message = format!("blocks {:?} for {} dimensions", new.blocks, dims.len());
            return Err(Error::invalid(message).at_path(path));
        }
        if model.variable_at(&path).is_some() || self.lock().contains_key(&path) {
            return Err(Error::new(ncirrus::ErrorKind::Conflict, "the name is in use").at_path(path));
        }
        let cuts = new.blocks.iter().map(|block| AxisBlocks::new(Vec::new(), *block)).collect();
        let definition = FragmentDefinition {
            path: path.clone(),
            ty: new.ty,
            attributes: new.attributes,
            filters: new.filters,
        };
        self.lock().insert(path, GrowingVariable { definition, dims, cuts, cells: BTreeMap::new() });
        Ok(())
    }

    /// Writes a box of a variable; along unlimited dimensions it may lie past the end. Missing fragments are created,
    /// others changed.
    ///
    /// # Errors
    /// `Invalid` if the box or the values do not fit; errors of writing.
    pub fn write(&self, path: &str, start: &[u64], count: &[u64], values: &Values) -> Result<()> {
        let path = format!("/{}", path.trim_start_matches('/'));
        let mut variables = self.lock();
        let no = || Error::not_found(format!("no aggregated variable {path:?}"));
        let growing = variables.get_mut(&path).ok_or_else(no)?;
        self.write_to(growing, start, count, values).map_err(|error| error.at_path(path))
    }

    fn write_to(
        &self,
        growing: &mut GrowingVariable,
        start: &[u64],
        count: &[u64],
        values: &Values,
    ) -> Result<()> {
        let model = self.master.snapshot();
        let lens: Vec<DimensionLen> =
            growing.dims.iter().filter_map(|dim| model.dimension(*dim)).map(|dim| dim.len).collect();
        let shape: Vec<u64> = lens.iter().map(|len| len.current()).collect();
        let grows: Vec<bool> = lens.iter().map(|len| len.is_unlimited()).collect();
        Selection::slab(start, count).check_growing(&shape, &grows)?;
        let elements = count.iter().try_fold(1u64, |product, len| product.checked_mul(*len));
        if elements != Some(values.len() as u64) || start.len() != shape.len() {
            return Err(Error::invalid(format!("{} values for a box of {count:?}", values.len())));
        }
        let along = |(at, (start, count)): (usize, (&u64, &u64))| {
            let limit = grows.get(at).is_some_and(|grows| !grows).then(|| shape.get(at).copied()).flatten();
            growing
                .cuts
                .get(at)
                .map(|cuts| cuts.between(*start, start.saturating_add(*count), limit))
                .unwrap_or_default()
        };
        let cuts: Vec<Vec<AxisBlock>> = start.iter().zip(count).enumerate().map(along).collect();
        let lens: Vec<usize> = cuts.iter().map(Vec::len).collect();
        for number in 0..lens.iter().product() {
            let touched: Vec<&AxisBlock> =
                cuts.iter().zip(place(number, &lens)).filter_map(|(cuts, at)| cuts.get(at)).collect();
            let part = FragmentBox::of(&touched, start, count, values)?;
            self.put(growing, &touched, &grows, &part)?;
        }
        Ok(())
    }

    /// Writes a part of a fragment.
    fn put(
        &self,
        growing: &mut GrowingVariable,
        touched: &[&AxisBlock],
        grows: &[bool],
        part: &FragmentBox,
    ) -> Result<()> {
        let at: Vec<usize> = touched.iter().map(|cut| cut.at).collect();
        if let Some(fragment) = growing.cells.get_mut(&at) {
            fragment::update(&fragment.url, &growing.definition, part, self.master.session())?;
            fragment.shape.iter_mut().zip(part.end()).for_each(|(len, end)| *len = (*len).max(end));
            return Ok(());
        }
        let url = self.names.of_fragment(&growing.definition.path, &at);
        let home =
            fragment::FragmentHome { master: &self.master, kind: self.fragment_kind(), dims: &growing.dims };
        let starts: Vec<u64> = touched.iter().map(|cut| cut.start).collect();
        let lens: Vec<u64> = touched.iter().map(|cut| cut.len).collect();
        let grows = fragment::may_grow(grows, self.fragment_kind());
        fragment::create(&url, &growing.definition, &home, (&starts, &lens, &grows), Some(part))?;
        let shape = lens
            .iter()
            .zip(part.end())
            .zip(&grows)
            .map(|((len, end), grows)| if *grows { end } else { *len });
        growing.cells.insert(at, WrittenFragment { url, name: None, shape: shape.collect() });
        Ok(())
    }

    /// Writes the master, which appears or is replaced atomically.
    ///
    /// # Errors
    /// If the convention cannot express what was written; errors of writing: the master stays as it was.
    pub fn close(self) -> Result<()> {
        let mut variables = std::mem::take(&mut *self.lock());
        let lens = self.lens(&variables);
        let mut described = Vec::new();
        for (path, growing) in &mut variables {
            let array = self.array(growing, &lens).map_err(|error| error.at_path(&**path))?;
            described.push((growing.definition.clone(), growing.dims.clone(), array));
        }
        let form = self.options.master.form(self.kind)?;
        let is_unpacked = self.options.master.convention.is_unpacked();
        let values = self.master.edit(|model| {
            for (dim, len) in &lens {
                model.grow(*dim, *len)?;
            }
            let mut vars = Vec::new();
            for (definition, dims, array) in &described {
                let var = definition.add_to(model, &[])?;
                if is_unpacked {
                    unpack(model, var);
                }
                vars.push((var, dims, array));
            }
            if self.kind.is_classic() {
                crate::copy::make_attributes_classic(model);
            }
            let mut describer = FragmentDescriber::new(model, form)?;
            for (var, dims, array) in vars {
                describer.describe(var, dims, array)?;
            }
            Ok(describer.finish())
        })?;
        for (var, values) in values {
            let all = Selection::all(&self.master.snapshot().shape(var));
            self.master.write_values(var, &all, &values)?;
        }
        self.master.close()
    }

    /// The lengths of unlimited dimensions, from what was written.
    fn lens(&self, variables: &BTreeMap<String, GrowingVariable>) -> BTreeMap<DimId, u64> {
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
    fn array(&self, growing: &mut GrowingVariable, lens: &BTreeMap<DimId, u64>) -> Result<FragmentArray> {
        let model = self.master.snapshot();
        let len = |dim: &DimId| {
            lens.get(dim).copied().or_else(|| model.dimension(*dim).map(|dim| dim.len.current())).unwrap_or(0)
        };
        let sizes: Vec<Vec<u64>> =
            growing.cuts.iter().zip(&growing.dims).map(|(cuts, dim)| cuts.sizes(len(dim))).collect();
        let counts: Vec<usize> = sizes.iter().map(Vec::len).collect();
        let grid: Vec<Vec<u64>> = sizes.iter().map(|sizes| super::arrange::starts(sizes)).collect();
        let mut cells = Vec::new();
        for number in 0..counts.iter().product() {
            let at = place(number, &counts);
            let pick = |all: &[Vec<u64>]| -> Vec<u64> {
                all.iter().zip(&at).filter_map(|(along, at)| along.get(*at).copied()).collect()
            };
            let (shape, starts) = (pick(&sizes), pick(&grid));
            let session = self.master.session();
            let cell = match growing.cells.get_mut(&at) {
                Some(fragment) => {
                    if fragment.shape.iter().zip(&shape).any(|(has, wants)| has < wants) {
                        fragment::lengthen(
                            &fragment.url,
                            &growing.definition,
                            &fragment.shape,
                            &shape,
                            session,
                        )?;
                    }
                    Some(self.cell(&growing.definition, &fragment.url, fragment.name.as_ref())?)
                }
                None => self.absent(growing, &starts, &shape)?,
            };
            cells.push(cell);
        }
        Ok(FragmentArray { lacking: vec![false; sizes.len()], sizes, cells })
    }

    fn cell(
        &self,
        definition: &FragmentDefinition,
        url: &str,
        name: Option<&FragmentCell>,
    ) -> Result<FragmentCell> {
        if let Some(cell) = name {
            return Ok(cell.clone());
        }
        let file = self.options.master.effective_naming().name(&self.target, url)?.into();
        let format = fragment::format(self.fragment_kind());
        Ok(FragmentCell { file, variable: definition.path.as_str().into(), format })
    }

    /// The substitute for a fragment that was never written.
    fn absent(
        &self,
        growing: &GrowingVariable,
        starts: &[u64],
        shape: &[u64],
    ) -> Result<Option<FragmentCell>> {
        let master = &self.options.master;
        if master.convention.has_gaps() && !master.compat {
            return Ok(None);
        }
        let url = self.names.of_fill(&growing.definition.path, shape);
        let home =
            fragment::FragmentHome { master: &self.master, kind: self.fragment_kind(), dims: &growing.dims };
        match fragment::create(
            &url,
            &growing.definition,
            &home,
            (starts, shape, &vec![false; shape.len()]),
            None,
        ) {
            Err(error) if error.kind() == ncirrus::ErrorKind::Conflict => {}
            made => made?,
        }
        self.cell(&growing.definition, &url, None).map(Some)
    }

    fn fragment_kind(&self) -> Kind {
        self.options.fragment_kind.unwrap_or(if self.kind.is_classic() { self.kind } else { Kind::Nc4 })
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, GrowingVariable>> {
        self.variables.guard()
    }
}

impl GrowingVariable {
    /// Past the last element that was written along a dimension.
    fn end(&self, dim: usize) -> u64 {
        let end = |(at, fragment): (&Vec<usize>, &WrittenFragment)| {
            let (at, len) = (*at.get(dim)?, *fragment.shape.get(dim)?);
            Some(self.cuts.get(dim)?.start(at).saturating_add(len))
        };
        self.cells.iter().filter_map(end).max().unwrap_or(0)
    }
}

impl FragmentDefinition {
    /// Defines the variable.
    fn add_to(&self, model: &mut Model, dims: &[DimId]) -> Result<VarId> {
        let (group, name) = self.path.rsplit_once('/').unwrap_or(("", &self.path));
        let mut home = model.root();
        for part in group.split('/').filter(|part| !part.is_empty()) {
            home = match model.subgroup(home, part) {
                Some(group) => group,
                None => model.add_group(home, part)?,
            };
        }
        let var = model.add_variable(home, name, self.ty, dims)?;
        if let Some(variable) = model.variable_mut(var) {
            variable.attributes = AttributeState::Known(self.attributes.clone());
        }
        if let Some(fill) = self.attributes.find("_FillValue") {
            model.set_fill(var, fill.values.clone())?;
        }
        Ok(var)
    }
}
