//! Numbers of DAP4 as they arrive (docs/spec/dap.md 6.2, 6.3).
use super::AnswerStart;
use super::elements::{ElementForm, ElementStream};
use crate::answer::classify;
use crate::chunks::{ERROR, LAST, LITTLE_ENDIAN, wrong_checksum};
use crate::path::shown_path;
use crate::shown::{ShownVariable, WirePath};
use crate::{AnswerKind, Dmr, DmrKind};
use ncirrus_layout::{Error, Limits, PutElements, QueryBox, Result};

/// The values of one array of numbers, in chunks.
#[derive(Debug)]
pub(super) struct DapStream {
    path: String,
    size: usize,
    count: u64,
    /// Whether numbers are little-endian, according to the chunks so far.
    is_little: bool,
    /// Whether a wrong checksum is an error.
    verifies: bool,
    /// From the first data on.
    elements: Option<ElementStream>,
    checksum: crc32fast::Hasher,
    /// What follows the elements: the checksum, if there is one.
    after: Vec<u8>,
    chunk: ChunkState,
}

#[derive(Debug)]
enum ChunkState {
    /// The header of the next one.
    Header(Vec<u8>),
    /// Bytes of this one that are still to come.
    Payload { flags: u8, left: usize },
    /// An error of the server.
    Error { payload: Vec<u8>, left: usize },
    /// The last one has come.
    Ended,
}

/// Bytes after the elements that are kept: more than a checksum has.
const AFTER: usize = 8;

impl DapStream {
    /// Reads the first chunk, the structure.
    pub(super) fn begin(
        held: &[u8],
        (variable, verifies): (&ShownVariable, bool),
        wanted: &QueryBox,
        limits: &Limits,
    ) -> AnswerStart<Self> {
        let Some(([flags, high, middle, low], rest)) = held.split_first_chunk::<4>() else {
            return AnswerStart::Incomplete;
        };
        // A chunk begins with a byte of flags and its length in 24 bits (docs/spec/dap.md 6.2).
        let len = u32::from_be_bytes([0, *high, *middle, *low]) as usize;
        let Some(document) = rest.get(..len) else { return AnswerStart::Incomplete };
        if classify(held) != AnswerKind::Chunks || flags & (ERROR | LAST) != 0 {
            return AnswerStart::Other;
        }
        let dmr = Dmr::parse(document, limits).ok();
        let Some((path, size)) = dmr.and_then(|dmr| only_array(&dmr, variable, wanted)) else {
            return AnswerStart::Other;
        };
        let stream = Self {
            path,
            size,
            count: wanted.count(),
            is_little: flags & LITTLE_ENDIAN != 0,
            verifies,
            elements: None,
            checksum: crc32fast::Hasher::new(),
            after: Vec::new(),
            chunk: ChunkState::Header(Vec::new()),
        };
        AnswerStart::Elements(stream, 4 + len)
    }

    pub(super) fn piece(&mut self, mut bytes: &[u8], put: &mut PutElements<'_>) -> Result<()> {
        while !bytes.is_empty() {
            match &mut self.chunk {
                // Data after the last chunk are ignored.
                ChunkState::Ended => return Ok(()),
                ChunkState::Header(header) => {
                    let (more, rest) = bytes.split_at(bytes.len().min(4 - header.len()));
                    header.extend_from_slice(more);
                    bytes = rest;
                    if let [flags, high, middle, low] = *header.as_slice() {
                        self.begin_chunk(flags, u32::from_be_bytes([0, high, middle, low]) as usize)?;
                    }
                }
                ChunkState::Error { payload, left } => {
                    let (more, rest) = bytes.split_at(bytes.len().min(*left));
                    payload.extend_from_slice(more);
                    *left -= more.len();
                    bytes = rest;
                    if *left == 0 {
                        return Err(server_error(payload));
                    }
                }
                ChunkState::Payload { flags, left } => {
                    let (more, rest) = bytes.split_at(bytes.len().min(*left));
                    *left -= more.len();
                    let (flags, left) = (*flags, *left);
                    bytes = rest;
                    self.data(flags, more, put)?;
                    if left == 0 {
                        self.chunk = after_chunk(flags);
                    }
                }
            }
        }
        Ok(())
    }

