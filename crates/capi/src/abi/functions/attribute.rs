//! `netcdf.h`: attributes.
use crate::abi::table::{answer, c_functions};
use crate::c_types::codes::Outcome;
use crate::c_types::memory::{BytesOut, CText, NameOut, Out, UserTable};
use crate::programs::user_calls;
use crate::values::attributes;
use std::ffi::c_int;

c_functions! {
    ROWS, "netcdf.h";
    /// Returns the type and length of an attribute.
    fn nc_inq_att(ncid: c_int, varid: c_int, name: CText, xtypep: Out<c_int>, lenp: Out<usize>) -> Outcome<()> = attributes::inq, or UserTable::inq_att;
    /// Returns the number of an attribute by its name.
    fn nc_inq_attid(ncid: c_int, varid: c_int, name: CText, idp: Out<c_int>) -> Outcome<()> = attributes::inq_id, or UserTable::inq_attid;
    /// Returns the type of an attribute.
    fn nc_inq_atttype(ncid: c_int, varid: c_int, name: CText, xtypep: Out<c_int>) -> Outcome<()> =>
        answer!([attributes::inq] (UserTable::inq_att) (ncid, varid, name, xtypep, Out::default()));
    /// Returns the length of an attribute.
    fn nc_inq_attlen(ncid: c_int, varid: c_int, name: CText, lenp: Out<usize>) -> Outcome<()> =>
        answer!([attributes::inq] (UserTable::inq_att) (ncid, varid, name, Out::default(), lenp));
    /// Returns the name of an attribute by its number.
    fn nc_inq_attname(ncid: c_int, varid: c_int, attnum: c_int, name: NameOut) -> Outcome<()> = attributes::inq_name, or UserTable::inq_attname;
    /// Reads the values of an attribute in its own type.
    fn nc_get_att(ncid: c_int, varid: c_int, name: CText, ip: BytesOut) -> Outcome<()> = attributes::get, or user_calls::get_own_att;
}
