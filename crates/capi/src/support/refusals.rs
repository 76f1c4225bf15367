//! Functions that always answer the same: parallel access, numbers of processors, and what tables of user-defined formats
//! refer to.
use crate::c_types::codes::{Code, NC_ENOFILTER, NC_ENOPAR, NC_ENOTNC4, NC_EPERM, Outcome};
use crate::c_types::memory::{CText, KeptPointer, Out};
use crate::files::group_of;
use std::ffi::c_int;

/// Parallel access, with communicators as pointers.
pub(crate) fn parallel(_: CText, _: c_int, _: KeptPointer, _: KeptPointer, _: Out<c_int>) -> Outcome<()> {
    Err(Code(NC_ENOPAR))
}

/// Parallel access, with communicators of Fortran.
pub(crate) fn parallel_fortran(_: CText, _: c_int, _: c_int, _: c_int, _: Out<c_int>) -> Outcome<()> {
    Err(Code(NC_ENOPAR))
}

/// `nc_var_par_access`.
pub(crate) fn parallel_variable(ncid: c_int, _varid: c_int, _access: c_int) -> Outcome<()> {
    group_of(ncid)?;
    Err(Code(NC_ENOPAR))
}

/// `nc_inq_base_pe`: there is one processor.
pub(crate) fn processor(ncid: c_int, processor: Out<c_int>) -> Outcome<()> {
    group_of(ncid)?;
    processor.set(0);
    Ok(())
}

/// `nc_set_base_pe`.
pub(crate) fn set_processor(ncid: c_int, _processor: c_int) -> Outcome<()> {
    group_of(ncid).map(|_| ())
}

/// `nc_show_metadata`: nothing is logged.
pub(crate) fn show(ncid: c_int) -> Outcome<()> {
    group_of(ncid).map(|_| ())
}

/// What only netCDF-4 has.
pub(crate) fn not_netcdf4() -> Outcome<()> {
    Err(Code(NC_ENOTNC4))
}

/// What a format that is only read does not do.
pub(crate) fn read_only() -> Outcome<()> {
    Err(Code(NC_EPERM))
}

/// What there is nothing to do for.
pub(crate) fn nothing() -> Outcome<()> {
    Ok(())
}

/// What a format without filters says of one.
pub(crate) fn no_filter() -> Outcome<()> {
    Err(Code(NC_ENOFILTER))
}

/// No filters.
pub(crate) fn no_filters(_: c_int, _: c_int, count: Out<usize>, _: Out<u32>) -> Outcome<()> {
    count.set(0);
    Ok(())
}
