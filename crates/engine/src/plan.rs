//! What a read will do, before it does it.
mod cuts;
mod summary;
mod walk;

pub use summary::{PlannedRequest, PlannedSource, ReadPlan};

pub(crate) use cuts::{AxisSlab, ChunkIntersections, IndexPair};
pub(crate) use walk::{ElementRun, ElementSizes, ElementWalk};

use ncirrus_layout::{Error, Result};

/// Bytes from one element to the next along each axis of an array in row-major order.
pub(crate) fn row_major(shape: &[u64], element: u64) -> Result<Vec<u64>> {
    let mut strides = vec![0; shape.len()];
    let mut step = element;
    for (stride, len) in strides.iter_mut().zip(shape).rev() {
        *stride = step;
        step = step
            .checked_mul((*len).max(1))
            .ok_or_else(|| Error::limit(format!("an array of shape {shape:?} exceeds 64 bits")))?;
    }
    Ok(strides)
}
