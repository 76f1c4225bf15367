//! Constraint expressions of both protocols (docs/spec/dap.md 4, 6.5, 1.5).
use crate::WireName;
use crate::path::escaped;
use ncirrus_layout::{Error, Result};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use std::fmt;

/// What a query has unencoded besides letters and digits.
const QUERY: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'!')
    .remove(b'$')
    .remove(b'\'')
    .remove(b'(')
    .remove(b')')
    .remove(b'*')
    .remove(b',')
    .remove(b'-')
    .remove(b'.')
    .remove(b'/')
    .remove(b':')
    .remove(b';')
    .remove(b'=')
    .remove(b'@')
    .remove(b'_')
    .remove(b'~');

/// What a server wants raw that takes `%5B` as part of a name.
const RAW_QUERY: &AsciiSet = &QUERY.remove(b'[').remove(b']').remove(b'{').remove(b'}').remove(b'|');

/// The most bytes of an encoded query: many servers refuse request lines of 8 kB with all that belongs to them.
pub const QUERY_BYTES: usize = 4000;

/// How the query of an address is encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum QueryEncoding {
    /// Everything that addresses may not have is encoded: servers on Tomcat refuse raw brackets.
    #[default]
    Encoded,
    /// Brackets stay: GrADS and Ingrid take `%5B` as part of a name.
    RawBrackets,
}

impl QueryEncoding {
    /// The query as it is sent.
    fn encode(self, text: &str) -> String {
        let set = match self {
            Self::Encoded => QUERY,
            Self::RawBrackets => RAW_QUERY,
        };
        utf8_percent_encode(text, set).to_string()
    }
}

/// The elements of one dimension: at least one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueryRange {
    start: u64,
    stride: u64,
    stop: u64,
}

impl QueryRange {
    /// `count` elements from `start`, each `stride` after the one before it; both protocols count from 0 and include the
    /// last.
    ///
    /// # Errors
    /// `Invalid` for no elements, which cannot be asked for, a stride of 0, or a last element past 2^64.
    pub fn new(start: u64, count: u64, stride: u64) -> Result<Self> {
        let steps = count.checked_sub(1).filter(|_| stride > 0);
        let stop = steps.and_then(|steps| start.checked_add(steps.checked_mul(stride)?));
        let stop = stop.ok_or_else(|| {
            Error::invalid(format!("{count} elements from {start} with stride {stride} cannot be asked for"))
        })?;
        Ok(Self { start, stride: if stop == start { 1 } else { stride }, stop })
    }

    /// Number of elements.
    pub fn count(self) -> u64 {
        (self.stop - self.start) / self.stride + 1
    }

    /// The last element.
    pub(crate) fn last(self) -> u64 {
        self.stop
    }

    /// Start, count and stride.
    pub(crate) fn parts(self) -> (u64, u64, u64) {
        (self.start, self.count(), self.stride)
    }

    /// `[a]`, `[a:b]` or `[a:s:b]` without its brackets.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let numbers: Option<Vec<u64>> = text.split(':').map(|number| number.trim().parse().ok()).collect();
        let (start, stride, last) = match numbers?.as_slice() {
            [index] => (*index, 1, *index),
            [start, last] => (*start, 1, *last),
            [start, stride, last] => (*start, *stride, *last),
            _ => return None,
        };
        let count = last.checked_sub(start)?.checked_div(stride)?.checked_add(1)?;
        Self::new(start, count, stride).ok()
    }

    /// The elements of the dataset that these elements of a part of it are.
    ///
    /// # Errors
    /// `Invalid` for elements past 2^64.
    pub fn within(self, base: Self) -> Result<Self> {
        let place = |index: u64| base.start.checked_add(index.checked_mul(base.stride)?);
        let range = place(self.start).zip(self.stride.checked_mul(base.stride));
        let (start, stride) = range.ok_or_else(|| Error::invalid("an index past 64 bits"))?;
        Self::new(start, self.count(), stride)
    }
}

impl fmt::Display for QueryRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.start == self.stop, self.stride) {
            (true, _) => write!(f, "[{}]", self.start),
            (false, 1) => write!(f, "[{}:{}]", self.start, self.stop),
            (false, stride) => write!(f, "[{}:{stride}:{}]", self.start, self.stop),
        }
    }
}

/// What is asked for of a DAP2 dataset.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Dap2Constraint {
    projections: Vec<String>,
    selections: Vec<String>,
}

impl Dap2Constraint {
    /// The constraint of a user's address, decoded: projections, then selections, each after `&`.
    pub fn parse(query: &str) -> Self {
        let (projections, selections) = query.split_once('&').unwrap_or((query, ""));
        let projections = commas(projections).into_iter().map(str::to_owned).collect();
        let selections = selections.split('&').filter(|text| !text.is_empty()).map(str::to_owned).collect();
        Self { projections, selections }
    }

    /// The selections alone: every request repeats them.
    #[must_use]
    pub fn selections_only(&self) -> Self {
        Self { projections: Vec::new(), selections: self.selections.clone() }
    }

    /// What is asked for, as text: projections and selections.
    pub(crate) fn texts(&self) -> (&[String], &[String]) {
        (&self.projections, &self.selections)
    }

