//! A variable as it is written: its encoding bound to codecs and conversions.
mod encode;

pub(super) use encode::EncodingSubject;

use super::cells::to_index;
use super::codec_needs::CodecNeeds;
use super::contents::DirtyContents;
use crate::convert::{self, RowCopier};
use crate::decode::element_of;
use crate::filling::fill_elements;
use ncirrus_codec::{ChunkInfo, CodecChain, CodecError, CodecRegistry, CodecScratch, names};
use ncirrus_layout::{ChunkGrid, EdgeChunks, Encoding, Error, Limits, Result, Sharding, StoredType};
use ncirrus_model::{CodecSpec, Model, Region, TypeRef, Values, VarId};
use std::borrow::Cow;
use std::sync::Arc;

/// A variable as it is written.
#[derive(Debug)]
pub(super) struct WriteTarget {
    /// The variable.
    pub(super) var: VarId,
    /// Its path, for messages.
    pub(super) path: String,
    /// Its type.
    pub(super) ty: TypeRef,
    /// How its elements are chunked and stored.
    pub(super) encoding: Arc<Encoding>,
    /// Which axes may grow.
    pub(super) growing: Vec<bool>,
    /// Bytes of a stored element; `None` if elements are cached as values.
    pub(super) element: Option<usize>,
    /// For elements that are one number each.
    pub(super) copier: Option<RowCopier>,
    /// For elements in the caller's memory, which may be compounds; need not be reversible.
    pub(super) packed: Option<RowCopier>,
    /// The codecs, with the parameters that depend on the variable.
    codecs: Vec<CodecSpec>,
    /// The bound codecs, if all chunks have one shape.
    chain: Option<CodecChain>,
    registry: CodecRegistry,
    /// One stored element of fill.
    fill: Vec<u8>,
    /// Codecs that need special treatment.
    pub(super) care: CodecNeeds,
    /// How the chunks share objects.
    pub(super) sharding: Option<Arc<dyn Sharding>>,
}

impl WriteTarget {
    /// Binds the encoding of a variable.
    ///
    /// # Errors
    /// `Unsupported` naming the codec that is missing, `Invalid` if the fill value cannot be represented in the stored
    /// type.
    pub(super) fn new(
        model: &Model,
        var: VarId,
        encoding: Arc<Encoding>,
        registry: &CodecRegistry,
        limits: &Limits,
    ) -> Result<Self> {
        let variable = model.variable(var).ok_or_else(|| Error::not_found("no such variable"))?;
        let path = model.variable_path(var);
        let located = |error: Error| error.at_path(path.clone());
        let element = match &encoding.stored {
            StoredType::Reference { .. } => None,
            stored => stored.byte_len().map(to_index).transpose()?,
        };
        let fill = match element {
            Some(_) => convert::encode(model, variable.ty, &encoding.stored, &encoding.fill, 0..1),
            None => Ok(Vec::new()),
        };
        let mut target = Self {
            var,
            ty: variable.ty,
            growing: model.growing(var),
            element,
            copier: RowCopier::new(model, variable.ty, &encoding.stored).filter(RowCopier::is_reversible),
            packed: RowCopier::packed(model, variable.ty, &encoding.stored),
            chain: None,
            registry: registry.clone(),
            fill: fill.map_err(located)?,
            path: path.clone(),
            // netcdf-c codes szip by the lines of the variable (docs/spec/nczarr.md 11.5), and reads it in the same
            // way.
            codecs: names::with_shape(&encoding.codecs, &model.shape(var)),
            care: CodecNeeds::new(&encoding),
            sharding: None,
            encoding,
        };
        if let ChunkGrid::Regular(shape) = &target.encoding.grid {
            let bytes =
                shape.iter().try_fold(element.unwrap_or(1) as u64, |product, len| product.checked_mul(*len));
            limits.chunk_len(bytes.unwrap_or(u64::MAX), "a chunk").map_err(located)?;
            target.chain = Some(target.bind(shape).map_err(located)?);
        }
        Ok(target)
    }

