//! What an aggregated variable is put together from.
use super::Variable;
use crate::{Result, Selection};
use ncirrus_engine::{FragmentCheck, FragmentInfo};
use ncirrus_layout::Layout;
use std::ops::ControlFlow;

/// Is shown fragments.
pub(crate) type ShowFragments<'a> = dyn FnMut(Vec<FragmentCheck>) -> Result<ControlFlow<()>> + Send + 'a;

impl Variable {
    /// Whether it is put together from other variables: an aggregated variable, or an HDF5 virtual dataset.
    pub fn is_aggregated(&self) -> bool {
        self.dataset.source(self).is_ok_and(|source| matches!(source.layout, Layout::Mosaic { .. }))
    }

    /// The parts that a selection touches, always in the same order. Nothing is opened. Of very many,
    /// [`each_fragment`](Self::each_fragment) holds some at a time.
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

    /// Shows the parts that a selection touches some thousands at a time, always in the same order, until it is told to
    /// stop; with `check` with what is wrong with them, and many are opened at once.
    ///
    /// # Errors
    /// As [`fragments`](Self::fragments), but for the limit; what `show` fails with.
    pub fn each_fragment(
        &self,
        selection: &Selection,
        check: bool,
        show: &mut ShowFragments<'_>,
    ) -> Result<()> {
        self.dataset.each_fragment(self.id, selection, check, show)
    }
}
