//! Aggregations: variables that are composed of many files (CFA 0.4, 0.5, 0.6, CF-1.13 section 2.8).
//!
//! An aggregation is not a format of its own: its master is a dataset of any format. [`AggregateOverlay`] adds the
//! aggregated variables to it.
#![forbid(unsafe_code)]

mod boxes;
mod catalog;
mod cf;
mod cfa04;
mod cfa05;
mod cuts;
mod describe;
mod detect;
mod entries;
mod hide;
mod index;
mod keywords;
mod lookup;
mod names;
mod overlay;
mod subject;
#[cfg(test)]
mod testing;
mod touched;
pub mod write;

pub use detect::says_aggregated;

use ncirrus_layout::{Catalog, ObjectId, OpenOptions, Overlay, Step, View};
use std::sync::Arc;
use subject::{MasterDataset, OpenChoices};

/// Adds aggregated variables.
#[derive(Debug, Default, Clone, Copy)]
pub struct AggregateOverlay;

impl Overlay for AggregateOverlay {
    fn name(&self) -> &'static str {
        "aggregate"
    }

    fn over(
        &self,
        view: &dyn View,
        root: &ObjectId,
        catalog: &Arc<dyn Catalog>,
        options: &OpenOptions,
    ) -> Step<Option<Arc<dyn Catalog>>> {
        if options.raw {
            return Ok(None);
        }
        let inner = MasterDataset { catalog: Arc::clone(catalog), model: catalog.tree(view)? };
        let finds = detect::detect(view, &inner, options.lenient)?;
        if finds.is_empty() {
            return Ok(None);
        }
        let substitutions = options.substitutions.iter();
        let substitutions =
            substitutions.map(|(name, value)| (names::bare(name).to_owned(), value.clone())).collect();
        let choices = Arc::new(OpenChoices { lenient: options.lenient, substitutions });
        Ok(Some(Arc::new(overlay::overlay(view, root, inner, finds, &choices)?)))
    }
}
