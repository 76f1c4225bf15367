//! A dataset as described by its object header, and its layout for the engine.
use super::chunk::ChunkLookup;
use super::message::{self, LayoutMessage};
use super::{ElementLayout, StoredDataset, external, virtuals};
use crate::address::FileAddress;
use crate::datatypes::{Datatype, DatatypeClass, dataspace, datatype};
use crate::file::Hdf5File;
use crate::object::{ObjectHeader, ObjectRef, header, kind, resolve};
use crate::pipeline;
use bytes::Bytes;
use ncirrus_layout::{
    CellList, ChunkGrid, ChunkIndex, ChunkRef, EdgeChunks, Error, Extent, Layout, Location, Result, Step,
    View, join,
};
use std::sync::Arc;

/// A dataset, and those that are read because it is composed of them.
#[derive(Debug, Clone, Copy)]
pub(super) struct DatasetChain<'a> {
    pub(super) object: &'a ObjectRef,
    asking: Option<&'a DatasetChain<'a>>,
}

/// The description of a dataset, read once.
pub(crate) fn dataset(view: &dyn View, object: &ObjectRef) -> Step<Arc<StoredDataset>> {
    described(view, &DatasetChain::new(object))
}

/// As [`dataset`], for a source of another dataset.
pub(super) fn dataset_below(
    view: &dyn View,
    object: &ObjectRef,
    asking: &DatasetChain<'_>,
) -> Step<Arc<StoredDataset>> {
    let chain = DatasetChain { object, asking: Some(asking) };
    chain.check(view)?;
    described(view, &chain)
}

fn described(view: &dyn View, chain: &DatasetChain<'_>) -> Step<Arc<StoredDataset>> {
    let object = chain.object;
    object.file.memo(view, object.addr, "dataset", || {
        let dataset = read(view, chain)?;
        let cost = size_of::<StoredDataset>() + 64 * dataset.filters.len();
        Ok((dataset, cost))
    })
}

impl<'a> DatasetChain<'a> {
    pub(super) fn new(object: &'a ObjectRef) -> Self {
        Self { object, asking: None }
    }

    /// Refuses a dataset that is composed of itself.
    fn check(&self, view: &dyn View) -> Result<()> {
        let mut depth = 0;
        let mut next = self.asking;
        while let Some(above) = next {
            if above.object == self.object {
                let error = Error::malformed("a virtual dataset has itself as a source");
                return Err(self.object.file.at(self.object.addr, error));
            }
            depth += 1;
            next = above.asking;
        }
        view.limits().depth(depth, "virtual datasets")
    }
}

/// The layout of the elements of [`StoredDataset::shape`].
pub(crate) fn layout(view: &dyn View, object: &ObjectRef, dataset: &StoredDataset) -> Step<Layout> {
    let file = &object.file;
    match &dataset.arrangement {
        ElementLayout::Compact(data) => Ok(compact(dataset, data)?),
        ElementLayout::Contiguous { addr, byte_len } => {
            let extents = contiguous(file, dataset, *addr, *byte_len)?;
            Ok(affine(dataset, extents.into_iter().collect())?)
        }
        ElementLayout::External(parts) => {
            let need = dataset.byte_len()?;
            Ok(affine(dataset, external::extents(view, file, parts, need)?)?)
        }
        ElementLayout::Chunked { shape, .. } => {
            let index = Arc::new(ChunkLookup::new(file, dataset)?);
            let mut lengths = shape.clone();
            lengths.extend(dataset.shape.iter().skip(shape.len()).map(|len| (*len).max(1)));
            let codecs = dataset.filters.as_slice().into();
            Ok(Layout::Grid { grid: ChunkGrid::regular(lengths)?, edge: EdgeChunks::Full, index, codecs })
        }
        ElementLayout::Virtual { .. } => virtuals::layout(view, object, dataset),
    }
}

fn read(view: &dyn View, chain: &DatasetChain<'_>) -> Step<StoredDataset> {
    let file = chain.object.file.as_ref();
    let header = header(view, chain.object)?;
    let kinds = [kind::DATASPACE, kind::PIPELINE, kind::LAYOUT, kind::EXTERNAL_FILES];
    let bodies = join(kinds, |kind| match header.find(kind) {
        Some(message) => Ok(Some(resolve(view, file, message)?.body)),
        None => Ok(None),
    })?;
    let [space, filters, layout, external] = <[Option<Bytes>; 4]>::try_from(bodies)
        .map_err(|_| Error::internal("another number of messages than asked for"))?;
    let datatype = element_type(view, file, &header)?;
    let space = dataspace(&space.ok_or_else(|| lacking("dataspace"))?, file.sizes)?;
    let layout = layout.ok_or_else(|| lacking("layout"))?;
    let filters = filters.map_or(Ok(Vec::new()), |body| pipeline::parse(&body, datatype.byte_len))?;
    let (filters, filter_names) = filters.into_iter().unzip();
    let need = space.count().saturating_mul(datatype.byte_len);
    let arrangement = arrangement(message::parse(&layout, file.sizes, need)?, datatype.byte_len)?;
    let arrangement = match (arrangement, external) {
        // External files are a message beside a contiguous layout without an address (docs/spec/hdf5-netcdf4.md E.8).
        (ElementLayout::Contiguous { addr: None, .. }, Some(body)) => {
            ElementLayout::External(external::parts(view, file, &body)?.into())
        }
        (arrangement, _) => arrangement,
    };
    let space = match &arrangement {
        ElementLayout::Virtual { .. } => virtuals::extent(view, chain, &arrangement, space)?,
        _ => space,
    };
    let (shape, element) = flattened(space.dims(), &datatype);
    Ok(StoredDataset { space, datatype, element, shape, arrangement, filters, filter_names })
}

