//! Values as stored elements; those of variable length go to a heap (hdf5-netcdf4.md F.2, H.6).
use super::heap::HeapBuilder;
use super::out::Out;
use super::space::Space;
use crate::file::{Addr, Sizes};
use crate::word::{Bits, Class, Datatype, FloatOrder};
use ncirrus_layout::{ByteOrder, Error, Result};
use ncirrus_model::Values;
use std::ops::Range;

/// The stored elements of `values[range]`.
///
/// # Errors
/// `Invalid` when the values are not of the datatype, `Limit` when an element is too long.
pub(crate) fn encode_values(
    datatype: &Datatype,
    values: &Values,
    range: Range<usize>,
    heap: &mut HeapBuilder,
    space: &mut Space,
) -> Result<Vec<u8>> {
    let each = usize::try_from(datatype.byte_len).ok();
    let len = each.and_then(|each| each.checked_mul(range.len()));
    let (Some(each), Some(len)) = (each, len) else { return Err(Error::limit("elements beyond all memory")) };
    let mut bytes = vec![0; len];
    let mut encoder = Encoder { heap, space };
    for (element, index) in bytes.chunks_exact_mut(each.max(1)).zip(range) {
        encoder.element(datatype, values, index, element)?;
    }
    Ok(bytes)
}

struct Encoder<'a> {
    heap: &'a mut HeapBuilder,
    space: &'a mut Space,
}

impl Encoder<'_> {
    /// One element into its zeroed place.
    fn element(
        &mut self,
        datatype: &Datatype,
        values: &Values,
        index: usize,
        place: &mut [u8],
    ) -> Result<()> {
        match (&datatype.class, values) {
            (Class::VlenText(_), Values::String(strings)) => match strings.get(index) {
                Some(text) => self.refer(text.len(), text, place),
                None => Ok(()),
            },
            (Class::Vlen(base), Values::Vlen { ends, elements }) => {
                let start = index.checked_sub(1).map_or(Some(0), |before| ends.get(before).copied());
                let range = start.zip(ends.get(index).copied()).filter(|(start, end)| start <= end);
                let (start, end) = range.ok_or_else(mismatch)?;
                let bytes = encode_values(base, elements, start..end, self.heap, self.space)?;
                if start == end { Ok(()) } else { self.refer(end - start, &bytes, place) }
            }
            (Class::Compound(members), Values::Compound { fields, .. }) if members.len() == fields.len() => {
                for (member, field) in members.iter().zip(fields) {
                    let place = part(place, member.offset, member.datatype.byte_len)?;
                    self.member(&member.datatype, field, index, place)?;
                }
                Ok(())
            }
            (Class::Array { .. }, _) => self.member(datatype, values, index, place),
            _ => fixed(datatype, values, index, place),
        }
    }

    /// All elements of a member.
    fn member(&mut self, datatype: &Datatype, field: &Values, index: usize, place: &mut [u8]) -> Result<()> {
        let Class::Array { dims, base } = &datatype.class else {
            return self.element(datatype, field, index, place);
        };
        let count = dims.iter().try_fold(1u64, |count, len| count.checked_mul(*len));
        let count = count.and_then(|count| usize::try_from(count).ok());
        let first = count.and_then(|count| index.checked_mul(count)).ok_or_else(mismatch)?;
        let each = usize::try_from(base.byte_len).unwrap_or(usize::MAX).max(1);
        for (at, place) in place.chunks_exact_mut(each).enumerate() {
            self.element(base, field, first + at, place)?;
        }
        Ok(())
    }

    /// Puts an object into the heap, and where it is into the place.
    fn refer(&mut self, count: usize, object: &[u8], place: &mut [u8]) -> Result<()> {
        let count = u32::try_from(count)
            .map_err(|_| Error::limit(format!("an element of variable length with {count} parts")))?;
        let (collection, index) = self.heap.add(object, self.space)?;
        let mut out = Out::new();
        let sizes = Sizes { offsets: u8::try_from(place.len().saturating_sub(8)).unwrap_or(8), lengths: 8 };
        out.u32(count).addr(Some(Addr(collection.0)), sizes).u32(index);
        place.copy_from_slice(out.finish().get(..place.len()).ok_or_else(mismatch)?);
        Ok(())
    }
}

/// Numbers, characters and opaque bytes.
fn fixed(datatype: &Datatype, values: &Values, index: usize, place: &mut [u8]) -> Result<()> {
    let native = match (values, values.as_bytes()) {
        (Values::Opaque { size, .. }, Some(_)) if *size != place.len() => None,
        (_, Some(bytes)) if bytes.len() == values.len().saturating_mul(place.len()) => {
            let start = index.checked_mul(place.len());
            start.and_then(|start| bytes.get(start..start + place.len()))
        }
        _ => None,
    };
    place.copy_from_slice(native.ok_or_else(mismatch)?);
    if order_of(datatype).is_some_and(|order| order != ByteOrder::NATIVE) {
        place.reverse();
    }
    Ok(())
}

/// The order of the bytes of a number.
fn order_of(datatype: &Datatype) -> Option<ByteOrder> {
    match &datatype.class {
        Class::Integer(Bits { order, .. }) | Class::BitField(Bits { order, .. }) => Some(*order),
        Class::Float(format) => match format.order {
            FloatOrder::Big => Some(ByteOrder::Big),
            FloatOrder::Little | FloatOrder::Vax => Some(ByteOrder::Little),
        },
        Class::Enum { base, .. } => order_of(base),
        _ => None,
    }
}

fn part(place: &mut [u8], offset: u64, len: u64) -> Result<&mut [u8]> {
    let start = usize::try_from(offset).ok();
    let end = start.and_then(|start| start.checked_add(usize::try_from(len).ok()?));
    let range = start.zip(end).ok_or_else(mismatch)?;
    place.get_mut(range.0..range.1).ok_or_else(mismatch)
}

fn mismatch() -> Error {
    Error::invalid("the values are not of the datatype that stores them")
}
