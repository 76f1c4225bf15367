//! `netcdf.h` and `netcdf_filter.h`: variables and how they are stored.
use crate::abi::table::c_functions;
use crate::c_types::codes::Outcome;
use crate::c_types::memory::{BytesOut, CText, NameOut, Out, UserTable};
use crate::programs::user_calls;
use crate::{definitions::inquiry, definitions::storage};
use std::ffi::c_int;

c_functions! {
    ROWS, "netcdf.h";
    /// Returns the definition of a variable: name, type, dimensions, number of attributes.
    fn nc_inq_var(ncid: c_int, varid: c_int, name: NameOut, xtypep: Out<c_int>, ndimsp: Out<c_int>, dimidsp: Out<c_int>, nattsp: Out<c_int>) -> Outcome<()> = inquiry::var, or user_calls::var;
    /// Returns the id of a variable by its name.
    fn nc_inq_varid(ncid: c_int, name: CText, varidp: Out<c_int>) -> Outcome<()> = inquiry::var_id, or UserTable::inq_varid;
    /// Returns the name of a variable.
    fn nc_inq_varname(ncid: c_int, varid: c_int, name: NameOut) -> Outcome<()> = inquiry::var_name, or user_calls::var_name;
    /// Returns the type of a variable.
    fn nc_inq_vartype(ncid: c_int, varid: c_int, xtypep: Out<c_int>) -> Outcome<()> = inquiry::var_type, or user_calls::var_type;
    /// Returns the number of dimensions of a variable.
    fn nc_inq_varndims(ncid: c_int, varid: c_int, ndimsp: Out<c_int>) -> Outcome<()> = inquiry::var_rank, or user_calls::var_rank;
    /// Returns the ids of the dimensions of a variable.
    fn nc_inq_vardimid(ncid: c_int, varid: c_int, dimidsp: Out<c_int>) -> Outcome<()> = inquiry::var_dims, or user_calls::var_dims;
    /// Returns the number of attributes of a variable.
    fn nc_inq_varnatts(ncid: c_int, varid: c_int, nattsp: Out<c_int>) -> Outcome<()> = inquiry::var_attribute_count, or user_calls::var_attribute_count;
    /// Returns the storage and the chunk shape of a variable.
    fn nc_inq_var_chunking(ncid: c_int, varid: c_int, storagep: Out<c_int>, chunksizesp: Out<usize>) -> Outcome<()> = storage::chunking, or user_calls::chunking;
    /// Returns the settings of shuffle and deflate of a variable.
    fn nc_inq_var_deflate(ncid: c_int, varid: c_int, shufflep: Out<c_int>, deflatep: Out<c_int>, deflate_levelp: Out<c_int>) -> Outcome<()> = storage::deflate, or user_calls::deflate;
    /// Returns the settings of szip of a variable.
    fn nc_inq_var_szip(ncid: c_int, varid: c_int, options_maskp: Out<c_int>, pixels_per_blockp: Out<c_int>) -> Outcome<()> = storage::szip, or user_calls::szip;
    /// Returns whether a variable has the checksum Fletcher-32.
    fn nc_inq_var_fletcher32(ncid: c_int, varid: c_int, fletcher32p: Out<c_int>) -> Outcome<()> = storage::fletcher32, or user_calls::fletcher32;
    /// Returns the fill value of a variable, and whether it is filled.
    fn nc_inq_var_fill(ncid: c_int, varid: c_int, no_fill: Out<c_int>, fill_valuep: BytesOut) -> Outcome<()> = storage::fill, or user_calls::fill;
    /// Returns the byte order of a variable.
    fn nc_inq_var_endian(ncid: c_int, varid: c_int, endianp: Out<c_int>) -> Outcome<()> = storage::endian, or user_calls::endian;
    /// Returns how the values of a variable are quantized.
    fn nc_inq_var_quantize(ncid: c_int, varid: c_int, quantize_modep: Out<c_int>, nsdp: Out<c_int>) -> Outcome<()> = storage::quantize, or UserTable::inq_var_quantize;
    /// Returns the id and the parameters of the first filter of a variable.
    fn nc_inq_var_filter(ncid: c_int, varid: c_int, idp: Out<u32>, nparams: Out<usize>, params: Out<u32>) -> Outcome<()> = storage::filter, or user_calls::filter;
}

c_functions! {
    FILTERS, "netcdf_filter.h";
    /// Returns the ids of the filters of a variable.
    fn nc_inq_var_filter_ids(ncid: c_int, varid: c_int, nfilters: Out<usize>, filterids: Out<u32>) -> Outcome<()> = storage::filter_ids, or UserTable::inq_var_filter_ids;
    /// Returns the parameters of a filter of a variable.
    fn nc_inq_var_filter_info(ncid: c_int, varid: c_int, id: u32, nparams: Out<usize>, params: Out<u32>) -> Outcome<()> = storage::filter_info, or UserTable::inq_var_filter_info;
    /// Reports whether a filter is available.
    fn nc_inq_filter_avail(ncid: c_int, id: u32) -> Outcome<()> = storage::filter_avail, or UserTable::inq_filter_avail;
}
