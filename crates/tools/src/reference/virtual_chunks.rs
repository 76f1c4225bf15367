//! Virtual chunks of Icechunk for existing files, by the same plan as references of kerchunk. A session of icechunk writes them:
//! its transaction is not ours.
use super::json::{ReferenceKeys, StoredReference};
use super::{AT_ONCE, ReferenceOptions, ReferenceReport, ZarrFormat, check_axis, names, open_all, scan};
use crate::aggregate::each;
use ncirrus::{Error, Result, Session};
use ncirrus_layout::{ObjectBytes, Want};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// What a session of icechunk has to write.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct VirtualChunkPlan {
    /// Keys and contents: `zarr.json` of groups before that of their members, then embedded chunks.
    pub documents: Vec<(String, Vec<u8>)>,
    /// The objects that chunks are parts of.
    pub objects: Vec<PlannedObject>,
    /// The arrays with virtual chunks.
    pub arrays: Vec<PlannedArray>,
    /// What was found.
    pub report: ReferenceReport,
}

/// An object that chunks are parts of, and what identifies its state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedObject {
    /// Its absolute address.
    pub address: String,
    /// Its ETag, if the server reports a strong one.
    pub etag: Option<String>,
    /// Otherwise the time after which it has not been modified: seconds since 1970.
    pub modified: Option<u64>,
}

/// An array, and its virtual chunks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedArray {
    /// Its path, without a leading slash.
    pub path: String,
    /// Its virtual chunks.
    pub chunks: Vec<PlannedChunk>,
}

/// A virtual chunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedChunk {
    /// Its indexes in the grid.
    pub index: Vec<u64>,
    /// The number of its object.
    pub object: usize,
    /// Where its bytes begin.
    pub offset: u64,
    /// Their number.
    pub len: u64,
}

/// Plans virtual chunks for existing datasets: netCDF-3, HDF5, Zarr. Several are concatenated along an axis, in the order
/// given. Chunks of different lengths along it make a rectilinear grid.
///
/// # Errors
/// If a file cannot be read; `Invalid` naming the file and the variable if several do not match; `Unsupported` for files in
/// places that Icechunk does not reach.
pub fn plan_virtual_chunks(
    sources: &[String],
    options: &ReferenceOptions,
    session: &Session,
) -> Result<VirtualChunkPlan> {
    check_axis(sources, options)?;
    let inputs = open_all(sources, session, names::address)?;
    let (references, report) = scan(&inputs, options, ZarrFormat::V3, session)?;
    drop(inputs);
    let (found, mut documents) = split(references);
    documents.sort_by_key(|(key, _)| (!key.ends_with("zarr.json"), key.matches('/').count()));
    let names: BTreeSet<Arc<str>> = found.iter().map(|(_, reference)| reference.name()).collect();
    let names: Vec<Arc<str>> = names.into_iter().collect();
    let states = each(&names, AT_ONCE, None, |_, address| state(address, session))?;
    let number = |name: &Arc<str>| {
        names.binary_search(name).map_err(|_| Error::internal("an object without a number"))
    };
    let mut arrays: BTreeMap<String, Vec<PlannedChunk>> = BTreeMap::new();
    for (key, reference) in found {
        let (path, index) = place(&key).ok_or_else(|| Error::internal(format!("an odd key {key:?}")))?;
        let object = number(&reference.name())?;
        let size = states.get(object).map_or(0, |state| state.size);
        let (offset, len) = match reference {
            FoundReference::Whole(_) => (0, size),
            FoundReference::Range(_, offset, len) => (offset, len),
        };
        arrays.entry(path).or_default().push(PlannedChunk { index, object, offset, len });
    }
    let objects = names.iter().zip(&states).map(|(name, state)| PlannedObject::new(name, state)).collect();
    let arrays = arrays.into_iter().map(|(path, chunks)| PlannedArray { path, chunks }).collect();
    Ok(VirtualChunkPlan { documents, objects, arrays, report })
}

/// A reference that is not embedded.
enum FoundReference {
    Whole(Arc<str>),
    Range(Arc<str>, u64, u64),
}

impl FoundReference {
    fn name(&self) -> Arc<str> {
        match self {
            Self::Whole(name) | Self::Range(name, ..) => Arc::clone(name),
        }
    }
}

type Embedded = Vec<(String, Vec<u8>)>;

/// References, and what is embedded.
fn split(references: ReferenceKeys) -> (Vec<(String, FoundReference)>, Embedded) {
    let (mut found, mut embedded) = (Vec::new(), Vec::new());
    for (key, reference) in references.into_entries() {
        match reference {
            StoredReference::Inline(body) => embedded.push((key, body)),
            StoredReference::Whole(name) => found.push((key, FoundReference::Whole(name))),
            StoredReference::Range(name, offset, len) => {
                found.push((key, FoundReference::Range(name, offset, len)));
            }
        }
    }
    (found, embedded)
}

/// The array and the indexes of a chunk's key.
fn place(key: &str) -> Option<(String, Vec<u64>)> {
    let (path, cell) = key.rsplit_once("/c/").or_else(|| key.strip_suffix("/c").map(|path| (path, "")))?;
    let numbers = cell.split('/').filter(|number| !number.is_empty()).map(|number| number.parse().ok());
    Some((path.to_owned(), numbers.collect::<Option<_>>()?))
}

/// The size and the tag of an object.
fn state(address: &str, session: &Session) -> Result<ObjectBytes> {
    let url = names::reachable(address);
    session.wait_for_store(&url, async {
        let opened = ncirrus_store::open(&url, session.store_context()).await?;
        let found = opened.store.get(&opened.root, &Want::Range(0..1)).await?;
        found.ok_or_else(|| Error::not_found("no such object").at_object(&url))
    })
}

impl PlannedObject {
    fn new(address: &str, state: &ObjectBytes) -> Self {
        let etag = Some(state.tag.as_str()).filter(|tag| tag.starts_with('"')).map(str::to_owned);
        // Times of files have fractions of seconds, those of icechunk do not.
        let modified = state.tag.modified().filter(|_| etag.is_none()).map(|time| time.saturating_add(1));
        Self { address: address.to_owned(), etag, modified }
    }
}
