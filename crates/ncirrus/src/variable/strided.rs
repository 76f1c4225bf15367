//! Results in the caller's memory with strides.
use super::Variable;
use crate::{Error, Result, Selection, Storage};

/// Memory of the caller in which the elements of an array have strides: element `i, j, ...` begins at byte
/// `origin + i * strides[0] + j * strides[1] + ...`. Strides may be negative; bytes between elements are left unchanged.
#[derive(Debug)]
pub struct StridedBytes<'a> {
    bytes: &'a mut [u8],
    origin: usize,
    strides: Vec<isize>,
}

impl<'a> StridedBytes<'a> {
    /// Memory in which the first element begins at `origin`, with these strides in bytes.
    pub fn new(bytes: &'a mut [u8], origin: usize, strides: Vec<isize>) -> Self {
        Self { bytes, origin, strides }
    }

    /// A row-major array of that shape, of elements of `element` bytes, in which the elements of some axes are
    /// reversed: the memory for the negative steps of [`slice_by_steps`](crate::slice_by_steps).
    ///
    /// # Errors
    /// `Limit` if the array exceeds the address space.
    pub fn backwards(bytes: &'a mut [u8], shape: &[u64], element: usize, backwards: &[bool]) -> Result<Self> {
        let too_large = || Error::limit(format!("an array of shape {shape:?} does not fit this machine"));
        let mut strides = vec![0isize; shape.len()];
        let (mut step, mut origin) = (isize::try_from(element).map_err(|_| too_large())?, 0usize);
        for (axis, (stride, len)) in strides.iter_mut().zip(shape).enumerate().rev() {
            let len = isize::try_from(*len).map_err(|_| too_large())?;
            let turned = backwards.get(axis).copied().unwrap_or(false);
            *stride = if turned { -step } else { step };
            if turned {
                let last = (len - 1).max(0).checked_mul(step).ok_or_else(too_large)?;
                origin = origin.checked_add_signed(last).ok_or_else(too_large)?;
            }
            step = step.checked_mul(len.max(1)).ok_or_else(too_large)?;
        }
        Ok(Self { bytes, origin, strides })
    }

    /// Checks that every element of an array of that shape is inside, and that no two overlap, as far as that is easy
    /// to decide.
    fn check(&self, shape: &[u64], element: usize) -> Result<()> {
        if self.strides.len() != shape.len() {
            let message = format!("{} strides for an array of shape {shape:?}", self.strides.len());
            return Err(Error::invalid(message));
        }
        if shape.contains(&0) {
            return Ok(());
        }
        let (mut low, mut high) = (Some(self.origin), self.origin.checked_add(element));
        for (axis, (stride, len)) in self.strides.iter().zip(shape).enumerate() {
            if *len > 1 && stride.unsigned_abs() < element {
                let message = format!("elements of {element} bytes {stride} bytes apart along axis {axis}");
                return Err(Error::invalid(message));
            }
            let reach = isize::try_from(len - 1).ok().and_then(|steps| steps.checked_mul(*stride));
            let end = if *stride < 0 { &mut low } else { &mut high };
            *end = end.zip(reach).and_then(|(end, reach)| end.checked_add_signed(reach));
        }
        match (low, high) {
            (Some(_), Some(high)) if high <= self.bytes.len() => Ok(()),
            _ => {
                let len = self.bytes.len();
                Err(Error::invalid(format!(
                    "an array of shape {shape:?} reaches out of {len} bytes of memory"
                )))
            }
        }
    }

    /// Whether the elements are contiguous from the first byte to the last.
    fn is_row_major(&self, shape: &[u64], element: usize) -> bool {
        let mut step = Some(element);
        let mut is_next = |stride: &isize, len: u64| {
            let fits = len == 1 || usize::try_from(*stride).ok() == step;
            step = step.zip(usize::try_from(len).ok()).and_then(|(step, len)| step.checked_mul(len));
            fits
        };
        let in_order = self.strides.iter().zip(shape).rev().all(|(stride, len)| is_next(stride, *len));
        self.origin == 0 && in_order && step == Some(self.bytes.len())
    }