    /// Checks, before the array becomes as large as `extent`, that the chunks that are added to a grid of chunks of different
    /// lengths are not too large: once the dimension is longer, that cannot be taken back.
    ///
    /// # Errors
    /// `Limit` if they are.
    pub(super) fn check_reach(&self, extent: &[u64], limits: &Limits) -> Result<()> {
        let located = |error: Error| error.at_path(self.path.clone());
        let Some(ChunkGrid::Rectilinear(axes)) = self.encoding.grid.reaching(extent).map_err(located)? else {
            return Ok(());
        };
        let mut bytes = Some(self.element.unwrap_or(1) as u64);
        for ends in &axes {
            let starts = std::iter::once(0).chain(ends.iter().copied());
            let longest = ends.iter().zip(starts).map(|(end, start)| end.saturating_sub(start)).max();
            bytes = bytes.and_then(|bytes| bytes.checked_mul(longest.unwrap_or(1)));
        }
        limits.chunk_len(bytes.unwrap_or(u64::MAX), "a chunk").map(|_| ()).map_err(located)
    }

    fn bind(&self, shape: &[u64]) -> Result<CodecChain> {
        let chunk = ChunkInfo { shape: shape.to_vec(), element: element_of(&self.encoding.stored) };
        self.registry.bind(&self.codecs, &chunk).map_err(codec_error)
    }

    /// The codecs for a chunk of that shape.
    pub(super) fn chain(&self, shape: &[usize]) -> Result<CodecChain> {
        match &self.chain {
            Some(chain) => Ok(chain.clone()),
            None => self.bind(&shape.iter().map(|len| *len as u64).collect::<Vec<_>>()),
        }
    }

    /// The shape of a chunk, not clipped.
    ///
    /// # Errors
    /// `Invalid` if there is no such chunk, `Limit` if it is too large.
    pub(super) fn cell_shape(&self, cell: &[u64]) -> Result<Vec<usize>> {
        let shape = self.encoding.grid.cell_shape(cell);
        let shape = shape.ok_or_else(|| self.located(Error::invalid("there is no such chunk"), cell))?;
        shape.into_iter().map(to_index).collect()
    }

    /// The shape of all shards, given that of their chunks; `None` if chunks do not share objects, or shards differ in size.
    pub(super) fn shard_shape(&self, chunk: &[u64]) -> Option<Vec<u64>> {
        let per_shard = self.sharding.as_ref()?.per_shard()?;
        Some(chunk.iter().zip(per_shard).map(|(len, count)| len.saturating_mul(*count)).collect())
    }

    /// The lengths of the stored part of a chunk of an array of that shape.
    pub(super) fn stored_shape(&self, cell: &[u64], array: &[u64]) -> Result<Vec<usize>> {
        match self.encoding.edge {
            EdgeChunks::Full => self.cell_shape(cell),
            EdgeChunks::Clipped => {
                let region = self.encoding.grid.clipped_region(cell, array);
                let region = region.unwrap_or(Region { start: Vec::new(), count: vec![0; cell.len()] });
                region.count.into_iter().map(to_index).collect()
            }
        }
    }

    /// How many elements of a chunk can be put: those of the array, which may still grow.
    pub(super) fn elements_to_put(&self, cell: &[u64], array: &[u64]) -> u64 {
        let axes = cell.iter().zip(array).zip(&self.growing).enumerate();
        let len = |(axis, ((cell, end), grows)): (usize, ((&u64, &u64), &bool))| {
            let span = self.encoding.grid.span(axis, *cell)?;
            let end = if *grows { span.end } else { span.end.min(*end) };
            Some(end.saturating_sub(span.start))
        };
        axes.map(len).try_fold(1u64, |product, len| product.checked_mul(len?)).unwrap_or(u64::MAX)
    }

