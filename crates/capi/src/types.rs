//! Types: names, sizes in C's memory, fields and members.
use crate::codes::{Code, NC_EBADFIELD, NC_EBADTYPE, NC_EBADTYPID, NC_EINTERNAL, NC_EINVAL, Outcome};
use crate::files::{FIRST_USER_TYPE, FileGroup, group_of, number};
use crate::layouts;
use crate::memory::{BytesOut, CText, NameOut, Out, TextOut};
use ncirrus::{Atomic, EnumMember, Field, TypeRef, UserKind, UserType};
use std::ffi::c_int;

/// A user-defined type.
///
/// # Errors
/// `NC_EBADTYPE` if the number is not that of one.
fn user_type(at: &FileGroup, ty: c_int) -> Outcome<&UserType> {
    match at.members.ty(ty)? {
        TypeRef::User(id) => at.model().user_type(id).ok_or(Code(NC_EBADTYPE)),
        TypeRef::Atomic(_) => Err(Code(NC_EBADTYPE)),
    }
}

/// Name and size of any type.
pub(crate) fn inq(ncid: c_int, ty: c_int, name: NameOut, size: Out<usize>) -> Outcome<()> {
    if ty <= 0 {
        return Err(Code(NC_EBADTYPE));
    }
    if ty < FIRST_USER_TYPE {
        // Known without a file, but for the id.
        let atomic = Atomic::ALL.into_iter().find(|atomic| c_int::from(atomic.number()) == ty);
        let atomic = atomic.ok_or(Code(NC_EBADTYPE))?;
        name.set(atomic.name());
        size.set(atomic.byte_len().unwrap_or(size_of::<usize>()));
        return Ok(());
    }
    let at = group_of(ncid)?;
    let id = at.members.ty(ty)?;
    name.set(&user_type(&at, ty)?.name);
    size.set(layouts::size_of_type(at.model(), id)?.len);
    Ok(())
}

/// The number of a type by name, the nearest enclosing one.
pub(crate) fn inq_id(ncid: c_int, name: CText, ty: Out<c_int>) -> Outcome<()> {
    let name = name.text()?;
    if let Some(atomic) = Atomic::from_name(&name) {
        ty.set(c_int::from(atomic.number()));
        return Ok(());
    }
    let at = group_of(ncid)?;
    let found = at.model().visible_type(at.id, &name);
    let found = found.or_else(|| at.model().type_at(&name)).ok_or(Code(NC_EBADTYPE))?;
    ty.set(at.members.number_of_type(TypeRef::User(found)));
    Ok(())
}

/// Everything about a user-defined type but its fields and members.
pub(crate) fn inq_user(
    ncid: c_int,
    ty: c_int,
    name: NameOut,
    size: Out<usize>,
    base: Out<c_int>,
    fields: Out<usize>,
    class: Out<c_int>,
) -> Outcome<()> {
    let at = group_of(ncid)?;
    let user = user_type(&at, ty)?;
    let (base_of, count, number) = match &user.kind {
        UserKind::Vlen(base) => (at.members.number_of_type(*base), 0, 13),
        UserKind::Opaque(_) => (0, 0, 14),
        UserKind::Enum { base, members } => (c_int::from(base.number()), members.len(), 15),
        UserKind::Compound(fields) => (0, fields.len(), 16),
    };
    name.set(&user.name);
    size.set(layouts::size_of_type(at.model(), at.members.ty(ty)?)?.len);
    base.set(base_of);
    fields.set(count);
    class.set(number);
    Ok(())
}

fn fields(at: &FileGroup, ty: c_int) -> Outcome<&[Field]> {
    match &user_type(at, ty)?.kind {
        UserKind::Compound(fields) => Ok(fields),
        _ => Err(Code(NC_EBADTYPE)),
    }
}

/// The name and size of a compound type, and how many fields it has.
pub(crate) fn inq_compound(
    ncid: c_int,
    ty: c_int,
    name: NameOut,
    size: Out<usize>,
    count: Out<usize>,
) -> Outcome<()> {
    let at = group_of(ncid)?;
    count.set(fields(&at, ty)?.len());
    inq(ncid, ty, name, size)
}

/// A field of a compound.
#[expect(clippy::too_many_arguments, reason = "as C has them")]
pub(crate) fn inq_field(
    ncid: c_int,
    ty: c_int,
    index: c_int,
    name: NameOut,
    offset: Out<usize>,
    field_type: Out<c_int>,
    rank: Out<c_int>,
    lens: Out<c_int>,
) -> Outcome<()> {
    let at = group_of(ncid)?;
    let fields = fields(&at, ty)?;
    let index = usize::try_from(index).map_err(|_| Code(NC_EBADFIELD))?;
    let field = fields.get(index).ok_or(Code(NC_EBADFIELD))?;
    name.set(&field.name);
    if let Some(first) = layouts::offsets(at.model(), fields)?.get(index) {
        offset.set(*first);
    }
    field_type.set(at.members.number_of_type(field.ty));
    rank.set(number(field.dims.len()));
    let sizes = field.dims.iter().map(|len| c_int::try_from(*len).unwrap_or(c_int::MAX));
    lens.set_all(&sizes.collect::<Vec<_>>());
    Ok(())
}

