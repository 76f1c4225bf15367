//! `netcdf.h`: files that are created, definitions, and attributes that are written.
use crate::abi::table::{answer, c_functions};
use crate::c_types::codes::{Code, NC_EINVAL, Outcome};
use crate::c_types::memory::{Bytes, BytesOut, CText, In, Out, UserTable};
use crate::programs::{user_calls, user_formats};
use crate::{
    definitions::define, definitions::define_storage, definitions::define_types, definitions::storage,
    opening::chunk_caches, opening::create, opening::open, rules::equality, values::put_attributes,
};
use ncirrus::netcdf::filters::{BZIP2, ZSTD};
use std::ffi::c_int;

c_functions! {
    ROWS, "netcdf.h";
    /// Creates a dataset.
    fn nc_create(path: CText, cmode: c_int, ncidp: Out<c_int>) -> Outcome<()> = create::create;
    /// Creates a dataset, with hints about sizes.
    fn nc__create(path: CText, cmode: c_int, initialsz: usize, chunksizehintp: Out<usize>, ncidp: Out<c_int>) -> Outcome<()> =>
        create::create_on_processor(path, cmode, initialsz, 0, chunksizehintp, ncidp);
    /// Creates a dataset, with hints about sizes.
    fn nc__create_mp(path: CText, cmode: c_int, initialsz: usize, basepe: c_int, chunksizehintp: Out<usize>, ncidp: Out<c_int>) -> Outcome<()> = create::create_on_processor;
    /// Opens a dataset, with a hint about sizes.
    fn nc__open(path: CText, mode: c_int, chunksizehintp: Out<usize>, ncidp: Out<c_int>) -> Outcome<()> =>
        open::open_on_processor(path, mode, 0, chunksizehintp, ncidp);
    /// Opens a dataset, with a hint about sizes.
    fn nc__open_mp(path: CText, mode: c_int, basepe: c_int, chunksizehintp: Out<usize>, ncidp: Out<c_int>) -> Outcome<()> = open::open_on_processor;
    /// Removes a dataset.
    fn nc_delete(path: CText) -> Outcome<()> = create::delete;
    /// Removes a dataset.
    fn nc_delete_mp(path: CText, basepe: c_int) -> Outcome<()> =>
        if basepe == 0 { create::delete(path) } else { Err(Code(NC_EINVAL)) };
    /// Sets the format of new datasets whose flags do not choose one, and returns the previous one.
    fn nc_set_default_format(format: c_int, old_formatp: Out<c_int>) -> Outcome<()> = create::set_default_format;
    /// Sets the alignment of objects in new netCDF-4 files.
    fn nc_set_alignment(threshold: c_int, alignment: c_int) -> Outcome<()> = create::set_alignment;
    /// Returns the alignment of objects in new netCDF-4 files.
    fn nc_get_alignment(thresholdp: Out<c_int>, alignmentp: Out<c_int>) -> Outcome<()> = create::alignment;
    /// Makes everything that was written permanent.
    fn nc_sync(ncid: c_int) -> Outcome<()> = open::sync, or UserTable::sync;
    /// Closes a dataset and discards its latest definitions.
    fn nc_abort(ncid: c_int) -> Outcome<()> = open::abort, or user_formats::abort;
    /// Initializes the library; every call does this if needed.
    fn nc_initialize() -> Outcome<()> =>
        Ok(());
    /// Enters define mode.
    fn nc_redef(ncid: c_int) -> Outcome<()> = define::redef, or UserTable::redef;
    /// Leaves define mode.
    fn nc_enddef(ncid: c_int) -> Outcome<()> =>
        answer!([define::enddef_padded] (UserTable::_enddef) (ncid, 0, 1, 0, 1));
    /// Leaves define mode, with space for later definitions.
    fn nc__enddef(ncid: c_int, h_minfree: usize, v_align: usize, v_minfree: usize, r_align: usize) -> Outcome<()> = define::enddef_padded, or UserTable::_enddef;
    /// Sets whether new variables are filled, and returns the previous setting.
    fn nc_set_fill(ncid: c_int, fillmode: c_int, old_modep: Out<c_int>) -> Outcome<()> = define::set_fill, or UserTable::set_fill;
    /// Defines a dimension.
    fn nc_def_dim(ncid: c_int, name: CText, len: usize, idp: Out<c_int>) -> Outcome<()> = define::def_dim, or UserTable::def_dim;
    /// Renames a dimension.
    fn nc_rename_dim(ncid: c_int, dimid: c_int, name: CText) -> Outcome<()> = define::rename_dim, or UserTable::rename_dim;
    /// Defines a variable.
    fn nc_def_var(ncid: c_int, name: CText, xtype: c_int, ndims: c_int, dimidsp: In<c_int>, varidp: Out<c_int>) -> Outcome<()> = define::def_var, or UserTable::def_var;
    /// Renames a variable.
    fn nc_rename_var(ncid: c_int, varid: c_int, name: CText) -> Outcome<()> = define::rename_var, or UserTable::rename_var;
    /// Defines a group.
    fn nc_def_grp(parent_ncid: c_int, name: CText, new_ncid: Out<c_int>) -> Outcome<()> = define::def_grp, or UserTable::def_grp;
    /// Renames a group.
    fn nc_rename_grp(grpid: c_int, name: CText) -> Outcome<()> = define::rename_grp, or UserTable::rename_grp;
    /// Writes an attribute.
    fn nc_put_att(ncid: c_int, varid: c_int, name: CText, xtype: c_int, len: usize, op: Bytes) -> Outcome<()> = put_attributes::put, or user_calls::put_own_att;
    /// Removes an attribute.
    fn nc_del_att(ncid: c_int, varid: c_int, name: CText) -> Outcome<()> = put_attributes::del, or UserTable::del_att;
    /// Renames an attribute.
    fn nc_rename_att(ncid: c_int, varid: c_int, name: CText, newname: CText) -> Outcome<()> = put_attributes::rename, or UserTable::rename_att;
    /// Copies an attribute.
    fn nc_copy_att(ncid_in: c_int, varid_in: c_int, name: CText, ncid_out: c_int, varid_out: c_int) -> Outcome<()> = put_attributes::copy;
    /// Sets the storage (chunked, contiguous or compact) and the chunk shape of a variable.
    fn nc_def_var_chunking(ncid: c_int, varid: c_int, storage: c_int, chunksizesp: In<usize>) -> Outcome<()> = define_storage::chunking, or UserTable::def_var_chunking;
    /// Sets shuffle and deflate for a variable.
    fn nc_def_var_deflate(ncid: c_int, varid: c_int, shuffle: c_int, deflate: c_int, deflate_level: c_int) -> Outcome<()> = define_storage::deflate, or UserTable::def_var_deflate;
    /// Adds the checksum Fletcher-32 to a variable.
    fn nc_def_var_fletcher32(ncid: c_int, varid: c_int, fletcher32: c_int) -> Outcome<()> = define_storage::fletcher32, or UserTable::def_var_fletcher32;
    /// Sets szip for a variable.
    fn nc_def_var_szip(ncid: c_int, varid: c_int, options_mask: c_int, pixels_per_block: c_int) -> Outcome<()> = define_storage::szip, or user_calls::def_szip;
    /// Adds a filter to a variable, by its id.
    fn nc_def_var_filter(ncid: c_int, varid: c_int, id: u32, nparams: usize, parms: In<u32>) -> Outcome<()> = define_storage::filter, or user_calls::def_filter;
    /// Sets the byte order of a variable.
    fn nc_def_var_endian(ncid: c_int, varid: c_int, endian: c_int) -> Outcome<()> = define_storage::endian, or UserTable::def_var_endian;
    /// Sets how the values of a variable are quantized.
    fn nc_def_var_quantize(ncid: c_int, varid: c_int, quantize_mode: c_int, nsd: c_int) -> Outcome<()> = define_storage::quantize, or UserTable::def_var_quantize;
    /// Sets the fill value of a variable, or that it is not filled.
    fn nc_def_var_fill(ncid: c_int, varid: c_int, no_fill: c_int, fill_value: Bytes) -> Outcome<()> = define_storage::fill, or UserTable::def_var_fill;
    /// Sets the chunk cache of variables of datasets that are opened from now on.
    fn nc_set_chunk_cache(size: usize, nelems: usize, preemption: f32) -> Outcome<()> = chunk_caches::set_cache;
    /// Returns the chunk cache of variables of datasets that are opened from now on.
    fn nc_get_chunk_cache(sizep: Out<usize>, nelemsp: Out<usize>, preemptionp: Out<f32>) -> Outcome<()> = chunk_caches::cache;
    /// Sets the chunk cache of a variable.
    fn nc_set_var_chunk_cache(ncid: c_int, varid: c_int, size: usize, nelems: usize, preemption: f32) -> Outcome<()> = chunk_caches::set_variable_cache, or UserTable::set_var_chunk_cache;
    /// Returns the chunk cache of a variable.
    fn nc_get_var_chunk_cache(ncid: c_int, varid: c_int, sizep: Out<usize>, nelemsp: Out<usize>, preemptionp: Out<f32>) -> Outcome<()> = chunk_caches::variable_cache, or UserTable::get_var_chunk_cache;
    /// Defines a compound type without fields.
    fn nc_def_compound(ncid: c_int, size: usize, name: CText, typeidp: Out<c_int>) -> Outcome<()> = define_types::compound, or UserTable::def_compound;
    /// Adds a field to a compound type.
    fn nc_insert_compound(ncid: c_int, xtype: c_int, name: CText, offset: usize, field_typeid: c_int) -> Outcome<()> = define_types::insert_field, or UserTable::insert_compound;
    /// Adds a field with dimensions to a compound type.
    fn nc_insert_array_compound(ncid: c_int, xtype: c_int, name: CText, offset: usize, field_typeid: c_int, ndims: c_int, dim_sizes: In<c_int>) -> Outcome<()> = define_types::insert_array, or UserTable::insert_array_compound;
    /// Defines a vlen type.
    fn nc_def_vlen(ncid: c_int, name: CText, base_typeid: c_int, xtypep: Out<c_int>) -> Outcome<()> = define_types::vlen, or UserTable::def_vlen;
    /// Defines an opaque type.
    fn nc_def_opaque(ncid: c_int, size: usize, name: CText, xtypep: Out<c_int>) -> Outcome<()> = define_types::opaque, or UserTable::def_opaque;
    /// Defines an enum type without members.
    fn nc_def_enum(ncid: c_int, base_typeid: c_int, name: CText, typeidp: Out<c_int>) -> Outcome<()> = define_types::enumeration, or UserTable::def_enum;
    /// Adds a member to an enum type.
    fn nc_insert_enum(ncid: c_int, xtype: c_int, name: CText, value: Bytes) -> Outcome<()> = define_types::insert_member, or UserTable::insert_enum;
    /// Makes a vlen from values.
    fn nc_put_vlen_element(ncid: c_int, typeid1: c_int, vlen_element: BytesOut, len: usize, data: Bytes) -> Outcome<()> = define_types::put_vlen, or UserTable::put_vlen_element;
    /// Reports whether two types are equal.
    fn nc_inq_type_equal(ncid1: c_int, typeid1: c_int, ncid2: c_int, typeid2: c_int, equal: Out<c_int>) -> Outcome<()> = equality::inq, or UserTable::inq_type_equal;
}

