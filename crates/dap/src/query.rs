//! Boxes of variables as requests, and the answers to them (docs/spec/dap.md 4, 6.5, 7.2).
use crate::conversion::ValueConversion;
use crate::cut::take;
use crate::place::{DapPlace, DapProtocol};
use crate::shown::{ShownVariable, WirePath, WireSegment};
use crate::{
    ChecksumRule, Dap4Constraint, DapAnswer, Dds, DdsKind, DdsVariable, DodsAnswer, QueryRange, WireName,
    XdrPeculiarities,
};
use bytes::Bytes;
use ncirrus_layout::{Error, ErrorKind, Limits, Query, QueryAxis, QueryBox, QuerySource, Result};
use ncirrus_model::Values;
use std::sync::Arc;

/// The variables of a dataset, which a server sends boxes of.
#[derive(Debug)]
pub(crate) struct DapSource {
    pub(crate) place: Arc<DapPlace>,
    /// By the number that their layout has.
    pub(crate) variables: Vec<ShownVariable>,
}

impl QuerySource for DapSource {
    fn plan(&self, boxes: &[QueryBox]) -> Result<Vec<Query>> {
        let one = |(at, wanted): (usize, &QueryBox)| {
            let variable = self.variable(wanted)?;
            let query = self.query(variable, &wanted.axes)?;
            let suffix = match self.place.protocol {
                DapProtocol::Dap2 => ".dods",
                DapProtocol::Dap4 => ".dap",
            };
            let object = self.place.response(suffix, &query);
            let count = wanted.count();
            let bytes = variable.element_len.unwrap_or(UNKNOWN_LEN).saturating_mul(count);
            Ok(Query { object, boxes: vec![at], bytes, is_exact: variable.element_len.is_some() })
        };
        boxes.iter().enumerate().map(one).collect()
    }

    fn decode(&self, boxes: &[QueryBox], answer: &Bytes, limits: &Limits) -> Result<Vec<Values>> {
        match self.place.protocol {
            DapProtocol::Dap2 => self.decode_dap2(boxes, answer, limits),
            DapProtocol::Dap4 => self.decode_dap4(boxes, answer, limits),
        }
    }

    fn element_len(&self, variable: usize) -> Option<u64> {
        self.variables.get(variable)?.element_len
    }

    fn is_too_large(&self, error: &Error) -> bool {
        let words = ["too large", "too big", "limit", "exceed", "memory", "timeout", "timed out"];
        let text = error.message().to_ascii_lowercase();
        let is_refusal = !matches!(error.kind(), ErrorKind::NotFound | ErrorKind::Malformed);
        is_refusal && words.iter().any(|word| text.contains(word))
    }
}

/// Bytes that a value of unknown length is taken for.
const UNKNOWN_LEN: u64 = 64;

impl DapSource {
    fn variable(&self, wanted: &QueryBox) -> Result<&ShownVariable> {
        self.variables.get(wanted.variable).ok_or_else(|| Error::internal("a box of no variable"))
    }

    /// The query for a box.
    fn query(&self, variable: &ShownVariable, axes: &[QueryAxis]) -> Result<String> {
        let is_whole = axes.iter().zip(&variable.shape).all(|(axis, len)| axis.count == *len);
        let axes = axes.get(..variable.shape.len()).unwrap_or(axes);
        let ranges = axes.iter().map(|axis| QueryRange::new(axis.start, axis.count, axis.stride));
        match &variable.wire {
            WirePath::Dap2 { .. } if self.place.constraint.has_functions() => {
                Ok(self.place.constraint.query(self.place.encoding))
            }
            WirePath::Dap2 { segments, in_rows, map } => {
                let mut constraint = self.place.constraint.selections_only();
                let names: Vec<&WireName> = segments.iter().map(|segment| &segment.name).collect();
                let base = self.place.constraint.ranges_of(&names);
                // Rows have no numbers on the wire.
                let is_plain = *in_rows || (is_whole && base.is_none());
                let mut ranges = if is_plain { Vec::new() } else { ranges.collect::<Result<Vec<_>>>()? };
                if let Some((len, base)) = base.filter(|_| !is_plain) {
                    // The ranges of a grid are those of its array, and each of them that of a map.
                    let base = match map.filter(|_| len < names.len()) {
                        Some(map) => base.get(map..=map).unwrap_or_default(),
                        None => &base,
                    };
                    for (range, base) in ranges.iter_mut().zip(base) {
                        *range = range.within(*base)?;
                    }
                }
                let mut rest = ranges.as_slice();
                let path: Vec<(&WireName, &[QueryRange])> = segments
                    .iter()
                    .map(|segment| {
                        let (own, after) = rest.split_at(segment.rank.min(rest.len()));
                        rest = after;
                        (&segment.name, own)
                    })
                    .collect();
                constraint.project_parts(&path);
                Ok(constraint.query(self.place.encoding))
            }
            // Elements of a part are counted in it: all of it comes, and the box is taken from it.
            WirePath::Dap4 { .. } if !self.place.expression.is_empty() => {
                Ok(self.place.expression.query(self.place.encoding))
            }
            WirePath::Dap4 { path } => {
                let mut constraint = Dap4Constraint::default();
                let ranges = if is_whole { Vec::new() } else { ranges.collect::<Result<Vec<_>>>()? };
                let path: Vec<&str> = path.iter().map(String::as_str).collect();
                constraint.project(&path, &[], &ranges);
                Ok(constraint.query(self.place.encoding))
            }
        }
    }

