//! The command `ncirrus`, which the wheel brings as well.
use pyo3::prelude::*;
use std::ffi::OsString;

/// Runs the command with what was typed, the program's name first; the exit code is the answer.
#[pyfunction]
pub(crate) fn run_command_line(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| ncirrus_cli::run_command_line(arguments).code())
}
