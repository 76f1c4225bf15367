//! Rust types that values are read into and written from.
use crate::{Atomic, Error, Result, Values};

mod sealed {
    pub trait Sealed {}
}

/// A Rust number type into which values of a variable can be read and from which they can be written, with netCDF's
/// conversion. Sealed: the ten numeric types of netCDF-4.
pub trait Element: sealed::Sealed + bytemuck::Pod + Send + Sync {
    /// The corresponding netCDF type.
    const ATOMIC: Atomic;
    /// Takes the vector out of values of this type.
    ///
    /// # Errors
    /// `Internal` if the values are of another type.
    fn from_values(values: Values) -> Result<Vec<Self>>;
    /// Values of this type.
    fn into_values(vector: Vec<Self>) -> Values;
}

macro_rules! element {
    ($($rust:ty => $variant:ident),* $(,)?) => {$(
        impl sealed::Sealed for $rust {}

        impl Element for $rust {
            const ATOMIC: Atomic = Atomic::$variant;

            fn from_values(values: Values) -> Result<Vec<Self>> {
                match values {
                    Values::$variant(vector) => Ok(vector),
                    other => Err(Error::internal(format!("{:?} values where {} were expected", other.atomic(), Self::ATOMIC.name()))),
                }
            }

            fn into_values(vector: Vec<Self>) -> Values {
                Values::$variant(vector)
            }
        }
    )*};
}

element! {
    i8 => Byte, i16 => Short, i32 => Int, i64 => Int64,
    u8 => UByte, u16 => UShort, u32 => UInt, u64 => UInt64,
    f32 => Float, f64 => Double,
}
