//! The locations of a variable's fragments.
use ncirrus_layout::{Aggregation, TileIndex};
use std::sync::Arc;

/// The locations of a variable's fragments, and the resulting shape.
#[derive(Debug, Clone)]
pub(crate) struct FragmentIndex {
    pub(crate) tiles: Arc<dyn TileIndex>,
    /// Lengths of the dimensions as far as fragments extend.
    pub(crate) lengths: Vec<u64>,
    pub(crate) facts: Aggregation,
}
