//! The parts from which an aggregated variable is assembled.
use super::Variable;
use crate::{Result, Selection};
use ncirrus_engine::{FragmentCheck, FragmentInfo};
use ncirrus_layout::Layout;
use std::ops::ControlFlow;

/// Receives fragments.
pub(crate) type ShowFragments<'a> = dyn FnMut(Vec<FragmentCheck>) -> Result<ControlFlow<()>> + Send + 'a;

impl Variable {
    /// Whether it is assembled from other variables: an aggregated variable, or an HDF5 virtual dataset.
    pub fn is_aggregated(&self) -> bool {
        self.dataset.source(self).is_ok_and(|source| matches!(source.layout, Layout::Mosaic { .. }))
    }

    /// The parts that a selection touches, always in the same order. Nothing is opened. If there are very many,
    /// [`each_fragment`](Self::each_fragment) delivers them in batches.
    ///
    /// # Errors
    /// `Invalid` for a variable that is not assembled from others, or a selection that does not fit; `Limit` if there
    /// are too many.
    pub fn fragments(&self, selection: &Selection) -> Result<Vec<FragmentInfo>> {
        self.dataset.fragments(self.id, selection)
    }

    /// The same, each with its fault, if it has one: its dataset is opened, its shape, type and units are compared.
    ///
    /// # Errors
    /// As [`fragments`](Self::fragments).
    pub fn check_fragments(&self, selection: &Selection) -> Result<Vec<FragmentCheck>> {
        self.dataset.check_fragments(self.id, selection)
    }

    /// Passes the parts that a selection touches to `show` in batches of some thousands, always in the same order,
    /// until `show` asks to stop; with `check` they are opened, many at once, and passed with their faults.
    ///
    /// # Errors
    /// As [`fragments`](Self::fragments), except for the limit; errors of `show`.
    pub fn each_fragment(
        &self,
        selection: &Selection,
        check: bool,
        show: &mut ShowFragments<'_>,
    ) -> Result<()> {
        self.dataset.each_fragment(self.id, selection, check, show)
    }
}
