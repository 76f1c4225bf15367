//! What the files of a cache contain of a range, and storing what was fetched.
use crate::cache::{CacheEntry, CacheFolder, CacheSlot};
use crate::want;
use bytes::{Bytes, BytesMut};
use ncirrus_layout::{ObjectBytes, ObjectId, Tag, Want};
use std::ops::Range;

/// Bytes of an object that one file holds.
pub(super) const BLOCK: u64 = 512 << 10;

/// What is cached of the requested bytes of an object.
pub(super) struct CachedRanges {
    tag: Tag,
    size: u64,
    range: Range<u64>,
    bytes: BytesMut,
    /// From the first missing byte to the last.
    rest: Option<Range<u64>>,
}

/// The cached part of the request; `None` if there is nothing.
pub(super) fn recall(
    folder: &CacheFolder,
    dataset: &ObjectId,
    object: &ObjectId,
    want: &Want,
    known: Option<&(Tag, u64)>,
) -> Option<CachedRanges> {
    let first = match (want, known) {
        (_, Some((_, size))) => want::resolve(want, *size).start,
        (Want::All | Want::AtMost(_), None) => 0,
        (Want::Range(range) | Want::Parse(range), None) => range.start,
        // Where the end is becomes known only from an answer.
        (Want::Suffix(_), None) => return None,
    } / BLOCK;
    let find = |part: u64| {
        let slot = CacheSlot { object, part, dataset: Some(dataset) };
        folder.find(slot).inspect(|_| folder.touch(slot))
    };
    let head =
        find(first).filter(|head| known.is_none_or(|(tag, size)| (tag, size) == (&head.tag, &head.size)))?;
    let range = want::resolve(want, head.size);
    let len = usize::try_from(range.end - range.start).ok()?;
    let (tag, size) = (head.tag.clone(), head.size);
    let mut recalled =
        CachedRanges { tag, size, range: range.clone(), bytes: BytesMut::zeroed(len), rest: None };
    let mut at = range.start;
    for part in first..range.end.div_ceil(BLOCK).max(first + 1) {
        let entry = if part == first { Some(head.clone()) } else { find(part) };
        let entry = entry.filter(|entry| entry.tag == recalled.tag && entry.size == recalled.size);
        for (start, bytes) in entry.into_iter().flat_map(|entry| entry.blocks) {
            let end = start.saturating_add(bytes.len() as u64).min(range.end);
            if end <= at {
                continue;
            }
            let from = start.max(at);
            if from > at {
                recalled.lacks(at..from.min(range.end));
            }
            if from < end {
                recalled.put(from, &bytes, start, end);
            }
            at = at.max(end);
        }
    }
    if at < range.end {
        recalled.lacks(at..range.end);
    }
    (recalled.rest.as_ref() != Some(&range)).then_some(recalled)
}

impl CachedRanges {
    /// What is still to be fetched.
    pub(super) fn rest(&self) -> Option<Range<u64>> {
        self.rest.clone()
    }

    /// The tag of the object from which this was fetched.
    pub(super) fn state(&self) -> (Tag, u64) {
        (self.tag.clone(), self.size)
    }

    /// Whether an answer has the same tag.
    pub(super) fn is_of(&self, blob: &ObjectBytes) -> bool {
        blob.tag == self.tag && blob.size == self.size
    }

    /// All requested bytes, if none are missing.
    pub(super) fn into_blob(self) -> ObjectBytes {
        ObjectBytes { bytes: self.bytes.freeze(), offset: self.range.start, size: self.size, tag: self.tag }
    }

    /// All requested bytes, completed with those fetched; `None` if the answer does not contain them.
    pub(super) fn completed(mut self, part: &ObjectBytes) -> Option<ObjectBytes> {
        let rest = self.rest.take()?;
        let end = part.offset + part.bytes.len() as u64;
        if part.offset > rest.start || end < rest.end {
            return None;
        }
        self.put(rest.start, &part.bytes, part.offset, rest.end);
        Some(self.into_blob())
    }

    fn lacks(&mut self, gap: Range<u64>) {
        let rest = self.rest.get_or_insert(gap.clone());
        rest.end = rest.end.max(gap.end);
    }

    /// Copies the bytes from `from` to `end`, out of bytes that start at `start`.
    fn put(&mut self, from: u64, bytes: &[u8], start: u64, end: u64) {
        let index = |at: u64, origin: u64| usize::try_from(at.saturating_sub(origin)).unwrap_or(usize::MAX);
        let origin = self.range.start;
        let target = self.bytes.get_mut(index(from, origin)..index(end, origin));
        let source = bytes.get(index(from, start)..index(end, start));
        if let (Some(target), Some(source)) = (target, source) {
            target.copy_from_slice(source);
        }
    }
}

/// Stores the bytes of an answer, in the files of their blocks; returns how many bytes were written.
pub(super) fn keep(folder: &CacheFolder, dataset: &ObjectId, object: &ObjectId, blob: &ObjectBytes) -> u64 {
    let end = blob.offset + blob.bytes.len() as u64;
    let mut written = 0;
    for part in blob.offset / BLOCK..end.div_ceil(BLOCK) {
        let piece = blob.offset.max(part * BLOCK)..end.min((part + 1) * BLOCK);
        let Some(bytes) = slice(&blob.bytes, blob.offset, &piece) else { continue };
        let slot = CacheSlot { object, part, dataset: Some(dataset) };
        let is_whole = piece == (part * BLOCK..((part + 1) * BLOCK).min(blob.size));
        let old = if is_whole { None } else { folder.find(slot) };
        let old = old.filter(|old| old.tag == blob.tag && old.size == blob.size);
        let mut blocks = old.map_or_else(Vec::new, |old| old.blocks);
        blocks.push((piece.start, bytes));
        let entry =
            CacheEntry { driver: None, tag: blob.tag.clone(), size: blob.size, blocks: joined(blocks) };
        written += entry.byte_len() as u64;
        folder.keep(slot, &entry);
    }
    written
}

/// Sorted runs of bytes, with adjacent ones merged.
fn joined(mut blocks: Vec<(u64, Bytes)>) -> Vec<(u64, Bytes)> {
    blocks.sort_by_key(|(start, _)| *start);
    let mut joined: Vec<(u64, BytesMut)> = Vec::new();
    for (start, bytes) in blocks {
        if let Some((first, run)) = joined.last_mut() {
            let end = *first + run.len() as u64;
            if start <= end {
                let known = usize::try_from(end - start).unwrap_or(usize::MAX);
                run.extend_from_slice(bytes.get(known..).unwrap_or_default());
                continue;
            }
        }
        joined.push((start, BytesMut::from(bytes.as_ref())));
    }
    joined.into_iter().map(|(start, run)| (start, run.freeze())).collect()
}

fn slice(bytes: &Bytes, origin: u64, range: &Range<u64>) -> Option<Bytes> {
    let index = |at: u64| usize::try_from(at.checked_sub(origin)?).ok();
    let range = index(range.start)?..index(range.end)?;
    (range.end <= bytes.len()).then(|| bytes.slice(range))
}
