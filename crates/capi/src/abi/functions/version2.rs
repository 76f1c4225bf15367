//! `netcdf.h`: the interface of version 2.
use crate::abi::table::c_functions;
use crate::abi::version2::Number;
use crate::c_types::codes::Outcome;
use crate::c_types::memory::{
    AddressOut, AddressesIn, Bytes, BytesOut, CText, In, Long, NameOut, NoAnswer, Out,
};
use crate::{abi::version2, values::records};
use std::ffi::c_int;

c_functions! {
    ADVICE, "";
    /// Notes an error of a call.
    fn nc_advise(cdf_routine_name: CText, err: c_int, fmt: CText) -> NoAnswer = version2::advise;
}

c_functions! {
    RECORDS, "";
    /// The variables that have records, and how many bytes a record of each has in memory.
    fn nc_inq_rec(ncid: c_int, nrecvarsp: Out<usize>, recvarids: Out<c_int>, recsizes: Out<usize>) -> Outcome<()> = records::inq;
    /// Reads a record of every variable that has records.
    fn nc_get_rec(ncid: c_int, recnum: usize, datap: AddressOut) -> Outcome<()> = records::get;
    /// Writes a record of every variable that has records.
    fn nc_put_rec(ncid: c_int, recnum: usize, datap: AddressesIn) -> Outcome<()> = records::put;
}

c_functions! {
    ROWS, "netcdf.h";
    /// Creates a dataset.
    fn nccreate(path: CText, cmode: c_int) -> Number = version2::create;
    /// Opens a dataset.
    fn ncopen(path: CText, mode: c_int) -> Number = version2::open;
    /// Enters define mode.
    fn ncredef(ncid: c_int) -> Number = version2::redef;
    /// Leaves define mode.
    fn ncendef(ncid: c_int) -> Number = version2::enddef;
    /// Closes a dataset.
    fn ncclose(ncid: c_int) -> Number = version2::close;
    /// Makes permanent what was written.
    fn ncsync(ncid: c_int) -> Number = version2::sync;
    /// Closes a dataset without its latest definitions.
    fn ncabort(ncid: c_int) -> Number = version2::abort;
    /// What a dataset has.
    fn ncinquire(ncid: c_int, ndimsp: Out<c_int>, nvarsp: Out<c_int>, nattsp: Out<c_int>, unlimdimp: Out<c_int>) -> Number = version2::inquire;
    /// Whether new variables have fill values.
    fn ncsetfill(ncid: c_int, fillmode: c_int) -> Number = version2::set_fill;
    /// Defines a dimension.
    fn ncdimdef(ncid: c_int, name: CText, len: Long) -> Number = version2::def_dim;
    /// The number of a dimension.
    fn ncdimid(ncid: c_int, name: CText) -> Number = version2::dim_id;
    /// Name and length of a dimension.
    fn ncdiminq(ncid: c_int, dimid: c_int, name: NameOut, lenp: Out<Long>) -> Number = version2::dim;
    /// Renames a dimension.
    fn ncdimrename(ncid: c_int, dimid: c_int, name: CText) -> Number = version2::rename_dim;
    /// Defines a variable.
    fn ncvardef(ncid: c_int, name: CText, xtype: c_int, ndims: c_int, dimidsp: In<c_int>) -> Number = version2::def_var;
    /// The number of a variable.
    fn ncvarid(ncid: c_int, name: CText) -> Number = version2::var_id;
    /// Everything about a variable but its values.
    fn ncvarinq(ncid: c_int, varid: c_int, name: NameOut, xtypep: Out<c_int>, ndimsp: Out<c_int>, dimidsp: Out<c_int>, nattsp: Out<c_int>) -> Number = version2::var;
    /// Renames a variable.
    fn ncvarrename(ncid: c_int, varid: c_int, name: CText) -> Number = version2::rename_var;
    /// Writes one value.
    fn ncvarput1(ncid: c_int, varid: c_int, indexp: In<Long>, op: Bytes) -> Number = version2::put1;
    /// Reads one value.
    fn ncvarget1(ncid: c_int, varid: c_int, indexp: In<Long>, ip: BytesOut) -> Number = version2::get1;
    /// Writes a box.
    fn ncvarput(ncid: c_int, varid: c_int, startp: In<Long>, countp: In<Long>, op: Bytes) -> Number = version2::put;
    /// Reads a box.
    fn ncvarget(ncid: c_int, varid: c_int, startp: In<Long>, countp: In<Long>, ip: BytesOut) -> Number = version2::get;
    /// Writes a box with strides.
    fn ncvarputs(ncid: c_int, varid: c_int, startp: In<Long>, countp: In<Long>, stridep: In<Long>, op: Bytes) -> Number = version2::puts;
    /// Reads a box with strides.
    fn ncvargets(ncid: c_int, varid: c_int, startp: In<Long>, countp: In<Long>, stridep: In<Long>, ip: BytesOut) -> Number = version2::gets;
    /// Writes a box with strides from places of the memory, counted in bytes.
    fn ncvarputg(ncid: c_int, varid: c_int, startp: In<Long>, countp: In<Long>, stridep: In<Long>, imapp: In<Long>, op: Bytes) -> Number = version2::putg;
    /// Reads a box with strides into places of the memory, counted in bytes.
    fn ncvargetg(ncid: c_int, varid: c_int, startp: In<Long>, countp: In<Long>, stridep: In<Long>, imapp: In<Long>, ip: BytesOut) -> Number = version2::getg;
    /// The variables that have records, and how many bytes a record of each has in memory.
    fn ncrecinq(ncid: c_int, nrecvarsp: Out<c_int>, recvaridsp: Out<c_int>, recsizesp: Out<Long>) -> Number = version2::rec_inq;
    /// Reads a record of every variable that has records.
    fn ncrecget(ncid: c_int, recnum: Long, datap: AddressOut) -> Number = version2::rec_get;
    /// Writes a record of every variable that has records.
    fn ncrecput(ncid: c_int, recnum: Long, datap: AddressesIn) -> Number = version2::rec_put;
    /// Writes an attribute.
    fn ncattput(ncid: c_int, varid: c_int, name: CText, xtype: c_int, len: c_int, op: Bytes) -> Number = version2::att_put;
    /// Type and length of an attribute.
    fn ncattinq(ncid: c_int, varid: c_int, name: CText, xtypep: Out<c_int>, lenp: Out<c_int>) -> Number = version2::att;
    /// The values of an attribute.
    fn ncattget(ncid: c_int, varid: c_int, name: CText, ip: BytesOut) -> Number = version2::att_get;
    /// Copies an attribute.
    fn ncattcopy(ncid_in: c_int, varid_in: c_int, name: CText, ncid_out: c_int, varid_out: c_int) -> Number = version2::att_copy;
    /// The name of an attribute by its number.
    fn ncattname(ncid: c_int, varid: c_int, attnum: c_int, name: NameOut) -> Number = version2::att_name;
    /// Renames an attribute.
    fn ncattrename(ncid: c_int, varid: c_int, name: CText, newname: CText) -> Number = version2::att_rename;
    /// Removes an attribute.
    fn ncattdel(ncid: c_int, varid: c_int, name: CText) -> Number = version2::att_del;
}
