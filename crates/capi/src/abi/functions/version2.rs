//! `netcdf.h`: the interface of version 2.
use crate::abi::table::{answer, c_functions};
use crate::abi::version2::Subject::{Attribute, File, Named, Path, Variable};
use crate::abi::version2::{self, Number, answered, done, given, long, size};
use crate::c_types::codes::{Code, NC_EDIMSIZE, NC_EINVAL, Outcome};
use crate::c_types::memory::{
    AddressOut, AddressesIn, Bytes, BytesOut, CText, In, Long, NameOut, NoAnswer, Out, UserTable,
};
use crate::files::number;
use crate::{
    definitions::define, definitions::inquiry, opening::create, opening::open, programs::user_calls,
    programs::user_formats, values::attributes, values::put_attributes, values::records,
};
use std::ffi::c_int;

c_functions! {
    ADVICE, "";
    /// Records an error, and prints it or ends the program as `ncopts` says.
    fn nc_advise(cdf_routine_name: CText, err: c_int, fmt: CText) -> NoAnswer = version2::advise;
}

c_functions! {
    RECORDS, "";
    /// Returns the record variables, and the bytes in memory of one record of each.
    fn nc_inq_rec(ncid: c_int, nrecvarsp: Out<usize>, recvarids: Out<c_int>, recsizes: Out<usize>) -> Outcome<()> = records::inq;
    /// Reads one record of every record variable.
    fn nc_get_rec(ncid: c_int, recnum: usize, datap: AddressOut) -> Outcome<()> = records::get;
    /// Writes one record of every record variable.
    fn nc_put_rec(ncid: c_int, recnum: usize, datap: AddressesIn) -> Outcome<()> = records::put;
}

