//! Which chunks of a variable are stored, and in how many bytes.
use super::failure::{Failure, json_response};
use super::parameters::Call;
use super::work::work;
use axum::response::Response;
use ncirrus::internals::DatasetInternals;
use ncirrus::store::LocalStore;
use ncirrus::{Error, Location, Selection, Storage, Variable};
use serde_json::{Value, json};
use std::collections::HashMap;

/// Rows and columns of a map of chunks at most.
const EDGE: u64 = 64;
/// Indices of chunks in one response, for variables of many dimensions.
const INDICES: u64 = 1 << 16;

/// The chunks along the last two dimensions, at the chunk indices `at` of the others.
pub(super) async fn chunks(call: Call) -> Response {
    work(call, |call| {
        let served = call.dataset()?;
        let variable = call.variable(served.dataset())?;
        let bounds = chunk_bounds(&variable)?;
        let at = call.indices("at")?;
        Ok(json_response(&window(&variable, &bounds, &at)?))
    })
    .await
}

/// Where the chunks along each dimension start, and where the last one ends. The numbers are of the dataset: they are not
/// listed one by one.
enum Bounds {
    Regular { chunk: u64, length: u64 },
    Irregular(Vec<u64>),
}

impl Bounds {
    fn count(&self) -> u64 {
        match self {
            Self::Regular { chunk, length } => length.div_ceil(*chunk),
            Self::Irregular(ends) => ends.len() as u64,
        }
    }

    /// The first index of a chunk, and the one after its last.
    fn of(&self, cell: u64) -> Option<(u64, u64)> {
        match self {
            Self::Regular { chunk, length } => {
                let start = cell.checked_mul(*chunk).filter(|start| start < length)?;
                Some((start, start.saturating_add(*chunk).min(*length)))
            }
            Self::Irregular(ends) => {
                let at = usize::try_from(cell).ok()?;
                let start = at.checked_sub(1).map_or(Some(0), |before| ends.get(before).copied())?;
                Some((start, *ends.get(at)?))
            }
        }
    }
}

fn chunk_bounds(variable: &Variable) -> Result<Vec<Bounds>, Failure> {
    if let Some(lengths) = variable.chunk_lengths() {
        let ends = |lengths: Vec<u64>| {
            lengths
                .into_iter()
                .scan(0u64, |end, length| {
                    *end = end.saturating_add(length);
                    Some(*end)
                })
                .collect()
        };
        return Ok(lengths.into_iter().map(|lengths| Bounds::Irregular(ends(lengths))).collect());
    }
    let Storage::Chunked(chunks) = variable.storage() else {
        return Err(Error::invalid("the variable is not stored in chunks").at_path(variable.path()).into());
    };
    let shape = variable.shape();
    let pairs = chunks.iter().zip(&shape);
    Ok(pairs.map(|(chunk, length)| Bounds::Regular { chunk: (*chunk).max(1), length: *length }).collect())
}

fn window(variable: &Variable, bounds: &[Bounds], at: &[u64]) -> Result<Value, Failure> {
    let rank = bounds.len();
    let shown = |axis: usize| axis + 2 >= rank;
    let edge = (INDICES / (rank as u64).max(1)).isqrt().clamp(1, EDGE);
    let mut ranges = Vec::new();
    for (axis, bounds) in bounds.iter().enumerate() {
        let count = bounds.count();
        let first = if shown(axis) { 0 } else { at.get(axis).copied().unwrap_or(0) };
        if first >= count {
            let message =
                format!("the chunk index {first} is past the end: there are {count} along dimension {axis}");
            return Err(Error::invalid(message).at_path(variable.path()).into());
        }
        ranges.push(if shown(axis) { 0..count.min(edge) } else { first..first + 1 });
    }
    let corner =
        |cell: u64, axis: usize| bounds.get(axis).and_then(|bounds| bounds.of(cell)).unwrap_or_default();
    let starts: Vec<u64> =
        ranges.iter().enumerate().map(|(axis, range)| corner(range.start, axis).0).collect();
    let ends = ranges.iter().enumerate().map(|(axis, range)| corner(range.end.saturating_sub(1), axis).1);
    let counts: Vec<u64> = ends.zip(&starts).map(|(end, start)| end - start).collect();
    let stored = variable.chunks(&Selection::slab(&starts, &counts))?;
    let store = variable.dataset().reader()?.store();
    let mut lengths: HashMap<Vec<u64>, Option<u64>> = HashMap::new();
    for chunk in stored {
        if let Some(length) = length_of(&chunk.stored.location, store.local())? {
            lengths.insert(chunk.start, length);
        }
    }
    let one = 0..1;
    let (rows, columns) = match ranges.as_slice() {
        [.., rows, columns] => (rows, columns),
        [columns] => (&one, columns),
        [] => (&one, &one),
    };
    let (mut cells, mut missing, mut bytes) = (Vec::new(), 0u64, 0u64);
    for row in rows.clone() {
        for column in columns.clone() {
            let index: Vec<u64> = (0..rank)
                .map(|axis| match rank - axis {
                    1 => column,
                    2 => row,
                    _ => ranges.get(axis).map_or(0, |range| range.start),
                })
                .collect();
            let corners: Vec<(u64, u64)> =
                index.iter().enumerate().map(|(axis, cell)| corner(*cell, axis)).collect();
            let start: Vec<u64> = corners.iter().map(|corner| corner.0).collect();
            let stop: Vec<u64> = corners.iter().map(|corner| corner.1).collect();
            let length = lengths.get(&start);
            missing += u64::from(length.is_none());
            bytes = bytes.saturating_add(length.copied().flatten().unwrap_or(0));
            cells.push(json!({"start": start, "stop": stop, "stored": length.is_some(), "length": length}));
        }
    }
    let grid: Vec<u64> = bounds.iter().map(Bounds::count).collect();
    let left_out = grid.iter().skip(rank.saturating_sub(2)).any(|count| *count > edge);
    Ok(json!({
        "grid": grid, "rows": rows.clone().collect::<Vec<_>>(), "columns": columns.clone().collect::<Vec<_>>(),
        "stored": cells.len() as u64 - missing, "missing": missing, "bytes": bytes, "left_out": left_out, "cells": cells,
    }))
}

/// The bytes of a stored chunk; `None` if it is missing, `Some(None)` if only a request can show whether it is there.
fn length_of(location: &Location, store: Option<&dyn LocalStore>) -> Result<Option<Option<u64>>, Failure> {
    Ok(match location {
        Location::Bytes(_, range) => Some(Some(range.end.saturating_sub(range.start))),
        Location::Object(object) => match store.map(|store| store.stat(object)).transpose()? {
            Some(found) => found.map(|(length, _)| Some(length)),
            None => Some(None),
        },
        Location::Inline(bytes) => Some(Some(bytes.len() as u64)),
        Location::Absent => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edge_chunks_end_with_the_variable() {
        let regular = Bounds::Regular { chunk: 4, length: 10 };
        assert_eq!((regular.count(), regular.of(2), regular.of(3)), (3, Some((8, 10)), None));
        let irregular = Bounds::Irregular(vec![3, 5, 9]);
        assert_eq!((irregular.count(), irregular.of(0), irregular.of(2)), (3, Some((0, 3)), Some((5, 9))));
        assert_eq!(irregular.of(3), None);
    }
}
