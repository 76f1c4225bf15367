//! Default chunk shapes (docs/spec/nczarr.md 4.5 lets a writer choose).
use ncirrus_layout::{Error, Result};
use ncirrus_model::{DimensionLen, Model, Storage, VarId};

/// Minimum number of elements in a chunk of a growing one-dimensional variable.
const SERIES_LEN: u64 = 1024;
/// Records of growing variables are gathered into chunks of about this many bytes.
const RECORD_BYTES: u64 = 1 << 20;

/// The chunk shape of a variable: the caller's, or one of at most about `limit` bytes.
///
/// # Errors
/// `Invalid` if the caller's shape has another rank, a zero, or is longer than a fixed axis.
pub(crate) fn chunk_shape(model: &Model, var: VarId, element_len: u64, limit: u64) -> Result<Vec<u64>> {
    let Some(variable) = model.variable(var) else { return Err(Error::internal("no such variable")) };
    let axes: Vec<DimensionLen> = variable
        .dims
        .iter()
        .map(|dim| model.dimension(*dim).map_or(DimensionLen::Fixed(1), |dimension| dimension.len))
        .collect();
    match &variable.storage {
        Storage::Chunked(shape) => check_given(shape, &axes).map(|()| shape.clone()),
        Storage::Contiguous | Storage::Compact if axes.iter().any(|axis| axis.is_unlimited()) => {
            Err(Error::invalid("contiguous storage needs dimensions of fixed length"))
        }
        _ => Ok(choose(&axes, element_len.max(1), limit.max(1))),
    }
}

fn check_given(shape: &[u64], axes: &[DimensionLen]) -> Result<()> {
    if shape.len() != axes.len() {
        return Err(Error::invalid(format!("chunk shape {shape:?} has not {} lengths", axes.len())));
    }
    for (axis, (chunk, len)) in shape.iter().zip(axes).enumerate() {
        let too_long = matches!(len, DimensionLen::Fixed(len) if chunk > &(*len).max(1));
        if *chunk == 0 || too_long {
            return Err(Error::invalid(format!(
                "chunk length {chunk} of axis {axis} does not fit a dimension of length {}",
                len.current()
            )));
        }
    }
    Ok(())
}

fn choose(axes: &[DimensionLen], element_len: u64, limit: u64) -> Vec<u64> {
    let limit = (limit / element_len).max(1);
    if let [DimensionLen::Unlimited(len)] = axes {
        return vec![(*len).clamp(SERIES_LEN.min(limit), limit)];
    }
    let mut shape: Vec<u64> =
        axes.iter().map(|axis| if axis.is_unlimited() { 1 } else { axis.current().max(1) }).collect();
    shrink(&mut shape, limit);
    gather_records(&mut shape, axes, (RECORD_BYTES / element_len).clamp(1, limit));
    shape
}

/// Shortens all axes by about the same factor until the product is at most `limit`, without a nearly empty last chunk.
fn shrink(shape: &mut [u64], limit: u64) {
    let whole = shape.to_vec();
    while product(shape) > limit {
        let Some(longest) = (0..shape.len()).max_by_key(|axis| (shape[*axis], usize::MAX - axis)) else {
            return;
        };
        let over = product(shape).div_ceil(limit).min(2);
        shape[longest] = shape[longest].div_ceil(over.max(2));
    }
    for (chunk, len) in shape.iter_mut().zip(&whole) {
        *chunk = len.div_ceil(len.div_ceil(*chunk));
    }
}

/// Lengthens the first growing axis while records are small, but not past its current length.
fn gather_records(shape: &mut [u64], axes: &[DimensionLen], limit: u64) {
    let room = limit / product(shape).max(1);
    let first = axes.iter().position(|axis| axis.is_unlimited());
    if let Some((chunk, axis)) = first.and_then(|at| shape.get_mut(at).zip(axes.get(at))) {
        *chunk = room.min(axis.current()).max(1);
    }
}

fn product(shape: &[u64]) -> u64 {
    shape.iter().fold(1, |product, len| product.saturating_mul(*len))
}

#[cfg(test)]
mod tests {
    use super::*;
    use DimensionLen::{Fixed, Unlimited};

    #[test]
    fn small_variables_are_one_chunk() {
        assert_eq!(choose(&[Fixed(180), Fixed(360)], 4, 4 << 20), [180, 360]);
        assert_eq!(choose(&[], 4, 4 << 20), [] as [u64; 0]);
        assert_eq!(choose(&[Fixed(0)], 4, 4 << 20), [1]);
    }

    #[test]
    fn large_variables_are_cut_evenly_below_the_limit() {
        for axes in
            [vec![Fixed(4000), Fixed(5000)], vec![Fixed(100), Fixed(4000), Fixed(5000)], vec![Fixed(1 << 40)]]
        {
            let shape = choose(&axes, 8, 4 << 20);
            let bytes = product(&shape) * 8;
            assert!((1 << 20..=4 << 20).contains(&bytes), "{shape:?}");
        }
    }

    #[test]
    fn growing_axes_hold_few_records_but_small_records_are_gathered() {
        assert_eq!(choose(&[Unlimited(0), Fixed(1000), Fixed(1000)], 4, 4 << 20), [1, 1000, 1000]);
        assert_eq!(choose(&[Unlimited(100_000), Fixed(256)], 4, 4 << 20), [1024, 256]);
        assert_eq!(choose(&[Unlimited(0)], 8, 4 << 20), [1024]);
        assert_eq!(choose(&[Unlimited(5), Unlimited(7)], 8, 4 << 20), [5, 1]);
    }

    #[test]
    fn a_given_chunk_longer_than_a_fixed_axis_is_refused() {
        assert!(check_given(&[4], &[Fixed(3)]).is_err());
        assert!(check_given(&[4], &[Unlimited(0)]).is_ok());
        assert!(check_given(&[0], &[Unlimited(0)]).is_err());
        assert!(check_given(&[1, 1], &[Fixed(3)]).is_err());
    }
}
