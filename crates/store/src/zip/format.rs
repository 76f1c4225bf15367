//! The records of a zip file (APPNOTE 6.3): bytes to values and back, nothing else.
use ncirrus_layout::{Error, Result};

/// The content is stored as it is.
pub(super) const STORED: u16 = 0;
/// The content is compressed by deflate.
pub(super) const DEFLATED: u16 = 8;
/// Deflate with a window of 64 KiB.
pub(super) const DEFLATE64: u16 = 9;
pub(super) const BZIP2: u16 = 12;
pub(super) const LZMA: u16 = 14;
/// Zstandard before APPNOTE 6.3.8.
pub(super) const ZSTD_DRAFT: u16 = 20;
pub(super) const ZSTD: u16 = 93;
pub(super) const XZ: u16 = 95;

/// Entry is encrypted.
pub(super) const ENCRYPTED: u16 = 1;
/// The content is a patch of another file.
pub(super) const PATCH: u16 = 1 << 5;
/// The last version of the format: 6.3.
pub(super) const LAST_VERSION: u16 = 63;
/// Sizes and checksum follow the content.
pub(super) const DESCRIPTOR: u16 = 1 << 3;
/// Name is UTF-8.
pub(super) const UTF8: u16 = 1 << 11;

/// Bytes of the end record, without comment.
pub(super) const END_LEN: usize = 22;
/// Size of the record with the location of the 64-bit end record.
const LOCATOR_LEN: usize = 20;
/// Bytes of the 64-bit end record.
const END64_LEN: usize = 56;
/// Bytes of a local header without name and extra fields.
pub(super) const LOCAL_LEN: usize = 30;

/// Enough bytes for the end record with the longest comment and everything that precedes it.
pub(super) const LONGEST_END: u64 = (END_LEN + 65_535 + LOCATOR_LEN + END64_LEN) as u64;

/// Marks a value that does not fit its field: the true one is in the 64-bit record.
const IN_64: u32 = u32::MAX;

/// Where the directory of a zip file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct DirectoryEnd {
    /// Offset of the first header in the file.
    pub(super) offset: u64,
    /// Bytes of all headers.
    pub(super) len: u64,
    /// Number of headers as declared; only its lower 16 bits are valid without a 64-bit record.
    pub(super) count: u64,
    /// Bytes before the zip file proper, to be added to the offsets in it.
    pub(super) shift: u64,
}

/// The result of parsing the tail of a zip file.
pub(super) enum ZipTail {
    /// The location of the directory.
    End(DirectoryEnd),
    /// A 64-bit end record must be read: its offset.
    At(u64),
}

/// An entry as in its header in the directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct EntryHeader {
    /// Version of the format that a reader must support, times ten.
    pub(super) needed: u16,
    pub(super) flags: u16,
    pub(super) method: u16,
    pub(super) crc: u32,
    pub(super) compressed: u64,
    pub(super) size: u64,
    /// Offset of the local header.
    pub(super) offset: u64,
}

/// A cursor that cannot overrun.
pub(super) struct ZipCursor<'a>(pub(super) &'a [u8]);

impl<'a> ZipCursor<'a> {
    pub(super) fn take(&mut self, len: usize) -> Result<&'a [u8]> {
        let (taken, rest) =
            self.0.split_at_checked(len).ok_or_else(|| Error::malformed("zip record is cut off"))?;
        self.0 = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let (taken, rest) =
            self.0.split_first_chunk().ok_or_else(|| Error::malformed("zip record is cut off"))?;
        self.0 = rest;
        Ok(*taken)
    }

    pub(super) fn u16(&mut self) -> Result<u16> {
        self.array().map(u16::from_le_bytes)
    }

    pub(super) fn u32(&mut self) -> Result<u32> {
        self.array().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Result<u64> {
        self.array().map(u64::from_le_bytes)
    }
}

/// Finds the end record in the last bytes of a file of `size` bytes.
pub(super) fn read_tail(tail: &[u8], size: u64) -> Result<ZipTail> {
    let at = find_end(tail).ok_or_else(|| Error::malformed("no end record: not a zip file, or cut off"))?;
    let start = size.saturating_sub(tail.len() as u64);
    let mut reader = ZipCursor(tail.get(at + 4..).unwrap_or_default());
    let disks = (reader.u16()?, reader.u16()?);
    let (_, count) = (reader.u16()?, reader.u16()?);
    let (len, offset) = (reader.u32()?, reader.u32()?);
    if let Some(place) = locator(tail, at) {
        return Ok(ZipTail::At(place?));
    }
    if disks != (0, 0) && disks != (u16::MAX, u16::MAX) {
        return Err(Error::unsupported("zip file of several parts"));
    }
    DirectoryEnd::new(start + at as u64, u64::from(offset), u64::from(len), u64::from(count))
        .map(ZipTail::End)
}

