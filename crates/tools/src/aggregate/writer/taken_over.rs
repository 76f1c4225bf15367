//! Aggregations that are opened for writing.
use super::super::existing::ExistingFragments;
use super::super::master::copy_values;
use super::super::names::{address, existing, resolve};
use super::super::relocate::single_file_kind;
use super::{AggregationWriter, FragmentStorage, GrowingVariable, WriterOptions, WrittenFragment};
use ncirrus::internals::DatasetInternals;
use ncirrus::{CreateOptions, Dataset, Kind, OpenOptions, Result, Session, Storage};
use ncirrus_aggregate::write::FragmentArray;
use ncirrus_layout::grid::AxisBlocks;
use ncirrus_layout::grid::row_major_index;
use ncirrus_model::{DimId, Model, VarId};
use std::collections::BTreeSet;
use std::sync::Arc;

impl AggregationWriter {
    /// Opens an aggregation for writing: its fragments are changed in place (on object stores as the session's
    /// options allow), missing ones are created, the master is replaced when it is closed. The convention may change.
    ///
    /// # Errors
    /// `NotFound`; `Unsupported` if its fragments cannot be determined.
    pub fn open(target: &str, options: &WriterOptions, session: &Session) -> Result<Self> {
        let source = Dataset::open_with(target, &OpenOptions::default(), session)?;
        let model = source.model()?;
        let mut fragments = ExistingFragments::of(&source)?;
        fragments.make_names_whole();
        let arrays = std::mem::take(&mut fragments.arrays);
        let kind = single_file_kind(&source).unwrap_or(Kind::NcZarr);
        let create = CreateOptions::new().kind(kind).overwrite(true);
        let writer = Self::new(Dataset::create_with(target, &create, session)?, target, options, kind);
        let begun = (|| {
            writer.master.edit(|new| {
                *new = Model::clone(&model);
                arrays.keys().for_each(|var| make_scalar(new, *var));
                Ok(())
            })?;
            for var in model.variables().into_iter().filter(|var| !arrays.contains_key(var)) {
                copy_values(&writer.master, var, &source, var)?;
            }
            for (var, array) in &arrays {
                let dims = model.variable(*var).map(|variable| variable.dims.clone()).unwrap_or_default();
                writer.take_over((*var, dims), array, fragments.recorded.get(var))?;
            }
            Ok(())
        })();
        match begun {
            Ok(()) => Ok(writer),
            Err(error) => {
                _ = writer.abort();
                Err(error)
            }
        }
    }

    /// Writes the master, and goes on with it: as [`close`](Self::close) and [`open`](Self::open), with the same division
    /// of variables into fragments.
    ///
    /// # Errors
    /// As of these.
    pub fn reopen(self) -> Result<Self> {
        let (target, options, session) =
            (self.target.clone(), self.options.clone(), self.master.session().clone());
        let model = self.master.snapshot();
        let kept: Vec<(String, GrowingVariable)> =
            self.lock().iter().map(|(var, growing)| (model.variable_path(*var), growing.clone())).collect();
        self.close()?;
        let again = Self::open(&target, &options, &session)?;
        let model = again.master.snapshot();
        let mut variables = again.lock();
        for (path, old) in kept {
            let found = model.variable_at(&path).and_then(|var| variables.get_mut(&var));
            if let Some(growing) = found {
                growing.storage = old.storage;
                growing.cells = old.cells;
            }
        }
        drop(variables);
        Ok(again)
    }

