//! The frame that all files of a repository have: a header, and a flatbuffer that may be compressed
//! (docs/spec/icechunk-format.md, "File header").
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
    let stored = bytes.slice(HEADER..);
    let body = match compression {
        0 => stored,
        1 => decompressed(&stored, limits)?,
        other => return Err(Error::unsupported(format!("compression {other} of {}", kind.name()))),
    };
    limits.metadata_len(body.len() as u64, kind.name())?;
    Ok(OpenedFile { body, spec_version })
}

/// The content of a zstd frame, of bounded size.
fn decompressed(stored: &[u8], limits: &Limits) -> Result<Bytes> {
    let max = (stored.len() as u64).saturating_mul(MAX_RATIO).max(SMALL).min(limits.metadata_bytes);
    let too_large = |len: u64| {
        let message =
            format!("metadata of {len} bytes in a file of {}: at most {max} are read", stored.len());
        Error::limit(message)
    };
    let stated = zstd_safe::get_frame_content_size(stored).ok().flatten();
    if let Some(len) = stated.filter(|len| *len > max) {
        return Err(too_large(len));
    }
    let mut out: Vec<u8> = Vec::new();
    let room = usize::try_from(stated.unwrap_or(0)).unwrap_or(0);
    out.try_reserve_exact(room).map_err(|_| too_large(room as u64))?;
    let mut decoder = DCtx::create();
    let mut input = InBuffer::around(stored);
    let mut block = vec![0u8; BLOCK];
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
        out.extend_from_slice(block.get(..written).unwrap_or_default());
        if out.len() as u64 > max {
            return Err(too_large(out.len() as u64));
        }
        if hint == 0 {
            return Ok(out.into());
        }
        if written == 0 && input.pos() == before {
            return Err(Error::malformed("the zstd frame is cut short"));
        }
    }
}

/// Bytes that are decompressed at a time.
const BLOCK: usize = 128 << 10;
