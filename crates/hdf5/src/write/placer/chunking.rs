//! Chunk shapes of variables.
use ncirrus_layout::{Error, Result};
use ncirrus_model::{DimensionLen, Model, Storage, VarId};
use ncirrus_netcdf_view::DefaultChunks;

/// The chunk shape of a variable: the caller's, not longer than fixed axes, or a default.
///
/// # Errors
/// `Invalid` if the caller's shape has another rank or a zero.
pub(super) fn chunk_shape(model: &Model, var: VarId, element: u64, rule: DefaultChunks) -> Result<Vec<u64>> {
    let Some(variable) = model.variable(var) else { return Err(Error::internal("no such variable")) };
    let len = |dim| model.dimension(dim).map_or(DimensionLen::Fixed(1), |dimension| dimension.len);
    let axes: Vec<DimensionLen> = variable.dims.iter().map(|dim| len(*dim)).collect();
    match (&variable.storage, rule) {
        (Storage::Chunked(shape), _) if shape.len() != axes.len() || shape.contains(&0) => {
            Err(Error::invalid(format!("chunk shape {shape:?} does not fit {} dimensions", axes.len())))
        }
        (Storage::Chunked(shape), _) => {
            Ok(shape.iter().zip(&axes).map(|(chunk, axis)| fitting(*chunk, *axis)).collect())
        }
        (_, rule) => Ok(rule.shape(&axes, element)),
    }
}

/// HDF5 allows no chunk longer than a fixed axis.
fn fitting(chunk: u64, axis: DimensionLen) -> u64 {
    match axis {
        DimensionLen::Fixed(len) => chunk.min(len.max(1)),
        DimensionLen::Unlimited(_) => chunk,
    }
}
