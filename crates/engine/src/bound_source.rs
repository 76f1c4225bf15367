//! A variable's source, bound to everything that reading needs: grid, codecs, conversion.
use crate::convert::{self, RowCopier};
use crate::decode::{codec_error, codec_error_as, element_of};
use crate::picked::Picked;
use crate::resources::SharedResources;
use crate::scatter::OutputCuts;
use ncirrus_codec::{ChunkInfo, CodecChain, CodecError, CodecRegistry, DecodedElement, names};
use ncirrus_layout::LockExt;
use ncirrus_layout::grid::{ChunkIntersections, ElementSizes, PointIntersections};
use ncirrus_layout::{
    ChunkGrid, ChunkIndex, EdgeChunks, Error, Extent, Layout, Limits, QuerySource, Result, Source,
    StoredType, TileIndex,
};
use ncirrus_model::{CodecSpec, Model, Selection, TypeRef};
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

/// A variable's source, bound to everything that reading needs.
pub(crate) struct BoundSource {
    pub(crate) source: Arc<Source>,
    pub(crate) ty: TypeRef,
    pub(crate) elements: ElementDecoding,
    /// As [`elements`](Self::elements), for elements that go to the caller's memory: compounds of fixed size are copied
    /// one by one as well.
    pub(crate) packed: ElementDecoding,
    pub(crate) layout: StorageLayout,
    /// The fill value as it would be stored, for the elements that a short chunk lacks; `None` if it has no stored
    /// form.
    pub(crate) stored_fill: Option<Vec<u8>>,
    swapped_fill: Option<(Vec<u8>, Vec<u8>)>,
}

/// How stored elements become values.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ElementDecoding {
    /// One by one, directly into the result.
    Copied(RowCopier),
    /// Gathered as they are stored, then decoded together.
    Decoded {
        /// Bytes of one stored element.
        stored_len: usize,
    },
    /// Gathered as they are stored, then resolved by the source's resolver.
    Referenced {
        /// Bytes of one stored element.
        stored_len: usize,
    },
    /// Elements without a fixed size: a chunk is decoded whole.
    Sequences,
    /// Taken from other variables, or decoded by the source itself.
    Assembled,
}

/// How the elements of a variable are laid out.
pub(crate) enum StorageLayout {
    /// In chunks that an index locates.
    Chunks(IndexedChunks),
    /// In rows at fixed strides; the grid is our own, to divide the work.
    Rows(StridedRows),
    /// In other variables.
    Mosaic(Arc<dyn TileIndex>),
    /// With a server that sends boxes; the variable's number there.
    Query(Arc<dyn QuerySource>, usize),
}

/// Chunks that an index locates.
pub(crate) struct IndexedChunks {
    pub(crate) grid: ChunkGrid,
    pub(crate) edge: EdgeChunks,
    pub(crate) index: Arc<dyn ChunkIndex>,
    codecs: Arc<[CodecSpec]>,
    registry: CodecRegistry,
    element: DecodedElement,
    usual: (Vec<u64>, CodecChain),
    others: Mutex<HashMap<Vec<u64>, CodecChain>>,
}

/// Elements stored at fixed strides.
pub(crate) struct StridedRows {
    pub(crate) grid: ChunkGrid,
    pub(crate) extents: Arc<[Extent]>,
    pub(crate) base: u64,
    pub(crate) strides: Vec<u64>,
}

