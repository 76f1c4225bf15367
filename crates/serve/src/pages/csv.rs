//! Values of a selection with their coordinates as lines of text (RFC 4180).
use super::coordinates::coordinate;
use super::failure::Failure;
use super::variable::coordinates;
use super::work::HELD;
use crate::HttpError;
use ncirrus::{Atomic, AxisSelection, Error, ErrorKind, Selection, TypeRef, Values, Variable};
use std::fmt::Write as _;

/// Values of one block at most.
const BLOCK: u64 = 1 << 15;
/// Coordinates of one dimension at most, which are held while lines are written.
const COORDINATES: u64 = 1 << 22;
/// Bytes of a coordinate in memory, about.
const COORDINATE: u64 = 48;

/// The lines of a selection, block by block: a line of names, then one line for each value, in row-major order.
pub(super) struct CsvLines {
    variable: Variable,
    /// The parts that remain, the next one last.
    blocks: Vec<(Selection, Vec<u64>)>,
    axes: Vec<Vec<String>>,
    header: Option<String>,
}

impl CsvLines {
    /// The lines. Reads the coordinates; with `is_shared`, they must fit in the memory that a response holds.
    pub(super) fn new(variable: &Variable, selection: &Selection, is_shared: bool) -> Result<Self, Failure> {
        let dataset = variable.dataset();
        let model = dataset.model()?;
        let group = model.variable_group(variable.id()).unwrap_or_else(|| model.root());
        let dims = model.variable(variable.id()).map(|variable| variable.dims.clone()).unwrap_or_default();
        let (mut names, mut axes) = (Vec::new(), Vec::new());
        let mut left = if is_shared { HELD / COORDINATE } else { u64::MAX };
        for (dim, axis) in dims.iter().zip(selection.axes()) {
            let max = COORDINATES.min(left);
            if axis.count() > max {
                let message = format!("a CSV of more than {max} coordinates along one dimension");
                return Err(Error::new(ErrorKind::Limit, message).into());
            }
            left -= axis.count();
            let name = model.dimension(*dim).map(|dimension| dimension.name.clone()).unwrap_or_default();
            let known = coordinate(dataset, &model, group, *dim);
            let read = known.filter(|found| found.decoding().is_ok());
            axes.push(match &read {
                Some(found) => texts(found, &Selection::new(vec![axis.clone()]))?,
                None => {
                    (0..axis.count()).filter_map(|at| axis.index(at)).map(|index| index.to_string()).collect()
                }
            });
            names.push(if read.is_some() { name } else { format!("{name} (index)") });
        }
        names.push(variable.name());
        let names: Vec<String> = names.iter().map(|name| field(name)).collect();
        let origin = vec![0; selection.rank()];
        let header = Some(format!("{}\r\n", names.join(",")));
        Ok(Self { variable: variable.clone(), blocks: vec![(selection.clone(), origin)], axes, header })
    }

    /// Bytes of the coordinates in memory, about.
    pub(super) fn held_bytes(&self) -> u64 {
        self.axes.iter().map(|axis| axis.len() as u64 * COORDINATE).sum()
    }

    /// The lines of the next block; `None` at the end.
    pub(super) fn next_block(&mut self) -> Result<Option<String>, HttpError> {
        let mut text = self.header.take().unwrap_or_default();
        while let Some((selection, origin)) = self.blocks.pop() {
            if selection.element_count().is_some_and(|count| count <= BLOCK) {
                self.write(&selection, &origin, &mut text)?;
                return Ok(Some(text));
            }
            self.blocks.extend(halves(&selection, &origin));
        }
        Ok((!text.is_empty()).then_some(text))
    }

    fn write(&self, selection: &Selection, origin: &[u64], text: &mut String) -> Result<(), HttpError> {
        let numbers = self.variable.read_decoded(selection)?.numbers();
        let shape = selection.shape();
        let mut at = origin.to_vec();
        for number in numbers {
            for (axis, place) in self.axes.iter().zip(&at) {
                let found = usize::try_from(*place).ok().and_then(|place| axis.get(place));
                text.push_str(found.map_or("", String::as_str));
                text.push(',');
            }
            if number.is_nan() {
                text.push_str("\r\n");
            } else {
                // Writing to a string does not fail.
                _ = write!(text, "{number}\r\n");
            }
            advance(&mut at, origin, &shape);
        }
        Ok(())
    }
}

