//! The encoded bytes of a chunk of which all elements inside the array are at hand. They are borrowed from their owner where
//! that is possible: the caller, or a codec.
use crate::resources::WorkerBuffers;
use crate::write::cells::{ChunkPart, ChunkSelection};
use crate::write::rows::WriteData;
use crate::write::target::{EncodingSubject, WriteTarget};
use bytes::Bytes;
use ncirrus_codec::CodecScratch;
use ncirrus_layout::Result;
use std::borrow::Cow;

/// The bytes of an encoded chunk.
pub(in crate::write) enum EncodedBody<'a> {
    /// Borrowed from the caller's or a codec's memory.
    Lent(&'a [u8]),
    /// In a buffer that may be taken.
    Buffer(&'a mut Vec<u8>),
    /// Allocated for this chunk.
    Made(Bytes),
}

impl EncodedBody<'_> {
    /// The bytes.
    pub(in crate::write) fn as_slice(&self) -> &[u8] {
        match self {
            Self::Lent(bytes) => bytes,
            Self::Buffer(bytes) => bytes,
            Self::Made(bytes) => bytes,
        }
    }

    pub(in crate::write) fn into_bytes(self) -> Bytes {
        match self {
            Self::Lent(bytes) => Bytes::copy_from_slice(bytes),
            Self::Buffer(bytes) => std::mem::take(bytes).into(),
            Self::Made(bytes) => bytes,
        }
    }
}

impl<'a> From<Cow<'a, [u8]>> for EncodedBody<'a> {
    fn from(bytes: Cow<'a, [u8]>) -> Self {
        match bytes {
            Cow::Borrowed(bytes) => Self::Lent(bytes),
            Cow::Owned(bytes) => Self::Made(bytes.into()),
        }
    }
}

/// A chunk of which all elements inside the array are at hand.
#[derive(Clone, Copy)]
pub(in crate::write) struct WholeChunk<'c> {
    pub(in crate::write) target: &'c WriteTarget,
    /// The shape of the array.
    pub(in crate::write) array: &'c [u64],
    pub(in crate::write) cell: &'c [u64],
    /// The shape of the chunk, not clipped.
    pub(in crate::write) shape: &'c [usize],
    /// Bytes of a stored element.
    pub(in crate::write) element: usize,
    /// Whether the format can record that codecs were skipped.
    pub(in crate::write) skips: bool,
}

impl WholeChunk<'_> {
    /// Its encoded bytes, and which codecs were skipped. `part` of the values covers it wholly.
    ///
    /// # Errors
    /// Errors of conversion or of a codec.
    pub(in crate::write) fn body_of_values<'a>(
        &self,
        data: &'a WriteData<'_>,
        touched: &ChunkSelection,
        part: &ChunkPart,
        worker: &'a mut WorkerBuffers,
    ) -> Result<(EncodedBody<'a>, u32)> {
        if let Some((piece, owner)) = data.piece(touched, part, self.shape, self.element) {
            let raw = match owner.filter(|_| self.target.is_raw()) {
                Some(owner) => EncodedBody::Made(owner.slice_ref(piece)),
                None => EncodedBody::Lent(piece),
            };
            return encode(self.target, &self.subject(self.shape), raw, &mut worker.scratch);
        }
        self.body_of_elements(worker, |elements| {
            data.scatter_bytes(touched, part, self.shape, self.element, elements)
        })
    }

    /// Its encoded bytes, and which codecs were skipped. `scatter` puts all elements that are inside the array into the
    /// chunk; those outside it are fill.
    ///
    /// # Errors
    /// Errors of `scatter` or of a codec.
    pub(in crate::write) fn body_of_elements<'a>(
        &self,
        worker: &'a mut WorkerBuffers,
        scatter: impl FnOnce(&mut [u8]) -> Result<()>,
    ) -> Result<(EncodedBody<'a>, u32)> {
        let Self { target, array, cell, shape, element, .. } = *self;
        let WorkerBuffers { scratch, encoded: cut, decoded: elements } = worker;
        let len = shape.iter().product::<usize>() * element;
        let inside = target.encoding.grid.clipped_region(cell, array).map(|region| region.count);
        if inside.is_none_or(|inside| inside.iter().zip(shape).any(|(len, cell)| *len < *cell as u64)) {
            elements.clear();
            elements.resize(len, 0);
            target.fill_bytes(elements);
        } else {
            elements.resize(len, 0);
        }
        scatter(elements)?;
        let stored = target.stored_shape(cell, array)?;
        if stored == shape {
            return encode(target, &self.subject(&stored), EncodedBody::Buffer(elements), scratch);
        }
        *cut = WriteTarget::clip_bytes(elements, shape, &stored, element);
        encode(target, &self.subject(&stored), EncodedBody::Buffer(cut), scratch)
    }

    /// What the codecs encode, of which `stored` is the shape.
    fn subject<'s>(&'s self, stored: &'s [usize]) -> EncodingSubject<'s> {
        let Self { array, cell, skips, .. } = *self;
        EncodingSubject { cell, array, shape: stored, kept: None, skips }
    }
}

/// Encodes a chunk. Without codecs, its bytes are those that are given.
pub(super) fn encode<'a>(
    target: &WriteTarget,
    subject: &EncodingSubject<'_>,
    raw: EncodedBody<'a>,
    scratch: &'a mut CodecScratch,
) -> Result<(EncodedBody<'a>, u32)> {
    let raw = match raw {
        raw if target.is_raw() => return Ok((raw, 0)),
        EncodedBody::Lent(bytes) => bytes,
        EncodedBody::Buffer(bytes) => bytes.as_slice(),
        EncodedBody::Made(bytes) => {
            let (encoded, mask) = target.encode(subject, &bytes, scratch)?;
            return Ok((EncodedBody::Made(encoded.into_owned().into()), mask));
        }
    };
    let (encoded, mask) = target.encode(subject, raw, scratch)?;
    Ok((encoded.into(), mask))
}
