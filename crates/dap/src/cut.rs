//! Boxes of arrays that answers hold whole.
use ncirrus_layout::{Error, QueryAxis, Result};
use ncirrus_model::Values;

/// The values of a box out of what an answer has: the box itself, or the whole array. The bytes of `element` values are
/// one element of the array: the characters of a string.
///
/// # Errors
/// `Malformed` if the answer has another shape than was asked for.
pub(crate) fn take(values: Values, shape: &[u64], axes: &[QueryAxis]) -> Result<Values> {
    let requested: Vec<u64> = axes.iter().map(|axis| axis.count).collect();
    let count = shape.iter().try_fold(1_u64, |product, len| product.checked_mul(*len));
    if count != Some(values.len() as u64) {
        let len = values.len();
        return Err(Error::malformed(format!("the answer has {len} values for the shape {shape:?}")));
    }
    if shape == requested {
        return Ok(values);
    }
    let fits = shape.len() == axes.len()
        && axes.iter().zip(shape).all(|(axis, len)| axis.last().is_none_or(|last| last < *len));
    if !fits {
        let message = format!("the answer has the shape {shape:?} where {requested:?} was asked for");
        return Err(Error::malformed(message));
    }
    picked(&values, shape, axes)
}

fn picked(values: &Values, shape: &[u64], axes: &[QueryAxis]) -> Result<Values> {
    let mut taken = values.empty_like();
    let mut at = vec![0_u64; axes.len()];
    let rows = axes.split_last();
    if axes.iter().any(|axis| axis.count == 0) {
        return Ok(taken);
    }
    loop {
        let start = offset(shape, axes, &at);
        let run = match rows {
            Some((last, _)) if last.stride == 1 => last.count,
            _ => 1,
        };
        let range = start.zip(usize::try_from(run).ok()).map(|(start, run)| start..start.saturating_add(run));
        if !range.is_some_and(|range| taken.extend_from(values, range)) {
            return Err(Error::internal("a box that lies outside of its array"));
        }
        // A run takes the whole last axis.
        let step = if run > 1 { axes.len().saturating_sub(1) } else { axes.len() };
        if !advance(&mut at, axes, step) {
            return Ok(taken);
        }
    }
}

/// Counts up the first `used` axes, the last of them fastest; false at the end.
fn advance(at: &mut [u64], axes: &[QueryAxis], used: usize) -> bool {
    for (index, axis) in at.iter_mut().zip(axes).take(used).rev() {
        *index += 1;
        if *index < axis.count {
            return true;
        }
        *index = 0;
    }
    false
}

/// The position in the array of the element at these positions of the box.
fn offset(shape: &[u64], axes: &[QueryAxis], at: &[u64]) -> Option<usize> {
    let mut offset = 0_u64;
    for ((len, axis), index) in shape.iter().zip(axes).zip(at) {
        let place = axis.start.checked_add(index.checked_mul(axis.stride)?)?;
        offset = offset.checked_mul(*len)?.checked_add(place)?;
    }
    usize::try_from(offset).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(start: u64, count: u64, stride: u64) -> QueryAxis {
        QueryAxis { start, count, stride }
    }

    #[test]
    fn boxes_come_from_whole_arrays_and_from_answers_of_their_shape() {
        let array = || Values::Int((0..24).collect());
        let shape = [2, 3, 4];
        let cases: [(&[QueryAxis], &[i32]); 4] = [
            (&[axis(0, 2, 1), axis(1, 1, 1), axis(1, 3, 1)], &[5, 6, 7, 17, 18, 19]),
            (&[axis(1, 1, 1), axis(0, 2, 2), axis(0, 2, 3)], &[12, 15, 20, 23]),
            (&[axis(1, 1, 1), axis(2, 1, 1), axis(3, 1, 1)], &[23]),
            (&[axis(0, 2, 1), axis(0, 0, 1), axis(0, 4, 1)], &[]),
        ];
        for (axes, expected) in cases {
            assert_eq!(take(array(), &shape, axes).unwrap(), Values::Int(expected.to_vec()), "{axes:?}");
        }
        let whole = [axis(0, 2, 1), axis(0, 3, 1), axis(0, 4, 1)];
        assert_eq!(take(array(), &shape, &whole).unwrap(), array());
        assert_eq!(take(Values::Int(vec![7]), &[], &[]).unwrap(), Values::Int(vec![7]));
    }

    #[test]
    fn another_shape_is_an_error() {
        for (shape, axes) in [
            (&[4_u64][..], &[axis(0, 5, 1)][..]),
            (&[4], &[axis(3, 2, 1)]),
            (&[2, 2], &[axis(0, 4, 1)]),
            (&[5], &[axis(0, 5, 1)]),
        ] {
            assert!(take(Values::Int(vec![0; 4]), shape, axes).is_err(), "{shape:?}");
        }
    }
}
