//! A dataset as Zarr: a copy of its definitions in memory, without values.
use super::key::KeyForm;
use bytes::Bytes;
use ncirrus::{
    CreateOptions, Dataset, Dialect, Error, Kind, OpenOptions, Result, Session, StringForm, VarId,
    VariableEncoder,
};
use ncirrus_tools::{CopyOptions, ShardRule};
use serde_json::Value;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The dataset in Zarr v3.
pub(super) struct Zarr3Twin(pub(super) Arc<Twin>);
/// The dataset in Zarr v2.
pub(super) struct Zarr2Twin(pub(super) Arc<Twin>);

impl Zarr3Twin {
    pub(super) fn new(source: &Dataset) -> Result<Self> {
        Ok(Self(Arc::new(Twin::new(source, Kind::Zarr3)?)))
    }
}

impl Zarr2Twin {
    pub(super) fn new(source: &Dataset) -> Result<Self> {
        Ok(Self(Arc::new(Twin::new(source, Kind::Zarr2)?)))
    }
}

/// A dataset as Zarr.
pub(super) struct Twin {
    pub(super) kind: Kind,
    documents: HashMap<String, Bytes>,
    /// By their paths, without a slash in front.
    arrays: HashMap<String, TwinArray>,
}

/// An array.
pub(super) struct TwinArray {
    /// The variable of the dataset that is served.
    pub(super) source: VarId,
    pub(super) keys: KeyForm,
    pub(super) shape: Vec<u64>,
    pub(super) chunk: Vec<u64>,
    /// Bytes of an element; about, for strings.
    pub(super) element_len: u64,
    /// `None`: of strings, whose chunks are made in another way.
    pub(super) encoder: Option<VariableEncoder>,
    /// Whether the chunks are stored in this form already.
    pub(super) is_same: bool,
}

impl Twin {
    fn new(source: &Dataset, kind: Kind) -> Result<Self> {
        let store = ScratchStore::new(source.session());
        let address = store.address("twin");
        let create = CreateOptions::new()
            .kind(kind)
            .dialect(Dialect::Plain)
            .strings(StringForm::Variable)
            .json_attributes(false)
            .durable(false);
        let options = CopyOptions::new()
            .create(create)
            .shards([ShardRule::Unshard].into_iter().take(usize::from(kind == Kind::Zarr3)))
            .definitions_only(true)
            .fix_unlimited(true)
            .drop_filters(true)
            .rename_reserved(true);
        let report = ncirrus_tools::copy(source, &address, &options, source.session())?;
        for loss in &report.losses {
            tracing::info!(target: "ncirrus::serve", "as Zarr: {loss}");
        }
        let documents = store.objects("twin/")?;
        let twin = Dataset::open_with(&address, &OpenOptions::default(), source.session())?;
        let mut arrays = HashMap::new();
        for variable in twin.variables() {
            let path = variable.path();
            // A variable whose name Zarr keeps for itself has another one here; it is not served.
            let Ok(own) = source.variable(&path) else { continue };
            let key = path.trim_start_matches('/').to_owned();
            let shape = variable.shape();
            let chunk = match variable.storage() {
                ncirrus::Storage::Chunked(chunk) => chunk,
                _ => shape.clone(),
            };
            let encoder = variable.encoder().ok();
            let is_same = encoder.as_ref().zip(own.encoder().ok()).is_some_and(|(wanted, stored)| {
                let texts = wanted.to_text().ok().zip(stored.to_text().ok());
                texts.is_some_and(|(wanted, stored)| are_alike(&wanted, &stored))
            });
            let keys = match kind {
                Kind::Zarr3 => KeyForm::V3,
                _ => KeyForm::V2(separator(documents.get(&format!("{key}/.zarray")))),
            };
            let (source, element_len) = (own.id(), own.packed_len().map_or(32, |len| len as u64));
            arrays.insert(key, TwinArray { source, keys, shape, chunk, element_len, encoder, is_same });
        }
        Ok(Self { kind, documents, arrays })
    }

    /// A document of metadata.
    pub(super) fn document(&self, key: &str) -> Option<Bytes> {
        self.documents.get(key).cloned()
    }

    /// The array and the chunk that a key names.
    pub(super) fn find(&self, key: &str) -> Option<(&TwinArray, Vec<u64>)> {
        let mut at = key.len();
        while let Some(slash) = key.get(..at)?.rfind('/') {
            if let Some(array) = self.arrays.get(key.get(..slash)?) {
                let cell = array.keys.parse(key.get(slash + 1..)?, array.shape.len())?;
                return Some((array, cell));
            }
            at = slash;
        }
        None
    }
}

/// Whether two encoders make the same bytes of the same chunks.
fn are_alike(one: &str, other: &str) -> bool {
    let parsed = |text: &str| serde_json::from_str::<Value>(text).ok();
    let Some((one, other)) = parsed(one).zip(parsed(other)) else { return false };
    let names = ["type", "shape", "grid", "clipped", "stored", "codecs", "fill", "masks"];
    names.iter().all(|name| one.get(name) == other.get(name))
}

/// What is between the numbers in keys of Zarr v2.
fn separator(document: Option<&Bytes>) -> char {
    let parsed = document.and_then(|document| serde_json::from_slice::<Value>(document).ok());
    let text = parsed.as_ref().and_then(|array| array.get("dimension_separator")).and_then(Value::as_str);
    text.and_then(|text| text.chars().next()).unwrap_or('.')
}

/// A store in memory that is forgotten when this is dropped.
pub(super) struct ScratchStore {
    session: Session,
    name: String,
}

impl ScratchStore {
    pub(super) fn new(session: &Session) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let name = format!("served-{}", NEXT.fetch_add(1, Ordering::Relaxed));
        Self { session: session.clone(), name }
    }

    pub(super) fn address(&self, key: &str) -> String {
        format!("memory://{}/{key}", self.name)
    }

    /// All objects below a prefix, by the rest of their keys.
    pub(super) fn objects(&self, prefix: &str) -> Result<HashMap<String, Bytes>> {
        use ncirrus::store::LocalStore;
        let lacks = || Error::internal("a dataset in memory is not there");
        let store = self.session.store_context().memory.find(&self.name).ok_or_else(lacks)?;
        let mut objects = HashMap::new();
        for key in store.keys() {
            let Some(rest) = key.strip_prefix(prefix) else { continue };
            let found = store.read(&store.root().child(&key), &ncirrus::layout::Want::All)?;
            objects.insert(rest.to_owned(), found.ok_or_else(lacks)?.bytes);
        }
        Ok(objects)
    }
}

impl Drop for ScratchStore {
    fn drop(&mut self) {
        self.session.store_context().memory.remove(&self.name);
    }
}
