//! Fetching boxes, and decoding answers while they arrive.
use super::ahead::FetchedAhead;
use super::parts::QueryPart;
use super::{AHEAD_BYTES, MIN_BYTES, QueryRead};
use crate::convert;
use crate::dataset::mosaic::assembly::ValueAssembly;
use crate::resources::{Noting, PendingAnswer};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use ncirrus_layout::{Error, LockExt, ObjectBytes, ObjectId, PutElements, Query, QueryBox, Result, Want};
use ncirrus_model::Values;
use ncirrus_store::AnswerPart;
use std::sync::{Arc, Mutex};

/// The result of a read, to which all its parts are put.
pub(super) type SharedResult<'a, 'b> = Mutex<&'a mut ValueAssembly<'b>>;

impl QueryRead<'_> {
    /// Fetches a part and puts its values; one that the server refuses as too large in halves, one after the other.
    pub(super) fn fetch_part<'a>(
        &'a self,
        part: QueryPart,
        result: &'a SharedResult<'_, '_>,
    ) -> BoxFuture<'a, Result<()>> {
        async move {
            if let Some(values) = self.at_hand(&part.requested)? {
                return part.put(&mut result.guard(), values);
            }
            let fetched = match self.fetch_box(&part, result).await {
                Err(error) if self.source.adapts(&error) || self.source.is_damaged(&error) => {
                    self.fetch_box(&part, result).await
                }
                fetched => fetched,
            };
            let Err(error) = fetched else { return Ok(()) };
            let bytes = part.requested.count().saturating_mul(self.element_len());
            let halves = part.piece.halves().filter(|_| bytes > MIN_BYTES);
            let Some((first, second)) = halves.filter(|_| self.source.is_too_large(&error)) else {
                return Err(error);
            };
            for piece in [first, second] {
                let half = self.part(piece).ok_or_else(|| Error::internal("a part without a box"))?;
                self.fetch_part(half, result).await?;
            }
            Ok(())
        }
        .boxed()
    }

    /// Fetches more than is read, where that saves requests: variables that are usually read together, and the whole of
    /// one that is read box after box. After a failure each is requested by itself, which reports the error, and not together
    /// again.
    pub(super) async fn read_ahead(&self, requested: &QueryBox) {
        let (cache, opening) = (&self.reading.context.shared.boxes, self.reading.opening);
        match self.ahead(requested, Noting::Read) {
            FetchedAhead::Nothing => {}
            FetchedAhead::Announced(boxes) => {
                let keep = |requested: Vec<QueryBox>, values: Result<Vec<Values>>| {
                    // An error is that of the box that is read.
                    values.into_iter().for_each(|values| self.keep_all(&requested, &values));
                };
                self.fetch_many(boxes, keep).await;
            }
            FetchedAhead::Companions(boxes) => {
                if self.fetch_all(&boxes).await.is_err() {
                    cache.note_batch_refused(opening);
                }
            }
            FetchedAhead::Whole(whole) => {
                let fetch = cache.whole_fetch(opening, self.variable);
                let _fetching = fetch.lock().await;
                let is_done =
                    cache.find(opening, &whole).is_some() || cache.is_refused(opening, self.variable);
                if !is_done && self.fetch_all(&[whole]).await.is_err() {
                    cache.note_refused(opening, self.variable);
                }
            }
        }
    }

    /// Fetches whole variables and keeps them.
    async fn fetch_all(&self, boxes: &[QueryBox]) -> Result<()> {
        for (query, requested) in self.planned(boxes)? {
            self.keep_all(&requested, &self.fetch_together(&query, &requested).await?);
        }
        Ok(())
    }

    /// The values of all boxes of a query, in one answer, which is held whole.
    pub(super) async fn fetch_together(&self, query: &Query, requested: &[QueryBox]) -> Result<Vec<Values>> {
        let answer = self.fetch(query).await?;
        let decoded = self.source.decode(requested, &answer.bytes, &self.reading.context.shared.limits);
        let values = decoded.map_err(|error| error.at_object(&query.object))?;
        let is_each = values.len() == requested.len()
            && values
                .iter()
                .zip(requested)
                .all(|(values, requested)| values.len() as u64 == requested.count());
        if is_each { Ok(values) } else { Err(other_box().at_object(&query.object)) }
    }

    pub(super) fn keep(&self, requested: &QueryBox, values: &Values) {
        self.keep_all(std::slice::from_ref(requested), std::slice::from_ref(values));
    }

    /// Keeps boxes that came in one answer.
    pub(super) fn keep_all(&self, requested: &[QueryBox], values: &[Values]) {
        let kept = requested.iter().zip(values).filter_map(|(requested, values)| {
            Some((requested.clone(), Arc::new(values.clone()), self.kept_len(requested)?))
        });
        self.reading.context.shared.boxes.keep(self.reading.opening, kept);
    }

    /// The bytes of a box, if it is kept.
    pub(super) fn kept_len(&self, requested: &QueryBox) -> Option<usize> {
        let bytes = self.bytes_of(requested);
        // No part of a column can be asked for.
        let is_small = bytes <= AHEAD_BYTES || self.source.sequence(requested.variable).is_some();
        let bytes = usize::try_from(bytes).ok().filter(|_| is_small && !self.is_near())?;
        self.reading.context.shared.boxes.takes(requested, bytes).then_some(bytes)
    }

    /// The values of a box that need no request: it came with others, or the cache has it.
    pub(super) fn at_hand(&self, requested: &QueryBox) -> Result<Option<Values>> {
        let is_column = self.source.sequence(requested.variable).is_some();
        match self.delivered.and_then(|delivered| delivered.take(requested, is_column)) {
            Some(values) => values.map(Some),
            None => self.cached(requested),
        }
    }

    /// The values of a box that the cache has, perhaps as part of another one.
    pub(super) fn cached(&self, requested: &QueryBox) -> Result<Option<Values>> {
        let Some((held, values)) = self.reading.context.shared.boxes.find(self.reading.opening, requested)
        else {
            return Ok(None);
        };
        if held == *requested {
            return Ok(Some(Values::clone(&values)));
        }
        inside(&held, requested, &values).map(Some)
    }

    /// Fetches a box and puts its values: while they arrive, and straight to where they belong, unless the box is kept.
    async fn fetch_box(&self, part: &QueryPart, result: &SharedResult<'_, '_>) -> Result<()> {
        let requested = &part.requested;
        let queries = self.source.plan(std::slice::from_ref(requested))?;
        let [query] = queries.as_slice() else {
            return Err(Error::internal(format!("{} queries for one box", queries.len())));
        };
        let is_kept =
            self.kept_len(requested).is_some() && self.reading.bound.source.fill.as_bytes().is_some();
        let values = if is_kept {
            let count = usize::try_from(requested.count()).unwrap_or(usize::MAX);
            let mut values = convert::zeros(self.reading.model, self.reading.bound.ty, count)?;
            let element = values.as_bytes().map_or(0, |bytes| bytes.len() / count.max(1));
            let bytes = values.as_bytes_mut().unwrap_or_default();
            let held =
                self.receive(requested, query, &mut |first, new| put_in(bytes, element, first, new)).await?;
            Some(held.unwrap_or(values))
        } else {
            let walk = part.walk(&result.guard())?;
            let put = &mut |first, new: &[u8]| result.guard().put_elements(&walk, first, new);
            self.receive(requested, query, put).await?
        };
        let Some(values) = values else { return Ok(()) };
        if values.len() as u64 != requested.count() {
            return Err(other_box().at_object(&query.object));
        }
        self.keep(requested, &values);
        part.put(&mut result.guard(), values)
    }

    /// Decodes an answer while it arrives; the values, if they could only be decoded together.
    pub(super) async fn receive(
        &self,
        requested: &QueryBox,
        query: &Query,
        put: &mut PutElements<'_>,
    ) -> Result<Option<Values>> {
        let limits = &self.reading.context.shared.limits;
        let mut decoder = self.source.decoder(requested, limits);
        let mut answer = self.answer(query)?;
        let decoded = loop {
            match answer.next().await.map_err(|error| error.at_object(&query.object))? {
                Some(AnswerPart::Begin) => decoder = self.source.decoder(requested, limits),
                Some(AnswerPart::Bytes(bytes)) => {
                    if let Err(error) = decoder.piece(&bytes, put) {
                        break Err(error);
                    }
                }
                None => break decoder.finish(),
            }
        };
        decoded.map_err(|error| error.at_object(&query.object))
    }

    fn answer(&self, query: &Query) -> Result<PendingAnswer> {
        let context = &self.reading.context;
        let store = context.snapshot.store();
        context.snapshot.check_store(&query.object)?;
        match store.local() {
            Some(local) => {
                let found = local.read(&query.object, &Want::All)?;
                let found = found.ok_or_else(|| absent(&query.object))?;
                Ok(PendingAnswer::arrived(found.bytes))
            }
            None => context.shared.network.answer(store, query.object.clone()),
        }
    }

    /// The answer to a query, which is not an object with a state: neither cached nor compared.
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

