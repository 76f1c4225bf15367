//! `netcdf.h`: values that are written.
use crate::abi::table::c_functions;
use crate::c_types::codes::Outcome;
use crate::c_types::memory::{Bytes, CText, Char, In, Long, TextAddress};
use crate::programs::user_calls;
use crate::rules::slabs::CSlab;
use crate::values::memory_type::ValueNumber;
use crate::values::{put_attributes, put_data};
use ncirrus::Atomic;
use std::ffi::c_int;

c_functions! {
    ROWS, "netcdf.h";
    /// Writes all values of a variable.
    fn nc_put_var(ncid: c_int, varid: c_int, op: Bytes) -> Outcome<()> =>
        put_data::put(ncid, varid, None, None, op);
    /// Writes one value of a variable.
    fn nc_put_var1(ncid: c_int, varid: c_int, indexp: In<usize>, op: Bytes) -> Outcome<()> =>
        put_data::put(ncid, varid, Some(CSlab::one(indexp)), None, op);
    /// Writes a box of values.
    fn nc_put_vara(ncid: c_int, varid: c_int, startp: In<usize>, countp: In<usize>, op: Bytes) -> Outcome<()> =>
        put_data::put(ncid, varid, Some(CSlab::of(startp, countp)), None, op);
    /// Writes a box of values with strides.
    fn nc_put_vars(ncid: c_int, varid: c_int, startp: In<usize>, countp: In<usize>, stridep: In<isize>, op: Bytes) -> Outcome<()> =>
        put_data::put(ncid, varid, Some(CSlab::strided(startp, countp, stridep)), None, op);
    /// Writes a box of values with strides; a map gives the distances of the values in memory.
    fn nc_put_varm(ncid: c_int, varid: c_int, startp: In<usize>, countp: In<usize>, stridep: In<isize>, imapp: In<isize>, op: Bytes) -> Outcome<()> =>
        put_data::put_mapped(ncid, varid, CSlab::strided(startp, countp, stridep), imapp, None, op);
}

/// The functions of one type of memory: its element, and their names.
macro_rules! typed {
    ($($element:ty: $var:ident $var1:ident $vara:ident $vars:ident $varm:ident;)*) => {
        c_functions! {
            TYPED, "netcdf.h";
            $(
                /// Writes all values of a variable, converted from the type of `op`.
                fn $var(ncid: c_int, varid: c_int, op: In<$element>) -> Outcome<()> =>
                    put_data::put(ncid, varid, None, Some(<$element>::TYPE), op.as_bytes());
                /// Writes one value of a variable, converted from the type of `op`.
                fn $var1(ncid: c_int, varid: c_int, indexp: In<usize>, op: In<$element>) -> Outcome<()> =>
                    put_data::put(ncid, varid, Some(CSlab::one(indexp)), Some(<$element>::TYPE), op.as_bytes());
                /// Writes a box of values, converted from the type of `op`.
                fn $vara(ncid: c_int, varid: c_int, startp: In<usize>, countp: In<usize>, op: In<$element>) -> Outcome<()> =>
                    put_data::put(ncid, varid, Some(CSlab::of(startp, countp)), Some(<$element>::TYPE), op.as_bytes());
                /// Writes a box of values with strides, converted from the type of `op`.
                fn $vars(ncid: c_int, varid: c_int, startp: In<usize>, countp: In<usize>, stridep: In<isize>, op: In<$element>) -> Outcome<()> =>
                    put_data::put(ncid, varid, Some(CSlab::strided(startp, countp, stridep)), Some(<$element>::TYPE), op.as_bytes());
                /// Writes a box of values with strides, converted from the type of `op`; a map gives the distances of the values in memory.
                fn $varm(ncid: c_int, varid: c_int, startp: In<usize>, countp: In<usize>, stridep: In<isize>, imapp: In<isize>, op: In<$element>) -> Outcome<()> =>
                    put_data::put_mapped(ncid, varid, CSlab::strided(startp, countp, stridep), imapp, Some(<$element>::TYPE), op.as_bytes());
            )*
        }
    };
}

