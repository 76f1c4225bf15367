//! Columns of sequences: all of their rows are sent, and those that are read together come in one answer.
use super::fetch::{SharedResult, inside};
use super::parts::QueryPart;
use super::{ELEMENT, QueryRead};
use crate::drive::DriveContext;
use ncirrus_layout::{Error, LockExt, QueryBox, QuerySource, Result};
use ncirrus_model::Values;
use std::collections::HashSet;
use std::sync::Arc;

/// Keeps the boxes that arrived when the dataset was opened.
pub(in crate::dataset) fn keep_arrived(context: &DriveContext, opening: u64, source: &dyn QuerySource) {
    let arrived = source.take_arrived().into_iter().map(|(held, values)| {
        let element = source.element_len(held.variable).unwrap_or(ELEMENT);
        let bytes = usize::try_from(held.count().saturating_mul(element)).unwrap_or(usize::MAX);
        (held, Arc::new(values), bytes)
    });
    context.shared.boxes.keep(opening, arrived);
}

impl QueryRead<'_> {
    /// The sequence whose rows are the first axis of the variable.
    pub(super) fn sequence(&self) -> Option<usize> {
        self.source.sequence(self.variable)
    }

    /// The boxes that are asked for, so that there are these parts.
    pub(super) fn boxes_of(&self, parts: &[QueryPart]) -> Vec<QueryBox> {
        match (self.sequence(), parts) {
            (None, parts) => parts.iter().map(|part| part.requested.clone()).collect(),
            (Some(_), []) => Vec::new(),
            (Some(_), _) => vec![self.whole()],
        }
    }

    /// The values of parts of a column, all of which comes.
    pub(super) async fn assemble_rows(
        &self,
        parts: Vec<QueryPart>,
        result: &SharedResult<'_, '_>,
    ) -> Result<()> {
        let boxes = self.boxes_of(&parts);
        let [whole] = boxes.as_slice() else { return Ok(()) };
        self.read_ahead(whole).await;
        let values = match self.at_hand(whole)? {
            Some(values) => values,
            None => match self.fetch_rows(whole).await {
                Err(error) if self.source.adapts(&error) || self.source.is_damaged(&error) => {
                    self.fetch_rows(whole).await?
                }
                fetched => fetched?,
            },
        };
        if let [only] = parts.as_slice()
            && only.requested == *whole
        {
            return only.put(&mut result.guard(), values);
        }
        parts
            .iter()
            .try_for_each(|part| part.put(&mut result.guard(), inside(whole, &part.requested, &values)?))
    }

    async fn fetch_rows(&self, whole: &QueryBox) -> Result<Values> {
        let queries = self.source.plan(std::slice::from_ref(whole))?;
        let [query] = queries.as_slice() else {
            return Err(Error::internal(format!("{} queries for one box", queries.len())));
        };
        let put = &mut |_, _: &[u8]| Err(Error::internal("rows that are put one by one"));
        let values = self.receive(whole, query, put).await?;
        let is_whole = |values: &Values| values.len() as u64 == whole.count();
        let values =
            values.filter(is_whole).ok_or_else(|| super::fetch::other_box().at_object(&query.object))?;
        self.keep(whole, &values);
        Ok(values)
    }

    /// Keeps the columns among boxes that came in one answer.
    pub(super) fn keep_columns(&self, requested: &[QueryBox], values: &[Values]) {
        if requested.iter().all(|requested| self.source.sequence(requested.variable).is_some()) {
            self.keep_all(requested, values);
        }
    }

    /// The boxes without the columns that need no request: those of a sequence that are read together have to be from
    /// one answer. Each column is there once.
    pub(super) fn not_at_hand(&self, mut boxes: Vec<QueryBox>) -> Vec<QueryBox> {
        let mut columns: Vec<(usize, Vec<QueryBox>)> = Vec::new();
        for requested in &boxes {
            let Some(sequence) = self.source.sequence(requested.variable) else { continue };
            match columns.iter_mut().find(|(other, _)| *other == sequence) {
                Some((_, columns)) => columns.push(requested.clone()),
                None => columns.push((sequence, vec![requested.clone()])),
            }
        }
        let (cache, opening) = (&self.reading.context.shared.boxes, self.reading.opening);
        columns.retain(|(_, columns)| cache.came_together(opening, columns));
        let mut known: HashSet<QueryBox> = HashSet::new();
        boxes.retain(|requested| match self.source.sequence(requested.variable) {
            Some(sequence) => {
                let is_new = known.insert(requested.clone());
                is_new && columns.iter().all(|(other, _)| *other != sequence)
            }
            None => true,
        });
        boxes
    }
}
