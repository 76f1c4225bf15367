//! Ranges of a constraint against the lengths of dimensions.
use super::cuts::Slice;
use crate::QueryRange;
use ncirrus_layout::{Error, Result};

/// The elements along each dimension; no ranges are all of them.
///
/// # Errors
/// `Invalid` for another number of ranges, and for an index past the end.
pub(super) fn slices_of(ranges: &[QueryRange], shape: &[u64], path: &str) -> Result<Vec<Slice>> {
    if ranges.is_empty() {
        return Ok(shape.iter().copied().map(Slice::all).collect());
    }
    if ranges.len() != shape.len() {
        let message =
            format!("{} ranges are given, the variable has {} dimensions", ranges.len(), shape.len());
        return Err(Error::invalid(message).at_path(path));
    }
    ranges.iter().zip(shape).map(|(range, len)| slice_of(*range, *len, path)).collect()
}

/// The elements of a range.
///
/// # Errors
/// `Invalid` for an index past the end.
pub(super) fn slice_of(range: QueryRange, len: u64, path: &str) -> Result<Slice> {
    if range.last() >= len {
        let message = format!("the range {range} is past the end of a dimension of {len}");
        return Err(Error::invalid(message).at_path(path));
    }
    let (start, count, stride) = range.parts();
    Ok(Slice { start, count, stride })
}
