//! The C library: netCDF-C's interface on top of [`ncirrus`], for programs that load `libnetcdf.so.19`
//! (`docs/c-library.md`, `docs/design/019-c-library.md`).
//!
//! [`functions`] is the table of what is exported. C's memory is touched in `memory` and by the shims of `table` alone.
#![deny(unsafe_code)]

mod ahead_window;
mod attributes;
mod auxiliary;
mod broken;
mod chunk_caches;
pub mod codes;
mod compound_draft;
mod constants;
mod convert;
mod copy_variable;
mod create;
mod data;
mod data_text;
mod default_slabs;
mod define;
mod define_storage;
mod define_types;
mod equality;
mod faults;
mod file_edit;
mod file_format;
mod file_state;
mod files;
mod filter_text;
mod followed;
mod fork;
#[expect(
    unsafe_code,
    reason = "functions that C calls, under the names that C knows; the macro of the table writes their safety notes"
)]
mod functions;
mod handles;
mod headers;
mod in_memory;
mod inquiry;
mod last_error;
#[cfg(all(target_os = "linux", not(miri)))]
mod last_thread;
mod layouts;
mod local_place;
mod log;
mod members;
#[expect(unsafe_code, reason = "the memory of C programs")]
mod memory;
mod modes;
mod netcdf4_calls;
mod numbers;
mod open;
mod opened_blocks;
mod own_interface;
mod place_checks;
mod place_turns;
mod plugin_paths;
mod process;
mod put_attributes;
mod put_data;
mod put_run;
mod puts_behind;
mod read_ahead;
mod records;
mod refusals;
mod room;
mod slab_checks;
mod slabs;
mod slots;
mod small_casts;
mod small_puts;
mod small_reads;
mod storage;
mod support;
mod table;
mod types;
mod uri;
mod user_calls;
mod user_file;
mod user_formats;
mod user_types;
mod version2;
mod waiting_puts;

pub use functions::functions;
pub use headers::{HEADERS, header};
pub use table::{CTypeName, FunctionRow};
