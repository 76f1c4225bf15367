//! Positions of partitions in the array (docs/spec/cfa.md 2.2, 2.3, 6.1).
use super::json::{FormText, PartitionColumns};
use crate::boxes::PartitionBoxes;
use crate::cuts::AxisCells;
use crate::subject::AggregationSubject;
use ncirrus_layout::{Error, Result};
use std::ops::Range;

/// Positions of partitions.
#[derive(Debug)]
pub(super) enum PartitionPlaces {
    /// On a grid: the numbers of partitions by the index of their block, ascending.
    Grid { cuts: Vec<AxisCells>, cells: Vec<(u64, u32)> },
    /// Anywhere.
    Boxes(PartitionBoxes),
}

/// Maximum number of grid blocks per partition, plus a constant.
const SPARSEST: u64 = 4;

impl PartitionPlaces {
    /// The positions of partitions, and the lengths of dimensions, which they determine if no data were written.
    ///
    /// # Errors
    /// `Malformed` with the partition that has a wrong position.
    pub(super) fn new(
        subject: &AggregationSubject,
        partitions: &PartitionColumns,
        lengths: &[Option<u64>],
    ) -> Result<(Self, Vec<u64>)> {
        let rank = subject.rank();
        let spans = spans(subject, partitions, lengths)?;
        // There are as many spans as partitions times axes, none where there are no partitions.
        let of_partition = |number: usize| spans.get(number * rank..(number + 1) * rank).unwrap_or_default();
        let holds = |number: &usize| of_partition(*number).iter().all(|span| !span.is_empty());
        let numbers: Vec<usize> = (0..partitions.len()).filter(holds).collect();
        let end = |axis: usize| {
            let end = |number: &usize| of_partition(*number).get(axis).map_or(0, |span| span.end);
            numbers.iter().map(end).max().unwrap_or(0)
        };
        let lengths = lengths.iter().enumerate().map(|(axis, len)| len.unwrap_or_else(|| end(axis)));
        let lengths: Vec<u64> = lengths.collect();
        if let Some(grid) = grid(rank, &numbers, of_partition, subject.choices.lenient)? {
            return Ok((grid, lengths));
        }
        let numbers = (0..partitions.len() as u64).collect();
        Ok((Self::Boxes(PartitionBoxes::new(rank, numbers, spans)), lengths))
    }

    /// Number of blocks along each axis, if there is a grid.
    pub(super) fn shape(&self) -> Option<Vec<u64>> {
        match self {
            Self::Grid { cuts, .. } => Some(cuts.iter().map(AxisCells::count).collect()),
            Self::Boxes(_) => None,
        }
    }
}

/// The grid that partitions lie on, if they do.
fn grid<'a>(
    rank: usize,
    numbers: &[usize],
    of_partition: impl Fn(usize) -> &'a [Range<u64>],
    lenient: bool,
) -> Result<Option<PartitionPlaces>> {
    let along = |axis: usize| {
        let mut spans: Vec<(u64, u64)> = Vec::with_capacity(numbers.len());
        spans.extend(
            numbers
                .iter()
                .filter_map(|number| of_partition(*number).get(axis).map(|span| (span.start, span.end))),
        );
        spans.sort_unstable();
        spans.dedup();
        spans
    };
    let axes: Vec<Vec<(u64, u64)>> = (0..rank).map(along).collect();
    // Partitions that are scattered over a large grid are kept one by one: the grid would be mostly empty.
    let count = axes.iter().try_fold(1u64, |all, spans| all.checked_mul(spans.len() as u64));
    let max = (numbers.len() as u64).saturating_mul(SPARSEST).saturating_add(1 << 10);
    if count.is_none_or(|count| count > max) {
        return Ok(None);
    }
    let cuts =
        |spans: &Vec<(u64, u64)>| AxisCells::from_spans(spans.iter().map(|span| span.0..span.1).collect());
    let Some(cuts) = axes.iter().map(cuts).collect::<Option<Vec<_>>>() else { return Ok(None) };
    let mut cells = Vec::with_capacity(numbers.len());
    for number in numbers {
        // The row-major position in the grid: each span was found above, so that the search fails only for ranks that
        // differ.
        let mut place = 0;
        for (spans, span) in axes.iter().zip(of_partition(*number)) {
            let at = spans.binary_search(&(span.start, span.end));
            let at = at.map_err(|_| Error::internal(format!("partition {number} is not on a grid")))?;
            place = place * spans.len() as u64 + at as u64;
        }
        let number = u32::try_from(*number).map_err(|_| Error::limit("more than 2^32 partitions"))?;
        cells.push((place, number));
    }
    cells.sort_unstable();
    let twice = cells.windows(2).find(|pair| matches!(pair, [a, b] if a.0 == b.0));
    match twice {
        Some([(_, one), (_, other)]) if !lenient => {
            Err(Error::malformed(format!("the partitions {one} and {other} overlap")))
        }
        _ => Ok(Some(PartitionPlaces::Grid { cuts, cells })),
    }
}

