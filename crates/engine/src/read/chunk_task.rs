//! The work for one chunk, and for one run of bytes.
use super::VariableRead;
use crate::bound_source::ElementDecoding;
use crate::convert::RowCopier;
use crate::resources::{CachedChunk, ChunkKey};
use crate::resources::{ShortChunks, WorkerBuffers};
use crate::scatter::ScatterPart;
use bytes::Bytes;
use ncirrus_codec::{CodecChain, CodecError, CodecScratch};
use ncirrus_layout::{Error, Extent, Location, ObjectId, Result};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// The work for one chunk.
pub(super) struct ChunkTask<'out> {
    /// Coordinates of the chunk; empty if there is none.
    pub(super) cell: Box<[u64]>,
    pub(super) target: ChunkTarget<'out>,
    pub(super) work: ChunkSource,
    /// Set if the decoded chunk is to be cached.
    pub(super) keep: Option<Box<ChunkKey>>,
}

/// Where elements go.
pub(super) struct ChunkTarget<'out> {
    /// The elements.
    pub(super) part: ScatterPart<'out>,
    /// Marks that are set for elements that were never written. Few reads have any.
    pub(super) marks: Option<Box<ScatterPart<'out>>>,
}

/// Where elements come from.
pub(super) enum ChunkSource {
    /// Nowhere: they are filled.
    Fill,
    /// From an encoded chunk.
    Encoded {
        location: Location,
        mask: u32,
        chain: CodecChain,
        /// Bytes of the decoded chunk, for elements of fixed size.
        len: usize,
        /// Elements of the chunk.
        count: u64,
    },
    /// From the bytes of a chunk that is stored without codecs.
    Plain {
        object: ObjectId,
        /// Where the chunk starts.
        start: u64,
        /// Bytes of the chunk, if known; then the object must exist.
        have: Option<u64>,
        /// Bytes of the chunk's elements.
        len: usize,
    },
    /// From rows at fixed strides.
    Rows {
        extents: Arc<[Extent]>,
        /// Logical offset of the chunk's first element.
        origin: u64,
    },
}

impl<'out> ChunkTask<'out> {
    /// A task that only fills.
    pub(super) fn fill(target: ChunkTarget<'out>) -> Self {
        Self { cell: Box::from([]), target, work: ChunkSource::Fill, keep: None }
    }

    /// Approximate memory in bytes that it takes besides the result.
    pub(super) fn cost(&self) -> usize {
        match &self.work {
            ChunkSource::Fill => 0,
            ChunkSource::Encoded { len, .. } => len.saturating_mul(2),
            ChunkSource::Plain { .. } | ChunkSource::Rows { .. } => self.target.part.span().len(),
        }
    }

    /// Whether nothing is decoded.
    pub(super) fn is_copied(&self) -> bool {
        !matches!(self.work, ChunkSource::Encoded { .. })
    }

    /// The coordinates of the chunk, if there is one.
    pub(super) fn chunk(&self) -> Option<Box<[u64]>> {
        matches!(self.work, ChunkSource::Encoded { .. } | ChunkSource::Plain { .. })
            .then(|| self.cell.clone())
    }

    /// The objects from which it reads one of several parts.
    pub(super) fn shared_objects(&self) -> impl Iterator<Item = &ObjectId> + '_ {
        let (one, several): (_, &[Extent]) = match &self.work {
            ChunkSource::Encoded { location: Location::Bytes(object, _), .. } => (Some(object), &[]),
            ChunkSource::Plain { object, have: Some(_), .. } => (Some(object), &[]),
            ChunkSource::Rows { extents, .. } => (None, extents),
            _ => (None, &[]),
        };
        one.into_iter().chain(several.iter().map(|extent| &extent.object))
    }
}

