//! Recognising and opening a file; the only module that depends on both reading and writing.
mod front;

use crate::netcdf;
use crate::superblock::find;
use crate::write::Hdf5Writer;
use front::{headers_end, metadata_end};
use ncirrus_layout::{Catalog, Confidence, Driver, Error, ObjectId, OpenOptions, Step, View};
use std::sync::Arc;

/// Reads HDF5 files as netCDF-4.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Hdf5Driver;

impl Driver for Hdf5Driver {
    fn name(&self) -> &'static str {
        "hdf5"
    }

    fn probe(&self, view: &dyn View, root: &ObjectId) -> Step<Confidence> {
        Ok(find(view, root)?.map_or(Confidence::No, |_| Confidence::Yes))
    }

    fn open(&self, view: &dyn View, root: &ObjectId, options: &OpenOptions) -> Step<Arc<dyn Catalog>> {
        let hides_references = options.view.is_netcdf_c();
        let (mut catalog, objects) = netcdf::open(view, root, hides_references)?;
        if options.view.is_strict()
            && let Some(reason) = objects.refusal()
        {
            let message = format!("netCDF-C does not open this file: {reason}");
            return Err(Error::malformed(message).at_object(root).by("hdf5").into());
        }
        // Files of other programs have their metadata anywhere.
        catalog.front = if catalog.is_ours() { metadata_end(view, &objects) } else { None };
        catalog.headers_end = headers_end(view, &objects);
        let writer = Hdf5Writer {
            classic_model: catalog.strict,
            hides_references,
            needs_order: options.view.is_strict(),
            ..Hdf5Writer::default()
        };
        catalog.writing = Some(Arc::new(writer));
        Ok(Arc::new(catalog))
    }
}
