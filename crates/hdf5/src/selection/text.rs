//! Selections as text, in the short notation of HDF5's tools: blocks as `{(0,2)-(3,5)}`, points as `{(1,2),(3,4)}`.
use super::{BlockProgression, HyperslabSelection};
use ncirrus_model::Region;
use std::fmt::{self, Display, Formatter};

/// Maximum number of blocks of a regular selection that are listed individually.
const MAX_LISTED: u64 = 32;

impl Display for HyperslabSelection {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("{}"),
            Self::All => f.write_str("{all}"),
            Self::Regular(axes) => match blocks(axes) {
                Some(list) => boxes(f, &list),
                None => progressions(f, axes),
            },
            Self::Boxes { list, .. } => boxes(f, list),
            Self::Points { rank, coords } => {
                let points = coords.chunks_exact((*rank).max(1));
                braced(f, points, |f, point| tuple(f, point.iter()))
            }
        }
    }
}

fn boxes(f: &mut Formatter<'_>, list: &[Region]) -> fmt::Result {
    braced(f, list.iter(), |f, Region { start, count }| {
        tuple(f, start.iter())?;
        f.write_str("-")?;
        tuple(f, start.iter().zip(count).map(|(start, len)| start.saturating_add(len.saturating_sub(1))))
    })
}

fn progressions(f: &mut Formatter<'_>, axes: &[BlockProgression]) -> fmt::Result {
    let limit =
        |number: Option<u64>| number.map_or_else(|| "unlimited".to_owned(), |limit| limit.to_string());
    f.write_str("{start=")?;
    tuple(f, axes.iter().map(|axis| axis.start))?;
    f.write_str(" stride=")?;
    tuple(f, axes.iter().map(|axis| axis.stride))?;
    f.write_str(" count=")?;
    tuple(f, axes.iter().map(|axis| limit(axis.count)))?;
    f.write_str(" block=")?;
    tuple(f, axes.iter().map(|axis| limit(axis.block)))?;
    f.write_str("}")
}

/// The blocks of a regular selection in row-major order, if they are few.
fn blocks(axes: &[BlockProgression]) -> Option<Vec<Region>> {
    let counts: Vec<(u64, u64)> =
        axes.iter().map(|axis| Some((axis.count?, axis.block?))).collect::<Option<_>>()?;
    if counts.iter().any(|(count, block)| *count == 0 || *block == 0) {
        return Some(Vec::new());
    }
    let total = counts.iter().try_fold(1u64, |total, (count, _)| total.checked_mul(*count))?;
    if total > MAX_LISTED {
        return None;
    }
    let mut list = vec![Region { start: Vec::new(), count: Vec::new() }];
    for (axis, (count, block)) in axes.iter().zip(counts) {
        let longer = |region: &Region| {
            let one = |number: u64| Region {
                start: with(&region.start, axis.start.saturating_add(number.saturating_mul(axis.stride))),
                count: with(&region.count, block),
            };
            (0..count).map(one).collect::<Vec<_>>()
        };
        list = list.iter().flat_map(longer).collect();
    }
    Some(list)
}

fn with(numbers: &[u64], last: u64) -> Vec<u64> {
    [numbers, &[last]].concat()
}

fn braced<T>(
    f: &mut Formatter<'_>,
    items: impl Iterator<Item = T>,
    mut one: impl FnMut(&mut Formatter<'_>, T) -> fmt::Result,
) -> fmt::Result {
    f.write_str("{")?;
    for (number, item) in items.enumerate() {
        f.write_str(if number == 0 { "" } else { "," })?;
        one(f, item)?;
    }
    f.write_str("}")
}

fn tuple(f: &mut Formatter<'_>, numbers: impl Iterator<Item = impl Display>) -> fmt::Result {
    f.write_str("(")?;
    for (axis, number) in numbers.enumerate() {
        f.write_str(if axis == 0 { "" } else { "," })?;
        number.fmt(f)?;
    }
    f.write_str(")")
}
