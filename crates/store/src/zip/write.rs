//! Writing a zip file: every put appends a stored entry, the directory comes last.
mod compact;

use super::directory::{ZipDirectory, check_readable};
use super::format::{self, EntryHeader, LOCAL_LEN, STORED, VERSION};
use super::inflate;
use super::read::ZipStore;
use crate::store::{BlockingStore, LocalStore, PutCondition, Store, StoreFacts};
use crate::tree::KeyTree;
use crate::{DirectoryStore, fault, key, memory, platform, want};
use bytes::Bytes;
use futures_util::FutureExt;
use ncirrus_layout::LockExt;
use ncirrus_layout::{Error, Limits, Listing, ObjectBytes, ObjectId, Result, StoreId, Tag, Want};
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

/// A zip file that is being written; clones share it. An object that is put again is appended again, and its old
/// entry is no longer listed; [`finish`](Self::finish) makes the file a zip file.
#[derive(Debug, Clone)]
pub struct ZipWriterStore(Arc<ZipWriter>);

#[derive(Debug)]
struct ZipWriter {
    id: StoreId,
    file: File,
    /// The dataset in the file.
    prefix: String,
    limits: Limits,
    state: Mutex<ZipState>,
}

#[derive(Debug)]
struct ZipState {
    entries: KeyTree<ZipSlot>,
    /// Entries for folders, if the layout has them; names with a trailing slash.
    folders: Option<BTreeMap<String, ZipSlot>>,
    /// Where the next entry goes.
    end: u64,
}

/// An entry in the file.
#[derive(Debug, Clone, Copy)]
struct ZipSlot {
    header: EntryHeader,
    /// Offset of the content.
    content: u64,
}

impl ZipSlot {
    fn tag(&self) -> Tag {
        Tag::new(format!("{:x}-{:x}-{:x}", self.header.offset, self.header.size, self.header.crc))
    }

    fn end(&self) -> u64 {
        self.content.saturating_add(self.header.compressed)
    }
}

impl ZipWriterStore {
    /// Starts a zip file in an existing file, which is truncated. With a top folder everything must be put below it,
    /// and each folder gets an entry of its own: the layout of netcdf-c (docs/spec/nczarr.md 10.2).
    ///
    /// # Errors
    /// `Denied`, `Io`, `Invalid` for an invalid name of the top folder.
    pub fn create(path: &Path, top: Option<&str>) -> Result<Self> {
        if let Some(top) = top.filter(|top| !key::is_name(top) || top.contains('/')) {
            return Err(Error::invalid(format!("{top:?} cannot be the top folder of a zip file")));
        }
        let open = OpenOptions::new().read(true).write(true).create(true).truncate(true).open(path);
        let file = open.map_err(|error| fault::of_io(error, path.display()))?;
        let state = ZipState { entries: KeyTree::default(), folders: top.map(|_| BTreeMap::new()), end: 0 };
        Ok(Self::new(path, file, top.unwrap_or_default().to_owned(), &Limits::default(), state))
    }

    /// Continues writing a complete zip file: its entries stay as they are. Until [`finish`](Self::finish) the file
    /// is not a valid zip file.
    ///
    /// # Errors
    /// As [`ZipStore::open`].
    pub fn append(path: &Path, limits: &Limits) -> Result<Self> {
        let (store, object) = DirectoryStore::of_file(path)?;
        let opened = ZipStore::open(store.shared(), object, limits).now_or_never();
        let zip = opened.unwrap_or_else(|| Err(Error::internal("a local store had to wait")))?;
        let prefix = zip.root_prefix();
        let file = OpenOptions::new().read(true).write(true).open(path);
        let file = file.map_err(|error| fault::of_io(error, path.display()))?;
        let state = ZipState::of(zip.directory(), &file)?;
        Ok(Self::new(path, file, prefix, limits, state))
    }

