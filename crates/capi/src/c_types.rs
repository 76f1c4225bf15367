//! What C passes and gets: codes, numbers, flags and memory.

pub mod codes;
pub(crate) mod compound_draft;
#[expect(unsafe_code, reason = "the memory of C programs")]
pub(crate) mod memory;
pub(crate) mod modes;
pub(crate) mod numbers;
