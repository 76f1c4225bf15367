//! The superblock of a file being changed (docs/spec/hdf5-netcdf4.md A, J.6).
use crate::address::FieldSizes;
use crate::checksum::lookup3;
use crate::cursor::ByteCursor;
use crate::file::Hdf5File;
use crate::write::put::{put, put_uint};
use bytes::Bytes;
use ncirrus_layout::{Error, Result, Step, View};

/// The superblock as stored in the file.
#[derive(Debug, Clone)]
pub(super) struct SuperblockImage {
    bytes: Vec<u8>,
    sizes: FieldSizes,
    /// Offset of the end-of-file address.
    end_at: usize,
    /// The base that is added to addresses there.
    base: u64,
    /// Offset of the cache type in the root group's entry (versions 0 and 1).
    cache_at: Option<usize>,
    /// First address behind everything, as stored in the file.
    end: u64,
}

impl SuperblockImage {
    /// Reads the superblock of a file to be changed.
    ///
    /// # Errors
    /// A need, or why the file must not be changed.
    pub(super) fn read(view: &dyn View, file: &Hdf5File) -> Step<Self> {
        let bytes = file.parse_all(view, crate::address::FileAddress(0), len_of(file.version, file.sizes))?;
        let head = Self::parse(&bytes, file.version, file.sizes)?;
        let real = file.size.saturating_sub(file.base);
        if real < head.end {
            let message = format!("the file should have {} bytes, but has only {real}", head.end);
            return Err(Error::malformed(message).at_object(&file.object).into());
        }
        Ok(head)
    }

    fn parse(bytes: &[u8], version: u8, sizes: FieldSizes) -> Result<Self> {
        let (offset, len) = (usize::from(sizes.offsets), usize::from(sizes.lengths));
        let (base_at, end_at, cache_at) = match version {
            0 | 1 => {
                let base_at = if version == 0 { 24 } else { 28 };
                let driver = at(bytes, base_at + 3 * offset)?.addr(sizes)?;
                if driver.is_some() {
                    return Err(Error::unsupported(
                        "changing a file that is one of several (family or multi)",
                    ));
                }
                (base_at, base_at + 2 * offset, Some(base_at + 4 * offset + len + offset))
            }
            _ => (12, 12 + 2 * offset, None),
        };
        let flags = if version == 3 { at(bytes, 11)?.u8()? } else { 0 };
        if flags & IN_USE != 0 {
            let message = "the file is marked as open for writing: if no program has it open, `h5clear -s` clears the mark";
            return Err(Error::unsupported(message));
        }
        let (base, stored) = (at(bytes, base_at)?.uint(offset)?, at(bytes, end_at)?.uint(offset)?);
        let length = if version < 2 { len_of(version, sizes) } else { 12 + 4 * u64::from(sizes.offsets) };
        let bytes = ByteCursor::new(bytes, SUPERBLOCK).take_u64(length)?.to_vec();
        Ok(Self { bytes, sizes, end_at, base, cache_at, end: stored.saturating_sub(base) })
    }

    /// First address behind everything.
    pub(super) fn end(&self) -> u64 {
        self.end
    }

    /// Sets the end of the file.
    ///
    /// # Errors
    /// If addresses are too narrow for it.
    pub(super) fn set_end(&mut self, end: u64) -> Result<()> {
        let width = usize::from(self.sizes.offsets);
        let stored =
            end.checked_add(self.base).filter(|stored| *stored < crate::cursor::all_ones(self.sizes.offsets));
        let stored = stored
            .ok_or_else(|| Error::limit(format!("addresses of {width} bytes cannot reach {end} bytes")))?;
        put_uint(&mut self.bytes, self.end_at, stored, self.sizes.offsets, SUPERBLOCK)?;
        self.end = end;
        Ok(())
    }

    /// Clears the cache in the root group's entry, which only old superblocks have: the group has no symbol table any
    /// more.
    ///
    /// # Errors
    /// If the superblock has no such entry where it should.
    pub(super) fn forget_root(&mut self) -> Result<()> {
        match self.cache_at {
            Some(at) => put(&mut self.bytes, at, &[0; 24], SUPERBLOCK),
            None => Ok(()),
        }
    }

    /// The bytes of the superblock, with its checksum if it has one.
    pub(super) fn encode(&self) -> Bytes {
        let mut bytes = self.bytes.clone();
        if self.cache_at.is_none() {
            bytes.extend(lookup3(&bytes).to_le_bytes());
        }
        bytes.into()
    }
}

/// The bytes from an offset on.
fn at(bytes: &[u8], offset: usize) -> Result<ByteCursor<'_>> {
    let mut cursor = ByteCursor::new(bytes, SUPERBLOCK);
    cursor.skip(offset).map(|()| cursor)
}

/// Size of a superblock.
fn len_of(version: u8, sizes: FieldSizes) -> u64 {
    let (offset, len) = (u64::from(sizes.offsets), u64::from(sizes.lengths));
    match version {
        0 => 24 + 4 * offset + len + offset + 24,
        1 => 28 + 4 * offset + len + offset + 24,
        _ => 12 + 4 * offset + 4,
    }
}

const SUPERBLOCK: &str = "the superblock";
/// Flags of version 3: open for writing, and by a writer with concurrent readers.
const IN_USE: u8 = 0b101;
