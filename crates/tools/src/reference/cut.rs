//! Dividing elements at fixed strides into chunks, each of which is one run of bytes.

/// Maximum size of a chunk, if an axis can be divided.
const MAX_CHUNK_BYTES: u64 = 16 << 20;
/// Smaller chunks would need too many requests.
const MIN_CHUNK_BYTES: u64 = 256 << 10;
/// Maximum size of a chunk that is as long as the axis because no shorter one fits.
const WHOLE: u64 = 256 << 20;

/// An array at fixed strides, and its lengths along the axis of concatenation.
pub(super) struct StridedArray<'a> {
    pub(super) shape: &'a [u64],
    pub(super) strides: &'a [u64],
    pub(super) element: u64,
    /// The axis along which arrays are concatenated, and all their lengths.
    pub(super) axis: Option<(usize, &'a [u64])>,
}

/// The chunk shape, which divides the array evenly; `None` if elements are not contiguous.
pub(super) fn chunk_shape(array: &StridedArray<'_>) -> Option<Vec<u64>> {
    let StridedArray { shape, strides, element, axis } = array;
    let rank = shape.len();
    if rank == 0 {
        return Some(Vec::new());
    }
    // From this axis on elements are contiguous.
    let dense =
        (0..rank).rev().take_while(|at| strides.get(*at) == Some(&inner(shape, *at, *element))).last()?;
    let differs = |at: usize| {
        axis.is_some_and(|(axis, lens)| axis == at && lens.windows(2).any(|pair| pair.first() != pair.last()))
    };
    let last_differing = (dense..rank).rev().find(|at| differs(*at)).unwrap_or(dense);
    let fits = |at: &usize| inner(shape, *at, *element) <= MAX_CHUNK_BYTES;
    let cut = (last_differing..rank).find(fits)?;
    let lens: Vec<u64> = match axis {
        Some((axis, lens)) if *axis == cut => lens.to_vec(),
        _ => vec![shape.get(cut).copied()?],
    };
    let common = lens.iter().fold(0, |divisor, len| gcd(divisor, *len)).max(1);
    let row = inner(shape, cut, *element).max(1);
    let max = (MAX_CHUNK_BYTES / row).clamp(1, common);
    let mut along = (1..=max).rev().find(|len| common.is_multiple_of(*len)).unwrap_or(1);
    if along.saturating_mul(row) < MIN_CHUNK_BYTES && common.saturating_mul(row) <= WHOLE {
        along = common;
    }
    let chunk = (0..rank).zip(shape.iter()).map(|(at, len)| match at.cmp(&cut) {
        std::cmp::Ordering::Less => 1,
        std::cmp::Ordering::Equal => along,
        std::cmp::Ordering::Greater => (*len).max(1),
    });
    Some(chunk.collect())
}

/// Size of everything below one index of an axis.
fn inner(shape: &[u64], axis: usize, element: u64) -> u64 {
    shape.iter().skip(axis + 1).fold(element, |all, len| all.saturating_mul(*len))
}

pub(crate) fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chunk(shape: &[u64], strides: &[u64], axis: Option<(usize, &[u64])>) -> Option<Vec<u64>> {
        chunk_shape(&StridedArray { shape, strides, element: 4, axis })
    }

    #[test]
    fn chunks_divide_the_array_and_are_runs_of_bytes() {
        // Small and whole.
        assert_eq!(chunk(&[3, 5], &[20, 4], None).unwrap(), [3, 5]);
        // Records with others between them.
        assert_eq!(chunk(&[3, 5], &[100, 4], None).unwrap(), [1, 5]);
        // A divisor of a long axis.
        assert_eq!(chunk(&[1000, 1 << 20], &[4 << 20, 4], None).unwrap(), [4, 1 << 20]);
        assert_eq!(chunk(&[7, 1 << 20], &[4 << 20, 4], None).unwrap(), [1, 1 << 20]);
        // Rows that are too long.
        assert_eq!(chunk(&[2, 16 << 20], &[64 << 20, 4], None).unwrap(), [1, 4 << 20]);
        // A prime length is not divided into single elements.
        assert_eq!(chunk(&[1_000_003], &[4], None).unwrap(), [1_000_003]);
        assert_eq!(chunk(&[], &[], None).unwrap(), [0; 0]);
        // Every second element.
        assert_eq!(chunk(&[5], &[8], None), None);
    }

    #[test]
    fn lengths_along_the_axis_have_a_common_divisor() {
        assert_eq!(chunk(&[30, 5], &[20, 4], Some((0, &[30, 20]))).unwrap(), [10, 5]);
        assert_eq!(chunk(&[30, 5], &[400, 4], Some((0, &[30, 31]))).unwrap(), [1, 5]);
        assert_eq!(chunk(&[3, 30], &[120, 4], Some((1, &[30, 20]))).unwrap(), [1, 10]);
        assert_eq!(chunk(&[3, 30], &[120, 4], Some((1, &[30, 30]))).unwrap(), [3, 30]);
    }
}
