//! Reading zip files in any store.
use super::directory::{ZipDirectory, ZipEntry, check_readable};
use super::format::{self, LOCAL_LEN, ZipTail};
use super::inflate;
use crate::store::{LocalStore, PutCondition, ReadOnlyStore, Store, StoreExt, StoreFacts};
use crate::{key, memory, want};
use bytes::Bytes;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use ncirrus_layout::LockExt;
use ncirrus_layout::{Error, ErrorKind, Limits, Listing, ObjectBytes, ObjectId, Result, StoreId, Tag, Want};
use std::ops::Range;
use std::sync::{Arc, Mutex};

/// The objects in a zip file in another store. Its directory is read once; stored entries are ranges of the file,
/// compressed ones are decompressed whole.
#[derive(Debug)]
pub struct ZipStore {
    id: StoreId,
    inner: Arc<dyn Store>,
    zip: ObjectId,
    tag: Tag,
    directory: ZipDirectory,
    limits: Limits,
    /// The compressed entry that was read last.
    last: Mutex<Option<(String, Bytes)>>,
}

/// Bytes at the end of the file that are read first; the directory of a small one is among them.
const TAIL: u64 = 128 << 10;
/// If the content of an entry starts closer than this, its header is read along with it.
const NEAR: u64 = 64 << 10;

impl ZipStore {
    /// Reads the directory of a zip file: in one request when it is small, else in two or three.
    ///
    /// # Errors
    /// `NotFound`, `Malformed` for a file that is not a zip file, is truncated, or has overlapping entries; `Limit`
    /// for a directory that is too large.
    pub async fn open(inner: Arc<dyn Store>, zip: ObjectId, limits: &Limits) -> Result<Self> {
        let read = read_directory(inner.as_ref(), &zip, limits).await;
        let (tag, directory) = read.map_err(|error| error.at_object(&zip).by("zip"))?;
        let id = zip.store.at(zip.to_string());
        Ok(Self { id, inner, zip, tag, directory, limits: limits.clone(), last: Mutex::default() })
    }

    /// The prefix of the dataset: the shallowest one that holds a marker of a Zarr dataset; else the only entry, so
    /// that a driver can look at it; else the root.
    pub fn root_prefix(&self) -> String {
        self.directory.root_prefix()
    }

    /// The dataset in the zip file.
    pub fn root(&self) -> ObjectId {
        ObjectId::new(self.id.clone(), self.root_prefix())
    }

    /// Entries that were skipped, and why.
    pub fn warnings(&self) -> &[String] {
        &self.directory.warnings
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        self.directory.entries.len()
    }

