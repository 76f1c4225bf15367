//! Writing global heap collections (docs/spec/hdf5-netcdf4.md F.1).
use super::FilePatch;
use super::out::ByteSink;
use super::space::SpaceAllocator;
use crate::address::{FieldSizes, FileAddress};
use ncirrus_layout::{Error, Result};

/// Collects objects of variable length into collections of at least 4096 bytes.
#[derive(Debug)]
pub(crate) struct HeapBuilder {
    sizes: FieldSizes,
    /// The collection with free space.
    open: Option<HeapCollection>,
    full: Vec<FilePatch>,
    /// Size of the next collection: larger if many objects come at once.
    next_len: u64,
}

#[derive(Debug)]
struct HeapCollection {
    addr: FileAddress,
    byte_len: u64,
    objects: ByteSink,
    count: u16,
}

impl HeapBuilder {
    /// Empty, for a file with those widths.
    pub(crate) fn new(sizes: FieldSizes) -> Self {
        Self { sizes, open: None, full: Vec::new(), next_len: MIN_COLLECTION_BYTES }
    }

    /// Widths in the file.
    pub(crate) fn sizes(&self) -> FieldSizes {
        self.sizes
    }

    /// Adds an object: returns its collection, and its index there.
    ///
    /// # Errors
    /// If it is too long for the file's lengths.
    pub(crate) fn add(&mut self, object: &[u8], space: &mut SpaceAllocator) -> Result<(FileAddress, u32)> {
        let head = head_len(self.sizes);
        let need = (head + object.len() as u64).next_multiple_of(8);
        if need > LARGEST_IN_COMMON {
            return self.add_alone(object, space);
        }
        if !self.open.as_ref().is_some_and(|open| open.has_room(need, head)) {
            self.close();
            let addr = space.take(self.next_len, 8);
            self.open =
                Some(HeapCollection { addr, byte_len: self.next_len, objects: ByteSink::new(), count: 0 });
            self.next_len = (2 * self.next_len).min(LARGEST);
        }
        let sizes = self.sizes;
        let open = self.open.as_mut().ok_or_else(|| Error::internal("no collection is open"))?;
        open.push(object, sizes);
        Ok((open.addr, u32::from(open.count)))
    }

    /// Adds a structure that is not a collection but is written in the same way.
    pub(crate) fn carry(&mut self, patches: Vec<FilePatch>) {
        self.full.extend(patches);
    }

    /// A collection of its own for an object that would waste much of others.
    fn add_alone(&mut self, object: &[u8], space: &mut SpaceAllocator) -> Result<(FileAddress, u32)> {
        let head = head_len(self.sizes);
        let byte_len = (2 * head + (object.len() as u64).next_multiple_of(8)).max(MIN_COLLECTION_BYTES);
        if byte_len > crate::cursor::all_ones(self.sizes.lengths) {
            return Err(Error::unsupported(format!("{} bytes in a heap with short lengths", object.len())));
        }
        let mut alone =
            HeapCollection { addr: space.take(byte_len, 8), byte_len, objects: ByteSink::new(), count: 0 };
        alone.push(object, self.sizes);
        self.full.push(alone.patch(self.sizes));
        Ok((alone.addr, 1))
    }

    /// The collections that were filled since the last call. Each is returned once: they may be put in any order.
    pub(crate) fn take(&mut self) -> Vec<FilePatch> {
        self.close();
        self.next_len = MIN_COLLECTION_BYTES;
        std::mem::take(&mut self.full)
    }

    fn close(&mut self) {
        self.full.extend(self.open.take().map(|open| open.patch(self.sizes)));
    }
}

impl HeapCollection {
    fn has_room(&self, need: u64, head: u64) -> bool {
        self.count < u16::MAX && head + self.objects.len() as u64 + need <= self.byte_len
    }

    fn push(&mut self, object: &[u8], sizes: FieldSizes) {
        self.count = self.count.saturating_add(1);
        object_head(&mut self.objects, self.count, 1, object.len() as u64, sizes);
        self.objects.bytes(object).zeros(object.len().wrapping_neg() % 8);
    }

    /// The whole collection, with what is left as free space.
    fn patch(&self, sizes: FieldSizes) -> FilePatch {
        let head = head_len(sizes);
        let mut out = ByteSink::new();
        out.bytes(b"GCOL\x01\0\0\0").length(self.byte_len, sizes);
        out.zeros(usize::try_from(head).unwrap_or(0).saturating_sub(out.len()));
        out.bytes(self.objects.as_slice());
        let left = self.byte_len.saturating_sub(out.len() as u64);
        if left >= head {
            object_head(&mut out, 0, 0, left, sizes);
        }
        let rest = usize::try_from(self.byte_len).unwrap_or(0).saturating_sub(out.len());
        out.zeros(rest);
        FilePatch { addr: self.addr, body: out.finish() }
    }
}

fn object_head(out: &mut ByteSink, index: u16, references: u16, len: u64, sizes: FieldSizes) {
    out.u16(index).u16(references).u32(0).length(len, sizes);
    out.zeros(usize::from(sizes.lengths).wrapping_neg() % 8);
}

/// Bytes before the objects, and before each object's data: padded to 8 bytes whatever the width of lengths.
fn head_len(sizes: FieldSizes) -> u64 {
    (8 + u64::from(sizes.lengths)).next_multiple_of(8)
}

/// Minimum size of a collection.
const MIN_COLLECTION_BYTES: u64 = 4096;
/// Size of collections if many objects come at once.
const LARGEST: u64 = 1 << 16;
/// Larger objects have a collection of their own.
const LARGEST_IN_COMMON: u64 = 2048;

#[cfg(test)]
mod tests;