    fn new(path: &Path, file: File, prefix: String, limits: &Limits, state: ZipState) -> Self {
        let id = StoreId::new(path.to_string_lossy().as_ref());
        Self(Arc::new(ZipWriter { id, file, prefix, limits: limits.clone(), state: Mutex::new(state) }))
    }

    /// The dataset in the zip file: its top folder, or the root.
    pub fn root(&self) -> ObjectId {
        ObjectId::new(self.0.id.clone(), self.0.prefix.as_str())
    }

    /// The same entries as a [`Store`].
    pub fn shared(&self) -> Arc<dyn Store> {
        Arc::new(BlockingStore(self.clone()))
    }

    /// Writes the directory, which completes the zip file. If replaced entries take up much of it, the others are
    /// moved together first. More may be put afterwards, and the file finished again.
    ///
    /// # Errors
    /// `Io`.
    pub fn finish(&self) -> Result<()> {
        let mut state = self.lock();
        let io = |error| fault::of_io(error, self.0.id.as_str());
        state.compact(&self.0.file)?;
        let mut out = Vec::new();
        let listed = state.in_order();
        for (name, slot) in &listed {
            format::write_central(&mut out, name, &slot.header)?;
        }
        let len = out.len() as u64;
        format::write_end(&mut out, listed.len() as u64, state.end, len);
        platform::write_at(&self.0.file, &out, state.end).map_err(io)?;
        self.0.file.set_len(state.end.saturating_add(out.len() as u64)).map_err(io)
    }

    fn lock(&self) -> MutexGuard<'_, ZipState> {
        self.0.state.guard()
    }

    fn slot(&self, object: &ObjectId) -> Result<Option<ZipSlot>> {
        let key = key::check(object)?;
        Ok(self.lock().entries.get(key).copied())
    }

    /// The content of an entry, or a stored part of it.
    fn content(&self, object: &ObjectId, slot: &ZipSlot, start: u64, end: u64) -> Result<Bytes> {
        if slot.header.method == STORED {
            return self.raw(object, slot.content + start, slot.content + end);
        }
        let raw = self.raw(object, slot.content, slot.end())?;
        let whole =
            inflate::content(&slot.header, raw, &self.0.limits).map_err(|error| error.at_object(object))?;
        super::read::slice(&whole, &(start..end))
    }

    fn raw(&self, object: &ObjectId, start: u64, end: u64) -> Result<Bytes> {
        let len = usize::try_from(end - start)
            .map_err(|_| Error::limit("zip entry is too large").at_object(object))?;
        let mut bytes = Vec::new();
        let read = platform::read_append(&self.0.file, &mut bytes, start, len);
        match read.map_err(|error| fault::of_io(error, object))? {
            read if read == len => Ok(Bytes::from(bytes)),
            _ => Err(Error::malformed("zip file is cut off").at_object(object)),
        }
    }

    /// Appends an entry. Its space is reserved under the lock; its bytes are written without it, so that several
    /// threads may put at once.
    fn append_entry(
        &self,
        name: &str,
        header: EntryHeader,
        body: &[u8],
        object: &ObjectId,
    ) -> Result<ZipSlot> {
        let mut head = format::write_local(name, &header)?;
        let len = head.len() as u64;
        let offset = self.lock().reserve(len.saturating_add(body.len() as u64))?;
        let slot = ZipSlot { header: EntryHeader { offset, ..header }, content: offset + len };
        let small = body.len() <= 64 << 10;
        if small {
            head.extend_from_slice(body);
        }
        let written = platform::write_at(&self.0.file, &head, offset)
            .and_then(|()| if small { Ok(()) } else { platform::write_at(&self.0.file, body, slot.content) });
        written.map(|()| slot).map_err(|error| fault::of_io(error, object))
    }

    /// Gives the folders above a key entries of their own, if the layout has them.
    fn add_folders(&self, object: &ObjectId) -> Result<()> {
        let mut above: Vec<String> = key::ancestors(object.key()).map(key::folder).collect();
        above.reverse();
        for name in above {
            let missing = self.lock().folders.as_ref().is_some_and(|folders| !folders.contains_key(&name));
            if missing {
                let slot = self.append_entry(&name, stored(&[]), &[], object)?;
                let mut state = self.lock();
                state.folders.get_or_insert_default().entry(name).or_insert(slot);
            }
        }
        Ok(())
    }

    fn move_entry(&self, from: &str, to: &ObjectId, slot: &ZipSlot) -> Result<()> {
        let raw = self.raw(to, slot.content, slot.end())?;
        self.add_folders(to)?;
        let slot = self.append_entry(to.key(), slot.header, &raw, to)?;
        let mut state = self.lock();
        state.entries.remove(from);
        state.entries.insert(to.key(), slot);
        Ok(())
    }
}

