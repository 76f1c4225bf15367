//! How elements of a type lie in numpy's memory.
use ncirrus::{Atomic, Model, TypeRef};
use pyo3::prelude::*;

/// How elements of a type lie in numpy's memory.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ElementForm {
    /// As numbers, enums as those of their base.
    Number(Atomic),
    /// As bytes of a fixed number.
    Packed,
    /// As objects.
    Columns,
}

impl ElementForm {
    pub(crate) fn of(model: &Model, ty: TypeRef) -> Self {
        match (model.base_atomic(ty), model.packed_len(ty)) {
            (Some(atomic), _) if atomic.is_numeric() => Self::Number(atomic),
            (_, Some(1..)) => Self::Packed,
            _ => Self::Columns,
        }
    }
}

/// Runs the same for whichever Rust type the numbers of a numeric type are.
macro_rules! on_number {
    ($atomic:expr, $T:ident => $then:expr) => {
        match $atomic {
            ncirrus::Atomic::Byte => on_number!(@ i8, $T, $then),
            ncirrus::Atomic::Short => on_number!(@ i16, $T, $then),
            ncirrus::Atomic::Int => on_number!(@ i32, $T, $then),
            ncirrus::Atomic::Float => on_number!(@ f32, $T, $then),
            ncirrus::Atomic::Double => on_number!(@ f64, $T, $then),
            ncirrus::Atomic::UShort => on_number!(@ u16, $T, $then),
            ncirrus::Atomic::UInt => on_number!(@ u32, $T, $then),
            ncirrus::Atomic::Int64 => on_number!(@ i64, $T, $then),
            ncirrus::Atomic::UInt64 => on_number!(@ u64, $T, $then),
            _ => on_number!(@ u8, $T, $then),
        }
    };
    (@ $rust:ty, $T:ident, $then:expr) => {{
        type $T = $rust;
        $then
    }};
}
pub(crate) use on_number;

/// The memory of an array in C order, as an array of bytes.
pub(crate) fn bytes_of<'py>(array: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    array.call_method1("reshape", (-1,))?.call_method1("view", ("u1",))
}
