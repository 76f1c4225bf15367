//! Boxes of variables as requests, and the answers to them (docs/spec/dap.md 4, 6.5, 7.2).
mod sequences;
mod stream;

use crate::chunks::is_wrong_checksum;
use crate::conversion::ValueConversion;
use crate::cut::take;
use crate::place::{DapPlace, DapProtocol};
use crate::shown::{ShownVariable, WirePath, WireSegment};
use crate::{
    ChecksumRule, Dap2Constraint, Dap4Constraint, DapAnswer, Dds, DdsKind, DdsVariable, DodsAnswer,
    QUERY_BYTES, QueryEncoding, QueryRange, WireName, XdrPeculiarities,
};
use bytes::Bytes;
use ncirrus_layout::{
    Error, ErrorKind, Limits, Query, QueryAxis, QueryBox, QueryDecoder, QuerySource, Result,
};
use ncirrus_model::Values;
use std::sync::{Arc, Mutex};
use stream::AnswerDecoder;

/// The variables of a dataset, which a server sends boxes of.
#[derive(Debug)]
pub(crate) struct DapSource {
    pub(crate) place: Arc<DapPlace>,
    /// By the number that their layout has.
    pub(crate) variables: Vec<ShownVariable>,
    /// Of each variable, the number of the sequence that it is a column of.
    sequences: Vec<Option<usize>>,
    /// Columns and strings that came when the dataset was opened.
    arrived: Mutex<Vec<(QueryBox, Values)>>,
}

/// An answer that came when a dataset was opened.
#[derive(Debug)]
pub(crate) struct ArrivedAnswer {
    /// The paths of the columns or strings that were asked for.
    pub(crate) paths: Vec<Vec<WireName>>,
    pub(crate) body: Bytes,
    /// Whether it determines the number of rows of a sequence.
    pub(crate) counts_rows: bool,
}

impl QuerySource for DapSource {
    fn plan(&self, boxes: &[QueryBox]) -> Result<Vec<Query>> {
        let mut queries = Vec::new();
        let mut begun: Option<PendingQuery> = None;
        for (at, wanted) in boxes.iter().enumerate() {
            if self.sequence_of(wanted.variable).is_some() {
                continue;
            }
            let together = begun.as_ref().filter(|begun| !begun.has(boxes, wanted.variable));
            if let Some(together) = together {
                let more = together.clone().with(self, at, wanted)?;
                if more.query(self).len() <= QUERY_BYTES {
                    begun = Some(more);
                    continue;
                }
            }
            queries.extend(begun.take().map(|begun| begun.finish(self)));
            begun = Some(PendingQuery::new(self).with(self, at, wanted)?);
        }
        queries.extend(begun.map(|begun| begun.finish(self)));
        queries.extend(self.plan_sequences(boxes)?);
        Ok(queries)
    }

    fn decode(&self, boxes: &[QueryBox], answer: &Bytes, limits: &Limits) -> Result<Vec<Values>> {
        self.decode_answer(boxes, answer, limits)
    }

    fn decoder<'a>(&'a self, wanted: &'a QueryBox, limits: &'a Limits) -> Box<dyn QueryDecoder + 'a> {
        Box::new(AnswerDecoder::new(self, wanted, limits))
    }

    fn element_len(&self, variable: usize) -> Option<u64> {
        let variable = self.variables.get(variable)?;
        // Elements are characters then, about as many as there are bytes.
        variable.characters.map_or(variable.element_len, |_| Some(1))
    }

    fn sequence(&self, variable: usize) -> Option<usize> {
        self.sequence_of(variable)
    }

    fn take_arrived(&self) -> Vec<(QueryBox, Values)> {
        self.take_arrived_boxes()
    }

    fn companions(&self, variable: usize) -> Vec<QueryBox> {
        let is_small = |variable: &ShownVariable| {
            let count = variable.shape.iter().try_fold(1_u64, |count, len| count.checked_mul(*len));
            let bytes = count.zip(variable.element_len).and_then(|(count, len)| count.checked_mul(len));
            variable.is_coordinate && bytes.is_some_and(|bytes| bytes > 0 && bytes <= TOGETHER_BYTES)
        };
        if !self.variables.get(variable).is_some_and(is_small) {
            return Vec::new();
        }
        let whole = |(number, variable): (usize, &ShownVariable)| {
            let axis = |len: &u64| QueryAxis { start: 0, count: *len, stride: 1 };
            QueryBox { variable: number, axes: variable.shape.iter().map(axis).collect() }
        };
        let small = self.variables.iter().enumerate().filter(|(_, variable)| is_small(variable));
        // The variable itself comes in any case.
        let (own, others): (Vec<_>, Vec<_>) = small.map(whole).partition(|whole| whole.variable == variable);
        own.into_iter().chain(others).take(TOGETHER).collect()
    }

    fn adapts(&self, error: &Error) -> bool {
        self.place.adapts(error)
    }

    fn is_damaged(&self, error: &Error) -> bool {
        is_wrong_checksum(error)
    }

    fn is_too_large(&self, error: &Error) -> bool {
        let words =
            ["too large", "too big", "limit", "exceed", "memory", "timeout", "timed out", "no answer within"];
        let text = error.message().to_ascii_lowercase();
        let is_refusal = !matches!(error.kind(), ErrorKind::NotFound | ErrorKind::Malformed);
        is_refusal && words.iter().any(|word| text.contains(word))
    }
}

