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
/// Compressed pages of a file may take this many times its size: those of manifests that icechunk writes take about as much.
const MAX_PAGES_RATIO: u64 = 3;
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
    let header = check(bytes, kind)?;
    let stored = bytes.slice(HEADER..);
    let body = match header.is_compressed {
        false => stored,
        true => {
            let stored_len = stored.len() as u64;
            let max = max_len(stored_len).min(limits.metadata_bytes);
            let mut out: Vec<u8> = Vec::new();
            let room = usize::try_from(stated_len(&stored, stored_len, max)?).unwrap_or(0);
            out.try_reserve_exact(room).map_err(|_| too_large(room as u64, stored_len, max))?;
            let mut frame = FrameDecoder::new(stored_len, max);
            frame.add(&stored, |part| {
                out.extend_from_slice(part);
                Ok(())
            })?;
            frame.finish()?;
            out.into()
        }
    };
    limits.metadata_len(body.len() as u64, kind.name())?;
    Ok(OpenedFile { body, spec_version: header.spec_version })
}

/// As [`open`]; a file that is longer than [`LONG`] when decompressed is kept in compressed pages. It may be longer than other
/// metadata: its pages take about as much memory as the file.
///
/// # Errors
/// As [`open`].
pub(crate) fn open_any(bytes: &Bytes, kind: FileKind, limits: &Limits) -> Result<FileBody> {
    let header = check(bytes, kind)?;
    let stored = bytes.get(HEADER..).unwrap_or_default();
    let max = max_len(stored.len() as u64).min(MAX_FLAT);
    if !header.is_compressed || stated_len(stored, stored.len() as u64, max)? <= LONG {
        // Without a stated length, the usual bound holds.
        return Ok(FileBody::Whole(open(bytes, kind, limits)?.body));
    }
    let mut file = ArrivingFile::new(kind, bytes.len() as u64, limits)?;
    file.add(0, bytes)?;
    file.finish()
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

/// A file that arrives in parts. Its content is kept in compressed pages, and what has arrived is not kept.
pub(crate) struct ArrivingFile {
    kind: FileKind,
    size: u64,
    arrived: u64,
    pages: PageMaker,
    /// `None` before the header has arrived.
    content: Option<ArrivingContent>,
}

/// How the content of a file is stored.
enum ArrivingContent {
    Plain,
    Compressed(Box<FrameDecoder>),
}

impl ArrivingFile {
    /// A file of `size` bytes of which nothing has arrived.
    ///
    /// # Errors
    /// `Limit` if it is too large.
    pub(crate) fn new(kind: FileKind, size: u64, limits: &Limits) -> Result<Self> {
        limits.metadata_len(size, kind.name())?;
        let max = size.saturating_mul(MAX_PAGES_RATIO).max(SMALL);
        let pages = PageMaker::new(usize::try_from(max).unwrap_or(usize::MAX));
        Ok(Self { kind, size, arrived: 0, pages, content: None })
    }

    /// Number of bytes that have arrived.
    pub(crate) fn arrived(&self) -> u64 {
        self.arrived
    }

    /// Number of bytes of the file.
    pub(crate) fn size(&self) -> u64 {
        self.size
    }

    /// Adds bytes, which begin at `offset`. The first part has the whole header.
    ///
    /// # Errors
    /// As [`open`].
    pub(crate) fn add(&mut self, offset: u64, part: &[u8]) -> Result<()> {
        if offset != self.arrived || part.is_empty() {
            return Err(Error::malformed(format!(
                "the file ends at {} of {} bytes",
                self.arrived, self.size
            )));
        }
        self.arrived += part.len() as u64;
        let content = match &mut self.content {
            Some(_) => part,
            None => {
                let header = check(part, self.kind)?;
                let stored = part.get(HEADER..).unwrap_or_default();
                let stored_len = self.size.saturating_sub(HEADER as u64);
                let max = max_len(stored_len).min(MAX_FLAT);
                self.content = Some(if header.is_compressed {
                    stated_len(stored, stored_len, max)?;
                    ArrivingContent::Compressed(Box::new(FrameDecoder::new(stored_len, max)))
                } else {
                    ArrivingContent::Plain
                });
                stored
            }
        };
        let pages = &mut self.pages;
        match &mut self.content {
            Some(ArrivingContent::Compressed(frame)) => frame.add(content, |part| pages.add(part)),
            Some(ArrivingContent::Plain) => pages.add(content),
            None => Err(Error::internal("a file without its header")),
        }
    }

    /// The content of a file that has arrived as a whole.
    ///
    /// # Errors
    /// As [`open`].
    pub(crate) fn finish(self) -> Result<FileBody> {
        match self.content {
            Some(ArrivingContent::Compressed(frame)) => frame.finish()?,
            Some(ArrivingContent::Plain) => {}
            None => check(&[], self.kind).map(|_| ())?,
        }
        Ok(FileBody::Paged(self.pages.finish()?))
    }
}

/// What the header of a file says.
struct FileHeader {
    spec_version: u8,
    is_compressed: bool,
}

/// Checks the header of a file.
fn check(bytes: &[u8], kind: FileKind) -> Result<FileHeader> {
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
    Ok(FileHeader { spec_version, is_compressed: compression == 1 })
}

/// How long the content of a file may be.
fn max_len(stored_len: u64) -> u64 {
    stored_len.saturating_mul(MAX_RATIO).max(SMALL)
}

fn too_large(len: u64, stored_len: u64, max: u64) -> Error {
    Error::limit(format!("metadata of {len} bytes in a file of {stored_len}: at most {max} are read"))
}

/// The length that a zstd frame states; 0 if it states none.
fn stated_len(frame: &[u8], stored_len: u64, max: u64) -> Result<u64> {
    let stated = zstd_safe::get_frame_content_size(frame).ok().flatten().unwrap_or(0);
    if stated > max { Err(too_large(stated, stored_len, max)) } else { Ok(stated) }
}

/// Decompresses a zstd frame that arrives in parts, to a bounded size.
struct FrameDecoder {
    decoder: DCtx<'static>,
    block: Vec<u8>,
    stored_len: u64,
    /// Bytes of content so far, and how many there may be.
    len: u64,
    max: u64,
    is_complete: bool,
}

impl FrameDecoder {
    fn new(stored_len: u64, max: u64) -> Self {
        let block = vec![0u8; BLOCK];
        Self { decoder: DCtx::create(), block, stored_len, len: 0, max, is_complete: false }
    }

    /// Passes on the content of the next part. What follows the frame is ignored.
    fn add(&mut self, part: &[u8], mut take: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let mut input = InBuffer::around(part);
        while !self.is_complete {
            let mut output = OutBuffer::around(self.block.as_mut_slice());
            let before = input.pos();
            let hint = self.decoder.decompress_stream(&mut output, &mut input).map_err(|code| {
                let reason = zstd_safe::get_error_name(code).to_lowercase();
                Error::malformed(format!("damaged zstd frame: {reason}"))
            })?;
            let written = output.pos();
            self.len += written as u64;
            if self.len > self.max {
                return Err(too_large(self.len, self.stored_len, self.max));
            }
            take(self.block.get(..written).unwrap_or_default())?;
            self.is_complete = hint == 0;
            // A block that is full may not be all that the part has.
            let is_at_end = input.pos() == part.len() && written < BLOCK;
            if is_at_end || (written == 0 && input.pos() == before) {
                break;
            }
        }
        Ok(())
    }

    /// Checks that the frame is complete.
    fn finish(self) -> Result<()> {
        if self.is_complete { Ok(()) } else { Err(Error::malformed("the zstd frame is cut short")) }
    }
}

/// Bytes that are decompressed at a time.
const BLOCK: usize = 128 << 10;
