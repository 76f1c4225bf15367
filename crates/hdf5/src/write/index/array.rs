//! Common parts of fixed and extensible arrays of chunks: elements in blocks and pages (docs/spec/hdf5-netcdf4.md
//! E.6).
use super::IndexGrid;
use crate::address::{FieldSizes, FileAddress};
use crate::checksum::lookup3;
use crate::cursor::ByteCursor;
use crate::file::Hdf5File;
use crate::write::out::ByteSink;
use crate::write::{FilePatch, StoredChunk};
use bytes::Bytes;
use ncirrus_layout::{Error, Result, Step, View};

/// Size of the checksum behind every structure.
pub(super) const CHECKSUM_LEN: u64 = 4;

/// Signature, version and client, with which every structure except a page begins.
pub(super) fn begin(signature: &[u8; 4], grid: &IndexGrid) -> ByteSink {
    let mut out = ByteSink::new();
    out.bytes(signature).u8(0).u8(u8::from(grid.filtered));
    out
}

/// Bytes of signature, version, client and the address of the header.
pub(super) fn prefix_len(sizes: FieldSizes) -> u64 {
    6 + u64::from(sizes.offsets)
}

/// A structure that is changed byte by byte, followed by its checksum.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ChecksummedBlock {
    pub(super) addr: FileAddress,
    /// Without the checksum.
    bytes: Vec<u8>,
}

impl ChecksummedBlock {
    /// A new one, with these bytes.
    pub(super) fn new(addr: FileAddress, mut out: ByteSink) -> Self {
        Self { addr, bytes: out.finish().into() }
    }

    /// Parses one of `len` bytes, besides its checksum; except for pages the signature and, if given, the address of
    /// the header must precede it.
    pub(super) fn read(
        view: &dyn View,
        file: &Hdf5File,
        addr: FileAddress,
        len: u64,
        front: Option<(&[u8; 4], Option<FileAddress>)>,
    ) -> Step<Self> {
        let whole = len.saturating_add(CHECKSUM_LEN);
        view.limits().metadata_len(whole, "a block of a chunk index")?;
        let bytes = file.exact(view, addr, whole)?;
        let block = Self::checked(addr, &bytes, front, file.sizes);
        Ok(block.map_err(|error| file.at(addr, error))?)
    }

    fn checked(
        addr: FileAddress,
        bytes: &Bytes,
        front: Option<(&[u8; 4], Option<FileAddress>)>,
        sizes: FieldSizes,
    ) -> Result<Self> {
        let (content, sum) = bytes.split_at(bytes.len().saturating_sub(4));
        if sum != lookup3(content).to_le_bytes() {
            return Err(Error::malformed("the checksum of a chunk index is wrong"));
        }
        if let Some((signature, header)) = front {
            let mut cursor = ByteCursor::new(content, "a block of a chunk index");
            cursor.signature(signature)?;
            cursor.version(&[0])?;
            cursor.skip(1)?;
            if header.is_some() && cursor.addr(sizes)? != header {
                return Err(Error::malformed("a block of another chunk index"));
            }
        }
        Ok(Self { addr, bytes: content.to_vec() })
    }

    /// The bytes, without the checksum.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Puts bytes at an offset.
    pub(super) fn put(&mut self, offset: u64, bytes: &[u8]) -> Result<()> {
        let start = usize::try_from(offset).unwrap_or(usize::MAX);
        let place = self.bytes.get_mut(start..start.saturating_add(bytes.len()));
        let place = place.ok_or_else(|| Error::internal("bytes outside of their block"))?;
        place.copy_from_slice(bytes);
        Ok(())
    }

    /// Stores the entries of chunks at their positions among elements that begin at an offset.
    pub(super) fn put_chunks(
        &mut self,
        grid: &IndexGrid,
        sizes: FieldSizes,
        offset: u64,
        chunks: &[(usize, &StoredChunk)],
    ) -> Result<()> {
        let each = grid.element_len(sizes)?;
        for (index, stored) in chunks {
            let mut out = ByteSink::new();
            grid.encode(&mut out, Some(stored), sizes)?;
            self.put(offset.saturating_add(each.saturating_mul(*index as u64)), &out.finish())?;
        }
        Ok(())
    }

    /// Sets the bit, counted from the highest of the first byte, in a bitmap that begins at an offset.
    pub(super) fn set_bit(&mut self, offset: u64, number: u64) -> Result<()> {
        let at = usize::try_from(offset.saturating_add(number / 8)).unwrap_or(usize::MAX);
        let byte = self.bytes.get_mut(at).ok_or_else(|| Error::internal("a bit outside of its block"))?;
        *byte |= 0x80 >> (number % 8);
        Ok(())
    }

    /// Whether that bit is set.
    pub(super) fn bit(&self, offset: u64, number: u64) -> bool {
        let at = usize::try_from(offset.saturating_add(number / 8)).unwrap_or(usize::MAX);
        self.bytes.get(at).is_some_and(|byte| byte & (0x80 >> (number % 8)) != 0)
    }

    /// The address at an offset.
    pub(super) fn addr_at(&self, offset: u64, sizes: FieldSizes) -> Result<Option<FileAddress>> {
        let start = usize::try_from(offset).unwrap_or(usize::MAX);
        let mut cursor = ByteCursor::new(&self.bytes, "a block of a chunk index");
        cursor.skip(start)?;
        cursor.addr(sizes)
    }

    /// The whole structure.
    pub(super) fn patch(&self) -> FilePatch {
        FilePatch { addr: self.addr, body: ByteSink::new().bytes(&self.bytes).checksum().finish() }
    }
}

/// Appends elements of chunks that were never written.
pub(super) fn blank(out: &mut ByteSink, grid: &IndexGrid, count: u64, sizes: FieldSizes) -> Result<()> {
    let mut one = ByteSink::new();
    grid.encode(&mut one, None, sizes)?;
    let one = one.finish();
    for _ in 0..count {
        out.bytes(&one);
    }
    Ok(())
}
