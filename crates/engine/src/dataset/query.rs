//! Reading variables that a server sends boxes of.
//!
//! A selection becomes boxes of bounded size, and each box a request; several are in flight at once. A box that the
//! server refuses as too large is halved.
mod ahead;
mod explain;
mod fetch;
mod parts;
mod rows;
mod together;

pub(super) use rows::keep_arrived;
pub(super) use together::DeliveredBoxes;

use super::mosaic::assembly::{PartCoverage, ValueAssembly};
use super::mosaic::points::PointValues;
use crate::convert;
use crate::picked::Picked;
use crate::read::{VariableRead, pack_next};
use crate::resources::InFlight;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use ncirrus_layout::grid::SelectionPiece;
use ncirrus_layout::{Error, LockExt, QueryAxis, QueryBox, QuerySource, Result};
use ncirrus_model::{PointSelection, Region, Selection, Values};
use parts::{QueryPart, axis_of, regular};
use std::sync::{Arc, Mutex, PoisonError};

/// Boxes of more bytes are cut.
const BOX_BYTES: u64 = 16 << 20;
/// A box that is refused as too large is halved down to this many bytes.
const MIN_BYTES: u64 = 1 << 20;
/// What is fetched ahead, and kept, has at most this many bytes.
const AHEAD_BYTES: u64 = 4 << 20;
/// Requests in flight to one server.
const UNDER_WAY: usize = 4;
/// Bytes that an element of unknown length is taken for.
const ELEMENT: u64 = 64;
/// Elements of small size with strides are asked for densely if that is at most so many times the bytes.
const DENSER: u64 = 4;
/// Elements of at most this many bytes are small.
const SMALL: u64 = 8;

/// A read of a variable whose values a server sends.
pub(super) struct QueryRead<'a> {
    reading: &'a VariableRead<'a>,
    source: &'a Arc<dyn QuerySource>,
    variable: usize,
    /// Boxes that came together with those of other reads.
    delivered: Option<&'a DeliveredBoxes>,
}

impl<'a> QueryRead<'a> {
    pub(super) fn new(
        reading: &'a VariableRead<'a>,
        (source, variable): (&'a Arc<dyn QuerySource>, usize),
    ) -> Self {
        Self { reading, source, variable, delivered: None }
    }

    /// The same read, which takes what was delivered.
    pub(super) fn with(self, delivered: &'a DeliveredBoxes) -> Self {
        Self { delivered: Some(delivered), ..self }
    }

    /// The selected values.
    pub(super) async fn read(&self, selection: &Selection) -> Result<Values> {
        let count = Picked::Selection(selection).count()?;
        let (model, ty) = (self.reading.model, self.reading.bound.ty);
        let fill = &self.reading.bound.source.fill;
        let parts = self.parts(selection);
        let shape = (&selection.shape()[..], count);
        let mut assembly = ValueAssembly::new(model, ty, fill, shape, self.coverage(&parts, count))?;
        self.assemble(parts, &mut assembly).await?;
        assembly.finish()
    }

    /// The selected values, in the caller's memory.
    pub(super) async fn read_into(&self, selection: &Selection, out: &mut [u8]) -> Result<()> {
        let count = Picked::Selection(selection).count()?;
        self.reading.check_output(count, out)?;
        let fill = &self.reading.bound.source.fill;
        if fill.as_bytes().is_some_and(|fill| !fill.is_empty()) {
            let parts = self.parts(selection);
            let coverage = self.coverage(&parts, count);
            let mut assembly = ValueAssembly::over(fill, &selection.shape(), coverage, out);
            return self.assemble(parts, &mut assembly).await;
        }
        let mut rest = out;
        // All rows come in any case.
        let parts = match self.sequence() {
            Some(_) => vec![selection.clone()],
            None => self.reading.parts(selection)?,
        };
        for part in parts {
            let values = self.read(&part).await?;
            rest = pack_next(self.reading.model, self.reading.bound.ty, &values, rest)?;
        }
        Ok(())
    }

    /// The values of single elements: of the box that holds them all where that is small, else one by one.
    pub(super) async fn read_points(&self, points: &PointSelection) -> Result<Values> {
        let values = Mutex::new(PointValues::new(&self.reading.bound.source.fill, points.count()));
        let mut rest = vec![(0..points.count()).collect::<Vec<usize>>()];
        let mut boxes = Vec::new();
        while let Some(part) = rest.pop() {
            let Some(bounds) = super::mosaic::points::bounds(points, &part) else { continue };
            let elements = bounds.element_count().unwrap_or(u64::MAX);
            let is_dense = self.sequence().is_some()
                || elements.saturating_mul(self.element_len()) <= MIN_BYTES
                || elements <= (part.len() as u64).saturating_mul(DENSER);
            if is_dense || part.len() == 1 {
                boxes.push((part, bounds));
            } else {
                let (first, second) = part.split_at(part.len() / 2);
                // The first half is on top of the stack: boxes follow the order of the points.
                rest.extend([second.to_vec(), first.to_vec()]);
            }
        }
        let limits = InFlight::at_most(UNDER_WAY);
        let read = |(part, bounds): (Vec<usize>, Region)| -> Result<BoxFuture<'_, Result<_>>> {
            Ok(async move {
                let read = self.read(&Selection::slab(&bounds.start, &bounds.count)).boxed().await?;
                let places = part.iter().map(|point| place_in(&bounds, points, *point));
                let places = places.collect::<Option<Vec<usize>>>();
                let places = places.ok_or_else(|| Error::internal("a point outside of its box"))?;
                Ok((part, convert::take(&read, &places)?))
            }
            .boxed())
        };
        limits
            .for_each(boxes, read, |done: Result<(Vec<usize>, Values)>| {
                let (part, read) = done?;
                values.guard().put(&part, &read)
            })
            .await?;
        values.into_inner().unwrap_or_else(PoisonError::into_inner).finish()
    }

