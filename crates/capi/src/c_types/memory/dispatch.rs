//! Tables of functions with which programs add formats of their own (`nc_def_user_format`).
use super::roles::{passed_as, store};
use super::{Bytes, BytesOut, CArgument, CPassed, CText, In, KeptPointer, NameOut, Out};
use crate::c_types::codes::{Code, NC_EINVAL, Outcome};
use std::ffi::c_int;

/// A table of the program, which keeps it as long as the library may call it; may be null.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct UserTable(*const CDispatch);

// SAFETY: the table is memory that the program leaves as it is once it is known; its functions are called by the threads
// that call the library.
unsafe impl Send for UserTable {}
// SAFETY: as above.
unsafe impl Sync for UserTable {}

/// Memory of the program for the address of a table.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TableOut(*mut *const CDispatch);

/// Writes a type of C.
type TypeName = fn() -> String;

/// A function of a table: its name, and names and C types of its arguments.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DispatchEntry {
    pub(crate) name: &'static str,
    pub(crate) arguments: &'static [(&'static str, TypeName)],
}

passed_as!(UserTable, *const CDispatch, "NC_Dispatch *");

/// A table as its own functions get it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PassedTable(pub(crate) UserTable);

passed_as!(PassedTable, *const CDispatch, "const struct NC_Dispatch *", |raw| Self(UserTable(raw)));

impl CPassed for PassedTable {
    fn raw(self) -> Self::Raw {
        self.0.0
    }
}

passed_as!(TableOut, *mut *const CDispatch, "NC_Dispatch **");

impl TableOut {
    /// Stores the address of a table, unless the program does not want it.
    pub(crate) fn set(self, table: UserTable) {
        store(self.0, table.0);
    }
}

impl UserTable {
    /// No table.
    pub(crate) const NONE: Self = Self(std::ptr::null());

    fn table(&self) -> Outcome<&CDispatch> {
        // SAFETY: null, or a table of the program, which lives as long as the library may call it.
        unsafe { self.0.as_ref() }.ok_or(Code(NC_EINVAL))
    }

    /// The version of the interface that the table is for; `None` without a table.
    pub(crate) fn version(self) -> Option<c_int> {
        self.table().ok().map(|table| table.dispatch_version)
    }
}

