//! Reading variables that a server sends boxes of.
//!
//! A selection becomes boxes of bounded size, and each box a request; several are in flight at once. A box that the
//! server refuses as too large is halved.
use super::mosaic::assembly::ValueAssembly;
use super::mosaic::points::PointValues;
use crate::convert;
use crate::picked::Picked;
use crate::plan::{PlannedRequest, ReadPlan};
use crate::read::{VariableRead, pack_next};
use crate::resources::InFlight;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use ncirrus_layout::grid::{PieceAxis, SelectionPiece};
use ncirrus_layout::{
    Error, LockExt, ObjectBytes, ObjectId, Query, QueryAxis, QueryBox, QuerySource, Result, Want,
};
use ncirrus_model::{PointSelection, Region, Selection, Values};
use std::sync::{Arc, Mutex, PoisonError};

/// Boxes of more bytes are cut.
const BOX_BYTES: u64 = 16 << 20;
/// A box that is refused as too large is halved down to this many bytes.
const LEAST_BYTES: u64 = 1 << 20;
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
}

/// A part of a selection, and the box that is asked for.
#[derive(Debug, Clone)]
struct QueryPart {
    piece: SelectionPiece,
    asked: QueryBox,
}

/// A part and its values: at these distances along its axes.
struct ArrivedPart {
    piece: SelectionPiece,
    strides: Vec<u64>,
    values: Values,
}