impl ZipState {
    /// The entries of a zip file, with the location of their content.
    fn of(directory: &ZipDirectory, file: &File) -> Result<Self> {
        let mut entries = KeyTree::default();
        for (name, entry) in directory.entries.iter() {
            // Its bytes cannot be moved: encryption may depend on the header.
            check_readable(&entry.header).map_err(|error| error.at_object(name))?;
            entries.insert(name, locate(file, name, &entry.header, entry.bound)?);
        }
        let mut folders = BTreeMap::new();
        for (name, header) in &directory.folders {
            folders.insert(name.clone(), locate(file, name, header, directory.start)?);
        }
        let folders = (!folders.is_empty()).then_some(folders);
        Ok(Self { entries, folders, end: directory.start })
    }

    fn reserve(&mut self, len: u64) -> Result<u64> {
        let offset = self.end;
        self.end = offset.checked_add(len).ok_or_else(|| Error::limit("zip file is too large"))?;
        Ok(offset)
    }

    /// All entries in file order, including folders.
    fn in_order(&self) -> Vec<(&str, &ZipSlot)> {
        let folders = self.folders.iter().flatten().map(|(name, slot)| (name.as_str(), slot));
        let mut listed: Vec<_> = self.entries.iter().chain(folders).collect();
        listed.sort_unstable_by_key(|(_, slot)| slot.header.offset);
        listed
    }

    fn check(&self, object: &ObjectId, when: &PutCondition) -> Result<()> {
        self.entries.check_room(object)?;
        let present = self.entries.get(object.key());
        match when {
            PutCondition::Absent if present.is_some() => Err(fault::exists(object)),
            PutCondition::Matches(tag) if present.map(ZipSlot::tag).as_ref() != Some(tag) => {
                Err(fault::conflict("was changed by someone else", object))
            }
            _ => Ok(()),
        }
    }
}

fn locate(file: &File, name: &str, header: &EntryHeader, bound: u64) -> Result<ZipSlot> {
    let mut bytes = vec![0; LOCAL_LEN + name.len()];
    platform::read_at(file, &mut bytes, header.offset).map_err(|error| fault::of_io(error, name))?;
    let content = header.offset + format::read_local(&bytes, name.as_bytes(), header.method)?;
    let slot = ZipSlot { header: *header, content };
    if slot.end() > bound {
        return Err(Error::malformed("the zip entry overlaps the next one").at_object(name));
    }
    Ok(slot)
}

/// The header of a stored entry.
fn stored(body: &[u8]) -> EntryHeader {
    let size = body.len() as u64;
    EntryHeader {
        needed: VERSION,
        flags: 0,
        method: STORED,
        crc: crc32fast::hash(body),
        compressed: size,
        size,
        offset: 0,
    }
}

impl LocalStore for ZipWriterStore {
    fn id(&self) -> &StoreId {
        &self.0.id
    }

    fn read(&self, object: &ObjectId, want: &Want) -> Result<Option<ObjectBytes>> {
        let Some(slot) = self.slot(object)? else { return Ok(None) };
        let size = slot.header.size;
        let range = want::resolve(want, size);
        let bytes = self.content(object, &slot, range.start, range.end)?;
        Ok(Some(ObjectBytes { bytes, offset: range.start, size, tag: slot.tag() }))
    }