    /// Bytes that a chunk takes in memory, approximate for elements without a fixed size.
    pub(super) fn cell_cost(&self, cell: &[u64]) -> usize {
        let elements = self.cell_shape(cell).map_or(0, |shape| shape.iter().product::<usize>());
        elements.saturating_mul(self.element.unwrap_or(64)).max(1)
    }

    /// A chunk of nothing but fill.
    pub(super) fn blank(&self, shape: &[usize]) -> Result<DirtyContents> {
        let count: usize = shape.iter().product();
        Ok(match self.element {
            Some(element) => {
                let mut bytes = vec![0; element.saturating_mul(count)];
                self.fill_bytes(&mut bytes);
                DirtyContents::Bytes(bytes)
            }
            None => DirtyContents::Values(self.encoding.fill.repeat(count)),
        })
    }

    /// Writes fill into zeroed bytes of elements.
    pub(super) fn fill_bytes(&self, bytes: &mut [u8]) {
        if self.fill.iter().any(|byte| *byte != 0) {
            fill_elements(bytes, &self.fill);
        }
    }

    /// Whether the bytes of the chunk are its elements as stored, without codecs.
    pub(super) fn is_raw(&self) -> bool {
        self.chain.as_ref().is_some_and(CodecChain::is_identity)
    }

    /// Decodes a stored chunk of an array of that shape into the elements of the whole chunk.
    ///
    /// # Errors
    /// `Malformed` if it is damaged or too short.
    pub(super) fn decode(
        &self,
        model: &Model,
        cell: &[u64],
        array: &[u64],
        (raw, mask): (&[u8], u32),
        limits: &Limits,
        scratch: &mut CodecScratch,
    ) -> Result<DirtyContents> {
        let shape = self.cell_shape(cell)?;
        let count: usize = shape.iter().product();
        let chain = self.chain(&shape)?;
        let Some(element) = self.element else {
            let limit = to_index(limits.chunk_bytes)?;
            let raw = chain.decode(raw, mask, limit, scratch).map_err(codec_error)?;
            let values = convert::decode(model, self.ty, &self.encoding.stored, &raw, count)?;
            return Ok(DirtyContents::Values(values));
        };
        let stored = self.stored_shape(cell, array)?;
        if stored == shape {
            let mut bytes = vec![0; element.saturating_mul(count)];
            match chain.decode_into(raw, mask, &mut bytes, scratch) {
                Ok(0) => return Ok(DirtyContents::Bytes(bytes)),
                Ok(surplus) => {
                    let (want, have) = (bytes.len(), bytes.len().saturating_add(surplus));
                    return Err(codec_error(CodecError::Long { have, want }));
                }
                // A chunk that was clipped when the array was shorter has fewer rows.
                Err(CodecError::Short { .. }) if self.encoding.edge == EdgeChunks::Clipped => {}
                Err(error) => return Err(codec_error(error)),
            }
        }
        let bytes = chain.decode(raw, mask, to_index(limits.chunk_bytes)?, scratch).map_err(codec_error)?;
        self.unclip(&shape, stored, &bytes, element)
    }

    /// The references in a stored chunk.
    ///
    /// # Errors
    /// `Malformed` if it is damaged.
    pub(super) fn decode_references(
        &self,
        cell: &[u64],
        (raw, mask): (&[u8], u32),
        limits: &Limits,
    ) -> Result<Vec<u8>> {
        let chain = self.chain(&self.cell_shape(cell)?)?;
        let limit = to_index(limits.chunk_bytes)?;
        let decoded = chain.decode(raw, mask, limit, &mut CodecScratch::default());
        decoded.map_err(codec_error)
    }