/// The values of a box that another one holds.
pub(super) fn inside(held: &QueryBox, requested: &QueryBox, values: &Values) -> Result<Values> {
    let counts: Vec<u64> = held.axes.iter().map(|axis| axis.count).collect();
    let strides = ncirrus_layout::grid::row_major(&counts, 1)?;
    let mut places = vec![0_u64];
    for ((held, requested), stride) in held.axes.iter().zip(&requested.axes).zip(strides) {
        let offset = |at: u64| (requested.start - held.start + at * requested.stride) * stride;
        let along = |place: u64| (0..requested.count).map(move |at| place + offset(at));
        places = places.into_iter().flat_map(along).collect();
    }
    let places: Vec<usize> = places.into_iter().filter_map(|place| usize::try_from(place).ok()).collect();
    convert::take(values, &places)
}

/// Puts elements from the number `first` on.
fn put_in(bytes: &mut [u8], element: usize, first: u64, new: &[u8]) -> Result<()> {
    let start = usize::try_from(first).ok().and_then(|first| first.checked_mul(element));
    let range = start.and_then(|start| Some(start..start.checked_add(new.len())?));
    let target = range.and_then(|range| bytes.get_mut(range));
    target.ok_or_else(|| Error::internal("more elements than were asked for"))?.copy_from_slice(new);
    Ok(())
}

pub(super) fn other_box() -> Error {
    Error::internal("values of another box than was asked for")
}

fn absent(object: &ObjectId) -> Error {
    Error::not_found("no such object").at_object(object)
}
