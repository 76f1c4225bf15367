//! Reading little-endian numbers from a buffer; running out of bytes is an error, never a panic.
use crate::address::{FieldSizes, FileAddress};
use ncirrus_layout::Error;

/// A buffer and a position in it.
#[derive(Debug, Clone)]
pub(crate) struct ByteCursor<'a> {
    bytes: &'a [u8],
    at: usize,
    what: &'static str,
}

impl<'a> ByteCursor<'a> {
    /// At the start of `bytes`, which hold `what` (for messages).
    pub(crate) fn new(bytes: &'a [u8], what: &'static str) -> Self {
        Self { bytes, at: 0, what }
    }

    /// Number of bytes read.
    pub(crate) fn position(&self) -> usize {
        self.at
    }

    /// The bytes that were read.
    pub(crate) fn taken(&self) -> &'a [u8] {
        self.bytes.split_at(self.at).0
    }

    /// Number of bytes left.
    pub(crate) fn left(&self) -> usize {
        self.bytes.len() - self.at
    }

    /// All remaining bytes; the position stays.
    pub(crate) fn rest(&self) -> &'a [u8] {
        self.bytes.split_at(self.at).1
    }

    /// The next `len` bytes.
    #[inline]
    pub(crate) fn take(&mut self, len: usize) -> Result<&'a [u8], Error> {
        let end = self.at.checked_add(len).filter(|end| *end <= self.bytes.len());
        let end = end.ok_or_else(|| self.short(len))?;
        let taken = &self.bytes[self.at..end];
        self.at = end;
        Ok(taken)
    }

    /// The next `len` bytes, where `len` comes from the file.
    pub(crate) fn take_u64(&mut self, len: u64) -> Result<&'a [u8], Error> {
        self.take(usize::try_from(len).unwrap_or(usize::MAX))
    }

    /// Skips bytes.
    #[inline]
    pub(crate) fn skip(&mut self, len: usize) -> Result<(), Error> {
        self.take(len).map(|_| ())
    }

    /// An unsigned number of `width` bytes, at most 8.
    #[inline]
    pub(crate) fn uint(&mut self, width: usize) -> Result<u64, Error> {
        if width > 8 {
            return Err(Error::malformed(format!("{}: a number of {width} bytes", self.what)));
        }
        Ok(self.take(width)?.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte)))
    }

    /// One byte.
    #[inline]
    pub(crate) fn u8(&mut self) -> Result<u8, Error> {
        Ok(self.array::<1>()?[0])
    }

    /// Two bytes.
    #[inline]
    pub(crate) fn u16(&mut self) -> Result<u16, Error> {
        Ok(u16::from_le_bytes(self.array()?))
    }

    /// Four bytes.
    #[inline]
    pub(crate) fn u32(&mut self) -> Result<u32, Error> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    /// Eight bytes.
    #[inline]
    pub(crate) fn u64(&mut self) -> Result<u64, Error> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    /// An address of the file; `None` if undefined (all bits set).
    pub(crate) fn addr(&mut self, sizes: FieldSizes) -> Result<Option<FileAddress>, Error> {
        let value = self.uint(usize::from(sizes.offsets))?;
        Ok((value != all_ones(sizes.offsets)).then_some(FileAddress(value)))
    }

    /// A length of the file.
    pub(crate) fn len(&mut self, sizes: FieldSizes) -> Result<u64, Error> {
        self.uint(usize::from(sizes.lengths))
    }

    /// The bytes up to the next NUL, which is skipped.
    pub(crate) fn until_nul(&mut self) -> Result<&'a [u8], Error> {
        let rest = self.rest();
        let len = rest.iter().position(|byte| *byte == 0);
        let len = len.ok_or_else(|| Error::malformed(format!("{}: a name without end", self.what)))?;
        self.at += len + 1;
        Ok(&rest[..len])
    }

    /// Expects a signature.
    pub(crate) fn signature(&mut self, signature: &[u8; 4]) -> Result<(), Error> {
        let found = self.take(4)?;
        if found == signature {
            return Ok(());
        }
        let wanted = String::from_utf8_lossy(signature);
        Err(Error::malformed(format!("{}: {found:02x?} instead of the signature {wanted}", self.what)))
    }

    /// Expects a version, one byte.
    pub(crate) fn version(&mut self, known: &[u8]) -> Result<u8, Error> {
        let version = self.u8()?;
        if known.contains(&version) {
            return Ok(version);
        }
        Err(Error::unsupported(format!("{} of version {version}", self.what)))
    }

    #[inline]
    fn array<const N: usize>(&mut self) -> Result<[u8; N], Error> {
        let taken = self.take(N)?;
        taken.try_into().map_err(|_| Error::internal("a slice of another length than asked for"))
    }

    #[cold]
    fn short(&self, len: usize) -> Error {
        Error::malformed(format!(
            "{} ends early: {} bytes left where {len} are needed",
            self.what,
            self.left()
        ))
    }
}

/// The largest number of `width` bytes, which means "undefined" and "unlimited".
pub(crate) fn all_ones(width: u8) -> u64 {
    if width >= 8 { u64::MAX } else { (1 << (8 * u32::from(width))) - 1 }
}

/// A name or other text of the file; bytes that are not UTF-8 are escaped as `\xNN`.
pub(crate) fn escaped(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        chunk.invalid().iter().for_each(|byte| text.push_str(&format!("\\x{byte:02x}")));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::escaped;

    #[test]
    fn bytes_that_are_no_text_are_escaped() {
        assert_eq!(escaped("müd".as_bytes()), "müd");
        assert_eq!(escaped(b"a\xffb"), "a\\xffb");
    }
}
