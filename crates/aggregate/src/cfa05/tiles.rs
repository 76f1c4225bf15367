//! The partitions that a region touches.
use super::columns::GroupColumns;
use super::lines::PartitionLocations;
use crate::boxes::PartitionBoxes;
use crate::cuts::AxisCells;
use crate::entries::{EntryTexts, FragmentEntries};
use crate::names::{check_format, join as join_names};
use crate::subject::{AggregationSubject, fragment_error};
use crate::touched::{self, TouchedCells};
use ncirrus_layout::{
    Fragment, FragmentVariable, Result, Step, Tile, TileIndex, TileSource, View, both, join,
};
use ncirrus_model::{Region, Values};
use std::sync::{Arc, OnceLock};

/// The partitions of a variable.
#[derive(Debug)]
pub(super) struct Cfa05Tiles {
    pub(super) subject: Arc<AggregationSubject>,
    pub(super) columns: GroupColumns,
    /// Shape of the matrix.
    pub(super) grid: Vec<u64>,
    /// Lengths of the dimensions.
    pub(super) lengths: Vec<u64>,
    /// How the axes are divided, as derived from a few partitions; every one that is touched is checked.
    pub(super) cuts: Option<Vec<AxisCells>>,
    /// All partitions, once one has violated the rule.
    pub(super) boxes: OnceLock<Arc<PartitionBoxes>>,
}

/// Entries of a box of partitions.
struct BoxEntries {
    texts: Vec<EntryTexts>,
    format: Option<EntryTexts>,
    location: Option<Values>,
    shape: Option<Values>,
    index: Option<Values>,
}

impl TileIndex for Cfa05Tiles {
    fn tiles(&self, view: &dyn View, region: &Region) -> Step<Vec<Tile>> {
        self.subject.locate(self.find(view, region))
    }

    fn halves(&self, region: &Region, max: u64) -> Option<[Region; 2]> {
        match (self.boxes.get(), &self.cuts) {
            (Some(boxes), _) => boxes.halves(region, max),
            (None, Some(cuts)) => touched::halves(cuts, region, max),
            (None, None) => None,
        }
    }
}

impl Cfa05Tiles {
    fn find(&self, view: &dyn View, region: &Region) -> Step<Vec<Tile>> {
        if let (Some(cuts), None) = (&self.cuts, self.boxes.get())
            && let Some(tiles) = self.by_rule(view, cuts, region)?
        {
            return Ok(tiles);
        }
        let boxes = match self.boxes.get() {
            Some(boxes) => Arc::clone(boxes),
            None => {
                let scanned = PartitionLocations::new(&self.columns, &self.grid).scan(view)?;
                Arc::clone(self.boxes.get_or_init(|| Arc::new(scanned)))
            }
        };
        self.by_list(view, &boxes, region)
    }

    /// The tiles of a regular matrix; `None` if a partition is not where it should be.
    fn by_rule(&self, view: &dyn View, cuts: &[AxisCells], region: &Region) -> Step<Option<Vec<Tile>>> {
        let touched = TouchedCells::new(cuts, region, view.limits())?;
        if touched.is_empty() {
            return Ok(Some(touched.tiles(|_, _, _| Ok(TileSource::Missing))?));
        }
        let read = self.read(view, &touched.start, &touched.count)?;
        let mut fits = true;
        let is_small = PartitionLocations::new(&self.columns, &self.grid).is_small();
        let tiles = touched.tiles(|cell, entry, region| {
            match self.place(&read, entry)? {
                // Others may be in its place.
                None if is_small => fits = false,
                None => return Ok(TileSource::Missing),
                Some(place) if place != *region => fits = false,
                Some(_) => {}
            }
            if fits { self.source(&read, cell, entry, region) } else { Ok(TileSource::Missing) }
        });
        match tiles {
            _ if !fits => Ok(None),
            tiles => Ok(Some(tiles?)),
        }
    }

    /// The tiles of partitions that are not on a grid.
    fn by_list(&self, view: &dyn View, boxes: &PartitionBoxes, region: &Region) -> Step<Vec<Tile>> {
        let touched = boxes.touched(region);
        let cells: Vec<Vec<u64>> = touched.iter().map(|(number, _)| self.cell(*number)).collect();
        let rank = self.grid.len();
        let min = |axis: usize| cells.iter().filter_map(|cell| cell.get(axis)).min().copied();
        let max = |axis: usize| cells.iter().filter_map(|cell| cell.get(axis)).max().copied();
        let start: Vec<u64> = (0..rank).filter_map(min).collect();
        let count: Vec<u64> =
            (0..rank).filter_map(max).zip(&start).map(|(max, start)| max - start + 1).collect();
        let read = if cells.is_empty() { None } else { Some(self.read(view, &start, &count)?) };
        let lenient = self.subject.choices.lenient;
        Ok(boxes.tiles(&touched, region, (view.limits(), lenient), |at, region| {
            let (Some(cell), Some(read)) = (cells.get(at), &read) else { return Ok(TileSource::Missing) };
            let axes = cell.iter().zip(&start).zip(&count);
            let entry = axes.fold(0, |entry: u64, ((cell, start), count)| entry * count + (cell - start));
            self.source(read, cell, usize::try_from(entry).unwrap_or(usize::MAX), region)
        })?)
    }

