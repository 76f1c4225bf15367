//! Reads of many variables as one: their small boxes come together.
use super::ahead::{TOGETHER_BYTES, group_len};
use super::{QueryRead, UNDER_WAY};
use crate::Dataset;
use crate::bound_source::{BoundSource, StorageLayout};
use crate::drive::ReadDepth;
use crate::picked::Picked;
use crate::plan::ReadPlan;
use crate::read::VariableRead;
use crate::resources::InFlight;
use futures_util::future::join_all;
use ncirrus_layout::{ErrorKind, LockExt, Query, QueryBox, QuerySource, Result};
use ncirrus_model::{Selection, Values, VarId};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

/// Boxes that arrived, until they are taken.
#[derive(Default)]
pub(in crate::dataset) struct DeliveredBoxes(Mutex<HashMap<QueryBox, Result<Values>>>);

/// Boxes of at most this many bytes travel together.
const SMALL_BYTES: u64 = 1 << 20;

impl DeliveredBoxes {
    /// The values of a box, or why there are none; a column stays, since several reads may have parts of it.
    pub(super) fn take(&self, requested: &QueryBox, is_column: bool) -> Option<Result<Values>> {
        let mut boxes = self.0.guard();
        if is_column { boxes.get(requested).cloned() } else { boxes.remove(requested) }
    }

    fn put(&self, requested: Vec<QueryBox>, values: Result<Vec<Values>>) {
        let mut boxes = self.0.guard();
        match values {
            Ok(values) => boxes.extend(requested.into_iter().zip(values.into_iter().map(Ok))),
            Err(error) => {
                boxes.extend(requested.into_iter().map(|requested| (requested, Err(error.clone()))));
            }
        }
    }
}

/// A read among others, and its variable as the server counts.
struct ReadOfMany<'a> {
    reading: VariableRead<'a>,
    source: (&'a Arc<dyn QuerySource>, usize),
}

impl Dataset {
    /// Values of several variables, each as from [`read`](Self::read), in the requested order. They are fetched together;
    /// of variables whose boxes a server sends, small ones come in one answer.
    pub async fn read_many<'a>(&self, wanted: &[(VarId, &'a Selection)]) -> Vec<Result<Values>> {
        if let [(variable, selection)] = wanted {
            return vec![self.read(*variable, selection).await];
        }
        let delivered = DeliveredBoxes::default();
        let bounds = join_all(wanted.iter().map(|(variable, _)| self.bound_alone(*variable))).await;
        self.deliver(wanted, &bounds, &delivered).await;
        let read = |(wanted, bound): (&(VarId, &'a Selection), _)| {
            self.read_delivered(wanted.0, wanted.1, bound, &delivered)
        };
        join_all(wanted.iter().zip(bounds).map(read)).await
    }

    /// Announces reads that come next, in this order: small boxes that a server sends are fetched together with the first
    /// of them, and kept until they are read.
    pub async fn announce(&self, wanted: &[(VarId, &Selection)]) {
        let mut boxes = Vec::new();
        for (variable, selection) in wanted {
            let Ok(bound) = self.bound_alone(*variable).await else { continue };
            // Where one variable is stored, all are.
            let StorageLayout::Query(source, number) = &bound.layout else { return };
            if let Ok(reading) = self.reading_alone(*variable, &bound, selection) {
                let read = QueryRead::new(&reading, (source, *number));
                let is_kept =
                    |requested: &QueryBox| read.sequence().is_none() || read.kept_len(requested).is_some();
                boxes.extend(read.small_boxes(selection).into_iter().filter(is_kept));
            }
        }
        self.inner.context.shared.boxes.expect(self.inner.opening, boxes);
    }

    async fn read_delivered(
        &self,
        variable: VarId,
        selection: &Selection,
        bound: Result<Arc<BoundSource>>,
        delivered: &DeliveredBoxes,
    ) -> Result<Values> {
        let bound = bound?;
        let StorageLayout::Query(source, number) = &bound.layout else {
            return self.read(variable, selection).await;
        };
        let reading = self.reading_alone(variable, &bound, selection)?;
        let read = QueryRead::new(&reading, (source, *number)).with(delivered);
        read.read(selection).await.map_err(|error| self.located(error, variable))
    }

    /// What [`read_many`](Self::read_many) would request.
    ///
    /// # Errors
    /// The first failure, as from [`plan`](Self::plan).
    pub async fn plan_many(&self, wanted: &[(VarId, &Selection)]) -> Result<ReadPlan> {
        if let [(variable, selection)] = wanted {
            return self.plan(*variable, selection).await;
        }
        let bounds = join_all(wanted.iter().map(|(variable, _)| self.bound_alone(*variable))).await;
        let bounds = wanted.iter().zip(bounds).map(|(wanted, bound)| Ok((*wanted, bound?)));
        let (mut reads, mut plan) = (Vec::new(), ReadPlan { chunks: Some(0), ..ReadPlan::default() });
        let bounds = bounds.collect::<Result<Vec<_>>>()?;
        for ((variable, selection), bound) in &bounds {
            match &bound.layout {
                StorageLayout::Query(source, number) => {
                    let reading = self.reading_alone(*variable, bound, selection)?;
                    reads.push((ReadOfMany { reading, source: (source, *number) }, *selection));
                }
                _ => plan.add_read(self.plan(*variable, selection).await?),
            }
        }
        let reads: Vec<_> =
            reads.iter().map(|(read, part)| (QueryRead::new(&read.reading, read.source), *part)).collect();
        if !reads.is_empty() {
            plan.add_read(super::explain::plan_together(&reads)?);
        }
        plan.reads = wanted.len() as u64;
        Ok(plan)
    }

    /// Fetches the small boxes of many reads. What fails is fetched again by itself.
    async fn deliver(
        &self,
        wanted: &[(VarId, &Selection)],
        bounds: &[Result<Arc<BoundSource>>],
        delivered: &DeliveredBoxes,
    ) {
        let mut reads = Vec::new();
        for ((variable, selection), bound) in wanted.iter().zip(bounds) {
            let Ok(bound) = bound else { continue };
            let StorageLayout::Query(source, number) = &bound.layout else { continue };
            let Ok(reading) = self.reading_alone(*variable, bound, selection) else { continue };
            reads.push((ReadOfMany { reading, source: (source, *number) }, *selection));
        }
        let Some((first, _)) = reads.first() else { return };
        let mut boxes: Vec<QueryBox> = Vec::new();
        for (read, selection) in &reads {
            // One request reaches one server: boxes of another source are left to the reads themselves.
            if Arc::ptr_eq(read.source.0, first.source.0) {
                boxes.extend(QueryRead::new(&read.reading, read.source).small_boxes(selection));
            }
        }
        let first = QueryRead::new(&first.reading, first.source);
        let boxes = first.not_at_hand(boxes);
        if boxes.len() > 1 {
            let deliver = |requested: Vec<QueryBox>, values: Result<Vec<Values>>| {
                if let Ok(values) = &values {
                    first.keep_columns(&requested, values);
                }
                delivered.put(requested, values);
            };
            first.fetch_many(boxes, deliver).await;
        }
    }

    async fn bound_alone(&self, variable: VarId) -> Result<Arc<BoundSource>> {
        self.bound(variable, &ReadDepth::default()).await
    }

    fn reading_alone<'a>(
        &'a self,
        variable: VarId,
        bound: &'a BoundSource,
        selection: &Selection,
    ) -> Result<VariableRead<'a>> {
        let picked = Picked::Selection(selection);
        self.reading(variable, bound, picked, ReadDepth::default(), self.default_missing())
    }
}

