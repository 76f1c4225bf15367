//! CFA-0.5 as S3netCDF4 defines it: a group with one entry per partition (docs/spec/cfa.md 3).
mod columns;
mod lines;
mod tiles;

#[cfg(test)]
mod tests;

use crate::boxes::PartitionBoxes;
use crate::cuts::AxisCells;
use crate::entries::FragmentEntries;
use crate::index::FragmentIndex;
use crate::lookup;
use crate::names::NameSubstitutions;
use crate::subject::{AggregationSubject, MasterDataset};
use columns::GroupColumns;
use lines::PartitionLocations;
use ncirrus_layout::{Aggregation, Error, Member, Result, Step, View};
use ncirrus_model::{GroupId, VarId};
use std::sync::{Arc, OnceLock};
use tiles::Cfa05Tiles;

/// How the fragments of a variable are described.
#[derive(Debug)]
pub(crate) struct Cfa05Description {
    group: GroupId,
    grid: Vec<u64>,
    file: VarId,
    ncvar: VarId,
    location: VarId,
    format: Option<VarId>,
    shape: Option<VarId>,
    base: Option<VarId>,
    index: Option<VarId>,
    pmshape: Option<VarId>,
    pmdimensions: Option<VarId>,
}

impl Cfa05Description {
    /// The description in a `cfa_group`.
    ///
    /// # Errors
    /// `NotFound` or `Malformed` if the group is not valid, as far as shapes and types show.
    pub(crate) fn new(inner: &MasterDataset, subject: &AggregationSubject, name: &str) -> Result<Self> {
        let (model, name) = (&inner.model, name.trim());
        let group = lookup::group(model, subject.group, name).filter(|_| !name.is_empty());
        let group = group.filter(|group| *group != subject.group && *group != model.root());
        let group =
            group.ok_or_else(|| Error::no_member(Member::Group, format_args!("{name:?}, its cfa_group")))?;
        let find = |name: &str| model.variable_in(group, name);
        let needed = |name: &str| {
            let missing =
                || Error::no_member(Member::Variable, format_args!("{name} in {}", model.group_path(group)));
            find(name).ok_or_else(missing)
        };
        let description = Self {
            group,
            grid: FragmentEntries::texts(model, needed("file")?)?.shape,
            file: needed("file")?,
            ncvar: needed("ncvar")?,
            location: needed("location")?,
            format: find("format"),
            shape: find("shape"),
            base: find("base"),
            index: find("index"),
            pmshape: find("pmshape"),
            pmdimensions: find("pmdimensions"),
        };
        description.columns(inner, subject)?;
        Ok(description)
    }

    pub(crate) fn group(&self) -> GroupId {
        self.group
    }

    /// Shape of the partition matrix.
    pub(crate) fn shape(&self) -> &[u64] {
        &self.grid
    }

    /// The variables of entries, whose shapes match.
    fn columns(&self, inner: &MasterDataset, subject: &AggregationSubject) -> Result<GroupColumns> {
        let (model, rank) = (&inner.model, subject.rank() as u64);
        let shaped = |entries: FragmentEntries, more: &[u64]| {
            let wanted = [self.grid.as_slice(), more].concat();
            if entries.shape == wanted && self.grid.len() == subject.rank() {
                return Ok(entries);
            }
            let (path, shape) = (&entries.path, &entries.shape);
            Err(Error::malformed(format!("{path} has the shape {shape:?}, {wanted:?} was expected")))
        };
        let texts = |id: VarId| shaped(FragmentEntries::texts(model, id)?, &[]);
        Ok(GroupColumns {
            file: texts(self.file)?,
            ncvar: texts(self.ncvar)?,
            location: shaped(FragmentEntries::integers(model, self.location)?, &[rank, 2])?,
            format: self.format.map(texts).transpose()?,
            shape: self.shape.map(|id| shaped(FragmentEntries::integers(model, id)?, &[rank])).transpose()?,
            index: self.index.map(|id| shaped(FragmentEntries::integers(model, id)?, &[rank])).transpose()?,
            missing: 0,
            base: None,
            substitutions: NameSubstitutions::of_caller(&subject.choices),
        })
    }

