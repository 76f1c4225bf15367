//! A bounds-checked cursor over the beginning of a file: it knows how many bytes are available, how many the whole
//! object has, and how many a header may have.
use crate::FormatVersion;
use ncirrus_layout::{Error, Limits};

/// Why parsing stopped.
#[derive(Debug)]
pub(crate) enum ParseHalt {
    /// The bytes up to this offset are needed; the object has them.
    More(u64),
    /// The header is damaged or too large.
    Fail(Error),
}

impl From<Error> for ParseHalt {
    fn from(error: Error) -> Self {
        Self::Fail(error)
    }
}

/// A position in the header.
#[derive(Debug)]
pub(crate) struct HeaderCursor<'a> {
    bytes: &'a [u8],
    at: u64,
    size: u64,
    limits: &'a Limits,
}

impl<'a> HeaderCursor<'a> {
    /// Starts at the first byte; `size` is that of the whole object.
    pub(crate) fn new(bytes: &'a [u8], size: u64, limits: &'a Limits) -> Self {
        Self { bytes, at: 0, size, limits }
    }

    /// Offset of the next byte.
    pub(crate) fn at(&self) -> u64 {
        self.at
    }

    /// The budgets.
    pub(crate) fn limits(&self) -> &'a Limits {
        self.limits
    }

    /// An error at the current offset.
    pub(crate) fn malformed(&self, message: impl Into<String>) -> ParseHalt {
        Error::malformed(message).at_offset(self.at).into()
    }

    /// The next `len` bytes. Whether they exist is decided before whether they are available, so that the outcome
    /// does not depend on what has arrived.
    pub(crate) fn take(&mut self, len: u64, what: &str) -> Result<&'a [u8], ParseHalt> {
        let end = self.at.checked_add(len).filter(|end| *end <= self.size).ok_or_else(|| {
            let left = self.size.saturating_sub(self.at);
            self.malformed(format!(
                "the file ends within its header: {what} has {len} bytes, {left} are left"
            ))
        })?;
        self.limits.metadata_len(end, "the header").map_err(|error| error.at_offset(self.at))?;
        let (Ok(from), Ok(to)) = (usize::try_from(self.at), usize::try_from(end)) else {
            return Err(Error::limit(format!("the header has more than {end} bytes")).into());
        };
        let taken = self.bytes.get(from..to).ok_or(ParseHalt::More(end))?;
        self.at = end;
        Ok(taken)
    }

    /// Bytes that are followed by padding to a multiple of four.
    pub(crate) fn take_padded(&mut self, len: u64, what: &str) -> Result<&'a [u8], ParseHalt> {
        let taken = self.take(len, what)?;
        self.take(len.wrapping_neg() % 4, "padding")?;
        Ok(taken)
    }

    /// A number of 32 bits.
    pub(crate) fn u32(&mut self, what: &str) -> Result<u32, ParseHalt> {
        let bytes = self.take(4, what)?;
        Ok(bytes.iter().fold(0, |value, byte| value << 8 | u32::from(*byte)))
    }

    /// A number of 64 bits.
    pub(crate) fn u64(&mut self, what: &str) -> Result<u64, ParseHalt> {
        let bytes = self.take(8, what)?;
        Ok(bytes.iter().fold(0, |value, byte| value << 8 | u64::from(*byte)))
    }

    /// A count or length: 32 or 64 bits.
    pub(crate) fn count(&mut self, version: FormatVersion, what: &str) -> Result<u64, ParseHalt> {
        if version.count_width() == 8 { self.u64(what) } else { self.u32(what).map(u64::from) }
    }

    /// An offset: 32 or 64 bits.
    pub(crate) fn offset(&mut self, version: FormatVersion, what: &str) -> Result<u64, ParseHalt> {
        if version.offset_width() == 8 { self.u64(what) } else { self.u32(what).map(u64::from) }
    }

    /// Checks that the file can contain the stated number of entries, of at least `min` bytes each.
    pub(crate) fn entries(&self, count: u64, min: u64, what: &str) -> Result<(), ParseHalt> {
        let left = self.size.saturating_sub(self.at);
        if count.checked_mul(min).is_none_or(|need| need > left) {
            return Err(
                self.malformed(format!("{count} {what} cannot fit in the {left} bytes that are left"))
            );
        }
        self.limits.count(count, what).map_err(|error| error.at_offset(self.at))?;
        Ok(())
    }
}
