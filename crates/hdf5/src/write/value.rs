//! Values as stored elements; those of variable length go to a heap (docs/spec/hdf5-netcdf4.md F.2, H.6).
mod number;

use super::heap::HeapBuilder;
use super::out::ByteSink;
use super::space::SpaceAllocator;
use crate::datatypes::{CompoundMember, Datatype, DatatypeClass, StringPadding};
use ncirrus_layout::{Error, Result};
use ncirrus_model::Values;
use std::ops::Range;

/// The stored elements of `values[range]`. Null strings and empty sequences are null references; an empty string is an
/// object of no bytes.
///
/// # Errors
/// If values do not match the datatype, or text is too long for its space.
pub(crate) fn encode_values(
    datatype: &Datatype,
    values: &Values,
    range: Range<usize>,
    heap: &mut HeapBuilder,
    space: &mut SpaceAllocator,
) -> Result<Vec<u8>> {
    ValueEncoder { heap, space }.elements(datatype, values, range)
}

struct ValueEncoder<'a> {
    heap: &'a mut HeapBuilder,
    space: &'a mut SpaceAllocator,
}

impl ValueEncoder<'_> {
    fn elements(&mut self, datatype: &Datatype, values: &Values, range: Range<usize>) -> Result<Vec<u8>> {
        let each = len_of(datatype)?;
        let len = range.len().checked_mul(each);
        let mut bytes = vec![0; len.ok_or_else(|| Error::limit("more bytes of values than memory has"))?];
        for (index, place) in range.zip(bytes.chunks_exact_mut(each)) {
            self.element(datatype, values, index, place)?;
        }
        Ok(bytes)
    }

    /// One element; its space is as long as the datatype, and zeroed.
    fn element(
        &mut self,
        datatype: &Datatype,
        values: &Values,
        index: usize,
        place: &mut [u8],
    ) -> Result<()> {
        match (&datatype.class, values) {
            (DatatypeClass::Integer(_) | DatatypeClass::BitField(_) | DatatypeClass::Float(_), _) => {
                number::encode(datatype, values, index, place)
            }
            (DatatypeClass::Enum { base, .. }, _) => self.element(base, values, index, place),
            (DatatypeClass::Text(_), Values::Char(text)) => copy(text, index, place),
            (DatatypeClass::Text(padding), Values::String(strings)) => {
                fixed_text(*padding, strings.get(index), place)
            }
            (DatatypeClass::VlenText(_), Values::String(strings)) => match strings.get(index) {
                // A null string is a zeroed handle: the place is zeroed already.
                Some(text) => {
                    without_nul(text)?;
                    self.handle(text.len(), text, place)
                }
                None => Ok(()),
            },
            (DatatypeClass::Opaque, Values::Opaque { size, bytes }) if *size == place.len() => {
                copy(bytes, index, place)
            }
            (DatatypeClass::Compound(members), Values::Compound { fields, .. }) => {
                self.compound(members, fields, index, place)
            }
            (DatatypeClass::Complex(base), Values::Compound { fields, .. }) => {
                let parts = place.chunks_exact_mut(len_of(base)?);
                fields.iter().zip(parts).try_for_each(|(field, part)| self.element(base, field, index, part))
            }
            (DatatypeClass::Array { base, .. }, _) => self.array(base, values, index, place),
            (DatatypeClass::Vlen(base), Values::Vlen { ends, elements }) => {
                let start = index.checked_sub(1).and_then(|before| ends.get(before)).copied().unwrap_or(0);
                let end = ends.get(index).copied().ok_or_else(too_few)?;
                // An empty sequence is a zeroed handle, too.
                if end <= start {
                    return Ok(());
                }
                let sequence = self.elements(base, elements, start..end)?;
                self.handle(end - start, &sequence, place)
            }
            // A null reference is zero, and so is the place.
            (DatatypeClass::Reference(_), Values::String(strings)) if strings.get(index).is_none() => Ok(()),
            (DatatypeClass::Reference(_), _) => Err(Error::unsupported("writing of references to objects")),
            (DatatypeClass::Time, _) => Err(Error::unsupported("writing of time datatypes (class 2)")),
            _ => Err(Error::invalid("values of a type other than the stored one")),
        }
    }

    fn compound(
        &mut self,
        members: &[CompoundMember],
        fields: &[Values],
        index: usize,
        place: &mut [u8],
    ) -> Result<()> {
        if members.len() != fields.len() {
            let text = format!("values with {} fields, stored with {}", fields.len(), members.len());
            return Err(Error::invalid(text));
        }
        for (member, field) in members.iter().zip(fields) {
            let start = usize::try_from(member.offset).unwrap_or(usize::MAX);
            let end = start.saturating_add(len_of(&member.datatype)?);
            let part = place.get_mut(start..end);
            let part = part
                .ok_or_else(|| Error::invalid(format!("member {} outside of its compound", member.name)))?;
            self.element(&member.datatype, field, index, part)?;
        }
        Ok(())
    }

    /// An array: that many values of the base for each element.
    fn array(&mut self, base: &Datatype, values: &Values, index: usize, place: &mut [u8]) -> Result<()> {
        let each = len_of(base)?;
        let first = index.checked_mul(place.len() / each).ok_or_else(too_few)?;
        let parts = place.chunks_exact_mut(each).enumerate();
        parts
            .into_iter()
            .try_for_each(|(at, part)| self.element(base, values, first.saturating_add(at), part))
    }

    /// A variable-length element: `count` items in an object of a heap.
    fn handle(&mut self, count: usize, object: &[u8], place: &mut [u8]) -> Result<()> {
        let count = u32::try_from(count);
        let count =
            count.map_err(|_| Error::unsupported(format!("{} bytes in one element", object.len())))?;
        let (collection, index) = self.heap.add(object, self.space)?;
        let handle = ByteSink::new().u32(count).addr(Some(collection), self.heap.sizes()).u32(index).finish();
        copy(&handle, 0, place)
    }
}