    /// A variable of the aggregation that was opened.
    fn take_over(
        &self,
        (var, dims): (VarId, Vec<DimId>),
        array: &FragmentArray,
        recorded: Option<&Vec<u64>>,
    ) -> Result<()> {
        let path = self.master.snapshot().variable_path(var);
        let lens: Vec<usize> = array.sizes.iter().map(Vec::len).collect();
        let starts = array.starts();
        let mut fragments = Vec::new();
        for (number, cell) in array.cells.iter().enumerate() {
            let Some(cell) = cell else { continue };
            let at = row_major_index(number, &lens);
            let pick = |all: &[Vec<u64>]| -> Vec<u64> {
                all.iter().zip(&at).filter_map(|(along, at)| along.get(*at).copied()).collect()
            };
            let (shape, start) = (pick(&array.sizes), pick(&starts));
            let place = existing(&self.target, &cell.file, self.master.session())?;
            let url = address(&place.map_or_else(|| resolve(&self.target, &cell.file), Ok)?)?;
            // Many places share a file of fill values: what is written to one of them is not for the others.
            if url == self.names.of_fill(&path, &shape) {
                continue;
            }
            let (variable, name) = (Arc::clone(&cell.variable), Some(cell.clone()));
            fragments.push((start, WrittenFragment { url, variable, name, shape }));
        }
        let blocks: Vec<AxisBlocks> = (0..lens.len())
            .map(|axis| {
                let sizes = array.sizes.get(axis).map(Vec::as_slice).unwrap_or_default();
                let count =
                    recorded.filter(|shape| shape.len() == lens.len()).and_then(|shape| shape.get(axis));
                let known = fragments
                    .iter()
                    .filter_map(|(start, fragment)| Some((*start.get(axis)?, *fragment.shape.get(axis)?)));
                blocks_along(sizes, count.copied(), &known.collect())
            })
            .collect();
        let at = |start: &[u64]| -> Vec<usize> {
            let along = |(blocks, start): (&AxisBlocks, &u64)| {
                blocks.between(*start, start.saturating_add(1), None).first().map_or(0, |block| block.at)
            };
            blocks.iter().zip(start).map(along).collect()
        };
        let cells = fragments.into_iter().map(|(start, fragment)| (at(&start), fragment)).collect();
        let storage = FragmentStorage { blocks, ..FragmentStorage::default() };
        self.add(var, GrowingVariable { dims, storage, cells });
        Ok(())
    }
}

/// The blocks along an axis, whose lengths are `sizes` where places next to each other that nothing was written to are
/// one; `count` is how many there are by the master, `known` has start and length of those that were written.
fn blocks_along(sizes: &[u64], count: Option<u64>, known: &BTreeSet<(u64, u64)>) -> AxisBlocks {
    let len: u64 = sizes.iter().sum();
    let seen = AxisBlocks::new(sizes.to_vec(), sizes.first().copied().unwrap_or(1));
    let Some(count) = count.filter(|count| *count > sizes.len() as u64) else { return seen };
    // All of one length, but the last; or as even as can be.
    let max = len.div_ceil(count);
    let longest = known.iter().map(|(_, len)| *len).max().unwrap_or(max);
    let even = |at: u64| u64::try_from(u128::from(at) * u128::from(len) / u128::from(count)).unwrap_or(len);
    let evenly: Vec<u64> = (0..count).map(|at| even(at + 1) - even(at)).collect();
    let last = evenly.last().copied().unwrap_or(1);
    let mut candidates = [
        AxisBlocks::new(Vec::new(), longest),
        AxisBlocks::new(Vec::new(), max),
        AxisBlocks::new(evenly, last),
    ]
    .into_iter()
    .filter(|blocks| {
        let is_block = |(start, size): &(u64, u64)| {
            let found = blocks.between(*start, start.saturating_add(1), Some(len));
            found.first().is_some_and(|block| block.start == *start && block.len == *size)
        };
        blocks.count(len) == count && known.iter().all(is_block)
    });
    candidates.next().unwrap_or(seen)
}

/// As the master holds an aggregated variable.
fn make_scalar(model: &mut Model, var: VarId) {
    if let Some(variable) = model.variable_mut(var) {
        variable.dims.clear();
        variable.storage = Storage::Default;
        variable.shards = None;
        variable.filters.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_that_were_never_written_are_found_again() {
        let along = |sizes: &[u64], count, known: &[(u64, u64)]| {
            blocks_along(sizes, count, &known.iter().copied().collect()).sizes(sizes.iter().sum())
        };
        assert_eq!(along(&[2, 4, 2, 2], Some(5), &[(0, 2), (6, 2)]), [2; 5]);
        assert_eq!(along(&[10], Some(3), &[]), [4, 4, 2]);
        assert_eq!(along(&[8, 2], Some(3), &[(8, 2)]), [4, 4, 2]);
        assert_eq!(along(&[4, 6], Some(3), &[(0, 4)]), [4, 4, 2]);
        assert_eq!(along(&[3, 10], Some(4), &[(0, 3)]), [3, 3, 3, 4]);
        // What does not fit stays as it is.
        assert_eq!(along(&[1, 9], Some(4), &[(0, 1)]), [1, 9]);
        assert_eq!(along(&[5, 5], None, &[(0, 5)]), [5, 5]);
    }
}
