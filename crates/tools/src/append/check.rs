//! Whether a source fits the target: definitions, attributes, coordinates, values.
use super::axis::KnownAxis;
use super::recode::Recoding;
use super::{AppendOptions, AppendReport};
use crate::aggregate::{known_attributes, named};
use crate::compare::{CompareOptions, CompareScope, chunk_grain, compare, element_text, type_text};
use ncirrus::internals::DatasetInternals;
use ncirrus::{
    Atomic, Attributes, AxisSelection, Dataset, DimId, Model, NodeId, Result, Selection, TypeRef, VarId,
};
use ncirrus_model::ExactNumber;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Bytes of a block; a sixteenth of the session's memory if that is less.
const BLOCK: usize = 16 << 20;
/// Bytes that stand for an element of no fixed size.
const ANY_SIZE: u64 = 64;

/// A source that fits.
pub(super) struct SourcePlan {
    pub(super) dataset: Dataset,
    /// The first record that is added, and how many are.
    pub(super) first: u64,
    pub(super) count: u64,
    /// Of dimensions in another order: the index in the source of each of the target's.
    orders: BTreeMap<DimId, Vec<u64>>,
    pub(super) variables: Vec<AddedVariable>,
}

/// A variable that grows.
pub(super) struct AddedVariable {
    pub(super) path: String,
    /// The variable in the source.
    pub(super) var: VarId,
    /// Which of its axes grows.
    pub(super) axis: usize,
    /// Bytes of an element, if they are fixed.
    pub(super) size: Option<u64>,
    /// The target's chunk.
    pub(super) grain: Vec<u64>,
    pub(super) recoding: Recoding,
}

impl SourcePlan {
    /// The elements of a variable that are added.
    pub(super) fn selection(&self, one: &AddedVariable) -> Selection {
        let model = self.dataset.snapshot();
        let dims = model.variable(one.var).map(|variable| variable.dims.clone()).unwrap_or_default();
        let axes = dims.iter().zip(model.shape(one.var)).enumerate().map(|(number, (dim, len))| {
            match (number == one.axis, self.orders.get(dim)) {
                (true, _) => AxisSelection::Slice { start: self.first, count: self.count, stride: 1 },
                (false, Some(order)) => AxisSelection::Indices(order.clone()),
                (false, None) => AxisSelection::Slice { start: 0, count: len, stride: 1 },
            }
        });
        Selection::new(axes.collect())
    }

    pub(super) fn elements(&self, one: &AddedVariable) -> u64 {
        self.selection(one).element_count().unwrap_or_default()
    }
}

/// The check of one source.
pub(super) struct SourceCheck<'a, 'b> {
    ours: &'a Dataset,
    theirs: &'a Dataset,
    our_model: Arc<Model>,
    their_model: Arc<Model>,
    dim: DimId,
    options: &'a AppendOptions<'b>,
    report: &'a mut AppendReport,
    before: usize,
    orders: BTreeMap<DimId, Vec<u64>>,
    /// The variables whose bounds others are, on both sides.
    our_parents: BTreeMap<VarId, VarId>,
    their_parents: BTreeMap<VarId, VarId>,
}

