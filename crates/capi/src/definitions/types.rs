//! Types: names, sizes in C's memory, fields and members.
use crate::c_types::codes::{
    Code, NC_EBADFIELD, NC_EBADTYPE, NC_EBADTYPID, NC_EINTERNAL, NC_EINVAL, NC_ENOTNC4, Outcome,
};
use crate::c_types::memory::{Bytes, BytesOut, CBlock, CText, NameOut, Out, TextOut, Vlens};
use crate::definitions::define::{check_sought, known_name};
use crate::definitions::layouts;
use crate::files::members::{FIRST_USER_TYPE, FileMembers, atomic_of};
use crate::files::{FileGroup, group_of, number};
use ncirrus::{Atomic, EnumMember, Field, Model, TypeId, TypeRef, UserKind, UserType, Values};
use std::ffi::c_int;

/// Numbers of the classes of types: the atomic types end before vlens.
pub(crate) const VLEN: c_int = 13;
pub(crate) const OPAQUE: c_int = 14;
pub(crate) const ENUM: c_int = 15;
pub(crate) const COMPOUND: c_int = 16;

/// A user-defined type.
///
/// # Errors
/// `NC_EBADTYPE` if the number is not that of one, `NC_ENOTNC4` for classic files, which have none.
fn user_type(at: &FileGroup, ty: c_int) -> Outcome<&UserType> {
    at.file.check_netcdf4()?;
    match at.members.ty(ty)? {
        TypeRef::User(id) => at.model().user_type(id).ok_or(Code(NC_EBADTYPE)),
        TypeRef::Atomic(_) => Err(Code(NC_EBADTYPE)),
    }
}

/// Whether a number is that of any type.
///
/// # Errors
/// `NC_EINVAL` below zero, `NC_EBADTYPE` for zero, `NC_EBADTYPID` if there is none.
pub(crate) fn check_type_number(members: &FileMembers, ty: c_int) -> Outcome<()> {
    match members.ty(ty) {
        Ok(_) => Ok(()),
        Err(_) if ty < 0 => Err(Code(NC_EINVAL)),
        Err(_) if ty == 0 => Err(Code(NC_EBADTYPE)),
        Err(_) => Err(Code(NC_EBADTYPID)),
    }
}

/// Name and size of any type.
pub(crate) fn inq(ncid: c_int, ty: c_int, name: NameOut, size: Out<usize>) -> Outcome<()> {
    if ty <= 0 {
        return Err(Code(NC_EBADTYPE));
    }
    if ty < FIRST_USER_TYPE {
        // Known without a file, but for the id.
        let atomic = atomic_of(ty);
        let atomic = atomic.ok_or(Code(NC_EBADTYPE))?;
        name.set(atomic.name());
        size.set(atomic.byte_len().unwrap_or(size_of::<usize>()));
        return Ok(());
    }
    let at = group_of(ncid)?;
    let id = at.members.ty(ty)?;
    name.set(&user_type(&at, ty)?.name);
    size.store(layouts::size_of_type(&at.members, id)?.len)
}

/// The first type of a name in any group.
fn anywhere(model: &Model, name: &str) -> Option<TypeId> {
    model.types().into_iter().find(|id| model.user_type(*id).is_some_and(|ty| ty.name == name))
}

/// The number of a type by name, the nearest enclosing one.
pub(crate) fn inq_id(ncid: c_int, asked: CText, ty: Out<c_int>) -> Outcome<()> {
    let name = asked.text()?;
    if let Some(atomic) = Atomic::from_name(&name) {
        ty.set(c_int::from(atomic.number()));
        return Ok(());
    }
    let at = group_of(ncid)?;
    at.file.check_netcdf4()?;
    check_sought(false, &asked)?;
    known_name(&asked)?;
    if name.contains('/') && !name.starts_with('/') {
        return Err(Code(NC_EINVAL));
    }
    let found = at.model().visible_type(at.id, &name);
    let found = found.or_else(|| at.model().type_at(&name)).or_else(|| anywhere(at.model(), &name));
    let absent = if name.starts_with('/') { NC_EINVAL } else { NC_EBADTYPE };
    let found = found.ok_or(Code(absent))?;
    ty.store(at.members.number_of_type(TypeRef::User(found)))
}

/// `ncaux_inq_any_type`: as [`inq_user`], of atomic types, too, which are classes of their own.
pub(crate) fn inq_any(
    ncid: c_int,
    ty: c_int,
    name: NameOut,
    size: Out<usize>,
    base: Out<c_int>,
    fields: Out<usize>,
    class: Out<c_int>,
) -> Outcome<()> {
    if atomic_of(ty).is_none() {
        return inq_user(ncid, ty, name, size, base, fields, class);
    }
    inq(ncid, ty, name, size)?;
    base.set(0);
    fields.set(0);
    class.store(ty)
}