impl QueryRead<'_> {
    /// The small boxes of a selection that would be requested, and any column of a sequence. Parts of a box that has to be
    /// cut are not small, so that a variable of any length is announced in no time.
    pub(super) fn small_boxes(&self, selection: &Selection) -> Vec<QueryBox> {
        let is_small =
            |requested: &QueryBox| requested.count().saturating_mul(self.element_len()) <= SMALL_BYTES;
        let is_new = |requested: &QueryBox| matches!(self.cached(requested), Ok(None));
        let is_column = self.sequence().is_some();
        let parts: Vec<_> = self.pieces(selection).into_iter().filter_map(|piece| self.part(piece)).collect();
        let requested = self.boxes_of(&parts).into_iter();
        requested.filter(|requested| is_column || (is_small(requested) && is_new(requested))).collect()
    }

    /// Fetches boxes of several variables, as many in an answer as it should hold. A server that refuses one such request
    /// is not sent another.
    pub(super) async fn fetch_many(
        &self,
        boxes: Vec<QueryBox>,
        deliver: impl Fn(Vec<QueryBox>, Result<Vec<Values>>) + Send + Sync,
    ) {
        let (cache, opening) = (&self.reading.context.shared.boxes, self.reading.opening);
        let queries = self.grouped(&boxes);
        let deliver = &deliver;
        let fetch = |(query, requested): (Query, Vec<QueryBox>)| {
            Ok(async move {
                if cache.refuses_batches(opening) {
                    return;
                }
                match self.fetch_together(&query, &requested).await {
                    Ok(values) => deliver(requested, Ok(values)),
                    // The members of that request would report the same.
                    Err(error) if error.kind() == ErrorKind::Changed => deliver(requested, Err(error)),
                    Err(_) => cache.note_batch_refused(opening),
                }
            })
        };
        // After a failure each is requested by itself, which reports the error.
        _ = InFlight::at_most(UNDER_WAY).for_each(queries, fetch, |()| Ok(())).await;
    }

    /// The requests of several boxes each. Columns of a sequence are not divided among them.
    pub(super) fn grouped(&self, boxes: &[QueryBox]) -> Vec<(Query, Vec<QueryBox>)> {
        let is_column = |requested: &&QueryBox| self.source.sequence(requested.variable).is_some();
        let (columns, others): (Vec<_>, Vec<_>) = boxes.iter().partition(is_column);
        let cloned = |boxes: Vec<&QueryBox>| boxes.into_iter().cloned().collect::<Vec<_>>();
        let (columns, others) = (cloned(columns), cloned(others));
        let mut grouped = Vec::new();
        let mut rest = others.as_slice();
        while !rest.is_empty() {
            let count = group_len(rest, TOGETHER_BYTES, |requested| self.bytes_of(requested));
            let (group, after) = rest.split_at(count.min(rest.len()));
            rest = after;
            grouped.extend(self.planned(group).unwrap_or_default());
        }
        if !columns.is_empty() {
            grouped.extend(self.planned(&columns).unwrap_or_default());
        }
        grouped.retain(|(_, requested)| requested.len() > 1);
        grouped
    }

    /// The requests for boxes, each with those that its answer holds.
    pub(super) fn planned(&self, boxes: &[QueryBox]) -> Result<Vec<(Query, Vec<QueryBox>)>> {
        let with_boxes = |query: Query| {
            let requested = query.boxes.iter().filter_map(|at| boxes.get(*at)).cloned().collect();
            (query, requested)
        };
        Ok(self.source.plan(boxes)?.into_iter().map(with_boxes).collect())
    }

    /// Whether the server refuses requests for several variables.
    pub(super) fn refuses_batches(&self) -> bool {
        self.reading.context.shared.boxes.refuses_batches(self.reading.opening)
    }
}