/// The number of a field by name.
pub(crate) fn inq_field_index(ncid: c_int, ty: c_int, name: CText, index: Out<c_int>) -> Outcome<()> {
    let at = group_of(ncid)?;
    let name = name.text()?;
    let found = fields(&at, ty)?.iter().position(|field| field.name == name);
    index.set(number(found.ok_or(Code(NC_EBADFIELD))?));
    Ok(())
}

/// Name, size of an element, and base type of a vlen.
pub(crate) fn inq_vlen(
    ncid: c_int,
    ty: c_int,
    name: NameOut,
    size: Out<usize>,
    base: Out<c_int>,
) -> Outcome<()> {
    let at = group_of(ncid)?;
    let UserKind::Vlen(of) = user_type(&at, ty)?.kind else { return Err(Code(NC_EBADTYPE)) };
    base.set(at.members.number_of_type(of));
    inq(ncid, ty, name, size)
}

/// Name and size of an opaque type.
pub(crate) fn inq_opaque(ncid: c_int, ty: c_int, name: NameOut, size: Out<usize>) -> Outcome<()> {
    let at = group_of(ncid)?;
    let UserKind::Opaque(_) = user_type(&at, ty)?.kind else { return Err(Code(NC_EBADTYPE)) };
    inq(ncid, ty, name, size)
}

fn members(at: &FileGroup, ty: c_int) -> Outcome<(Atomic, &[EnumMember])> {
    match &user_type(at, ty)?.kind {
        UserKind::Enum { base, members } => Ok((*base, members)),
        _ => Err(Code(NC_EBADTYPID)),
    }
}

/// Name, base type and number of members of an enum.
pub(crate) fn inq_enum(
    ncid: c_int,
    ty: c_int,
    name: NameOut,
    base: Out<c_int>,
    size: Out<usize>,
    count: Out<usize>,
) -> Outcome<()> {
    let at = group_of(ncid)?;
    let (of, members) = members(&at, ty)?;
    base.set(c_int::from(of.number()));
    count.set(members.len());
    inq(ncid, ty, name, size)
}

/// A member of an enum: name and value.
pub(crate) fn inq_member(
    ncid: c_int,
    ty: c_int,
    index: c_int,
    name: NameOut,
    value: BytesOut,
) -> Outcome<()> {
    let at = group_of(ncid)?;
    let (base, members) = members(&at, ty)?;
    let member = usize::try_from(index).ok().and_then(|index| members.get(index)).ok_or(Code(NC_EINVAL))?;
    name.set(&member.name);
    if value.is_null() {
        return Ok(());
    }
    let len = base.byte_len().ok_or(Code(NC_EINTERNAL))?;
    let bytes = member.value.to_ne_bytes();
    let part = if cfg!(target_endian = "big") { bytes.len() - len..bytes.len() } else { 0..len };
    value.write(bytes.get(part).ok_or(Code(NC_EINTERNAL))?)
}

/// The name of the member with a value; `UNDEFINED` for 0 where no member has it.
pub(crate) fn inq_ident(ncid: c_int, ty: c_int, value: i64, name: NameOut) -> Outcome<()> {
    let at = group_of(ncid)?;
    let (base, members) = members(&at, ty)?;
    let value = if base == Atomic::UInt64 { i128::from(value.cast_unsigned()) } else { i128::from(value) };
    match members.iter().find(|member| member.value == value) {
        Some(member) => name.set(&member.name),
        None if value == 0 => name.set("_UNDEFINED"),
        None => return Err(Code(NC_EINVAL)),
    }
    Ok(())
}

/// Frees what values refer to.
pub(crate) fn reclaim(ncid: c_int, ty: c_int, memory: BytesOut, count: usize) -> Outcome<()> {
    let at = group_of(ncid)?;
    let id = at.members.ty(ty)?;
    let len = layouts::size_of_type(at.model(), id)?.len.checked_mul(count).ok_or(Code(NC_EINVAL))?;
    if memory.is_null() && len > 0 {
        return Err(Code(NC_EINVAL));
    }
    layouts::reclaim(at.model(), id, memory.as_bytes().read(len)?)
}

/// Frees what values refer to, and the values.
pub(crate) fn reclaim_all(ncid: c_int, ty: c_int, memory: BytesOut, count: usize) -> Outcome<()> {
    reclaim(ncid, ty, memory, count)?;
    crate::memory::free_address(memory.address());
    Ok(())
}

/// Frees texts, not the array that refers to them.
pub(crate) fn free_strings(count: usize, texts: TextOut) -> Outcome<()> {
    texts.addresses(count)?.into_iter().for_each(crate::memory::free_address);
    Ok(())
}