    fn read_into(&self, object: &ObjectId, offset: u64, buffer: &mut [u8]) -> Result<Option<usize>> {
        let end = offset.saturating_add(buffer.len() as u64);
        let blob = self.read(object, &Want::Range(offset..end))?;
        Ok(blob.map(|blob| {
            let len = blob.bytes.len().min(buffer.len());
            buffer.split_at_mut(len).0.copy_from_slice(blob.bytes.slice(..len).as_ref());
            len
        }))
    }

    fn read_whole(&self, object: &ObjectId, limit: u64, buffer: &mut Vec<u8>) -> Result<Option<usize>> {
        let Some(slot) = self.slot(object)? else { return Ok(None) };
        if slot.header.size > limit {
            return Err(memory::too_large(object, slot.header.size, limit));
        }
        let bytes = self.content(object, &slot, 0, slot.header.size)?;
        buffer.extend_from_slice(&bytes);
        Ok(Some(bytes.len()))
    }

    fn stat(&self, object: &ObjectId) -> Result<Option<(u64, Tag)>> {
        Ok(self.slot(object)?.map(|slot| (slot.header.size, slot.tag())))
    }

    fn put(&self, object: &ObjectId, body: &[u8], when: &PutCondition) -> Result<Tag> {
        key::check(object)?;
        self.lock().check(object, when)?;
        self.add_folders(object)?;
        let slot = self.append_entry(object.key(), stored(body), body, object)?;
        let tag = slot.tag();
        let mut state = self.lock();
        state.check(object, when)?;
        state.entries.insert(object.key(), slot);
        Ok(tag)
    }

    fn write_at(&self, object: &ObjectId, _: u64, _: &[u8]) -> Result<()> {
        Err(Error::unsupported("writing part of a zip entry").at_object(object))
    }

    fn resize(&self, object: &ObjectId, _: u64) -> Result<()> {
        Err(Error::unsupported("writing part of a zip entry").at_object(object))
    }

    fn delete(&self, object: &ObjectId) -> Result<()> {
        let key = key::check(object)?;
        self.lock().entries.remove(key);
        Ok(())
    }

    fn delete_tree(&self, prefix: &ObjectId) -> Result<()> {
        let key = key::check(prefix)?;
        let mut state = self.lock();
        state.entries.remove_tree(key);
        if let Some(folders) = &mut state.folders {
            let folder = key::folder(key);
            folders.retain(|name, _| !name.starts_with(&folder));
        }
        Ok(())
    }

    fn rename(&self, from: &ObjectId, to: &ObjectId) -> Result<()> {
        let (old, new) = key::check_move(from, to)?;
        let moved: Vec<(String, ZipSlot)> = {
            let state = self.lock();
            if !state.entries.holds(old) {
                return Ok(());
            }
            if state.entries.get(new).is_some() {
                return Err(fault::exists(to));
            }
            state.entries.check_room(to)?;
            let below = key::folder(old);
            let is_moved = |key: &str| key == old || key.starts_with(&below);
            state
                .entries
                .iter()
                .filter(|(key, _)| is_moved(key))
                .map(|(key, slot)| (key.to_owned(), *slot))
                .collect()
        };
        for (key, slot) in moved {
            let rest = key.strip_prefix(old).unwrap_or_default();
            self.move_entry(&key, &ObjectId::new(self.0.id.clone(), format!("{new}{rest}")), &slot)?;
        }
        self.delete_tree(from)
    }

    fn list(&self, prefix: &ObjectId, page: Option<&str>) -> Result<Listing> {
        let key = key::check(prefix)?;
        Ok(self.lock().entries.list(key, page))
    }

    /// The file is made durable as a whole when it is complete.
    fn barrier(&self) -> Result<()> {
        Ok(())
    }

    fn facts(&self) -> StoreFacts {
        StoreFacts {
            latency: Duration::from_micros(10),
            concurrency: 16,
            merge_gap: 16 << 10,
            range_cap: 64 << 20,
            lists: true,
            writable: true,
            isolated: false,
        }
    }
}