/// The parts of a selection along its first dimension that is longer than 1; the second part comes first.
fn halves(selection: &Selection, origin: &[u64]) -> Vec<(Selection, Vec<u64>)> {
    let Some(axis) = selection.shape().iter().position(|len| *len > 1) else { return Vec::new() };
    let part = |from: u64, to: u64| {
        let mut axes = selection.axes().to_vec();
        let kept = axes.get_mut(axis)?;
        *kept = match &*kept {
            AxisSelection::Slice { start, stride, .. } => {
                AxisSelection::Slice { start: start + from * stride, count: to - from, stride: *stride }
            }
            indices => AxisSelection::Indices((from..to).filter_map(|at| indices.index(at)).collect()),
        };
        Some(Selection::new(axes))
    };
    let len = selection.shape().get(axis).copied().unwrap_or(0);
    let mut second = origin.to_vec();
    if let Some(start) = second.get_mut(axis) {
        *start += len / 2;
    }
    let parts = [(part(len / 2, len), second), (part(0, len / 2), origin.to_vec())];
    parts.into_iter().filter_map(|(part, origin)| Some((part?, origin))).collect()
}

/// The next indices in row-major order.
fn advance(at: &mut [u64], origin: &[u64], shape: &[u64]) {
    for axis in (0..at.len()).rev() {
        let (Some(place), Some(start), Some(len)) = (at.get_mut(axis), origin.get(axis), shape.get(axis))
        else {
            return;
        };
        *place += 1;
        if *place < start + len {
            return;
        }
        *place = *start;
    }
}

fn texts(variable: &Variable, selection: &Selection) -> Result<Vec<String>, Failure> {
    if matches!(variable.ty(), Some(TypeRef::Atomic(Atomic::Char | Atomic::String))) {
        return Ok(words(&variable.values(selection)?));
    }
    let (numbers, dates) = coordinates(variable, selection)?;
    Ok(match dates {
        Some(dates) => dates,
        None => numbers
            .iter()
            .map(|number| if number.is_nan() { String::new() } else { number.to_string() })
            .collect(),
    })
}

/// Texts, and single characters, as fields.
fn words(values: &Values) -> Vec<String> {
    let word = |bytes: &[u8]| field(String::from_utf8_lossy(bytes).trim_end_matches('\0'));
    match values {
        Values::Char(letters) => letters.chunks(1).map(word).collect(),
        Values::String(texts) => texts.iter().map(|text| word(text.unwrap_or_default())).collect(),
        _ => Vec::new(),
    }
}

/// A field, in quotation marks if it has a comma, a quotation mark or a line end.
fn field(text: &str) -> String {
    if text.contains(['"', ',', '\r', '\n']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_selection_are_in_row_major_order_and_know_where_they_begin() {
        let selection = Selection::strided(&[1, 0], &[1, 5], &[1, 2]);
        let mut parts = halves(&selection, &[0, 0]);
        let (first, origin) = parts.pop().unwrap();
        assert_eq!((first.shape(), origin), (vec![1, 2], vec![0, 0]));
        let (second, origin) = parts.pop().unwrap();
        assert_eq!((second.shape(), origin), (vec![1, 3], vec![0, 2]));
        assert_eq!(second.axes()[1].index(0), Some(4));
    }

    #[test]
    fn indices_advance_within_their_part() {
        let mut at = vec![2, 4];
        let seen: Vec<Vec<u64>> = (0..4)
            .map(|_| {
                let now = at.clone();
                advance(&mut at, &[2, 4], &[2, 2]);
                now
            })
            .collect();
        assert_eq!(seen, [[2, 4], [2, 5], [3, 4], [3, 5]]);
    }

    #[test]
    fn names_with_commas_are_quoted() {
        assert_eq!(field("a,\"b\""), "\"a,\"\"b\"\"\"");
        assert_eq!(field("time"), "time");
    }
}
