//! Copies that continue past chunks that cannot be decoded: their elements become fill.
use super::VariableCopy;
use super::array_boxes::chunk_lengths;
use crate::convert;
use crate::write::boxes::for_each_run;
use crate::write::cells::to_index;
use ncirrus_layout::{Error, ErrorKind, Layout, Result, Source};
use ncirrus_model::{Region, Values};

/// A part of a variable that could not be decoded; its elements are fill in the copy.
#[derive(Debug, Clone)]
pub struct SkippedPart {
    /// Path of the variable in the source.
    pub path: String,
    /// Coordinates of the chunk, if the source is chunked.
    pub chunk: Option<Vec<u64>>,
    /// The elements in the copy.
    pub region: Region,
    /// The error.
    pub error: Error,
}

/// Receives each part that was skipped.
pub(super) type ReportSkipped<'a> = &'a (dyn Fn(SkippedPart) + Sync);

/// Elements that are assigned together.
const ASSIGNED: usize = 1 << 16;
/// Parts of a variable without chunks that are tried one by one.
const PARTS: u64 = 1024;

impl VariableCopy<'_> {
    /// The values of a box of the result, read in parts if some of it cannot be decoded.
    pub(super) async fn read_around_damage(
        &self,
        region: &Region,
        report_skipped: ReportSkipped<'_>,
    ) -> Result<Vec<(Region, Values)>> {
        match self.read_block(region).await {
            Ok(values) => return Ok(vec![(region.clone(), values)]),
            Err(error) if is_damage(&error) => {}
            Err(error) => return Err(error),
        }
        let source = self.source.source(self.from).await?;
        let units = self.units(&source);
        let (mut read, mut rest) = (Vec::new(), vec![region.clone()]);
        while let Some(part) = rest.pop() {
            match self.read_block(&part).await {
                Ok(values) => read.push((part, values)),
                Err(error) if is_damage(&error) => match units.halves(&part) {
                    Some([first, second]) => rest.extend([second, first]),
                    None => read.push(self.filled(part, &source, &units, error, report_skipped)?),
                },
                Err(error) => return Err(error),
            }
        }
        Ok(read)
    }

    /// As [`read_around_damage`](Self::read_around_damage), as one set of values.
    pub(super) async fn read_whole_around_damage(
        &self,
        region: &Region,
        report_skipped: ReportSkipped<'_>,
    ) -> Result<Values> {
        let parts = self.read_around_damage(region, report_skipped).await?;
        let count = region.element_count().and_then(|count| usize::try_from(count).ok());
        let count = count.ok_or_else(|| Error::limit("more elements than memory holds"))?;
        let mut whole = self.source.source(self.from).await?.fill.repeat(count);
        let shape: Vec<usize> = region.count.iter().map(|len| to_index(*len)).collect::<Result<_>>()?;
        for (part, values) in parts {
            let inside = |(start, first): (&u64, &u64)| to_index(start - first);
            let start: Vec<usize> =
                part.start.iter().zip(&region.start).map(inside).collect::<Result<_>>()?;
            let lens: Vec<usize> = part.count.iter().map(|len| to_index(*len)).collect::<Result<_>>()?;
            let (mut to, mut from) = (Vec::new(), Vec::new());
            let mut done = Ok(());
            for_each_run(&shape, &start, &lens, |run| {
                to.extend((0..run.len).map(|k| run.outer + k * run.step));
                from.extend(run.inner..run.inner + run.len);
                // The lists of indices take several times the memory of the values: they are used and emptied in
                // between.
                if to.len() >= ASSIGNED && done.is_ok() {
                    done = convert::assign(&mut whole, &to, &values, &from);
                    to.clear();
                    from.clear();
                }
            });
            done.and_then(|()| convert::assign(&mut whole, &to, &values, &from))?;
        }
        Ok(whole)
    }

    /// Fill in place of what cannot be decoded.
    fn filled(
        &self,
        region: Region,
        source: &Source,
        units: &DecodeUnits,
        error: Error,
        report_skipped: ReportSkipped<'_>,
    ) -> Result<(Region, Values)> {
        let count = region.element_count().and_then(|count| usize::try_from(count).ok());
        let count = count.ok_or_else(|| Error::limit("more elements than memory holds"))?;
        let chunk = error.place().chunk.clone().or_else(|| units.chunk_of(&region));
        let path = self.source.model().variable_path(self.from);
        let values = source.fill.repeat(count);
        report_skipped(SkippedPart { path, chunk, region: region.clone(), error });
        Ok((region, values))
    }

    /// The units into which the selection is cut for decoding.
    fn units(&self, source: &Source) -> DecodeUnits {
        let region = self.selection.as_region();
        match (&source.layout, &region) {
            (Layout::Grid { .. }, Some(region)) => DecodeUnits {
                lens: chunk_lengths(source, 1).unwrap_or_else(|| vec![1; self.shape.len()]),
                offset: region.start.clone(),
                are_chunks: true,
            },
            (Layout::Grid { .. }, None) => DecodeUnits::single(self.shape.len()),
            _ => {
                let mut lens = self.shape.clone();
                lens.first_mut().into_iter().for_each(|len| *len = len.div_ceil(PARTS).max(1));
                DecodeUnits { lens, ..DecodeUnits::single(self.shape.len()) }
            }
        }
    }
}

