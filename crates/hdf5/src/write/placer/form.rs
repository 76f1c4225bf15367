//! The storage of a variable: its datatype, its chunks, and their locations (docs/spec/hdf5-netcdf4.md E.2, H.5).
use super::Hdf5Writer;
use super::chunking::chunk_shape;
use crate::datatypes::{Datatype, stored};
use crate::netcdf::default_of;
use crate::write::types::datatype_of;
use ncirrus_layout::{ChunkGrid, EdgeChunks, Encoding, Error, Result, StoredType};
use ncirrus_model::{Model, Storage, Values, VarId, Variable};
use std::sync::Arc;

/// How a variable is stored.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct StorageForm {
    pub(crate) datatype: Datatype,
    pub(crate) encoding: Arc<Encoding>,
    pub(crate) arranged: ChunkArrangement,
}

/// The locations of a variable's chunks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ChunkArrangement {
    /// In the object header.
    Compact,
    /// Consecutive, in one run.
    Contiguous,
    /// Anywhere, with an index.
    Chunked,
}

/// Maximum size of a chunk: its length is stored in 32 bits.
const MAX_CHUNK: u64 = u32::MAX as u64;
/// Maximum size of data in a header: a message with its own fields.
const MAX_COMPACT: u64 = 65_535 - 4;
/// Maximum number of dimensions of a dataset.
const MAX_AXES: usize = 32;
/// Size of a chunk of contiguous data.
const CELL_BYTES: u64 = 4 << 20;

impl StorageForm {
    /// The form of a new variable.
    ///
    /// # Errors
    /// What cannot be stored.
    pub(crate) fn new(model: &Model, var: VarId, choices: &Hdf5Writer) -> Result<Self> {
        let variable = model.variable(var).ok_or_else(|| Error::not_found("no such variable"))?;
        Self::of(model, var, variable, choices).map_err(|error| error.at_path(model.variable_path(var)))
    }

    fn of(model: &Model, var: VarId, variable: &Variable, choices: &Hdf5Writer) -> Result<Self> {
        if variable.rank() > MAX_AXES {
            return Err(Error::unsupported(format!(
                "{} dimensions: HDF5 has at most {MAX_AXES}",
                variable.rank()
            )));
        }
        if let Some(fault) = &variable.fault {
            return Err(Error::from(fault.clone()));
        }
        let datatype = datatype_of(model, variable.ty, variable.endianness)?;
        let arranged = arranged(model, var, variable, datatype.byte_len)?;
        let shape = model.shape(var);
        let cells = match arranged {
            ChunkArrangement::Compact => shape.iter().map(|len| (*len).max(1)).collect(),
            ChunkArrangement::Contiguous => rows(&shape, datatype.byte_len),
            ChunkArrangement::Chunked => chunk_shape(model, var, datatype.byte_len, choices.chunks)?,
        };
        let bytes = cells.iter().try_fold(datatype.byte_len, |bytes, len| bytes.checked_mul(*len));
        // Indexes hold the size of a chunk in 32 bits (docs/spec/hdf5-netcdf4.md E.5).
        if arranged == ChunkArrangement::Chunked && bytes.is_none_or(|bytes| bytes > MAX_CHUNK) {
            return Err(Error::limit(format!("a chunk of shape {cells:?} has 4 GiB or more")));
        }
        let filters = if arranged == ChunkArrangement::Chunked { variable.filters.as_slice() } else { &[] };
        let byte_len = datatype.byte_len;
        let encoding = Encoding {
            grid: ChunkGrid::regular(cells)?,
            edge: if arranged == ChunkArrangement::Contiguous {
                EdgeChunks::Clipped
            } else {
                EdgeChunks::Full
            },
            stored: stored(&datatype).unwrap_or(StoredType::Reference { byte_len }),
            codecs: filters.into(),
            fill: fill(model, variable)?,
        };
        Ok(Self { datatype, encoding: Arc::new(encoding), arranged })
    }

    /// Chunk shape.
    pub(crate) fn cell_shape(&self) -> &[u64] {
        match &self.encoding.grid {
            ChunkGrid::Regular(shape) => shape,
            ChunkGrid::Rectilinear(_) => &[],
        }
    }
}

/// Filters and growth need chunks; otherwise the requested storage, and by default netCDF-C's rule.
fn arranged(model: &Model, var: VarId, variable: &Variable, byte_len: u64) -> Result<ChunkArrangement> {
    let shape = model.shape(var);
    if shape.is_empty() && variable.storage != Storage::Compact {
        return Ok(ChunkArrangement::Contiguous);
    }
    let grows = model.growing(var).contains(&true);
    let total = shape.iter().try_fold(byte_len, |total, len| total.checked_mul(*len));
    Ok(match variable.storage {
        Storage::Compact if grows => {
            return Err(Error::invalid("compact storage needs dimensions of fixed length"));
        }
        Storage::Compact if total.is_none_or(|total| total > MAX_COMPACT) => {
            return Err(Error::invalid(format!("compact storage holds at most {MAX_COMPACT} bytes")));
        }
        Storage::Compact => ChunkArrangement::Compact,
        _ if grows => ChunkArrangement::Chunked,
        _ if shape.contains(&0) => ChunkArrangement::Contiguous,
        Storage::Chunked(_) => ChunkArrangement::Chunked,
        _ if !variable.filters.is_empty() => ChunkArrangement::Chunked,
        _ => ChunkArrangement::Contiguous,
    })
}

/// Chunks that are runs of contiguous data: leading axes one by one, one axis in pieces, the axes after it whole.
pub(crate) fn rows(shape: &[u64], element: u64) -> Vec<u64> {
    let mut cells = vec![1; shape.len()];
    let mut inner = element.max(1);
    for (cell, len) in cells.iter_mut().zip(shape).rev() {
        *cell = (CELL_BYTES / inner).clamp(1, (*len).max(1));
        if *cell < *len {
            break;
        }
        inner = inner.saturating_mul((*len).max(1));
    }
    cells
}

/// The value of elements that were never written.
fn fill(model: &Model, variable: &Variable) -> Result<Values> {
    match variable.own_fill() {
        Some(own) if own.len() == 1 => Ok(own.clone()),
        _ => default_of(model, variable.ty),
    }
}

#[cfg(test)]
mod tests {
    use super::fill;
    use crate::write::tests::TypeSpec;
    use ncirrus_model::{Atomic, Fill, Model, Values, Variable, default_fill};

    fn filled(spec: &TypeSpec, own: Option<Values>) -> Values {
        let mut model = Model::new();
        let ty = spec.define(&mut model);
        let mut variable = Variable::new("v", ty, Vec::new());
        if let Some(own) = own {
            variable.fill = Fill::Apart(own);
        }
        fill(&model, &variable).expect("a value")
    }

    #[test]
    fn elements_of_enums_are_filled_as_their_integers_are() {
        for base in Atomic::ALL.into_iter().filter(|atomic| atomic.is_integer()) {
            assert_eq!(filled(&TypeSpec::Enum(base), None), default_fill(base));
            assert_eq!(filled(&TypeSpec::Atomic(base), None), default_fill(base));
        }
        assert_eq!(filled(&TypeSpec::Enum(Atomic::Int), Some(Values::Int(vec![1]))), Values::Int(vec![1]));
    }

    #[test]
    fn elements_of_other_types_of_users_are_zeros() {
        let spec = TypeSpec::Compound(vec![(TypeSpec::Enum(Atomic::Short), vec![])]);
        let zeros = filled(&spec, None);
        assert_eq!((zeros.len(), zeros.atomic()), (1, None));
    }
}
