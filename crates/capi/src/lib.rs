//! The C library: netCDF-C's interface on top of [`ncirrus`], for programs that load `libnetcdf.so.19`
//! (`docs/c-library.md`, `docs/design/019-c-library.md`).
//!
//! [`functions`] is the table of what is exported. C's memory is touched in `memory` and by the shims of `table` alone.
#![deny(unsafe_code)]

mod attributes;
pub mod codes;
mod constants;
mod convert;
mod data;
mod files;
#[expect(
    unsafe_code,
    reason = "functions that C calls, under the names that C knows; the macro of the table writes their safety notes"
)]
mod functions;
mod headers;
mod inquiry;
mod layouts;
#[expect(unsafe_code, reason = "the memory of C programs")]
mod memory;
mod open;
mod storage;
mod support;
mod table;
mod types;
mod uri;

pub use functions::functions;
pub use headers::{HEADERS, header};
pub use table::{CTypeName, FunctionRow};