/// Reads a 64-bit end record that starts at `at` in the file.
pub(super) fn read_end64(record: &[u8], at: u64) -> Result<DirectoryEnd> {
    let mut reader = ZipCursor(record);
    if reader.take(4)? != b"PK\x06\x06" {
        return Err(Error::malformed("no 64-bit end record where the zip file says it is").at_offset(at));
    }
    reader.take(20)?;
    let (_, count) = (reader.u64()?, reader.u64()?);
    let (len, offset) = (reader.u64()?, reader.u64()?);
    DirectoryEnd::new(at, offset, len, count)
}

/// How much of a 64-bit end record is read.
pub(super) const READ_64: u64 = END64_LEN as u64;

impl DirectoryEnd {
    /// The directory ends where the end record starts; bytes before the zip file shift all offsets.
    fn new(end: u64, offset: u64, len: u64, count: u64) -> Result<Self> {
        let start = end.checked_sub(len);
        match start.and_then(|start| Some((start, start.checked_sub(offset)?))) {
            Some((start, shift)) => Ok(Self { offset: start, len, count, shift }),
            None => Err(Error::malformed("directory of the zip file lies outside the file").at_offset(end)),
        }
    }
}

/// The last end record whose comment ends with the file, else the last one whose comment fits.
fn find_end(tail: &[u8]) -> Option<usize> {
    let comment = |at: usize| Some(usize::from(u16::from_le_bytes(*tail.get(at + 20..)?.first_chunk()?)));
    let found = |exact: bool| {
        (0..=tail.len().checked_sub(END_LEN)?).rev().find(|&at| {
            let is_end = tail.get(at..).is_some_and(|rest| rest.starts_with(b"PK\x05\x06"));
            let end = if is_end { comment(at).map(|len| at + END_LEN + len) } else { None };
            end.is_some_and(|end| if exact { end == tail.len() } else { end <= tail.len() })
        })
    };
    found(true).or_else(|| found(false))
}

/// The offset of a 64-bit end record, if its locator precedes the end record.
fn locator(tail: &[u8], end: usize) -> Option<Result<u64>> {
    let locator = tail.get(end.checked_sub(LOCATOR_LEN)?..end)?;
    let mut reader = ZipCursor(locator.strip_prefix(b"PK\x06\x07")?);
    Some(reader.u32().and_then(|_| reader.u64()))
}

/// The next header of a directory: name and entry.
pub(super) fn read_central<'a>(reader: &mut ZipCursor<'a>) -> Result<(&'a [u8], EntryHeader)> {
    if reader.take(4)? != b"PK\x01\x02" {
        return Err(Error::malformed("no header where the directory of the zip file should go on"));
    }
    let (_made_by, needed) = (reader.u16()?, reader.u16()? & 0xff);
    let (flags, method) = (reader.u16()?, reader.u16()?);
    reader.take(4)?;
    let crc = reader.u32()?;
    let (compressed, size) = (reader.u32()?, reader.u32()?);
    let (name_len, extra_len, comment_len) = (reader.u16()?, reader.u16()?, reader.u16()?);
    reader.take(8)?;
    let offset = reader.u32()?;
    let name = reader.take(name_len.into())?;
    let extra = reader.take(extra_len.into())?;
    reader.take(comment_len.into())?;
    let [size, compressed, offset] = widen([size, compressed, offset], extra)?;
    Ok((name, EntryHeader { needed, flags, method, crc, compressed, size, offset }))
}

/// Takes values that do not fit the header from the 64-bit extra field.
fn widen(narrow: [u32; 3], extra: &[u8]) -> Result<[u64; 3]> {
    let mut wide = narrow.map(u64::from);
    if narrow.contains(&IN_64) {
        let mut field = ZipCursor(field_64(extra)?);
        for (wide, narrow) in wide.iter_mut().zip(narrow) {
            if narrow == IN_64 {
                *wide = field.u64()?;
            }
        }
    }
    Ok(wide)
}

fn field_64(extra: &[u8]) -> Result<&[u8]> {
    let mut reader = ZipCursor(extra);
    loop {
        let (id, len) = (reader.u16()?, reader.u16()?);
        let field = reader.take(len.into())?;
        if id == 1 {
            return Ok(field);
        }
    }
}

/// Size of a local header up to the content, if it is that of the entry of that name.
pub(super) fn read_local(bytes: &[u8], name: &[u8], method: u16) -> Result<u64> {
    let mut reader = ZipCursor(bytes);
    let damaged = || Error::malformed("header of the zip entry is not what the directory says");
    if reader.take(4)? != b"PK\x03\x04" {
        return Err(damaged());
    }
    reader.take(4)?;
    let its_method = reader.u16()?;
    reader.take(16)?;
    let (name_len, extra_len) = (reader.u16()?, reader.u16()?);
    if its_method != method || reader.take(name_len.into())? != name {
        return Err(damaged());
    }
    Ok(LOCAL_LEN as u64 + u64::from(name_len) + u64::from(extra_len))
}

