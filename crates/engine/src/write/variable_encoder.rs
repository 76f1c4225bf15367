//! Encoding chunks without the dataset that they are for: in another process, or with a read-only handle.
mod text;

use super::DatasetWriter;
use super::cells::ChunkSelection;
use super::encoded::EncodedChunk;
use super::encoder::WholeChunk;
use super::rows::{NativeBytes, WriteData};
use super::target::WriteTarget;
use crate::convert::{self, RowCopier};
use crate::dataset::Dataset;
use crate::drive::ReadDepth;
use crate::resources::SharedResources;
use crate::session::Session;
use ncirrus_layout::grid::{ChunkIntersections, ElementWalk};
use ncirrus_layout::{Encoding, Error, Layout, Result};
use ncirrus_model::{CodecSpace, Model, Region, Selection, TypeRef, Values, VarId};
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

/// Turns elements into stored chunks of a variable, without its dataset. It can be passed on as text.
pub struct VariableEncoder {
    shared: Arc<SharedResources>,
    /// The model that defines the variable's type.
    model: Arc<Model>,
    target: Arc<WriteTarget>,
    /// The shape of the array.
    shape: Vec<u64>,
    /// Whether the format can record that codecs were skipped.
    takes_masks: bool,
}

impl DatasetWriter {
    /// The encoder of a variable in its present shape.
    ///
    /// # Errors
    /// `Unsupported` for elements without a fixed size; errors of the format.
    pub async fn encoder(&self, var: VarId) -> Result<VariableEncoder> {
        let target = self.target_of(var).await?;
        let model = self.model();
        let takes_masks = self.abilities().codecs == Some(CodecSpace::Hdf5);
        VariableEncoder::new(&self.session, model, target, takes_masks)
    }

    /// The value of a variable's elements that are never written: a single value.
    ///
    /// # Errors
    /// Errors of the format.
    pub async fn unwritten_value(&self, var: VarId) -> Result<Values> {
        Ok(self.target_of(var).await?.encoding.fill.clone())
    }
}

impl Dataset {
    /// The encoder of a variable in its present shape.
    ///
    /// # Errors
    /// `Unsupported` for elements without a fixed size, and for variables that are not chunked; the reason why the
    /// variable is inaccessible.
    pub async fn encoder(&self, var: VarId) -> Result<VariableEncoder> {
        let path = self.definitions().variable_path(var);
        let bound = self.bound(var, &ReadDepth::default()).await?;
        let source = &bound.source;
        let Layout::Grid { grid, edge, codecs, .. } = &source.layout else {
            let message = "the elements are not in chunks that could be encoded";
            return Err(Error::unsupported(message).at_path(path));
        };
        let encoding = Encoding {
            grid: grid.clone(),
            edge: *edge,
            stored: source.stored.clone(),
            codecs: Arc::clone(codecs),
            fill: source.fill.clone(),
        };
        let session = self.session();
        let (registry, limits) = (session.registry(), session.limits());
        let target = WriteTarget::new(self.definitions(), var, Arc::new(encoding), registry, limits)?;
        let takes_masks = codecs.iter().any(|codec| codec.space() == CodecSpace::Hdf5);
        VariableEncoder::new(session, self.model(), Arc::new(target), takes_masks)
    }
}

impl VariableEncoder {
    fn new(
        session: &Session,
        model: Arc<Model>,
        target: Arc<WriteTarget>,
        takes_masks: bool,
    ) -> Result<Self> {
        let has_copier = target.packed.as_ref().is_some_and(RowCopier::is_reversible);
        if target.element.is_none() || !has_copier {
            let message = "chunks of this type are encoded by the dataset alone";
            return Err(Error::unsupported(message).at_path(target.path.clone()));
        }
        let (shared, shape) = (Arc::clone(&session.shared), model.shape(target.var));
        Ok(Self { shared, model, target, shape, takes_masks })
    }

    /// The path of the variable.
    pub fn path(&self) -> &str {
        &self.target.path
    }

    /// The type of the elements, and the model that defines it, which need not contain other variables.
    pub fn element_type(&self) -> (&Model, TypeRef) {
        (&self.model, self.target.ty)
    }

    /// The value of elements that are never written: a single value.
    pub fn fill(&self) -> &Values {
        &self.target.encoding.fill
    }

    /// The shape of the array whose chunks it encodes.
    pub fn shape(&self) -> &[u64] {
        &self.shape
    }

    /// The shape of a chunk, not clipped; `None` if the grid has no chunks.
    pub fn chunk_shape(&self) -> Option<Vec<u64>> {
        let grid = &self.target.encoding.grid;
        grid.cell_shape(&vec![0; grid.rank()])
    }

    /// The elements of a chunk in the array: its first element and its shape, clipped at the array's end.
    ///
    /// # Errors
    /// `Invalid` if there is no such chunk.
    pub fn region(&self, cell: &[u64]) -> Result<Region> {
        let grid = &self.target.encoding.grid;
        let region = grid.clipped_region(cell, &self.shape).filter(|_| cell.len() == grid.rank());
        region.ok_or_else(|| self.target.located(Error::invalid("there is no such chunk"), cell))
    }

