//! `netcdf.h`: files, groups and dimensions.
use crate::abi::table::{answer, c_functions};
use crate::c_types::codes::Outcome;
use crate::c_types::memory::{CText, ConstText, NameOut, Out, UserTable};
use crate::files::end_session;
use crate::opening::open::SystemText;
use crate::programs::{user_calls, user_formats};
use crate::{definitions::inquiry, opening::open};
use std::ffi::c_int;

c_functions! {
    ROWS, "netcdf.h";
    // In the form that programs parse.
    /// Returns the version of the interface.
    fn nc_inq_libvers() -> ConstText =>
        ConstText(c"4.9.0 of Nov 23 2026 00:00:00 $");
    /// Returns the text of a status code.
    fn nc_strerror(ncerr: c_int) -> SystemText =>
        SystemText(ncerr);
    /// Opens a dataset.
    fn nc_open(path: CText, mode: c_int, ncidp: Out<c_int>) -> Outcome<()> = open::open;
    /// Closes a dataset.
    fn nc_close(ncid: c_int) -> Outcome<()> = open::close, or user_formats::close;
    /// Ends the session: releases everything that the library holds except open datasets.
    fn nc_finalize() -> Outcome<()> =>
        {
        end_session();
        Ok(())
    };
    /// Returns the path with which a dataset was opened.
    fn nc_inq_path(ncid: c_int, pathlen: Out<usize>, path: NameOut) -> Outcome<()> = open::path, or user_formats::path;
    /// Returns the format of a dataset.
    fn nc_inq_format(ncid: c_int, formatp: Out<c_int>) -> Outcome<()> = open::format, or UserTable::inq_format;
    /// Returns the storage format of a dataset and the mode with which it was opened.
    fn nc_inq_format_extended(ncid: c_int, formatp: Out<c_int>, modep: Out<c_int>) -> Outcome<()> = open::format_extended, or UserTable::inq_format_extended;
    /// Returns the numbers of dimensions, variables and attributes of a group, and its first unlimited dimension.
    fn nc_inq(ncid: c_int, ndimsp: Out<c_int>, nvarsp: Out<c_int>, nattsp: Out<c_int>, unlimdimidp: Out<c_int>) -> Outcome<()> = inquiry::inq, or UserTable::inq;
    /// Returns the number of dimensions of a group.
    fn nc_inq_ndims(ncid: c_int, ndimsp: Out<c_int>) -> Outcome<()> =>
        answer!([inquiry::inq] (UserTable::inq) (ncid, ndimsp, Out::default(), Out::default(), Out::default()));
    /// Returns the number of variables of a group.
    fn nc_inq_nvars(ncid: c_int, nvarsp: Out<c_int>) -> Outcome<()> =>
        answer!([inquiry::inq] (UserTable::inq) (ncid, Out::default(), nvarsp, Out::default(), Out::default()));
    /// Returns the number of attributes of a group.
    fn nc_inq_natts(ncid: c_int, nattsp: Out<c_int>) -> Outcome<()> = inquiry::attribute_count, or user_calls::attribute_count;
    /// Returns the first unlimited dimension of a group.
    fn nc_inq_unlimdim(ncid: c_int, unlimdimidp: Out<c_int>) -> Outcome<()> = inquiry::unlimited_dim, or UserTable::inq_unlimdim;
    /// Returns all unlimited dimensions of a group.
    fn nc_inq_unlimdims(ncid: c_int, nunlimdimsp: Out<c_int>, unlimdimidsp: Out<c_int>) -> Outcome<()> = inquiry::unlimited_dims, or UserTable::inq_unlimdims;
    /// Returns the id of a dimension by its name.
    fn nc_inq_dimid(ncid: c_int, name: CText, idp: Out<c_int>) -> Outcome<()> = inquiry::dim_id, or UserTable::inq_dimid;
    /// Returns the name and length of a dimension.
    fn nc_inq_dim(ncid: c_int, dimid: c_int, name: NameOut, lenp: Out<usize>) -> Outcome<()> = inquiry::dim, or UserTable::inq_dim;
    /// Returns the name of a dimension.
    fn nc_inq_dimname(ncid: c_int, dimid: c_int, name: NameOut) -> Outcome<()> =>
        answer!([inquiry::dim] (UserTable::inq_dim) (ncid, dimid, name, Out::default()));
    /// Returns the length of a dimension.
    fn nc_inq_dimlen(ncid: c_int, dimid: c_int, lenp: Out<usize>) -> Outcome<()> =>
        answer!([inquiry::dim] (UserTable::inq_dim) (ncid, dimid, NameOut::default(), lenp));
    /// Returns the ids of the dimensions of a group.
    fn nc_inq_dimids(ncid: c_int, ndims: Out<c_int>, dimids: Out<c_int>, include_parents: c_int) -> Outcome<()> = inquiry::dim_ids, or UserTable::inq_dimids;
    /// Returns the ids of the variables of a group.
    fn nc_inq_varids(ncid: c_int, nvars: Out<c_int>, varids: Out<c_int>) -> Outcome<()> = inquiry::var_ids, or UserTable::inq_varids;
    /// Returns the ids of the types of a group.
    fn nc_inq_typeids(ncid: c_int, ntypes: Out<c_int>, typeids: Out<c_int>) -> Outcome<()> = inquiry::type_ids, or UserTable::inq_typeids;
    /// Returns the ids of the subgroups of a group.
    fn nc_inq_grps(ncid: c_int, numgrps: Out<c_int>, ncids: Out<c_int>) -> Outcome<()> = inquiry::groups, or UserTable::inq_grps;
    /// Returns the name of a group.
    fn nc_inq_grpname(ncid: c_int, name: NameOut) -> Outcome<()> = inquiry::group_name, or UserTable::inq_grpname;
    /// Returns the full path of a group.
    fn nc_inq_grpname_full(ncid: c_int, lenp: Out<usize>, full_name: NameOut) -> Outcome<()> = inquiry::group_full_name, or UserTable::inq_grpname_full;
    /// Returns the length of the full path of a group.
    fn nc_inq_grpname_len(ncid: c_int, lenp: Out<usize>) -> Outcome<()> =>
        answer!([inquiry::group_full_name] (UserTable::inq_grpname_full) (ncid, lenp, NameOut::default()));
    /// Returns the id of the parent group.
    fn nc_inq_grp_parent(ncid: c_int, parent_ncid: Out<c_int>) -> Outcome<()> = inquiry::group_parent, or UserTable::inq_grp_parent;
    /// Returns the id of a subgroup by its name.
    fn nc_inq_ncid(ncid: c_int, name: CText, grp_ncid: Out<c_int>) -> Outcome<()> = inquiry::subgroup, or UserTable::inq_ncid;
    /// Returns the id of a subgroup by its name.
    fn nc_inq_grp_ncid(ncid: c_int, grp_name: CText, grp_ncid: Out<c_int>) -> Outcome<()> = inquiry::subgroup, or UserTable::inq_ncid;
    /// Returns the id of a group by its full path.
    fn nc_inq_grp_full_ncid(ncid: c_int, full_name: CText, grp_ncid: Out<c_int>) -> Outcome<()> = inquiry::group_by_path, or UserTable::inq_grp_full_ncid;
}
