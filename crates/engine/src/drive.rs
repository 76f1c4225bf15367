//! Running steps to their end: whatever a step needs is fetched at once, then it is run again.
mod read_depth;
mod requests;
mod view;

pub(crate) use read_depth::ReadDepth;

use crate::merge::split;
use crate::resources::{InFlight, PendingRequest, SharedResources};
use crate::snapshot::{PinnedBytes, StoreSnapshot, changed};
use bytes::BytesMut;
use futures_util::future::BoxFuture;
use ncirrus_layout::{
    Error, ErrorKind, Listing, Memo, Needs, ObjectBytes, ObjectId, Result, Stall, Step, VariableRef, View,
    Want,
};
use ncirrus_model::{Selection, Values};
use requests::SortedNeeds;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;
use view::{BlockingView, DriveExtras, StallingView, check_document, document_error};

/// What steps of one dataset are driven with.
#[derive(Clone)]
pub(crate) struct DriveContext {
    pub(crate) shared: Arc<SharedResources>,
    pub(crate) snapshot: Arc<StoreSnapshot>,
    pub(crate) memo: Arc<Memo>,
    /// Reads the values of variables that a step may request: the dataset, once it is open.
    pub(crate) values: Option<Arc<dyn NestedRead>>,
    /// The reads that this one is nested in.
    pub(crate) read_depth: ReadDepth,
}

/// Reads the values that a step requests.
pub(crate) trait NestedRead: Send + Sync {
    /// The values of a selection of a variable, nested in the reads of `read_depth`.
    ///
    /// # Errors
    /// Errors of reading them.
    fn read_nested<'a>(
        self: Arc<Self>,
        variable: &'a VariableRef,
        selection: &'a Selection,
        read_depth: ReadDepth,
    ) -> BoxFuture<'a, Result<Values>>;
}

impl DriveContext {
    /// Runs a step to its end.
    ///
    /// # Errors
    /// Errors of the step, or of fetching for it; `Internal` if it requests again what it was given.
    pub(crate) async fn drive<T>(&self, mut step: impl FnMut(&dyn View) -> Step<T> + Send) -> Result<T> {
        if let Some(local) = self.snapshot.store().local() {
            return match step(&BlockingView::new(self, local)) {
                Ok(value) => Ok(value),
                Err(Stall::Fail(error)) => Err(error),
                Err(Stall::Need(needs)) => Err(no_progress(&needs)),
            };
        }
        let (mut held, mut extra) = (PinnedBytes::default(), DriveExtras::default());
        loop {
            let result = step(&StallingView::new(self, &mut held, &mut extra));
            match result {
                Ok(value) => {
                    self.snapshot.keep(held);
                    return Ok(value);
                }
                Err(Stall::Fail(error)) => {
                    self.snapshot.keep(held);
                    return Err(error);
                }
                Err(Stall::Need(needs)) => self.fetch(&needs, &mut held, &mut extra).await?,
            }
        }
    }

