//! The arrangement of files: their order along an axis, or their places in a grid of several axes.
use super::parts::FilePart;
use super::shape::FirstFile;
use ncirrus_layout::grid::block_starts;
use ncirrus_model::ExactNumber;
use std::collections::{BTreeMap, BTreeSet};

/// The place of each file.
#[derive(Default)]
pub(super) struct FileArrangement {
    /// For each axis, the lengths of the blocks along it.
    pub(super) sizes: Vec<Vec<u64>>,
    /// For each axis, where the blocks begin.
    pub(super) starts: Vec<Vec<u64>>,
    /// For each axis, the number of a file that has the block's coordinates.
    pub(super) blocks: Vec<Vec<usize>>,
    /// For each place of the grid of blocks, in row-major order, its file.
    pub(super) places: Vec<Option<usize>>,
    pub(super) problems: Vec<String>,
    pub(super) notes: Vec<String>,
}

impl FileArrangement {
    /// Finds the places of files that have been read.
    pub(super) fn of(parts: &[FilePart], template: &FirstFile, sort: bool) -> Self {
        let mut arrangement = Self::default();
        match template.axes.as_slice() {
            [_] => arrangement.follow(parts, template, sort),
            _ => arrangement.tile(parts, template),
        }
        for (axis, blocks) in arrangement.blocks.clone().into_iter().enumerate() {
            let sizes: Vec<u64> = blocks.iter().map(|part| len_of(parts, *part, axis)).collect();
            arrangement.starts.push(block_starts(&sizes));
            arrangement.sizes.push(sizes);
            arrangement.check_order(parts, template, axis, &blocks);
        }
        arrangement
    }

    /// One axis: files in the given order, or by their first coordinates.
    fn follow(&mut self, parts: &[FilePart], template: &FirstFile, sort: bool) {
        let mut order: Vec<usize> = (0..parts.len()).collect();
        fill_hollow(parts, &mut order);
        let first = |part: usize| coordinates(parts, part, 0).and_then(|numbers| numbers.first().copied());
        if sort && order.iter().any(|part| first(*part).is_none()) {
            let name = template.axes.first().map(|axis| axis.name.as_str()).unwrap_or_default();
            self.problems
                .push(format!("files cannot be sorted along {name}, which has no coordinate values"));
        } else if sort {
            let first = |part: usize| first(part).unwrap_or(ZERO);
            order.sort_by(|one, other| first(*one).total_order(&first(*other)));
            if descends(parts, 0) {
                order.reverse();
            }
        }
        self.places = order.iter().copied().map(Some).collect();
        self.blocks = vec![order];
    }

    /// Several axes: files are tiles of a grid, by their coordinates.
    fn tile(&mut self, parts: &[FilePart], template: &FirstFile) {
        let mut at: Vec<Vec<usize>> = vec![Vec::new(); parts.len()];
        for (axis, named) in template.axes.iter().enumerate() {
            let mut blocks: Vec<usize> = Vec::new();
            for part in 0..parts.len() {
                let Some(numbers) = coordinates(parts, part, axis) else {
                    self.problems
                        .push(format!("a grid of files needs coordinate values along {}", named.name));
                    return;
                };
                if !blocks.iter().any(|block| coordinates(parts, *block, axis) == Some(numbers)) {
                    blocks.push(part);
                }
            }
            let first = |block: &usize| {
                coordinates(parts, *block, axis).and_then(|n| n.first().copied()).unwrap_or(ZERO)
            };
            blocks.sort_by(|one, other| first(one).total_order(&first(other)));
            if descends(parts, axis) {
                blocks.reverse();
            }
            for (part, at) in at.iter_mut().enumerate() {
                let own = coordinates(parts, part, axis);
                at.extend(blocks.iter().position(|block| coordinates(parts, *block, axis) == own));
            }
            self.blocks.push(blocks);
        }
        self.place(parts, template, &at);
    }

    /// Puts files at their places in a grid; two at one place, or an empty place, is a fault.
    fn place(&mut self, parts: &[FilePart], template: &FirstFile, at: &[Vec<usize>]) {
        let lens: Vec<usize> = self.blocks.iter().map(Vec::len).collect();
        let cells = lens.iter().try_fold(1usize, |cells, len| cells.checked_mul(*len));
        // A grid that is mostly empty is not one.
        let Some(cells) = cells.filter(|cells| *cells <= parts.len().saturating_mul(64)) else {
            self.problems.push("the files do not form a grid: too many cells would be empty".to_owned());
            return;
        };
        self.places = vec![None; cells];
        for (part, at) in at.iter().enumerate() {
            let number = at.iter().zip(&lens).fold(0, |number, (at, len)| number * len + at);
            let Some(place) = self.places.get_mut(number) else { continue };
            match place {
                Some(other) if is_hollow(parts, *other) => *other = part,
                Some(_) if is_hollow(parts, part) => {}
                Some(other) => {
                    let (one, other) = (url(parts, *other), url(parts, part));
                    self.problems.push(format!("{other} has the same coordinates as {one}"));
                }
                None => *place = Some(part),
            }
        }
        let is_empty = |place: &Option<usize>| place.is_none_or(|part| is_hollow(parts, part));
        for (number, _) in self.places.iter().enumerate().filter(|(_, place)| is_empty(place)) {
            let mut rest = number;
            let mut words = Vec::new();
            for (axis, (blocks, named)) in self.blocks.iter().zip(&template.axes).enumerate().rev() {
                let block = blocks.get(rest % blocks.len().max(1)).copied().unwrap_or(0);
                rest /= blocks.len().max(1);
                let first = coordinates(parts, block, axis).and_then(|numbers| numbers.first().copied());
                words.push(format!("{} {}", named.name, first.unwrap_or(ZERO)));
            }
            words.reverse();
            self.notes.push(format!("no file starts at {}", words.join(", ")));
        }
    }

