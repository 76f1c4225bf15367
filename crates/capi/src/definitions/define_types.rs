//! Types that programs define: compounds, vlens, enums, opaque ones.
use crate::c_types::codes::{
    Code, NC_EBADGRPID, NC_EBADTYPE, NC_EBADTYPID, NC_EINVAL, NC_ENAMEINUSE, NC_ESTRICTNC3, NC_ETYPDEFINED,
    Outcome,
};
use crate::c_types::memory::{Bytes, BytesOut, CText, In, Out};
use crate::definitions::define::{check_free, new_name};
use crate::definitions::layouts;
use crate::definitions::types::check_type_number;
use crate::files::file_edit::FileEdit;
use crate::files::members::{CompoundLayout, FIRST_USER_TYPE};
use crate::files::{edit, group_of};
use ncirrus::{Atomic, EnumMember, Field, TypeId, TypeRef, UserKind, UserType, Values};
use std::ffi::c_int;
use std::sync::Arc;

/// Where the size of a type comes from.
#[derive(Debug, Clone, Copy)]
enum TypeSize {
    /// The call.
    Bytes(usize),
    /// The type that it is made of.
    Of(c_int),
    /// C's structure for vlens.
    OfVlen,
}

/// Adds a type.
fn define(
    ncid: c_int,
    name: CText,
    id: Out<c_int>,
    kind: impl FnOnce(&FileEdit<'_>) -> Outcome<UserKind>,
    size: TypeSize,
) -> Outcome<()> {
    edit(ncid, |edit| {
        edit.file.check_netcdf4()?;
        if name.is_null() {
            return Err(Code(NC_EINVAL));
        }
        let name = new_name(&name)?;
        if edit.is_classic_model() {
            return Err(Code(NC_ESTRICTNC3));
        }
        edit.check_writable()?;
        edit.enter_define_mode()?;
        match size {
            TypeSize::Bytes(0) => return Err(Code(NC_EINVAL)),
            TypeSize::Of(base) => check_type_number(edit.members(), base)?,
            TypeSize::Bytes(_) | TypeSize::OfVlen => {}
        }
        check_free(edit.model(), edit.group, &name)?;
        let kind = kind(edit)?;
        let is_compound = matches!(kind, UserKind::Compound(_));
        let group = edit.group;
        let members = edit.members_mut();
        let ty = members
            .model_mut()
            .insert_type(group, UserType { name, kind })
            .map_err(|_| Code(NC_EBADGRPID))?;
        if let (TypeSize::Bytes(len), true) = (size, is_compound) {
            let layout = CompoundLayout { len, offsets: Vec::new() };
            Arc::make_mut(&mut members.layouts).insert(ty, layout);
        }
        id.store(members.add_type(ty))
    })
}

/// `nc_def_compound`: fields are inserted afterwards.
pub(crate) fn compound(ncid: c_int, len: usize, name: CText, id: Out<c_int>) -> Outcome<()> {
    define(ncid, name, id, |_| Ok(UserKind::Compound(Vec::new())), TypeSize::Bytes(len))
}

/// `nc_def_opaque`.
pub(crate) fn opaque(ncid: c_int, len: usize, name: CText, id: Out<c_int>) -> Outcome<()> {
    define(ncid, name, id, |_| Ok(UserKind::Opaque(len as u64)), TypeSize::Bytes(len))
}

/// `nc_def_vlen`.
pub(crate) fn vlen(ncid: c_int, name: CText, base: c_int, id: Out<c_int>) -> Outcome<()> {
    define(ncid, name, id, |edit| Ok(UserKind::Vlen(base_type(edit, base)?)), TypeSize::OfVlen)
}

fn base_type(edit: &FileEdit<'_>, number: c_int) -> Outcome<TypeRef> {
    edit.members()
        .ty(number)
        .map_err(|_| Code(if number < FIRST_USER_TYPE { NC_EBADTYPE } else { NC_EBADTYPID }))
}

/// `nc_def_enum`: members are inserted afterwards.
pub(crate) fn enumeration(ncid: c_int, base: c_int, name: CText, id: Out<c_int>) -> Outcome<()> {
    let kind = |edit: &FileEdit<'_>| match base_type(edit, base)? {
        TypeRef::Atomic(base) if base.is_integer() => Ok(UserKind::Enum { base, members: Vec::new() }),
        _ => Err(Code(NC_EINVAL)),
    };
    define(ncid, name, id, kind, TypeSize::Of(base))
}

/// A type to which members can be added: one that is not used yet.
fn open_type(edit: &FileEdit<'_>, number: c_int) -> Outcome<TypeId> {
    edit.check_writable()?;
    check_type_number(edit.members(), number)?;
    let TypeRef::User(id) = edit.members().ty(number)? else { return Err(Code(NC_EBADTYPE)) };
    Ok(id)
}

