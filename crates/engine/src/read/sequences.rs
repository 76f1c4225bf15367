//! Reading elements without a fixed size: every chunk is decoded whole, then the selected elements are gathered in
//! order.
use super::VariableRead;
use crate::bound_source::ELEMENT_MARK;
use crate::convert;
use crate::picked::Picked;
use crate::resources::WorkerBuffers;
use ncirrus_layout::LockExt;
use ncirrus_layout::{Error, Result};
use ncirrus_model::Values;
use std::sync::Mutex;

/// The values of the chunks decoded so far, in the order in which they were finished.
#[derive(Default)]
pub(super) struct DecodedSequences(Mutex<Vec<Values>>);

impl DecodedSequences {
    /// Keeps the values of a chunk, and returns their number.
    fn keep(&self, values: Values) -> u64 {
        let mut chunks = self.0.guard();
        chunks.push(values);
        chunks.len() as u64 - 1
    }
}

impl VariableRead<'_> {
    /// The selected values of a variable whose elements have no fixed size.
    pub(super) async fn read_sequences(&self, picked: Picked<'_>, count: usize) -> Result<Values> {
        super::check_memory(count, 2 * ELEMENT_MARK)?;
        let mut marks = vec![0u8; count.saturating_mul(ELEMENT_MARK)];
        self.fill_in(picked, &mut marks, None, false).await?;
        let chunks = std::mem::take(&mut *self.sequences.0.guard());
        let mut values = convert::empty(self.model, self.bound.ty)?;
        for run in runs(&marks) {
            append(&mut values, &chunks, run, &self.bound.source.fill)?;
        }
        Ok(values)
    }

    /// Decodes a chunk of `count` elements, and leaves the marks of all its elements in the worker's buffer of decoded
    /// bytes.
    pub(super) fn decode_sequence(
        &self,
        chain: &ncirrus_codec::CodecChain,
        mask: u32,
        encoded: &[u8],
        count: u64,
        worker: &mut WorkerBuffers,
    ) -> Result<()> {
        let shared = &self.context.shared;
        let limit = usize::try_from(shared.limits.chunk_bytes).unwrap_or(usize::MAX);
        let raw = chain
            .decode(encoded, mask, limit, &mut worker.scratch)
            .map_err(|error| self.bound.codec_error(error))?;
        shared.counters.decoded(raw.len());
        let elements = usize::try_from(count).unwrap_or(usize::MAX);
        let stored = &self.bound.source.stored;
        let values = convert::decode(self.model, self.bound.ty, stored, &raw, elements)?;
        if values.len() != elements {
            return Err(Error::malformed(format!("{} elements instead of {count}", values.len())));
        }
        let chunk = self.sequences.keep(values);
        worker.decoded.clear();
        worker.decoded.extend((0..count).flat_map(|at| mark(chunk, at)));
        Ok(())
    }
}

/// Splits marks into runs of elements that are consecutive in one chunk, or that are all fill.
pub(crate) fn runs(marks: &[u8]) -> impl Iterator<Item = &[[u8; ELEMENT_MARK]]> {
    let follows = |a: &[u8; ELEMENT_MARK], b: &[u8; ELEMENT_MARK]| match (place(*a), place(*b)) {
        (Some((chunk, at)), Some((next, then))) => chunk == next && then == at + 1,
        (None, None) => true,
        _ => false,
    };
    marks.as_chunks::<ELEMENT_MARK>().0.chunk_by(follows)
}

/// Appends the elements that a run of marks represents.
pub(crate) fn append(
    values: &mut Values,
    chunks: &[Values],
    run: &[[u8; ELEMENT_MARK]],
    fill: &Values,
) -> Result<()> {
    let appended = match run.first().and_then(|first| place(*first)) {
        Some((chunk, at)) => {
            chunks.get(chunk).is_some_and(|chunk| values.extend_from(chunk, at..at + run.len()))
        }
        None => run.iter().all(|_| values.extend_from(fill, 0..1)),
    };
    if appended { Ok(()) } else { Err(Error::internal("values of different types in one variable")) }
}

/// The number that represents an element: its chunk and its index there. All ones represent fill.
pub(crate) fn mark(chunk: u64, at: u64) -> [u8; ELEMENT_MARK] {
    (chunk << 32 | at & 0xffff_ffff).to_ne_bytes()
}

fn place(mark: [u8; ELEMENT_MARK]) -> Option<(usize, usize)> {
    let mark = u64::from_ne_bytes(mark);
    let part = |bits: u64| usize::try_from(bits).unwrap_or(usize::MAX);
    (mark != u64::MAX).then(|| (part(mark >> 32), part(mark & 0xffff_ffff)))
}