    /// Values of another variable, for a step that requested them.
    pub(crate) fn nested_values<'a>(
        &'a self,
        variable: &'a VariableRef,
        selection: &'a Selection,
    ) -> BoxFuture<'a, Result<Values>> {
        Box::pin(async move {
            let read_depth = self.read_depth.deeper(&self.shared.limits)?;
            let values = self.values.clone().ok_or_else(|| {
                Error::unsupported(format!("values of {} before the dataset is open", variable.path))
            })?;
            values.read_nested(variable, selection, read_depth).await
        })
    }

    async fn fetch(&self, needs: &Needs, held: &mut PinnedBytes, extra: &mut DriveExtras) -> Result<()> {
        let sorted = SortedNeeds::new(needs, &self.snapshot, held);
        if sorted.is_empty() {
            return Err(no_progress(needs));
        }
        let mut recalled = HashMap::new();
        let requests = sorted.requests(&self.snapshot, held, &mut recalled);
        // These run while objects are fetched.
        let listings = self.begin_listings(sorted.listings)?;
        self.fetch_objects(requests, held, extra).await?;
        for (object, entry) in recalled {
            held.restore(&self.snapshot, &object, entry);
        }
        self.take_listings(listings, held, extra).await;
        self.fetch_values(sorted.values, extra).await
    }

    async fn fetch_values(
        &self,
        requested: Vec<(VariableRef, Selection)>,
        extra: &mut DriveExtras,
    ) -> Result<()> {
        let mut distinct: Vec<(VariableRef, Selection)> = Vec::with_capacity(requested.len());
        for one in requested {
            if !distinct.contains(&one) {
                distinct.push(one);
            }
        }
        let read = |(variable, selection): (VariableRef, Selection)| {
            Ok(async move {
                let values = self.nested_values(&variable, &selection).await?;
                Ok::<_, Error>((variable, selection, values))
            })
        };
        self.in_flight()
            .for_each(distinct, read, |read| {
                extra.values.push(read?);
                Ok(())
            })
            .await
    }

    /// As many concurrent requests as suit the store.
    fn in_flight(&self) -> InFlight<'_> {
        InFlight::at_most(self.snapshot.store().facts().concurrency)
    }

    /// A failed request does not end the drive: the step gets the error, and may do without the object.
    async fn fetch_objects(
        &self,
        requests: Vec<(ObjectId, Want)>,
        held: &mut PinnedBytes,
        extra: &mut DriveExtras,
    ) -> Result<()> {
        let begin = |(object, want)| self.request_part(object, want);
        self.in_flight()
            .for_each(requests, begin, |(object, blob)| match blob {
                Ok(blob) => held.take(&self.snapshot, &object, blob),
                Err(error) => {
                    extra.failed.insert(object.clone(), error.at_object(&object));
                    Ok(())
                }
            })
            .await
    }

    /// Counts an answer.
    pub(crate) fn fetched(&self, bytes: usize) {
        self.shared.counters.fetched(bytes);
        self.read_depth.tally().iter().for_each(|tally| tally.fetched(bytes));
    }

    /// As [`request`](Self::request), for a step: a whole object is a document.
    fn request_part(
        &self,
        object: ObjectId,
        want: Want,
    ) -> Result<impl Future<Output = (ObjectId, Result<Option<ObjectBytes>>)> + use<>> {
        let is_document = want.is_whole();
        let want = if is_document { Want::AtMost(self.shared.document_bytes()) } else { want };
        let (request, shared) = (self.request(object, want)?, Arc::clone(&self.shared));
        Ok(async move {
            let (object, blob) = request.await;
            let blob = match blob {
                Ok(Some(blob)) if is_document => {
                    check_document(&shared, &object, blob.size).map(|()| Some(blob))
                }
                Err(error) if is_document && error.kind() == ErrorKind::Limit => {
                    Err(document_error(error.message()))
                }
                blob => blob,
            };
            (object, blob)
        })
    }

    /// Requests bytes from a store.
    fn request(
        &self,
        object: ObjectId,
        want: Want,
    ) -> Result<impl Future<Output = (ObjectId, Result<Option<ObjectBytes>>)> + use<>> {
        let store = self.snapshot.store();
        let fetching: PendingRequest = self.shared.network.fetch(store, object.clone(), want)?;
        let (shared, tally) = (Arc::clone(&self.shared), self.read_depth.tally());
        Ok(async move {
            let blob = fetching.await;
            let bytes = blob.as_ref().ok().and_then(Option::as_ref).map_or(0, |blob| blob.bytes.len());
            shared.counters.fetched(bytes);
            tally.iter().for_each(|tally| tally.fetched(bytes));
            (object, blob)
        })
    }

    /// Starts requesting names.
    fn begin_listings(&self, requested: Vec<(ObjectId, Option<String>)>) -> Result<Vec<PendingListing>> {
        let begin = |(prefix, page): (ObjectId, Option<String>)| {
            let list = self.shared.network.list(self.snapshot.store(), prefix.clone(), page.clone())?;
            Ok((prefix, page, list))
        };
        requested.into_iter().map(begin).collect()
    }

    async fn take_listings(
        &self,
        begun: Vec<PendingListing>,
        held: &mut PinnedBytes,
        extra: &mut DriveExtras,
    ) {
        for (prefix, page, list) in begun {
            let listing = list.await;
            self.fetched(0);
            match listing {
                Ok(listing) => _ = held.listings.insert((prefix, page), listing),
                Err(error) => _ = extra.failed_listings.insert(prefix, error),
            }
        }
    }
}

/// A listing in flight: of a page below a prefix.
type PendingListing = (ObjectId, Option<String>, PendingRequest<Listing>);

/// Fetches a range of an object, or all of it: in one request, or in several concurrent ones if it is longer than the
/// store's limit for a range.
pub(crate) async fn fetch_range(
    context: &DriveContext,
    object: &ObjectId,
    range: Option<&Range<u64>>,
) -> Result<Option<ObjectBytes>> {
    let cap = context.snapshot.store().facts().range_cap.max(1);
    let Some(range) = range.filter(|range| range.end.saturating_sub(range.start) > cap) else {
        let want = range.map_or(Want::All, |range| Want::Range(range.clone()));
        return context.request(object.clone(), want)?.await.1;
    };
    let parts = split(range, cap).map(|part| context.request(object.clone(), Want::Range(part)));
    let parts = futures_util::future::join_all(parts.collect::<Result<Vec<_>>>()?).await;
    let mut joined: Option<ObjectBytes> = None;
    let mut bytes = BytesMut::new();
    for (_, part) in parts {
        let Some(part) = part? else { return Ok(None) };
        match &joined {
            Some(first) if first.tag != part.tag => return Err(changed(object)),
            Some(_) => {}
            None => joined = Some(part.clone()),
        }
        bytes.extend_from_slice(&part.bytes);
    }
    Ok(joined.map(|first| ObjectBytes { bytes: bytes.freeze(), ..first }))
}

fn no_progress(needs: &Needs) -> Error {
    let first = needs.iter().next();
    Error::internal(format!("a step asks again for what it was given: {first:?} of {} needs", needs.len()))
}