impl BoundSource {
    /// Binds the source of a variable of the given type and shape.
    pub(crate) fn new(
        source: Source,
        model: &Model,
        variable: (TypeRef, &[u64]),
        shared: &SharedResources,
    ) -> Result<Self> {
        let ((ty, shape), registry) = (variable, &shared.registry);
        let elements = ElementDecoding::of(&source, model, ty, &shared.limits)?;
        let packed = match &elements {
            ElementDecoding::Decoded { .. } => RowCopier::packed(model, ty, &source.stored)
                .map_or_else(|| elements.clone(), ElementDecoding::Copied),
            _ => elements.clone(),
        };
        let layout = match &source.layout {
            Layout::Grid { grid, edge, index, codecs } => {
                // netcdf-c codes szip by the lines of the variable, not of the chunk (docs/spec/nczarr.md 11.5).
                let codecs: Arc<[CodecSpec]> = names::with_shape(codecs, &source.extent).into();
                let (grid, index) = (grid.clone(), Arc::clone(index));
                let element = chunk_element(&codecs, &elements, &source.stored);
                StorageLayout::Chunks(IndexedChunks::new(grid, *edge, index, codecs, element, registry)?)
            }
            Layout::Affine { extents, base, strides } => {
                let stored_len = elements.stored_len().ok_or_else(|| {
                    Error::unsupported("elements of no fixed size that lie at fixed strides")
                })?;
                if strides.len() != source.extent.len() {
                    return Err(Error::internal("strides and extent differ in rank"));
                }
                let grid = block_grid(&source.extent, strides, stored_len as u64);
                let (extents, strides) = (Arc::clone(extents), strides.clone());
                StorageLayout::Rows(StridedRows { grid, extents, base: *base, strides })
            }
            Layout::Mosaic { tiles } => StorageLayout::Mosaic(Arc::clone(tiles)),
            Layout::Query { source, variable } => StorageLayout::Query(Arc::clone(source), *variable),
        };
        let rank = match &layout {
            StorageLayout::Chunks(chunks) => chunks.grid.rank(),
            StorageLayout::Rows(rows) => rows.strides.len(),
            StorageLayout::Mosaic(_) | StorageLayout::Query(..) => source.extent.len(),
        };
        if rank != shape.len() || source.extent.len() != shape.len() {
            return Err(Error::internal(format!(
                "a source of rank {rank} and extent {:?} for shape {shape:?}",
                source.extent
            )));
        }
        if source.fill.len() != 1 {
            return Err(Error::internal(format!("{} fill values instead of one", source.fill.len())));
        }
        let stored_fill = convert::encode(model, ty, &source.stored, &source.fill, 0..1).ok();
        let swapped_fill = source.swapped_fill.then(|| swapped(stored_fill.as_deref())).flatten();
        Ok(Self { source: Arc::new(source), ty, elements, packed, layout, stored_fill, swapped_fill })
    }

    /// The picked elements, cut along the grid.
    pub(crate) fn cuts<'p>(&self, picked: Picked<'p>) -> Result<OutputCuts<'p>> {
        let grid = self.grid();
        Ok(match picked {
            Picked::Selection(selection) => OutputCuts::selection(selection, &grid, &self.source.extent),
            Picked::Points(points) => {
                OutputCuts::Points(PointIntersections::new(points, &grid, &self.source.extent)?)
            }
        })
    }

    /// The selection, cut along the grid.
    pub(crate) fn intersections(&self, selection: &Selection) -> ChunkIntersections {
        ChunkIntersections::new(selection, &self.grid(), &self.source.extent)
    }

    /// The grid by which the work on the array is divided.
    fn grid(&self) -> Cow<'_, ChunkGrid> {
        let one = ChunkGrid::Regular(self.source.extent.iter().map(|len| (*len).max(1)).collect());
        match &self.layout {
            StorageLayout::Chunks(chunks) => Cow::Borrowed(&chunks.grid),
            StorageLayout::Rows(rows) => Cow::Borrowed(&rows.grid),
            StorageLayout::Mosaic(_) | StorageLayout::Query(..) => Cow::Owned(one),
        }
    }

    /// The error for a chunk that a codec cannot decode.
    pub(crate) fn codec_error(&self, error: CodecError) -> Error {
        match &self.layout {
            StorageLayout::Chunks(chunks) => chunks.codec_error(error),
            StorageLayout::Rows(_) | StorageLayout::Mosaic(_) | StorageLayout::Query(..) => {
                codec_error(error)
            }
        }
    }

    /// Whether stored bytes must be searched for fill values in the wrong byte order.
    pub(crate) fn repairs(&self) -> bool {
        self.swapped_fill.is_some()
    }

    /// Replaces fill values that were stored in the wrong byte order (docs/spec/nczarr.md 4.4).
    pub(crate) fn repair(&self, stored: &mut [u8]) {
        let Some((wrong, right)) = &self.swapped_fill else { return };
        for element in stored.chunks_exact_mut(wrong.len()) {
            if element == wrong.as_slice() {
                element.copy_from_slice(right);
            }
        }
    }
}

