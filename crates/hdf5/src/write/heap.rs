//! Global heap collections as they are written (hdf5-netcdf4.md F.1).
use super::Patch;
use super::out::Out;
use super::space::Space;
use crate::file::{Addr, Sizes};
use ncirrus_layout::{Error, Result};

/// Collects objects of variable length into collections of at least 4096 bytes.
#[derive(Debug)]
pub(crate) struct HeapBuilder {
    sizes: Sizes,
    /// The collection that still has room.
    open: Option<Collection>,
    filled: Vec<Patch>,
    /// Bytes of the next collection.
    next_len: u64,
    /// The object without bytes, which all that are empty share.
    empty: Option<(Addr, u32)>,
}

/// A collection with room.
#[derive(Debug)]
struct Collection {
    addr: Addr,
    len: u64,
    out: Vec<u8>,
    objects: u16,
    is_new: bool,
}

const LEAST: u64 = 4096;
/// Collections grow up to this length, so that many small objects need few of them.
const MOST: u64 = 64 << 10;

impl HeapBuilder {
    /// Nothing yet, for a file of those widths.
    pub(crate) fn new(sizes: Sizes) -> Self {
        Self { sizes, open: None, filled: Vec::new(), next_len: LEAST, empty: None }
    }

    /// Adds an object: the collection that holds it, and its number there.
    ///
    /// # Errors
    /// `Limit` when it is longer than addresses can tell.
    pub(crate) fn add(&mut self, object: &[u8], space: &mut Space) -> Result<(Addr, u32)> {
        if let (true, Some(empty)) = (object.is_empty(), self.empty) {
            return Ok(empty);
        }
        let head = self.head_len();
        let need = (object.len() as u64).checked_next_multiple_of(8).and_then(|len| len.checked_add(head));
        let need = need.ok_or_else(|| Error::limit("an object of variable length beyond 2^64 bytes"))?;
        if self.open.as_ref().is_none_or(|open| !open.has_room(need)) {
            self.begin(need, space);
        }
        let Some(open) = &mut self.open else { return Err(Error::internal("a heap without collection")) };
        open.objects += 1;
        open.is_new = true;
        let index = open.objects;
        let mut out = Out::new();
        out.u16(index).u16(0).u32(0).length(object.len() as u64, self.sizes);
        pad(&mut out);
        out.bytes(object);
        pad(&mut out);
        open.out.extend_from_slice(&out.finish());
        let place = (open.addr, u32::from(index));
        if object.is_empty() {
            self.empty = Some(place);
        }
        Ok(place)
    }

    /// The collections that were filled since the last call; the last one keeps its room for objects added later
    /// (it is then given again, whole).
    pub(crate) fn take(&mut self) -> Vec<Patch> {
        let mut patches = std::mem::take(&mut self.filled);
        let head = self.head_len();
        if let Some(open) = self.open.as_mut().filter(|open| open.is_new) {
            open.is_new = false;
            patches.push(open.patch(head, self.sizes));
        }
        patches
    }

    /// Bytes of the heads of collections and of objects.
    fn head_len(&self) -> u64 {
        (8 + u64::from(self.sizes.lengths)).next_multiple_of(8)
    }

    fn begin(&mut self, need: u64, space: &mut Space) {
        let head = self.head_len();
        if let Some(full) = self.open.take().filter(|open| open.is_new) {
            self.filled.push(full.patch(head, self.sizes));
        }
        let len = need.saturating_add(head).max(self.next_len);
        self.next_len = (self.next_len * 2).min(MOST);
        let addr = space.take(len, 8);
        let mut out = Out::new();
        out.bytes(b"GCOL").u8(1).zeros(3).length(len, self.sizes);
        pad(&mut out);
        self.open = Some(Collection { addr, len, out: out.finish().into(), objects: 0, is_new: false });
    }
}

impl Collection {
    fn has_room(&self, need: u64) -> bool {
        self.objects < u16::MAX && (self.out.len() as u64).saturating_add(need) <= self.len
    }

    /// The whole collection: behind the objects stands the free space as an object of number 0.
    fn patch(&self, head: u64, sizes: Sizes) -> Patch {
        let mut out = Out::new();
        out.bytes(&self.out);
        let left = self.len - self.out.len() as u64;
        if left >= head {
            out.u16(0).u16(0).u32(0).length(left, sizes);
        }
        out.zeros(usize::try_from(self.len).unwrap_or(0).saturating_sub(out.len()));
        Patch { addr: self.addr, body: out.finish() }
    }
}

/// Fills up to a multiple of 8.
fn pad(out: &mut Out) {
    out.zeros(out.len().next_multiple_of(8) - out.len());
}