c_functions! {
    ROWS, "netcdf.h";
    /// Creates a dataset.
    fn nccreate(path: CText, cmode: c_int) -> Number =>
        given(Path(path), |id| create::create(path, cmode, id));
    /// Opens a dataset.
    fn ncopen(path: CText, mode: c_int) -> Number =>
        given(Path(path), |id| open::open(path, mode, id));
    /// Enters define mode.
    fn ncredef(ncid: c_int) -> Number =>
        done(File(ncid), 0, || answer!([define::redef] (UserTable::redef) (ncid)));
    /// Leaves define mode.
    fn ncendef(ncid: c_int) -> Number =>
        done(File(ncid), 0, || answer!([define::enddef_padded] (UserTable::_enddef) (ncid, 0, 1, 0, 1)));
    /// Closes a dataset.
    fn ncclose(ncid: c_int) -> Number =>
        done(File(ncid), 0, || answer!([open::close] (user_formats::close) (ncid)));
    /// Makes everything that was written permanent.
    fn ncsync(ncid: c_int) -> Number =>
        done(File(ncid), 0, || answer!([open::sync] (UserTable::sync) (ncid)));
    /// Closes a dataset and discards its latest definitions.
    fn ncabort(ncid: c_int) -> Number =>
        done(File(ncid), 0, || answer!([open::abort] (user_formats::abort) (ncid)));
    /// Returns the numbers of dimensions, variables and attributes of a dataset, and its unlimited dimension.
    fn ncinquire(ncid: c_int, ndimsp: Out<c_int>, nvarsp: Out<c_int>, nattsp: Out<c_int>, unlimdimp: Out<c_int>) -> Number =>
        done(File(ncid), ncid, || answer!([inquiry::inq] (UserTable::inq) (ncid, ndimsp, nvarsp, nattsp, unlimdimp)));
    /// Sets whether new variables are filled, and returns the previous setting.
    fn ncsetfill(ncid: c_int, fillmode: c_int) -> Number =>
        given(File(ncid), |old| answer!([define::set_fill] (UserTable::set_fill) (ncid, fillmode, old)));
    /// Defines a dimension.
    fn ncdimdef(ncid: c_int, name: CText, len: Long) -> Number =>
        given(File(ncid), |id| {
            let len = usize::try_from(len.0).map_err(|_| Code(NC_EDIMSIZE))?;
            answer!([define::def_dim] (UserTable::def_dim) (ncid, name, len, id))
        });
    /// Returns the id of a dimension by its name.
    fn ncdimid(ncid: c_int, name: CText) -> Number =>
        given(File(ncid), |id| answer!([inquiry::dim_id] (UserTable::inq_dimid) (ncid, name, id)));
    /// Returns the name and length of a dimension.
    fn ncdiminq(ncid: c_int, dimid: c_int, name: NameOut, lenp: Out<Long>) -> Number =>
        done(File(ncid), dimid, || {
            let len = Out::found(|len| answer!([inquiry::dim] (UserTable::inq_dim) (ncid, dimid, name, len)))?;
            lenp.store(long(len))
        });
    /// Renames a dimension.
    fn ncdimrename(ncid: c_int, dimid: c_int, name: CText) -> Number =>
        done(File(ncid), dimid, || answer!([define::rename_dim] (UserTable::rename_dim) (ncid, dimid, name)));
    /// Defines a variable.
    fn ncvardef(ncid: c_int, name: CText, xtype: c_int, ndims: c_int, dimidsp: In<c_int>) -> Number =>
        given(File(ncid), |id| answer!([define::def_var] (UserTable::def_var) (ncid, name, xtype, ndims, dimidsp, id)));
    /// Returns the id of a variable by its name.
    fn ncvarid(ncid: c_int, name: CText) -> Number =>
        given(File(ncid), |id| answer!([inquiry::var_id] (UserTable::inq_varid) (ncid, name, id)));
    /// Returns the definition of a variable: name, type, dimensions, number of attributes.
    fn ncvarinq(ncid: c_int, varid: c_int, name: NameOut, xtypep: Out<c_int>, ndimsp: Out<c_int>, dimidsp: Out<c_int>, nattsp: Out<c_int>) -> Number =>
        done(File(ncid), varid, || answer!([inquiry::var] (user_calls::var) (ncid, varid, name, xtypep, ndimsp, dimidsp, nattsp)));
    /// Renames a variable.
    fn ncvarrename(ncid: c_int, varid: c_int, name: CText) -> Number =>
        done(File(ncid), varid, || answer!([define::rename_var] (UserTable::rename_var) (ncid, varid, name)));
    /// Writes one value of a variable.
    fn ncvarput1(ncid: c_int, varid: c_int, indexp: In<Long>, op: Bytes) -> Number =>
        version2::put((ncid, varid), indexp, [None; 3], op);
    /// Reads one value of a variable.
    fn ncvarget1(ncid: c_int, varid: c_int, indexp: In<Long>, ip: BytesOut) -> Number =>
        version2::get(File(ncid), (ncid, varid), indexp, [None; 3], ip);
    /// Writes a box of values.
    fn ncvarput(ncid: c_int, varid: c_int, startp: In<Long>, countp: In<Long>, op: Bytes) -> Number =>
        version2::put((ncid, varid), startp, [Some(countp), None, None], op);
    /// Reads a box of values.
    fn ncvarget(ncid: c_int, varid: c_int, startp: In<Long>, countp: In<Long>, ip: BytesOut) -> Number =>
        version2::get(Variable(ncid, varid), (ncid, varid), startp, [Some(countp), None, None], ip);
    /// Writes a box of values with strides.
    fn ncvarputs(ncid: c_int, varid: c_int, startp: In<Long>, countp: In<Long>, stridep: In<Long>, op: Bytes) -> Number =>
        version2::put((ncid, varid), startp, [Some(countp), Some(stridep), None], op);
    /// Reads a box of values with strides.
    fn ncvargets(ncid: c_int, varid: c_int, startp: In<Long>, countp: In<Long>, stridep: In<Long>, ip: BytesOut) -> Number =>
        version2::get(File(ncid), (ncid, varid), startp, [Some(countp), Some(stridep), None], ip);
    /// Writes a box of values with strides; a map gives the distances of the values in memory, in bytes.
    fn ncvarputg(ncid: c_int, varid: c_int, startp: In<Long>, countp: In<Long>, stridep: In<Long>, imapp: In<Long>, op: Bytes) -> Number =>
        version2::put((ncid, varid), startp, [Some(countp), Some(stridep), Some(imapp)], op);
    /// Reads a box of values with strides; a map gives the distances of the values in memory, in bytes.
    fn ncvargetg(ncid: c_int, varid: c_int, startp: In<Long>, countp: In<Long>, stridep: In<Long>, imapp: In<Long>, ip: BytesOut) -> Number =>
        version2::get(File(ncid), (ncid, varid), startp, [Some(countp), Some(stridep), Some(imapp)], ip);
    /// Returns the record variables, and the bytes in memory of one record of each.
    fn ncrecinq(ncid: c_int, nrecvarsp: Out<c_int>, recvaridsp: Out<c_int>, recsizesp: Out<Long>) -> Number =>
        answered(File(ncid), || version2::rec_inq(ncid, nrecvarsp, recvaridsp, recsizesp));
    /// Reads one record of every record variable.
    fn ncrecget(ncid: c_int, recnum: Long, datap: AddressOut) -> Number =>
        done(File(ncid), 0, || records::get(ncid, size(recnum), datap));
    /// Writes one record of every record variable.
    fn ncrecput(ncid: c_int, recnum: Long, datap: AddressesIn) -> Number =>
        done(File(ncid), 0, || records::put(ncid, size(recnum), datap));
    /// Writes an attribute.
    fn ncattput(ncid: c_int, varid: c_int, name: CText, xtype: c_int, len: c_int, op: Bytes) -> Number =>
        done(File(ncid), 0, || {
            let len = usize::try_from(len).map_err(|_| Code(NC_EINVAL))?;
            put_attributes::put(ncid, varid, name, xtype, len, op)
        });
    // The reference answers 1 for an attribute that is there.
    /// Returns the type and length of an attribute.
    fn ncattinq(ncid: c_int, varid: c_int, name: CText, xtypep: Out<c_int>, lenp: Out<c_int>) -> Number =>
        done(Attribute(ncid, varid, name), 1, || {
            let len = Out::found(|len| answer!([attributes::inq] (UserTable::inq_att) (ncid, varid, name, xtypep, len)))?;
            lenp.store(number(len))
        });
    /// Reads the values of an attribute.
    fn ncattget(ncid: c_int, varid: c_int, name: CText, ip: BytesOut) -> Number =>
        done(File(ncid), 1, || answer!([attributes::get] (user_calls::get_own_att) (ncid, varid, name, ip)));
    /// Copies an attribute.
    fn ncattcopy(ncid_in: c_int, varid_in: c_int, name: CText, ncid_out: c_int, varid_out: c_int) -> Number =>
        done(Named(name), 0, || put_attributes::copy(ncid_in, varid_in, name, ncid_out, varid_out));
    /// Returns the name of an attribute by its number.
    fn ncattname(ncid: c_int, varid: c_int, attnum: c_int, name: NameOut) -> Number =>
        done(File(ncid), attnum, || answer!([attributes::inq_name] (UserTable::inq_attname) (ncid, varid, attnum, name)));
    /// Renames an attribute.
    fn ncattrename(ncid: c_int, varid: c_int, name: CText, newname: CText) -> Number =>
        done(File(ncid), 1, || answer!([put_attributes::rename] (UserTable::rename_att) (ncid, varid, name, newname)));
    /// Removes an attribute.
    fn ncattdel(ncid: c_int, varid: c_int, name: CText) -> Number =>
        done(File(ncid), 1, || answer!([put_attributes::del] (UserTable::del_att) (ncid, varid, name)));
}