    fn begin_chunk(&mut self, flags: u8, left: usize) -> Result<()> {
        self.chunk = match left {
            0 if flags & ERROR != 0 => return Err(server_error(&[])),
            _ if flags & ERROR != 0 => ChunkState::Error { payload: Vec::new(), left },
            0 => after_chunk(flags),
            _ => ChunkState::Payload { flags, left },
        };
        Ok(())
    }

    fn data(&mut self, flags: u8, bytes: &[u8], put: &mut PutElements<'_>) -> Result<()> {
        let elements = match &mut self.elements {
            Some(elements) => elements,
            none => {
                // Servers and clients differ in which chunk counts: each sets it on all chunks or on one of them.
                self.is_little |= flags & LITTLE_ENDIAN != 0;
                none.insert(ElementStream::new(ElementForm::of(self.size, self.is_little), self.count))
            }
        };
        let taken = elements.take(bytes, put)?;
        let (values, after) = bytes.split_at(taken);
        self.checksum.update(values);
        self.after.extend(after.iter().take(AFTER - self.after.len()));
        Ok(())
    }

    pub(super) fn finish(self) -> Result<()> {
        let cut = |what: &str| Err(Error::malformed(format!("the answer is truncated: {what}")));
        match &self.chunk {
            ChunkState::Ended => {}
            ChunkState::Header(_) => return cut("its last chunk is missing"),
            ChunkState::Payload { left, .. } => return cut(&format!("{left} bytes of a chunk are missing")),
            ChunkState::Error { payload, .. } => return Err(server_error(payload)),
        }
        let whole = self.count.saturating_mul(self.size as u64);
        let missing = self.elements.as_ref().map_or(whole, ElementStream::missing);
        if missing > 0 {
            return cut(&format!("{missing} bytes of values are missing"));
        }
        match self.after.first_chunk::<4>() {
            _ if self.after.is_empty() => Ok(()),
            Some(sent) if self.after.len() == 4 => {
                let sent = if self.is_little { u32::from_le_bytes(*sent) } else { u32::from_be_bytes(*sent) };
                if sent == self.checksum.finalize() || !self.verifies {
                    Ok(())
                } else {
                    Err(wrong_checksum(self.path))
                }
            }
            _ => Err(Error::malformed("more bytes follow the values than the DMR declares")),
        }
    }
}

fn after_chunk(flags: u8) -> ChunkState {
    if flags & LAST != 0 { ChunkState::Ended } else { ChunkState::Header(Vec::new()) }
}

fn server_error(payload: &[u8]) -> Error {
    match classify(payload) {
        AnswerKind::Error(error) => error.into_error(),
        _ => Error::malformed("the server answers an error that it does not describe"),
    }
}

/// The path of the only array of an answer and the bytes of an element, if it is that which was asked for.
fn only_array(dmr: &Dmr, shown: &ShownVariable, wanted: &QueryBox) -> Option<(String, usize)> {
    let WirePath::Dap4 { path } = &shown.wire else { return None };
    let variables = dmr.variables();
    let [(groups, found)] = variables.as_slice() else { return None };
    let is_it = groups.iter().copied().chain([found.name.as_str()]).eq(path.iter().map(String::as_str));
    let DmrKind::Atomic(atomic) = &found.kind else { return None };
    let lengths = found.dims.iter().map(|axis| axis.size);
    let is_as_requested = is_it && lengths.eq(wanted.axes.iter().map(|axis| axis.count));
    let size = atomic.byte_len().filter(|_| is_as_requested && shown.has_bits_of(*atomic))?;
    Some((shown_path(groups.iter().copied(), [&*found.name]), size))
}
