//! Constraint expressions, checked against the declarations (docs/spec/dap.md 4).
use super::Dap2Dataset;
use super::declared::Declared;
use super::wanted::Wanted;
use crate::constraint::{Dap2Constraint, QueryRange};
use crate::server::cuts::Slice;
use crate::server::select::slices_of;
use ncirrus_layout::{Error, Member, Result};
use percent_encoding::percent_decode_str;

/// Projections of one request, at most.
const PROJECTIONS: usize = 1 << 14;

/// What a request asks for, in the order of the dataset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dap2Request {
    pub(super) wanted: Vec<Wanted>,
}

/// A name of a path, and its ranges.
struct Segment {
    name: String,
    ranges: Vec<QueryRange>,
}

/// All of a declaration.
fn all_of(index: usize, declared: &Declared) -> Wanted {
    let members = declared.members().iter().enumerate();
    let members = members.map(|(index, member)| all_of(index, member)).collect();
    Wanted { index, slices: declared.shape().into_iter().map(Slice::all).collect(), members }
}

pub(super) fn parse(dataset: &Dap2Dataset, query: &str) -> Result<Dap2Request> {
    let constraint = Dap2Constraint::parse(query);
    let (projections, selections) = constraint.texts();
    if let Some(selection) = selections.first() {
        let message =
            format!("no sequence is served from which {:?} could select", crate::shortened(selection));
        return Err(Error::unsupported(message));
    }
    if constraint.has_functions() {
        return Err(Error::unsupported("this server has no functions"));
    }
    if projections.len() > PROJECTIONS {
        return Err(Error::limit(format!("the constraint has more than {PROJECTIONS} projections")));
    }
    if projections.is_empty() {
        let all = dataset.declared.iter().enumerate();
        return Ok(Dap2Request { wanted: all.map(|(index, declared)| all_of(index, declared)).collect() });
    }
    let mut wanted = Vec::new();
    for projection in projections {
        want(&dataset.declared, &segments_of(projection)?, &mut wanted)?;
    }
    wanted.sort_by_key(|wanted: &Wanted| wanted.index);
    Ok(Dap2Request { wanted })
}

/// The names of a projection with their ranges: dots inside ranges do not separate.
fn segments_of(projection: &str) -> Result<Vec<Segment>> {
    let wrong = || Error::invalid(format!("{:?} is not a projection", crate::shortened(projection)));
    let mut segments = vec![Segment { name: String::new(), ranges: Vec::new() }];
    let mut rest = projection;
    while let Some(at) = rest.find(['.', '[']) {
        let (before, after) = rest.split_at(at);
        let last = segments.last_mut().ok_or_else(wrong)?;
        if !before.is_empty() && !last.ranges.is_empty() {
            return Err(wrong());
        }
        last.name.push_str(before);
        if let Some(after) = after.strip_prefix('[') {
            let (range, after) = after.split_once(']').ok_or_else(wrong)?;
            last.ranges.push(QueryRange::parse(range).ok_or_else(wrong)?);
            rest = after;
        } else {
            segments.push(Segment { name: String::new(), ranges: Vec::new() });
            rest = after.get(1..).unwrap_or_default();
        }
    }
    let last = segments.last_mut().ok_or_else(wrong)?;
    if !rest.is_empty() && !last.ranges.is_empty() {
        return Err(wrong());
    }
    last.name.push_str(rest);
    Ok(segments)
}

/// Asks for what a path names among declarations, too.
fn want(all: &[Declared], path: &[Segment], wanted: &mut Vec<Wanted>) -> Result<()> {
    // The longest name first: names may have dots.
    for len in (1..=path.len()).rev() {
        let (own, rest) = path.split_at(len);
        let Some((last, others)) = own.split_last() else { continue };
        if others.iter().any(|segment| !segment.ranges.is_empty()) {
            continue;
        }
        let name = own.iter().map(|segment| segment.name.as_str()).collect::<Vec<_>>().join(".");
        let Some(index) = index_of(all, &name) else { continue };
        let Some(declared) = all.get(index) else { continue };
        let slices = slices_of(&last.ranges, &declared.shape(), &declared.name)?;
        let at = wanted.iter().position(|known| known.index == index);
        if rest.is_empty() {
            let whole = Wanted { slices, ..all_of(index, declared) };
            match at.and_then(|at| wanted.get_mut(at)) {
                Some(known) => *known = whole,
                None => wanted.push(whole),
            }
            return Ok(());
        }
        if declared.members().is_empty() {
            continue;
        }
        let at = at.unwrap_or_else(|| {
            wanted.push(Wanted { index, slices: slices.clone(), members: Vec::new() });
            wanted.len() - 1
        });
        let Some(known) = wanted.get_mut(at) else { continue };
        known.slices = slices;
        want(declared.members(), rest, &mut known.members)?;
        known.members.sort_by_key(|member| member.index);
        return Ok(());
    }
    let name = path.iter().map(|segment| segment.name.as_str()).collect::<Vec<_>>().join(".");
    Err(Error::no_member(Member::Variable, format_args!("{:?}", crate::shortened(&name)))
        .at_path(crate::shortened(&name)))
}

/// The number of a declaration by its name, as it is or encoded once more.
fn index_of(all: &[Declared], name: &str) -> Option<usize> {
    let name = name.strip_prefix('/').unwrap_or(name);
    let of = |name: &str| all.iter().position(|declared| declared.is_called(name));
    of(name).or_else(|| of(&percent_decode_str(name).decode_utf8().ok()?))
}
