//! The elements that a read is to return.
use ncirrus_layout::{Error, Result};
use ncirrus_model::{PointSelection, Selection, SelectionError};

/// The elements that are read.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Picked<'a> {
    /// Those of a selection.
    Selection(&'a Selection),
    /// Single elements.
    Points(&'a PointSelection),
}

impl Picked<'_> {
    /// Number of elements.
    pub(crate) fn count(self) -> Result<usize> {
        let count = match self {
            Self::Selection(selection) => {
                selection.element_count().and_then(|count| usize::try_from(count).ok())
            }
            Self::Points(points) => Some(points.count()),
        };
        count.ok_or_else(|| Error::limit("the selection has more elements than fit this machine"))
    }

    /// Checks that they are inside an array of that shape.
    pub(crate) fn check(self, shape: &[u64]) -> std::result::Result<(), SelectionError> {
        match self {
            Self::Selection(selection) => selection.check(shape),
            Self::Points(points) => points.check(shape),
        }
    }
}
