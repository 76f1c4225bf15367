//! Gathering and scattering values of any type by index.
use ncirrus_layout::{Error, Result};
use ncirrus_model::Values;

/// The values at `indices`, in that order; repetition is allowed.
///
/// # Errors
/// `Internal` if an index is past the end.
pub fn take(values: &Values, indices: &[usize]) -> Result<Values> {
    let mut taken = values.empty_like();
    for run in runs(indices) {
        if !taken.extend_from(values, run) {
            return Err(Error::internal(format!("an index past the {} values", values.len())));
        }
    }
    Ok(taken)
}

/// Puts `from[from_at[i]]` at `to_at[i]`, for every i.
///
/// # Errors
/// `Invalid` if the values are of different types, `Internal` if an index is past an end.
pub fn assign(to: &mut Values, to_at: &[usize], from: &Values, from_at: &[usize]) -> Result<()> {
    let outside = || Error::internal("an index is past the values");
    if let (Some(size), Some(bytes)) = (element_len(to), from.as_bytes()) {
        if element_len(from) != Some(size) || to.atomic() != from.atomic() {
            return Err(Error::invalid("values of different types"));
        }
        let target = to.as_bytes_mut().ok_or_else(outside)?;
        for (&at, &source) in to_at.iter().zip(from_at) {
            let source = bytes.get(source * size..(source + 1) * size).ok_or_else(outside)?;
            target.get_mut(at * size..(at + 1) * size).ok_or_else(outside)?.copy_from_slice(source);
        }
        return Ok(());
    }
    // Values without a fixed size: the new ones are appended, then an index list picks those that stay.
    let len = to.len();
    let mut all = to.clone();
    if !all.extend_from(from, 0..from.len()) {
        return Err(Error::invalid("values of different types"));
    }
    let mut order: Vec<usize> = (0..len).collect();
    for (&at, &source) in to_at.iter().zip(from_at) {
        *order.get_mut(at).ok_or_else(outside)? = len + source;
    }
    *to = take(&all, &order)?;
    Ok(())
}

/// Bytes of one value; `None` if values have no fixed size or are compounds.
fn element_len(values: &Values) -> Option<usize> {
    match values {
        Values::Opaque { size, .. } => Some(*size).filter(|size| *size > 0),
        other => other.atomic()?.byte_len(),
    }
}

/// Indices as runs of consecutive ones, which are copied together.
fn runs(indices: &[usize]) -> impl Iterator<Item = std::ops::Range<usize>> + '_ {
    let chunks = indices.chunk_by(|one, next| one.checked_add(1) == Some(*next));
    chunks.map(|run| run[0]..run[0].saturating_add(run.len()))
}
