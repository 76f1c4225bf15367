//! Values in C's memory as text, as `nc_dump_data` writes them for those who look for faults.
use crate::c_types::codes::{Code, NC_EBADTYPE, NC_EINVAL, Outcome};
use crate::c_types::memory::{BytesOut, TextOut};
use crate::definitions::types::{type_in, values_in};
use crate::files::group_of;
use crate::files::members::{FileMembers, atomic_of};
use ncirrus::TypeRef;
use ncirrus::netcdf::value_text;
use std::ffi::c_int;

/// `nc_dump_data`: the text is the program's; of no values there is none.
pub(crate) fn dump(ncid: c_int, ty: c_int, memory: BytesOut, count: usize, out: TextOut) -> Outcome<()> {
    if ncid < 0 || ty <= 0 || memory.is_null() && count > 0 {
        return Err(Code(NC_EINVAL));
    }
    if count == 0 {
        return out.set(None);
    }
    let text = match atomic_of(ty) {
        Some(atomic) => {
            // Known without a file.
            let members = FileMembers::of(std::sync::Arc::default());
            text_of(&members, atomic.into(), memory, count)?
        }
        None => {
            let at = group_of(ncid)?;
            let id = type_in(&at, ty)?;
            text_of(&at.members, id, memory, count)?
        }
    };
    out.set(Some(&text))
}

fn text_of(members: &FileMembers, ty: TypeRef, memory: BytesOut, count: usize) -> Outcome<Vec<u8>> {
    let values = values_in(members, ty, memory.as_bytes(), count)?;
    value_text::of_values(&members.model, ty, &values).ok_or(Code(NC_EBADTYPE))
}
