//! The arithmetic of S3netCDF4, exactly: in floating point and in elements (docs/spec/cfa.md 7.3).
#![expect(clippy::cast_precision_loss, reason = "as the original computes")]
use super::axes::AxisKind;
use ncirrus::{Error, Result};

/// Numbers of partitions along each axis, as S3netCDF4 chooses them for at most `limit` elements.
pub(super) fn partitions(shape: &[u64], kinds: &[AxisKind], limit: u64) -> Vec<u64> {
    let mut div = vec![1u64; shape.len()];
    let elements =
        |div: &[u64]| shape.iter().zip(div).map(|(len, div)| *len as f64 / *div as f64).product::<f64>();
    while elements(&div) > limit as f64 {
        let at = next(shape, kinds, &div);
        let Some(div) = div.get_mut(at) else { break };
        *div += 1;
    }
    let blocks: Vec<f64> = shape.iter().zip(&div).map(|(len, div)| *len as f64 / *div as f64).collect();
    counts(shape, &blocks)
}

/// Numbers of partitions for blocks of that shape: the blocks are enlarged if they do not fit evenly.
pub(super) fn counts(shape: &[u64], blocks: &[f64]) -> Vec<u64> {
    let count = |(len, block): (&u64, &f64)| {
        if *len == 0 || *block == 0.0 { 0 } else { truncated(*len as f64 / block) }
    };
    shape.iter().zip(blocks).map(count).collect()
}

/// A length as the original computes with it.
pub(super) fn real(len: u64) -> f64 {
    len as f64
}

/// Which axis to divide next.
fn next(shape: &[u64], kinds: &[AxisKind], div: &[u64]) -> usize {
    let first = |kind: AxisKind| {
        let at = kinds.iter().position(|other| *other == kind)?;
        div.get(at).map(|div| i128::from(*div))
    };
    let linear =
        first(AxisKind::T).or_else(|| first(AxisKind::Z)).or_else(|| first(AxisKind::N)).unwrap_or(-1);
    let field = match (first(AxisKind::X), first(AxisKind::Y)) {
        (Some(x), Some(y)) => x * y,
        (Some(one), None) | (None, Some(one)) => one,
        (None, None) => -1,
    };
    let key = |at: usize| {
        let kind = kinds.get(at).copied().unwrap_or(AxisKind::N);
        let (div, len) = (div.get(at).copied().unwrap_or(1), shape.get(at).copied().unwrap_or(0));
        if kind.is_horizontal() == (field <= linear) && div <= len { div } else { 1_000_000 }
    };
    (0..shape.len()).min_by_key(|at| key(*at)).unwrap_or(0)
}

/// Lengths of the partitions along an axis.
///
/// # Errors
/// `Invalid` if elements would lie in none, or in two: the original loses them (docs/spec/cfa.md D1). Empty
/// partitions are left out (docs/spec/cfa.md D4).
pub(super) fn sizes(len: u64, count: u64) -> Result<Vec<u64>> {
    let step = len as f64 / count as f64;
    let mut sizes = Vec::new();
    let mut end = 0;
    for at in 0..count {
        let (start, stop) = (truncated(at as f64 * step), truncated(at as f64 * step + step));
        if start != end {
            return Err(lost(end, len, count));
        }
        sizes.extend((stop > start).then(|| stop - start));
        end = stop;
    }
    if end == len { Ok(sizes) } else { Err(lost(end, len, count)) }
}

fn lost(element: u64, len: u64, count: u64) -> Error {
    Error::invalid(format!(
        "S3netCDF4's arithmetic puts element {element} of {len} into none of {count} partitions: choose other lengths, or let ncirrus choose them"
    ))
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "as the original: towards zero, of what is positive"
)]
fn truncated(number: f64) -> u64 {
    number.trunc() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(letters: &str) -> Vec<AxisKind> {
        let kind = |letter| match letter {
            'T' => AxisKind::T,
            'Z' => AxisKind::Z,
            'Y' => AxisKind::Y,
            'X' => AxisKind::X,
            _ => AxisKind::N,
        };
        letters.chars().map(kind).collect()
    }

    #[test]
    fn partitions_are_those_of_the_original() {
        for (shape, letters, want) in [
            (&[36_500, 1, 180, 360][..], "TZYX", &[4, 2, 3, 2][..]),
            (&[1200, 180, 360], "TYX", &[1, 2, 1]),
            (&[20_000, 20_000], "NN", &[8, 1]),
            (&[200, 50, 1000, 1000], "NTYX", &[6, 6, 3, 2]),
        ] {
            assert_eq!(partitions(shape, &kinds(letters), 52_428_800), want, "{shape:?}");
        }
    }

    #[test]
    fn blocks_that_do_not_fit_evenly_become_larger() {
        assert_eq!(counts(&[10], &[4.0]), [2]);
        assert_eq!(sizes(10, 2).unwrap(), [5, 5]);
        let count = counts(&[49], &[4.0])[0];
        assert_eq!((count, sizes(49, count).unwrap().last().copied()), (12, Some(5)));
    }

    #[test]
    fn elements_that_the_original_loses_are_an_error() {
        for (len, block, lost) in [(13, 2.0, 12), (26, 4.0, 25), (365, 12.0, 145)] {
            let count = counts(&[len], &[block])[0];
            let error = sizes(len, count).unwrap_err();
            assert!(error.message().contains(&format!("element {lost} ")), "{error}");
        }
    }

    #[test]
    fn partitions_of_no_elements_are_left_out() {
        assert_eq!(sizes(1, 2).unwrap(), [1]);
    }
}