/// The elements of each partition along each dimension.
fn spans(
    subject: &AggregationSubject,
    partitions: &PartitionColumns,
    lengths: &[Option<u64>],
) -> Result<Vec<Range<u64>>> {
    let (rank, count) = (subject.rank(), partitions.len());
    match partitions.rank {
        Some(found) if found != rank => {
            let message = format!("locations have {found} dimensions, the array {rank}");
            return Err(Error::malformed(message));
        }
        Some(_) => {}
        None if count == 1 => return whole(lengths),
        None if count == 0 => return Ok(Vec::new()),
        None => return Err(Error::malformed("several partitions without locations")),
    }
    let half_open = is_half_open(subject, partitions);
    let mut spans = Vec::with_capacity(partitions.locations.len());
    for (at, [first, last]) in partitions.locations.iter().enumerate() {
        let axis = at.checked_rem(rank).unwrap_or(0);
        let end = if half_open { *last } else { last.saturating_add(1) };
        let span = u64::try_from(*first).ok().zip(u64::try_from(end).ok());
        let len = lengths.get(axis).copied().flatten();
        let fits = |span: &Range<u64>| span.start <= span.end && len.is_none_or(|len| span.end <= len);
        let Some(span) = span.map(|(start, end)| start..end).filter(fits) else {
            let number = at.checked_div(rank).unwrap_or(0);
            let name = subject.dimensions.get(axis).map(String::as_str).unwrap_or_default();
            let len = len.map_or_else(|| "unlimited".to_owned(), |len| format!("of length {len}"));
            return Err(Error::malformed(format!(
                "partition {number} has the location [{first}, {last}] along {name}, which is {len}"
            )));
        };
        spans.push(span);
    }
    Ok(spans)
}

/// A partition without a location is the whole array.
fn whole(lengths: &[Option<u64>]) -> Result<Vec<Range<u64>>> {
    let span = |len: &Option<u64>| len.map(|len| 0..len);
    let spans: Option<Vec<Range<u64>>> = lengths.iter().map(span).collect();
    spans.ok_or_else(|| Error::malformed("a partition without a location along a dimension of no length"))
}

/// Whether locations exclude their last number, as in the examples of the convention's text: some partition matches
/// its sub-array only in this way, and none matches only otherwise.
fn is_half_open(subject: &AggregationSubject, partitions: &PartitionColumns) -> bool {
    let rank = subject.rank();
    let mut found = false;
    for (number, form) in partitions.form_of.iter().enumerate() {
        let Some(form) = usize::try_from(*form).ok().and_then(|form| partitions.forms.get(form)) else {
            continue;
        };
        let Some(sizes) = sizes(form, subject) else { continue };
        let location = partitions.locations.get(number * rank..(number + 1) * rank).unwrap_or_default();
        for ([first, last], size) in location.iter().zip(sizes) {
            let (distance, Some(size)) = (i128::from(*last) - i128::from(*first), size) else { continue };
            if distance + 1 == i128::from(size) {
                return false;
            }
            found |= distance == i128::from(size);
        }
    }
    found
}

/// The size of the sub-array along each dimension of the array, if it is known and nothing is selected from it.
fn sizes<'a>(
    form: &'a FormText,
    subject: &'a AggregationSubject,
) -> Option<impl Iterator<Item = Option<u64>> + 'a> {
    let shape =
        form.shape.as_deref().filter(|_| form.part.as_deref().is_none_or(|part| part.trim() == "[]"))?;
    let stored = form.pdimensions.as_ref().unwrap_or(&subject.dimensions);
    Some(subject.dimensions.iter().map(move |name| {
        let at = stored.iter().position(|other| other == name)?;
        shape.get(at).copied()
    }))
}
