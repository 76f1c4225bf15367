//! Arrays that are yet to be written are divided as those that `split` finds.
use super::axes::AxisKind;
use super::blocks::{balanced, by_count};
use super::legacy;
use ncirrus::{Error, Result};
use ncirrus_layout::grid::AxisBlocks;

/// An axis of an array that is to be divided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DividedAxis {
    /// Its present length.
    pub len: u64,
    /// Whether it may become longer.
    pub grows: bool,
    /// Its kind.
    pub kind: AxisKind,
}

/// How an array is divided.
#[derive(Debug, Clone)]
pub struct ArrayDivision {
    /// Lengths of the fragments along each axis, which override `max_size`.
    pub shape: Option<Vec<u64>>,
    /// Maximum size of a fragment in bytes; with `like_s3netcdf4` in elements.
    pub max_size: u64,
    /// Divide with the arithmetic of S3netCDF4 (docs/spec/cfa.md 7.3). If it would lose elements, that is an error.
    pub like_s3netcdf4: bool,
}

impl ArrayDivision {
    /// The fragments along each axis of an array whose elements have that many bytes.
    ///
    /// # Errors
    /// `Invalid` for another number of lengths than axes, for lengths of 0, and where the arithmetic of S3netCDF4 would
    /// lose elements; `Limit` for more than ten million fragments.
    pub fn blocks(&self, axes: &[DividedAxis], element_len: u64) -> Result<Vec<AxisBlocks>> {
        if self.max_size == 0 {
            return Err(Error::invalid("empty fragments: the maximum size is 0"));
        }
        let blocks = match &self.shape {
            Some(shape) if shape.len() != axes.len() || shape.contains(&0) => {
                let message = format!("fragments of shape {shape:?} for {} dimensions", axes.len());
                return Err(Error::invalid(message));
            }
            Some(shape) if self.like_s3netcdf4 => {
                let lens: Vec<u64> = axes.iter().map(|axis| axis.len).collect();
                let counts =
                    legacy::counts(&lens, &shape.iter().map(|len| legacy::real(*len)).collect::<Vec<_>>());
                old_blocks(axes, &counts, shape)?
            }
            Some(shape) => shape.iter().map(|len| AxisBlocks::new(Vec::new(), *len)).collect(),
            None if self.like_s3netcdf4 => {
                let lens: Vec<u64> = axes.iter().map(|axis| axis.len).collect();
                let kinds: Vec<AxisKind> = axes.iter().map(|axis| axis.kind).collect();
                old_blocks(axes, &legacy::partitions(&lens, &kinds, self.max_size), &lens)?
            }
            None => even_blocks(axes, self.max_size / element_len.max(1))?,
        };
        check_count(axes, &blocks)?;
        Ok(blocks)
    }
}

/// Blocks by S3netCDF4's arithmetic, which knows no axes that grow: these have the lengths that are asked for.
fn old_blocks(axes: &[DividedAxis], counts: &[u64], requested: &[u64]) -> Result<Vec<AxisBlocks>> {
    let along = |((axis, count), requested): ((&DividedAxis, &u64), &u64)| {
        if axis.grows || axis.len == 0 {
            return Ok(AxisBlocks::new(Vec::new(), *requested));
        }
        let sizes = legacy::sizes(axis.len, *count)?;
        let last = sizes.last().copied().unwrap_or(1);
        Ok(AxisBlocks::new(sizes, last))
    };
    axes.iter().zip(counts).zip(requested).map(along).collect()
}

