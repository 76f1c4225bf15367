//! Functions that tables of user-defined formats refer to: those of netCDF-C for netCDF-4 files, and those for the entries
//! of steps and maps.
use crate::abi::table::c_functions;
use crate::c_types::codes::{Code, NC_EFILTER, Outcome};
use crate::c_types::memory::{Bytes, BytesOut, CText, In, NameOut, Out};
use crate::files::{GLOBAL, group_of};
use crate::rules::slabs::{
    CSlab,
    SlabMemory::{Read, Written},
};
use crate::{
    definitions::inquiry, definitions::storage, definitions::types, rules::equality, values::attributes,
    values::default_slabs, values::netcdf4_calls,
};
use std::ffi::c_int;

c_functions! {
    ROWS, "";
    /// Returns the numbers of dimensions, variables and attributes of a group, and its unlimited dimension.
    fn NC4_inq(ncid: c_int, ndimsp: Out<c_int>, nvarsp: Out<c_int>, nattsp: Out<c_int>, unlimdimidp: Out<c_int>) -> Outcome<()> = inquiry::inq;
    /// Returns the unlimited dimension of a group.
    fn NC4_inq_unlimdim(ncid: c_int, unlimdimidp: Out<c_int>) -> Outcome<()> = inquiry::unlimited_dim;
    /// Returns all unlimited dimensions of a group.
    fn NC4_inq_unlimdims(ncid: c_int, nunlimdimsp: Out<c_int>, unlimdimidsp: Out<c_int>) -> Outcome<()> = inquiry::unlimited_dims;
    /// Returns the id of a dimension by its name.
    fn NC4_inq_dimid(ncid: c_int, name: CText, idp: Out<c_int>) -> Outcome<()> = inquiry::dim_id;
    /// Returns the name and length of a dimension.
    fn HDF5_inq_dim(ncid: c_int, dimid: c_int, name: NameOut, lenp: Out<usize>) -> Outcome<()> = inquiry::dim;
    /// Returns the ids of the dimensions of a group.
    fn NC4_inq_dimids(ncid: c_int, ndims: Out<c_int>, dimids: Out<c_int>, include_parents: c_int) -> Outcome<()> = inquiry::dim_ids;
    /// Returns the ids of the variables of a group.
    fn NC4_inq_varids(ncid: c_int, nvars: Out<c_int>, varids: Out<c_int>) -> Outcome<()> = inquiry::var_ids;
    /// Returns the id of a variable by its name.
    fn NC4_inq_varid(ncid: c_int, name: CText, varidp: Out<c_int>) -> Outcome<()> = inquiry::var_id;
    // Filters are asked for by other functions.
    /// Returns the definition of a variable, except its filters.
    fn NC4_inq_var_all(
        ncid: c_int, varid: c_int, name: NameOut, xtypep: Out<c_int>, ndimsp: Out<c_int>, dimidsp: Out<c_int>, nattsp: Out<c_int>,
        shufflep: Out<c_int>, deflatep: Out<c_int>, deflate_levelp: Out<c_int>, fletcher32p: Out<c_int>, contiguousp: Out<c_int>,
        chunksizesp: Out<usize>, no_fill: Out<c_int>, fill_valuep: BytesOut, endiannessp: Out<c_int>, idp: Out<u32>,
        nparamsp: Out<usize>, params: Out<u32>,
    ) -> Outcome<()> => {
        if varid == GLOBAL {
            return inquiry::attribute_count(ncid, nattsp);
        }
        inquiry::var(ncid, varid, name, xtypep, ndimsp, dimidsp, nattsp)?;
        storage::chunking(ncid, varid, contiguousp, chunksizesp)?;
        let asks_for_filters = !(deflatep.is_null() && deflate_levelp.is_null() && idp.is_null() && nparamsp.is_null() && params.is_null());
        if asks_for_filters {
            return Err(Code(NC_EFILTER));
        }
        storage::deflate(ncid, varid, shufflep, Out::default(), Out::default())?;
        storage::fletcher32(ncid, varid, fletcher32p)?;
        storage::fill(ncid, varid, no_fill, fill_valuep)?;
        storage::endian(ncid, varid, endiannessp)
    };
    /// Returns the type and length of an attribute.
    fn NC4_inq_att(ncid: c_int, varid: c_int, name: CText, xtypep: Out<c_int>, lenp: Out<usize>) -> Outcome<()> = attributes::inq;
    /// Returns the number of an attribute by its name.
    fn NC4_inq_attid(ncid: c_int, varid: c_int, name: CText, idp: Out<c_int>) -> Outcome<()> = attributes::inq_id;
    /// Returns the name of an attribute by its number.
    fn NC4_inq_attname(ncid: c_int, varid: c_int, attnum: c_int, name: NameOut) -> Outcome<()> = attributes::inq_name;
    /// Reads the values of an attribute, converted to a type in memory.
    fn NC4_get_att(ncid: c_int, varid: c_int, name: CText, value: BytesOut, memtype: c_int) -> Outcome<()> = netcdf4_calls::get_att;
    /// Returns the ids of the subgroups of a group.
    fn NC4_inq_grps(ncid: c_int, numgrps: Out<c_int>, ncids: Out<c_int>) -> Outcome<()> = inquiry::groups;
    /// Returns the name of a group.
    fn NC4_inq_grpname(ncid: c_int, name: NameOut) -> Outcome<()> = inquiry::group_name;
    /// Returns the full path of a group.
    fn NC4_inq_grpname_full(ncid: c_int, lenp: Out<usize>, full_name: NameOut) -> Outcome<()> = inquiry::group_full_name;
    /// Returns the id of the parent group.
    fn NC4_inq_grp_parent(ncid: c_int, parent_ncid: Out<c_int>) -> Outcome<()> = inquiry::group_parent;
    /// Returns the id of a group by its full path.
    fn NC4_inq_grp_full_ncid(ncid: c_int, full_name: CText, grp_ncid: Out<c_int>) -> Outcome<()> = inquiry::group_by_path;
    /// Returns the id of a subgroup by its name.
    fn NC4_inq_ncid(ncid: c_int, name: CText, grp_ncid: Out<c_int>) -> Outcome<()> = inquiry::subgroup;
    /// Returns the name and size of a type.
    fn NC4_inq_type(ncid: c_int, xtype: c_int, name: NameOut, size: Out<usize>) -> Outcome<()> = types::inq;
    /// Returns the id of a type by its name.
    fn NC4_inq_typeid(ncid: c_int, name: CText, typeidp: Out<c_int>) -> Outcome<()> = types::inq_id;
    /// Returns the ids of the types of a group.
    fn NC4_inq_typeids(ncid: c_int, ntypes: Out<c_int>, typeids: Out<c_int>) -> Outcome<()> = inquiry::type_ids;
    /// Reports whether two types are equal.
    fn NC4_inq_type_equal(ncid1: c_int, typeid1: c_int, ncid2: c_int, typeid2: c_int, equal: Out<c_int>) -> Outcome<()> = equality::inq;
    /// Returns the definition of a user-defined type, except its members.
    fn NC4_inq_user_type(ncid: c_int, xtype: c_int, name: NameOut, size: Out<usize>, base_nc_typep: Out<c_int>, nfieldsp: Out<usize>, classp: Out<c_int>) -> Outcome<()> = types::inq_user;
    /// Logs the definitions of a dataset in netCDF-C; here nothing is logged.
    fn NC4_show_metadata(ncid: c_int) -> Outcome<()> =>
        group_of(ncid).map(|_| ());
    /// Reads a box of values with strides.
    fn NC4_get_vars(ncid: c_int, varid: c_int, startp: In<usize>, countp: In<usize>, stridep: In<isize>, value: BytesOut, memtype: c_int) -> Outcome<()> =>
        default_slabs::call((ncid, varid), CSlab::strided(startp, countp, stridep), None, Read(value), memtype);
    /// Reads a box of values with strides, by the functions for boxes of the dispatch table.
    fn NCDEFAULT_get_vars(ncid: c_int, varid: c_int, startp: In<usize>, countp: In<usize>, stridep: In<isize>, value: BytesOut, memtype: c_int) -> Outcome<()> =>
        default_slabs::call((ncid, varid), CSlab::strided(startp, countp, stridep), None, Read(value), memtype);
    /// Writes a box of values with strides, by the functions for boxes of the dispatch table.
    fn NCDEFAULT_put_vars(ncid: c_int, varid: c_int, startp: In<usize>, countp: In<usize>, stridep: In<isize>, value: Bytes, memtype: c_int) -> Outcome<()> =>
        default_slabs::call((ncid, varid), CSlab::strided(startp, countp, stridep), None, Written(value), memtype);
    /// Reads a box of values with strides and a map of their distances in memory, by the functions for boxes of the dispatch table.
    fn NCDEFAULT_get_varm(ncid: c_int, varid: c_int, startp: In<usize>, countp: In<usize>, stridep: In<isize>, imapp: In<isize>, value: BytesOut, memtype: c_int) -> Outcome<()> =>
        default_slabs::call((ncid, varid), CSlab::strided(startp, countp, stridep), Some(imapp), Read(value), memtype);
    /// Writes a box of values with strides and a map of their distances in memory, by the functions for boxes of the dispatch table.
    fn NCDEFAULT_put_varm(ncid: c_int, varid: c_int, startp: In<usize>, countp: In<usize>, stridep: In<isize>, imapp: In<isize>, value: Bytes, memtype: c_int) -> Outcome<()> =>
        default_slabs::call((ncid, varid), CSlab::strided(startp, countp, stridep), Some(imapp), Written(value), memtype);
}
