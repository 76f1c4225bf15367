//! Chunk shapes of variables (docs/spec/nczarr.md 4.5 lets a writer choose).
use ncirrus_layout::{Error, Result};
use ncirrus_model::{DimensionLen, Model, Storage, VarId};
use ncirrus_netcdf_view::chunks::of_few_records;

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
        _ => Ok(of_few_records(&axes, element_len, limit)),
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

#[cfg(test)]
mod tests {
    use super::*;
    use DimensionLen::{Fixed, Unlimited};

    #[test]
    fn a_given_chunk_longer_than_a_fixed_axis_is_refused() {
        assert!(check_given(&[4], &[Fixed(3)]).is_err());
        assert!(check_given(&[4], &[Unlimited(0)]).is_ok());
        assert!(check_given(&[0], &[Unlimited(0)]).is_err());
        assert!(check_given(&[1, 1], &[Fixed(3)]).is_err());
    }
}
