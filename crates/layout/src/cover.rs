//! What boxes leave of a region.
use ncirrus_model::Region;

#[cfg(test)]
mod tests;

/// The elements of a region in none of the boxes, as boxes that do not overlap.
pub fn uncovered(region: &Region, boxes: &[&Region]) -> Vec<Region> {
    let meeting: Vec<Region> = boxes.iter().filter_map(|found| found.intersect(region)).collect();
    if meeting.is_empty() {
        return vec![region.clone()];
    }
    let mut left = Vec::new();
    let all: Vec<usize> = (0..meeting.len()).collect();
    sweep(region, &meeting, &all, 0, &mut left);
    left
}

/// Cuts the region along one axis where boxes begin and end, and each slab along the axes behind it.
fn sweep(region: &Region, boxes: &[Region], present: &[usize], axis: usize, left: &mut Vec<Region>) {
    if present.is_empty() {
        left.push(region.clone());
        return;
    }
    if axis == region.rank() {
        return;
    }
    let span = |at: &usize| boxes.get(*at).map_or(0..0, |found| along(found, axis));
    let mut by_start: Vec<usize> = present.to_vec();
    by_start.sort_unstable_by_key(|at| span(at).start);
    let whole = along(region, axis);
    let mut cuts: Vec<u64> = present.iter().flat_map(|at| [span(at).start, span(at).end]).collect();
    cuts.extend([whole.start, whole.end]);
    cuts.sort_unstable();
    cuts.dedup();
    let mut coming = by_start.into_iter().peekable();
    let mut active: Vec<usize> = Vec::new();
    for pair in cuts.windows(2) {
        let &[start, end] = pair else { continue };
        active.retain(|at| span(at).end > start);
        while let Some(at) = coming.next_if(|at| span(at).start <= start) {
            active.push(at);
        }
        let mut slab = region.clone();
        (slab.start[axis], slab.count[axis]) = (start, end - start);
        sweep(&slab, boxes, &active, axis + 1, left);
    }
}

fn along(region: &Region, axis: usize) -> std::ops::Range<u64> {
    match (region.start.get(axis), region.count.get(axis)) {
        (Some(start), Some(count)) => *start..start.saturating_add(*count),
        _ => 0..0,
    }
}
