//! Aggregations: variables that are put together from many files (CFA 0.4, 0.5, 0.6, CF-1.13 section 2.8).
//!
//! An aggregation is not a format of its own: its master is a dataset of any format. [`AggregateOverlay`] sees the
//! aggregated variables in it.
#![forbid(unsafe_code)]

pub mod write;

use ncirrus_layout::{Catalog, ObjectId, OpenOptions, Overlay, Step, View};
use std::sync::Arc;

/// Sees aggregated variables.
#[derive(Debug, Default, Clone, Copy)]
pub struct AggregateOverlay;

impl Overlay for AggregateOverlay {
    fn name(&self) -> &'static str {
        "aggregate"
    }

    fn over(
        &self,
        _: &dyn View,
        _: &ObjectId,
        _: &Arc<dyn Catalog>,
        _: &OpenOptions,
    ) -> Step<Option<Arc<dyn Catalog>>> {
        Ok(None)
    }
}
