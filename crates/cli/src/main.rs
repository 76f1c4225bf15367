//! The `ncirrus` program.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    ncirrus_cli::run_command_line(std::env::args_os()).into()
}
