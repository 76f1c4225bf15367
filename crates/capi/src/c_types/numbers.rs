//! Numbers as C has them.
use crate::c_types::codes::{Code, Outcome};
use std::ffi::c_int;

/// The member of a list with a number.
pub(crate) fn member<T: Copy>(list: &[T], number: c_int) -> Option<T> {
    list.get(usize::try_from(number).ok()?).copied()
}

/// A count as C has it; the largest one if there are more.
pub(crate) fn number(count: usize) -> c_int {
    c_int::try_from(count).unwrap_or(c_int::MAX)
}

/// A length as C has it.
///
/// # Errors
/// `NC_ENOMEM` if it exceeds the address space.
pub(crate) fn size(len: u64) -> Outcome<usize> {
    usize::try_from(len).map_err(|_| Code(crate::c_types::codes::NC_ENOMEM))
}