/// Even blocks of at most that many elements; the first axis that grows has what the others leave.
fn even_blocks(axes: &[DividedAxis], limit: u64) -> Result<Vec<AxisBlocks>> {
    let lens: Vec<u64> = axes.iter().map(|axis| if axis.grows { 1 } else { axis.len }).collect();
    let kinds: Vec<AxisKind> = axes.iter().map(|axis| axis.kind).collect();
    let elements = lens.iter().fold(1u64, |all, len| all.saturating_mul(*len));
    let min = elements / limit.max(1);
    if min > super::MAX_FRAGMENTS as u64 {
        return Err(Error::limit(format!("at least {min} fragments: choose a larger fragment size")));
    }
    let counts = balanced(&lens, &kinds, limit);
    let largest = lens.iter().zip(&counts).map(|(len, count)| len.div_ceil((*count).max(1)).max(1));
    let mut rest = limit / largest.fold(1u64, |all, len| all.saturating_mul(len));
    let along = |((axis, len), count): ((&DividedAxis, &u64), &u64)| {
        if axis.grows {
            return AxisBlocks::new(Vec::new(), std::mem::replace(&mut rest, 1).max(1));
        }
        let sizes = by_count(*len, *count);
        let last = sizes.last().copied().unwrap_or(1);
        AxisBlocks::new(sizes, last)
    };
    Ok(axes.iter().zip(&lens).zip(&counts).map(along).collect())
}

fn check_count(axes: &[DividedAxis], blocks: &[AxisBlocks]) -> Result<()> {
    let counts = axes.iter().zip(blocks).map(|(axis, blocks)| blocks.count(axis.len).max(1));
    let count = counts.fold(1u64, |all, count| all.saturating_mul(count));
    if count > super::MAX_FRAGMENTS as u64 {
        Err(Error::limit(format!("{count} fragments: choose larger ones")))
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(len: u64, letter: &str) -> DividedAxis {
        DividedAxis { len, grows: len == 0, kind: AxisKind::from_letter(letter).unwrap() }
    }

    fn sizes(division: &ArrayDivision, axes: &[DividedAxis], lens: &[u64]) -> Vec<Vec<u64>> {
        let blocks = division.blocks(axes, 4).unwrap();
        blocks.iter().zip(lens).map(|(blocks, len)| blocks.sizes(*len)).collect()
    }

    fn division(shape: Option<&[u64]>, max_size: u64, like_s3netcdf4: bool) -> ArrayDivision {
        ArrayDivision { shape: shape.map(<[u64]>::to_vec), max_size, like_s3netcdf4 }
    }

    #[test]
    fn blocks_that_are_requested_hold_every_element() {
        let steps = division(Some(&[12, 1]), 1, false);
        let found = sizes(&steps, &[axis(365, "T"), axis(1, "Z")], &[365, 1]);
        assert_eq!((found[0].len(), found[0].iter().sum::<u64>(), found[0][30]), (31, 365, 5));
        let lost = division(Some(&[12]), 1, true).blocks(&[axis(365, "T")], 4).unwrap_err();
        assert!(lost.message().contains("145"), "{lost}");
        assert_eq!(sizes(&division(Some(&[4]), 1, true), &[axis(10, "T")], &[10]), [[5, 5]]);
    }

    #[test]
    fn sizes_are_bytes_and_those_of_s3netcdf4_elements() {
        let axes = [axis(100, "T"), axis(10, "X")];
        assert_eq!(sizes(&division(None, 4000, false), &axes, &[100, 10]), [vec![100], vec![10]]);
        assert_eq!(sizes(&division(None, 2000, false), &axes, &[100, 10])[1], [5, 5]);
        assert_eq!(sizes(&division(None, 1000, true), &axes, &[100, 10]), [vec![100], vec![10]]);
    }

    #[test]
    fn an_axis_that_grows_has_what_the_others_leave() {
        let axes = [axis(0, "T"), axis(10, "X")];
        assert_eq!(sizes(&division(None, 400, false), &axes, &[25, 10]), [vec![10, 10, 5], vec![10]]);
        assert_eq!(sizes(&division(None, 20, false), &axes, &[2, 10]), [vec![1, 1], vec![5, 5]]);
    }

    #[test]
    fn lengths_that_do_not_fit_are_refused() {
        for shape in [&[1u64, 1][..], &[0], &[]] {
            assert!(division(Some(shape), 1, false).blocks(&[axis(10, "T")], 4).is_err());
        }
        assert!(division(None, 0, false).blocks(&[axis(10, "T")], 4).is_err());
        assert!(division(Some(&[1]), 1, false).blocks(&[axis(20_000_000, "T")], 4).is_err());
    }
}