    /// Whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(super) fn directory(&self) -> &ZipDirectory {
        &self.directory
    }

    async fn read_entry(&self, object: &ObjectId, want: &Want) -> Result<Option<ObjectBytes>> {
        let key = key::check(object)?;
        let Some(entry) = self.directory.entries.get(key) else { return Ok(None) };
        check_readable(&entry.header).map_err(|error| error.at_object(object).by("zip"))?;
        want::check_size(want, entry.header.size).map_err(|error| error.at_object(object).by("zip"))?;
        let range = want::resolve(want, entry.header.size);
        let bytes = self.part(key, entry, &range).await.map_err(|error| error.at_object(object).by("zip"))?;
        Ok(Some(ObjectBytes { bytes, offset: range.start, size: entry.header.size, tag: self.tag_of(entry) }))
    }

    fn tag_of(&self, entry: &ZipEntry) -> Tag {
        Tag::new(format!("{}-{:x}-{:x}", self.tag.as_str(), entry.header.offset, entry.header.crc))
    }

    async fn part(&self, key: &str, entry: &ZipEntry, range: &Range<u64>) -> Result<Bytes> {
        if range.is_empty() {
            return Ok(Bytes::new());
        }
        if *range == (0..entry.header.size) {
            return inflate::content(
                &entry.header,
                self.raw(key, entry, 0..entry.header.compressed).await?,
                &self.limits,
            );
        }
        if entry.header.method == format::STORED {
            return self.raw(key, entry, range.clone()).await;
        }
        let whole = match self.last_read(key) {
            Some(whole) => whole,
            None => self.keep(
                key,
                inflate::content(
                    &entry.header,
                    self.raw(key, entry, 0..entry.header.compressed).await?,
                    &self.limits,
                )?,
            ),
        };
        slice(&whole, range)
    }

    fn last_read(&self, key: &str) -> Option<Bytes> {
        let last = self.last.guard();
        last.as_ref().filter(|(kept, _)| kept == key).map(|(_, bytes)| bytes.clone())
    }

    fn keep(&self, key: &str, whole: Bytes) -> Bytes {
        *self.last.guard() = Some((key.to_owned(), whole.clone()));
        whole
    }

    /// The stored bytes of an entry. The header before them is read along if it is close.
    async fn raw(&self, key: &str, entry: &ZipEntry, range: Range<u64>) -> Result<Bytes> {
        let at = entry.header.offset;
        if let Some(&content) = entry.content.get() {
            return self.exactly(content + range.start..content + range.end).await;
        }
        let min = (LOCAL_LEN + key.len()) as u64;
        if range.start > NEAR {
            let header = self.fetch(at..entry.bound.min(at + min)).await?;
            let content = self.locate(key, entry, &header)?;
            return self.exactly(content + range.start..content + range.end).await;
        }
        // Extra fields of the header are seldom longer than those of 64-bit sizes and times.
        let guess = entry.bound.min(at.saturating_add(min + 64).saturating_add(range.end));
        let bytes = self.fetch(at..guess).await?;
        let content = self.locate(key, entry, &bytes)?;
        let start = content - at + range.start;
        match slice(&bytes, &(start..start + (range.end - range.start))) {
            Ok(part) => Ok(part),
            Err(_) => self.exactly(content + range.start..content + range.end).await,
        }
    }

    /// Where the content of an entry starts, from the bytes of its header on.
    fn locate(&self, key: &str, entry: &ZipEntry, bytes: &[u8]) -> Result<u64> {
        let len = format::read_local(bytes, key.as_bytes(), entry.header.method)?;
        let content = entry.header.offset + len;
        if content.checked_add(entry.header.compressed).is_none_or(|end| end > entry.bound) {
            return Err(Error::malformed("the zip entry overlaps the next one").at_offset(content));
        }
        Ok(*entry.content.get_or_init(|| content))
    }

    async fn exactly(&self, range: Range<u64>) -> Result<Bytes> {
        let len = range.end - range.start;
        let bytes = self.fetch(range).await?;
        slice(&bytes, &(0..len))
    }

    async fn fetch(&self, range: Range<u64>) -> Result<Bytes> {
        let start = range.start;
        let blob = fetch(self.inner.as_ref(), &self.zip, &Want::Range(range)).await?;
        if blob.tag != self.tag {
            return Err(
                Error::new(ErrorKind::Changed, "the zip file changed while it was read").at_offset(start)
            );
        }
        Ok(blob.bytes)
    }
}

async fn read_directory(inner: &dyn Store, zip: &ObjectId, limits: &Limits) -> Result<(Tag, ZipDirectory)> {
    let tail = fetch(inner, zip, &Want::Suffix(TAIL.max(format::LONGEST_END))).await?;
    let start = tail.size.saturating_sub(tail.bytes.len() as u64);
    let end = match format::read_tail(&tail.bytes, tail.size)? {
        ZipTail::End(end) => end,
        ZipTail::At(at) => format::read_end64(&within(inner, zip, &tail, at, format::READ_64).await?, at)?,
    };
    limits.metadata_len(end.len, "directory of the zip file")?;
    let bytes = match end.offset.checked_sub(start) {
        Some(at) => slice(&tail.bytes, &(at..at + end.len))?,
        None => within(inner, zip, &tail, end.offset, end.len).await?,
    };
    Ok((tail.tag, ZipDirectory::read(&bytes, end, limits)?))
}

/// Bytes of the file: from its cached tail if possible, otherwise read.
async fn within(inner: &dyn Store, zip: &ObjectId, tail: &ObjectBytes, at: u64, len: u64) -> Result<Bytes> {
    let end = at.checked_add(len).filter(|end| *end <= tail.size);
    let Some(end) = end else {
        return Err(Error::malformed("zip record lies outside the file").at_offset(at));
    };
    let start = tail.size.saturating_sub(tail.bytes.len() as u64);
    if at >= start {
        return slice(&tail.bytes, &(at - start..end - start));
    }
    let blob = fetch(inner, zip, &Want::Range(at..end)).await?;
    if blob.tag == tail.tag {
        slice(&blob.bytes, &(0..len))
    } else {
        Err(Error::new(ErrorKind::Changed, "the zip file changed while it was read"))
    }
}

/// Reads from the store that holds the zip file, without waiting if possible.
async fn fetch(inner: &dyn Store, zip: &ObjectId, want: &Want) -> Result<ObjectBytes> {
    let blob = match inner.local() {
        Some(local) => local.read(zip, want)?,
        None => inner.get(zip, want).await?,
    };
    blob.ok_or_else(|| Error::not_found("no such object").at_object(zip))
}

