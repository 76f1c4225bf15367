//! `netcdf.h`: values of variables and attributes.
use crate::abi::table::c_functions;
use crate::c_types::codes::Outcome;
use crate::c_types::memory::{BytesOut, CText, Char, In, Long, Out, TextAddress};
use crate::rules::slabs::CSlab;
use crate::values::memory_type::ValueNumber;
use crate::values::{attributes, data};
use std::ffi::c_int;

c_functions! {
    ROWS, "netcdf.h";
    /// Reads all values of a variable.
    fn nc_get_var(ncid: c_int, varid: c_int, ip: BytesOut) -> Outcome<()> =>
        data::get(ncid, varid, None, None, ip);
    /// Reads one value of a variable.
    fn nc_get_var1(ncid: c_int, varid: c_int, indexp: In<usize>, ip: BytesOut) -> Outcome<()> =>
        data::get(ncid, varid, Some(CSlab::one(indexp)), None, ip);
    /// Reads a box of values.
    fn nc_get_vara(ncid: c_int, varid: c_int, startp: In<usize>, countp: In<usize>, ip: BytesOut) -> Outcome<()> =>
        data::get(ncid, varid, Some(CSlab::of(startp, countp)), None, ip);
    /// Reads a box of values with strides.
    fn nc_get_vars(ncid: c_int, varid: c_int, startp: In<usize>, countp: In<usize>, stridep: In<isize>, ip: BytesOut) -> Outcome<()> =>
        data::get(ncid, varid, Some(CSlab::strided(startp, countp, stridep)), None, ip);
    /// Reads a box of values with strides; a map gives the distances of the values in memory.
    fn nc_get_varm(ncid: c_int, varid: c_int, startp: In<usize>, countp: In<usize>, stridep: In<isize>, imapp: In<isize>, ip: BytesOut) -> Outcome<()> =>
        data::get_mapped(ncid, varid, CSlab::strided(startp, countp, stridep), imapp, None, ip);
}

/// The functions of one type of memory: its element, and their names.
macro_rules! typed {
    ($($element:ty: $att:ident $var:ident $var1:ident $vara:ident $vars:ident $varm:ident;)*) => {
        c_functions! {
            TYPED, "netcdf.h";
            $(
                /// Reads the values of an attribute, converted to the type of `ip`.
                fn $att(ncid: c_int, varid: c_int, name: CText, ip: Out<$element>) -> Outcome<()> =>
                    attributes::get_as(ncid, varid, name, <$element>::TYPE, ip.as_bytes());
                /// Reads all values of a variable, converted to the type of `ip`.
                fn $var(ncid: c_int, varid: c_int, ip: Out<$element>) -> Outcome<()> =>
                    data::get(ncid, varid, None, Some(<$element>::TYPE), ip.as_bytes());
                /// Reads one value of a variable, converted to the type of `ip`.
                fn $var1(ncid: c_int, varid: c_int, indexp: In<usize>, ip: Out<$element>) -> Outcome<()> =>
                    data::get(ncid, varid, Some(CSlab::one(indexp)), Some(<$element>::TYPE), ip.as_bytes());
                /// Reads a box of values, converted to the type of `ip`.
                fn $vara(ncid: c_int, varid: c_int, startp: In<usize>, countp: In<usize>, ip: Out<$element>) -> Outcome<()> =>
                    data::get(ncid, varid, Some(CSlab::of(startp, countp)), Some(<$element>::TYPE), ip.as_bytes());
                /// Reads a box of values with strides, converted to the type of `ip`.
                fn $vars(ncid: c_int, varid: c_int, startp: In<usize>, countp: In<usize>, stridep: In<isize>, ip: Out<$element>) -> Outcome<()> =>
                    data::get(ncid, varid, Some(CSlab::strided(startp, countp, stridep)), Some(<$element>::TYPE), ip.as_bytes());
                /// Reads a box of values with strides, converted to the type of `ip`; a map gives the distances of the values in memory.
                fn $varm(ncid: c_int, varid: c_int, startp: In<usize>, countp: In<usize>, stridep: In<isize>, imapp: In<isize>, ip: Out<$element>) -> Outcome<()> =>
                    data::get_mapped(ncid, varid, CSlab::strided(startp, countp, stridep), imapp, Some(<$element>::TYPE), ip.as_bytes());
            )*
        }
    };
}

typed! {
    Char: nc_get_att_text nc_get_var_text nc_get_var1_text nc_get_vara_text nc_get_vars_text nc_get_varm_text;
    i8: nc_get_att_schar nc_get_var_schar nc_get_var1_schar nc_get_vara_schar nc_get_vars_schar nc_get_varm_schar;
    u8: nc_get_att_uchar nc_get_var_uchar nc_get_var1_uchar nc_get_vara_uchar nc_get_vars_uchar nc_get_varm_uchar;
    i16: nc_get_att_short nc_get_var_short nc_get_var1_short nc_get_vara_short nc_get_vars_short nc_get_varm_short;
    c_int: nc_get_att_int nc_get_var_int nc_get_var1_int nc_get_vara_int nc_get_vars_int nc_get_varm_int;
    Long: nc_get_att_long nc_get_var_long nc_get_var1_long nc_get_vara_long nc_get_vars_long nc_get_varm_long;
    f32: nc_get_att_float nc_get_var_float nc_get_var1_float nc_get_vara_float nc_get_vars_float nc_get_varm_float;
    f64: nc_get_att_double nc_get_var_double nc_get_var1_double nc_get_vara_double nc_get_vars_double nc_get_varm_double;
    u8: nc_get_att_ubyte nc_get_var_ubyte nc_get_var1_ubyte nc_get_vara_ubyte nc_get_vars_ubyte nc_get_varm_ubyte;
    u16: nc_get_att_ushort nc_get_var_ushort nc_get_var1_ushort nc_get_vara_ushort nc_get_vars_ushort nc_get_varm_ushort;
    u32: nc_get_att_uint nc_get_var_uint nc_get_var1_uint nc_get_vara_uint nc_get_vars_uint nc_get_varm_uint;
    i64: nc_get_att_longlong nc_get_var_longlong nc_get_var1_longlong nc_get_vara_longlong nc_get_vars_longlong nc_get_varm_longlong;
    u64: nc_get_att_ulonglong nc_get_var_ulonglong nc_get_var1_ulonglong nc_get_vara_ulonglong nc_get_vars_ulonglong nc_get_varm_ulonglong;
    TextAddress: nc_get_att_string nc_get_var_string nc_get_var1_string nc_get_vara_string nc_get_vars_string nc_get_varm_string;
}
