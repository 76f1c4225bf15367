//! The checks of elements that are read or written, as netCDF-C orders them. It has three kinds of calls: boxes, which each format checks
//! for itself; boxes with strides, which are boxes of netCDF-4, but are checked and then done element by element for netCDF-3; and boxes
//! with distances in memory, which are checked and then done part by part for all formats. Of what is done in parts, the last one decides
//! about ends that only strides reach.
use ncirrus_model::Model;

/// The last record of a classic file.
const LAST_RECORD: u64 = 0xffff_ffff;
/// The stride from which on calls that go in parts refuse it.
const TOO_FAR: isize = 0x7fff_ffff;

/// Why elements are refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SlabRefusal {
    /// They begin outside (`NC_EINVALCOORDS`).
    Start,
    /// They end outside (`NC_EEDGE`).
    End,
    /// The stride is invalid (`NC_ESTRIDE`).
    Stride,
    /// There is no number for them: HDF5 refuses them (`NC_EHDFERR`).
    Beyond,
}

/// What a call asks for along an axis.
#[derive(Debug, Clone, Copy)]
pub struct RequestedAxis {
    /// Its length.
    pub len: u64,
    /// Whether it is of an unlimited dimension.
    pub grows: bool,
    /// The first element.
    pub start: u64,
    /// The number of elements.
    pub count: u64,
    /// The distance between them.
    pub stride: isize,
}

impl RequestedAxis {
    /// A start at the end is right for no elements.
    fn starts_outside(&self) -> bool {
        self.start > self.len || self.start == self.len && self.count > 0
    }

    /// Whether the elements, one after the other, end outside.
    fn ends_outside(&self) -> bool {
        self.start.checked_add(self.count).is_none_or(|end| end > self.len)
    }

    /// The last element; none if no number counts it.
    fn last(&self) -> Option<u64> {
        let steps = self.stride.unsigned_abs() as u64;
        self.count.saturating_sub(1).checked_mul(steps).and_then(|far| far.checked_add(self.start))
    }

    /// The last element of a call that goes in parts, as a box of its own; one that no number counts is outside.
    #[must_use]
    pub fn last_part(&self) -> Self {
        Self { start: self.last().unwrap_or(u64::MAX), count: 1, stride: 1, ..*self }
    }

    fn check_start(&self) -> Result<(), SlabRefusal> {
        if self.starts_outside() { Err(SlabRefusal::Start) } else { Ok(()) }
    }

    fn check_start_and_end(&self) -> Result<(), SlabRefusal> {
        self.check_start()?;
        if self.ends_outside() { Err(SlabRefusal::End) } else { Ok(()) }
    }

    fn check_stride(&self) -> Result<(), SlabRefusal> {
        if self.stride <= 0 || self.stride >= TOO_FAR { Err(SlabRefusal::Stride) } else { Ok(()) }
    }
}

/// Whether no element is asked for.
pub fn has_none(axes: &[RequestedAxis]) -> bool {
    axes.iter().any(|axis| axis.count == 0)
}

/// The strides of a call with distances in memory.
///
/// # Errors
/// `Stride`.
pub fn check_strides(axes: &[RequestedAxis]) -> Result<(), SlabRefusal> {
    axes.iter().try_for_each(RequestedAxis::check_stride)
}

/// The elements of a call with distances in memory. `has_records`: the first dimension is the one that the file calls its unlimited one.
///
/// # Errors
/// `Start`, `End`.
pub fn check_mapped(axes: &[RequestedAxis], writes: bool, has_records: bool) -> Result<(), SlabRefusal> {
    if writes {
        return axes.iter().skip(usize::from(has_records)).try_for_each(RequestedAxis::check_start_and_end);
    }
    axes.iter().rev().try_for_each(RequestedAxis::check_start_and_end)
}

/// The elements of a call with strides, of netCDF-3.
///
/// # Errors
/// `Start`, `End`, `Stride`.
pub fn check_strided(axes: &[RequestedAxis], writes: bool) -> Result<(), SlabRefusal> {
    axes.iter().try_for_each(|axis| {
        if !(writes && axis.grows) {
            axis.check_start_and_end()?;
        }
        axis.check_stride()
    })
}

/// A box of netCDF-3, of a file that can be written or not.
///
/// # Errors
/// `Start`, `End`.
pub fn check_classic(axes: &[RequestedAxis], writes: bool, is_writable: bool) -> Result<(), SlabRefusal> {
    let (records, fixed) = match axes.split_first() {
        Some((first, rest)) if first.grows => (Some(first), rest),
        _ => (None, axes),
    };
    let is_wrong = |axis: &RequestedAxis| axis.start > LAST_RECORD || !is_writable && axis.start > axis.len;
    if records.is_some_and(is_wrong) || fixed.iter().any(|axis| axis.start > axis.len) {
        return Err(SlabRefusal::Start);
    }
    if let Some(records) = records.filter(|_| !is_writable) {
        records.check_start()?;
    }
    fixed.iter().try_for_each(RequestedAxis::check_start_and_end)?;
    if records.is_some_and(|records| !writes && records.ends_outside()) {
        return Err(SlabRefusal::End);
    }
    Ok(())
}

