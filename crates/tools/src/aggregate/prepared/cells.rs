//! The fragments of a variable of several files.
use super::super::existing::ExistingFragments;
use super::super::master::MasterOptions;
use super::super::parts::FilePart;
use super::super::shape::FirstVariable;
use super::PreparedAggregation;
use ncirrus::{Error, Result};
use ncirrus_aggregate::write::{Convention, FragmentArray, FragmentCell};
use ncirrus_layout::grid::row_major_index;
use ncirrus_model::DimId;
use std::borrow::Cow;
use std::sync::Arc;

/// How the files are named in the master.
pub(super) struct MasterNames<'a> {
    /// Of each part that is a file.
    files: Vec<Arc<str>>,
    /// Older names become absolute, if the convention has no substitutions.
    whole: Option<&'a ExistingFragments>,
}

/// How a variable is divided along a dimension: an axis with its blocks, or another one with one block of that
/// length.
struct AxisBlocks {
    axis: Option<usize>,
    len: u64,
    /// For each block the lengths of its fragments.
    blocks: Vec<Option<Vec<u64>>>,
}

impl MasterNames<'_> {
    pub(super) fn of_array(&self, array: &FragmentArray) -> FragmentArray {
        let cells = array.cells.iter().map(|cell| cell.as_ref().map(|cell| self.of_cell(cell))).collect();
        FragmentArray { cells, ..array.clone() }
    }

    fn of_cell(&self, cell: &FragmentCell) -> FragmentCell {
        match self.whole {
            Some(existing) => FragmentCell { file: existing.whole_name(&cell.file).into(), ..cell.clone() },
            None => cell.clone(),
        }
    }
}

impl AxisBlocks {
    fn block(&self, place: &[usize]) -> usize {
        self.axis.and_then(|axis| place.get(axis).copied()).unwrap_or(0)
    }

    /// For each block the index of its first fragment.
    fn firsts(&self) -> Vec<usize> {
        let counts = self.blocks.iter().map(|block| block.as_ref().map_or(0, Vec::len));
        let first = |next: &mut usize, count: usize| Some(std::mem::replace(next, *next + count));
        counts.scan(0, first).collect()
    }
}

