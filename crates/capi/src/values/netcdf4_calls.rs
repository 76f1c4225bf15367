//! What netCDF-C's library calls for its netCDF-4 files, under the names that tables of user-defined formats refer to.
use crate::c_types::codes::{Code, NC_EBADTYPE, Outcome};
use crate::c_types::memory::{BytesOut, CText, Out};
use crate::{files::members, values::attributes};
use std::ffi::c_int;

/// `NC4_get_att`: values as a type of memory; as their own type for 0.
pub(crate) fn get_att(ncid: c_int, varid: c_int, name: CText, out: BytesOut, ty: c_int) -> Outcome<()> {
    if ty == 0 {
        return attributes::get(ncid, varid, name, out);
    }
    if let Some(atomic) = members::atomic_of(ty) {
        return attributes::get_as(ncid, varid, name, atomic, out);
    }
    let own = Out::found(|own| attributes::inq(ncid, varid, name, own, Out::default()))?;
    if own == ty { attributes::get(ncid, varid, name, out) } else { Err(Code(NC_EBADTYPE)) }
}
