//! Constraint expressions, checked against the definitions (docs/spec/dap.md 6.5).
use super::Dap4Dataset;
use crate::constraint::{Dap4Constraint, QueryRange};
use crate::path::segments;
use crate::server::cuts::Slice;
use crate::server::select::slice_of;
use ncirrus_layout::{Error, Member, Result};
use ncirrus_model::{DimId, Field, Model, TypeRef, UserKind, VarId};
use std::collections::{BTreeSet, HashMap};

/// Clauses of one request, at most.
const CLAUSES: usize = 1 << 14;

/// What a request asks for, in the order of answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dap4Request {
    pub(super) wanted: Vec<Wanted>,
    /// Shared dimensions that are sliced.
    pub(super) sliced: HashMap<DimId, Slice>,
}

impl Dap4Request {
    /// Number of variables.
    pub fn len(&self) -> usize {
        self.wanted.len()
    }

    /// Whether nothing is asked for.
    pub fn is_empty(&self) -> bool {
        self.wanted.is_empty()
    }
}

/// A variable that is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Wanted {
    pub(super) variable: VarId,
    pub(super) slices: Vec<Slice>,
    /// Dimensions that lost their names, since they are sliced for this variable alone.
    pub(super) is_local: Vec<bool>,
    /// The fields of a compound that are asked for; `None`: all.
    pub(super) fields: Option<BTreeSet<usize>>,
}

/// The elements along a dimension that a clause asks for.
enum Index {
    /// All, or those of the shared slice.
    Whole,
    Range(QueryRange),
    /// From here to the end.
    From(u64, u64),
}

pub(super) fn parse(dataset: &Dap4Dataset, expression: &str) -> Result<Dap4Request> {
    let constraint = Dap4Constraint::parse(expression);
    if constraint.texts().len() > CLAUSES {
        return Err(Error::limit(format!("the constraint has more than {CLAUSES} clauses")));
    }
    let mut request = Dap4Request { wanted: Vec::new(), sliced: HashMap::new() };
    if constraint.is_empty() {
        for id in &dataset.variables {
            request.wanted.push(wanted(dataset, *id, &[], &request.sliced)?);
        }
        return Ok(request);
    }
    let variables = dataset.by_path();
    let mut projections = Vec::new();
    // A slice of a shared dimension is one for all projections, also for those in front of it.
    for clause in constraint.texts().iter().map(|clause| clause.trim()) {
        match dimension_slice(clause) {
            Some((dim, range)) => slice_dimension(dataset, dim, range, &mut request)?,
            None => projections.push(clause),
        }
    }
    for clause in &projections {
        project(dataset, &variables, clause, &mut request)?;
    }
    if projections.is_empty() {
        for id in &dataset.variables {
            request.wanted.push(wanted(dataset, *id, &[], &request.sliced)?);
        }
    }
    let order: HashMap<VarId, usize> =
        dataset.variables.iter().enumerate().map(|(at, id)| (*id, at)).collect();
    request.wanted.sort_by_key(|wanted| order.get(&wanted.variable).copied());
    Ok(request)
}

/// `/d=[range]`.
fn dimension_slice(clause: &str) -> Option<(&str, &str)> {
    let (dim, range) = clause.split_once('=')?;
    let range = range.trim().strip_prefix('[')?.strip_suffix(']')?;
    (!dim.contains(['[', '|'])).then_some((dim.trim(), range))
}

fn slice_dimension(dataset: &Dap4Dataset, path: &str, range: &str, request: &mut Dap4Request) -> Result<()> {
    let model = &dataset.model;
    let found = model.dimension_at(&format!("/{}", segments(path).join("/")));
    let id = found
        .ok_or_else(|| Error::no_member(Member::Dimension, format_args!("{:?}", crate::shortened(path))))?;
    let len = model.dimension(id).map_or(0, |dim| dim.len.current());
    let slice = match index_of(range, path)? {
        Index::Whole => Slice::all(len),
        index => resolved(&index, len, path)?,
    };
    request.sliced.insert(id, slice);
    Ok(())
}

fn project(
    dataset: &Dap4Dataset,
    variables: &HashMap<Vec<String>, VarId>,
    clause: &str,
    request: &mut Dap4Request,
) -> Result<()> {
    let wrong = || Error::invalid(format!("{:?} is not a projection", crate::shortened(clause)));
    if clause.contains('|') {
        return Err(Error::unsupported("this server has no sequences that could be filtered"));
    }
    let (clause, braces) = match clause.split_once('{') {
        Some((clause, members)) => (clause, Some(members.strip_suffix('}').ok_or_else(wrong)?)),
        None => (clause, None),
    };
    let at = unescaped(clause, '[').unwrap_or(clause.len());
    let (path, ranges) = clause.split_at(at);
    let indices = indices_of(ranges, path)?;
    let (id, member) = find(variables, path)?;
    let mut fields: Option<BTreeSet<usize>> = None;
    let named = braces.into_iter().flat_map(|text| text.split([';', ','])).map(|name| name.trim().to_owned());
    for name in named.chain(member).filter(|name| !name.is_empty()) {
        let ty = dataset.model.variable(id).map(|variable| variable.ty).ok_or_else(wrong)?;
        let all = fields_of(&dataset.model, ty);
        let at = all.iter().position(|field| field.name == name);
        let at = at.ok_or_else(|| {
            Error::no_member(Member::Variable, format_args!("{:?}", crate::shortened(&name)))
        })?;
        fields.get_or_insert_default().insert(at);
    }
    let new = Wanted { fields, ..wanted(dataset, id, &indices, &request.sliced)? };
    match request.wanted.iter_mut().find(|known| known.variable == id) {
        Some(known) => {
            let both = known.fields.take().zip(new.fields.clone());
            let fields = both.map(|(a, b)| a.union(&b).copied().collect());
            *known = Wanted { fields, ..new };
        }
        None => request.wanted.push(new),
    }
    Ok(())
}