c_functions! {
    FILTERS, "netcdf_filter.h";
    /// Adds the filter bzip2 to a variable.
    fn nc_def_var_bzip2(ncid: c_int, varid: c_int, level: c_int) -> Outcome<()> =>
        define_storage::level(ncid, varid, BZIP2, 1..=9, level);
    /// Reports whether a variable has the filter bzip2, and its level.
    fn nc_inq_var_bzip2(ncid: c_int, varid: c_int, hasfilterp: Out<c_int>, levelp: Out<c_int>) -> Outcome<()> =>
        storage::level(ncid, varid, BZIP2, hasfilterp, levelp);
    /// Adds the filter zstd to a variable.
    fn nc_def_var_zstandard(ncid: c_int, varid: c_int, level: c_int) -> Outcome<()> =>
        define_storage::level(ncid, varid, ZSTD, -131_072..=22, level);
    /// Reports whether a variable has the filter zstd, and its level.
    fn nc_inq_var_zstandard(ncid: c_int, varid: c_int, hasfilterp: Out<c_int>, levelp: Out<c_int>) -> Outcome<()> =>
        storage::level(ncid, varid, ZSTD, hasfilterp, levelp);
    /// Adds the filter blosc to a variable.
    fn nc_def_var_blosc(ncid: c_int, varid: c_int, subcompressor: u32, level: u32, blocksize: u32, addshuffle: u32) -> Outcome<()> = define_storage::blosc;
    /// Reports whether a variable has the filter blosc, and its parameters.
    fn nc_inq_var_blosc(ncid: c_int, varid: c_int, hasfilterp: Out<c_int>, subcompressorp: Out<u32>, levelp: Out<u32>, blocksizep: Out<u32>, addshufflep: Out<u32>) -> Outcome<()> = storage::blosc;
}