impl<'a, 'b> SourceCheck<'a, 'b> {
    pub(super) fn new(
        (ours, dim): (&'a Dataset, DimId),
        theirs: &'a Dataset,
        options: &'a AppendOptions<'b>,
        report: &'a mut AppendReport,
    ) -> Result<Self> {
        let before = report.findings.len();
        let (our_model, their_model) = (ours.model()?, theirs.model()?);
        let (our_parents, their_parents) = (parents_of_bounds(&our_model), parents_of_bounds(&their_model));
        let orders = BTreeMap::new();
        Ok(Self {
            ours,
            theirs,
            our_model,
            their_model,
            dim,
            options,
            report,
            before,
            orders,
            our_parents,
            their_parents,
        })
    }

    fn find(&mut self, what: impl std::fmt::Display) {
        self.report.findings.push(format!("{}: {what}", self.theirs.url()));
    }

    /// Checks everything; `None` if the source does not fit.
    pub(super) fn run(&mut self, known: &mut KnownAxis) -> Result<Option<SourcePlan>> {
        for lost in self.theirs.left_out()? {
            self.find(format!("{} cannot be read: {}", lost.path, lost.reason));
        }
        let axis = self.our_model.dimension_path(self.dim);
        let Some(their_dim) = self.their_model.dimension_at(&axis) else {
            self.find(format!("it has no dimension {axis}"));
            return Ok(None);
        };
        let len = self.their_model.dimension(their_dim).map_or(0, |dim| dim.len.current());
        self.groups();
        self.dimensions()?;
        let mut added = Vec::new();
        for var in self.our_model.clone().variables() {
            added.extend(self.variable(var)?);
        }
        self.strange();
        let paths: Vec<String> = added.iter().map(|one| one.path.clone()).collect();
        if self.report.variables.is_empty() {
            self.report.variables = paths;
        }
        let mut plan = SourcePlan {
            dataset: self.theirs.clone(),
            first: 0,
            count: len,
            orders: self.orders.clone(),
            variables: added,
        };
        let coordinate = known.coordinate.map(|var| self.our_model.variable_path(var));
        if let Some(one) = plan.variables.iter().find(|one| Some(&one.path) == coordinate.as_ref()) {
            plan.first = known.go_on(self.theirs, one.var, &one.recoding, self.report)?;
            plan.count = len - plan.first.min(len);
        }
        self.values(&plan)?;
        Ok((self.report.findings.len() == self.before).then_some(plan))
    }

    fn groups(&mut self) {
        let model = Arc::clone(&self.our_model);
        for group in model.walk() {
            let path = model.group_path(group);
            match self.their_model.group_at(&path) {
                None => self.find(format!("it has no group {path}")),
                Some(theirs) => {
                    let ours = known_attributes(&model, NodeId::Group(group));
                    let theirs = known_attributes(&self.their_model, NodeId::Group(theirs));
                    self.attributes(&path, &ours, &theirs, false);
                }
            }
        }
    }

    /// Lengths of the other dimensions, and their coordinates.
    fn dimensions(&mut self) -> Result<()> {
        let model = Arc::clone(&self.our_model);
        let groups: Vec<_> = model.walk().into_iter().filter_map(|group| model.group(group)).collect();
        let dims = groups.iter().flat_map(|group| group.dims.iter().copied());
        let along = self.dim;
        for dim in dims.filter(|dim| *dim != along) {
            let path = model.dimension_path(dim);
            let len = |model: &Model, dim| model.dimension(dim).map_or(0, |dim| dim.len.current());
            let Some(theirs) = self.their_model.dimension_at(&path) else {
                self.find(format!("it has no dimension {path}"));
                continue;
            };
            let (our_len, their_len) = (len(&model, dim), len(&self.their_model, theirs));
            if our_len != their_len {
                self.find(format!("the dimension {path} has length {their_len}, the target's {our_len}"));
                continue;
            }
            if let Some(var) = model.coordinate_of(dim) {
                self.coordinate(var, theirs)?;
            }
        }
        Ok(())
    }

    /// Compares a coordinate off the axis; another order of it is noted if it is to be reordered.
    fn coordinate(&mut self, var: VarId, their_dim: DimId) -> Result<()> {
        let path = self.our_model.variable_path(var);
        // Its absence is found with the other variables.
        let Some(their_var) = self.their_model.variable_at(&path) else { return Ok(()) };
        if self.our_model.shape(var) != self.their_model.shape(their_var) {
            return Ok(());
        }
        let all = Selection::all(&self.our_model.shape(var));
        let (ours, theirs) = (self.ours.read_values(var, &all)?, self.theirs.read_values(their_var, &all)?);
        if ours.is_identical(&theirs) {
            return Ok(());
        }
        let (one, other) = (ExactNumber::all(&ours), ExactNumber::all(&theirs));
        let mut sorted: Vec<(ExactNumber, u64)> = other.iter().copied().zip(0..).collect();
        sorted.sort_by(|one, other| one.0.total_order(&other.0));
        let place = |value: &ExactNumber| {
            let at = sorted.binary_search_by(|probe| probe.0.total_order(value)).ok()?;
            sorted.get(at).map(|found| found.1)
        };
        let is_distinct = sorted.windows(2).all(|pair| matches!(pair, [a, b] if a.0 < b.0));
        let order: Option<Vec<u64>> = one.iter().map(place).collect();
        // Texts are not numbers.
        let order = order.filter(|order| order.len() == ours.len());
        let is_same = |(at, from): (usize, &u64)| {
            let from = usize::try_from(*from).unwrap_or(usize::MAX);
            from < theirs.len()
                && ours.slice(at..at + 1).is_identical(&theirs.slice(from..from.saturating_add(1)))
        };
        match order.filter(|order| is_distinct && order.iter().enumerate().all(is_same)) {
            Some(order) if self.options.reorder => {
                self.report
                    .notes
                    .push(format!("{}: {path} was brought to the target's order", self.theirs.url()));
                self.orders.insert(their_dim, order);
            }
            Some(_) => self.find(format!(
                "the coordinate {path} is in another order; --reorder brings it to the target's"
            )),
            None => {
                let same = |at: &usize| ours.slice(*at..at + 1).is_identical(&theirs.slice(*at..at + 1));
                let at = (0..ours.len().min(theirs.len())).find(|at| !same(at)).unwrap_or_default();
                let (here, there) = (element_text(&theirs, at), element_text(&ours, at));
                self.find(format!("the coordinate {path} differs: [{at}] is {here}, the target's {there}"));
            }
        }
        Ok(())
    }

    /// Checks a variable of the target, and returns it if it grows.
    fn variable(&mut self, var: VarId) -> Result<Option<AddedVariable>> {
        let model = Arc::clone(&self.our_model);
        let path = model.variable_path(var);
        let Some(ours) = model.variable(var) else { return Ok(None) };
        let axis = ours.dims.iter().position(|dim| *dim == self.dim);
        // The program keeps what does not grow; only coordinates must agree, since they say where the records are.
        if axis.is_none() && self.options.keep && !self.is_coordinate(var) {
            return Ok(None);
        }
        let Some(their_var) = self.their_model.variable_at(&path) else {
            self.find(format!("it has no variable {path}"));
            return Ok(None);
        };
        let their_model = Arc::clone(&self.their_model);
        let Some(theirs) = their_model.variable(their_var) else { return Ok(None) };
        let names = |model: &Model, dims: &[DimId]| -> Vec<String> {
            dims.iter().map(|dim| model.dimension_path(*dim)).collect()
        };
        // Dimensions are compared by path, in order: records are appended without transposition.
        let (one, other) = (names(&model, &ours.dims), names(&their_model, &theirs.dims));
        if one != other {
            self.find(format!(
                "{path} has the dimensions {}, the target's {}",
                other.join(" "),
                one.join(" ")
            ));
            return Ok(None);
        }
        let one = effective(&model, var, &self.our_parents);
        let other = effective(&their_model, their_var, &self.their_parents);
        let types = (type_text(&model, ours.ty), type_text(&their_model, theirs.ty));
        let atomics = atomic(ours.ty).zip(atomic(theirs.ty));
        // Numbers that grow can be converted; all other types, and constants, must be the same.
        if types.0 != types.1 && (atomics.is_none() || axis.is_none()) {
            self.find(format!("{path} is of type {}, the target's of type {}", types.1, types.0));
            return Ok(None);
        }
        let plain = (
            known_attributes(&model, NodeId::Variable(var)),
            known_attributes(&their_model, NodeId::Variable(their_var)),
        );
        self.attributes(&path, &plain.0, &plain.1, axis.is_some());
        let Some(axis) = axis else {
            self.constant(&path, var, their_var)?;
            return Ok(None);
        };
        let recoding = match atomics {
            Some((our_type, their_type)) => match Recoding::new((their_type, &other), (our_type, &one)) {
                Ok(recoding) => recoding,
                Err(problem) => {
                    self.find(format!("{path}: {problem}"));
                    return Ok(None);
                }
            },
            None => Recoding::Same,
        };
        if !recoding.is_same() {
            self.report.notes.push(format!(
                "{}: {path} is converted to the target's units, packing and type",
                self.theirs.url()
            ));
        }
        let grain = chunk_grain(&self.ours.variable_by_id(var));
        let size = their_model.packed_len(theirs.ty);
        Ok(Some(AddedVariable { path, var: their_var, axis, size, grain, recoding }))
    }

    fn is_coordinate(&self, var: VarId) -> bool {
        let dims = self.our_model.variable(var).map(|variable| variable.dims.clone()).unwrap_or_default();
        matches!(dims.as_slice(), [dim] if self.our_model.coordinate_of(*dim) == Some(var))
    }

    /// Compares the values of a variable that does not grow.
    fn constant(&mut self, path: &str, var: VarId, their_var: VarId) -> Result<()> {
        if self.is_coordinate(var) {
            return Ok(());
        }
        let (ours, theirs) = (self.our_model.shape(var), self.their_model.shape(their_var));
        let dims =
            self.their_model.variable(their_var).map(|variable| variable.dims.clone()).unwrap_or_default();
        // Other lengths are found with the dimensions.
        if ours != theirs {
            return Ok(());
        }
        let is_same = if dims.iter().any(|dim| self.orders.contains_key(dim)) {
            let axes = dims.iter().zip(&theirs).map(|(dim, len)| match self.orders.get(dim) {
                Some(order) => AxisSelection::Indices(order.clone()),
                None => AxisSelection::Slice { start: 0, count: *len, stride: 1 },
            });
            let theirs = self.theirs.read_values(their_var, &Selection::new(axes.collect()))?;
            self.ours.read_values(var, &Selection::all(&ours))?.is_identical(&theirs)
        } else {
            let options = CompareOptions::new().scope(CompareScope::Data).variables([path.to_owned()]);
            compare(self.ours, self.theirs, &options)?
                .variables
                .iter()
                .all(crate::VariableComparison::is_same)
        };
        if !is_same {
            self.find(format!("{path} has no records and has other values; --keep keeps the target's"));
        }
        Ok(())
    }

    fn attributes(&mut self, path: &str, ours: &Attributes, theirs: &Attributes, is_recoded: bool) {
        let counts = |name: &str| {
            !(self.options.ignore.iter().any(|ignored| ignored == name)
                || is_recoded && Recoding::covers(name))
        };
        let mut wrong = Vec::new();
        for attribute in ours.iter().filter(|attribute| counts(&attribute.name)) {
            let name = &attribute.name;
            match theirs.find(name) {
                None => wrong.push(format!("{path} has no attribute {name}, the target has")),
                Some(other) if !is_equal(attribute, other) => {
                    wrong.push(format!("{path}: the attribute {name} differs from the target's"));
                }
                Some(_) => {}
            }
        }
        for attribute in theirs.iter().filter(|attribute| counts(&attribute.name)) {
            if ours.find(&attribute.name).is_none() {
                wrong.push(format!("{path} has an attribute {}, the target has none", attribute.name));
            }
        }
        wrong.into_iter().for_each(|wrong| self.find(wrong));
    }

    /// Variables that only the source has would be lost.
    fn strange(&mut self) {
        let model = Arc::clone(&self.their_model);
        for var in model.variables() {
            let path = model.variable_path(var);
            if self.our_model.variable_at(&path).is_none() {
                self.find(format!("the target has no variable {path}"));
            }
        }
    }

    /// Tries the values that are to be converted.
    fn values(&mut self, plan: &SourcePlan) -> Result<()> {
        let memory = self.theirs.session().memory();
        for one in plan.variables.iter().filter(|one| !one.recoding.is_same()) {
            for block in blocks(plan, one, memory) {
                let values = self.theirs.read_values(one.var, &block).map_err(|e| e.at_path(&*one.path))?;
                if let Err(problem) = one.recoding.apply(values) {
                    self.find(format!("{}: {problem}", one.path));
                    break;
                }
            }
        }
        Ok(())
    }
}

/// Text is the same in either type, for netCDF-4 and Zarr have both.
fn is_equal(one: &ncirrus::Attribute, other: &ncirrus::Attribute) -> bool {
    match (one.as_text(), other.as_text()) {
        (Some(one), Some(other)) => one == other,
        _ => one.values.is_identical(&other.values),
    }
}

/// The variable that each variable of bounds belongs to; of several, the first one.
fn parents_of_bounds(model: &Model) -> BTreeMap<VarId, VarId> {
    let mut parents = BTreeMap::new();
    for var in model.variables() {
        for bounds in named(model, var, &["bounds", "climatology"]) {
            parents.entry(bounds).or_insert(var);
        }
    }
    parents
}

/// The attributes of a variable; bounds without units have those of the variable that they belong to (CF 7.1).
fn effective(model: &Model, var: VarId, parents: &BTreeMap<VarId, VarId>) -> Attributes {
    let mut own = known_attributes(model, NodeId::Variable(var));
    let Some(parent) = parents.get(&var) else { return own };
    let theirs = known_attributes(model, NodeId::Variable(*parent));
    for name in ["units", "calendar"] {
        if let (None, Some(attribute)) = (own.find(name), theirs.find(name)) {
            own = own.iter().cloned().chain([attribute.clone()]).collect();
        }
    }
    own
}

fn atomic(ty: TypeRef) -> Option<Atomic> {
    match ty {
        TypeRef::Atomic(atomic) => Some(atomic),
        TypeRef::User(_) => None,
    }
}

/// The added part of a variable of a source, in blocks of some records, so many that chunks are mostly whole; a record
/// that is larger than a block is cut along its own axes unless it is to be reordered.
pub(super) fn blocks(plan: &SourcePlan, one: &AddedVariable, memory: usize) -> Vec<Selection> {
    let max = ((memory / 16).min(BLOCK) as u64 / one.size.unwrap_or(ANY_SIZE).max(1)).max(1);
    let mut rest = vec![plan.selection(one)];
    let mut done = Vec::new();
    while let Some(block) = rest.pop() {
        let is_small = block.element_count().is_some_and(|count| count <= max);
        match (is_small, block.halves(&one.grain)) {
            (false, Some((first, second))) if cuts_slice(&first, &block) => {
                rest.push(second);
                rest.push(first);
            }
            _ => done.push(block),
        }
    }
    done
}

/// Whether a half was cut along an axis that is not reordered.
fn cuts_slice(half: &Selection, whole: &Selection) -> bool {
    let is_slice = |axis: &AxisSelection| matches!(axis, AxisSelection::Slice { .. });
    half.axes().iter().zip(whole.axes()).all(|(half, whole)| half.count() == whole.count() || is_slice(whole))
}