/// The variable of a path, and the member of it that the path names.
fn find(variables: &HashMap<Vec<String>, VarId>, path: &str) -> Result<(VarId, Option<String>)> {
    let names = segments(path);
    if let Some(id) = variables.get(&names) {
        return Ok((*id, None));
    }
    // A name that is not escaped may have dots; otherwise the last one is in front of a member.
    if let Some(dot) = last_unescaped(path, '.') {
        let (outer, member) = path.split_at(dot);
        if let Some(id) = variables.get(&segments(outer)) {
            return Ok((*id, Some(segments(member.get(1..).unwrap_or_default()).concat())));
        }
    }
    let path = crate::shortened(path);
    Err(Error::no_member(Member::Variable, format_args!("{path:?}")).at_path(path))
}

fn unescaped(text: &str, wanted: char) -> Option<usize> {
    let mut is_escaped = false;
    text.char_indices().find_map(|(at, letter)| {
        let found = letter == wanted && !is_escaped;
        is_escaped = letter == '\\' && !is_escaped;
        found.then_some(at)
    })
}

fn last_unescaped(text: &str, wanted: char) -> Option<usize> {
    let (mut is_escaped, mut last) = (false, None);
    for (at, letter) in text.char_indices() {
        if letter == wanted && !is_escaped {
            last = Some(at);
        }
        is_escaped = letter == '\\' && !is_escaped;
    }
    last
}

/// `[..][..]`.
fn indices_of(ranges: &str, path: &str) -> Result<Vec<Index>> {
    let wrong = || {
        Error::invalid(format!("the ranges {:?}", crate::shortened(ranges))).at_path(crate::shortened(path))
    };
    let (mut indices, mut rest) = (Vec::new(), ranges);
    while !rest.is_empty() {
        let inside = rest.strip_prefix('[').ok_or_else(wrong)?;
        let (index, after) = inside.split_once(']').ok_or_else(wrong)?;
        indices.push(index_of(index, path)?);
        rest = after;
    }
    Ok(indices)
}

fn index_of(text: &str, path: &str) -> Result<Index> {
    let wrong =
        || Error::invalid(format!("the range [{}]", crate::shortened(text))).at_path(crate::shortened(path));
    let text = text.trim();
    if text.is_empty() || text == "*" {
        return Ok(Index::Whole);
    }
    if text.contains(',') {
        return Err(Error::unsupported("several ranges of one dimension").at_path(crate::shortened(path)));
    }
    if let Some(open) = text.strip_suffix(':') {
        let mut numbers = open.split(':').map(|number| number.trim().parse::<u64>());
        let start = numbers.next().ok_or_else(wrong)?.map_err(|_| wrong())?;
        let stride = numbers.next().transpose().map_err(|_| wrong())?.unwrap_or(1);
        return if numbers.next().is_some() || stride == 0 {
            Err(wrong())
        } else {
            Ok(Index::From(start, stride))
        };
    }
    QueryRange::parse(text).map(Index::Range).ok_or_else(wrong)
}

fn resolved(index: &Index, len: u64, path: &str) -> Result<Slice> {
    match index {
        Index::Whole => Ok(Slice::all(len)),
        Index::Range(range) => slice_of(*range, len, path),
        Index::From(start, stride) => {
            let last = len.checked_sub(1).filter(|last| start <= last).ok_or_else(|| {
                Error::invalid(format!("the range [{start}:] is past the end of a dimension of {len}"))
                    .at_path(path)
            })?;
            Ok(Slice { start: *start, count: (last - start) / stride + 1, stride: *stride })
        }
    }
}

fn wanted(
    dataset: &Dap4Dataset,
    id: VarId,
    indices: &[Index],
    sliced: &HashMap<DimId, Slice>,
) -> Result<Wanted> {
    let model = &dataset.model;
    let dims = model.variable(id).map(|variable| variable.dims.as_slice()).unwrap_or_default();
    let path = model.variable_path(id);
    if !indices.is_empty() && indices.len() != dims.len() {
        let message =
            format!("{} ranges are given, the variable has {} dimensions", indices.len(), dims.len());
        return Err(Error::invalid(message).at_path(path));
    }
    let (mut slices, mut is_local) = (Vec::new(), Vec::new());
    for (at, dim) in dims.iter().enumerate() {
        let len = model.dimension(*dim).map_or(0, |dim| dim.len.current());
        match indices.get(at) {
            None | Some(Index::Whole) => {
                slices.push(sliced.get(dim).copied().unwrap_or(Slice::all(len)));
                is_local.push(false);
            }
            Some(index) => {
                slices.push(resolved(index, len, &path)?);
                is_local.push(true);
            }
        }
    }
    Ok(Wanted { variable: id, slices, is_local, fields: None })
}

/// The fields of a compound; none of other types.
pub(super) fn fields_of(model: &Model, ty: TypeRef) -> &[Field] {
    let TypeRef::User(id) = ty else { return &[] };
    match model.user_type(id).map(|ty| &ty.kind) {
        Some(UserKind::Compound(fields)) => fields,
        _ => &[],
    }
}