/// The functions of a table, in its order: each becomes a field, and a method that calls it.
macro_rules! dispatch_entries {
    ($($(#[$lint:meta])* $name:ident($($argument:ident: $role:ty),* $(,)?);)*) => {
        /// A table as programs make it: `struct NC_Dispatch`.
        #[repr(C)]
        #[derive(Debug)]
        pub(crate) struct CDispatch {
            model: c_int,
            dispatch_version: c_int,
            $($name: Option<unsafe extern "C" fn($(<$role as CArgument>::Raw),*) -> c_int>,)*
        }

        impl UserTable {
            $(
                /// Calls the function of this name; without one, `NC_EINVAL`.
                $(#[$lint])*
                pub(crate) fn $name(&self, $($argument: $role),*) -> Outcome<()> {
                    let call = self.table()?.$name.ok_or(Code(NC_EINVAL))?;
                    // SAFETY: a function of the program, of the type that its table declares; the arguments are those that the
                    // program passed for the same roles, or memory of this library that outlives the call.
                    match unsafe { call($($argument.raw()),*) } {
                        0 => Ok(()),
                        code => Err(Code(code)),
                    }
                }
            )*
        }

        /// All functions of a table, in its order.
        pub(crate) const DISPATCH_ENTRIES: &[DispatchEntry] = &[$(DispatchEntry {
            name: stringify!($name),
            arguments: &[$((stringify!($argument), <$role as CArgument>::c_type as fn() -> String)),*],
        }),*];
    };
}

dispatch_entries! {
    #[expect(clippy::too_many_arguments, reason = "as C has them")]
    create(path: CText, cmode: c_int, initialsz: usize, basepe: c_int, chunksizehintp: Out<usize>, parameters: KeptPointer, table: PassedTable, ncid: c_int);
    #[expect(clippy::too_many_arguments, reason = "as C has them")]
    open(path: CText, mode: c_int, basepe: c_int, chunksizehintp: Out<usize>, parameters: KeptPointer, table: PassedTable, ncid: c_int);
    redef(ncid: c_int);
    _enddef(ncid: c_int, h_minfree: usize, v_align: usize, v_minfree: usize, r_align: usize);
    sync(ncid: c_int);
    abort(ncid: c_int);
    close(ncid: c_int, parameters: KeptPointer);
    set_fill(ncid: c_int, fillmode: c_int, old_modep: Out<c_int>);
    inq_format(ncid: c_int, formatp: Out<c_int>);
    inq_format_extended(ncid: c_int, formatp: Out<c_int>, modep: Out<c_int>);
    inq(ncid: c_int, ndimsp: Out<c_int>, nvarsp: Out<c_int>, nattsp: Out<c_int>, unlimdimidp: Out<c_int>);
    inq_type(ncid: c_int, xtype: c_int, name: NameOut, size: Out<usize>);
    def_dim(ncid: c_int, name: CText, len: usize, idp: Out<c_int>);
    inq_dimid(ncid: c_int, name: CText, idp: Out<c_int>);
    inq_dim(ncid: c_int, dimid: c_int, name: NameOut, lenp: Out<usize>);
    inq_unlimdim(ncid: c_int, unlimdimidp: Out<c_int>);
    rename_dim(ncid: c_int, dimid: c_int, name: CText);
    inq_att(ncid: c_int, varid: c_int, name: CText, xtypep: Out<c_int>, lenp: Out<usize>);
    inq_attid(ncid: c_int, varid: c_int, name: CText, idp: Out<c_int>);
    inq_attname(ncid: c_int, varid: c_int, attnum: c_int, name: NameOut);
    rename_att(ncid: c_int, varid: c_int, name: CText, newname: CText);
    del_att(ncid: c_int, varid: c_int, name: CText);
    get_att(ncid: c_int, varid: c_int, name: CText, value: BytesOut, memtype: c_int);
    #[expect(clippy::too_many_arguments, reason = "as C has them")]
    put_att(ncid: c_int, varid: c_int, name: CText, xtype: c_int, len: usize, value: Bytes, memtype: c_int);
    def_var(ncid: c_int, name: CText, xtype: c_int, ndims: c_int, dimidsp: In<c_int>, varidp: Out<c_int>);
    inq_varid(ncid: c_int, name: CText, varidp: Out<c_int>);
    rename_var(ncid: c_int, varid: c_int, name: CText);
    get_vara(ncid: c_int, varid: c_int, startp: In<usize>, countp: In<usize>, value: BytesOut, memtype: c_int);
    put_vara(ncid: c_int, varid: c_int, startp: In<usize>, countp: In<usize>, value: Bytes, memtype: c_int);
    #[expect(clippy::too_many_arguments, reason = "as C has them")]
    get_vars(ncid: c_int, varid: c_int, startp: In<usize>, countp: In<usize>, stridep: In<isize>, value: BytesOut, memtype: c_int);
    #[expect(clippy::too_many_arguments, reason = "as C has them")]
    put_vars(ncid: c_int, varid: c_int, startp: In<usize>, countp: In<usize>, stridep: In<isize>, value: Bytes, memtype: c_int);
    #[expect(clippy::too_many_arguments, reason = "as C has them")]
    get_varm(ncid: c_int, varid: c_int, startp: In<usize>, countp: In<usize>, stridep: In<isize>, imapp: In<isize>, value: BytesOut, memtype: c_int);
    #[expect(clippy::too_many_arguments, reason = "as C has them")]
    put_varm(ncid: c_int, varid: c_int, startp: In<usize>, countp: In<usize>, stridep: In<isize>, imapp: In<isize>, value: Bytes, memtype: c_int);
    #[expect(clippy::too_many_arguments, reason = "as C has them")]
    inq_var_all(
        ncid: c_int, varid: c_int, name: NameOut, xtypep: Out<c_int>, ndimsp: Out<c_int>, dimidsp: Out<c_int>, nattsp: Out<c_int>,
        shufflep: Out<c_int>, deflatep: Out<c_int>, deflate_levelp: Out<c_int>, fletcher32p: Out<c_int>, contiguousp: Out<c_int>,
        chunksizesp: Out<usize>, no_fill: Out<c_int>, fill_valuep: BytesOut, endiannessp: Out<c_int>, idp: Out<u32>,
        nparamsp: Out<usize>, params: Out<u32>,
    );
    #[expect(dead_code, reason = "a place of the table; parallel access is refused before")]
    var_par_access(ncid: c_int, varid: c_int, par_access: c_int);
    def_var_fill(ncid: c_int, varid: c_int, no_fill: c_int, fill_value: Bytes);
    show_metadata(ncid: c_int);
    inq_unlimdims(ncid: c_int, nunlimdimsp: Out<c_int>, unlimdimidsp: Out<c_int>);
    inq_ncid(ncid: c_int, name: CText, grp_ncid: Out<c_int>);
    inq_grps(ncid: c_int, numgrps: Out<c_int>, ncids: Out<c_int>);
    inq_grpname(ncid: c_int, name: NameOut);
    inq_grpname_full(ncid: c_int, lenp: Out<usize>, full_name: NameOut);
    inq_grp_parent(ncid: c_int, parent_ncid: Out<c_int>);
    inq_grp_full_ncid(ncid: c_int, full_name: CText, grp_ncid: Out<c_int>);
    inq_varids(ncid: c_int, nvars: Out<c_int>, varids: Out<c_int>);
    inq_dimids(ncid: c_int, ndims: Out<c_int>, dimids: Out<c_int>, include_parents: c_int);
    inq_typeids(ncid: c_int, ntypes: Out<c_int>, typeids: Out<c_int>);
    inq_type_equal(ncid1: c_int, typeid1: c_int, ncid2: c_int, typeid2: c_int, equal: Out<c_int>);
    def_grp(parent_ncid: c_int, name: CText, new_ncid: Out<c_int>);
    rename_grp(grpid: c_int, name: CText);
    #[expect(clippy::too_many_arguments, reason = "as C has them")]
    inq_user_type(ncid: c_int, xtype: c_int, name: NameOut, size: Out<usize>, base_nc_typep: Out<c_int>, nfieldsp: Out<usize>, classp: Out<c_int>);
    inq_typeid(ncid: c_int, name: CText, typeidp: Out<c_int>);
    def_compound(ncid: c_int, size: usize, name: CText, typeidp: Out<c_int>);
    insert_compound(ncid: c_int, xtype: c_int, name: CText, offset: usize, field_typeid: c_int);
    #[expect(clippy::too_many_arguments, reason = "as C has them")]
    insert_array_compound(ncid: c_int, xtype: c_int, name: CText, offset: usize, field_typeid: c_int, ndims: c_int, dim_sizes: In<c_int>);
    #[expect(clippy::too_many_arguments, reason = "as C has them")]
    inq_compound_field(ncid: c_int, xtype: c_int, fieldid: c_int, name: NameOut, offsetp: Out<usize>, field_typeidp: Out<c_int>, ndimsp: Out<c_int>, dim_sizesp: Out<c_int>);
    inq_compound_fieldindex(ncid: c_int, xtype: c_int, name: CText, fieldidp: Out<c_int>);
    def_vlen(ncid: c_int, name: CText, base_typeid: c_int, xtypep: Out<c_int>);
    put_vlen_element(ncid: c_int, typeid1: c_int, vlen_element: BytesOut, len: usize, data: Bytes);
    get_vlen_element(ncid: c_int, typeid1: c_int, vlen_element: Bytes, len: Out<usize>, data: BytesOut);
    def_enum(ncid: c_int, base_typeid: c_int, name: CText, typeidp: Out<c_int>);
    insert_enum(ncid: c_int, xtype: c_int, name: CText, value: Bytes);
    inq_enum_member(ncid: c_int, xtype: c_int, idx: c_int, name: NameOut, value: BytesOut);
    inq_enum_ident(ncid: c_int, xtype: c_int, value: i64, identifier: NameOut);
    def_opaque(ncid: c_int, size: usize, name: CText, xtypep: Out<c_int>);
    def_var_deflate(ncid: c_int, varid: c_int, shuffle: c_int, deflate: c_int, deflate_level: c_int);
    def_var_fletcher32(ncid: c_int, varid: c_int, fletcher32: c_int);
    def_var_chunking(ncid: c_int, varid: c_int, storage: c_int, chunksizesp: In<usize>);
    def_var_endian(ncid: c_int, varid: c_int, endian: c_int);
    def_var_filter(ncid: c_int, varid: c_int, id: u32, nparams: usize, parms: In<u32>);
    set_var_chunk_cache(ncid: c_int, varid: c_int, size: usize, nelems: usize, preemption: f32);
    get_var_chunk_cache(ncid: c_int, varid: c_int, sizep: Out<usize>, nelemsp: Out<usize>, preemptionp: Out<f32>);
    inq_var_filter_ids(ncid: c_int, varid: c_int, nfilters: Out<usize>, filterids: Out<u32>);
    inq_var_filter_info(ncid: c_int, varid: c_int, id: u32, nparams: Out<usize>, params: Out<u32>);
    def_var_quantize(ncid: c_int, varid: c_int, quantize_mode: c_int, nsd: c_int);
    inq_var_quantize(ncid: c_int, varid: c_int, quantize_modep: Out<c_int>, nsdp: Out<c_int>);
    inq_filter_avail(ncid: c_int, id: u32);
}
