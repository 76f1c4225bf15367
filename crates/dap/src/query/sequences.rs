//! Columns of sequences: those that are read together come in one answer, and all of their rows (docs/spec/dap.md 5.4).
use super::{ArrivedAnswer, Constraint, DapSource, PendingQuery};
use crate::shown::{ShownVariable, WireSegment};
use crate::{QUERY_BYTES, WireName};
use ncirrus_layout::{Error, ErrorKind, Limits, LockExt, Query, QueryAxis, QueryBox, Result};
use ncirrus_model::Values;
use std::collections::{HashMap, HashSet};

/// The number of each variable's sequence: that of its first column.
pub(super) fn numbered(variables: &[ShownVariable]) -> Vec<Option<usize>> {
    let mut numbers = HashMap::new();
    let number = |(at, variable): (usize, &ShownVariable)| {
        let names: Vec<String> =
            variable.sequence()?.iter().map(|segment| segment.name.wire.clone()).collect();
        Some(*numbers.entry(names).or_insert(at))
    };
    variables.iter().enumerate().map(number).collect()
}

/// Bytes of the mark before each row.
const MARK: u64 = 4;

impl DapSource {
    /// For each sequence of which there are columns among the boxes, the request for all of these.
    pub(super) fn plan_sequences(&self, boxes: &[QueryBox]) -> Result<Vec<Query>> {
        // A list, not a map: requests keep the order in which their first columns were asked for.
        let mut requested: Vec<(usize, Vec<usize>)> = Vec::new();
        for (at, wanted) in boxes.iter().enumerate() {
            let Some(sequence) = self.sequence_of(wanted.variable) else { continue };
            match requested.iter_mut().find(|(other, _)| *other == sequence) {
                Some((_, columns)) => columns.push(at),
                None => requested.push((sequence, vec![at])),
            }
        }
        requested.into_iter().map(|(_, columns)| self.plan_sequence(boxes, columns)).collect()
    }

    fn plan_sequence(&self, boxes: &[QueryBox], columns: Vec<usize>) -> Result<Query> {
        // Two boxes may be of the same column, which is requested once. Sorted, since servers send columns in the order
        // of the declaration, whatever the order in the constraint.
        let mut wanted: Vec<usize> =
            columns.iter().filter_map(|at| boxes.get(*at)).map(|column| column.variable).collect();
        wanted.sort_unstable();
        wanted.dedup();
        let mut pending = PendingQuery::new(self);
        for variable in &wanted {
            let variable = self.numbered(*variable)?;
            self.project(&mut pending.constraint, variable, &[])?;
        }
        if pending.query(self).len() > QUERY_BYTES {
            // All columns: their names do not fit.
            (pending, wanted) = self.whole_sequence(wanted)?;
        }
        (pending.bytes, pending.is_exact) = self.row_bytes(&wanted)?;
        pending.boxes = columns;
        Ok(pending.finish(self))
    }

    /// The request for the sequence of some columns, and all of its columns.
    fn whole_sequence(&self, columns: Vec<usize>) -> Result<(PendingQuery, Vec<usize>)> {
        let mut pending = PendingQuery::new(self);
        let Some(first) = columns.first() else { return Ok((pending, columns)) };
        if let (Constraint::Dap2(constraint), Some(path)) =
            (&mut pending.constraint, self.numbered(*first)?.sequence())
        {
            let path: Vec<&WireName> = path.iter().map(|segment| &segment.name).collect();
            constraint.project(&path, &[]);
        }
        // The answer has all columns, also those that were not asked for: its length is computed from all of them.
        let sequence = self.sequence_of(*first);
        let all = (0..self.variables.len()).filter(|variable| self.sequence_of(*variable) == sequence);
        Ok((pending, all.collect()))
    }

    /// The bytes of columns, with the marks of their rows, and whether there are exactly that many.
    fn row_bytes(&self, columns: &[usize]) -> Result<(u64, bool)> {
        let (mut bytes, mut is_exact) = (0_u64, true);
        for (at, column) in columns.iter().enumerate() {
            let column = self.numbered(*column)?;
            // Each row has one mark, whatever the number of its columns: the marks are counted with the first column.
            let marks =
                if at == 0 { MARK.saturating_mul(column.shape.first().copied().unwrap_or(0)) } else { 0 };
            let own = column.answer_len(&column.shape);
            // Columns of strings have no length that is known before they arrive.
            is_exact &= own.is_some();
            let count =
                || column.shape.iter().fold(super::UNKNOWN_LEN, |len, count| len.saturating_mul(*count));
            bytes = bytes.saturating_add(own.unwrap_or_else(count)).saturating_add(marks);
        }
        Ok((bytes, is_exact))
    }

    pub(super) fn sequence_of(&self, variable: usize) -> Option<usize> {
        self.sequences.get(variable).copied().flatten()
    }

    fn numbered(&self, variable: usize) -> Result<&ShownVariable> {
        self.variables.get(variable).ok_or_else(|| Error::internal("a box of no variable"))
    }

    /// Keeps what came when the rows of a sequence were counted, or strings were measured: the variables whose paths begin
    /// so. A column is kept of the answer that counted its rows: others are not of the same answer.
    pub(crate) fn arrive(&self, arrived: &ArrivedAnswer, limits: &Limits) {
        let path = |path: &Vec<WireName>| path.iter().map(|name| name.wire.clone()).collect::<Vec<_>>();
        let paths: HashSet<Vec<String>> = arrived.paths.iter().map(path).collect();
        let is_there = |segments: &[WireSegment]| {
            let names: Vec<String> = segments.iter().map(|segment| segment.name.wire.clone()).collect();
            // A path that was requested stands for everything below it.
            (1..=names.len()).any(|len| names.get(..len).is_some_and(|begin| paths.contains(begin)))
        };
        // An answer that counted rows has columns of sequences only; one that measured strings has none.
        let is_kept = |shown: &ShownVariable| {
            shown.sequence().is_some() == arrived.counts_rows
                && is_there(shown.wire.segments())
                && !shown.shape.contains(&0)
        };
        let whole = |(variable, shown): (usize, &ShownVariable)| {
            let axis = |len: &u64| QueryAxis { start: 0, count: *len, stride: 1 };
            QueryBox { variable, axes: shown.shape.iter().chain(&shown.characters).map(axis).collect() }
        };
        let variables = self.variables.iter().enumerate().filter(|(_, shown)| is_kept(shown));
        let boxes: Vec<QueryBox> = variables.map(whole).collect();
        // What cannot be decoded is requested again when it is read, which reports why.
        let values = self.decode_answer(&boxes, &arrived.body, limits).unwrap_or_default();
        self.arrived.guard().extend(boxes.into_iter().zip(values));
    }

    pub(super) fn take_arrived_boxes(&self) -> Vec<(QueryBox, Values)> {
        std::mem::take(&mut *self.arrived.guard())
    }

    /// Rows may change between requests.
    pub(super) fn same_rows(&self, variable: &ShownVariable, shape: &[u64]) -> Result<()> {
        let Some(path) = variable.sequence() else { return Ok(()) };
        match (shape.first(), variable.shape.first()) {
            (Some(now), Some(before)) if now != before => {
                let name = super::shown_path(path);
                let message = format!(
                    "the sequence {name} has {now} rows; it had {before} when the dataset was opened"
                );
                Err(Error::new(ErrorKind::Changed, message))
            }
            _ => Ok(()),
        }
    }
}
