//! The format: reading, and the writer that a reader passes on for changing what was read.
use crate::{ZarrWriter, read};
use ncirrus_layout::{Catalog, Confidence, Driver, ObjectId, OpenOptions, Step, View, yes_or_no};
use std::sync::Arc;

/// Zarr v2, v3 and NCZarr.
#[derive(Debug, Clone, Copy, Default)]
pub struct ZarrDriver;

impl Driver for ZarrDriver {
    fn name(&self) -> &'static str {
        "zarr"
    }

    fn probe(&self, view: &dyn View, root: &ObjectId) -> Step<Confidence> {
        read::probe(view, root)
    }

    fn open(&self, view: &dyn View, root: &ObjectId, options: &OpenOptions) -> Step<Arc<dyn Catalog>> {
        // As in the address of a new dataset.
        let json_text = options.address.value("json_attributes").map(|text| yes_or_no(text) != Some(false));
        let writer = ZarrWriter::default().json_text(json_text).of_opened(options);
        Ok(Arc::new(read::open(view, root, options, Some(Arc::new(writer)))?))
    }
}
