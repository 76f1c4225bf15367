//! `netcdf.h`: types, and memory that the library handed out.
use crate::abi::table::c_functions;
use crate::c_types::codes::Outcome;
use crate::c_types::memory::{Bytes, BytesOut, CText, NameOut, Out, TextOut, UserTable, Vlens};
use crate::definitions::types;
use crate::programs::user_types;
use std::ffi::c_int;

c_functions! {
    ROWS, "netcdf.h";
    /// Returns the name and size of a type.
    fn nc_inq_type(ncid: c_int, xtype: c_int, name: NameOut, size: Out<usize>) -> Outcome<()> = types::inq, or user_types::inq_type;
    /// Returns the id of a type by its name.
    fn nc_inq_typeid(ncid: c_int, name: CText, typeidp: Out<c_int>) -> Outcome<()> = types::inq_id, or UserTable::inq_typeid;
    /// Returns the definition of a user-defined type, except its members.
    fn nc_inq_user_type(ncid: c_int, xtype: c_int, name: NameOut, size: Out<usize>, base_nc_typep: Out<c_int>, nfieldsp: Out<usize>, classp: Out<c_int>) -> Outcome<()> = types::inq_user, or UserTable::inq_user_type;
    /// Returns the name, size and number of fields of a compound type.
    fn nc_inq_compound(ncid: c_int, xtype: c_int, name: NameOut, sizep: Out<usize>, nfieldsp: Out<usize>) -> Outcome<()> = user_types::compound;
    /// Returns the definition of a field of a compound type.
    fn nc_inq_compound_field(ncid: c_int, xtype: c_int, fieldid: c_int, name: NameOut, offsetp: Out<usize>, field_typeidp: Out<c_int>, ndimsp: Out<c_int>, dim_sizesp: Out<c_int>) -> Outcome<()> = types::inq_field, or UserTable::inq_compound_field;
    /// Returns the number of a field by its name.
    fn nc_inq_compound_fieldindex(ncid: c_int, xtype: c_int, name: CText, fieldidp: Out<c_int>) -> Outcome<()> = types::inq_field_index, or UserTable::inq_compound_fieldindex;
    /// Returns the name, size and base type of a vlen type.
    fn nc_inq_vlen(ncid: c_int, xtype: c_int, name: NameOut, datum_sizep: Out<usize>, base_nc_typep: Out<c_int>) -> Outcome<()> = user_types::vlen;
    /// Returns the name and size of an opaque type.
    fn nc_inq_opaque(ncid: c_int, xtype: c_int, name: NameOut, sizep: Out<usize>) -> Outcome<()> = user_types::opaque;
    /// Returns the name, base type and number of members of an enum type.
    fn nc_inq_enum(ncid: c_int, xtype: c_int, name: NameOut, base_nc_typep: Out<c_int>, base_sizep: Out<usize>, num_membersp: Out<usize>) -> Outcome<()> = user_types::enumeration;
    /// Returns the name and value of a member of an enum type.
    fn nc_inq_enum_member(ncid: c_int, xtype: c_int, idx: c_int, name: NameOut, value: BytesOut) -> Outcome<()> = types::inq_member, or UserTable::inq_enum_member;
    /// Returns the name of a member of an enum type by its value.
    fn nc_inq_enum_ident(ncid: c_int, xtype: c_int, value: i64, identifier: NameOut) -> Outcome<()> = types::inq_ident, or UserTable::inq_enum_ident;
    /// Frees the memory to which values refer.
    fn nc_reclaim_data(ncid: c_int, xtypeid: c_int, memory: BytesOut, count: usize) -> Outcome<()> = types::reclaim;
    /// Frees values and the memory to which they refer.
    fn nc_reclaim_data_all(ncid: c_int, xtypeid: c_int, memory: BytesOut, count: usize) -> Outcome<()> = types::reclaim_all;
    /// Frees strings that were read.
    fn nc_free_string(len: usize, data: TextOut) -> Outcome<()> = types::free_strings;
    /// Returns the name of a compound type.
    fn nc_inq_compound_name(ncid: c_int, xtype: c_int, name: NameOut) -> Outcome<()> = user_types::compound_name;
    /// Returns the size of a compound type.
    fn nc_inq_compound_size(ncid: c_int, xtype: c_int, sizep: Out<usize>) -> Outcome<()> = user_types::compound_size;
    /// Returns the number of fields of a compound type.
    fn nc_inq_compound_nfields(ncid: c_int, xtype: c_int, nfieldsp: Out<usize>) -> Outcome<()> = user_types::field_count;
    /// Returns the name of a field.
    fn nc_inq_compound_fieldname(ncid: c_int, xtype: c_int, fieldid: c_int, name: NameOut) -> Outcome<()> = user_types::field_name;
    /// Returns the offset of a field.
    fn nc_inq_compound_fieldoffset(ncid: c_int, xtype: c_int, fieldid: c_int, offsetp: Out<usize>) -> Outcome<()> = user_types::field_offset;
    /// Returns the type of a field.
    fn nc_inq_compound_fieldtype(ncid: c_int, xtype: c_int, fieldid: c_int, field_typeidp: Out<c_int>) -> Outcome<()> = user_types::field_type;
    /// Returns the number of dimensions of a field.
    fn nc_inq_compound_fieldndims(ncid: c_int, xtype: c_int, fieldid: c_int, ndimsp: Out<c_int>) -> Outcome<()> = user_types::field_rank;
    /// Returns the lengths of the dimensions of a field.
    fn nc_inq_compound_fielddim_sizes(ncid: c_int, xtype: c_int, fieldid: c_int, dim_sizes: Out<c_int>) -> Outcome<()> = user_types::field_lens;
    /// Frees the elements of a vlen.
    fn nc_free_vlen(vl: Vlens) -> Outcome<()> = types::free_vlen;
    /// Frees the elements of vlens.
    fn nc_free_vlens(len: usize, vlens: Vlens) -> Outcome<()> = types::free_vlens;
    /// Returns the length of a vlen and copies its elements.
    fn nc_get_vlen_element(ncid: c_int, typeid1: c_int, vlen_element: Bytes, len: Out<usize>, data: BytesOut) -> Outcome<()> = types::get_vlen, or UserTable::get_vlen_element;
    /// Copies values, and what they refer to, to memory of the program.
    fn nc_copy_data(ncid: c_int, xtypeid: c_int, memory: Bytes, count: usize, copy: BytesOut) -> Outcome<()> = types::copy;
}
