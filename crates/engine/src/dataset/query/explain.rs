//! What reads would request, without requesting it.
use super::ahead::FetchedAhead;
use super::parts::QueryPart;
use super::{BOX_BYTES, EXAMPLES, QueryRead};
use crate::plan::{PlannedRequest, ReadPlan};
use crate::resources::Noting;
use ncirrus_layout::{Error, Query, QueryBox, Result};
use ncirrus_model::Selection;
use std::collections::HashSet;

impl QueryRead<'_> {
    /// What reading the selection would request.
    pub(in crate::dataset) fn plan(&self, selection: &Selection) -> Result<ReadPlan> {
        let parts = self.countable_parts(selection)?;
        let mut plan = self.described(selection, &parts);
        let mut fetched = Vec::new();
        let boxes = self.boxes_of(&parts);
        if let [only] = boxes.as_slice() {
            let queries = match self.ahead(only, Noting::Nothing) {
                FetchedAhead::Nothing => Vec::new(),
                FetchedAhead::Announced(boxes) => self.grouped(&boxes),
                FetchedAhead::Companions(boxes) => self.planned(&boxes)?,
                FetchedAhead::Whole(whole) => self.planned(&[whole])?,
            };
            for (query, boxes) in queries {
                add_query(&mut plan, query);
                fetched.extend(boxes);
            }
        }
        let has =
            |requested: &QueryBox| fetched.iter().any(|held| crate::resources::holds_box(held, requested));
        for requested in boxes.iter().filter(|requested| !has(requested)) {
            self.plan_box(requested, &mut plan)?;
        }
        Ok(finished(plan))
    }

    /// The parts of a selection, unless they are too many to be counted one by one.
    fn countable_parts(&self, selection: &Selection) -> Result<Vec<QueryPart>> {
        let bytes = selection.element_count().unwrap_or(u64::MAX).saturating_mul(self.element_len());
        let min = bytes / BOX_BYTES;
        if min > MAX_PARTS {
            let message = format!("a plan of at least {min} requests, more than the limit of {MAX_PARTS}");
            return Err(Error::limit(message));
        }
        Ok(self.parts(selection))
    }

    /// What is known of a selection before its requests are counted.
    fn described(&self, selection: &Selection, parts: &[QueryPart]) -> ReadPlan {
        let element = self.reading.model.packed_len(self.reading.bound.ty);
        let count = selection.element_count().unwrap_or(u64::MAX);
        let needed = parts.iter().map(|part| part.piece.count().saturating_mul(self.element_len()));
        ReadPlan {
            shape: selection.shape(),
            result_bytes: element.map(|len| len.saturating_mul(count)),
            layout: "boxes that the server computes".to_owned(),
            needed_bytes: needed.fold(0, u64::saturating_add),
            ..ReadPlan::default()
        }
    }

    /// Adds the request for a box, unless it is kept.
    fn plan_box(&self, requested: &QueryBox, plan: &mut ReadPlan) -> Result<()> {
        if self.cached(requested)?.is_none() {
            self.source
                .plan(std::slice::from_ref(requested))?
                .into_iter()
                .for_each(|query| add_query(plan, query));
        }
        Ok(())
    }
}

/// Requests of a read that are counted one by one: those of 16 TiB.
const MAX_PARTS: u64 = 1 << 20;

/// What reading all these selections together would request.
pub(super) fn plan_together(reads: &[(QueryRead<'_>, &Selection)]) -> Result<ReadPlan> {
    let mut plan = ReadPlan::default();
    let Some((first, _)) = reads.first() else { return Ok(plan) };
    let boxes: Vec<QueryBox> =
        reads.iter().flat_map(|(read, selection)| read.small_boxes(selection)).collect();
    let boxes = first.not_at_hand(boxes);
    let mut delivered = HashSet::new();
    if boxes.len() > 1 && !first.refuses_batches() {
        for (query, requested) in first.grouped(&boxes) {
            add_query(&mut plan, query);
            delivered.extend(requested);
        }
    }
    plan.result_bytes = Some(0);
    for (read, selection) in reads {
        let parts = read.countable_parts(selection)?;
        let own = read.described(selection, &parts);
        let result_bytes = plan.result_bytes.zip(own.result_bytes);
        (plan.layout, plan.result_bytes) =
            (own.layout, result_bytes.and_then(|(one, own)| one.checked_add(own)));
        plan.needed_bytes = plan.needed_bytes.saturating_add(own.needed_bytes);
        // What was delivered once is asked for again if it is read twice, unless it is a column.
        let mut is_delivered = |requested: &QueryBox| match read.sequence() {
            Some(_) => delivered.contains(requested),
            None => delivered.remove(requested),
        };
        for requested in read.boxes_of(&parts).iter().filter(|requested| !is_delivered(requested)) {
            read.plan_box(requested, &mut plan)?;
        }
    }
    Ok(finished(plan))
}

fn add_query(plan: &mut ReadPlan, query: Query) {
    plan.requests += 1;
    plan.bytes = plan.bytes.saturating_add(query.bytes);
    plan.is_estimate |= !query.is_exact;
    if plan.examples.len() < EXAMPLES {
        plan.examples.push(PlannedRequest { object: query.object, range: None });
    }
}

/// Each request is a part that is decoded whole.
fn finished(plan: ReadPlan) -> ReadPlan {
    ReadPlan { decoded_bytes: plan.bytes, chunks: Some(plan.requests), counted: plan.requests, ..plan }
}