/// A fixed time for all entries: equal content gives equal files.
const DATE_1980: u16 = 0x21;
/// Version of the format that a reader must support: 2.0, or 4.5 for 64-bit fields.
pub(super) const VERSION: u16 = 45;
/// Made on Unix, where the attributes hold the mode of the file.
const MADE_BY: u16 = 3 << 8 | VERSION;

/// The local header of an entry; sizes that do not fit go into an extra field.
pub(super) fn write_local(name: &str, header: &EntryHeader) -> Result<Vec<u8>> {
    let mut out = b"PK\x03\x04".to_vec();
    let wide = u32::try_from(header.size.max(header.compressed)).map_or(true, |size| size == IN_64);
    let extra = if wide { extra_64(&[header.size, header.compressed]) } else { Vec::new() };
    put16(
        &mut out,
        &[header.needed.max(VERSION), (header.flags & !DESCRIPTOR) | UTF8, header.method, 0, DATE_1980],
    );
    put32(&mut out, &[header.crc, narrow(header.compressed, wide), narrow(header.size, wide)]);
    put16(&mut out, &[name_len(name)?, u16::try_from(extra.len()).unwrap_or_default()]);
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(&extra);
    Ok(out)
}

/// The header of an entry in the directory.
pub(super) fn write_central(out: &mut Vec<u8>, name: &str, header: &EntryHeader) -> Result<()> {
    let wide = u32::try_from(header.size.max(header.compressed).max(header.offset))
        .map_or(true, |size| size == IN_64);
    let extra = if wide { extra_64(&[header.size, header.compressed, header.offset]) } else { Vec::new() };
    out.extend_from_slice(b"PK\x01\x02");
    put16(out, &[MADE_BY, header.needed.max(VERSION), header.flags | UTF8, header.method, 0, DATE_1980]);
    put32(out, &[header.crc, narrow(header.compressed, wide), narrow(header.size, wide)]);
    put16(out, &[name_len(name)?, u16::try_from(extra.len()).unwrap_or_default(), 0, 0, 0]);
    let attributes: u32 = if name.ends_with('/') { 0o040_777 << 16 | 0x10 } else { 0o100_666 << 16 };
    put32(out, &[attributes, narrow(header.offset, wide)]);
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(&extra);
    Ok(())
}

/// The end records behind a directory.
pub(super) fn write_end(out: &mut Vec<u8>, count: u64, offset: u64, len: u64) {
    let small = u16::try_from(count).ok().filter(|count| *count < u16::MAX);
    let wide = small.is_none() || offset.max(len) >= u64::from(IN_64);
    if wide {
        out.extend_from_slice(b"PK\x06\x06");
        out.extend_from_slice(&(END64_LEN as u64 - 12).to_le_bytes());
        put16(out, &[MADE_BY, VERSION]);
        put32(out, &[0, 0]);
        [count, count, len, offset].iter().for_each(|value| out.extend_from_slice(&value.to_le_bytes()));
        out.extend_from_slice(b"PK\x06\x07");
        put32(out, &[0]);
        out.extend_from_slice(&offset.saturating_add(len).to_le_bytes());
        put32(out, &[1]);
    }
    let count = small.filter(|_| !wide).unwrap_or(u16::MAX);
    out.extend_from_slice(b"PK\x05\x06");
    put16(out, &[0, 0, count, count]);
    put32(out, &[narrow(len, wide), narrow(offset, wide)]);
    put16(out, &[0]);
}

fn extra_64(values: &[u64]) -> Vec<u8> {
    let mut out = Vec::new();
    put16(&mut out, &[1, u16::try_from(values.len() * 8).unwrap_or_default()]);
    values.iter().for_each(|value| out.extend_from_slice(&value.to_le_bytes()));
    out
}

fn narrow(value: u64, wide: bool) -> u32 {
    if wide { IN_64 } else { u32::try_from(value).unwrap_or(IN_64) }
}

fn name_len(name: &str) -> Result<u16> {
    u16::try_from(name.len())
        .map_err(|_| Error::limit(format!("key of {} bytes is too long for a zip file", name.len())))
}

fn put16(out: &mut Vec<u8>, values: &[u16]) {
    values.iter().for_each(|value| out.extend_from_slice(&value.to_le_bytes()));
}

fn put32(out: &mut Vec<u8>, values: &[u32]) {
    values.iter().for_each(|value| out.extend_from_slice(&value.to_le_bytes()));
}
