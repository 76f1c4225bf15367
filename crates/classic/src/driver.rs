//! Recognising and opening a file.
use crate::catalog::ClassicCatalog;
use crate::description::ModelDescription;
use crate::file::{FIRST_READ, NAME, load};
use crate::header::version_of;
use ncirrus_layout::{
    Catalog, Confidence, Driver, Error, ErrorKind, ObjectId, OpenOptions, Step, View, Want,
};
use std::sync::Arc;

/// Reads netCDF-3 files: CDF-1, CDF-2 and CDF-5.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ClassicDriver;

impl Driver for ClassicDriver {
    fn name(&self) -> &'static str {
        NAME
    }

    fn probe(&self, view: &dyn View, root: &ObjectId) -> Step<Confidence> {
        let Some(blob) = view.read(root, Want::Parse(0..FIRST_READ))? else { return Ok(Confidence::No) };
        let magic = blob.bytes.get(..4).unwrap_or_default();
        Ok(match (version_of(magic), magic) {
            (Ok(_), _) => Confidence::Yes,
            (Err(error), [.., 0..=31]) if error.kind() == ErrorKind::Unsupported => Confidence::Yes,
            _ => Confidence::No,
        })
    }

    fn open(&self, view: &dyn View, root: &ObjectId, options: &OpenOptions) -> Step<Arc<dyn Catalog>> {
        let file = load(view, root)?;
        if options.view.is_strict()
            && let Some(reason) = ModelDescription::new(&file.header, file.size).refusal()
        {
            let message = format!("netCDF-C does not open this file: {reason}");
            return Err(Error::unsupported(message).at_object(root).by(NAME).into());
        }
        Ok(Arc::new(ClassicCatalog::new(root, &file)))
    }
}