    /// Whether some variables are asked for, not all.
    pub fn has_projections(&self) -> bool {
        !self.projections.is_empty()
    }

    /// Asks for a variable, too: names from the outermost on, and the ranges of all its dimensions, or none for the
    /// whole of it. The array of a grid is a member of it. What is asked for already is not repeated.
    pub fn project(&mut self, path: &[&WireName], ranges: &[QueryRange]) {
        let names: Vec<&str> = path.iter().map(|name| name.wire.as_str()).collect();
        let ranges: String = ranges.iter().map(QueryRange::to_string).collect();
        let projection = format!("{}{ranges}", names.join("."));
        if !self.projections.contains(&projection) {
            self.projections.push(projection);
        }
    }

    /// As [`project`](Self::project), with the ranges of each name's own dimensions behind it: those of arrays of
    /// structures are inside the path.
    pub fn project_parts(&mut self, path: &[(&WireName, &[QueryRange])]) {
        let part = |(name, ranges): &(&WireName, &[QueryRange])| {
            let ranges: String = ranges.iter().map(QueryRange::to_string).collect();
            format!("{}{ranges}", name.wire)
        };
        let projection = path.iter().map(part).collect::<Vec<_>>().join(".");
        if !self.projections.contains(&projection) {
            self.projections.push(projection);
        }
    }

    /// Whether functions make the dataset, so that every request has to repeat all of it.
    pub fn has_functions(&self) -> bool {
        self.projections.iter().any(|projection| projection.contains('('))
    }

    /// The ranges that a projection of a variable has, or one of what encloses it, and how many names that has; `None`
    /// if there are no such ranges.
    pub fn ranges_of(&self, path: &[&WireName]) -> Option<(usize, Vec<QueryRange>)> {
        let names = |len: usize| {
            let names = path.get(..len).unwrap_or(path).iter().map(|name| name.wire.as_str());
            names.collect::<Vec<_>>().join(".")
        };
        (1..=path.len()).rev().find_map(|len| {
            let names = names(len);
            let mut found = self.projections.iter().filter_map(|projection| ranges_in(projection));
            let (_, ranges) = found.find(|(own, ranges)| *own == names && !ranges.is_empty())?;
            Some((len, ranges))
        })
    }

    /// The query without `?`; empty for the whole dataset.
    pub fn query(&self, encoding: QueryEncoding) -> String {
        let projections: Vec<String> = self.projections.iter().map(|text| encoding.encode(text)).collect();
        let selections = self.selections.iter().map(|text| format!("&{}", encoding.encode(text)));
        std::iter::once(projections.join(",")).chain(selections).collect()
    }
}

/// The names of a projection and its ranges.
fn ranges_in(projection: &str) -> Option<(String, Vec<QueryRange>)> {
    let (mut names, mut ranges, mut rest) = (String::new(), Vec::new(), projection);
    while let Some((before, after)) = rest.split_once('[') {
        names.push_str(before);
        let (inside, after) = after.split_once(']')?;
        ranges.push(QueryRange::parse(inside)?);
        rest = after;
    }
    names.push_str(rest);
    Some((names, ranges))
}

/// The parts between commas that no parentheses or quotes enclose.
fn commas(text: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut quoted, mut start) = (Vec::new(), 0_i64, false, 0);
    for (at, letter) in text.char_indices() {
        match letter {
            '"' => quoted = !quoted,
            '(' if !quoted => depth += 1,
            ')' if !quoted => depth -= 1,
            ',' if !quoted && depth <= 0 => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts.retain(|part| !part.is_empty());
    parts
}

/// What is asked for of a DAP4 dataset.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Dap4Constraint {
    clauses: Vec<String>,
}

impl Dap4Constraint {
    /// The constraint of a user's address (`dap4.ce`), decoded. Members between braces belong to one clause.
    pub fn parse(expression: &str) -> Self {
        let (mut clauses, mut depth) = (vec![String::new()], 0_u32);
        for letter in expression.chars() {
            match letter {
                '{' => depth += 1,
                '}' => depth = depth.saturating_sub(1),
                _ => {}
            }
            match clauses.last_mut() {
                Some(clause) if letter != ';' || depth > 0 => clause.push(letter),
                _ => clauses.push(String::new()),
            }
        }
        clauses.retain(|clause| !clause.is_empty());
        Self { clauses }
    }

    /// What is asked for, as text.
    pub(crate) fn texts(&self) -> &[String] {
        &self.clauses
    }

    /// Whether nothing is asked for in particular.
    pub fn is_empty(&self) -> bool {
        self.clauses.is_empty()
    }

    /// Asks for a variable, too: its groups and its name, the members from the outermost on, and the ranges of all its
    /// dimensions, or none for the whole of it. What is asked for already is not repeated.
    pub fn project(&mut self, path: &[&str], members: &[&str], ranges: &[QueryRange]) {
        let mut clause: String = path.iter().map(|name| format!("/{}", escaped(name))).collect();
        members.iter().for_each(|name| clause.push_str(&format!(".{}", escaped(name))));
        ranges.iter().for_each(|range| clause.push_str(&range.to_string()));
        if !self.clauses.contains(&clause) {
            self.clauses.push(clause);
        }
    }

