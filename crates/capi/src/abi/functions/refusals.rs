//! Functions that always answer the same, and those of Fortran.
use crate::abi::table::{c_functions, same_functions};
use crate::c_types::codes::{Code, NC_ENOFILTER, NC_ENOPAR, NC_ENOTNC4, NC_EPERM, Outcome};
use crate::c_types::memory::{CText, In, KeptPointer, Out, UserTable};
use crate::programs::user_formats::check_id;
use crate::{definitions::define_storage, definitions::storage, opening::chunk_caches};
use std::ffi::c_int;

c_functions! {
    ROWS, "netcdf.h";
    /// Returns the base processor, which is always 0.
    fn nc_inq_base_pe(ncid: c_int, pe: Out<c_int>) -> Outcome<()> =>
        check_id(ncid).and_then(|()| pe.store(0));
    /// Sets the base processor; it has no effect.
    fn nc_set_base_pe(ncid: c_int, pe: c_int) -> Outcome<()> =>
        check_id(ncid);
    /// Logs the definitions of a dataset in netCDF-C; here nothing is logged.
    fn nc_show_metadata(ncid: c_int) -> Outcome<()> = check_id, or UserTable::show_metadata;
}

c_functions! {
    FORTRAN, "";
    /// Would create a dataset for parallel access; always returns `NC_ENOPAR`.
    fn nc_create_par(path: CText, cmode: c_int, comm: KeptPointer, info: KeptPointer, ncidp: Out<c_int>) -> Outcome<()> =>
        Err(Code(NC_ENOPAR));
    /// Would open a dataset for parallel access; always returns `NC_ENOPAR`.
    fn nc_open_par(path: CText, mode: c_int, comm: KeptPointer, info: KeptPointer, ncidp: Out<c_int>) -> Outcome<()> =>
        Err(Code(NC_ENOPAR));
    /// Would create a dataset for parallel access; always returns `NC_ENOPAR`.
    fn nc_create_par_fortran(path: CText, cmode: c_int, comm: c_int, info: c_int, ncidp: Out<c_int>) -> Outcome<()> =>
        Err(Code(NC_ENOPAR));
    /// Would open a dataset for parallel access; always returns `NC_ENOPAR`.
    fn nc_open_par_fortran(path: CText, mode: c_int, comm: c_int, info: c_int, ncidp: Out<c_int>) -> Outcome<()> =>
        Err(Code(NC_ENOPAR));
    /// Would set the parallel access to a variable; returns `NC_ENOPAR` for every open dataset.
    fn nc_var_par_access(ncid: c_int, varid: c_int, par_access: c_int) -> Outcome<()> =>
        check_id(ncid).and(Err(Code(NC_ENOPAR)));
    /// Sets the storage (chunked, contiguous or compact) and the chunk shape of a variable.
    fn nc_def_var_chunking_ints(ncid: c_int, varid: c_int, storage: c_int, chunksizesp: In<c_int>) -> Outcome<()> = define_storage::chunking_ints;
    /// Returns the storage and the chunk shape of a variable.
    fn nc_inq_var_chunking_ints(ncid: c_int, varid: c_int, storagep: Out<c_int>, chunksizesp: Out<c_int>) -> Outcome<()> = storage::chunking_ints;
    /// Sets the chunk cache of variables of datasets that are opened from now on.
    fn nc_set_chunk_cache_ints(size: c_int, nelems: c_int, preemption: c_int) -> Outcome<()> = chunk_caches::set_cache_ints;
    /// Returns the chunk cache of variables of datasets that are opened from now on.
    fn nc_get_chunk_cache_ints(sizep: Out<c_int>, nelemsp: Out<c_int>, preemptionp: Out<c_int>) -> Outcome<()> = chunk_caches::cache_ints;
    /// Sets the chunk cache of a variable.
    fn nc_set_var_chunk_cache_ints(ncid: c_int, varid: c_int, size: c_int, nelems: c_int, preemption: c_int) -> Outcome<()> = chunk_caches::set_variable_cache_ints;
    /// Returns the chunk cache of a variable.
    fn nc_get_var_chunk_cache_ints(ncid: c_int, varid: c_int, sizep: Out<c_int>, nelemsp: Out<c_int>, preemptionp: Out<c_int>) -> Outcome<()> = chunk_caches::variable_cache_ints;
}