    /// The index of a partition in the matrix.
    fn cell(&self, number: u64) -> Vec<u64> {
        let mut rest = number;
        let digit = |len: &u64| {
            let digit = rest.checked_rem(*len).unwrap_or(0);
            rest = rest.checked_div(*len).unwrap_or(0);
            digit
        };
        let mut cell: Vec<u64> = self.grid.iter().rev().map(digit).collect();
        cell.reverse();
        cell
    }

    fn read<'a>(&'a self, view: &dyn View, start: &[u64], count: &[u64]) -> Step<BoxEntries> {
        let columns = &self.columns;
        let rank = self.grid.len() as u64;
        let texts = |entries: &FragmentEntries| entries.read_texts(view, start, count);
        let numbers = |entries: &FragmentEntries, more: &[u64]| {
            let (start, count) = ([start, &vec![0; more.len()]].concat(), [count, more].concat());
            entries.read(view, &start, &count)
        };
        let texts_of = both(join([&columns.file, &columns.ncvar], texts), join(&columns.format, texts));
        // Scalar data have no location.
        let location = (rank > 0).then_some(&columns.location);
        let wanted = |entries: &'a Option<FragmentEntries>| entries.as_ref().filter(|_| rank > 0);
        let row = |entries: &FragmentEntries| numbers(entries, &[rank]);
        let rows = both(join(wanted(&columns.shape), row), join(wanted(&columns.index), row));
        let numbers_of = both(join(location, |entries| numbers(entries, &[rank, 2])), rows);
        let ((texts, mut format), (mut location, (mut shape, mut index))) = both(texts_of, numbers_of)?;
        let (format, location) = (format.pop(), location.pop());
        Ok(BoxEntries { texts, format, location, shape: shape.pop(), index: index.pop() })
    }

    /// The position of a partition; `None` if it is not defined (docs/spec/cfa.md 3.2).
    fn place(&self, read: &BoxEntries, entry: usize) -> Result<Option<Region>> {
        let rank = self.grid.len();
        let Some(location) = &read.location else { return Ok(Some(Region::all(&[]))) };
        let span = |axis: usize| self.columns.span(location, entry * rank + axis);
        let spans = (0..rank).map(span).collect::<Result<Option<Vec<_>>>>()?;
        Ok(spans.map(|spans| {
            let (start, count) = spans.iter().map(|span| (span.start, span.end - span.start)).unzip();
            Region { start, count }
        }))
    }

    fn source(&self, read: &BoxEntries, cell: &[u64], entry: usize, region: &Region) -> Result<TileSource> {
        let text = |at: usize| read.texts.get(at).map_or(Ok(None), |texts| texts.get(entry));
        let (Some(file), Some(name)) = (text(0)?, text(1)?) else { return Ok(TileSource::Missing) };
        self.check_inside(cell, region)?;
        self.check_index(read, cell, entry)?;
        if let Some(format) = &read.format {
            check_format(format.get(entry)?)
                .map_err(|error| error.reworded(|fact| format!("fragment {cell:?}: {fact}")))?;
        }
        let (file, name) = (self.columns.substitutions.apply(file), name.trim_start_matches('/'));
        let group = &self.subject.group_path;
        let mut variables = vec![FragmentVariable::Path(Arc::from(format!("/{name}")))];
        if group.as_ref() != "/" {
            variables.push(FragmentVariable::Path(Arc::from(format!("{group}/{name}"))));
        }
        variables.push(FragmentVariable::Search { group: Arc::clone(group), name: Arc::from(name) });
        Ok(TileSource::Fragment(Arc::new(Fragment {
            index: cell.to_vec(),
            names: vec![Arc::from(join_names(self.columns.base.as_deref(), &file))],
            variables,
            is_paired: false,
            shape: self.shape(read, entry),
            axes: None,
            units: None,
            rules: Arc::clone(&self.subject.rules),
        })))
    }

    fn shape(&self, read: &BoxEntries, entry: usize) -> Option<Vec<u64>> {
        let (rank, shape) = (self.grid.len(), read.shape.as_ref()?);
        (0..rank).map(|axis| u64::try_from(shape.integer(entry * rank + axis)?).ok()).collect()
    }

    /// Checks that a partition has the index that it states (docs/spec/cfa.md 3.1).
    fn check_index(&self, read: &BoxEntries, cell: &[u64], entry: usize) -> Result<()> {
        let Some(index) = read.index.as_ref().filter(|_| !self.subject.choices.lenient) else {
            return Ok(());
        };
        let written: Vec<i128> =
            (0..cell.len()).filter_map(|axis| index.integer(entry * cell.len() + axis)).collect();
        let due: Vec<i128> = cell.iter().map(|at| i128::from(*at)).collect();
        // An index that was never written is not checked.
        if written == due || written.iter().any(|at| *at < 0) {
            return Ok(());
        }
        Err(fragment_error(cell, &format!("its own index is {written:?}")))
    }

    fn check_inside(&self, cell: &[u64], region: &Region) -> Result<()> {
        let ends = region.start.iter().zip(&region.count).map(|(start, count)| start.saturating_add(*count));
        for (axis, (end, len)) in ends.zip(&self.lengths).enumerate() {
            if end > *len {
                let name = self.subject.dimensions.get(axis).map(String::as_str).unwrap_or_default();
                let fact = format!("it ends at {end} along dimension {name}, whose length is {len}");
                return Err(fragment_error(cell, &fact));
            }
        }
        Ok(())
    }
}
