//! The part of a region that boxes do not cover.
use crate::{Limits, Result};
use ncirrus_model::Region;
use std::ops::Range;

#[cfg(test)]
mod tests;

/// The elements of a region in none of the boxes, as boxes that do not overlap.
///
/// The region is halved where boxes begin or end, until each part lies in a box or in none: the cost is about the
/// number of boxes if they do not overlap, and boxes hidden below others cost nothing.
///
/// # Errors
/// `Limit` if it falls into too many parts.
pub fn uncovered(region: &Region, boxes: &[&Region], limits: &Limits) -> Result<Vec<Region>> {
    let mut left = Vec::new();
    let mut parts = 0;
    let mut rest = vec![(region.clone(), meeting(region, boxes))];
    while let Some((part, boxes)) = rest.pop() {
        parts += 1;
        limits.count(parts, "what partitions leave of a region")?;
        if boxes.is_empty() {
            left.push(part);
        } else if let Some([first, second]) = halves(&part, &boxes) {
            let (before, behind) = (meeting(&first, &boxes), meeting(&second, &boxes));
            rest.extend([(second, behind), (first, before)]);
        }
    }
    Ok(left)
}

/// A region in two: the part before an index along an axis, and the rest.
pub fn split_region(region: &Region, axis: usize, at: u64) -> Option<[Region; 2]> {
    let (mut first, mut second) = (region.clone(), region.clone());
    let before = at.checked_sub(*region.start.get(axis)?)?;
    *first.count.get_mut(axis)? = before;
    *second.start.get_mut(axis)? = at;
    *second.count.get_mut(axis)? = region.count.get(axis)?.checked_sub(before)?;
    Some([first, second])
}

fn meeting<'a>(region: &Region, boxes: &[&'a Region]) -> Vec<&'a Region> {
    let meets = |found: &&&Region| found.intersect(region).is_some();
    boxes.iter().filter(meets).copied().collect()
}

/// The halves of a region along the axis on which most boxes begin or end within it; `None` if a box covers it.
fn halves(region: &Region, boxes: &[&Region]) -> Option<[Region; 2]> {
    let covers = |found: &&Region| {
        (0..region.rank()).all(|axis| {
            let (found, region) = (along(found, axis), along(region, axis));
            found.start <= region.start && region.end <= found.end
        })
    };
    if boxes.iter().any(covers) {
        return None;
    }
    let edges = |axis: usize| {
        let inside = along(region, axis);
        let edges = boxes.iter().map(|found| along(found, axis)).flat_map(|range| [range.start, range.end]);
        let edges: Vec<u64> = edges.filter(|at| inside.start < *at && *at < inside.end).collect();
        (axis, edges)
    };
    let (axis, mut edges) = (0..region.rank()).rev().map(edges).max_by_key(|(_, edges)| edges.len())?;
    let middle = edges.len() / 2;
    let last = edges.len().checked_sub(1)?;
    let at = *edges.select_nth_unstable(middle.min(last)).1;
    split_region(region, axis, at)
}

fn along(region: &Region, axis: usize) -> Range<u64> {
    match (region.start.get(axis), region.count.get(axis)) {
        (Some(start), Some(count)) => *start..start.saturating_add(*count),
        _ => 0..0,
    }
}