/// Bytes that a value of unknown length is taken for.
const UNKNOWN_LEN: u64 = 64;
/// Coordinates of at most this many bytes come together with the first of them.
const TOGETHER_BYTES: u64 = 64 << 10;
/// Maximum number of them.
const TOGETHER: usize = 256;

/// A request that boxes are added to.
#[derive(Debug, Clone)]
struct PendingQuery {
    constraint: Constraint,
    boxes: Vec<usize>,
    bytes: u64,
    is_exact: bool,
}

#[derive(Debug, Clone)]
enum Constraint {
    Dap2(Dap2Constraint),
    Dap4(Dap4Constraint),
    /// All that the address asks for, whatever is read.
    Fixed(String),
}

impl PendingQuery {
    fn new(source: &DapSource) -> Self {
        let place = &source.place;
        let constraint = match place.protocol {
            DapProtocol::Dap2 if place.constraint.has_functions() => {
                Constraint::Fixed(place.constraint.query(source.encoding()))
            }
            DapProtocol::Dap2 => Constraint::Dap2(place.constraint.selections_only()),
            // Elements of a part are counted in it: all of it comes, and the box is taken from it.
            DapProtocol::Dap4 if !place.expression.is_empty() => {
                Constraint::Fixed(place.expression.query(source.encoding()))
            }
            DapProtocol::Dap4 => Constraint::Dap4(Dap4Constraint::default()),
        };
        Self { constraint, boxes: Vec::new(), bytes: 0, is_exact: true }
    }

    /// Whether a box of that variable is in it: servers take what is asked for twice as they like.
    fn has(&self, boxes: &[QueryBox], variable: usize) -> bool {
        self.boxes.iter().any(|at| boxes.get(*at).is_some_and(|other| other.variable == variable))
    }

    fn with(mut self, source: &DapSource, at: usize, wanted: &QueryBox) -> Result<Self> {
        let variable = source.variable(wanted)?;
        source.project(&mut self.constraint, variable, &wanted.axes)?;
        let counts: Vec<u64> = wanted.axes.iter().map(|axis| axis.count).collect();
        let bytes = variable.answer_len(&counts);
        self.boxes.push(at);
        self.is_exact &= bytes.is_some();
        let unknown = if variable.characters.is_some() { 1 } else { UNKNOWN_LEN };
        let bytes = bytes.unwrap_or_else(|| wanted.count().saturating_mul(unknown));
        self.bytes = self.bytes.saturating_add(bytes);
        Ok(self)
    }

    fn query(&self, source: &DapSource) -> String {
        match &self.constraint {
            Constraint::Dap2(constraint) => constraint.query(source.encoding()),
            Constraint::Dap4(constraint) => constraint.query(source.encoding()),
            Constraint::Fixed(query) => query.clone(),
        }
    }

    fn finish(self, source: &DapSource) -> Query {
        let suffix = match source.place.protocol {
            DapProtocol::Dap2 => ".dods",
            DapProtocol::Dap4 => ".dap",
        };
        let object = source.place.response(suffix, &self.query(source));
        Query { object, boxes: self.boxes, bytes: self.bytes, is_exact: self.is_exact }
    }
}

impl DapSource {
    /// The variables by their numbers.
    pub(crate) fn new(place: Arc<DapPlace>, variables: Vec<ShownVariable>) -> Self {
        let sequences = sequences::numbered(&variables);
        Self { place, variables, sequences, arrived: Mutex::default() }
    }

