//! Data of existing variables: their storage, the locations of chunks, and of new ones (docs/spec/hdf5-netcdf4.md E,
//! J.4).
use crate::address::FileAddress;
use crate::datatypes::stored;
use crate::file::Hdf5File;
use crate::layout::{ElementLayout, IndexKind, dataset, layout};
use crate::netcdf::fill_of;
use crate::object::ObjectRef;
use crate::write::placer::{ChunkArrangement, StorageForm, rows};
use ncirrus_layout::{
    CellList, ChunkGrid, ChunkRef, EdgeChunks, Encoding, Error, Layout, Location, Step, StoredType, View,
};
use ncirrus_model::{Model, VarId, Variable};
use std::collections::HashMap;
use std::sync::Arc;

/// An existing variable of the file.
#[derive(Debug, Clone)]
pub(super) struct ExistingStorage {
    /// Its object header.
    pub(super) addr: FileAddress,
    /// Where its data begin if they are in one run, or consecutive.
    pub(super) run: Option<FileAddress>,
    /// Whether chunks are consecutive.
    pub(super) implicit: bool,
    /// Lengths of the dataset, array types included.
    pub(super) shape: Vec<u64>,
}

/// The storage of a variable in the file.
///
/// # Errors
/// A need, or why its data cannot be changed.
pub(super) fn form(
    view: &dyn View,
    object: &ObjectRef,
    (model, id): (&Model, VarId),
    paths: &HashMap<FileAddress, String>,
) -> Step<(StorageForm, ExistingStorage)> {
    let variable = model.variable(id).ok_or_else(|| Error::not_found("no such variable"))?;
    if let Some(fault) = &variable.fault {
        return Err(Error::from(fault.clone()).into());
    }
    let dataset = dataset(view, object)?;
    let (arranged, run, implicit) = match &dataset.arrangement {
        ElementLayout::Compact(_) => (ChunkArrangement::Compact, None, false),
        ElementLayout::Contiguous { addr, .. } => (ChunkArrangement::Contiguous, *addr, false),
        // A grid has one chain of codecs for all of its chunks.
        ElementLayout::Chunked { edges_unfiltered: true, .. } if !dataset.filters.is_empty() => {
            return Err(
                Error::unsupported("changing data whose edge chunks are stored without filters").into()
            );
        }
        ElementLayout::Chunked { index: IndexKind::Implicit, addr, .. } => {
            (ChunkArrangement::Chunked, *addr, true)
        }
        ElementLayout::Chunked { .. } => (ChunkArrangement::Chunked, None, false),
        ElementLayout::External(_) => {
            return Err(Error::unsupported("changing data that are stored in other files").into());
        }
        ElementLayout::Virtual { .. } => {
            return Err(Error::unsupported("changing data of a virtual dataset").into());
        }
    };
    let (grid, edge, codecs) = match layout(view, object, &dataset)? {
        Layout::Grid { grid, edge, codecs, .. } => (grid, edge, codecs),
        // Contiguous data are written in rows of a moderate size, as if each were a chunk.
        _ => {
            let cells = rows(&dataset.shape, dataset.element.byte_len);
            (ChunkGrid::regular(cells)?, EdgeChunks::Clipped, Arc::from([]))
        }
    };
    let byte_len = dataset.element.byte_len;
    let stored = stored(&dataset.element).unwrap_or(StoredType::Reference { byte_len });
    let fill = fill_of(view, object, &dataset, paths, (model, id))?;
    let encoding = Arc::new(Encoding { grid, edge, stored, codecs, fill });
    let form = StorageForm { datatype: dataset.element.as_ref().clone(), encoding, arranged };
    Ok((form, ExistingStorage { addr: object.addr, run, implicit, shape: dataset.shape.clone() }))
}

/// The locations of chunks in the file as readers see it.
pub(super) fn locate(
    view: &dyn View,
    file: &Arc<Hdf5File>,
    existing: &ExistingStorage,
    form: &StorageForm,
    cells: &CellList,
) -> Step<Vec<ChunkRef>> {
    let object = ObjectRef { file: Arc::clone(file), addr: existing.addr };
    let dataset = dataset(view, &object)?;
    let inside: Vec<bool> = cells.iter().map(|cell| is_inside(form, &dataset.shape, cell)).collect();
    let mut known = CellList::new(cells.rank());
    cells.iter().zip(&inside).filter(|(_, inside)| **inside).for_each(|(cell, _)| known.push(cell));
    let Layout::Grid { index, .. } = layout(view, &object, &dataset)? else {
        return Err(Error::internal("no grid of cells").into());
    };
    let mut found = index.locate(view, &known)?.into_iter();
    let absent = || ChunkRef::new(Location::Absent);
    Ok(inside
        .into_iter()
        .map(|inside| if inside { found.next().unwrap_or_else(absent) } else { absent() })
        .collect())
}

/// Whether a chunk has any element of the array.
fn is_inside(form: &StorageForm, shape: &[u64], cell: &[u64]) -> bool {
    let starts = cell.iter().zip(form.cell_shape()).map(|(at, len)| at.checked_mul(*len));
    shape.is_empty() || starts.zip(shape).all(|(start, len)| start.is_some_and(|start| start < *len))
}

/// The stored coordinates of a chunk: axes of array types have none.
pub(super) fn chunk_of(cell: &[u64], rank: usize) -> Vec<u64> {
    cell.get(..rank).unwrap_or(cell).to_vec()
}

/// Whether chunks that were never written hold fill.
pub(super) fn has_fill(variable: Option<&Variable>) -> bool {
    variable.is_some_and(Variable::is_filled)
}
