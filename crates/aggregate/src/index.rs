//! Where the fragments of a variable lie.
use ncirrus_layout::{Aggregation, TileIndex};
use std::sync::Arc;

/// Where the fragments of a variable lie, and what they make.
#[derive(Debug, Clone)]
pub(crate) struct FragmentIndex {
    pub(crate) tiles: Arc<dyn TileIndex>,
    /// Lengths of the dimensions as far as fragments reach.
    pub(crate) lengths: Vec<u64>,
    pub(crate) facts: Aggregation,
}