    /// The query without `?` for the structure alone; empty for the whole dataset.
    pub fn metadata_query(&self, encoding: QueryEncoding) -> String {
        let clauses: Vec<String> = self.clauses.iter().map(|text| encoding.encode(text)).collect();
        if clauses.is_empty() { String::new() } else { format!("dap4.ce={}", clauses.join(";")) }
    }

    /// The query without `?`, which asks for checksums.
    pub fn query(&self, encoding: QueryEncoding) -> String {
        let clauses: Vec<String> = self.clauses.iter().map(|text| encoding.encode(text)).collect();
        if clauses.is_empty() {
            return "dap4.checksum=true".into();
        }
        format!("dap4.ce={}&dap4.checksum=true", clauses.join(";"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(start: u64, count: u64, stride: u64) -> QueryRange {
        QueryRange::new(start, count, stride).unwrap()
    }

    #[test]
    fn the_last_element_is_included_and_none_cannot_be_requested() {
        let texts =
            [range(0, 1, 1), range(5, 1, 9), range(0, 2, 1), range(3, 4, 5)].map(|range| range.to_string());
        assert_eq!(texts, ["[0]", "[5]", "[0:1]", "[3:5:18]"]);
        assert_eq!((range(3, 4, 5).count(), range(5, 1, 9).count()), (4, 1));
        for (start, count, stride) in [(0, 0, 1), (0, 1, 0), (u64::MAX, 2, 1), (0, u64::MAX, 2)] {
            assert!(QueryRange::new(start, count, stride).is_err());
        }
    }

    #[test]
    fn names_of_the_wire_are_encoded_again() {
        let (grid, member) = (WireName::new("g%20x"), WireName::new("g%20x"));
        let mut constraint = Dap2Constraint::default();
        constraint.project(&[&grid, &member], &[range(0, 2, 1), range(1, 1, 1)]);
        constraint.project(&[&WireName::new("we-ird%2Ex")], &[]);
        constraint.project(&[&WireName::new("we-ird%2Ex")], &[]);
        let query = "g%2520x.g%2520x%5B0:1%5D%5B1%5D,we-ird%252Ex";
        assert_eq!(constraint.query(QueryEncoding::Encoded), query);
        assert_eq!(constraint.query(QueryEncoding::RawBrackets), "g%2520x.g%2520x[0:1][1],we-ird%252Ex");
    }

    #[test]
    fn selections_of_the_user_are_repeated() {
        let base = Dap2Constraint::parse("geogrid(a,1,2),b[0:3]&s.t>\"x,y\"&s.u=1");
        let query = "geogrid(a,1,2),b%5B0:3%5D&s.t%3E%22x,y%22&s.u=1";
        assert_eq!(base.query(QueryEncoding::Encoded), query);
        let mut read = base.selections_only();
        read.project(&[&WireName::new("s"), &WireName::new("t")], &[]);
        assert_eq!(read.query(QueryEncoding::Encoded), "s.t&s.t%3E%22x,y%22&s.u=1");
        assert_eq!(Dap2Constraint::parse("").query(QueryEncoding::Encoded), "");
    }

    #[test]
    fn ranges_of_the_user_are_composed_with_those_of_reads() {
        let base = Dap2Constraint::parse("t[2:3:20],g[0:4][5],s[1].x[0:2],b");
        let name = |name: &str| WireName::new(name);
        let of = |path: &[WireName]| base.ranges_of(&path.iter().collect::<Vec<_>>());
        let (_, ranges) = of(&[name("t")]).unwrap();
        assert_eq!(range(1, 3, 2).within(ranges[0]).unwrap(), range(5, 3, 6));
        assert_eq!(of(&[name("g"), name("g")]), Some((1, vec![range(0, 5, 1), range(5, 1, 1)])));
        assert_eq!(of(&[name("s"), name("x")]), Some((2, vec![range(1, 1, 1), range(0, 3, 1)])));
        assert_eq!((of(&[name("b")]), of(&[name("other")])), (None, None));
        assert!(!base.has_functions() && Dap2Constraint::parse("grid(t,1)").has_functions());
    }

    #[test]
    fn paths_of_dap4_are_escaped_before_they_are_encoded() {
        let mut constraint = Dap4Constraint::default();
        constraint.project(&["g h", "v.x"], &[], &[range(1, 2, 3)]);
        constraint.project(&["s"], &["m&n"], &[]);
        assert_eq!(
            constraint.query(QueryEncoding::Encoded),
            "dap4.ce=/g%5C%20h/v%5C.x%5B1:3:4%5D;/s.m%26n&dap4.checksum=true"
        );
        let base = Dap4Constraint::parse("/d=[1:2];/v[]");
        assert_eq!(base.query(QueryEncoding::RawBrackets), "dap4.ce=/d=[1:2];/v[]&dap4.checksum=true");
        assert_eq!(Dap4Constraint::default().query(QueryEncoding::Encoded), "dap4.checksum=true");
    }
}