    /// Whether coordinates are monotonic, within files and from one to the next.
    fn check_order(&mut self, parts: &[FilePart], template: &FirstFile, axis: usize, blocks: &[usize]) {
        let Some(name) = template.axes.get(axis).map(|axis| axis.name.as_str()) else { return };
        let first =
            |block: &usize| coordinates(parts, *block, axis).and_then(|numbers| numbers.first().copied());
        // For files of one step the next file shows the direction.
        let ends = (blocks.first().and_then(first), blocks.get(1).and_then(first));
        let down = direction(parts, axis).unwrap_or(ends.1 < ends.0);
        let sign = if down { -1.0 } else { 1.0 };
        let mut steps = Vec::new();
        for block in blocks {
            let Some(numbers) = coordinates(parts, *block, axis) else { return };
            let own = numbers.windows(2).filter_map(|two| Some(sign * two.last()?.minus(*two.first()?)));
            let own: Vec<f64> = own.collect();
            if !own.iter().all(|step| *step > 0.0) {
                let way = if down { "descend" } else { "ascend" };
                self.problems.push(format!("{}: coordinates along {name} do not {way}", url(parts, *block)));
            }
            steps.extend(own);
        }
        let between: Vec<(usize, usize, f64)> = blocks
            .windows(2)
            .filter_map(|two| {
                let (one, other) = (*two.first()?, *two.last()?);
                let (last, first) =
                    (coordinates(parts, one, axis)?.last()?, coordinates(parts, other, axis)?.first()?);
                Some((one, other, sign * first.minus(*last)))
            })
            .collect();
        steps.extend(between.iter().map(|(.., step)| *step).filter(|step| *step > 0.0));
        steps.sort_by(f64::total_cmp);
        let usual = steps.get(steps.len() / 2).copied().unwrap_or(f64::INFINITY);
        for (one, other, step) in between {
            let names = (url(parts, one), url(parts, other));
            if step <= 0.0 {
                let end = coordinates(parts, other, axis).and_then(|n| n.last().copied()).unwrap_or(ZERO);
                let start = coordinates(parts, one, axis).and_then(|n| n.first().copied()).unwrap_or(ZERO);
                let how = if sign * end.minus(start) < 0.0 { "lies before" } else { "overlaps" };
                self.problems.push(format!("{} {how} {} along {name}", names.1, names.0));
            } else if step > 1.5 * usual {
                self.notes.push(format!("a gap along {name} between {} and {}", names.0, names.1));
            }
        }
    }
}

fn is_hollow(parts: &[FilePart], part: usize) -> bool {
    parts.get(part).is_some_and(FilePart::is_hollow)
}

/// Replaces places that have coordinates but no fragment with files of the same coordinates.
fn fill_hollow(parts: &[FilePart], order: &mut Vec<usize>) {
    let first =
        |part: usize| coordinates(parts, part, 0).and_then(|numbers| numbers.first()).map(|n| key_of(*n));
    if !order.iter().any(|part| is_hollow(parts, *part)) {
        return;
    }
    let files = order.iter().enumerate().filter(|(_, part)| !is_hollow(parts, **part));
    let files: BTreeMap<(bool, i128), usize> =
        files.filter_map(|(at, part)| Some((first(*part)?, at))).collect();
    let mut filled = BTreeSet::new();
    for at in 0..order.len() {
        let Some(hollow) = order.get(at).copied().filter(|part| is_hollow(parts, *part)) else { continue };
        let Some(file) = first(hollow).and_then(|first| files.get(&first).copied()) else { continue };
        let part = order.get(file).copied().unwrap_or(hollow);
        if coordinates(parts, part, 0) == coordinates(parts, hollow, 0) {
            filled.insert(hollow);
            if file > at {
                order.swap(at, file);
            }
        }
    }
    order.retain(|part| !filled.contains(part));
}

fn descends(parts: &[FilePart], axis: usize) -> bool {
    direction(parts, axis).unwrap_or(false)
}

/// Whether the coordinates of an axis decrease: as in the first file that shows it.
fn direction(parts: &[FilePart], axis: usize) -> Option<bool> {
    let ends = |part: usize| {
        let numbers = coordinates(parts, part, axis)?;
        let (first, last) = (numbers.first()?, numbers.last()?);
        (numbers.len() > 1).then_some(last < first)
    };
    (0..parts.len()).find_map(ends)
}

/// Equal for equal numbers only.
fn key_of(number: ExactNumber) -> (bool, i128) {
    match number.to_integer() {
        Some(integer) => (false, integer),
        None => (true, number.to_f64().to_bits().into()),
    }
}

const ZERO: ExactNumber = ExactNumber::Integer(0);

fn coordinates(parts: &[FilePart], part: usize, axis: usize) -> Option<&[ExactNumber]> {
    parts.get(part)?.coordinates.get(axis)?.as_deref()
}

fn len_of(parts: &[FilePart], part: usize, axis: usize) -> u64 {
    parts.get(part).and_then(|part| part.lens.get(axis)).copied().unwrap_or(0)
}

fn url(parts: &[FilePart], part: usize) -> &str {
    parts.get(part).map(|part| part.url.as_str()).unwrap_or_default()
}
