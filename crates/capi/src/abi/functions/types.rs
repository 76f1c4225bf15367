//! `netcdf.h`: types, and memory that the library handed out.
use crate::abi::table::c_functions;
use crate::c_types::codes::Outcome;
use crate::c_types::memory::{Bytes, BytesOut, CText, NameOut, Out, TextOut, UserTable, Vlens};
use crate::definitions::types;
use crate::programs::user_types;
use std::ffi::c_int;

c_functions! {
    ROWS, "netcdf.h";
    /// Name and size of a type.
    fn nc_inq_type(ncid: c_int, xtype: c_int, name: NameOut, size: Out<usize>) -> Outcome<()> = types::inq, or user_types::inq_type;
    /// The number of a type.
    fn nc_inq_typeid(ncid: c_int, name: CText, typeidp: Out<c_int>) -> Outcome<()> = types::inq_id, or UserTable::inq_typeid;
    /// Everything about a user-defined type but its members.
    fn nc_inq_user_type(ncid: c_int, xtype: c_int, name: NameOut, size: Out<usize>, base_nc_typep: Out<c_int>, nfieldsp: Out<usize>, classp: Out<c_int>) -> Outcome<()> = types::inq_user, or UserTable::inq_user_type;
    /// Name, size and number of fields of a compound.
    fn nc_inq_compound(ncid: c_int, xtype: c_int, name: NameOut, sizep: Out<usize>, nfieldsp: Out<usize>) -> Outcome<()> = user_types::compound;
    /// A field of a compound.
    fn nc_inq_compound_field(ncid: c_int, xtype: c_int, fieldid: c_int, name: NameOut, offsetp: Out<usize>, field_typeidp: Out<c_int>, ndimsp: Out<c_int>, dim_sizesp: Out<c_int>) -> Outcome<()> = types::inq_field, or UserTable::inq_compound_field;
    /// The number of a field.
    fn nc_inq_compound_fieldindex(ncid: c_int, xtype: c_int, name: CText, fieldidp: Out<c_int>) -> Outcome<()> = types::inq_field_index, or UserTable::inq_compound_fieldindex;
    /// Name, size and base of a vlen.
    fn nc_inq_vlen(ncid: c_int, xtype: c_int, name: NameOut, datum_sizep: Out<usize>, base_nc_typep: Out<c_int>) -> Outcome<()> = user_types::vlen;
    /// Name and size of an opaque type.
    fn nc_inq_opaque(ncid: c_int, xtype: c_int, name: NameOut, sizep: Out<usize>) -> Outcome<()> = user_types::opaque;
    /// Name, base and number of members of an enum.
    fn nc_inq_enum(ncid: c_int, xtype: c_int, name: NameOut, base_nc_typep: Out<c_int>, base_sizep: Out<usize>, num_membersp: Out<usize>) -> Outcome<()> = user_types::enumeration;
    /// A member of an enum.
    fn nc_inq_enum_member(ncid: c_int, xtype: c_int, idx: c_int, name: NameOut, value: BytesOut) -> Outcome<()> = types::inq_member, or UserTable::inq_enum_member;
    /// The name of a value of an enum.
    fn nc_inq_enum_ident(ncid: c_int, xtype: c_int, value: i64, identifier: NameOut) -> Outcome<()> = types::inq_ident, or UserTable::inq_enum_ident;
    /// Frees what values refer to.
    fn nc_reclaim_data(ncid: c_int, xtypeid: c_int, memory: BytesOut, count: usize) -> Outcome<()> = types::reclaim;
    /// Frees values and what they refer to.
    fn nc_reclaim_data_all(ncid: c_int, xtypeid: c_int, memory: BytesOut, count: usize) -> Outcome<()> = types::reclaim_all;
    /// Frees texts that were read.
    fn nc_free_string(len: usize, data: TextOut) -> Outcome<()> = types::free_strings;
    /// The name of a compound.
    fn nc_inq_compound_name(ncid: c_int, xtype: c_int, name: NameOut) -> Outcome<()> = user_types::compound_name;
    /// The size of a compound.
    fn nc_inq_compound_size(ncid: c_int, xtype: c_int, sizep: Out<usize>) -> Outcome<()> = user_types::compound_size;
    /// The number of fields of a compound.
    fn nc_inq_compound_nfields(ncid: c_int, xtype: c_int, nfieldsp: Out<usize>) -> Outcome<()> = user_types::field_count;
    /// The name of a field.
    fn nc_inq_compound_fieldname(ncid: c_int, xtype: c_int, fieldid: c_int, name: NameOut) -> Outcome<()> = user_types::field_name;
    /// Where a field begins.
    fn nc_inq_compound_fieldoffset(ncid: c_int, xtype: c_int, fieldid: c_int, offsetp: Out<usize>) -> Outcome<()> = user_types::field_offset;
    /// The type of a field.
    fn nc_inq_compound_fieldtype(ncid: c_int, xtype: c_int, fieldid: c_int, field_typeidp: Out<c_int>) -> Outcome<()> = user_types::field_type;
    /// The number of dimensions of a field.
    fn nc_inq_compound_fieldndims(ncid: c_int, xtype: c_int, fieldid: c_int, ndimsp: Out<c_int>) -> Outcome<()> = user_types::field_rank;
    /// The lengths of the dimensions of a field.
    fn nc_inq_compound_fielddim_sizes(ncid: c_int, xtype: c_int, fieldid: c_int, dim_sizes: Out<c_int>) -> Outcome<()> = user_types::field_lens;
    /// Frees the elements of a vlen.
    fn nc_free_vlen(vl: Vlens) -> Outcome<()> = types::free_vlen;
    /// Frees the elements of vlens.
    fn nc_free_vlens(len: usize, vlens: Vlens) -> Outcome<()> = types::free_vlens;
    /// The elements of a vlen.
    fn nc_get_vlen_element(ncid: c_int, typeid1: c_int, vlen_element: Bytes, len: Out<usize>, data: BytesOut) -> Outcome<()> = types::get_vlen, or UserTable::get_vlen_element;
    /// A copy of values.
    fn nc_copy_data(ncid: c_int, xtypeid: c_int, memory: Bytes, count: usize, copy: BytesOut) -> Outcome<()> = types::copy;
}
