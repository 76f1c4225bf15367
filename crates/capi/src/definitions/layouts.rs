//! Values in the memory layout of C: numbers, `char *`, `nc_vlen_t`, and structures with the padding that a C compiler gives
//! them.
//!
//! Values are turned into an *image*, the bytes that C's memory will hold; what strings and vlens refer to is allocated by
//! `malloc`, and its addresses are in the image.
use crate::c_types::codes::{Code, NC_EBADTYPE, NC_EINTERNAL, NC_EINVAL, NC_ENOMEM, Outcome};
use crate::c_types::memory::{CBlock, allocated, allocated_text, free_address};
use crate::files::members::FileMembers;
use ncirrus::{Atomic, Field, Strings, TypeId, TypeRef, UserKind, Values};

/// Bytes and alignment of one element in C.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CSize {
    pub(crate) len: usize,
    pub(crate) align: usize,
}

/// Bytes of a pointer, and of the count before it in an `nc_vlen_t`.
const WORD: usize = size_of::<usize>();
/// Deepest nesting of types.
const DEPTH: u32 = 32;

/// The size of one element of a type.
///
/// # Errors
/// `NC_EBADTYPE` if it is not defined or nested too deeply, `NC_ENOMEM` if it exceeds the address space.
pub(crate) fn size_of_type(members: &FileMembers, ty: TypeRef) -> Outcome<CSize> {
    size_at(members, ty, DEPTH)
}

fn size_at(members: &FileMembers, ty: TypeRef, depth: u32) -> Outcome<CSize> {
    let depth = depth.checked_sub(1).ok_or(Code(NC_EBADTYPE))?;
    let even = |len: usize| CSize { len, align: len.max(1) };
    match ty {
        TypeRef::Atomic(atomic) => Ok(even(atomic.byte_len().unwrap_or(WORD))),
        TypeRef::User(id) => match &members.model.user_type(id).ok_or(Code(NC_EBADTYPE))?.kind {
            UserKind::Enum { base, .. } => Ok(even(base.byte_len().unwrap_or(WORD))),
            UserKind::Opaque(len) => {
                Ok(CSize { len: usize::try_from(*len).map_err(|_| Code(NC_ENOMEM))?, align: 1 })
            }
            UserKind::Vlen(_) => Ok(CSize { len: 2 * WORD, align: WORD }),
            UserKind::Compound(fields) => {
                let (mut end, mut align) = (0usize, 1usize);
                for field in fields {
                    let (offset, size, len) = placed(members, field, end, depth)?;
                    align = align.max(size.align);
                    end = offset.checked_add(len).ok_or(Code(NC_ENOMEM))?;
                }
                let own = members.layouts.get(&id).map(|own| own.len);
                let whole = own.or_else(|| end.checked_next_multiple_of(align));
                Ok(CSize { len: whole.ok_or(Code(NC_ENOMEM))?, align })
            }
        },
    }
}

/// Where a field begins after the one that ends at `end`, the size of one of its elements, and its length.
fn placed(members: &FileMembers, field: &Field, end: usize, depth: u32) -> Outcome<(usize, CSize, usize)> {
    let size = size_at(members, field.ty, depth)?;
    let count = usize::try_from(field.element_count()).map_err(|_| Code(NC_ENOMEM))?;
    let offset = end.checked_next_multiple_of(size.align).ok_or(Code(NC_ENOMEM))?;
    Ok((offset, size, size.len.checked_mul(count).ok_or(Code(NC_ENOMEM))?))
}

/// The offsets of the fields of a compound: those that the program gave, or a C compiler's.
///
/// # Errors
/// As [`size_of_type`].
pub(crate) fn offsets(members: &FileMembers, id: TypeId, fields: &[Field]) -> Outcome<Vec<usize>> {
    if let Some(own) = members.layouts.get(&id).filter(|own| own.offsets.len() == fields.len()) {
        return Ok(own.offsets.clone());
    }
    let mut end = 0;
    let mut offsets = Vec::with_capacity(fields.len());
    for field in fields {
        let (offset, _, len) = placed(members, field, end, DEPTH)?;
        offsets.push(offset);
        end = offset.checked_add(len).ok_or(Code(NC_ENOMEM))?;
    }
    Ok(offsets)
}

