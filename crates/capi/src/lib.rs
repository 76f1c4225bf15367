//! The C library: netCDF-C's interface on top of [`ncirrus`], for programs that load `libnetcdf.so.19`
//! (`docs/c-library.md`, `docs/design/018-c-library.md`).
//!
//! [`functions`] is the table of what is exported. C's memory is touched in `c_types::memory` and by the shims of `abi::table` alone. Each
//! folder uses those before it in this order only: `process`, `c_types`, `files`, `definitions`, `rules`, `programs`, `opening`,
//! `values`, `support`, `abi`.
#![deny(unsafe_code)]

mod abi;
mod c_types;
mod definitions;
mod files;
mod opening;
mod process;
mod programs;
mod rules;
mod support;
mod values;

pub use abi::functions::functions;
pub use abi::headers::{HEADERS, header};
pub use abi::table::{CTypeName, FunctionRow};
pub use c_types::codes;
