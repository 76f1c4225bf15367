//! Elements of one set and those of another at the same positions, as pairs of boxes.
use crate::selection::{AxisIndices, ElementRow, ElementSet, IndexRun};
use ncirrus_layout::{Error, Limits, Result};
use ncirrus_model::Region;

#[cfg(test)]
mod tests;

/// The target's elements in a region, and the corresponding elements of the source: boxes with equally many elements
/// in the same row-major order.
pub(super) fn pairs(
    target: &ElementSet,
    source: &ElementSet,
    region: &Region,
    limits: &Limits,
) -> Result<Vec<(Region, Region)>> {
    if target.len()? != source.len()? {
        return Err(Error::malformed(format!(
            "a virtual dataset maps {} elements to {}",
            target.len()?,
            source.len()?
        )));
    }
    if let (ElementSet::Product(target), ElementSet::Product(source)) = (target, source)
        && let Some(partners) = partners(target, source)
    {
        return boxes(target, source, &partners, region, limits);
    }
    let mut found = Vec::new();
    for row in target.within(region, limits)? {
        rows(&row, source, &mut found, limits)?;
    }
    Ok(found)
}

/// Pairs one row of the target with the source's rows at its positions.
fn rows(
    row: &ElementRow,
    source: &ElementSet,
    found: &mut Vec<(Region, Region)>,
    limits: &Limits,
) -> Result<()> {
    for part in source.select(row.position..row.position.saturating_add(row.len), limits)? {
        let mut start = row.start.clone();
        if let Some(last) = start.last_mut() {
            *last += part.position - row.position;
        }
        found.push((line(start, part.len), line(part.start.clone(), part.len)));
    }
    limits.count(found.len() as u64, "a virtual dataset")?;
    Ok(())
}

fn line(start: Vec<u64>, len: u64) -> Region {
    let mut count = vec![1; start.len()];
    if let Some(last) = count.last_mut() {
        *last = len;
    }
    Region { start, count }
}

/// The target's axis for each of the source's, if both are equal except for axes of one index.
fn partners(target: &[AxisIndices], source: &[AxisIndices]) -> Option<Vec<Option<usize>>> {
    let mut wide = target.iter().enumerate().filter(|(_, axis)| axis.len() != 1);
    let mut partner = |axis: &AxisIndices| match axis.len() {
        1 => Some(None),
        len => wide.next().filter(|(_, other)| other.len() == len).map(|(number, _)| Some(number)),
    };
    let partners = source.iter().map(&mut partner).collect::<Option<_>>()?;
    wide.next().is_none().then_some(partners)
}

/// All combinations of the runs that both have in common along each axis.
fn boxes(
    target: &[AxisIndices],
    source: &[AxisIndices],
    partners: &[Option<usize>],
    region: &Region,
    limits: &Limits,
) -> Result<Vec<(Region, Region)>> {
    let only = |axis: &AxisIndices| Ok(axis.select(0..1, limits)?.first().map_or(0, |run| run.index));
    let first =
        Region { start: source.iter().map(only).collect::<Result<_>>()?, count: vec![1; source.len()] };
    let mut found = vec![(Region { start: Vec::new(), count: Vec::new() }, first)];
    for (number, axis) in target.iter().enumerate() {
        let range = region.start.get(number).zip(region.count.get(number));
        let range = range.map_or(0..0, |(start, count)| *start..start.saturating_add(*count));
        let runs = axis.within(&range, limits)?;
        let partner = partners.iter().position(|partner| *partner == Some(number));
        let common = match partner.and_then(|partner| source.get(partner)) {
            Some(other) => common(&runs, other, limits)?,
            None => runs.iter().map(|run| (*run, None)).collect(),
        };
        // The product of the axes' runs grows fast: it is limited before it is built.
        limits.count((found.len() as u64).saturating_mul(common.len() as u64), "a virtual dataset")?;
        let mut next = Vec::with_capacity(found.len() * common.len());
        for (target, source) in &found {
            for (run, other) in &common {
                let (mut target, mut source) = (target.clone(), source.clone());
                target.start.push(run.index);
                target.count.push(run.len);
                if let (Some(partner), Some(other)) = (partner, other) {
                    set(&mut source, partner, *other);
                }
                next.push((target, source));
            }
        }
        found = next;
    }
    Ok(found)
}

fn set(region: &mut Region, axis: usize, run: IndexRun) {
    if let (Some(start), Some(count)) = (region.start.get_mut(axis), region.count.get_mut(axis)) {
        (*start, *count) = (run.index, run.len);
    }
}

/// The runs, also cut at the boundaries of the other axis' runs.
fn common(
    runs: &[IndexRun],
    other: &AxisIndices,
    limits: &Limits,
) -> Result<Vec<(IndexRun, Option<IndexRun>)>> {
    let mut found = Vec::new();
    for run in runs {
        for part in other.select(run.position..run.position + run.len, limits)? {
            let index = run.index + (part.position - run.position);
            found.push((IndexRun { index, len: part.len, position: part.position }, Some(part)));
        }
    }
    Ok(found)
}
