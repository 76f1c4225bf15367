//! Common parts of fixed and extensible arrays of chunks: elements in blocks and pages (docs/spec/hdf5-netcdf4.md
//! E.6).
use super::{ChunkLookup, ChunkRecord};
use crate::address::FileAddress;
use crate::checksum::lookup3;
use crate::cursor::ByteCursor;
use bytes::Bytes;
use ncirrus_layout::{Error, Result, Step, View, join};
use std::sync::Arc;

/// Size of the checksum behind every structure.
pub(super) const CHECKSUM_LEN: u64 = 4;
/// Size of signature, version and client, with which every structure except a page begins.
pub(super) const PREFIX_LEN: u64 = 6;

/// A run of elements.
#[derive(Debug)]
pub(super) struct ElementRun(Box<[u8]>);

/// What precedes the elements of a block: its signature, and bytes behind the address of the header.
pub(super) struct BlockPrefix {
    pub(super) signature: &'static [u8; 4],
    pub(super) what: &'static str,
    pub(super) header: FileAddress,
    pub(super) more: u64,
}

impl ElementRun {
    /// Those in these bytes.
    pub(super) fn new(bytes: &[u8]) -> Self {
        Self(bytes.into())
    }
}

impl ChunkLookup {
    /// Bytes of one element of an array of chunks.
    pub(super) fn array_element_len(&self) -> u64 {
        let offsets = u64::from(self.file.sizes.offsets);
        if self.is_filtered { offsets + u64::from(self.size_width) + 4 } else { offsets }
    }

    /// The chunk at an index of a run of elements; `None` if it was never written.
    fn array_element(&self, elements: &ElementRun, index: usize) -> Result<Option<ChunkRecord>> {
        let len = usize::try_from(self.array_element_len()).unwrap_or(usize::MAX);
        let bytes = index.checked_mul(len).and_then(|start| elements.0.get(start..));
        let outside = || Error::malformed(format!("no element {index} in a block of a chunk index"));
        self.stored(bytes.ok_or_else(outside)?)
    }

    /// The chunk described by an element; `None` if it was never written.
    pub(super) fn stored(&self, element: &[u8]) -> Result<Option<ChunkRecord>> {
        let mut cursor = ByteCursor::new(element, "an element of a chunk index");
        let Some(addr) = cursor.addr(self.file.sizes)? else { return Ok(None) };
        if !self.is_filtered {
            return Ok(Some(ChunkRecord { addr, byte_len: None, mask: 0 }));
        }
        let byte_len = cursor.uint(usize::from(self.size_width))?;
        Ok(Some(ChunkRecord { addr, byte_len: Some(byte_len), mask: cursor.u32()? }))
    }

    /// Reads a block of `count` elements, or a page of them, which has no prefix.
    pub(super) fn array_block(
        &self,
        view: &dyn View,
        addr: FileAddress,
        prefix: Option<&BlockPrefix>,
        count: u64,
    ) -> Step<Arc<ElementRun>> {
        self.visit(addr);
        self.file.memo(view, addr, "chunk array elements", || {
            let before = prefix.map_or(0, |prefix| self.prefix_len(prefix));
            let len = count.checked_mul(self.array_element_len()).and_then(|len| len.checked_add(before));
            let len = len.ok_or_else(|| Error::malformed(format!("a block of {count} elements")))?;
            let bytes = self.exact_verified(view, addr, len)?;
            let mut cursor = ByteCursor::new(&bytes, "a block of a chunk index");
            if let Some(prefix) = prefix {
                self.expect_prefix(&mut cursor, prefix)?;
                cursor.take_u64(prefix.more)?;
            }
            let elements = ElementRun::new(cursor.rest());
            let cost = elements.0.len() + size_of::<ElementRun>();
            Ok((elements, cost))
        })
    }

    /// Bytes of a prefix.
    pub(super) fn prefix_len(&self, prefix: &BlockPrefix) -> u64 {
        PREFIX_LEN + u64::from(self.file.sizes.offsets) + prefix.more
    }

