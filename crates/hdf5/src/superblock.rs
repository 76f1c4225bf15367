//! The superblock and its extension (docs/spec/hdf5-netcdf4.md A).
mod extension;

use crate::address::{FieldSizes, FileAddress};
use crate::checksum::lookup3;
use crate::cursor::{ByteCursor, all_ones};
use crate::file::{Hdf5File, NodeRanks};
use bytes::Bytes;
use ncirrus_layout::{Error, ObjectBytes, ObjectId, Step, View, Want, join};
use std::sync::Arc;

/// The offset of the signature in the object, if it is an HDF5 file: at 0, 512, 1024 and so on
/// (docs/spec/hdf5-netcdf4.md A.1).
pub(crate) fn find(view: &dyn View, object: &ObjectId) -> Step<Option<u64>> {
    match view.read(object, Want::Parse(0..FIRST_READ))? {
        Some(blob) => find_from(view, object, &blob),
        None => Ok(None),
    }
}

fn find_from(view: &dyn View, object: &ObjectId, first: &ObjectBytes) -> Step<Option<u64>> {
    let fits = |place: &u64| place.checked_add(8).is_some_and(|end| end <= first.size);
    let near = |place: &u64| place + 8 <= FIRST_READ;
    let mut in_first = places().filter(fits).take_while(near);
    if let Some(found) = in_first.find(|place| is_signature(&first.bytes, *place)) {
        return Ok(Some(found));
    }
    if FOREIGN.iter().any(|magic| first.bytes.starts_with(magic)) {
        return Ok(None);
    }
    let far = join(places().filter(fits).skip_while(near), |place| {
        let blob = view.read(object, Want::Range(place..place + 8))?;
        Ok(blob.filter(|blob| is_signature(&blob.bytes, 0)).map(|_| place))
    })?;
    Ok(far.into_iter().flatten().next())
}

/// The end of a file in memory, as its superblock has it (docs/spec/hdf5-netcdf4.md A.2, A.3): the library ignores the bytes
/// after it. `None` if the bytes are not an HDF5 file, or end before it.
#[must_use]
pub fn end_of_file(bytes: &[u8]) -> Option<u64> {
    if FOREIGN.iter().any(|magic| bytes.starts_with(magic)) {
        return None;
    }
    let len = u64::try_from(bytes.len()).ok()?;
    let base = places().take_while(|place| *place < len).find(|place| is_signature(bytes, *place))?;
    let superblock = Superblock::parse(bytes.get(usize::try_from(base).ok()?..)?).ok()?;
    Some(superblock.end_from(base)).filter(|end| base < *end && *end <= len)
}

fn is_signature(bytes: &[u8], place: u64) -> bool {
    let place = usize::try_from(place).unwrap_or(usize::MAX);
    bytes.get(place..).is_some_and(|rest| rest.starts_with(SIGNATURE))
}

/// Where a signature may be.
fn places() -> impl Iterator<Item = u64> {
    std::iter::once(0).chain((9..63).map(|power| 1 << power))
}

/// Opens a file, once.
pub(crate) fn load(view: &dyn View, object: &ObjectId) -> Step<Arc<Hdf5File>> {
    let Some(first) = view.read(object, Want::Parse(0..FIRST_READ))? else {
        return Err(Error::not_found("no such file").at_object(object).into());
    };
    if let Some(file) = view.memo().find::<Hdf5File>(object, Some(&first.tag), 0, KIND) {
        return Ok(file);
    }
    let Some(base) = find_from(view, object, &first)? else {
        return Err(Error::malformed("not an HDF5 file: no signature").at_object(object).into());
    };
    let bytes = superblock_bytes(view, object, &first, base)?;
    let raw = Superblock::parse(&bytes).map_err(|error| error.at_object(object).at_offset(base))?;
    let file = extension::complete(view, raw.into_file(object, &first, base))?;
    Ok(view.memo().keep(object, Some(&first.tag), 0, KIND, file, size_of::<Hdf5File>()))
}

/// The superblock's bytes, usually from the first read.
fn superblock_bytes(view: &dyn View, object: &ObjectId, first: &ObjectBytes, base: u64) -> Step<Bytes> {
    let end = base.saturating_add(LONGEST).min(first.size);
    if end <= FIRST_READ.min(first.bytes.len() as u64) {
        let at =
            usize::try_from(base).map_err(|_| Error::limit("a user block too large for this machine"))?;
        return Ok(first.bytes.slice(at..));
    }
    let blob = view.read(object, Want::Parse(base..end))?;
    Ok(blob.ok_or_else(|| Error::not_found("no such file").at_object(object))?.bytes)
}

/// The contents of the superblock.
#[derive(Debug)]
struct Superblock {
    version: u8,
    sizes: FieldSizes,
    ranks: NodeRanks,
    flags: u8,
    base: u64,
    end: u64,
    root: FileAddress,
    /// Driver information block of versions 0 and 1.
    driver: Option<FileAddress>,
    /// Superblock extension of versions 2 and 3.
    extension: Option<FileAddress>,
}