    /// The chunks that a box of the array consists of.
    ///
    /// # Errors
    /// `Invalid` if the box is not inside the array, or contains only a part of a chunk, which is named.
    pub fn whole_chunks(&self, region: &Region) -> Result<Vec<Vec<u64>>> {
        let located = |error: Error| error.at_path(self.target.path.clone());
        let selection = Selection::from(region.clone());
        selection.check(&self.shape).map_err(|error| located(error.into()))?;
        let mut cuts = ChunkIntersections::new(&selection, &self.target.encoding.grid, &self.shape);
        let mut cells = Vec::new();
        while let Some(piece) = cuts.next_piece() {
            let cell: Option<Vec<u64>> = piece.iter().map(|slab| slab.cell).collect();
            let cell = cell.ok_or_else(|| located(Error::invalid("elements outside of all chunks")))?;
            let whole = self.region(&cell)?;
            if whole.intersect(region).as_ref() != Some(&whole) && whole.rank() > 0 {
                let message = "the box has a part of the chunk only, where whole chunks are written";
                return Err(self.target.located(Error::invalid(message), &cell));
            }
            cells.push(cell);
        }
        Ok(cells)
    }

    /// The elements of a chunk out of those of a box that contains it, both in the form that [`encode`](Self::encode) takes.
    /// They are borrowed if they are contiguous in the box.
    ///
    /// # Errors
    /// `Invalid` if the bytes do not match the box, or the chunk is not inside it.
    pub fn cut<'a>(&self, region: &Region, native: &'a [u8], cell: &[u64]) -> Result<Cow<'a, [u8]>> {
        let element = convert::packed_len(&self.model, self.target.ty)?;
        let whole = self.region(cell)?;
        let located = |message: String| self.target.located(Error::invalid(message), cell);
        let len = region.element_count().and_then(|count| usize::try_from(count).ok());
        if len.and_then(|len| len.checked_mul(element)) != Some(native.len()) {
            return Err(located(format!("{} bytes for a box of {:?} elements", native.len(), region.count)));
        }
        let start: Option<Vec<u64>> =
            whole.start.iter().zip(&region.start).map(|(at, first)| at.checked_sub(*first)).collect();
        let is_inside = region.rank() == 0 || whole.intersect(region).as_ref() == Some(&whole);
        let start = start.filter(|_| is_inside);
        let start = start.ok_or_else(|| located("the chunk is not inside of the box".to_owned()))?;
        let walk = ElementWalk::of_box(&region.count, &start, &whole.count);
        let walk = walk.ok_or_else(|| located("the box does not fit this machine".to_owned()))?;
        Ok(picked(&walk, element, native))
    }

    /// Encodes a chunk from its elements that are inside the array: of the variable's type in the machine's byte order,
    /// row-major, the fields of compounds contiguous, without padding.
    ///
    /// # Errors
    /// `Invalid` if there is no such chunk, or the memory has another size; errors of codecs.
    pub fn encode(&self, cell: &[u64], native: &[u8]) -> Result<EncodedChunk> {
        let located = |error: Error| self.target.located(error, cell);
        let region = self.region(cell)?;
        let element = convert::packed_len(&self.model, self.target.ty).map_err(located)?;
        let count = region.element_count().and_then(|count| usize::try_from(count).ok());
        if count.and_then(|count| count.checked_mul(element)) != Some(native.len()) {
            let message = format!(
                "{} bytes for a chunk of {:?} elements of {element} bytes",
                native.len(),
                region.count
            );
            return Err(located(Error::invalid(message)));
        }
        let encoded = self.shared.workers.with(|worker| {
            let data = WriteData::packed(&self.model, &self.target, NativeBytes::Lent(native))?;
            let fixed = vec![false; self.shape.len()];
            let touched =
                ChunkSelection::new(&region.into(), &self.target.encoding.grid, &self.shape, &fixed)?;
            let part = touched.parts().next().ok_or_else(|| Error::internal("a chunk without elements"))?;
            let shape = self.target.cell_shape(cell)?;
            let chunk = WholeChunk {
                target: &self.target,
                array: &self.shape,
                cell,
                shape: &shape,
                element: self.target.element.unwrap_or(0),
                skips: self.takes_masks,
            };
            let (body, mask) = chunk.body_of_values(&data, &touched, &part, worker)?;
            Ok((body.into_bytes(), mask))
        });
        let (body, mask) = encoded.map_err(located)?;
        Ok(EncodedChunk { cell: cell.to_vec(), body, mask })
    }
}

/// The elements of a box's part, row-major.
fn picked<'a>(walk: &ElementWalk, element: usize, native: &'a [u8]) -> Cow<'a, [u8]> {
    let span = |first: usize, count: usize| first * element..(first + count) * element;
    if walk.is_contiguous() {
        return Cow::Borrowed(&native[span(walk.source_span().start, walk.count())]);
    }
    let mut bytes = vec![0; walk.count().saturating_mul(element)];
    walk.for_each_run(|run| {
        if run.source_step == 1 && run.target_step == 1 {
            bytes[span(run.target, run.count)].copy_from_slice(&native[span(run.source, run.count)]);
            return;
        }
        for at in 0..run.count {
            let (from, to) = (run.source + at * run.source_step, run.target + at * run.target_step);
            bytes[span(to, 1)].copy_from_slice(&native[span(from, 1)]);
        }
    });
    Cow::Owned(bytes)
}

impl fmt::Debug for VariableEncoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "VariableEncoder({} of shape {:?})", self.target.path, self.shape)
    }
}
