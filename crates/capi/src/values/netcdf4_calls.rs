//! What netCDF-C's library calls for its netCDF-4 files, under the names that tables of user-defined formats refer to.
use crate::c_types::codes::{Code, NC_EBADTYPE, NC_EFILTER, Outcome};
use crate::c_types::memory::{BytesOut, CText, NameOut, Out};
use crate::files::GLOBAL;
use crate::{definitions::inquiry, definitions::storage, files::members, values::attributes};
use std::ffi::c_int;

/// `NC4_get_att`: values as a type of memory; as their own type for 0.
pub(crate) fn get_att(ncid: c_int, varid: c_int, name: CText, out: BytesOut, ty: c_int) -> Outcome<()> {
    if ty == 0 {
        return attributes::get(ncid, varid, name, out);
    }
    if let Some(atomic) = members::atomic_of(ty) {
        return attributes::get_as(ncid, varid, name, atomic, out);
    }
    let mut own = 0;
    attributes::inq_type(ncid, varid, name, Out::of(&mut own))?;
    if own == ty { attributes::get(ncid, varid, name, out) } else { Err(Code(NC_EBADTYPE)) }
}

/// `NC4_inq_var_all`: of a group, how many attributes it has. Filters are asked for by other functions.
///
/// # Errors
/// `NC_EFILTER` where a filter is asked for.
#[expect(clippy::too_many_arguments, reason = "as C has them")]
pub(crate) fn var_all(
    ncid: c_int,
    varid: c_int,
    name: NameOut,
    ty: Out<c_int>,
    rank: Out<c_int>,
    dims: Out<c_int>,
    attributes: Out<c_int>,
    shuffle: Out<c_int>,
    deflate: Out<c_int>,
    level: Out<c_int>,
    fletcher32: Out<c_int>,
    contiguous: Out<c_int>,
    chunks: Out<usize>,
    no_fill: Out<c_int>,
    fill: BytesOut,
    endian: Out<c_int>,
    id: Out<u32>,
    count: Out<usize>,
    words: Out<u32>,
) -> Outcome<()> {
    if varid == GLOBAL {
        return inquiry::attribute_count(ncid, attributes);
    }
    inquiry::var(ncid, varid, name, ty, rank, dims, attributes)?;
    storage::chunking(ncid, varid, contiguous, chunks)?;
    let asks = [deflate.is_null(), level.is_null(), id.is_null(), count.is_null(), words.is_null()];
    if asks.contains(&false) {
        return Err(Code(NC_EFILTER));
    }
    storage::deflate(ncid, varid, shuffle, Out::default(), Out::default())?;
    storage::fletcher32(ncid, varid, fletcher32)?;
    storage::fill(ncid, varid, no_fill, fill)?;
    storage::endian(ncid, varid, endian)
}