impl PreparedAggregation {
    /// The names of the files in a master.
    pub(super) fn names(&self, target: &str, options: &MasterOptions) -> Result<MasterNames<'_>> {
        let naming = options.effective_naming();
        let name = |part: &FilePart| match part.fragments {
            Some(_) => Ok(Arc::from("")),
            None => Ok(naming.name(target, &part.url)?.into()),
        };
        let files = self.parts.iter().map(name).collect::<Result<_>>()?;
        let has_substitutions = options.convention == Convention::Cfa06;
        Ok(MasterNames { files, whole: self.existing.as_ref().filter(|_| !has_substitutions) })
    }

    /// The fragments of a variable, which may have the axes in any order.
    pub(super) fn cells(
        &self,
        number: usize,
        member: &FirstVariable,
        names: &MasterNames<'_>,
    ) -> Result<FragmentArray> {
        let mut along = self.along(member);
        for (place, part) in self.places() {
            let Some(part) = part else { continue };
            let own = self.own(number, member, part, &along, None);
            for (along, sizes) in along.iter_mut().zip(&own.sizes) {
                let block = along.block(&place);
                let Some(slot) = along.blocks.get_mut(block) else { continue };
                // Fragments form a grid: all files at the same place along an axis are split at the same indices
                // there.
                if slot.get_or_insert_with(|| sizes.clone()) != sizes {
                    let message = format!(
                        "{} is not split like the others: split it into {} fragments of {sizes:?} first",
                        part.url,
                        sizes.len()
                    );
                    return Err(Error::unsupported(message));
                }
            }
        }
        self.fill_blocks(&mut along);
        let sizes: Vec<Vec<u64>> =
            along.iter().map(|along| along.blocks.iter().flatten().flatten().copied().collect()).collect();
        let firsts: Vec<Vec<usize>> = along.iter().map(AxisBlocks::firsts).collect();
        let mut array = FragmentArray {
            cells: vec![None; sizes.iter().map(Vec::len).product()],
            lacking: self.lacking(number, &along)?,
            sizes,
        };
        for ((at, part), number_of_part) in self.places().zip(&self.arrangement.places) {
            let (Some(part), Some(of_part)) = (part, number_of_part) else { continue };
            let own = self.own(number, member, part, &along, names.files.get(*of_part));
            let base: Vec<usize> = along
                .iter()
                .zip(&firsts)
                .map(|(along, firsts)| firsts.get(along.block(&at)).copied().unwrap_or(0))
                .collect();
            put(&mut array, &own, &base, names);
        }
        Ok(array)
    }

    fn along(&self, member: &FirstVariable) -> Vec<AxisBlocks> {
        let model = &self.template.model;
        let dims = model.variable(member.var).map(|variable| variable.dims.clone()).unwrap_or_default();
        let of = |axis: Option<usize>, len: u64| {
            let blocks = axis.and_then(|axis| self.arrangement.sizes.get(axis)).map_or(1, Vec::len);
            AxisBlocks { axis, len, blocks: vec![None; blocks] }
        };
        let own = |(dim, len): (&DimId, u64)| of(self.template.axis_of(*dim), len);
        let new = self.template.is_new.then(|| of(Some(0), 1));
        new.into_iter().chain(dims.iter().zip(model.shape(member.var)).map(own)).collect()
    }

    /// The fragments of one part: a file is one itself.
    fn own<'a>(
        &self,
        number: usize,
        member: &FirstVariable,
        part: &'a FilePart,
        along: &[AxisBlocks],
        name: Option<&Arc<str>>,
    ) -> Cow<'a, FragmentArray> {
        if let Some(array) = part.fragments.as_ref().and_then(|fragments| fragments.get(&number)) {
            return Cow::Borrowed(array);
        }
        let len = |along: &AxisBlocks| {
            let len = along.axis.and_then(|axis| part.lens.get(axis).copied());
            vec![len.unwrap_or(along.len)]
        };
        let cell = name.map(|name| FragmentCell {
            file: Arc::clone(name),
            variable: member.path.as_str().into(),
            format: part.format,
        });
        Cow::Owned(FragmentArray {
            sizes: along.iter().map(len).collect(),
            cells: vec![cell],
            lacking: vec![false; along.len()],
        })
    }

    /// Blocks without a file are one fragment each.
    fn fill_blocks(&self, along: &mut [AxisBlocks]) {
        for along in along {
            let sizes = along.axis.and_then(|axis| self.arrangement.sizes.get(axis));
            for (at, block) in along.blocks.iter_mut().enumerate() {
                let len = sizes.and_then(|sizes| sizes.get(at).copied()).unwrap_or(along.len);
                block.get_or_insert_with(|| vec![len]);
            }
        }
    }

    /// Which dimensions the fragments lack: a new one, and those recorded for the older ones.
    fn lacking(&self, number: usize, along: &[AxisBlocks]) -> Result<Vec<bool>> {
        let lacking: Vec<bool> =
            along.iter().map(|along| self.template.is_new && along.axis.is_some()).collect();
        let older = self.parts.iter().filter_map(|part| part.fragments.as_ref()?.get(&number));
        for older in older {
            if lacking.iter().zip(&older.lacking).any(|(lacks, old)| *old && !lacks) {
                return Err(Error::unsupported("its fragments lack a dimension that the files have"));
            }
        }
        Ok(lacking)
    }
}

/// Puts the fragments of a part at their place.
fn put(array: &mut FragmentArray, own: &FragmentArray, base: &[usize], names: &MasterNames<'_>) {
    let lens: Vec<usize> = own.sizes.iter().map(Vec::len).collect();
    for (number, cell) in own.cells.iter().enumerate() {
        let at = row_major_index(number, &lens);
        let number = at
            .iter()
            .zip(base)
            .zip(&array.sizes)
            .fold(0, |number, ((at, base), sizes)| number * sizes.len() + base + at);
        if let (Some(slot @ None), Some(cell)) = (array.cells.get_mut(number), cell) {
            *slot = Some(names.of_cell(cell));
        }
    }
}
