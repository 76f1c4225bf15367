//! `ncirrus fragments`.
use clap::Args as ClapArgs;
use ncirrus::{Error, Result, Session};
use std::process::ExitCode;

/// List the fragments of aggregated variables.
#[derive(ClapArgs)]
pub(crate) struct Args {
    /// Path or URL.
    url: String,
}

pub(crate) fn run(args: &Args, _: &Session) -> Result<ExitCode> {
    Err(Error::unsupported("this command").at_object(&args.url))
}
