//! Variables that are being written.
use super::FragmentStorage;
use ncirrus::Region;
use ncirrus_aggregate::write::FragmentCell;
use ncirrus_model::DimId;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A variable that is written.
#[derive(Clone)]
pub(super) struct GrowingVariable {
    pub(super) dims: Vec<DimId>,
    pub(super) storage: FragmentStorage,
    /// Existing fragments, by their places.
    pub(super) cells: BTreeMap<Vec<usize>, WrittenFragment>,
}

/// An existing fragment.
#[derive(Clone)]
pub(super) struct WrittenFragment {
    pub(super) url: String,
    /// Path of the variable in it.
    pub(super) variable: Arc<str>,
    /// How an existing master names it.
    pub(super) name: Option<FragmentCell>,
    pub(super) shape: Vec<u64>,
}

impl GrowingVariable {
    pub(super) fn new(dims: Vec<DimId>, storage: FragmentStorage) -> Self {
        Self { dims, storage, cells: BTreeMap::new() }
    }

    /// Past the last element that was written along a dimension.
    pub(super) fn end(&self, dim: usize) -> u64 {
        let end = |(at, fragment): (&Vec<usize>, &WrittenFragment)| {
            let (at, len) = (*at.get(dim)?, *fragment.shape.get(dim)?);
            Some(self.storage.blocks.get(dim)?.start(at).saturating_add(len))
        };
        self.cells.iter().filter_map(end).max().unwrap_or(0)
    }

    /// Lengths of the fragments of an array of that shape.
    pub(super) fn sizes(&self, shape: &[u64]) -> Vec<Vec<u64>> {
        self.storage.blocks.iter().zip(shape).map(|(blocks, len)| blocks.sizes(*len)).collect()
    }

    /// The box of an array of that shape that the fragment at a place holds; `None` outside.
    pub(super) fn region(&self, at: &[usize], shape: &[u64]) -> Option<Region> {
        if at.len() != shape.len() || at.len() != self.storage.blocks.len() {
            return None;
        }
        let along = |((blocks, at), len): ((&ncirrus_layout::grid::AxisBlocks, &usize), &u64)| {
            let start = blocks.start(*at);
            let block = blocks.between(start, start.checked_add(1)?, Some(*len)).into_iter().next()?;
            (start < *len).then_some((start, block.len))
        };
        let along = self.storage.blocks.iter().zip(at).zip(shape).map(along);
        let (start, count) = along.collect::<Option<Vec<_>>>()?.into_iter().unzip();
        Some(Region { start, count })
    }
}
