//! Functions that always answer the same, and those of Fortran.
use crate::abi::table::c_functions;
use crate::c_types::codes::Outcome;
use crate::c_types::memory::UserTable;
use crate::c_types::memory::{CText, In, KeptPointer, Out};
use crate::programs::user_formats;
use crate::{definitions::define_storage, definitions::storage, opening::chunk_caches, support::refusals};
use std::ffi::c_int;

c_functions! {
    ROWS, "netcdf.h";
    /// The processor, of which there is one.
    fn nc_inq_base_pe(ncid: c_int, pe: Out<c_int>) -> Outcome<()> = refusals::processor, or user_formats::processor;
    /// Chooses a processor; there is one.
    fn nc_set_base_pe(ncid: c_int, pe: c_int) -> Outcome<()> = refusals::set_processor, or user_formats::set_processor;
    /// Logs definitions; nothing is logged.
    fn nc_show_metadata(ncid: c_int) -> Outcome<()> = refusals::show, or UserTable::show_metadata;
}

c_functions! {
    FORTRAN, "";
    /// Creates a dataset for parallel access.
    fn nc_create_par(path: CText, cmode: c_int, comm: KeptPointer, info: KeptPointer, ncidp: Out<c_int>) -> Outcome<()> = refusals::parallel;
    /// Opens a dataset for parallel access.
    fn nc_open_par(path: CText, mode: c_int, comm: KeptPointer, info: KeptPointer, ncidp: Out<c_int>) -> Outcome<()> = refusals::parallel;
    /// Creates a dataset for parallel access.
    fn nc_create_par_fortran(path: CText, cmode: c_int, comm: c_int, info: c_int, ncidp: Out<c_int>) -> Outcome<()> = refusals::parallel_fortran;
    /// Opens a dataset for parallel access.
    fn nc_open_par_fortran(path: CText, mode: c_int, comm: c_int, info: c_int, ncidp: Out<c_int>) -> Outcome<()> = refusals::parallel_fortran;
    /// Chooses how a variable is accessed in parallel.
    fn nc_var_par_access(ncid: c_int, varid: c_int, par_access: c_int) -> Outcome<()> = refusals::parallel_variable, or user_formats::parallel_variable;
    /// Chooses chunks.
    fn nc_def_var_chunking_ints(ncid: c_int, varid: c_int, storage: c_int, chunksizesp: In<c_int>) -> Outcome<()> = define_storage::chunking_ints;
    /// The kind of storage and the chunks of a variable.
    fn nc_inq_var_chunking_ints(ncid: c_int, varid: c_int, storagep: Out<c_int>, chunksizesp: Out<c_int>) -> Outcome<()> = storage::chunking_ints;
    /// How much is cached of variables of new files.
    fn nc_set_chunk_cache_ints(size: c_int, nelems: c_int, preemption: c_int) -> Outcome<()> = chunk_caches::set_cache_ints;
    /// How much is cached of variables of new files.
    fn nc_get_chunk_cache_ints(sizep: Out<c_int>, nelemsp: Out<c_int>, preemptionp: Out<c_int>) -> Outcome<()> = chunk_caches::cache_ints;
    /// How much is cached of a variable.
    fn nc_set_var_chunk_cache_ints(ncid: c_int, varid: c_int, size: c_int, nelems: c_int, preemption: c_int) -> Outcome<()> = chunk_caches::set_variable_cache_ints;
    /// How much is cached of a variable.
    fn nc_get_var_chunk_cache_ints(ncid: c_int, varid: c_int, sizep: Out<c_int>, nelemsp: Out<c_int>, preemptionp: Out<c_int>) -> Outcome<()> = chunk_caches::variable_cache_ints;
}