impl ElementDecoding {
    fn of(source: &Source, model: &Model, ty: TypeRef, limits: &Limits) -> Result<Self> {
        if let Layout::Mosaic { .. } | Layout::Query { .. } = source.layout {
            return Ok(Self::Assembled);
        }
        if let Some(copier) = RowCopier::new(model, ty, &source.stored) {
            return Ok(Self::Copied(copier));
        }
        let Some(stored_len) = source.stored.byte_len() else { return Ok(Self::Sequences) };
        let stored_len = limits.chunk_len(stored_len, "an element")?;
        Ok(match source.stored {
            StoredType::Reference { .. } => Self::Referenced { stored_len },
            _ => Self::Decoded { stored_len },
        })
    }

    /// Bytes of one stored element, if its size is fixed.
    pub(crate) fn stored_len(&self) -> Option<usize> {
        match self {
            Self::Copied(copier) => Some(copier.stored_len()),
            Self::Decoded { stored_len } | Self::Referenced { stored_len } => Some(*stored_len),
            Self::Sequences | Self::Assembled => None,
        }
    }

    /// Bytes of one element in the source and in the memory where it is gathered.
    pub(crate) fn sizes(&self) -> ElementSizes {
        match self {
            Self::Copied(copier) => ElementSizes { stored: copier.stored_len(), native: copier.native_len() },
            Self::Decoded { stored_len } | Self::Referenced { stored_len } => {
                ElementSizes { stored: *stored_len, native: *stored_len }
            }
            Self::Sequences | Self::Assembled => ElementSizes { stored: ELEMENT_MARK, native: ELEMENT_MARK },
        }
    }
}

/// Bytes of the mark that represents a gathered element without a fixed size.
pub(crate) const ELEMENT_MARK: usize = 8;

impl IndexedChunks {
    fn new(
        grid: ChunkGrid,
        edge: EdgeChunks,
        index: Arc<dyn ChunkIndex>,
        codecs: Arc<[CodecSpec]>,
        element: DecodedElement,
        registry: &CodecRegistry,
    ) -> Result<Self> {
        // An array without elements may have no chunk at all.
        let first = grid.cell_shape(&vec![0; grid.rank()]).unwrap_or_default();
        let info = ChunkInfo { shape: first.clone(), element: element.clone() };
        let chain = registry.bind(&codecs, &info).map_err(|error| named(error, &codecs, index.as_ref()))?;
        let usual = (first, chain);
        let (registry, others) = (registry.clone(), Mutex::default());
        Ok(Self { grid, edge, index, codecs, registry, element, usual, others })
    }

    /// The shape of the stored chunk at `cell`.
    pub(crate) fn shape(&self, cell: &[u64], extent: &[u64]) -> Result<Vec<u64>> {
        let shape = match self.edge {
            EdgeChunks::Full => self.grid.cell_shape(cell),
            EdgeChunks::Clipped => self.grid.clipped_region(cell, extent).map(|region| region.count),
        };
        shape.ok_or_else(|| Error::internal("a cell outside of the grid"))
    }

    /// The codecs, bound to chunks of a shape.
    pub(crate) fn chain(&self, shape: &[u64]) -> Result<CodecChain> {
        if self.usual.0 == shape || self.usual.1.is_identity() {
            return Ok(self.usual.1.clone());
        }
        let mut others = self.others.guard();
        if let Some(chain) = others.get(shape) {
            return Ok(chain.clone());
        }
        let info = ChunkInfo { shape: shape.to_vec(), element: self.element.clone() };
        let chain = self.registry.bind(&self.codecs, &info).map_err(|error| self.codec_error(error))?;
        if others.len() < BOUND_SHAPES {
            others.insert(shape.to_vec(), chain.clone());
        }
        Ok(chain)
    }