    /// The values of a whole chunk, extended from those that are stored of it.
    pub(super) fn unclip_values(&self, cell: &[u64], stored: &[usize], mut values: Values) -> Result<Values> {
        let shape = self.cell_shape(cell)?;
        if shape == stored {
            return Ok(values);
        }
        let fill = values.len();
        values.extend_from(&self.encoding.fill, 0..1);
        let mut indices = vec![fill; shape.iter().product()];
        for_each_row(&shape, stored, |inside, packed, len| {
            indices.iter_mut().skip(inside).zip(packed..packed + len).for_each(|(slot, at)| *slot = at);
        });
        convert::take(&values, &indices)
    }

    /// The whole chunk, extended from its stored part, which may have fewer rows than the array has now.
    fn unclip(
        &self,
        shape: &[usize],
        mut stored: Vec<usize>,
        bytes: &[u8],
        element: usize,
    ) -> Result<DirtyContents> {
        let DirtyContents::Bytes(mut whole) = self.blank(shape)? else {
            return Err(Error::internal("elements of fixed size"));
        };
        // A scalar has no rows: `stored` stays empty.
        let row = stored.iter().skip(1).product::<usize>() * element;
        if let Some(rows) = stored.first_mut() {
            *rows = (*rows).min(bytes.len().checked_div(row).unwrap_or(0));
        }
        for_each_row(shape, &stored, |inside, packed, len| {
            let from = bytes.get(packed * element..(packed + len) * element);
            if let (Some(from), Some(to)) = (from, whole.get_mut(inside * element..(inside + len) * element))
            {
                to.copy_from_slice(from);
            }
        });
        Ok(DirtyContents::Bytes(whole))
    }

    /// The elements of the whole chunk, of `element` bytes each, clipped to its stored part.
    pub(super) fn clip_bytes(bytes: &[u8], shape: &[usize], stored: &[usize], element: usize) -> Vec<u8> {
        let mut packed = Vec::with_capacity(stored.iter().product::<usize>() * element);
        for_each_row(shape, stored, |inside, _, len| {
            packed.extend_from_slice(&bytes[inside * element..(inside + len) * element]);
        });
        packed
    }

    /// The values of the whole chunk, clipped to its stored part.
    pub(super) fn clip_values<'a>(
        values: &'a Values,
        shape: &[usize],
        stored: &[usize],
    ) -> Result<Cow<'a, Values>> {
        if shape == stored {
            return Ok(Cow::Borrowed(values));
        }
        let mut indices = Vec::with_capacity(stored.iter().product());
        for_each_row(shape, stored, |inside, _, len| indices.extend(inside..inside + len));
        convert::take(values, &indices).map(Cow::Owned)
    }

    /// Adds the place to an error.
    pub(super) fn located(&self, error: Error, cell: &[u64]) -> Error {
        error.at_path(self.path.clone()).at_chunk(cell)
    }

    /// Checks that the values have the variable's type.
    pub(super) fn check(&self, model: &Model, values: &Values) -> Result<()> {
        if convert::matches(model, self.ty, values) {
            return Ok(());
        }
        Err(Error::invalid("the values do not have the variable's type").at_path(self.path.clone()))
    }
}

/// Calls `each` with the rows of the box `stored` at the start of a chunk of shape `shape`: first element in the chunk,
/// first element in the box, length.
fn for_each_row(shape: &[usize], stored: &[usize], mut each: impl FnMut(usize, usize, usize)) {
    let Some((&len, outer)) = stored.split_last() else { return each(0, 0, 1) };
    let rows: usize = outer.iter().product();
    if len == 0 {
        return;
    }
    for row in 0..rows {
        let (mut inside, mut stride, mut rest) = (0, shape.last().copied().unwrap_or(1), row);
        for (count, cell_len) in outer.iter().zip(shape).rev() {
            inside += rest % count * stride;
            rest /= count;
            stride *= cell_len;
        }
        each(inside, row * len, len);
    }
}

/// An error of a codec as an error of the engine.
pub(super) fn codec_error(error: CodecError) -> Error {
    crate::decode::codec_error(error)
}
