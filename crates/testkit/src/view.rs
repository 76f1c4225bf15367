//! Views over objects in memory: one that has everything, and the basis of those that have only parts.
use bytes::Bytes;
use ncirrus_layout::{
    Error, Limits, ListEntry, Listing, Memo, ObjectBytes, ObjectId, Step, StoreId, StorePut, Tag,
    VariableRef, View, Want,
};
use ncirrus_model::{CodecSpec, Selection, Values};
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

/// Objects by key.
#[derive(Debug, Clone, Default)]
pub struct ObjectView {
    map: BTreeMap<String, Bytes>,
}

impl ObjectView {
    /// No objects.
    pub fn new() -> Self {
        Self::default()
    }

    /// One object with that key.
    pub fn one(key: &str, body: impl Into<Bytes>) -> Self {
        let mut objects = Self::new();
        objects.put(key, body);
        objects
    }

    /// Every file below a directory, by its path relative to it.
    ///
    /// # Errors
    /// If the directory or a file in it cannot be read.
    pub fn from_dir(root: &Path) -> std::io::Result<Self> {
        let mut objects = Self::new();
        let mut stack = vec![root.to_path_buf()];
        while let Some(dir) = stack.pop() {
            for entry in std::fs::read_dir(&dir)? {
                let path = entry?.path();
                if path.is_dir() {
                    stack.push(path);
                } else if let Ok(relative) = path.strip_prefix(root) {
                    objects.put(&relative.to_string_lossy(), std::fs::read(&path)?);
                }
            }
        }
        Ok(objects)
    }

    /// Adds or replaces an object.
    pub fn put(&mut self, key: &str, body: impl Into<Bytes>) {
        self.map.insert(key.to_owned(), body.into());
    }

    /// Removes an object.
    pub fn remove(&mut self, key: &str) -> Option<Bytes> {
        self.map.remove(key)
    }

    /// Carries out a put, as a store would.
    pub fn apply(&mut self, put: StorePut) {
        match put {
            StorePut::Object { object, body } => self.put(object.key(), body),
            StorePut::Patch { object, offset, body } => self.change(&object, |bytes| {
                let start = to_usize(offset);
                bytes.resize(bytes.len().max(start + body.len()), 0);
                bytes.splice(start..start + body.len(), body.iter().copied());
            }),
            StorePut::Resize { object, len } => self.change(&object, |bytes| bytes.resize(to_usize(len), 0)),
            StorePut::Move { object, from, to, len } => self.change(&object, |bytes| {
                let (from, to, len) = (to_usize(from), to_usize(to), to_usize(len));
                bytes.resize(bytes.len().max(from + len).max(to + len), 0);
                bytes.copy_within(from..from + len, to);
            }),
            StorePut::Delete { object } => _ = self.remove(object.key()),
            StorePut::DeleteTree { prefix } => _ = self.take_below(&prefix),
            StorePut::CopyTree { from, to } => {
                let taken = self.take_below(&from);
                taken.iter().for_each(|(name, body)| self.put(&format!("{}/{name}", to.key()), body.clone()));
                taken.into_iter().for_each(|(name, body)| self.put(&format!("{}/{name}", from.key()), body));
            }
            StorePut::RenameTree { from, to } => {
                let taken = self.take_below(&from);
                taken.into_iter().for_each(|(name, body)| self.put(&format!("{}/{name}", to.key()), body));
            }
        }
    }

    fn change(&mut self, object: &ObjectId, change: impl FnOnce(&mut Vec<u8>)) {
        let mut bytes = self.map.remove(object.key()).map(Vec::from).unwrap_or_default();
        change(&mut bytes);
        self.put(object.key(), bytes);
    }

    /// Takes out everything below a prefix, by names without the prefix.
    fn take_below(&mut self, prefix: &ObjectId) -> Vec<(String, Bytes)> {
        let below = format!("{}/", prefix.key());
        let keys: Vec<String> = self.map.keys().filter(|key| key.starts_with(&below)).cloned().collect();
        let taken = keys.into_iter().filter_map(|key| {
            let body = self.map.remove(&key)?;
            Some((key.strip_prefix(&below)?.to_owned(), body))
        });
        taken.collect()
    }

    /// The bytes of an object.
    pub fn find(&self, key: &str) -> Option<&Bytes> {
        self.map.get(key)
    }

