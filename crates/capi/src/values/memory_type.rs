//! The types of C, as types of netCDF.
use crate::c_types::memory::{CNumber, Char, Long, TextAddress};
use ncirrus::Atomic;
use std::ffi::c_int;

/// A type of C, and the type of netCDF whose values it has.
pub(crate) trait ValueNumber: CNumber {
    /// The type of netCDF.
    const TYPE: Atomic;
}

macro_rules! value_numbers {
    ($($rust:ty => $atomic:ident),* $(,)?) => {$(
        impl ValueNumber for $rust {
            const TYPE: Atomic = Atomic::$atomic;
        }
    )*};
}

value_numbers! {
    Char => Char, i8 => Byte, u8 => UByte, i16 => Short, u16 => UShort, c_int => Int, u32 => UInt, Long => Int64, i64 => Int64,
    u64 => UInt64, f32 => Float, f64 => Double, TextAddress => String,
}
