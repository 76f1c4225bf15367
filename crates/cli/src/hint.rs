//! One line per error, and a hint where one helps.
use crate::exit;
use ncirrus::{Error, ErrorKind};
use std::process::ExitCode;

/// Prints the error and its hint to standard error, and returns the exit code.
#[expect(clippy::print_stderr, reason = "this is where the command tells its errors")]
pub(crate) fn report(error: &Error) -> ExitCode {
    let message = error.to_string().replace(['\n', '\r'], " ");
    match hint(error) {
        Some(hint) => eprintln!("ncirrus: {message}; hint: {hint}"),
        None => eprintln!("ncirrus: {message}"),
    }
    exit::code(error.kind())
}

/// Prints what the user should know besides.
#[expect(clippy::print_stderr, reason = "this is where the command tells what it noticed")]
pub(crate) fn notes(notes: &[String]) {
    for note in notes {
        eprintln!("ncirrus: note: {}", note.replace(['\n', '\r'], " "));
    }
}

fn hint(error: &Error) -> Option<&'static str> {
    let message = error.message();
    let says = |word: &str| message.contains(word);
    Some(match error.kind() {
        ErrorKind::Conflict if says("exist") => "name another target, or pass --overwrite",
        ErrorKind::NotFound if says("no variable") || says("no group") => {
            "`ncirrus info URL` lists what there is"
        }
        ErrorKind::NotFound => "check the path; a URL needs its scheme, such as s3:// or https://",
        ErrorKind::Denied => {
            "check the permissions; `ncirrus whoami URL` tells whose name is used with object stores and servers"
        }
        ErrorKind::Unsupported if says("HTTP is read-only") => {
            "write to a path, s3://, gs:// or az://; #mode=s3 names a server that speaks S3"
        }
        ErrorKind::Unsupported if says("netCDF-3") || says("classic") => {
            "choose a richer kind: -k nc5, -k nc4 or -k nczarr"
        }
        ErrorKind::Unsupported if says("codec") && says("is not known") => {
            "`ncirrus filters -v` lists the filters that are there; HDF5_PLUGIN_PATH names directories of plugins"
        }
        ErrorKind::Unsupported if says("codec") => {
            "store it otherwise: --codec zstd, -d LEVEL, or -d 0 for no filters"
        }
        ErrorKind::Unsupported if says("65535") => "store it as a variable, or choose -k nczarr",
        ErrorKind::Invalid if says("scheme") => "known schemes: file, http, https, s3, gs, gs3, az, abfs",
        ErrorKind::Malformed if says("HTML") => {
            "the address is that of a web page; use the address of the data"
        }
        ErrorKind::Malformed => "the file may be cut off or not be what its name says",
        ErrorKind::Limit => "--memory raises the budget; a size like this is often damage",
        ErrorKind::Io { .. } if says("lookup") || says("connect") => "check the address and the network",
        ErrorKind::Changed => "another program is writing to it; try again when it is done",
        ErrorKind::Internal => "this is a fault of ncirrus: please report it with the command that caused it",
        ErrorKind::Invalid => "`ncirrus help COMMAND` shows the forms with examples",
        _ => return None,
    })
}
