//! Encoding chunks with codecs that depend on which elements they encode.
use super::{WriteTarget, codec_error};
use crate::write::codec_needs::CodecNeeds;
use ncirrus_codec::{CodecChain, CodecScratch};
use ncirrus_layout::{Error, Result};
use std::borrow::Cow;

/// A chunk that is encoded.
pub(in crate::write) struct EncodingSubject<'a> {
    pub(in crate::write) cell: &'a [u64],
    /// The shape of the array.
    pub(in crate::write) array: &'a [u64],
    /// The lengths of the stored part of the chunk.
    pub(in crate::write) shape: &'a [usize],
    /// Elements that went through the codecs before: those that are unchanged must stay so.
    pub(in crate::write) kept: Option<&'a [u8]>,
    /// Whether the format can record that codecs were skipped.
    pub(in crate::write) skips: bool,
}

impl WriteTarget {
    /// Encodes a chunk.
    ///
    /// Elements outside the array get the values that cost least: along axes that never grow their nearest neighbours
    /// inside, along the others fill, since they become visible when the array grows. If fill would harm the elements
    /// inside, or unchanged elements would come back with other values, the codecs that cause this are skipped for the
    /// chunk.
    ///
    /// # Errors
    /// If a codec cannot encode the elements; `Unsupported` if it had to be skipped and the format cannot record that.
    pub(in crate::write) fn encode<'a>(
        &self,
        subject: &EncodingSubject<'_>,
        elements: &'a [u8],
        scratch: &'a mut CodecScratch,
    ) -> Result<(Cow<'a, [u8]>, u32)> {
        match self.element.filter(|_| self.care != CodecNeeds::default()) {
            Some(element) => {
                let encoded = self.encode_with_care(subject, elements, element, scratch);
                encoded.map(|(bytes, mask)| (Cow::Owned(bytes), mask))
            }
            None => {
                let encoded = self.chain(subject.shape)?.encode_in(elements, scratch).map_err(codec_error);
                encoded.map(|(bytes, mask)| (Cow::Borrowed(bytes), mask))
            }
        }
    }

    fn encode_with_care(
        &self,
        subject: &EncodingSubject<'_>,
        elements: &[u8],
        element: usize,
        scratch: &mut CodecScratch,
    ) -> Result<(Vec<u8>, u32)> {
        let chain = self.chain(subject.shape)?;
        let whole = |raw: &[u8], scratch: &mut CodecScratch| chain.encode(raw, scratch).map_err(codec_error);
        let inside = self.inside(subject);
        let never = |axis: usize| !self.growing.get(axis).copied().unwrap_or(false);
        let padded = self.padded((subject, elements), &inside, element, never);
        let raw = padded.as_deref().unwrap_or(elements);
        let encoded = whole(raw, scratch)?;
        let hangs_over = self.care.padding
            && inside
                .iter()
                .zip(subject.shape)
                .enumerate()
                .any(|(axis, (inside, len))| inside < len && !never(axis));
        if self.care.changing == 0
            || (!hangs_over && subject.kept.is_none())
            || !self.care.has_changed(encoded.1)
        {
            return Ok(encoded);
        }
        let back = decoded(&chain, &encoded, raw.len(), scratch)?;
        let mut is_sound = subject.kept.is_none_or(|kept| {
            let elements =
                raw.chunks_exact(element).zip(kept.chunks_exact(element)).zip(back.chunks_exact(element));
            elements.into_iter().all(|((now, before), back)| now != before || now == back)
        });
        if is_sound && hangs_over {
            let best = self.padded((subject, elements), &inside, element, |_| true);
            let best = whole(best.as_deref().unwrap_or(elements), scratch)?;
            let best = decoded(&chain, &best, raw.len(), scratch)?;
            is_sound = is_like(&back, (&best, raw), subject.shape, &inside, element);
        }
        if is_sound {
            return Ok(encoded);
        }
        if !subject.skips {
            let message =
                "part of a chunk cannot be written: its codecs are lossy and would change the other values";
            return Err(Error::unsupported(message));
        }
        let encoded = chain.encode_without(raw, self.care.changing, scratch).map_err(codec_error);
        encoded.map(|(bytes, mask)| (bytes.to_vec(), mask))
    }

    /// How many elements of the chunk are inside the array, along each axis.
    fn inside(&self, subject: &EncodingSubject<'_>) -> Vec<usize> {
        let region = self.encoding.grid.clipped_region(subject.cell, subject.array);
        let counts = region.map_or_else(Vec::new, |region| region.count);
        let lens = subject.shape.iter().enumerate();
        lens.map(|(axis, len)| {
            let count = counts.get(axis).and_then(|count| usize::try_from(*count).ok());
            count.unwrap_or(*len).min(*len)
        })
        .collect()
    }

    /// The elements with those outside the array along some axes replaced by their nearest neighbours inside; `None` if
    /// there are none outside.
    fn padded(
        &self,
        (subject, elements): (&EncodingSubject<'_>, &[u8]),
        inside: &[usize],
        element: usize,
        along: impl Fn(usize) -> bool,
    ) -> Option<Vec<u8>> {
        let axes = || inside.iter().zip(subject.shape).enumerate();
        let lacks =
            |(axis, (inside, len)): &(usize, (&usize, &usize))| inside < len && **inside > 0 && along(*axis);
        if !self.care.padding || !axes().any(|axis| lacks(&axis)) {
            return None;
        }
        let mut raw = elements.to_vec();
        let mut stride = element;
        for axis in axes().collect::<Vec<_>>().into_iter().rev() {
            let (_, (inside, len)) = axis;
            if lacks(&axis) {
                for block in raw.chunks_exact_mut(stride * len) {
                    let (known, outside) = block.split_at_mut(stride * inside);
                    let last = known.get(stride * (inside - 1)..).unwrap_or_default();
                    outside.chunks_exact_mut(stride).for_each(|row| row.copy_from_slice(last));
                }
            }
            stride *= len;
        }
        Some(raw)
    }
}

fn decoded(
    chain: &CodecChain,
    (body, mask): &(Vec<u8>, u32),
    len: usize,
    scratch: &mut CodecScratch,
) -> Result<Vec<u8>> {
    let mut back = vec![0; len];
    chain.decode_into(body, *mask, &mut back, scratch).map_err(codec_error)?;
    Ok(back)
}

/// Whether the elements inside equal those of `best`, and those outside have the required values.
fn is_like(
    back: &[u8],
    (best, raw): (&[u8], &[u8]),
    shape: &[usize],
    inside: &[usize],
    element: usize,
) -> bool {
    let mut elements =
        back.chunks_exact(element).zip(best.chunks_exact(element)).zip(raw.chunks_exact(element));
    let mut at = vec![0; shape.len()];
    elements.all(|((back, best), raw)| {
        let is_inside = at.iter().zip(inside).all(|(at, inside)| at < inside);
        for (slot, len) in at.iter_mut().zip(shape).rev() {
            *slot += 1;
            if *slot < *len {
                break;
            }
            *slot = 0;
        }
        back == if is_inside { best } else { raw }
    })
}