c_functions! {
    DISPATCH, "netcdf_dispatch.h";
    /// No filter.
    fn NC_NOOP_inq_filter_avail() -> Outcome<()> = refusals::no_filter;
    /// No filters.
    fn NC_NOOP_inq_var_filter_ids(ncid: c_int, varid: c_int, nfilters: Out<usize>, filterids: Out<u32>) -> Outcome<()> = refusals::no_filters;
    /// No filter.
    fn NC_NOOP_inq_var_filter_info() -> Outcome<()> = refusals::no_filter;
    /// Only in netCDF-4.
    fn NC_NOTNC3_get_varm() -> Outcome<()> = refusals::not_netcdf4;
    /// Only in netCDF-4.
    fn NC_NOTNC3_put_varm() -> Outcome<()> = refusals::not_netcdf4;
    /// Only in netCDF-4.
    fn NC_NOTNC4_def_compound() -> Outcome<()> = refusals::not_netcdf4;
    /// Only in netCDF-4.
    fn NC_NOTNC4_def_enum() -> Outcome<()> = refusals::not_netcdf4;
    /// Only in netCDF-4.
    fn NC_NOTNC4_def_grp() -> Outcome<()> = refusals::not_netcdf4;
    /// Only in netCDF-4.
    fn NC_NOTNC4_def_opaque() -> Outcome<()> = refusals::not_netcdf4;
    /// Only in netCDF-4.
    fn NC_NOTNC4_def_var_chunking() -> Outcome<()> = refusals::read_only;
    /// Only in netCDF-4.
    fn NC_NOTNC4_def_var_deflate() -> Outcome<()> = refusals::not_netcdf4;
    /// Only in netCDF-4.
    fn NC_NOTNC4_def_var_endian() -> Outcome<()> = refusals::not_netcdf4;
    /// Only in netCDF-4.
    fn NC_NOTNC4_def_var_filter() -> Outcome<()> = refusals::not_netcdf4;
    /// Only in netCDF-4.
    fn NC_NOTNC4_def_var_fletcher32() -> Outcome<()> = refusals::not_netcdf4;
    /// Only in netCDF-4.
    fn NC_NOTNC4_def_var_quantize() -> Outcome<()> = refusals::not_netcdf4;
    /// Only in netCDF-4.
    fn NC_NOTNC4_def_vlen() -> Outcome<()> = refusals::not_netcdf4;
    /// Only in netCDF-4.
    fn NC_NOTNC4_get_var_chunk_cache() -> Outcome<()> = refusals::not_netcdf4;
    /// Only in netCDF-4.
    fn NC_NOTNC4_get_vlen_element() -> Outcome<()> = refusals::not_netcdf4;
    /// Only in netCDF-4.
    fn NC_NOTNC4_inq_compound_field() -> Outcome<()> = refusals::not_netcdf4;
    /// Only in netCDF-4.
    fn NC_NOTNC4_inq_compound_fieldindex() -> Outcome<()> = refusals::not_netcdf4;
    /// Only in netCDF-4.
    fn NC_NOTNC4_inq_dimids() -> Outcome<()> = refusals::not_netcdf4;
    /// Only in netCDF-4.
    fn NC_NOTNC4_inq_enum_ident() -> Outcome<()> = refusals::not_netcdf4;
    /// Only in netCDF-4.
    fn NC_NOTNC4_inq_enum_member() -> Outcome<()> = refusals::not_netcdf4;
    /// Only in netCDF-4.
    fn NC_NOTNC4_inq_grp_full_ncid() -> Outcome<()> = refusals::not_netcdf4;
    /// Only in netCDF-4.
    fn NC_NOTNC4_inq_grp_parent() -> Outcome<()> = refusals::not_netcdf4;
    /// Only in netCDF-4.
    fn NC_NOTNC4_inq_grpname() -> Outcome<()> = refusals::not_netcdf4;
    /// Only in netCDF-4.
    fn NC_NOTNC4_inq_grpname_full() -> Outcome<()> = refusals::not_netcdf4;
    /// Only in netCDF-4.
    fn NC_NOTNC4_inq_grps() -> Outcome<()> = refusals::not_netcdf4;
    /// Only in netCDF-4.
    fn NC_NOTNC4_inq_ncid() -> Outcome<()> = refusals::not_netcdf4;
    /// Only in netCDF-4.
    fn NC_NOTNC4_inq_typeid() -> Outcome<()> = refusals::not_netcdf4;
    /// Only in netCDF-4.
    fn NC_NOTNC4_inq_typeids() -> Outcome<()> = refusals::not_netcdf4;
    /// Only in netCDF-4.
    fn NC_NOTNC4_inq_user_type() -> Outcome<()> = refusals::not_netcdf4;
    /// Only in netCDF-4.
    fn NC_NOTNC4_inq_var_filter_ids() -> Outcome<()> = refusals::not_netcdf4;
    /// Only in netCDF-4.
    fn NC_NOTNC4_inq_var_filter_info() -> Outcome<()> = refusals::not_netcdf4;
    /// Only in netCDF-4.
    fn NC_NOTNC4_inq_var_quantize() -> Outcome<()> = refusals::not_netcdf4;
    /// Only in netCDF-4.
    fn NC_NOTNC4_inq_varids() -> Outcome<()> = refusals::not_netcdf4;
    /// Only in netCDF-4.
    fn NC_NOTNC4_insert_array_compound() -> Outcome<()> = refusals::not_netcdf4;
    /// Only in netCDF-4.
    fn NC_NOTNC4_insert_compound() -> Outcome<()> = refusals::not_netcdf4;
    /// Only in netCDF-4.
    fn NC_NOTNC4_insert_enum() -> Outcome<()> = refusals::not_netcdf4;
    /// Only in netCDF-4.
    fn NC_NOTNC4_put_vlen_element() -> Outcome<()> = refusals::not_netcdf4;
    /// Only in netCDF-4.
    fn NC_NOTNC4_rename_grp() -> Outcome<()> = refusals::not_netcdf4;
    /// Only in netCDF-4.
    fn NC_NOTNC4_set_var_chunk_cache() -> Outcome<()> = refusals::not_netcdf4;
    /// Only in netCDF-4.
    fn NC_NOTNC4_var_par_access() -> Outcome<()> = refusals::not_netcdf4;
    /// Only for reading.
    fn NC_RO__enddef() -> Outcome<()> = refusals::nothing;
    /// Only for reading.
    fn NC_RO_create() -> Outcome<()> = refusals::read_only;
    /// Only for reading.
    fn NC_RO_def_dim() -> Outcome<()> = refusals::read_only;
    /// Only for reading.
    fn NC_RO_def_var() -> Outcome<()> = refusals::read_only;
    /// Only for reading.
    fn NC_RO_def_var_fill() -> Outcome<()> = refusals::read_only;
    /// Only for reading.
    fn NC_RO_del_att() -> Outcome<()> = refusals::read_only;
    /// Only for reading.
    fn NC_RO_put_att() -> Outcome<()> = refusals::read_only;
    /// Only for reading.
    fn NC_RO_put_vara() -> Outcome<()> = refusals::read_only;
    /// Only for reading.
    fn NC_RO_redef() -> Outcome<()> = refusals::read_only;
    /// Only for reading.
    fn NC_RO_rename_att() -> Outcome<()> = refusals::read_only;
    /// Only for reading.
    fn NC_RO_rename_dim() -> Outcome<()> = refusals::read_only;
    /// Only for reading.
    fn NC_RO_rename_var() -> Outcome<()> = refusals::read_only;
    /// Only for reading.
    fn NC_RO_set_fill() -> Outcome<()> = refusals::read_only;
    /// Nothing to do.
    fn NC_RO_sync() -> Outcome<()> = refusals::nothing;
}