/// Units of decoding: boxes of equal shape that begin at multiples of it in the source.
struct DecodeUnits {
    lens: Vec<u64>,
    /// Start of the selection in the source.
    offset: Vec<u64>,
    are_chunks: bool,
}

impl DecodeUnits {
    /// Single elements.
    fn single(rank: usize) -> Self {
        Self { lens: vec![1; rank], offset: vec![0; rank], are_chunks: false }
    }

    /// The number of the unit along an axis that contains an element.
    fn unit(&self, axis: usize, element: u64) -> u64 {
        let at = |list: &[u64], default| list.get(axis).copied().unwrap_or(default);
        at(&self.offset, 0).saturating_add(element) / at(&self.lens, 1).max(1)
    }

    fn chunk_of(&self, region: &Region) -> Option<Vec<u64>> {
        let all = region.start.iter().enumerate().map(|(axis, start)| self.unit(axis, *start));
        self.are_chunks.then(|| all.collect())
    }

    /// The box cut in two between units, along the axis that has the most of them; `None` if it is within one.
    fn halves(&self, region: &Region) -> Option<[Region; 2]> {
        let span = |axis: usize| {
            let (start, count) = (region.start.get(axis).copied()?, region.count.get(axis).copied()?);
            let (first, last) = (self.unit(axis, start), self.unit(axis, (start + count).checked_sub(1)?));
            (last > first).then_some((last - first, axis, first + (last - first).div_ceil(2)))
        };
        let (_, axis, middle) = (0..region.start.len()).filter_map(span).max()?;
        let (mut one, mut other) = (region.clone(), region.clone());
        let border = middle.checked_mul(*self.lens.get(axis)?)?.checked_sub(*self.offset.get(axis)?)?;
        let (start, count) = (*region.start.get(axis)?, *region.count.get(axis)?);
        *one.count.get_mut(axis)? = border.checked_sub(start)?;
        *other.start.get_mut(axis)? = border;
        *other.count.get_mut(axis)? = (start + count).checked_sub(border)?;
        Some([one, other])
    }
}

/// Whether an error means that data are damaged, so that other data of the same variable may be intact.
pub(super) fn is_damage(error: &Error) -> bool {
    error.kind() == ErrorKind::Malformed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_are_cut_between_chunks_down_to_single_ones() {
        let units = DecodeUnits { lens: vec![4, 3], offset: vec![2, 0], are_chunks: true };
        let mut rest = vec![Region { start: vec![0, 0], count: vec![7, 7] }];
        let mut single = Vec::new();
        while let Some(region) = rest.pop() {
            match units.halves(&region) {
                Some([one, other]) => rest.extend([other, one]),
                None => single.push((units.chunk_of(&region), region)),
            }
        }
        single.sort_by(|one, other| one.0.cmp(&other.0));
        let chunks: Vec<Vec<u64>> = single.iter().filter_map(|(chunk, _)| chunk.clone()).collect();
        let all: Vec<Vec<u64>> = (0..3).flat_map(|y| (0..3).map(move |x| vec![y, x])).collect();
        assert_eq!(chunks, all);
        let elements: u64 = single.iter().filter_map(|(_, region)| region.element_count()).sum();
        assert_eq!(elements, 49);
    }
}