    /// Whether the parts of a selection of `count` elements, which are disjoint, are all of it. A part of an array is complete, or
    /// its read fails.
    fn coverage(&self, parts: &[QueryPart], count: usize) -> PartCoverage {
        let elements = parts.iter().map(|part| part.piece.count()).fold(0, u64::saturating_add);
        match elements == count as u64 && self.sequence().is_none() {
            true => PartCoverage::Whole,
            false => PartCoverage::Partial,
        }
    }

    async fn assemble(&self, parts: Vec<QueryPart>, assembly: &mut ValueAssembly<'_>) -> Result<()> {
        let assembly = Mutex::new(assembly);
        let limits = InFlight::at_most(UNDER_WAY);
        if self.sequence().is_some() {
            return self.assemble_rows(parts, &assembly).await;
        }
        if let [only] = parts.as_slice() {
            self.read_ahead(&only.requested).await;
        }
        let fetch = |part: QueryPart| Ok(self.fetch_part(part, &assembly));
        limits.for_each(parts, fetch, |done: Result<()>| done).await
    }

    /// The pieces of a selection whose elements are at equal distances along each axis.
    fn pieces(&self, selection: &Selection) -> Vec<SelectionPiece> {
        let extent = &self.reading.bound.source.extent;
        SelectionPiece::of(selection).within(&Region::all(extent)).map(regular).unwrap_or_default()
    }

    /// The parts of a selection that are asked for one by one: pieces of bounded size.
    fn parts(&self, selection: &Selection) -> Vec<QueryPart> {
        let mut parts = Vec::new();
        let mut rest = self.pieces(selection);
        rest.reverse();
        while let Some(piece) = rest.pop() {
            let Some(part) = self.part(piece.clone()) else { continue };
            let is_large = part.requested.count().saturating_mul(self.element_len()) > BOX_BYTES;
            match piece.halves().filter(|_| is_large && self.sequence().is_none()) {
                Some((first, second)) => rest.extend([second, first]),
                None => parts.push(part),
            }
        }
        parts
    }

    /// The box to ask for: what is between small elements comes with them if that is not much more.
    fn part(&self, piece: SelectionPiece) -> Option<QueryPart> {
        let axes: Vec<QueryAxis> = piece.axes.iter().map(axis_of).collect::<Option<_>>()?;
        let mut requested = QueryBox { variable: self.variable, axes };
        if self.element_len() <= SMALL {
            let dense = |axis: &QueryAxis| {
                let last = axis.last().unwrap_or(axis.start);
                QueryAxis { start: axis.start, count: last - axis.start + 1, stride: 1 }
            };
            let whole =
                QueryBox { variable: self.variable, axes: requested.axes.iter().map(dense).collect() };
            if whole.count() <= requested.count().saturating_mul(DENSER) {
                requested = whole;
            }
        }
        Some(QueryPart { piece, requested })
    }

    fn element_len(&self) -> u64 {
        self.source.element_len(self.variable).unwrap_or(ELEMENT).max(1)
    }
}

/// Requests that a plan lists.
const EXAMPLES: usize = 16;

/// The number of a point's element in a box.
fn place_in(bounds: &Region, points: &PointSelection, point: usize) -> Option<usize> {
    let mut place = 0_u64;
    for (axis, (start, count)) in bounds.start.iter().zip(&bounds.count).enumerate() {
        let index = points.index(axis, point).checked_sub(*start)?;
        place = place.checked_mul(*count)?.checked_add(index)?;
    }
    usize::try_from(place).ok()
}
