//! The frame that all files of a repository have: a header, and a flatbuffer that may be compressed
//! (docs/spec/icechunk-format.md, "File header").
use crate::flat::FlatBytes;
use crate::pages::{PageMaker, Pages};
use bytes::Bytes;
use ncirrus_layout::{Error, Limits, Result};
use zstd_safe::{DCtx, InBuffer, OutBuffer};

/// The first bytes of every file.
pub(crate) const MAGIC: &[u8; 12] = b"ICE\xf0\x9f\xa7\x8aCHUNK";
/// Bytes of the header.
pub(crate) const HEADER: usize = 39;
/// The latest specification that is known.
const SPEC_VERSION: u8 = 2;
/// A compressed file may be this many times larger than it is stored, in any case up to [`SMALL`]: metadata that icechunk
/// writes shrink far less, and the files of an attacker cannot take much memory.
const MAX_RATIO: u64 = 512;
const SMALL: u64 = 32 << 20;
/// Content that is longer is kept in pages.
const LONG: u64 = 24 << 20;
/// The longest flatbuffer: its offsets have 31 bits.
const MAX_FLAT: u64 = 1 << 31;

/// What a file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileKind {
    Snapshot = 1,
    Manifest = 2,
    TransactionLog = 4,
    RepoInfo = 6,
}

/// A file whose header was checked.
pub(crate) struct OpenedFile {
    /// The flatbuffer.
    pub(crate) body: Bytes,
    /// The specification by which it was written.
    pub(crate) spec_version: u8,
}

impl FileKind {
    fn name(self) -> &'static str {
        match self {
            Self::Snapshot => "a snapshot",
            Self::Manifest => "a manifest",
            Self::TransactionLog => "a transaction log",
            Self::RepoInfo => "repository information",
        }
    }
}

/// Whether bytes begin as a file of a repository does.
pub(crate) fn begins_well(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC)
}

/// Checks the header of a file, and decompresses it.
///
/// # Errors
/// `Malformed` for another kind of file, or damaged compression; `Unsupported` for a later specification; `Limit` if it is
/// too large.
pub(crate) fn open(bytes: &Bytes, kind: FileKind, limits: &Limits) -> Result<OpenedFile> {
    let checked = check(bytes, kind)?;
    let body = match checked.is_compressed {
        false => checked.stored,
        true => {
            let max = max_len(&checked.stored).min(limits.metadata_bytes);
            let mut out: Vec<u8> = Vec::new();
            let room = usize::try_from(stated_len(&checked.stored, max)?).unwrap_or(0);
            out.try_reserve_exact(room).map_err(|_| too_large(room as u64, &checked.stored, max))?;
            decompress(&checked.stored, max, |part| {
                out.extend_from_slice(part);
                Ok(())
            })?;
            out.into()
        }
    };
    limits.metadata_len(body.len() as u64, kind.name())?;
    Ok(OpenedFile { body, spec_version: checked.spec_version })
}

/// As [`open`]; a file that is longer than [`LONG`] when decompressed is kept in compressed pages. It may be longer than other
/// metadata: its pages take as much memory as the file.
///
/// # Errors
/// As [`open`].
pub(crate) fn open_any(bytes: &Bytes, kind: FileKind, limits: &Limits) -> Result<FileBody> {
    let checked = check(bytes, kind)?;
    let max = max_len(&checked.stored).min(MAX_FLAT);
    if !checked.is_compressed || stated_len(&checked.stored, max)? <= LONG {
        // Without a stated length, the usual bound holds.
        return Ok(FileBody::Whole(open(bytes, kind, limits)?.body));
    }
    let mut maker = PageMaker::new();
    decompress(&checked.stored, max, |part| maker.add(part))?;
    Ok(FileBody::Paged(maker.finish()?))
}

/// The content of a file.
pub(crate) enum FileBody {
    Whole(Bytes),
    Paged(Pages),
}

impl FileBody {
    /// The flatbuffer.
    pub(crate) fn flat(&self) -> FlatBytes<'_> {
        match self {
            Self::Whole(body) => FlatBytes::Whole(body),
            Self::Paged(pages) => FlatBytes::Paged(pages),
        }
    }

    /// Bytes of memory.
    pub(crate) fn held(&self) -> usize {
        match self {
            Self::Whole(body) => body.len(),
            Self::Paged(pages) => pages.held(),
        }
    }
}

struct CheckedFile {
    stored: Bytes,
    spec_version: u8,
    is_compressed: bool,
}

/// Checks the header of a file.
fn check(bytes: &Bytes, kind: FileKind) -> Result<CheckedFile> {
    let Some(header) = bytes.get(..HEADER) else {
        return Err(Error::malformed(format!("a file of {} bytes is too short for Icechunk", bytes.len())));
    };
    if !begins_well(header) {
        let start = header.get(..8).unwrap_or_default();
        return Err(Error::malformed(format!("not a file of Icechunk: it starts with {start:02x?}")));
    }
    let &[.., spec_version, found, compression] = header else {
        return Err(Error::internal("a header without its end"));
    };
    if spec_version == 0 || spec_version > SPEC_VERSION {
        let message = format!("Icechunk of spec version {spec_version}; versions 1 and 2 are read");
        return Err(Error::unsupported(message));
    }
    if found != kind as u8 {
        return Err(Error::malformed(format!(
            "file type {found} instead of {} ({})",
            kind as u8,
            kind.name()
        )));
    }
    if compression > 1 {
        return Err(Error::unsupported(format!("compression {compression} of {}", kind.name())));
    }
    Ok(CheckedFile { stored: bytes.slice(HEADER..), spec_version, is_compressed: compression == 1 })
}

/// How long the content of a file may be.
fn max_len(stored: &[u8]) -> u64 {
    (stored.len() as u64).saturating_mul(MAX_RATIO).max(SMALL)
}

fn too_large(len: u64, stored: &[u8], max: u64) -> Error {
    Error::limit(format!("metadata of {len} bytes in a file of {}: at most {max} are read", stored.len()))
}

/// The length that a zstd frame states; 0 if it states none.
fn stated_len(stored: &[u8], max: u64) -> Result<u64> {
    let stated = zstd_safe::get_frame_content_size(stored).ok().flatten().unwrap_or(0);
    if stated > max { Err(too_large(stated, stored, max)) } else { Ok(stated) }
}

/// Passes on the content of a zstd frame, of bounded size.
fn decompress(stored: &[u8], max: u64, mut take: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
    let mut decoder = DCtx::create();
    let mut input = InBuffer::around(stored);
    let mut block = vec![0u8; BLOCK];
    let mut len = 0u64;
    loop {
        let mut output = OutBuffer::around(block.as_mut_slice());
        let before = input.pos();
        let hint = decoder.decompress_stream(&mut output, &mut input).map_err(|code| {
            Error::malformed(format!(
                "damaged zstd frame: {}",
                zstd_safe::get_error_name(code).to_lowercase()
            ))
        })?;
        let written = output.pos();
        len += written as u64;
        if len > max {
            return Err(too_large(len, stored, max));
        }
        take(block.get(..written).unwrap_or_default())?;
        if hint == 0 {
            return Ok(());
        }
        if written == 0 && input.pos() == before {
            return Err(Error::malformed("the zstd frame is cut short"));
        }
    }
}

/// Bytes that are decompressed at a time.
const BLOCK: usize = 128 << 10;