    /// Puts the elements of a box, row-major, that starts at the given indices.
    fn scatter(&mut self, start: &[u64], shape: &[u64], element: usize, from: &[u8]) -> Option<()> {
        let at = |index: u64, stride: isize| isize::try_from(index).ok()?.checked_mul(stride);
        let mut first = self.origin;
        for (index, stride) in start.iter().zip(&self.strides) {
            first = first.checked_add_signed(at(*index, *stride)?)?;
        }
        let (row_len, row_stride) = match (shape.last(), self.strides.last()) {
            (Some(len), Some(stride)) => (usize::try_from(*len).ok()?, *stride),
            _ => (1, 0),
        };
        let outer = shape.get(..shape.len().saturating_sub(1))?;
        let mut place = vec![0u64; outer.len()];
        for row in from.chunks_exact(row_len.checked_mul(element)?.max(1)) {
            let mut to = first;
            for (index, stride) in place.iter().zip(&self.strides) {
                to = to.checked_add_signed(at(*index, *stride)?)?;
            }
            self.put_row(to, row_stride, element, row)?;
            for (index, len) in place.iter_mut().zip(outer).rev() {
                *index += 1;
                if *index < *len {
                    break;
                }
                *index = 0;
            }
        }
        Some(())
    }

    fn put_row(&mut self, start: usize, stride: isize, element: usize, row: &[u8]) -> Option<()> {
        if usize::try_from(stride) == Ok(element) {
            self.bytes.get_mut(start..start.checked_add(row.len())?)?.copy_from_slice(row);
            return Some(());
        }
        let mut at = start;
        let last = row.len() / element.max(1);
        for (number, one) in row.chunks_exact(element.max(1)).enumerate() {
            self.bytes.get_mut(at..at.checked_add(element)?)?.copy_from_slice(one);
            if number + 1 < last {
                at = at.checked_add_signed(stride)?;
            }
        }
        Some(())
    }
}

/// Maximum number of bytes that are read before they are distributed by strides; and the fraction of the session's
/// memory that this may be.
const WINDOW: usize = 16 << 20;
const PART: usize = 8;

impl Variable {
    /// Reads a selection into the caller's memory with strides, elements in the form that
    /// [`packed_len`](Self::packed_len) describes. If they are contiguous they are read in place, otherwise through a
    /// buffer of at most an eighth of the session's memory, cut between chunks if possible.
    ///
    /// # Errors
    /// As [`read_bytes_into`](Self::read_bytes_into); `Invalid` if an element is outside the memory, or two of one axis
    /// overlap.
    pub fn read_strided(&self, selection: &Selection, mut out: StridedBytes<'_>) -> Result<()> {
        let located = |error: Error| error.at_path(self.path());
        let element = self.packed_len();
        let element =
            element.ok_or_else(|| located(Error::invalid("values of this type have no fixed size")))?;
        selection.check(&self.shape()).map_err(|error| located(error.into()))?;
        let shape = selection.shape();
        out.check(&shape, element).map_err(located)?;
        if out.is_row_major(&shape, element) {
            return self.read_bytes_into(selection, out.bytes);
        }
        let chunks = match self.storage() {
            Storage::Chunked(chunks) => chunks,
            _ => Vec::new(),
        };
        let window = (self.dataset.session().memory() / PART).clamp(element.max(1), WINDOW);
        let max = (window / element.max(1)) as u64;
        let (mut rest, mut done, mut buffer) = (vec![selection.clone()], 0u64, Vec::new());
        while let Some(part) = rest.pop() {
            let count = part.element_count().unwrap_or(u64::MAX);
            if let Some((first, second)) = part.halves(&chunks).filter(|_| count > max) {
                rest.extend([second, first]);
                continue;
            }
            let len = usize::try_from(count).ok().and_then(|count| count.checked_mul(element));
            buffer.resize(
                len.ok_or_else(|| located(Error::limit("the selection does not fit the memory")))?,
                0,
            );
            self.read_bytes_into(&part, &mut buffer)?;
            let put = out.scatter(&indices_of(done, &shape), &part.shape(), element, &buffer);
            put.ok_or_else(|| located(Error::internal("a part lies outside of the memory")))?;
            done += count;
        }
        Ok(())
    }
}

/// The indices of an element of an array, from its number in row-major order.
fn indices_of(number: u64, shape: &[u64]) -> Vec<u64> {
    let mut rest = number;
    let mut indices = vec![0; shape.len()];
    for (index, len) in indices.iter_mut().zip(shape).rev() {
        *index = rest.checked_rem(*len).unwrap_or(0);
        rest = rest.checked_div(*len).unwrap_or(0);
    }
    indices
}

#[cfg(test)]
mod tests;
