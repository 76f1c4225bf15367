//! How variables are divided.
use super::axes::AxisKind;
use super::{SplitOptions, legacy};
use ncirrus::{Error, Result};
use ncirrus_model::{Model, VarId};

/// Divides the variables of a dataset.
pub(super) struct VariableBlocks<'a> {
    pub(super) model: &'a Model,
    pub(super) options: &'a SplitOptions<'a>,
}

impl VariableBlocks<'_> {
    /// Lengths of the fragments of a variable along each of its dimensions.
    pub(super) fn sizes(&self, var: VarId) -> Result<Vec<Vec<u64>>> {
        let shape = self.model.shape(var);
        let variable = self.model.variable(var).ok_or_else(|| Error::internal("the variable is there"))?;
        let kinds: Vec<AxisKind> = variable.dims.iter().map(|dim| AxisKind::of(self.model, *dim)).collect();
        let element = self.model.packed_len(variable.ty).unwrap_or(16);
        let requested = self.requested(var, &shape)?;
        if self.options.like_s3netcdf4 {
            let counts = match requested {
                Some(requested) => {
                    legacy::counts(&shape, &requested.into_iter().map(to_f64).collect::<Vec<_>>())
                }
                None => legacy::partitions(&shape, &kinds, self.options.max_size),
            };
            return shape.iter().zip(counts).map(|(len, count)| legacy::sizes(*len, count)).collect();
        }
        Ok(match requested {
            Some(requested) => {
                shape.iter().zip(requested).map(|(len, block)| by_length(*len, block)).collect()
            }
            None => {
                let elements = shape.iter().fold(1u64, |all, len| all.saturating_mul(*len));
                let min = elements / (self.options.max_size / element.max(1)).max(1);
                if min > super::MAX_FRAGMENTS as u64 {
                    let message = format!("at least {min} fragments: choose a larger fragment size");
                    return Err(Error::limit(message));
                }
                let counts = balanced(&shape, &kinds, self.options.max_size / element.max(1));
                shape.iter().zip(counts).map(|(len, count)| by_count(*len, count)).collect()
            }
        })
    }

    /// The requested lengths, if any of the variable's dimensions is among them.
    fn requested(&self, var: VarId, shape: &[u64]) -> Result<Option<Vec<u64>>> {
        let dims = self.model.variable(var).map(|variable| variable.dims.clone()).unwrap_or_default();
        let mut blocks = shape.to_vec();
        let mut any = false;
        for ((dim, len), block) in dims.iter().zip(shape).zip(&mut blocks) {
            let name = self.model.dimension(*dim).map(|dim| dim.name.as_str()).unwrap_or_default();
            let Some(requested) = self.options.shape.get(name) else { continue };
            if *requested == 0 {
                return Err(Error::invalid(format!("empty fragments along {name}")));
            }
            *block = (*requested).min(*len);
            any = true;
        }
        Ok(any.then_some(blocks))
    }
}

#[expect(clippy::cast_precision_loss, reason = "as the original computes")]
fn to_f64(number: u64) -> f64 {
    number as f64
}

/// Blocks of that length; the last one may be shorter.
fn by_length(len: u64, block: u64) -> Vec<u64> {
    let starts = (0..len.div_ceil(block.max(1))).map(|at| at * block);
    starts.map(|start| block.min(len - start)).collect()
}

/// That many blocks of about the same length.
pub(super) fn by_count(len: u64, count: u64) -> Vec<u64> {
    let edge =
        |at: u64| u64::try_from(u128::from(at) * u128::from(len) / u128::from(count.max(1))).unwrap_or(len);
    (0..count).map(|at| edge(at + 1) - edge(at)).collect()
}

/// Numbers of blocks along each axis, so that none has more than `limit` elements. As in S3netCDF4, axes of series
/// and maps are divided in turn, so that fragments serve both; a block has at least one element.
pub(super) fn balanced(shape: &[u64], kinds: &[AxisKind], limit: u64) -> Vec<u64> {
    let mut counts = vec![1u64; shape.len()];
    loop {
        let largest = shape.iter().zip(&counts).map(|(len, count)| len.div_ceil(*count));
        let elements = largest.fold(1u64, |product, len| product.saturating_mul(len));
        let Some(at) = (elements > limit.max(1)).then(|| next(shape, kinds, &counts)).flatten() else {
            return counts;
        };
        if let Some(count) = counts.get_mut(at) {
            *count += 1;
        }
    }
}

/// The axis to divide next; `None` if all are divided into single elements.
fn next(shape: &[u64], kinds: &[AxisKind], counts: &[u64]) -> Option<usize> {
    let first =
        |kind: AxisKind| kinds.iter().position(|other| *other == kind).and_then(|at| counts.get(at).copied());
    let linear = first(AxisKind::T).or_else(|| first(AxisKind::Z)).or_else(|| first(AxisKind::N));
    let field = match (first(AxisKind::X), first(AxisKind::Y)) {
        (Some(x), Some(y)) => Some(x.saturating_mul(y)),
        (one, other) => one.or(other),
    };
    let cuttable = |at: &usize| counts.get(*at) < shape.get(*at);
    let among = |horizontal: bool| {
        let fits = |at: &usize| kinds.get(*at).is_some_and(|kind| kind.is_horizontal() == horizontal);
        (0..shape.len()).filter(fits).filter(cuttable).min_by_key(|at| counts.get(*at).copied())
    };
    // `None` is less than any number: an absent axis need not be divided.
    let horizontal = field <= linear && field.is_some();
    among(horizontal).or_else(|| among(!horizontal))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_length_requested_is_kept_and_the_last_block_is_shorter() {
        assert_eq!(by_length(10, 4), [4, 4, 2]);
        assert_eq!(by_length(49, 4).len(), 13);
        assert_eq!(by_length(4, 4), [4]);
    }

    #[test]
    fn blocks_without_a_given_length_are_even() {
        assert_eq!(by_count(13, 6), [2, 2, 2, 2, 2, 3]);
        assert_eq!(by_count(365, 30).iter().sum::<u64>(), 365);
    }

    proptest! {
        #[test]
        fn cuts_have_no_gap_and_are_small_enough(
            shape in prop::collection::vec(1u64..200, 1..5),
            letters in prop::collection::vec(0usize..5, 4),
            limit in 1u64..5000,
        ) {
            let all = [AxisKind::T, AxisKind::Z, AxisKind::Y, AxisKind::X, AxisKind::N];
            let kinds: Vec<AxisKind> = shape.iter().zip(&letters).map(|(_, at)| all[*at]).collect();
            let counts = balanced(&shape, &kinds, limit);
            let sizes: Vec<Vec<u64>> = shape.iter().zip(&counts).map(|(len, count)| by_count(*len, *count)).collect();
            for (len, sizes) in shape.iter().zip(&sizes) {
                prop_assert_eq!(sizes.iter().sum::<u64>(), *len);
                prop_assert!(!sizes.contains(&0));
            }
            let largest: u64 = sizes.iter().map(|sizes| sizes.iter().max().unwrap()).product();
            prop_assert!(largest <= limit);
        }
    }
}
