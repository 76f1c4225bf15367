//! The text of a reference file: as it is, or compressed by gzip or zstd, and then decompressed while it is parsed.
use crate::store::{LocalStore, ReadAt};
use crate::zstd_reader::ZstdReader;
use bytes::Bytes;
use flate2::read::MultiGzDecoder;
use ncirrus_layout::{Error, Limits, ObjectId, Result};
use std::io::{self, BufReader, Read};

/// The text of a reference file.
pub(super) enum ReferenceText<'a> {
    /// In memory.
    Bytes(Bytes),
    /// In a local file, which is read in parts.
    File(&'a dyn LocalStore, &'a ObjectId),
}

/// How a text is compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TextCompression {
    None,
    Gzip,
    Zstd,
}

impl TextCompression {
    /// By the first bytes.
    pub(super) fn of(head: &[u8]) -> Self {
        match head {
            [0x1f, 0x8b, ..] => Self::Gzip,
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Self::Zstd,
            _ => Self::None,
        }
    }
}

impl ReferenceText<'_> {
    /// Bytes that are neither compressed nor read in parts.
    pub(super) fn plain(&self, compression: TextCompression) -> Option<&[u8]> {
        match self {
            Self::Bytes(bytes) if compression == TextCompression::None => Some(bytes),
            _ => None,
        }
    }

    /// Reads the text from its beginning; more than the limit is an error.
    ///
    /// # Errors
    /// `Denied`, `Io`.
    pub(super) fn reader(&self, compression: TextCompression, limits: &Limits) -> Result<impl Read> {
        let stored: Box<dyn Read> = match self {
            Self::Bytes(bytes) => Box::new(bytes.as_ref()),
            Self::File(store, object) => {
                let file = FilePart { file: store.opened(object)?, at: 0 };
                Box::new(BufReader::with_capacity(BLOCK, file))
            }
        };
        let plain: Box<dyn Read> = match compression {
            TextCompression::None => stored,
            TextCompression::Gzip => Box::new(MultiGzDecoder::new(stored)),
            TextCompression::Zstd => Box::new(ZstdReader::new(stored)),
        };
        Ok(BufReader::with_capacity(BLOCK, LimitedRead { inner: plain, left: limits.metadata_bytes }))
    }
}

/// Reads a file from an offset on.
struct FilePart<'a> {
    file: Box<dyn ReadAt + 'a>,
    at: u64,
}

impl Read for FilePart<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read_at(self.at, buffer).map_err(io::Error::other)?;
        let len = read.ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))?;
        self.at = self.at.saturating_add(len as u64);
        Ok(len)
    }
}

/// Fails when more is read than is allowed.
struct LimitedRead<R> {
    inner: R,
    left: u64,
}

impl<R: Read> Read for LimitedRead<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let len = self.inner.read(buffer)?;
        self.left = self.left.checked_sub(len as u64).ok_or_else(|| {
            io::Error::other(Error::limit("the reference file is larger than the limit, decompressed"))
        })?;
        Ok(len)
    }
}

/// Bytes that are read at once.
const BLOCK: usize = 256 << 10;