fn lacking(what: &str) -> Error {
    Error::malformed(format!("a dataset without {what}"))
}

fn element_type(view: &dyn View, file: &Hdf5File, header: &ObjectHeader) -> Step<Arc<Datatype>> {
    datatype(view, file, header.find(kind::DATATYPE).ok_or_else(|| lacking("datatype"))?)
}

/// The arrangement, if it matches elements of that length.
fn arrangement(message: LayoutMessage, element_len: u64) -> Result<ElementLayout> {
    match message.element_len {
        Some(len) if len != element_len => Err(Error::malformed(format!(
            "chunks of elements of {len} bytes where the datatype has {element_len}"
        ))),
        _ => Ok(message.arrangement),
    }
}

/// The lengths of the dataspace and of array types, and the resulting element type.
fn flattened(dims: &[u64], datatype: &Arc<Datatype>) -> (Vec<u64>, Arc<Datatype>) {
    let mut shape = dims.to_vec();
    let mut element = datatype.as_ref();
    while let DatatypeClass::Array { dims, base } = &element.class {
        shape.extend(dims);
        element = base;
    }
    let is_array = !std::ptr::eq(element, datatype.as_ref());
    (shape, if is_array { Arc::new(element.clone()) } else { Arc::clone(datatype) })
}

impl StoredDataset {
    /// Bytes of all elements.
    fn byte_len(&self) -> Result<u64> {
        let len = self.space.count().checked_mul(self.datatype.byte_len);
        len.ok_or_else(|| Error::malformed(format!("a dataset of shape {:?} has too many bytes", self.shape)))
    }
}

/// The one run of bytes, if any was ever written.
fn contiguous(
    file: &Hdf5File,
    dataset: &StoredDataset,
    addr: Option<FileAddress>,
    byte_len: u64,
) -> Result<Option<Extent>> {
    let need = dataset.byte_len()?;
    let Some(addr) = addr.filter(|_| byte_len > 0 && need > 0) else { return Ok(None) };
    if byte_len < need {
        let error = Error::malformed(format!("contiguous data of {byte_len} bytes instead of {need}"));
        return Err(file.at(addr, error));
    }
    let offset = file.base.checked_add(addr.0).filter(|start| start.checked_add(need).is_some());
    let offset =
        offset.ok_or_else(|| file.at(addr, Error::malformed("contiguous data beyond 2^64 bytes")))?;
    Ok(Some(Extent { logical: 0..need, object: file.object.clone(), offset }))
}

/// Consecutive elements in these extents.
fn affine(dataset: &StoredDataset, extents: Vec<Extent>) -> Result<Layout> {
    dataset.byte_len()?;
    let mut stride = dataset.element.byte_len;
    let mut strides = vec![0; dataset.shape.len()];
    for (axis, len) in dataset.shape.iter().enumerate().rev() {
        strides[axis] = stride;
        stride = stride.saturating_mul(*len);
    }
    Ok(Layout::Affine { extents: extents.into(), base: 0, strides })
}

/// Elements in the object header: one chunk. Filters do not apply to them.
fn compact(dataset: &StoredDataset, data: &Bytes) -> Result<Layout> {
    let need = dataset.byte_len()?;
    let data = usize::try_from(need).ok().filter(|need| *need <= data.len()).map(|need| data.slice(..need));
    let data = data.ok_or_else(|| Error::malformed(format!("compact data of fewer than {need} bytes")))?;
    let grid = ChunkGrid::regular(dataset.shape.iter().map(|len| (*len).max(1)).collect())?;
    Ok(Layout::Grid {
        grid,
        edge: EdgeChunks::Full,
        index: Arc::new(CompactChunk(data)),
        codecs: Arc::new([]),
    })
}

/// The one chunk of a compact dataset.
#[derive(Debug)]
struct CompactChunk(Bytes);

impl ChunkIndex for CompactChunk {
    fn locate(&self, _: &dyn View, cells: &CellList) -> Step<Vec<ChunkRef>> {
        Ok(cells.iter().map(|_| ChunkRef::new(Location::Inline(self.0.clone()))).collect())
    }
}
