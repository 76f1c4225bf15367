//! All references, for programs that write them again.
use super::manifest::ManifestEntry;
use super::records::{RecordFiles, RecordPlace};
use super::{ReferenceStore, look_for};
use crate::locate::open_object;
use crate::{StoreContext, Url};
use bytes::Bytes;
use ncirrus_layout::{Error, Result};

/// Where the bytes of a key are, as references say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reference {
    /// In the references themselves.
    Inline(Bytes),
    /// A whole object, by the name that the references have for it.
    Whole(String),
    /// A range of an object: name, offset, length in bytes.
    Range(String, u64, u64),
}

/// The references at an address; `None` if there are none.
///
/// # Errors
/// As for opening a dataset.
pub async fn open_references(address: &str, context: &StoreContext) -> Result<Option<ReferenceStore>> {
    let url = Url::parse(address)?;
    look_for(&open_object(&url, context)?, context).await
}

impl ReferenceStore {
    /// Whether they are stored in Parquet, and then with how many rows in each file.
    pub fn record_size(&self) -> Option<u64> {
        self.records.as_ref().map(RecordFiles::record_size)
    }

    /// All references by key, with the names of objects as they are written.
    ///
    /// # Errors
    /// `Malformed` for a damaged reference, errors of reading files of references.
    pub async fn references(&self) -> Result<Vec<(String, Reference)>> {
        let mut all = Vec::new();
        for (key, entry) in self.manifest.entries.iter() {
            all.push((key.to_owned(), self.reference(key, entry)?));
        }
        let Some(records) = &self.records else { return Ok(all) };
        for place in records.places()? {
            let Some(part) = records.part(place, &self.targets).await? else { continue };
            for row in 0..part.row_count() {
                let Some(key) = records.key(RecordPlace { row, ..place }) else { break };
                if let Some(entry) = part.entry(row)? {
                    let reference = self.reference(&key, entry)?;
                    all.push((key, reference));
                }
            }
        }
        Ok(all)
    }

    fn reference(&self, key: &str, entry: &ManifestEntry) -> Result<Reference> {
        Ok(match entry {
            ManifestEntry::Inline(body) => Reference::Inline(Bytes::clone(body)),
            ManifestEntry::Whole(target) => Reference::Whole(self.targets.written_name(*target)),
            ManifestEntry::Range { target, offset, len } => {
                Reference::Range(self.targets.written_name(*target), *offset, *len)
            }
            ManifestEntry::Damaged(reason) => {
                return Err(Error::malformed(reason.to_string()).at_object(key).by("reference"));
            }
        })
    }
}
