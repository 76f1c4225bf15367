//! `netcdf_aux.h`: alignment of types, compounds made field by field, files as bytes.
use crate::c_types::codes::{Code, NC_EINVAL, Outcome};
use crate::c_types::compound_draft::{CompoundDraft, DraftField};
use crate::c_types::memory::{
    AddressOut, ByteBuffer, Bytes, BytesOut, CText, CompoundHandle, In, Out, TextsOut, allocated,
    allocated_text,
};
use crate::definitions::define_types;
use crate::definitions::layouts::{self, CSize};
use crate::definitions::types::{COMPOUND, OPAQUE, VLEN, copied};
use crate::files::group_of;
use crate::files::members::{FileMembers, atomic_of};
use crate::process::local_place::path_of;
use ncirrus::netcdf::escapes;
use std::ffi::{CString, c_int};
use std::sync::Arc;

/// `ncaux_class_alignment`: of atomic types, vlens and opaque values; compounds have that of their fields.
pub(crate) fn class_alignment(class: c_int, align: Out<usize>) -> Outcome<()> {
    align.set(match class {
        VLEN => align_of::<usize>(),
        OPAQUE => 1,
        COMPOUND => return Err(Code(NC_EINVAL)),
        other => {
            let atomic = atomic_of(other).ok_or(Code(NC_EINVAL))?;
            atomic.byte_len().unwrap_or(align_of::<usize>())
        }
    });
    Ok(())
}

/// `ncaux_type_alignment`.
pub(crate) fn type_alignment(ty: c_int, ncid: c_int, align: Out<usize>) -> Outcome<()> {
    align.store(size_of_any(ncid, ty)?.align)
}

/// The size of a type; an atomic one is known without a file.
fn size_of_any(ncid: c_int, ty: c_int) -> Outcome<CSize> {
    if let Some(atomic) = atomic_of(ty) {
        return layouts::size_of_type(&FileMembers::of(Arc::default()), atomic.into());
    }
    let at = group_of(ncid)?;
    layouts::size_of_type(&at.members, at.members.ty(ty)?)
}

fn owned(text: &CText) -> Outcome<CString> {
    CString::new(text.bytes()?).map_err(|_| Code(NC_EINVAL))
}

/// `NC_MAX_VAR_DIMS`.
const MAX_DIMS: usize = 1024;

/// `ncaux_begin_compound`.
pub(crate) fn begin(ncid: c_int, name: CText, mode: c_int, tag: AddressOut) -> Outcome<()> {
    let draft = CompoundDraft { ncid, name: owned(&name)?, mode, fields: Vec::new() };
    tag.set(CompoundHandle::lent(draft));
    Ok(())
}

/// `ncaux_add_field`.
pub(crate) fn add(
    mut tag: CompoundHandle,
    name: CText,
    ty: c_int,
    rank: c_int,
    lens: In<c_int>,
) -> Outcome<()> {
    if tag.is_null() {
        return Ok(());
    }
    let draft = tag.draft()?;
    let rank = usize::try_from(rank).ok().filter(|rank| *rank <= MAX_DIMS).ok_or(Code(NC_EINVAL))?;
    let dims = lens.read(rank)?.to_vec();
    if dims.iter().any(|len| *len <= 0) {
        return Err(Code(NC_EINVAL));
    }
    let CSize { len: element, align } = size_of_any(draft.ncid, ty)?;
    let count = dims.iter().try_fold(element, |len, dim| len.checked_mul(usize::try_from(*dim).ok()?));
    let len = count.ok_or(Code(NC_EINVAL))?;
    draft.fields.push(DraftField { name: owned(&name)?, ty, dims, len, align });
    Ok(())
}

