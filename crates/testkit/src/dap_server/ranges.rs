//! Names and ranges of constraints.
use super::Refusal;
use ncirrus_model::{AxisSelection, Selection};

/// A name and its ranges as text.
pub(super) fn parts(clause: &str) -> (String, Vec<String>) {
    let (name, rest) = clause.split_once('[').map_or((clause, ""), |(name, rest)| (name, rest));
    let ranges = rest.trim_end_matches(']').split("][").filter(|text| !text.is_empty());
    (name.to_owned(), ranges.map(str::to_owned).collect())
}

/// A name of a path, and its ranges as text.
pub(super) struct PathPart {
    pub(super) name: String,
    pub(super) ranges: Vec<String>,
}

/// The parts of a path of DAP2: dots inside ranges do not separate.
pub(super) fn path_of(clause: &str) -> Vec<PathPart> {
    let mut texts = vec![String::new()];
    let mut is_inside = false;
    for letter in clause.chars() {
        is_inside = if letter == ']' { false } else { is_inside || letter == '[' };
        match texts.last_mut() {
            Some(text) if letter != '.' || is_inside => text.push(letter),
            _ => texts.push(String::new()),
        }
    }
    let part = |text: &String| {
        let (name, ranges) = parts(text);
        PathPart { name, ranges }
    };
    texts.iter().map(part).collect()
}

/// The selection of a variable of that shape; no ranges are all of it.
pub(super) fn selection(ranges: &[String], shape: &[u64]) -> Result<Selection, Refusal> {
    if ranges.is_empty() {
        return Ok(Selection::all(shape));
    }
    let wrong = |what: String| ("400 Bad Request", what);
    if ranges.len() != shape.len() {
        return Err(wrong(format!("{} ranges for {} dimensions", ranges.len(), shape.len())));
    }
    let mut axes = Vec::new();
    for (range, len) in ranges.iter().zip(shape) {
        let numbers: Option<Vec<u64>> = range.split(':').map(|text| text.parse().ok()).collect();
        let (start, stride, stop) = match numbers.as_deref() {
            Some([index]) => (*index, 1, *index),
            Some([start, stop]) => (*start, 1, *stop),
            Some([start, stride, stop]) => (*start, *stride, *stop),
            _ => return Err(wrong(format!("the range {range}"))),
        };
        if start > stop || stop >= *len || stride == 0 {
            return Err(wrong(format!("the range {range} of {len}")));
        }
        axes.push(AxisSelection::Slice { start, count: (stop - start) / stride + 1, stride });
    }
    Ok(Selection::new(axes))
}