impl VariableRead<'_> {
    /// Copies elements from stored bytes: those of a whole chunk, or of the span of a run.
    pub(super) fn copy(&self, part: &mut ScatterPart<'_>, stored: &[u8]) -> Result<()> {
        part.copy_from(stored, &self.copier())
    }

    /// The copier that turns stored elements into those of the result, one by one.
    pub(super) fn copier(&self) -> RowCopier {
        match self.elements {
            ElementDecoding::Copied(copier) => copier.clone(),
            other => RowCopier::bytes(other.sizes().stored),
        }
    }

    /// As [`copy`](Self::copy), from bytes of which only the first `have` were present and that may need repair.
    pub(super) fn copy_stored(
        &self,
        part: &mut ScatterPart<'_>,
        stored: &mut [u8],
        have: usize,
    ) -> Result<()> {
        self.pad(stored, have)?;
        self.bound.repair(stored);
        self.copy(part, stored)
    }

    /// Puts fill in place of bytes that a chunk lacks, or refuses to.
    pub(super) fn pad(&self, stored: &mut [u8], have: usize) -> Result<()> {
        let len = stored.len();
        if have >= len {
            return Ok(());
        }
        let short = || Error::malformed(format!("the chunk has {have} bytes instead of {len}"));
        if self.context.shared.short_chunks == ShortChunks::Error {
            return Err(short());
        }
        let fill = self.bound.stored_fill.as_deref().filter(|fill| !fill.is_empty());
        let fill = fill.ok_or_else(short)?;
        let whole = have - have % fill.len();
        let (_, rest) = stored.split_at_mut(whole);
        rest.chunks_mut(fill.len()).for_each(|element| element.copy_from_slice(&fill[..element.len()]));
        Ok(())
    }

    /// As [`accept_surplus`](Self::accept_surplus), if there is a surplus.
    pub(super) fn check_surplus(&self, surplus: Option<usize>) -> Result<()> {
        surplus.map_or(Ok(()), |len| self.accept_surplus(len))
    }

    /// Ignores bytes that a chunk has beyond the `len` of its elements, or refuses to.
    pub(super) fn accept_surplus(&self, len: usize) -> Result<()> {
        if self.context.shared.short_chunks == ShortChunks::Error {
            return Err(Error::malformed(format!("the chunk has more than the {len} bytes of its elements")));
        }
        self.note_surplus();
        Ok(())
    }

    /// Decodes a whole chunk into `decoded`, which has its length.
    pub(super) fn decode_whole(
        &self,
        chain: &CodecChain,
        mask: u32,
        encoded: &[u8],
        decoded: &mut [u8],
        scratch: &mut CodecScratch,
    ) -> Result<()> {
        self.context.shared.counters.decoded(decoded.len());
        match chain.decode_into(encoded, mask, decoded, scratch) {
            Ok(0) => Ok(()),
            Ok(_) => self.accept_surplus(decoded.len()),
            Err(CodecError::Short { have, .. }) => self.pad(decoded, have),
            Err(error) => Err(self.bound.codec_error(damage(error))),
        }
    }

    /// Copies from the cache of decoded chunks if it has the task's chunk, otherwise finds out whether that is to be
    /// cached. Chunks that are needed whole bypass the cache.
    pub(super) fn serve_from_cache(&self, job: &mut ChunkTask<'_>) -> Result<bool> {
        let ChunkSource::Encoded { location, len, .. } = &job.work else { return Ok(false) };
        let (object, range) = match location {
            Location::Object(object) => (object, None),
            Location::Bytes(object, range) => (object, Some(range.clone())),
            Location::Inline(_) | Location::Absent => return Ok(false),
        };
        let is_whole = job.target.part.span() == (0..*len);
        let is_sequence = *self.elements == ElementDecoding::Sequences;
        if is_whole || is_sequence || !self.is_small.load(Ordering::Relaxed) {
            return Ok(false);
        }
        let key = ChunkKey { opening: self.opening, object: object.clone(), range };
        match self.chunk_cache().look_up(&key, *len) {
            CachedChunk::New => Ok(false),
            CachedChunk::Again => {
                job.keep = Some(Box::new(key));
                Ok(false)
            }
            CachedChunk::Here(chunk) => {
                self.context.shared.counters.cached();
                self.copy(&mut job.target.part, &chunk)?;
                Ok(true)
            }
        }
    }

    /// Decodes the needed parts of an encoded chunk, and copies them.
    pub(super) fn decode(
        &self,
        job: &mut ChunkTask<'_>,
        encoded: &[u8],
        worker: &mut WorkerBuffers,
    ) -> Result<()> {
        let ChunkSource::Encoded { mask, chain, len, count, .. } = &job.work else {
            return Err(Error::internal("a chunk without codecs was to be decoded"));
        };
        let (part, len, mask, keep) = (&mut job.target.part, *len, *mask, job.keep.take());
        if *self.elements == ElementDecoding::Sequences {
            self.decode_sequence(chain, mask, encoded, *count, worker)?;
            return self.copy(part, &worker.decoded);
        }
        // The whole chunk becomes one run of the result as it is stored: it is decoded in place.
        if part.span() == (0..len)
            && self.copier().is_plain()
            && !self.bound.repairs()
            && let Some(run) = part.run_mut()
        {
            return self.decode_whole(chain, mask, encoded, run, &mut worker.scratch);
        }
        let decoded = sized(&mut worker.decoded, len);
        let needed = part.walk().needed_ranges(NEEDED_GAP, NEEDED_RANGES);
        let needed_bytes: usize = needed.iter().map(Range::len).sum();
        // A chunk that is kept must be whole; otherwise parts pay if at most half of it is needed.
        let in_part = keep.is_none() && needed_bytes <= len / 2;
        if !(in_part && self.decode_ranges(chain, mask, encoded, &needed, decoded, &mut worker.scratch)?) {
            self.decode_whole(chain, mask, encoded, decoded, &mut worker.scratch)?;
            self.bound.repair(decoded);
        }
        if let Some(key) = keep {
            self.chunk_cache().keep(*key, Bytes::copy_from_slice(decoded));
        }
        self.copy(part, decoded)
    }

    /// Decodes parts of a chunk; false if it is too short for that.
    fn decode_ranges(
        &self,
        chain: &CodecChain,
        mask: u32,
        encoded: &[u8],
        needed: &[Range<usize>],
        decoded: &mut [u8],
        scratch: &mut CodecScratch,
    ) -> Result<bool> {
        match chain.decode_ranges(encoded, mask, needed, decoded, scratch) {
            Ok(()) => {}
            Err(CodecError::Short { .. }) => return Ok(false),
            Err(CodecError::Long { want, .. }) => self.accept_surplus(want)?,
            Err(error) => return Err(self.bound.codec_error(damage(error))),
        }
        self.context.shared.counters.decoded(needed.iter().map(Range::len).sum());
        for range in needed {
            let part = decoded.get_mut(range.clone());
            self.bound.repair(part.ok_or_else(|| Error::internal(format!("{range:?} of a decoded chunk")))?);
        }
        Ok(true)
    }
}

/// Far more bytes than a chunk of known length calls for mean damage: a higher limit would not help.
fn damage(error: CodecError) -> CodecError {
    match error {
        CodecError::Limit { codec, limit } => {
            let reason = format!("more than {limit} bytes, far more than the chunk holds");
            CodecError::Malformed { codec, reason }
        }
        other => other,
    }
}

/// Needed ranges of a chunk that are closer than this are decoded as one.
const NEEDED_GAP: usize = 512;
/// A chunk is not decoded in more ranges than this.
const NEEDED_RANGES: usize = 4096;

/// The first `len` bytes of a buffer that grows as needed; their contents are unspecified.
pub(super) fn sized(buffer: &mut Vec<u8>, len: usize) -> &mut [u8] {
    if buffer.len() < len {
        // Fresh pages come zeroed from the system: cheaper than growing, which copies contents that are not needed.
        *buffer = vec![0; len];
    }
    &mut buffer[..len]
}