    fn codec_error(&self, error: CodecError) -> Error {
        named(error, &self.codecs, self.index.as_ref())
    }

    /// Bytes of a decoded chunk that lies wholly inside the array.
    pub(crate) fn usual_byte_len(&self) -> u64 {
        let element = self.element.byte_len.unwrap_or(ELEMENT_MARK) as u64;
        self.usual.0.iter().fold(element, |product, len| product.saturating_mul(*len))
    }

    /// The names of the codecs in the order of encoding.
    pub(crate) fn codec_names(&self) -> Vec<String> {
        self.codecs.iter().map(CodecSpec::identifier).collect()
    }
}

/// What codecs may know about an element. Its number type only if one of them decodes by it: other codecs name types of
/// their own, and may call an element by another type of its size.
fn chunk_element(codecs: &[CodecSpec], elements: &ElementDecoding, stored: &StoredType) -> DecodedElement {
    match elements.stored_len() {
        Some(_) if codecs.iter().any(names::needs_number_type) => element_of(stored),
        len => DecodedElement::sized(len),
    }
}

/// The error of a codec; for a missing codec, the format's own name of it is added where that says more.
fn named(error: CodecError, codecs: &[CodecSpec], index: &dyn ChunkIndex) -> Error {
    let name = match &error {
        CodecError::Unknown { codec } | CodecError::Unsupported { codec, .. } => {
            let is_meant = |spec: &CodecSpec| names::label(spec) == *codec || spec.identifier() == *codec;
            let place = codecs.iter().position(is_meant);
            place.and_then(|place| index.codec_name(place))
        }
        _ => None,
    };
    match name {
        Some(name) => {
            let text = format!("{error}; it is called {name:?}");
            codec_error_as(error, text)
        }
        None => codec_error(error),
    }
}

/// Codec chains are kept for at most this many chunk shapes.
const BOUND_SHAPES: usize = 1024;
/// Rows are divided into blocks of about this many bytes.
const BLOCK_BYTES: u64 = 4 << 20;
/// A block spans at most this many bytes of the file.
const BLOCK_REACH: u64 = 64 << 20;

impl StridedRows {
    /// Logical offset of the first element of a chunk.
    pub(crate) fn origin(&self, cell: &[u64]) -> Result<u64> {
        let overflow = || Error::malformed("the variable reaches beyond 64 bits");
        let mut origin = self.base;
        for (axis, (at, stride)) in cell.iter().zip(&self.strides).enumerate() {
            let start = self.grid.span(axis, *at).map(|span| span.start).ok_or_else(overflow)?;
            let offset = start.checked_mul(*stride).ok_or_else(overflow)?;
            origin = origin.checked_add(offset).ok_or_else(overflow)?;
        }
        Ok(origin)
    }
}

/// Blocks that divide the work on rows: whole along the fast axes, then enough rows for a block of a good size.
fn block_grid(extent: &[u64], strides: &[u64], element: u64) -> ChunkGrid {
    let mut shape = vec![1; extent.len()];
    let mut bytes = element.max(1);
    for (axis, block) in shape.iter_mut().enumerate().rev() {
        let len = extent.get(axis).copied().unwrap_or(1).max(1);
        let by_reach = BLOCK_REACH / strides.get(axis).copied().unwrap_or(1).max(1);
        *block = (BLOCK_BYTES / bytes).min(by_reach).clamp(1, len);
        bytes = bytes.saturating_mul(*block);
        if *block < len {
            break;
        }
    }
    ChunkGrid::Regular(shape)
}

/// The stored fill value in the wrong byte order and in the right one; `None` if they are the same.
fn swapped(stored_fill: Option<&[u8]>) -> Option<(Vec<u8>, Vec<u8>)> {
    let right = stored_fill?.to_vec();
    let wrong: Vec<u8> = right.iter().rev().copied().collect();
    (wrong != right).then_some((wrong, right))
}
