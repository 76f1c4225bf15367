//! Chunks that are added to a grid of chunks of different lengths when its array grows.
use super::ChunkGrid;
use crate::{Error, Result};
use std::sync::Arc;

/// Chunks along one axis.
const MAX_CHUNKS: usize = 1 << 24;

impl ChunkGrid {
    /// The grid with more chunks, so that it reaches to the end of an array of that shape; `None` if it does already. Where all
    /// chunks along an axis are alike, more of the same length are added; otherwise one chunk with all that is missing.
    ///
    /// # Errors
    /// `Limit` if an axis gets too many chunks.
    pub fn reaching(&self, shape: &[u64]) -> Result<Option<Self>> {
        let Self::Rectilinear(axes) = self else { return Ok(None) };
        let mut grown: Option<Vec<Arc<[u64]>>> = None;
        for (axis, (ends, len)) in axes.iter().zip(shape).enumerate() {
            let missing = len.saturating_sub(ends.last().copied().unwrap_or(0));
            if missing > 0 {
                let lengths = missing_chunks(ends, missing);
                if let Some(own) = grown.get_or_insert_with(|| axes.clone()).get_mut(axis) {
                    *own = extended(ends, &lengths)?;
                }
            }
        }
        Ok(grown.map(Self::Rectilinear))
    }

    /// The grid with chunks of these lengths behind the last one of an axis.
    ///
    /// # Errors
    /// `Invalid` if the chunks of the grid are all alike, the axis does not exist, or a length is 0; `Limit` if the axis gets too
    /// many chunks.
    pub fn with_chunks(&self, axis: usize, lengths: &[u64]) -> Result<Self> {
        let Self::Rectilinear(axes) = self else {
            return Err(Error::invalid("chunks of other lengths in a grid of equal chunks"));
        };
        let mut axes = axes.clone();
        let own = axes.get_mut(axis).ok_or_else(|| Error::invalid(format!("there is no axis {axis}")))?;
        *own = extended(own, lengths)?;
        Ok(Self::Rectilinear(axes))
    }
}

fn missing_chunks(ends: &[u64], missing: u64) -> Vec<u64> {
    let first = ends.first().copied().unwrap_or(0);
    let is_even = ends.windows(2).all(|pair| matches!(pair, [one, next] if next - one == first));
    if ends.len() < 2 || !is_even || first == 0 {
        return vec![missing];
    }
    // Of too many small chunks one large chunk is made.
    let room = MAX_CHUNKS.saturating_sub(ends.len());
    let count = usize::try_from(missing.div_ceil(first)).ok().filter(|count| *count <= room);
    count.map_or_else(|| vec![missing], |count| vec![first; count])
}

fn extended(ends: &[u64], lengths: &[u64]) -> Result<Arc<[u64]>> {
    if ends.len().saturating_add(lengths.len()) > MAX_CHUNKS {
        return Err(too_many());
    }
    let mut end = ends.last().copied().unwrap_or(0);
    let mut all = ends.to_vec();
    for len in lengths {
        end = end.checked_add(*len).filter(|_| *len > 0).ok_or_else(|| {
            Error::invalid(format!("a chunk of {len} elements at the end of an axis of {end}"))
        })?;
        all.push(end);
    }
    Ok(all.into())
}

fn too_many() -> Error {
    Error::limit(format!("more than {MAX_CHUNKS} chunks along one axis of a rectilinear grid"))
}