    /// All keys in byte order.
    pub fn keys(&self) -> impl Iterator<Item = &str> + '_ {
        self.map.keys().map(String::as_str)
    }

    /// The store of these objects.
    pub fn store() -> StoreId {
        StoreId::new("memory:")
    }

    /// The object with that key in [`store`](Self::store).
    pub fn id(key: &str) -> ObjectId {
        ObjectId::new(Self::store(), key)
    }

    /// The answer of a complete view.
    pub fn blob(&self, object: &ObjectId, want: &Want) -> Option<ObjectBytes> {
        let whole = self.map.get(object.key())?;
        let size = whole.len() as u64;
        let range = resolve(want, size);
        let bytes = whole.slice(to_usize(range.start)..to_usize(range.end));
        Some(ObjectBytes { bytes, offset: range.start, size, tag: Tag::new(format!("{size}")) })
    }

    /// The names directly below a prefix.
    pub fn list(&self, prefix: &ObjectId) -> Listing {
        let start = if prefix.key().is_empty() { String::new() } else { format!("{}/", prefix.key()) };
        let mut entries: BTreeMap<String, bool> = BTreeMap::new();
        for rest in self.map.keys().filter_map(|key| key.strip_prefix(&start)) {
            match rest.split_once('/') {
                Some((name, _)) => _ = entries.insert(name.to_owned(), true),
                None => _ = entries.entry(rest.to_owned()).or_insert(false),
            }
        }
        let entries = entries.into_iter().map(|(name, is_prefix)| ListEntry { name, is_prefix }).collect();
        Listing { entries, next: None }
    }
}

/// The wanted range of an object of that size.
pub(crate) fn resolve(want: &Want, size: u64) -> Range<u64> {
    match want {
        Want::All | Want::AtMost(_) => 0..size,
        Want::Range(range) | Want::Parse(range) => {
            range.start.min(size)..range.end.min(size).max(range.start.min(size))
        }
        Want::Suffix(len) => size.saturating_sub(*len)..size,
    }
}

fn to_usize(value: u64) -> usize {
    usize::try_from(value).unwrap_or(usize::MAX)
}

/// A view that has all objects and never stalls.
#[derive(Debug)]
pub struct MemoryView {
    /// The objects; change them between steps only.
    pub objects: ObjectView,
    memo: Memo,
    limits: Limits,
}

impl MemoryView {
    /// A view of these objects.
    pub fn new(objects: ObjectView) -> Self {
        Self { objects, memo: Memo::new(1 << 26), limits: Limits::default() }
    }

    /// The same with other limits.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }
}

impl View for MemoryView {
    fn read(&self, object: &ObjectId, want: Want) -> Step<Option<ObjectBytes>> {
        Ok(self.objects.blob(object, &want))
    }

    fn decoded(
        &self,
        object: &ObjectId,
        range: Range<u64>,
        codecs: &[CodecSpec],
        _: u32,
        len: u64,
    ) -> Step<Bytes> {
        let Some(blob) = self.objects.blob(object, &Want::Range(range)) else {
            return Err(Error::not_found("no such object").at_object(object).into());
        };
        Ok(strip_checksums(&blob.bytes, codecs, len)?)
    }

    fn values(&self, variable: &VariableRef, _: &Selection) -> Step<Values> {
        Err(Error::unsupported(format!("values of {}", variable.path)).into())
    }

    fn list(&self, prefix: &ObjectId, _: Option<&str>) -> Step<Listing> {
        Ok(self.objects.list(prefix))
    }

    fn release(&self, _: &ObjectId, _: u64) {}

    fn memo(&self) -> &Memo {
        &self.memo
    }

    fn limits(&self) -> &Limits {
        &self.limits
    }
}

/// Undoes `bytes` and `crc32c`, which shard indexes use; checksums are not verified here.
pub(crate) fn strip_checksums(bytes: &Bytes, codecs: &[CodecSpec], len: u64) -> Result<Bytes, Error> {
    let mut end = bytes.len();
    for codec in codecs.iter().rev() {
        match codec.identifier().as_str() {
            "crc32c" => end = end.saturating_sub(4),
            "bytes" => {}
            other => return Err(Error::unsupported(format!("the testkit has no codec {other}"))),
        }
    }
    if len != ncirrus_layout::ANY_LEN && end as u64 != len {
        return Err(Error::malformed(format!("{end} bytes where {len} were expected")));
    }
    Ok(bytes.slice(..end))
}