/// Copies the item at `index` of items with the length of the destination.
fn copy(items: &[u8], index: usize, place: &mut [u8]) -> Result<()> {
    let start = index.checked_mul(place.len()).ok_or_else(too_few)?;
    let item = start.checked_add(place.len()).and_then(|end| items.get(start..end));
    place.copy_from_slice(item.ok_or_else(too_few)?);
    Ok(())
}

/// Readers end strings at NUL: the rest of one that holds it would be lost.
fn without_nul(text: &[u8]) -> Result<()> {
    if !text.contains(&0) {
        return Ok(());
    }
    let shown: String = String::from_utf8_lossy(text).chars().take(40).collect();
    Err(Error::invalid(format!("the string {shown:?} holds NUL, which ends strings in HDF5")))
}

fn fixed_text(padding: StringPadding, text: Option<&[u8]>, place: &mut [u8]) -> Result<()> {
    let text = text.unwrap_or_default();
    if padding != StringPadding::SpacePadded {
        without_nul(text)?;
    }
    let room = place.len();
    let Some((start, rest)) = place.split_at_mut_checked(text.len()) else {
        let len = text.len();
        return Err(Error::invalid(format!("text of {len} bytes where {room} are stored")));
    };
    start.copy_from_slice(text);
    rest.fill(if padding == StringPadding::SpacePadded { b' ' } else { 0 });
    Ok(())
}

/// Bytes of one element.
fn len_of(datatype: &Datatype) -> Result<usize> {
    let len = usize::try_from(datatype.byte_len).ok().filter(|len| *len > 0);
    len.ok_or_else(|| Error::limit(format!("elements of {} bytes", datatype.byte_len)))
}

fn too_few() -> Error {
    Error::invalid("fewer values than are to be stored")
}

#[cfg(test)]
mod tests;