    /// The values of boxes in an answer that is complete.
    pub(crate) fn decode_answer(
        &self,
        boxes: &[QueryBox],
        answer: &Bytes,
        limits: &Limits,
    ) -> Result<Vec<Values>> {
        match self.place.protocol {
            DapProtocol::Dap2 => self.decode_dap2(boxes, answer, limits),
            DapProtocol::Dap4 => self.decode_dap4(boxes, answer, limits),
        }
    }

    fn encoding(&self) -> QueryEncoding {
        self.place.encoding()
    }

    fn variable(&self, wanted: &QueryBox) -> Result<&ShownVariable> {
        self.variables.get(wanted.variable).ok_or_else(|| Error::internal("a box of no variable"))
    }

    /// Asks for a box, too.
    fn project(
        &self,
        constraint: &mut Constraint,
        variable: &ShownVariable,
        axes: &[QueryAxis],
    ) -> Result<()> {
        // Rows have no numbers on the wire: all of them come.
        let in_rows = variable.sequence().is_some();
        let is_whole = axes.iter().zip(&variable.shape).all(|(axis, len)| axis.count == *len);
        let axes = axes.get(..variable.shape.len()).unwrap_or(axes);
        let ranges = || {
            let range = |axis: &QueryAxis| QueryRange::new(axis.start, axis.count, axis.stride);
            axes.iter().map(range).collect::<Result<Vec<_>>>()
        };
        match (&variable.wire, constraint) {
            (WirePath::Dap2 { segments, map, .. }, Constraint::Dap2(constraint)) => {
                let names: Vec<&WireName> = segments.iter().map(|segment| &segment.name).collect();
                let base = self.place.constraint.ranges_of(&names).filter(|_| !in_rows);
                let is_plain = in_rows || (is_whole && base.is_none());
                let mut ranges = if is_plain { Vec::new() } else { ranges()? };
                if let Some((len, base)) = base {
                    // The ranges of a grid are those of its array, and each of them that of a map.
                    let base = match map.filter(|_| len < names.len()) {
                        Some(map) => base.get(map..=map).unwrap_or_default(),
                        None => &base,
                    };
                    for (range, base) in ranges.iter_mut().zip(base) {
                        *range = range.within(*base)?;
                    }
                }
                constraint.project_parts(&parts_of(segments, &ranges));
            }
            (WirePath::Dap4 { path }, Constraint::Dap4(constraint)) => {
                let ranges = if is_whole { Vec::new() } else { ranges()? };
                let path: Vec<&str> = path.iter().map(String::as_str).collect();
                constraint.project(&path, &[], &ranges);
            }
            (_, Constraint::Fixed(_)) => {}
            _ => return Err(Error::internal("a path of another protocol")),
        }
        Ok(())
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
            let absent = || Error::malformed(format!("the answer has no /{}", shown_path(segments)));
            let (place, _) = answer.dds.find(&path).ok_or_else(absent)?;
            let column = values.at(&place).ok_or_else(absent)?;
            let shape = answer_shape(&answer.dds, &place, column.len())?;
            let axes = wanted.axes.get(..variable.shape.len()).unwrap_or(&wanted.axes);
            self.same_rows(variable, &shape)?;
            finish(variable, take(column.clone(), &shape, axes)?, wanted)
        };
        boxes.iter().map(one).collect()
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
    if let Some(atomic) = variable.atomic.filter(|atomic| values.atomic() != Some(*atomic)) {
        let sent = values.atomic().map_or("values of another kind".to_owned(), |sent| sent.name().to_owned());
        let message = format!("the answer has {sent} where the dataset has {}", atomic.name());
        return Err(Error::malformed(message));
    }
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

/// Each name with the ranges of its own dimensions.
fn parts_of<'a>(
    segments: &'a [WireSegment],
    ranges: &'a [QueryRange],
) -> Vec<(&'a WireName, &'a [QueryRange])> {
    let mut rest = ranges;
    let mut parts = Vec::new();
    for segment in segments {
        let (own, after) = rest.split_at(segment.rank.min(rest.len()));
        parts.push((&segment.name, own));
        rest = after;
    }
    parts
}

fn shown_path(segments: &[WireSegment]) -> String {
    segments.iter().map(|segment| segment.name.shown.as_str()).collect::<Vec<_>>().join(".")
}