/// A type that is in the file already does not change any more.
fn check_open(edit: &FileEdit<'_>, number: c_int) -> Outcome<()> {
    let index = usize::try_from(number.saturating_sub(FIRST_USER_TYPE)).unwrap_or(0);
    if index < edit.state.stored_types { Err(Code(NC_ETYPDEFINED)) } else { Ok(()) }
}

/// `nc_insert_compound`.
pub(crate) fn insert_field(ncid: c_int, ty: c_int, name: CText, offset: usize, field: c_int) -> Outcome<()> {
    insert_array(ncid, ty, name, offset, field, 0, In::default())
}

/// `nc_insert_array_compound`.
pub(crate) fn insert_array(
    ncid: c_int,
    ty: c_int,
    name: CText,
    offset: usize,
    field: c_int,
    rank: c_int,
    lens: In<c_int>,
) -> Outcome<()> {
    edit(ncid, |edit| {
        edit.file.check_netcdf4()?;
        let name = new_name(&name)?;
        let id = open_type(edit, ty)?;
        let Some(UserKind::Compound(fields)) = edit.model().user_type(id).map(|ty| &ty.kind) else {
            return Err(Code(NC_EBADTYPE));
        };
        let is_taken = fields.iter().any(|known| known.name == name);
        check_open(edit, ty)?;
        if is_taken {
            return Err(Code(NC_ENAMEINUSE));
        }
        let rank = usize::try_from(rank).map_err(|_| Code(NC_EINVAL))?;
        let dims = lens.read(rank)?.iter().map(|len| u64::try_from(*len).map_err(|_| Code(NC_EINVAL)));
        let dims = dims.collect::<Outcome<Vec<u64>>>()?;
        let field = Field { name, ty: edit.members().ty(field)?, dims };
        check_end(edit, id, offset, &field)?;
        let members = edit.members_mut();
        Arc::make_mut(&mut members.layouts).entry(id).or_default().offsets.push(offset);
        if let Some(UserKind::Compound(fields)) = members.model_mut().user_kind_mut(id) {
            fields.push(field);
        }
        Ok(())
    })
}

/// A field ends within its compound.
fn check_end(edit: &FileEdit<'_>, id: TypeId, offset: usize, field: &Field) -> Outcome<()> {
    let element = layouts::size_of_type(edit.members(), field.ty)?.len;
    let count = usize::try_from(field.element_count()).ok();
    let end = count.and_then(|count| count.checked_mul(element)).and_then(|len| len.checked_add(offset));
    let whole = edit.members().layouts.get(&id).map_or(usize::MAX, |own| own.len);
    if end.is_some_and(|end| end <= whole) { Ok(()) } else { Err(Code(NC_EINVAL)) }
}

/// `nc_insert_enum`.
pub(crate) fn insert_member(ncid: c_int, ty: c_int, name: CText, value: Bytes) -> Outcome<()> {
    edit(ncid, |edit| {
        edit.file.check_netcdf4()?;
        let name = new_name(&name)?;
        let id = open_type(edit, ty)?;
        let Some(UserKind::Enum { base, members }) = edit.model().user_type(id).map(|ty| &ty.kind) else {
            return Err(Code(NC_EBADTYPE));
        };
        check_open(edit, ty)?;
        let value = integer(*base, value)?;
        let is_taken = members.iter().any(|known| known.name == name || known.value == value);
        if is_taken {
            return Err(Code(NC_ENAMEINUSE));
        }
        if let Some(UserKind::Enum { members, .. }) = edit.model_mut().user_kind_mut(id) {
            members.push(EnumMember { name, value });
        }
        Ok(())
    })
}

/// One number of an integer type.
fn integer(base: Atomic, value: Bytes) -> Outcome<i128> {
    let bytes = value.read(base.byte_len().unwrap_or(0))?;
    let values = Values::from_native_bytes(base, bytes).ok_or(Code(NC_EBADTYPE))?;
    values.integer(0).ok_or(Code(NC_EBADTYPE))
}

/// `nc_put_vlen_element`: the vlen refers to the program's own memory.
pub(crate) fn put_vlen(ncid: c_int, ty: c_int, vlen: BytesOut, len: usize, data: Bytes) -> Outcome<()> {
    let at = group_of(ncid)?;
    at.file.check_netcdf4()?;
    layouts::size_of_type(&at.members, at.members.ty(ty)?)?;
    vlen.write(&[len.to_ne_bytes(), data.address().to_ne_bytes()].concat())
}