/// The image of values of a type.
///
/// # Errors
/// `NC_ENOMEM`; `NC_EINTERNAL` if the values are of another type.
pub(crate) fn image(members: &FileMembers, ty: TypeRef, values: &Values) -> Outcome<Vec<u8>> {
    if let Some(bytes) = values.as_bytes() {
        return Ok(bytes.to_vec());
    }
    let size = size_of_type(members, ty)?;
    let mut bytes = vec![0; size.len.checked_mul(values.len()).ok_or(Code(NC_ENOMEM))?];
    for (index, element) in bytes.chunks_exact_mut(size.len.max(1)).enumerate() {
        put(members, ty, values, index, element)?;
    }
    Ok(bytes)
}

/// Puts one value into its place in an image.
fn put(members: &FileMembers, ty: TypeRef, values: &Values, index: usize, place: &mut [u8]) -> Outcome<()> {
    let lost = Code(NC_EINTERNAL);
    match (values, ty) {
        (Values::String(strings), _) => {
            let address = strings.get(index).map(allocated_text).transpose()?.unwrap_or(0);
            fill(place, &address.to_ne_bytes())
        }
        (Values::Vlen { ends, elements }, TypeRef::User(id)) => {
            let Some(UserKind::Vlen(base)) = members.model.user_type(id).map(|ty| &ty.kind) else {
                return Err(lost);
            };
            let start = index.checked_sub(1).map_or(Some(0), |before| ends.get(before).copied());
            let range = start.ok_or(lost)?..*ends.get(index).ok_or(lost)?;
            let len = range.len();
            let address = allocated(&image(members, *base, &elements.slice(range))?)?;
            fill(place, &[len.to_ne_bytes(), address.to_ne_bytes()].concat())
        }
        (Values::Compound { fields: columns, .. }, TypeRef::User(id)) => {
            let Some(UserKind::Compound(fields)) = members.model.user_type(id).map(|ty| &ty.kind) else {
                return Err(lost);
            };
            for ((field, column), offset) in fields.iter().zip(columns).zip(offsets(members, id, fields)?) {
                let each = usize::try_from(field.element_count()).map_err(|_| lost)?;
                let start = index.checked_mul(each).ok_or(lost)?;
                let part = image(members, field.ty, &column.slice(start..start.saturating_add(each)))?;
                fill(place.get_mut(offset..).ok_or(lost)?, &part)?;
            }
            Ok(())
        }
        (plain, _) => {
            let bytes = plain.as_bytes().ok_or(lost)?;
            let start = index.checked_mul(place.len()).ok_or(lost)?;
            let part = bytes.get(start..start.saturating_add(place.len())).ok_or(lost)?;
            fill(place, part)
        }
    }
}

fn fill(place: &mut [u8], bytes: &[u8]) -> Outcome<()> {
    place.get_mut(..bytes.len()).ok_or(Code(NC_EINTERNAL))?.copy_from_slice(bytes);
    Ok(())
}

/// Frees what the strings and vlens of an image refer to.
///
/// # Errors
/// As [`size_of_type`].
pub(crate) fn reclaim(members: &FileMembers, ty: TypeRef, image: &[u8]) -> Outcome<()> {
    let size = size_of_type(members, ty)?.len.max(1);
    let (id, kind) = match ty {
        TypeRef::Atomic(Atomic::String) => {
            image.chunks_exact(WORD).for_each(|pointer| free_address(CBlock::at(pointer).address()));
            return Ok(());
        }
        TypeRef::Atomic(_) => return Ok(()),
        TypeRef::User(id) => (id, &members.model.user_type(id).ok_or(Code(NC_EBADTYPE))?.kind),
    };
    for element in image.chunks_exact(size) {
        match kind {
            UserKind::Enum { .. } | UserKind::Opaque(_) => {}
            UserKind::Vlen(base) => {
                let (block, bytes) = vlen_block(members, *base, element)?;
                reclaim(members, *base, &bytes)?;
                free_address(block.address());
            }
            UserKind::Compound(fields) => {
                for (field, offset) in fields.iter().zip(offsets(members, id, fields)?) {
                    reclaim(members, field.ty, field_image(members, field, element, offset)?)?;
                }
            }
        }
    }
    Ok(())
}