impl<'a> QueryRead<'a> {
    pub(super) fn new(
        reading: &'a VariableRead<'a>,
        (source, variable): (&'a Arc<dyn QuerySource>, usize),
    ) -> Self {
        Self { reading, source, variable }
    }

    /// The selected values.
    pub(super) async fn read(&self, selection: &Selection) -> Result<Values> {
        let count = Picked::Selection(selection).count()?;
        let (model, ty) = (self.reading.model, self.reading.bound.ty);
        let fill = &self.reading.bound.source.fill;
        let mut assembly = ValueAssembly::new(model, ty, fill, &selection.shape(), count)?;
        self.assemble(selection, &mut assembly).await?;
        assembly.finish()
    }

    /// The selected values, in the caller's memory.
    pub(super) async fn read_into(&self, selection: &Selection, out: &mut [u8]) -> Result<()> {
        self.reading.check_output(Picked::Selection(selection).count()?, out)?;
        let fill = &self.reading.bound.source.fill;
        if fill.as_bytes().is_some_and(|fill| !fill.is_empty()) {
            let mut assembly = ValueAssembly::over(fill, &selection.shape(), out);
            return self.assemble(selection, &mut assembly).await;
        }
        let mut rest = out;
        for part in self.reading.parts(selection)? {
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
            let is_dense = elements.saturating_mul(self.element_len()) <= LEAST_BYTES
                || elements <= (part.len() as u64).saturating_mul(DENSER);
            if is_dense || part.len() == 1 {
                boxes.push((part, bounds));
            } else {
                let (first, second) = part.split_at(part.len() / 2);
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

    /// What reading the selection would request.
    pub(super) fn plan(&self, selection: &Selection) -> Result<ReadPlan> {
        let element = self.reading.model.packed_len(self.reading.bound.ty);
        let count = selection.element_count().unwrap_or(u64::MAX);
        let mut plan = ReadPlan {
            shape: selection.shape(),
            result_bytes: element.map(|len| len.saturating_mul(count)),
            layout: "boxes that the server computes".to_owned(),
            ..ReadPlan::default()
        };
        for part in self.parts(selection) {
            for query in self.source.plan(std::slice::from_ref(&part.asked))? {
                plan.requests += 1;
                plan.bytes = plan.bytes.saturating_add(query.bytes);
                plan.references |= !query.is_exact;
                if plan.examples.len() < EXAMPLES {
                    plan.examples.push(PlannedRequest { object: query.object, range: None });
                }
            }
            let needed = part.piece.count().saturating_mul(self.element_len());
            plan.needed_bytes = plan.needed_bytes.saturating_add(needed);
        }
        plan.decoded_bytes = plan.bytes;
        (plan.chunks, plan.counted) = (Some(plan.requests), plan.requests);
        Ok(plan)
    }

    async fn assemble(&self, selection: &Selection, assembly: &mut ValueAssembly<'_>) -> Result<()> {
        let assembly = Mutex::new(assembly);
        let limits = InFlight::at_most(UNDER_WAY);
        let parts = self.parts(selection);
        if let [only] = parts.as_slice() {
            self.read_ahead(&only.asked).await;
        }
        let fetch = |part: QueryPart| Ok(self.fetch_part(part));
        limits
            .for_each(parts, fetch, |arrived: Result<Vec<ArrivedPart>>| {
                for ArrivedPart { piece, strides, values } in arrived? {
                    assembly.guard().put_strided(&piece, &strides, values)?;
                }
                Ok(())
            })
            .await
    }

    /// The parts of a selection that are asked for one by one: along each axis elements at equal distances.
    fn parts(&self, selection: &Selection) -> Vec<QueryPart> {
        let extent = &self.reading.bound.source.extent;
        let Some(piece) = SelectionPiece::of(selection).within(&Region::all(extent)) else {
            return Vec::new();
        };
        let mut parts = Vec::new();
        let mut rest = regular(piece);
        rest.reverse();
        while let Some(piece) = rest.pop() {
            let Some(part) = self.part(piece.clone()) else { continue };
            let is_large = part.asked.count().saturating_mul(self.element_len()) > BOX_BYTES;
            match piece.halves().filter(|_| is_large) {
                Some((first, second)) => rest.extend([second, first]),
                None => parts.push(part),
            }
        }
        parts
    }

    /// The box to ask for: what is between small elements comes with them if that is not much more.
    fn part(&self, piece: SelectionPiece) -> Option<QueryPart> {
        let axes: Vec<QueryAxis> = piece.axes.iter().map(axis_of).collect::<Option<_>>()?;
        let mut asked = QueryBox { variable: self.variable, axes };
        if self.element_len() <= SMALL {
            let dense = |axis: &QueryAxis| {
                let last = axis.last().unwrap_or(axis.start);
                QueryAxis { start: axis.start, count: last - axis.start + 1, stride: 1 }
            };
            let whole = QueryBox { variable: self.variable, axes: asked.axes.iter().map(dense).collect() };
            if whole.count() <= asked.count().saturating_mul(DENSER) {
                asked = whole;
            }
        }
        Some(QueryPart { piece, asked })
    }

    fn element_len(&self) -> u64 {
        self.source.element_len(self.variable).unwrap_or(ELEMENT).max(1)
    }

    /// Fetches and decodes a part; one that the server refuses as too large in halves, one after the other.
    fn fetch_part(&self, part: QueryPart) -> BoxFuture<'_, Result<Vec<ArrivedPart>>> {
        async move {
            if let Some(values) = self.cached(&part.asked)? {
                return Ok(vec![part.arrived(values)?]);
            }
            let fetched = match self.fetch_box(&part.asked).await {
                Err(error) if self.source.adapts(&error) => self.fetch_box(&part.asked).await,
                fetched => fetched,
            };
            let error = match fetched {
                Ok(values) => {
                    self.keep(&part.asked, &values);
                    return Ok(vec![part.arrived(values)?]);
                }
                Err(error) => error,
            };
            let bytes = part.asked.count().saturating_mul(self.element_len());
            let halves = part.piece.halves().filter(|_| bytes > LEAST_BYTES);
            let Some((first, second)) = halves.filter(|_| self.source.is_too_large(&error)) else {
                return Err(error);
            };
            let mut arrived = Vec::new();
            for piece in [first, second] {
                let half = self.part(piece).ok_or_else(|| Error::internal("a part without a box"))?;
                arrived.extend(self.fetch_part(half).await?);
            }
            Ok(arrived)
        }
        .boxed()
    }

    /// Fetches more than is read, where that saves requests: variables that are usually read together, and the whole of
    /// one that is read box after box. What fails is asked for again by itself, which tells the error.
    async fn read_ahead(&self, asked: &QueryBox) {
        let (cache, opening) = (&self.reading.context.shared.boxes, self.reading.opening);
        if self.is_near() || cache.find(opening, asked).is_some() {
            return;
        }
        let is_next = cache.note(opening, asked);
        let whole = self.whole();
        let bytes = whole.count().saturating_mul(self.element_len());
        let companions = self.source.companions(self.variable);
        if companions.len() > 1 && cache.is_first_batch(opening) {
            _ = self.fetch_all(&companions).await;
        } else if is_next && whole != *asked && bytes <= AHEAD_BYTES {
            _ = self.fetch_all(&[whole]).await;
        }
    }

    /// Fetches whole variables and keeps them.
    async fn fetch_all(&self, boxes: &[QueryBox]) -> Result<()> {
        for query in self.source.plan(boxes)? {
            let asked: Vec<QueryBox> = query.boxes.iter().filter_map(|at| boxes.get(*at)).cloned().collect();
            let answer = self.fetch(&query).await?;
            let decoded = self.source.decode(&asked, &answer.bytes, &self.reading.context.shared.limits)?;
            for (asked, values) in asked.iter().zip(&decoded) {
                if values.len() as u64 == asked.count() {
                    self.keep(asked, values);
                }
            }
        }
        Ok(())
    }

    /// All of the variable.
    fn whole(&self) -> QueryBox {
        let axis = |len: &u64| QueryAxis { start: 0, count: *len, stride: 1 };
        QueryBox {
            variable: self.variable,
            axes: self.reading.bound.source.extent.iter().map(axis).collect(),
        }
    }

    /// Whether answers are files, which are read again for nothing.
    fn is_near(&self) -> bool {
        self.reading.context.snapshot.store().local().is_some()
    }

    fn keep(&self, asked: &QueryBox, values: &Values) {
        let element = self.source.element_len(asked.variable).unwrap_or(ELEMENT);
        let bytes = asked.count().saturating_mul(element);
        if self.is_near() || bytes > AHEAD_BYTES {
            return;
        }
        let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
        let values = Arc::new(values.clone());
        self.reading.context.shared.boxes.keep(self.reading.opening, asked.clone(), values, bytes);
    }

    /// The values of a box that the cache has, perhaps as part of another one.
    fn cached(&self, asked: &QueryBox) -> Result<Option<Values>> {
        let Some((held, values)) = self.reading.context.shared.boxes.find(self.reading.opening, asked) else {
            return Ok(None);
        };
        let counts: Vec<u64> = held.axes.iter().map(|axis| axis.count).collect();
        let strides = ncirrus_layout::grid::row_major(&counts, 1)?;
        let mut places = vec![0_u64];
        for ((held, asked), stride) in held.axes.iter().zip(&asked.axes).zip(strides) {
            let offset = |at: u64| (asked.start - held.start + at * asked.stride) * stride;
            let along = |place: u64| (0..asked.count).map(move |at| place + offset(at));
            places = places.into_iter().flat_map(along).collect();
        }
        let places: Vec<usize> = places.into_iter().filter_map(|place| usize::try_from(place).ok()).collect();
        convert::take(&values, &places).map(Some)
    }

    async fn fetch_box(&self, asked: &QueryBox) -> Result<Values> {
        let boxes = std::slice::from_ref(asked);
        let queries = self.source.plan(boxes)?;
        let [query] = queries.as_slice() else {
            return Err(Error::internal(format!("{} queries for one box", queries.len())));
        };
        let answer = self.fetch(query).await?;
        let decoded = self.source.decode(boxes, &answer.bytes, &self.reading.context.shared.limits);
        let values = decoded.map_err(|error| error.at_object(&query.object))?;
        match values.into_iter().next().filter(|values| values.len() as u64 == asked.count()) {
            Some(values) => Ok(values),
            None => Err(Error::internal("values of another box than was asked for").at_object(&query.object)),
        }
    }

    /// The answer to a query, which is no object with a state: neither cached nor compared.
    async fn fetch(&self, query: &Query) -> Result<ObjectBytes> {
        let context = &self.reading.context;
        let store = context.snapshot.store();
        context.snapshot.check_store(&query.object)?;
        let found = match store.local() {
            Some(local) => local.read(&query.object, &Want::All),
            None => context.shared.network.fetch(store, query.object.clone(), Want::All)?.await,
        };
        found?.ok_or_else(|| absent(&query.object))
    }
}

/// Requests that a plan lists.
const EXAMPLES: usize = 16;

impl QueryPart {
    /// The part with its values.
    fn arrived(self, values: Values) -> Result<ArrivedPart> {
        let counts: Vec<u64> = self.asked.axes.iter().map(|axis| axis.count).collect();
        let mut strides = ncirrus_layout::grid::row_major(&counts, 1)?;
        for ((stride, asked), wanted) in strides.iter_mut().zip(&self.asked.axes).zip(&self.piece.axes) {
            let own = axis_of(wanted).map_or(1, |axis| axis.stride);
            *stride = stride.saturating_mul(own.checked_div(asked.stride).unwrap_or(1).max(1));
        }
        Ok(ArrivedPart { piece: self.piece, strides, values })
    }
}

/// The elements along an axis, if they are at equal distances.
fn axis_of(axis: &PieceAxis) -> Option<QueryAxis> {
    let (start, count, stride) = match axis {
        PieceAxis::Slice { start, count, stride, .. } => (*start, *count, *stride),
        PieceAxis::Picks(picks) => {
            let (first, _) = picks.first()?;
            let second = picks.get(1).map_or(first + 1, |(index, _)| *index);
            (*first, picks.len() as u64, second.checked_sub(*first)?.max(1))
        }
    };
    let stride = if count == 1 { 1 } else { stride };
    (count > 0).then_some(QueryAxis { start, count, stride })
}

/// Pieces whose elements are at equal distances along all axes: lists of indices are cut where the distance changes,
/// and where one is repeated.
fn regular(piece: SelectionPiece) -> Vec<SelectionPiece> {
    let mut done = Vec::new();
    let mut rest = vec![piece];
    while let Some(piece) = rest.pop() {
        match piece.axes.iter().enumerate().find_map(|(at, axis)| Some((at, cut(axis)?))) {
            Some((at, (first, second))) => {
                let mut other = piece.clone();
                let mut this = piece;
                if let (Some(one), Some(two)) = (this.axes.get_mut(at), other.axes.get_mut(at)) {
                    (*one, *two) = (first, second);
                }
                rest.extend([other, this]);
            }
            None => done.push(piece),
        }
    }
    done
}

/// The longest beginning of a list whose indices are at equal distances, and the rest; `None` if that is all of it.
fn cut(axis: &PieceAxis) -> Option<(PieceAxis, PieceAxis)> {
    let PieceAxis::Picks(picks) = axis else { return None };
    let mut steps = picks.iter().zip(picks.iter().skip(1)).map(|((one, _), (other, _))| other - one);
    let first = steps.next()?;
    let same = if first == 0 { 1 } else { 2 + steps.take_while(|step| *step == first).count() };
    // Two that are far apart are two boxes.
    let same = if first > 1 && same == 2 { 1 } else { same };
    let (one, other) = picks.split_at_checked(same).filter(|(_, rest)| !rest.is_empty())?;
    Some((PieceAxis::Picks(one.to_vec()), PieceAxis::Picks(other.to_vec())))
}

/// The number of a point's element in a box.
fn place_in(bounds: &Region, points: &PointSelection, point: usize) -> Option<usize> {
    let mut place = 0_u64;
    for (axis, (start, count)) in bounds.start.iter().zip(&bounds.count).enumerate() {
        let index = points.index(axis, point).checked_sub(*start)?;
        place = place.checked_mul(*count)?.checked_add(index)?;
    }
    usize::try_from(place).ok()
}

fn absent(object: &ObjectId) -> Error {
    Error::not_found("no such object").at_object(object)
}
