//! A spatial index of boxes.
use crate::split_region;
use ncirrus_model::Region;
use std::ops::Range;

#[cfg(test)]
mod tests;

/// Boxes of one rank, in an order of their own. Those that a region touches are found without visiting all others,
/// however they lie and overlap: neighbours are grouped, groups are grouped again, each with a bounding box.
#[derive(Debug, Default)]
pub struct BoxTree {
    rank: usize,
    count: usize,
    /// Ranges along each axis, one box after the other.
    spans: Vec<Range<u64>>,
    /// The non-empty boxes, neighbours next to each other.
    order: Vec<usize>,
    /// Bounding boxes of each group: of boxes, of these groups, and so on; the last level is one group.
    levels: Vec<Vec<Range<u64>>>,
}

/// Members of a group.
const GROUP: usize = 8;

impl BoxTree {
    /// Boxes by their ranges along each axis, one box after the other. Empty boxes are never found; of rank 0 each
    /// has one element.
    pub fn new(rank: usize, count: usize, spans: Vec<Range<u64>>) -> Self {
        let mut tree = Self { rank, count, spans, order: Vec::new(), levels: Vec::new() };
        let has_elements = |at: &usize| tree.ranges(*at).iter().all(|range| !range.is_empty());
        let mut order: Vec<usize> = (0..count).filter(has_elements).collect();
        tree.put_neighbours_together(&mut order);
        tree.order = order;
        tree.group();
        tree
    }

    /// Number of boxes.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The ranges of a box.
    pub fn ranges(&self, at: usize) -> &[Range<u64>] {
        self.spans.get(at * self.rank..(at + 1) * self.rank).unwrap_or_default()
    }

    /// The boxes that touch a region, ascending.
    pub fn touched(&self, region: &Region) -> Vec<usize> {
        if self.rank == 0 {
            return (0..self.count).collect();
        }
        let mut found = Vec::new();
        self.walk(region, |at| found.push(at));
        found.sort_unstable();
        found
    }

    /// The halves of a region if the boxes that touch it weigh more than `max` in total, and significantly less in
    /// each half. It is cut where boxes begin; if that does not help, in the middle. `weight` returns the weight of a
    /// box in a region, 0 if it has no elements in it.
    pub fn halves(
        &self,
        region: &Region,
        max: u64,
        weight: impl Fn(usize, &Region) -> u64,
    ) -> Option<[Region; 2]> {
        let touched = self.touched(region);
        let sum = |region: &Region| {
            let inside = touched.iter().filter(|at| meets(self.ranges(**at), region));
            inside.fold(0, |sum: u64, at| sum.saturating_add(weight(*at, region)))
        };
        let all = sum(region);
        if all <= max {
            return None;
        }
        let heavier = |halves: &[Region; 2]| halves.iter().map(sum).max().unwrap_or(all);
        let best = |places: Vec<(usize, u64)>| {
            let halves = places.into_iter().filter_map(|(axis, at)| split_region(region, axis, at));
            let weighed = halves.map(|halves| (heavier(&halves), halves)).min_by_key(|(sum, _)| *sum);
            weighed.filter(|(sum, _)| *sum <= all - (all / 4).max(1)).map(|(_, halves)| halves)
        };
        best(self.beginnings(region, &touched)).or_else(|| best(middles(region)))
    }

    /// Along each axis, the median start of the boxes that begin within a region.
    fn beginnings(&self, region: &Region, touched: &[usize]) -> Vec<(usize, u64)> {
        let middle = |axis: usize| {
            let inside = along(region, axis).filter(|range| !range.is_empty())?;
            let starts = touched.iter().filter_map(|at| Some(self.ranges(*at).get(axis)?.start));
            let mut starts: Vec<u64> = starts.filter(|at| inside.start < *at && *at < inside.end).collect();
            let middle = starts.len() / 2;
            let last = starts.len().checked_sub(1)?;
            Some((axis, *starts.select_nth_unstable(middle.min(last)).1))
        };
        (0..self.rank).filter_map(middle).collect()
    }