    /// The locations of the fragments. Lengths of dimensions without written data are taken from the description.
    ///
    /// # Errors
    /// A need, or errors in the description.
    pub(crate) fn index(
        &self,
        view: &dyn View,
        inner: &MasterDataset,
        subject: &Arc<AggregationSubject>,
        lengths: &[Option<u64>],
    ) -> Step<FragmentIndex> {
        self.check_shape(view, inner)?;
        self.check_dimensions(view, inner, subject)?;
        let columns = self.filled(view, inner, subject)?;
        let locations = PartitionLocations::new(&columns, &self.grid);
        let cuts = locations.cuts(view, lengths)?;
        let boxes = match cuts {
            Some(_) => OnceLock::new(),
            None => OnceLock::from(Arc::new(locations.scan(view)?)),
        };
        Ok(self.made(subject, columns, cuts, lengths, boxes))
    }

    fn made(
        &self,
        subject: &Arc<AggregationSubject>,
        columns: GroupColumns,
        cuts: Option<Vec<AxisCells>>,
        lengths: &[Option<u64>],
        boxes: OnceLock<Arc<PartitionBoxes>>,
    ) -> FragmentIndex {
        let ends = match (&cuts, boxes.get()) {
            (Some(cuts), _) => cuts.iter().map(AxisCells::end).collect(),
            (None, boxes) => boxes.map(|boxes| boxes.ends()).unwrap_or_default(),
        };
        let lengths: Vec<u64> = lengths.iter().zip(ends).map(|(len, end)| len.unwrap_or(end)).collect();
        let facts = Aggregation {
            convention: "CFA-0.5",
            shape: Some(self.grid.clone()),
            fragments: self.grid.iter().fold(1, |all: u64, count| all.saturating_mul(*count)),
        };
        let (subject, grid) = (Arc::clone(subject), self.grid.clone());
        let tiles = Arc::new(Cfa05Tiles { subject, columns, grid, lengths: lengths.clone(), cuts, boxes });
        FragmentIndex { tiles, lengths, facts }
    }

    /// Checks that the recorded shape of the matrix is that of its variables.
    fn check_shape(&self, view: &dyn View, inner: &MasterDataset) -> Step<()> {
        let Some(id) = self.pmshape else { return Ok(()) };
        let entries = FragmentEntries::integers(&inner.model, id)?;
        let all = entries.read(view, &vec![0; entries.rank()], &entries.shape)?;
        let written: Vec<i128> = (0..all.len()).filter_map(|at| all.integer(at)).collect();
        let grid: Vec<i128> = self.grid.iter().map(|count| i128::from(*count)).collect();
        if written == grid {
            return Ok(());
        }
        let path = &entries.path;
        Err(Error::malformed(format!("{path} says {written:?}, the partitions have the shape {grid:?}"))
            .into())
    }

    /// Checks that the recorded dimensions of the matrix are those of the array, in any order.
    fn check_dimensions(
        &self,
        view: &dyn View,
        inner: &MasterDataset,
        subject: &AggregationSubject,
    ) -> Step<()> {
        let Some(id) = self.pmdimensions else { return Ok(()) };
        let entries = FragmentEntries::texts(&inner.model, id)?;
        let texts = entries.read_texts(view, &vec![0; entries.rank()], &vec![1; entries.rank()])?;
        let Some(text) = texts.get(0)? else { return Ok(()) };
        let written =
            text.split(|char: char| char == ',' || char.is_whitespace()).filter(|name| !name.is_empty());
        match written.into_iter().find(|name| !subject.dimensions.iter().any(|dimension| dimension == name)) {
            None => Ok(()),
            Some(name) => {
                let path = &entries.path;
                let message = format!("{path} has {name}, which is not a dimension of the array");
                Err(Error::malformed(message).into())
            }
        }
    }

    /// The variables of entries, with their attributes and the base.
    fn filled(
        &self,
        view: &dyn View,
        inner: &MasterDataset,
        subject: &AggregationSubject,
    ) -> Step<GroupColumns> {
        let mut columns = self.columns(inner, subject)?;
        let attributes = inner.attributes(view, &[self.file, self.ncvar, self.location])?;
        if let [file, ncvar, location] = attributes.as_slice() {
            columns.file = columns.file.with_attributes(file);
            columns.ncvar = columns.ncvar.with_attributes(ncvar);
            let own = location.find("_FillValue").and_then(|fill| fill.values.integer(0));
            columns.missing = own.unwrap_or_else(|| columns.location.default_missing());
        }
        if let Some(base) = self.base {
            let base = FragmentEntries::texts(&inner.model, base)?;
            let (start, count) = (vec![0; base.rank()], vec![1; base.rank()]);
            columns.base = base.read_texts(view, &start, &count)?.get(0)?.map(str::to_owned);
        }
        Ok(columns)
    }
}
