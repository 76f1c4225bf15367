//! Memory of a program for values: of the variable's own type, or of one of C's types.
use crate::c_types::memory::{Bytes, BytesOut, CNumber, Char, In, Long, Out, TextAddress};
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

/// Memory that values are read into.
pub(crate) trait ReadMemory {
    /// Its type; none for the variable's own.
    const TYPE: Option<Atomic>;
    /// The memory.
    fn bytes(self) -> BytesOut;
}

/// Memory that has values to be written.
pub(crate) trait WrittenMemory {
    /// Its type; none for the variable's own.
    const TYPE: Option<Atomic>;
    /// The memory.
    fn bytes(self) -> Bytes;
}

impl ReadMemory for BytesOut {
    const TYPE: Option<Atomic> = None;
    fn bytes(self) -> BytesOut {
        self
    }
}

impl<T: ValueNumber> ReadMemory for Out<T> {
    const TYPE: Option<Atomic> = Some(T::TYPE);
    fn bytes(self) -> BytesOut {
        self.as_bytes()
    }
}

impl WrittenMemory for Bytes {
    const TYPE: Option<Atomic> = None;
    fn bytes(self) -> Bytes {
        self
    }
}

impl<T: ValueNumber> WrittenMemory for In<T> {
    const TYPE: Option<Atomic> = Some(T::TYPE);
    fn bytes(self) -> Bytes {
        self.as_bytes()
    }
}