    /// Visits the boxes that touch a region; returns how many boxes and groups were examined.
    fn walk(&self, region: &Region, mut visit: impl FnMut(usize)) -> usize {
        let mut looks = 0;
        let Some(top) = self.levels.len().checked_sub(1) else { return looks };
        let mut rest = vec![(top, 0)];
        while let Some((level, group)) = rest.pop() {
            looks += 1;
            if !meets(self.around(level, group), region) {
                continue;
            }
            let members = group * GROUP..(group + 1) * GROUP;
            match level.checked_sub(1) {
                Some(below) => rest.extend(members.map(|member| (below, member))),
                None => {
                    let members = self.order.get(members.start..members.end.min(self.order.len()));
                    for at in members.unwrap_or_default() {
                        looks += 1;
                        if meets(self.ranges(*at), region) {
                            visit(*at);
                        }
                    }
                }
            }
        }
        looks
    }

    /// The bounding box of a group; `None` past the last group of a level.
    fn around(&self, level: usize, group: usize) -> &[Range<u64>] {
        let level = self.levels.get(level).map(Vec::as_slice).unwrap_or_default();
        level.get(group * self.rank..(group + 1) * self.rank).unwrap_or_default()
    }

    /// Sorts boxes so that neighbours in the order are close to each other: halves along the axis on which their
    /// centres are farthest apart, recursively.
    fn put_neighbours_together(&self, order: &mut [usize]) {
        let mut rest = vec![order];
        while let Some(part) = rest.pop() {
            if part.len() <= GROUP {
                continue;
            }
            let middle = |at: usize, axis: usize| {
                self.ranges(at).get(axis).map_or(0, |range| range.start / 2 + range.end / 2)
            };
            let spread = |axis: &usize| {
                let middles = part.iter().map(|at| middle(*at, *axis));
                middles.clone().max().unwrap_or(0) - middles.min().unwrap_or(0)
            };
            let Some(axis) = (0..self.rank).max_by_key(spread) else { return };
            // Whole groups on the left, so that groups of groups stay together.
            let left = (part.len() / 2).next_multiple_of(GROUP).min(part.len() - 1);
            part.select_nth_unstable_by_key(left, |at| middle(*at, axis));
            let (first, second) = part.split_at_mut(left);
            rest.extend([first, second]);
        }
    }

    /// Computes the bounding boxes of groups, level by level.
    fn group(&mut self) {
        let mut below: Vec<Vec<Range<u64>>> = self.order.iter().map(|at| self.ranges(*at).to_vec()).collect();
        while below.len() > 1 || (self.levels.is_empty() && !below.is_empty()) {
            below = below.chunks(GROUP).map(around).collect();
            self.levels.push(below.iter().flatten().cloned().collect());
        }
    }
}

/// The bounding box of boxes.
fn around(boxes: &[Vec<Range<u64>>]) -> Vec<Range<u64>> {
    let mut all = boxes.first().cloned().unwrap_or_default();
    for one in boxes {
        for (all, one) in all.iter_mut().zip(one) {
            *all = all.start.min(one.start)..all.end.max(one.end);
        }
    }
    all
}

/// The middle of a region along each axis that has one.
fn middles(region: &Region) -> Vec<(usize, u64)> {
    let axes = region.start.iter().zip(&region.count).enumerate();
    axes.filter(|(_, (_, count))| **count > 1)
        .map(|(axis, (start, count))| (axis, start + count / 2))
        .collect()
}

fn along(region: &Region, axis: usize) -> Option<Range<u64>> {
    let start = *region.start.get(axis)?;
    Some(start..start.saturating_add(*region.count.get(axis)?))
}

fn meets(ranges: &[Range<u64>], region: &Region) -> bool {
    let mut axes = ranges.iter().zip(region.start.iter().zip(&region.count));
    !ranges.is_empty()
        && axes.all(|(range, (start, count))| {
            *count > 0 && range.start < start.saturating_add(*count) && *start < range.end
        })
}
