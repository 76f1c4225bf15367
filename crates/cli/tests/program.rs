//! The program under test: the one that `NCIRRUS_BINARY` names (`cargo xtask shipped` names that of
//! `cargo build --release`), else the one that cargo built for these tests.
use std::path::PathBuf;
use std::process::Command;

pub(crate) fn command() -> Command {
    Command::new(path())
}

fn path() -> PathBuf {
    std::env::var_os("NCIRRUS_BINARY").map_or_else(|| env!("CARGO_BIN_EXE_ncirrus").into(), PathBuf::from)
}