/// Everything about a user-defined type but its fields and members.
pub(crate) fn inq_user(
    ncid: c_int,
    ty: c_int,
    name: NameOut,
    size: Out<usize>,
    base: Out<c_int>,
    count: Out<usize>,
    class: Out<c_int>,
) -> Outcome<()> {
    class.store(TypeQuestion { name, size, base, count }.ask_file(ncid, ty, None)?)
}

/// What is asked of a user-defined type; null for what is not asked.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct TypeQuestion {
    pub(crate) name: NameOut,
    pub(crate) size: Out<usize>,
    pub(crate) base: Out<c_int>,
    /// How many fields or members it has.
    pub(crate) count: Out<usize>,
}

impl TypeQuestion {
    /// Asks about a type of a file of the library's own formats; returns its class.
    ///
    /// # Errors
    /// `NC_EBADTYPE` for a type of another class than the given one.
    pub(crate) fn ask_file(self, ncid: c_int, ty: c_int, class: Option<c_int>) -> Outcome<c_int> {
        let at = group_of(ncid)?;
        let user = user_type(&at, ty)?;
        let (base, count, found) = match &user.kind {
            UserKind::Vlen(base) => (at.members.number_of_type(*base), 0, VLEN),
            UserKind::Opaque(_) => (0, 0, OPAQUE),
            UserKind::Enum { base, members } => (c_int::from(base.number()), members.len(), ENUM),
            UserKind::Compound(fields) => (0, fields.len(), COMPOUND),
        };
        if class.is_some_and(|class| class != found) {
            return Err(Code(NC_EBADTYPE));
        }
        self.name.set(&user.name);
        self.size.set(layouts::size_of_type(&at.members, at.members.ty(ty)?)?.len);
        self.base.set(base);
        self.count.set(count);
        Ok(found)
    }
}

fn fields(at: &FileGroup, ty: c_int) -> Outcome<&[Field]> {
    match &user_type(at, ty)?.kind {
        UserKind::Compound(fields) => Ok(fields),
        _ => Err(Code(NC_EBADTYPE)),
    }
}

/// Where the fields of a compound begin.
fn offsets(at: &FileGroup, ty: c_int) -> Outcome<Vec<usize>> {
    match at.members.ty(ty)? {
        TypeRef::User(id) => layouts::offsets(&at.members, id, fields(at, ty)?),
        TypeRef::Atomic(_) => Err(Code(NC_EBADTYPE)),
    }
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
    if let Some(first) = offsets(&at, ty)?.get(index) {
        offset.set(*first);
    }
    field_type.set(at.members.number_of_type(field.ty));
    rank.set(number(field.dims.len()));
    let sizes = field.dims.iter().map(|len| c_int::try_from(*len).unwrap_or(c_int::MAX));
    lens.store_all(&sizes.collect::<Vec<_>>())
}

/// The number of a field by name.
pub(crate) fn inq_field_index(ncid: c_int, ty: c_int, name: CText, index: Out<c_int>) -> Outcome<()> {
    let at = group_of(ncid)?;
    at.file.check_netcdf4()?;
    check_type_number(&at.members, ty)?;
    fields(&at, ty)?;
    check_sought(false, &name)?;
    let name = known_name(&name)?;
    let found = fields(&at, ty)?.iter().position(|field| field.name == name);
    index.store(number(found.ok_or(Code(NC_EBADFIELD))?))
}