/// `ncaux_end_compound`: defines the type.
pub(crate) fn end(tag: CompoundHandle, id: Out<c_int>) -> Outcome<()> {
    let draft = tag.taken()?;
    let (mut end, mut widest, mut offsets) = (0usize, 1usize, Vec::new());
    for field in &draft.fields {
        let align = if draft.mode == 0 { field.align.max(1) } else { 1 };
        let offset = end.checked_next_multiple_of(align).ok_or(Code(NC_EINVAL))?;
        end = offset.checked_add(field.len).ok_or(Code(NC_EINVAL))?;
        widest = widest.max(align);
        offsets.push(offset);
    }
    let len = end.checked_next_multiple_of(widest).ok_or(Code(NC_EINVAL))?;
    let ty = Out::found(|ty| define_types::compound(draft.ncid, len, CText::of(&draft.name), ty))?;
    for (field, offset) in draft.fields.iter().zip(offsets) {
        let rank = crate::files::number(field.dims.len());
        let name = CText::of(&field.name);
        define_types::insert_array(draft.ncid, ty, name, offset, field.ty, rank, In::of(&field.dims))?;
    }
    id.store(ty)
}

/// `ncaux_abort_compound`.
pub(crate) fn abort(tag: CompoundHandle) -> Outcome<()> {
    if tag.is_null() {
        return Ok(());
    }
    tag.taken().map(|_| ())
}

/// `ncaux_readfile`.
pub(crate) fn read_file(path: CText, len: Out<usize>, content: AddressOut) -> Outcome<()> {
    if path.is_null() {
        return Err(Code(EFAULT));
    }
    let bytes = std::fs::read(path_of(path.bytes()?)).map_err(|error| of_system(&error))?;
    content.set(allocated(&bytes)?);
    len.store(bytes.len())
}

/// `NC_readfile`: the bytes of a file, after those that a buffer has.
pub(crate) fn append_file(path: CText, buffer: ByteBuffer) -> Outcome<()> {
    buffer.append(&std::fs::read(path_of(path.bytes()?)).map_err(|error| of_system(&error))?)
}

/// `ncaux_parse_provenance`: the address of keys and values in turn, and of two null pointers after them; null for no text.
///
/// # Errors
/// `NC_EINVAL` for a pair without text.
pub(crate) fn parse_provenance(text: CText, out: TextsOut) -> Outcome<()> {
    let text = text.bytes().unwrap_or_default();
    out.untyped().set(0);
    if text.is_empty() {
        return Ok(());
    }
    let mut image = Vec::new();
    for part in escapes::pairs(text).ok_or(Code(NC_EINVAL))?.into_iter().flatten() {
        image.extend(allocated_text(&part)?.to_ne_bytes());
    }
    image.extend([0; 2 * size_of::<usize>()]);
    out.untyped().set(allocated(&image)?);
    Ok(())
}

/// `ncaux_writefile`.
pub(crate) fn write_file(path: CText, len: usize, content: BytesOut) -> Outcome<()> {
    if path.is_null() {
        return Err(Code(EFAULT));
    }
    let content: Bytes = content.as_bytes();
    std::fs::write(path_of(path.bytes()?), content.read(len)?).map_err(|error| of_system(&error))
}

/// The system's error for an invalid address.
const EFAULT: c_int = 14;

fn of_system(error: &std::io::Error) -> Code {
    Code(error.raw_os_error().unwrap_or(NC_EINVAL))
}

/// `nctypelen`: bytes of an atomic type; -1 for others.
pub(crate) fn type_len(ty: c_int) -> c_int {
    let len = atomic_of(ty).map(|atomic| atomic.byte_len().unwrap_or(size_of::<usize>()));
    len.map_or(-1, crate::files::number)
}

/// `nc_copy_data_all`: a copy of values in a block of its own.
pub(crate) fn copy_all(ncid: c_int, ty: c_int, memory: Bytes, count: usize, copy: AddressOut) -> Outcome<()> {
    if ncid < 0 {
        return Err(Code(NC_EINVAL));
    }
    copy.set(allocated(&copied(&group_of(ncid)?, ty, memory, count)?)?);
    Ok(())
}