    fn decode_dap2(&self, boxes: &[QueryBox], answer: &Bytes, limits: &Limits) -> Result<Vec<Values>> {
        let answer = DodsAnswer::parse(answer, limits)?;
        let values = answer.values(XdrPeculiarities::default(), limits)?;
        let one = |wanted: &QueryBox| {
            let variable = self.variable(wanted)?;
            let WirePath::Dap2 { segments, .. } = &variable.wire else {
                return Err(Error::internal("a path of another protocol"));
            };
            let path: Vec<&WireName> = segments.iter().map(|segment| &segment.name).collect();
            let absent = || Error::malformed(format!("the answer has no {}", shown_path(segments)));
            let (place, _) = answer.dds.find(&path).ok_or_else(absent)?;
            let column = values.at(&place).ok_or_else(absent)?;
            let shape = answer_shape(&answer.dds, &place, column.len())?;
            let axes = wanted.axes.get(..variable.shape.len()).unwrap_or(&wanted.axes);
            self.same_rows(variable, &shape)?;
            finish(variable, take(column.clone(), &shape, axes)?, wanted)
        };
        boxes.iter().map(one).collect()
    }

    /// Rows may change between requests.
    fn same_rows(&self, variable: &ShownVariable, shape: &[u64]) -> Result<()> {
        let WirePath::Dap2 { in_rows: true, .. } = &variable.wire else { return Ok(()) };
        match (shape.first(), variable.shape.first()) {
            (Some(now), Some(before)) if now != before => Err(Error::new(
                ErrorKind::Changed,
                format!("the sequence has {now} rows; it had {before} when the dataset was opened"),
            )),
            _ => Ok(()),
        }
    }

    fn decode_dap4(&self, boxes: &[QueryBox], answer: &Bytes, limits: &Limits) -> Result<Vec<Values>> {
        let answer = DapAnswer::parse(answer, limits)?;
        let rule = if self.place.ignores_checksums { ChecksumRule::Ignore } else { ChecksumRule::Verify };
        let values = answer.values(rule, limits)?;
        let known = answer.dmr.variables();
        let one = |wanted: &QueryBox| {
            let variable = self.variable(wanted)?;
            let WirePath::Dap4 { path } = &variable.wire else {
                return Err(Error::internal("a path of another protocol"));
            };
            let is_it = |groups: &[&str], name: &str| {
                groups.len() + 1 == path.len() && groups.iter().copied().chain([name]).eq(path.iter())
            };
            let at = known.iter().position(|(groups, found)| is_it(groups, &found.name));
            let found = at.and_then(|at| known.get(at).zip(values.variables.get(at)));
            let ((_, found), column) =
                found.ok_or_else(|| Error::malformed(format!("the answer has no /{}", path.join("/"))))?;
            let shape: Vec<u64> = found.dims.iter().map(|axis| axis.size).collect();
            finish(variable, take(column.clone(), &shape, &wanted.axes)?, wanted)
        };
        boxes.iter().map(one).collect()
    }
}

/// The values of the box in the variable's type, with their characters cut out.
fn finish(variable: &ShownVariable, values: Values, wanted: &QueryBox) -> Result<Values> {
    let values = variable.conversion.convert(values)?;
    match (&variable.conversion, variable.characters, wanted.axes.get(variable.shape.len())) {
        (ValueConversion::Characters(_), Some(len), Some(axis)) => {
            let strings = (values.len() as u64).checked_div(len).unwrap_or(0);
            take(values, &[strings, len], &[QueryAxis { start: 0, count: strings, stride: 1 }, *axis])
        }
        _ => Ok(values),
    }
}

/// The shape of a column of an answer: the dimensions of everything on its path; of a sequence, its rows.
fn answer_shape(dds: &Dds, place: &[usize], len: usize) -> Result<Vec<u64>> {
    let mut shape = Vec::new();
    let mut rows = None;
    let mut members: Vec<&DdsVariable> = dds.variables.iter().collect();
    for (depth, at) in place.iter().enumerate() {
        let variable =
            members.get(*at).copied().ok_or_else(|| Error::internal("a place outside the answer"))?;
        if !matches!(variable.kind, DdsKind::Grid { .. }) {
            shape.extend(variable.dims.iter().map(|dim| dim.size));
        }
        if matches!(variable.kind, DdsKind::Sequence(_)) && depth + 1 < place.len() {
            rows = Some(shape.len());
        }
        members = variable.members();
    }
    let Some(at) = rows else { return Ok(shape) };
    let each = shape.get(at..).unwrap_or_default().iter().try_fold(1_u64, |each, len| each.checked_mul(*len));
    let count = (len as u64).checked_div(each.unwrap_or(0)).unwrap_or(0);
    Ok(std::iter::once(count).chain(shape.get(at..).unwrap_or_default().iter().copied()).collect())
}

fn shown_path(segments: &[WireSegment]) -> String {
    segments.iter().map(|segment| segment.name.shown.as_str()).collect::<Vec<_>>().join(".")
}