    /// Skips signature, version, client and the address of the header.
    pub(super) fn expect_prefix(&self, cursor: &mut ByteCursor<'_>, prefix: &BlockPrefix) -> Result<()> {
        cursor.signature(prefix.signature)?;
        cursor.version(&[0])?;
        self.expect_client(cursor.u8()?)?;
        match cursor.addr(self.file.sizes)? {
            Some(header) if header == prefix.header => Ok(()),
            header => Err(Error::malformed(format!(
                "{} of the header {header:?} instead of {:?}",
                prefix.what, prefix.header
            ))),
        }
    }

    /// Checks whether elements are of filtered chunks.
    pub(super) fn expect_client(&self, client: u8) -> Result<()> {
        if client == u8::from(self.is_filtered) {
            return Ok(());
        }
        Err(Error::malformed(format!(
            "a chunk index of client {client} does not go with the dataset's filters"
        )))
    }

    /// Checks the element size in a header.
    pub(super) fn expect_element_len(&self, len: u8) -> Result<()> {
        if u64::from(len) == self.array_element_len() {
            return Ok(());
        }
        let need = self.array_element_len();
        Err(Error::malformed(format!("a chunk index with elements of {len} bytes instead of {need}")))
    }

    /// Exactly `len` bytes, followed by a valid checksum.
    pub(super) fn exact_verified(&self, view: &dyn View, addr: FileAddress, len: u64) -> Step<Bytes> {
        let whole = len.saturating_add(CHECKSUM_LEN);
        view.limits().metadata_len(whole, "a block of a chunk index")?;
        Ok(verified(&self.file.exact(view, addr, whole)?)?)
    }

    /// As [`exact_verified`](Self::exact_verified), for a header: it lies among other structures.
    pub(super) fn header_verified(&self, view: &dyn View, addr: FileAddress, len: u64) -> Step<Bytes> {
        let whole = len + CHECKSUM_LEN;
        let bytes = self.file.parse_all(view, addr, whole)?;
        let end = usize::try_from(whole).unwrap_or(usize::MAX).min(bytes.len());
        Ok(verified(&bytes.slice(..end))?)
    }
}

/// The bytes without the checksum at their end.
fn verified(bytes: &Bytes) -> Result<Bytes> {
    let at = bytes.len().saturating_sub(4);
    let (content, sum) = bytes.split_at(at);
    if sum != lookup3(content).to_le_bytes() {
        return Err(Error::malformed("the checksum of a chunk index is wrong"));
    }
    Ok(bytes.slice(..at))
}

/// The elements at these positions: a block, and an index in it. Each block is loaded once, missing ones are
/// requested together; an absent one has no chunks.
pub(super) fn gather<B: Ord + Copy>(
    chunks: &ChunkLookup,
    places: &[Option<(B, usize)>],
    mut load: impl FnMut(B) -> Step<Option<Arc<ElementRun>>>,
) -> Step<Vec<Option<ChunkRecord>>> {
    let mut names: Vec<B> = places.iter().flatten().map(|(block, _)| *block).collect();
    names.sort_unstable();
    names.dedup();
    let blocks = join(&names, |name| load(*name))?;
    let element = |place: &Option<(B, usize)>| {
        let Some((name, index)) = place else { return Ok(None) };
        let block = names.binary_search(name).ok().and_then(|at| blocks.get(at)?.as_ref());
        block.map_or(Ok(None), |block| chunks.array_element(block, *index))
    };
    Ok(places.iter().map(element).collect::<Result<_>>()?)
}

/// Whether the bit is set, counted from the highest of the first byte.
pub(super) fn bit(bytes: &[u8], number: u64) -> bool {
    let byte = usize::try_from(number / 8).ok().and_then(|at| bytes.get(at));
    byte.is_some_and(|byte| byte & (0x80 >> (number % 8)) != 0)
}
