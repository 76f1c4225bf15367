//! What an aggregated variable is put together from.
use super::Variable;
use crate::{Result, Selection};
use ncirrus_engine::{FragmentCheck, FragmentInfo};
use ncirrus_layout::Layout;

impl Variable {
    /// Whether it is put together from other variables: an aggregated variable, or an HDF5 virtual dataset.
    pub fn is_aggregated(&self) -> bool {
        self.dataset.source(self).is_ok_and(|source| matches!(source.layout, Layout::Mosaic { .. }))
    }

    /// The parts that a selection touches, in no particular order. Nothing is opened. Of very many, ask for a part of
    /// the selection at a time.
    ///
    /// # Errors
    /// `Invalid` for a variable that is not put together from others, or a selection that does not fit; `Limit` when
    /// there are too many.
    pub fn fragments(&self, selection: &Selection) -> Result<Vec<FragmentInfo>> {
        self.dataset.fragments(self.id, selection)
    }

    /// The same, each with what is wrong with it: its dataset is opened, its shape, type and units are compared.
    ///
    /// # Errors
    /// As [`fragments`](Self::fragments).
    pub fn check_fragments(&self, selection: &Selection) -> Result<Vec<FragmentCheck>> {
        self.dataset.check_fragments(self.id, selection)
    }
}
