//! Whether types of two files are the same.
use crate::c_types::codes::{Code, NC_EBADTYPE, NC_EHDFERR, NC_EINVAL, Outcome};
use crate::c_types::memory::Out;
use crate::files::members::FIRST_USER_TYPE;
use crate::files::{FileGroup, group_of, handle_of};
use ncirrus::TypeRef;
use ncirrus::netcdf::same_types;
use std::ffi::c_int;

/// The largest number of an atomic type.
const LAST_ATOMIC: c_int = 12;

/// `nc_inq_type_equal`.
pub(crate) fn inq(ncid: c_int, ty: c_int, other: c_int, other_type: c_int, equal: Out<c_int>) -> Outcome<()> {
    let handle = handle_of(ncid)?;
    if ty <= 0 || other_type <= 0 {
        return Err(Code(NC_EINVAL));
    }
    if handle.file.is_classic() {
        handle.group()?;
    }
    if ty <= LAST_ATOMIC || other_type <= LAST_ATOMIC {
        equal.set(c_int::from(ty == other_type));
        return Ok(());
    }
    let (ours, theirs) = (group_of(ncid)?, group_of(other)?);
    let (one, two) = (ours.members.ty(ty)?, theirs.members.ty(other_type)?);
    let are_settled = is_settled(&ours, one) && is_settled(&theirs, two);
    if !equal.is_null() && !are_settled {
        return Err(Code(NC_EHDFERR));
    }
    equal.store(c_int::from(same_types((ours.model(), one), (theirs.model(), two))))
}

/// Whether a type is in the file: types of HDF5 are compared there.
fn is_settled(at: &FileGroup, ty: TypeRef) -> bool {
    let index = usize::try_from(at.members.number_of_type(ty).saturating_sub(FIRST_USER_TYPE));
    at.file.core.look(|state| index.is_ok_and(|index| index < state.stored_types))
}

/// The number in another file of the type that equals one.
///
/// # Errors
/// `NC_EBADTYPE` if there is none.
pub(crate) fn same_type(at: &FileGroup, ty: TypeRef, other: c_int) -> Outcome<c_int> {
    let there = group_of(other)?;
    let found = there
        .model()
        .types()
        .into_iter()
        .map(TypeRef::User)
        .find(|other| same_types((at.model(), ty), (there.model(), *other)));
    Ok(there.members.number_of_type(found.ok_or(Code(NC_EBADTYPE))?))
}