/// Whether netCDF-C converts the elements of a box of netCDF-3 in one piece, and checks the types then, though there are none: those of a
/// fixed variable that is asked for in whole rows of its first axis, and those of the only record variable, if it has no other axis.
pub fn is_converted_at_once(model: &Model, axes: &[RequestedAxis]) -> bool {
    let Some((first, rest)) = axes.split_first() else { return true };
    if !first.grows {
        return rest.iter().all(|axis| axis.count == axis.len);
    }
    let records = model.variables().into_iter().filter(|var| model.growing(*var).first() == Some(&true));
    rest.is_empty() && records.count() == 1
}

/// A box of netCDF-4, with strides or without. `has_none`: the call as a whole asks for no element.
///
/// # Errors
/// `Stride`, `Start`, `End`, `Beyond`.
pub fn check_netcdf4(axes: &[RequestedAxis], writes: bool, has_none: bool) -> Result<(), SlabRefusal> {
    if axes.iter().any(|axis| axis.stride <= 0) {
        return Err(SlabRefusal::Stride);
    }
    for axis in axes.iter().filter(|axis| !(writes && axis.grows)) {
        axis.check_start()?;
        let is_checked = if writes { !has_none } else { axis.count > 0 };
        if is_checked && axis.last().is_none_or(|last| last >= axis.len) {
            return Err(SlabRefusal::End);
        }
    }
    if !has_none && axes.iter().any(|axis| axis.last().is_none_or(|last| last == u64::MAX)) {
        return Err(SlabRefusal::Beyond);
    }
    Ok(())
}

/// The places of a slab's elements in the program's memory: some bytes after its pointer, or before it, as a program that turns
/// an axis around passes the address of its last element.
#[derive(Debug)]
pub struct MappedPlaces<'a> {
    counts: &'a [usize],
    /// In elements, by axis.
    distances: &'a [isize],
    element_len: usize,
    /// Those of the next element.
    indices: Vec<usize>,
}

impl<'a> MappedPlaces<'a> {
    /// The places of elements of some bytes, at these distances.
    pub fn new(counts: &'a [usize], distances: &'a [isize], element_len: usize) -> Self {
        Self { counts, distances, element_len, indices: vec![0; counts.len()] }
    }

    /// The indices of the next element.
    pub fn indices(&self) -> &[usize] {
        &self.indices
    }

    /// The place of the next element in bytes; after the last one, that of the first one again. `None` for a place that no number
    /// counts.
    pub fn step(&mut self) -> Option<isize> {
        let place = self.place();
        for (index, count) in self.indices.iter_mut().zip(self.counts).rev() {
            *index += 1;
            if *index < *count {
                break;
            }
            *index = 0;
        }
        place
    }

    fn place(&self) -> Option<isize> {
        let mut axes = self.indices.iter().zip(self.distances);
        let elements = axes.try_fold(0isize, |sum, (index, distance)| {
            sum.checked_add(isize::try_from(*index).ok()?.checked_mul(*distance)?)
        })?;
        elements.checked_mul(isize::try_from(self.element_len).ok()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(len: u64, start: u64, count: u64, stride: isize) -> RequestedAxis {
        RequestedAxis { len, grows: false, start, count, stride }
    }

    #[test]
    fn a_start_at_the_end_is_right_for_no_elements_and_strides_reach_the_last_one() {
        assert_eq!(check_netcdf4(&[axis(4, 4, 0, 1)], false, true), Ok(()));
        assert_eq!(check_netcdf4(&[axis(4, 4, 1, 1)], false, false), Err(SlabRefusal::Start));
        assert_eq!(check_netcdf4(&[axis(4, 1, 2, 2)], false, false), Ok(()));
        assert_eq!(check_netcdf4(&[axis(4, 0, 3, 2)], false, false), Err(SlabRefusal::End));
        assert_eq!(check_netcdf4(&[axis(4, 0, 3, 0)], false, false), Err(SlabRefusal::Stride));
        let records = RequestedAxis { grows: true, ..axis(0, u64::MAX, 1, 1) };
        assert_eq!(check_netcdf4(&[records], true, false), Err(SlabRefusal::Beyond));
        assert_eq!(check_classic(&[records], true, true), Err(SlabRefusal::Start));
        assert_eq!(check_classic(&[RequestedAxis { start: 7, ..records }], true, true), Ok(()));
        assert_eq!(check_strided(&[axis(4, 0, 2, TOO_FAR)], false), Err(SlabRefusal::Stride));
    }
}