/// A part of bytes that must be there.
pub(super) fn slice(bytes: &Bytes, range: &Range<u64>) -> Result<Bytes> {
    let cut_off = || Error::malformed("zip file is cut off").at_offset(range.end);
    let start = usize::try_from(range.start).map_err(|_| cut_off())?;
    let end = usize::try_from(range.end).map_err(|_| cut_off())?;
    if start <= end && end <= bytes.len() { Ok(bytes.slice(start..end)) } else { Err(cut_off()) }
}

impl ReadOnlyStore for ZipStore {
    fn id(&self) -> &StoreId {
        &self.id
    }

    fn facts(&self) -> StoreFacts {
        StoreFacts { lists: true, writable: false, ..self.inner.facts() }
    }

    fn local(&self) -> Option<&dyn LocalStore> {
        self.inner.local().map(|_| self as &dyn LocalStore)
    }

    fn get<'a>(&'a self, object: &'a ObjectId, want: &'a Want) -> BoxFuture<'a, Result<Option<ObjectBytes>>> {
        self.read_entry(object, want).boxed()
    }

    fn list<'a>(&'a self, prefix: &'a ObjectId, page: Option<&'a str>) -> BoxFuture<'a, Result<Listing>> {
        Box::pin(async move { LocalStore::list(self, prefix, page) })
    }

    fn rejection(&self) -> Error {
        Error::unsupported("writing to a zip file that is open for reading")
    }

    fn warnings(&self) -> Vec<String> {
        self.inner.warnings()
    }

    fn within(&self, _: &ObjectId) -> Option<(ObjectId, Range<u64>)> {
        None
    }

    fn within_many<'a>(
        &'a self,
        _: &'a [ObjectId],
    ) -> Option<BoxFuture<'a, Result<Vec<Option<crate::ObjectRange>>>>> {
        None
    }

    fn answer<'a>(
        &'a self,
        _: &'a ObjectId,
        _: &'a mut dyn crate::AnswerReceiver,
    ) -> Option<BoxFuture<'a, Result<bool>>> {
        None
    }
}

/// Only offered when the store that holds the zip file is local.
impl LocalStore for ZipStore {
    fn id(&self) -> &StoreId {
        &self.id
    }

    fn read(&self, object: &ObjectId, want: &Want) -> Result<Option<ObjectBytes>> {
        let read = self.read_entry(object, want).now_or_never();
        read.unwrap_or_else(|| Err(Error::internal("a local store had to wait").at_object(object)))
    }

    fn read_into(&self, object: &ObjectId, offset: u64, buffer: &mut [u8]) -> Result<Option<usize>> {
        let end = offset.saturating_add(buffer.len() as u64);
        let blob = LocalStore::read(self, object, &Want::Range(offset..end))?;
        Ok(blob.map(|blob| {
            let len = blob.bytes.len().min(buffer.len());
            buffer.split_at_mut(len).0.copy_from_slice(blob.bytes.slice(..len).as_ref());
            len
        }))
    }

    fn read_whole(&self, object: &ObjectId, limit: u64, buffer: &mut Vec<u8>) -> Result<Option<usize>> {
        match LocalStore::stat(self, object)? {
            Some((size, _)) if size > limit => return Err(memory::too_large(object, size, limit)),
            Some(_) => {}
            None => return Ok(None),
        }
        let blob = LocalStore::read(self, object, &Want::All)?;
        Ok(blob.map(|blob| {
            buffer.extend_from_slice(&blob.bytes);
            blob.bytes.len()
        }))
    }

    fn stat(&self, object: &ObjectId) -> Result<Option<(u64, Tag)>> {
        let entry = self.directory.entries.get(key::check(object)?);
        Ok(entry.map(|entry| (entry.header.size, self.tag_of(entry))))
    }

    fn put(&self, object: &ObjectId, _: &[u8], _: &PutCondition) -> Result<Tag> {
        Err(self.rejection().at_object(object))
    }

    fn write_at(&self, object: &ObjectId, _: u64, _: &[u8]) -> Result<()> {
        Err(self.rejection().at_object(object))
    }

    fn resize(&self, object: &ObjectId, _: u64) -> Result<()> {
        Err(self.rejection().at_object(object))
    }

    fn delete(&self, object: &ObjectId) -> Result<()> {
        Err(self.rejection().at_object(object))
    }

    fn delete_tree(&self, prefix: &ObjectId) -> Result<()> {
        Err(self.rejection().at_object(prefix))
    }

    fn rename(&self, from: &ObjectId, _: &ObjectId) -> Result<()> {
        Err(self.rejection().at_object(from))
    }

    fn list(&self, prefix: &ObjectId, page: Option<&str>) -> Result<Listing> {
        Ok(self.directory.entries.list(key::check(prefix)?, page))
    }

    fn barrier(&self) -> Result<()> {
        Ok(())
    }

    fn facts(&self) -> StoreFacts {
        Store::facts(self)
    }
}