fn members(at: &FileGroup, ty: c_int) -> Outcome<(Atomic, &[EnumMember])> {
    match &user_type(at, ty)?.kind {
        UserKind::Enum { base, members } => Ok((*base, members)),
        _ => Err(Code(NC_EBADTYPE)),
    }
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

/// The name of the member with a value.
pub(crate) fn inq_ident(ncid: c_int, ty: c_int, value: i64, name: NameOut) -> Outcome<()> {
    let at = group_of(ncid)?;
    let (base, members) = members(&at, ty)?;
    let value = if base == Atomic::UInt64 { i128::from(value.cast_unsigned()) } else { i128::from(value) };
    match members.iter().find(|member| member.value == value) {
        Some(member) => name.set(&member.name),
        None => return Err(Code(NC_EINVAL)),
    }
    Ok(())
}

/// Whether a number is that of a type of plain numbers, which is known without a file.
fn is_plain(ty: c_int) -> bool {
    atomic_of(ty).is_some_and(|atomic| atomic != Atomic::String)
}

/// A type whose values are copied or freed; classic files have none of their own.
pub(crate) fn type_in(at: &FileGroup, ty: c_int) -> Outcome<TypeRef> {
    if at.file.is_classic() && ty >= FIRST_USER_TYPE {
        return Err(Code(NC_ENOTNC4));
    }
    at.members.ty(ty)
}

/// Frees what values refer to.
pub(crate) fn reclaim(ncid: c_int, ty: c_int, memory: BytesOut, count: usize) -> Outcome<()> {
    if ncid < 0 || ty <= 0 || memory.is_null() && count > 0 {
        return Err(Code(NC_EINVAL));
    }
    if is_plain(ty) {
        // Nothing is referred to.
        return Ok(());
    }
    let at = group_of(ncid)?;
    if at.file.is_classic() && atomic_of(ty).is_none() {
        return Err(Code(NC_ENOTNC4));
    }
    let id = at.members.ty(ty)?;
    layouts::reclaim(&at.members, id, memory.as_bytes().read(byte_len(&at.members, id, count)?)?)
}

/// Frees what values refer to, and the values.
pub(crate) fn reclaim_all(ncid: c_int, ty: c_int, memory: BytesOut, count: usize) -> Outcome<()> {
    reclaim(ncid, ty, memory, count)?;
    crate::c_types::memory::free_address(memory.address());
    Ok(())
}

/// Frees texts, not the array that refers to them.
pub(crate) fn free_strings(count: usize, texts: TextOut) -> Outcome<()> {
    texts.addresses(count)?.into_iter().for_each(crate::c_types::memory::free_address);
    Ok(())
}

/// Frees the elements of one vlen.
pub(crate) fn free_vlen(vlen: Vlens) -> Outcome<()> {
    free_vlens(1, vlen)
}

/// Frees the elements of vlens, not their array.
pub(crate) fn free_vlens(count: usize, vlens: Vlens) -> Outcome<()> {
    vlens.addresses(count)?.into_iter().for_each(crate::c_types::memory::free_address);
    Ok(())
}

/// The number of elements of a vlen, and a copy of them.
pub(crate) fn get_vlen(ncid: c_int, ty: c_int, vlen: Bytes, len: Out<usize>, data: BytesOut) -> Outcome<()> {
    let at = group_of(ncid)?;
    let UserKind::Vlen(base) = user_type(&at, ty)?.kind else { return Err(Code(NC_EBADTYPE)) };
    let image = vlen.read(2 * size_of::<usize>())?;
    let (count, block) = image.split_at(size_of::<usize>());
    let count = CBlock::at(count).address();
    let element = layouts::size_of_type(&at.members, base)?.len;
    let bytes = CBlock::at(block).bytes(count.checked_mul(element).ok_or(Code(NC_EINVAL))?)?;
    len.set(count);
    data.write(&bytes)
}

/// A copy of values, with texts and vlens of its own.
pub(crate) fn copy(ncid: c_int, ty: c_int, memory: Bytes, count: usize, to: BytesOut) -> Outcome<()> {
    if ncid < 0 || ty <= 0 {
        return Err(Code(NC_EINVAL));
    }
    if let Some(atomic) = atomic_of(ty).filter(|_| is_plain(ty)) {
        let len = atomic.byte_len().and_then(|len| len.checked_mul(count)).ok_or(Code(NC_EINVAL))?;
        // A program may pass the same memory twice.
        let bytes = memory.read(len)?.to_vec();
        return to.write(&bytes);
    }
    let at = group_of(ncid)?;
    if count > 0 && (memory.is_null() || to.is_null()) {
        return Err(Code(NC_EINVAL));
    }
    to.write(&copied(&at, ty, memory, count)?)
}

/// The image of a copy of values.
pub(crate) fn copied(at: &FileGroup, ty: c_int, memory: Bytes, count: usize) -> Outcome<Vec<u8>> {
    let id = type_in(at, ty)?;
    layouts::image(&at.members, id, &values_in(&at.members, id, memory, count)?)
}

/// The values in memory of the program.
pub(crate) fn values_in(members: &FileMembers, ty: TypeRef, memory: Bytes, count: usize) -> Outcome<Values> {
    layouts::values(members, ty, memory.read(byte_len(members, ty, count)?)?)
}

/// Bytes of values in memory.
fn byte_len(members: &FileMembers, ty: TypeRef, count: usize) -> Outcome<usize> {
    layouts::size_of_type(members, ty)?.len.checked_mul(count).ok_or(Code(NC_EINVAL))
}