impl Superblock {
    fn parse(bytes: &[u8]) -> Result<Self, Error> {
        let mut cursor = ByteCursor::new(bytes, "the superblock");
        cursor.skip(SIGNATURE.len())?;
        match cursor.version(&[0, 1, 2, 3])? {
            version @ (0 | 1) => Self::parse_old(&mut cursor, version),
            version => Self::parse_new(&mut cursor, version),
        }
    }

    /// Versions 0 and 1 (A.2).
    fn parse_old(cursor: &mut ByteCursor<'_>, version: u8) -> Result<Self, Error> {
        cursor.skip(4)?;
        let sizes = FieldSizes { offsets: cursor.u8()?, lengths: cursor.u8()? };
        check_sizes(sizes)?;
        cursor.skip(1)?;
        let mut ranks =
            NodeRanks { group_leaf: cursor.u16()?, group_internal: cursor.u16()?, ..NodeRanks::default() };
        cursor.skip(4)?;
        if version == 1 {
            ranks.chunk = cursor.u16()?;
            cursor.skip(2)?;
        }
        let base = cursor.uint(usize::from(sizes.offsets))?;
        cursor.addr(sizes)?;
        let end = cursor.uint(usize::from(sizes.offsets))?;
        let driver = cursor.addr(sizes)?;
        cursor.len(sizes)?;
        let root = root(cursor.addr(sizes)?)?;
        Ok(Self { version, sizes, ranks, flags: 0, base, end, root, driver, extension: None })
    }

    /// Versions 2 and 3 (A.3).
    fn parse_new(cursor: &mut ByteCursor<'_>, version: u8) -> Result<Self, Error> {
        let sizes = FieldSizes { offsets: cursor.u8()?, lengths: cursor.u8()? };
        check_sizes(sizes)?;
        let flags = cursor.u8()?;
        let base = cursor.uint(usize::from(sizes.offsets))?;
        let extension = cursor.addr(sizes)?;
        let end = cursor.uint(usize::from(sizes.offsets))?;
        let found = cursor.addr(sizes)?;
        let summed = cursor.taken();
        if cursor.u32()? != lookup3(summed) {
            return Err(Error::malformed("the checksum of the superblock is wrong"));
        }
        let root = root(found)?;
        Ok(Self {
            version,
            sizes,
            ranks: NodeRanks::default(),
            flags,
            base,
            end,
            root,
            driver: None,
            extension,
        })
    }

    /// The end of the file whose signature is at `base`.
    fn end_from(&self, base: u64) -> u64 {
        self.end.wrapping_sub(self.base.wrapping_sub(base))
    }

    /// The file; the offset of the signature is its base, whatever is stored (A.1).
    fn into_file(self, object: &ObjectId, first: &ObjectBytes, base: u64) -> (Hdf5File, SuperblockParts) {
        let (mut warnings, mut losses) = (Vec::new(), Vec::new());
        let end = self.end_from(base);
        let is_known = self.end != all_ones(self.sizes.offsets);
        let missing = if is_known { end.saturating_sub(first.size) } else { 0 };
        if missing > 0 {
            let message = format!("the file is cut off: {} of {end} bytes", first.size);
            losses.push(Error::malformed(message).at_object(object));
        }
        // Open for writing, or for writing while others read; only version 3 gives these bits a meaning
        // (docs/spec/hdf5-netcdf4.md A.3).
        if self.version == 3 && self.flags & 0b101 != 0 {
            warnings.push("the file is open for writing, or was not closed by its writer".to_owned());
        }
        let parts = SuperblockParts { driver: self.driver, extension: self.extension };
        let file = Hdf5File {
            object: object.clone(),
            tag: first.tag.clone(),
            size: first.size,
            base,
            sizes: self.sizes,
            version: self.version,
            root: self.root,
            ranks: self.ranks,
            shared: None,
            page: None,
            missing,
            warnings,
            losses,
        };
        (file, parts)
    }
}

/// The other parts of the superblock.
#[derive(Debug, Clone, Copy)]
struct SuperblockParts {
    driver: Option<FileAddress>,
    extension: Option<FileAddress>,
}

fn check_sizes(sizes: FieldSizes) -> Result<(), Error> {
    let known = [2, 4, 8];
    if known.contains(&sizes.offsets) && known.contains(&sizes.lengths) {
        return Ok(());
    }
    let (offsets, lengths) = (sizes.offsets, sizes.lengths);
    Err(Error::unsupported(format!("offsets of {offsets} bytes and lengths of {lengths} bytes")))
}

fn root(addr: Option<FileAddress>) -> Result<FileAddress, Error> {
    addr.ok_or_else(|| Error::malformed("the file has no root group"))
}

const KIND: &str = "hdf5 file";
const SIGNATURE: &[u8; 8] = b"\x89HDF\r\n\x1a\n";
/// The superblock and, in most files, the root group; a view may fetch a whole block.
const FIRST_READ: u64 = 16 << 10;
/// Maximum size of a superblock.
const LONGEST: u64 = 128;
/// Signatures of other known formats: such a file is not searched further.
const FOREIGN: [&[u8]; 8] =
    [b"CDF", b"PK\x03\x04", b"\x0e\x03\x13\x01", b"GRIB", b"II*\0", b"MM\0*", b"SIMPLE  =", b"\x1f\x8b"];

#[cfg(test)]
mod tests;