c_functions! {
    DISPATCH, "netcdf_dispatch.h";
    /// Returns `NC_ENOFILTER`: the format has no filters.
    fn NC_NOOP_inq_filter_avail() -> Outcome<()> =>
        Err(Code(NC_ENOFILTER));
    /// Returns an empty list: the format has no filters.
    fn NC_NOOP_inq_var_filter_ids(ncid: c_int, varid: c_int, nfilters: Out<usize>, filterids: Out<u32>) -> Outcome<()> =>
        nfilters.store(0);
    /// Returns `NC_ENOFILTER`: the format has no filters.
    fn NC_NOOP_inq_var_filter_info() -> Outcome<()> =>
        Err(Code(NC_ENOFILTER));
}

same_functions! {
    ALIKE, "netcdf_dispatch.h";
    /// Returns `NC_ENOTNC4`: the format lacks this call of netCDF-4.
    Err(Code(NC_ENOTNC4)) =>
        NC_NOTNC3_get_varm NC_NOTNC3_put_varm NC_NOTNC4_def_compound NC_NOTNC4_def_enum NC_NOTNC4_def_grp
        NC_NOTNC4_def_opaque;
    /// Returns `NC_EPERM`: the format lacks this call of netCDF-4.
    Err(Code(NC_EPERM)) => NC_NOTNC4_def_var_chunking;
    /// Returns `NC_ENOTNC4`: the format lacks this call of netCDF-4.
    Err(Code(NC_ENOTNC4)) =>
        NC_NOTNC4_def_var_deflate NC_NOTNC4_def_var_endian NC_NOTNC4_def_var_filter NC_NOTNC4_def_var_fletcher32
        NC_NOTNC4_def_var_quantize NC_NOTNC4_def_vlen NC_NOTNC4_get_var_chunk_cache NC_NOTNC4_get_vlen_element
        NC_NOTNC4_inq_compound_field NC_NOTNC4_inq_compound_fieldindex NC_NOTNC4_inq_dimids
        NC_NOTNC4_inq_enum_ident NC_NOTNC4_inq_enum_member NC_NOTNC4_inq_grp_full_ncid NC_NOTNC4_inq_grp_parent
        NC_NOTNC4_inq_grpname NC_NOTNC4_inq_grpname_full NC_NOTNC4_inq_grps NC_NOTNC4_inq_ncid
        NC_NOTNC4_inq_typeid NC_NOTNC4_inq_typeids NC_NOTNC4_inq_user_type NC_NOTNC4_inq_var_filter_ids
        NC_NOTNC4_inq_var_filter_info NC_NOTNC4_inq_var_quantize NC_NOTNC4_inq_varids
        NC_NOTNC4_insert_array_compound NC_NOTNC4_insert_compound NC_NOTNC4_insert_enum
        NC_NOTNC4_put_vlen_element NC_NOTNC4_rename_grp NC_NOTNC4_set_var_chunk_cache NC_NOTNC4_var_par_access;
    /// Does nothing: the format is read-only.
    Ok(()) => NC_RO__enddef;
    /// Returns `NC_EPERM`: the format is read-only.
    Err(Code(NC_EPERM)) =>
        NC_RO_create NC_RO_def_dim NC_RO_def_var NC_RO_def_var_fill NC_RO_del_att NC_RO_put_att NC_RO_put_vara
        NC_RO_redef NC_RO_rename_att NC_RO_rename_dim NC_RO_rename_var NC_RO_set_fill;
    /// Does nothing: the format is read-only.
    Ok(()) => NC_RO_sync;
}