typed! {
    Char: nc_put_var_text nc_put_var1_text nc_put_vara_text nc_put_vars_text nc_put_varm_text;
    i8: nc_put_var_schar nc_put_var1_schar nc_put_vara_schar nc_put_vars_schar nc_put_varm_schar;
    u8: nc_put_var_uchar nc_put_var1_uchar nc_put_vara_uchar nc_put_vars_uchar nc_put_varm_uchar;
    i16: nc_put_var_short nc_put_var1_short nc_put_vara_short nc_put_vars_short nc_put_varm_short;
    c_int: nc_put_var_int nc_put_var1_int nc_put_vara_int nc_put_vars_int nc_put_varm_int;
    Long: nc_put_var_long nc_put_var1_long nc_put_vara_long nc_put_vars_long nc_put_varm_long;
    f32: nc_put_var_float nc_put_var1_float nc_put_vara_float nc_put_vars_float nc_put_varm_float;
    f64: nc_put_var_double nc_put_var1_double nc_put_vara_double nc_put_vars_double nc_put_varm_double;
    u8: nc_put_var_ubyte nc_put_var1_ubyte nc_put_vara_ubyte nc_put_vars_ubyte nc_put_varm_ubyte;
    u16: nc_put_var_ushort nc_put_var1_ushort nc_put_vara_ushort nc_put_vars_ushort nc_put_varm_ushort;
    u32: nc_put_var_uint nc_put_var1_uint nc_put_vara_uint nc_put_vars_uint nc_put_varm_uint;
    i64: nc_put_var_longlong nc_put_var1_longlong nc_put_vara_longlong nc_put_vars_longlong nc_put_varm_longlong;
    u64: nc_put_var_ulonglong nc_put_var1_ulonglong nc_put_vara_ulonglong nc_put_vars_ulonglong nc_put_varm_ulonglong;
    TextAddress: nc_put_var_string nc_put_var1_string nc_put_vara_string nc_put_vars_string nc_put_varm_string;
}

/// Attributes of one type of memory.
macro_rules! attributes {
    ($($element:ty: $att:ident;)*) => {
        c_functions! {
            ATTRIBUTES, "netcdf.h";
            /// Writes a text attribute (`NC_CHAR`).
            fn nc_put_att_text(ncid: c_int, varid: c_int, name: CText, len: usize, op: In<Char>) -> Outcome<()> =>
                put_attributes::put_as(ncid, varid, &name, user_calls::number_of(Atomic::Char), len, Some(Atomic::Char), op.as_bytes());
            /// Writes an attribute of strings (`NC_STRING`).
            fn nc_put_att_string(ncid: c_int, varid: c_int, name: CText, len: usize, op: In<TextAddress>) -> Outcome<()> =>
                put_attributes::put_as(ncid, varid, &name, user_calls::number_of(Atomic::String), len, Some(Atomic::String), op.as_bytes());
            $(
                /// Writes an attribute, converted from the type of `op`.
                fn $att(ncid: c_int, varid: c_int, name: CText, xtype: c_int, len: usize, op: In<$element>) -> Outcome<()> =>
                    put_attributes::put_as(ncid, varid, &name, xtype, len, Some(<$element>::TYPE), op.as_bytes());
            )*
        }
    };
}

attributes! {
    i8: nc_put_att_schar;
    u8: nc_put_att_uchar;
    i16: nc_put_att_short;
    c_int: nc_put_att_int;
    Long: nc_put_att_long;
    f32: nc_put_att_float;
    f64: nc_put_att_double;
    u8: nc_put_att_ubyte;
    u16: nc_put_att_ushort;
    u32: nc_put_att_uint;
    i64: nc_put_att_longlong;
    u64: nc_put_att_ulonglong;
}