/// The block of a vlen's elements, and the bytes in it.
fn vlen_block(members: &FileMembers, base: TypeRef, element: &[u8]) -> Outcome<(CBlock, Vec<u8>)> {
    let block = CBlock::at(element.get(WORD..).ok_or(Code(NC_EINTERNAL))?);
    let count = CBlock::at(element).address();
    let len = count.checked_mul(size_of_type(members, base)?.len).ok_or(Code(NC_EINVAL))?;
    let bytes = if block.address() == 0 { Vec::new() } else { block.bytes(len)? };
    Ok((block, bytes))
}

fn field_image<'a>(
    members: &FileMembers,
    field: &Field,
    element: &'a [u8],
    offset: usize,
) -> Outcome<&'a [u8]> {
    let (_, _, len) = placed(members, field, offset, DEPTH)?;
    element.get(offset..offset.saturating_add(len)).ok_or(Code(NC_EINTERNAL))
}

/// The values of an image.
///
/// # Errors
/// `NC_EINVAL` for a vlen of elements without memory, `NC_EBADTYPE` for a type that is not defined.
pub(crate) fn values(members: &FileMembers, ty: TypeRef, image: &[u8]) -> Outcome<Values> {
    let lost = Code(NC_EINTERNAL);
    let size = size_of_type(members, ty)?.len.max(1);
    let (id, kind) = match ty {
        TypeRef::Atomic(Atomic::String) => {
            let mut strings = Strings::new();
            for pointer in image.chunks_exact(WORD) {
                strings.push(CBlock::at(pointer).text().as_deref());
            }
            return Ok(Values::String(strings));
        }
        TypeRef::Atomic(atomic) => return Values::from_native_bytes(atomic, image).ok_or(lost),
        TypeRef::User(id) => (id, &members.model.user_type(id).ok_or(Code(NC_EBADTYPE))?.kind),
    };
    match kind {
        UserKind::Enum { base, .. } => Values::from_native_bytes(*base, image).ok_or(lost),
        UserKind::Opaque(_) => Ok(Values::Opaque { size, bytes: image.to_vec() }),
        UserKind::Vlen(base) => {
            let mut elements = members.model.zeros(*base, 0, DEPTH).ok_or(Code(NC_EBADTYPE))?;
            let mut ends = Vec::new();
            for element in image.chunks_exact(size) {
                let (_, bytes) = vlen_block(members, *base, element)?;
                let part = values(members, *base, &bytes)?;
                elements.extend_from(&part, 0..part.len());
                ends.push(elements.len());
            }
            Ok(Values::Vlen { ends, elements: Box::new(elements) })
        }
        UserKind::Compound(fields) => {
            let len = image.len() / size;
            let column = |(field, offset): (&Field, usize)| {
                let mut column = members.model.zeros(field.ty, 0, DEPTH).ok_or(Code(NC_EBADTYPE))?;
                for element in image.chunks_exact(size) {
                    let part = values(members, field.ty, field_image(members, field, element, offset)?)?;
                    column.extend_from(&part, 0..part.len());
                }
                Ok(column)
            };
            let offsets = offsets(members, id, fields)?;
            Ok(Values::Compound {
                len,
                fields: fields.iter().zip(offsets).map(column).collect::<Outcome<_>>()?,
            })
        }
    }
}
