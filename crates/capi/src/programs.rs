//! Formats that programs define (`nc_def_user_format`), and calls on files of such formats.

pub(crate) mod user_calls;
pub(crate) mod user_formats;
pub(crate) mod user_types;
