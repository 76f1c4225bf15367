//! What the library exports: the table of functions, the headers that are made of it, and the interface of version 2.

pub(crate) mod constants;
#[expect(
    unsafe_code,
    reason = "functions that C calls, under the names that C knows; the macro of the table writes their safety notes"
)]
pub(crate) mod functions;
pub(crate) mod headers;
pub(crate) mod table;
pub(crate) mod version2;
