//! Where the chunks of a variable are in its files.
use super::draft::{JointVariable, VariablePart};
use ncirrus::{Error, Result};
use ncirrus_layout::{Extent, Layout, Location};

/// A chunk of the joint array, and its location.
pub(super) type JointChunk = (Vec<u64>, Location);

/// The chunks of one file, by their numbers in the joint array.
///
/// # Errors
/// `Unsupported` for a chunk of which a part was never written.
pub(super) fn pieces(joint: &JointVariable, part: &VariablePart, chunk: &[u64]) -> Result<Vec<JointChunk>> {
    if let (Some(axis), true) = (joint.axis, joint.lengths.is_some()) {
        return Ok(unequal(joint, part, axis));
    }
    let offset = |axis: usize| match joint.axis {
        Some(along) if along == axis => chunk.get(axis).map_or(0, |len| part.start / (*len).max(1)),
        _ => 0,
    };
    if let Layout::Affine { extents, base, strides } = &part.source.layout {
        let element = part.source.stored.byte_len().unwrap_or(0);
        let len = chunk.iter().fold(element, |all, len| all.saturating_mul(*len));
        return affine(part, chunk, (extents, *base, strides), len)
            .map(|list| list.into_iter().map(|(cell, place)| (moved(cell, &offset), place)).collect())
            .map_err(|error| error.at_path(&joint.path));
    }
    let list = part.chunks.iter().map(|found| {
        let cell = found.start.iter().zip(chunk).map(|(start, len)| start / (*len).max(1)).collect();
        (moved(cell, &offset), found.stored.location.clone())
    });
    Ok(list.collect())
}

/// The chunks of a file whose chunks have lengths of their own along the axis.
fn unequal(joint: &JointVariable, part: &VariablePart, axis: usize) -> Vec<JointChunk> {
    let before = joint.parts.iter().take_while(|other| other.input != part.input);
    let offset: u64 = before.filter_map(|part| part.cells_along(axis)).fold(0, u64::saturating_add);
    let chunk = part.chunk_shape().unwrap_or_default();
    let list = part.chunks.iter().map(|found| {
        let cell = found.start.iter().zip(chunk).map(|(start, len)| start / (*len).max(1)).collect();
        let place = found.stored.location.clone();
        (moved(cell, &|at| if at == axis { offset } else { 0 }), place)
    });
    list.collect()
}

fn moved(cell: Vec<u64>, offset: &impl Fn(usize) -> u64) -> Vec<u64> {
    cell.into_iter().enumerate().map(|(axis, at)| at.saturating_add(offset(axis))).collect()
}

/// The chunks of an array at fixed strides, which they divide.
fn affine(
    part: &VariablePart,
    chunk: &[u64],
    (extents, base, strides): (&[Extent], u64, &[u64]),
    len: u64,
) -> Result<Vec<JointChunk>> {
    let counts: Vec<u64> = part.shape.iter().zip(chunk).map(|(len, chunk)| len / (*chunk).max(1)).collect();
    let all = counts.iter().fold(1, |all: u64, count| all.saturating_mul(*count));
    let mut found = Vec::new();
    for number in 0..all {
        let (mut rest, mut cell) = (number, vec![0; counts.len()]);
        for (slot, count) in cell.iter_mut().zip(&counts).rev() {
            *slot = rest % (*count).max(1);
            rest /= (*count).max(1);
        }
        let steps = cell.iter().zip(chunk).zip(strides);
        let start = steps.fold(base, |at, ((cell, chunk), stride)| {
            at.saturating_add(cell.saturating_mul(*chunk).saturating_mul(*stride))
        });
        if let Some(place) = place(extents, start, start.saturating_add(len))? {
            found.push((cell, place));
        }
    }
    Ok(found)
}

/// The location of logical bytes; `None` if they were never written.
fn place(extents: &[Extent], start: u64, end: u64) -> Result<Option<Location>> {
    let at = extents.partition_point(|extent| extent.logical.end <= start);
    match extents.get(at) {
        Some(extent) if extent.logical.start <= start && end <= extent.logical.end => {
            let from = extent.offset.saturating_add(start - extent.logical.start);
            let range = from..from.saturating_add(end - start);
            Ok(Some(Location::Bytes(extent.object.clone(), range)))
        }
        Some(extent) if extent.logical.start < end => {
            Err(Error::unsupported(format!("only a part of the bytes from {start} to {end} was written")))
        }
        _ => Ok(None),
    }
}
