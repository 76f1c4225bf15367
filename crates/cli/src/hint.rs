//! One line per error, and a hint where one helps.
use crate::CommandStatus;
use crate::exit;
use crate::message::print;
use ncirrus::{Detail, Error, ErrorKind, Found, Member};

/// Prints the error and its hint to standard error, and returns the exit code.
pub(crate) fn report(error: &Error) -> CommandStatus {
    match hint(error) {
        Some(hint) => print(format_args!("{error}; hint: {hint}")),
        None => print(error),
    }
    exit::code(error.kind())
}

/// As [`report`], with this hint.
pub(crate) fn report_with(error: &Error, hint: &str) -> CommandStatus {
    print(format_args!("{error}; hint: {hint}"));
    exit::code(error.kind())
}

/// What a user may do about an error.
pub(crate) fn hint(error: &Error) -> Option<&'static str> {
    match error.detail().and_then(hint_for) {
        Some(hint) => Some(hint),
        None => general_hint(error),
    }
}

/// Hints for specific errors.
fn hint_for(detail: &Detail) -> Option<&'static str> {
    Some(match detail {
        Detail::IsSource => "choose a target other than the source",
        Detail::NotReplaced => {
            "check that the target is the last argument; --overwrite=any replaces any dataset that is not being read"
        }
        Detail::JoinedByAggregation => {
            "`ncirrus aggregate` joins files whose chunks, packing or units differ"
        }
        Detail::Exists => "choose another target, or pass --overwrite",
        Detail::NoMember(Member::Variable | Member::Group) => {
            "`ncirrus info URL` lists the variables and groups"
        }
        Detail::NoMember(Member::Dimension | Member::Type | Member::Attribute) => {
            "`ncirrus dump -h URL` shows dimensions, types and attributes"
        }
        Detail::ReadOnlyProtocol => {
            "write to a path, s3://, gs:// or az://; #mode=s3 marks a server with an S3 interface"
        }
        Detail::BeyondClassic => "choose a kind that supports it: -k nc5, -k nc4 or -k nczarr",
        Detail::UnknownCodec(_) => {
            "`ncirrus filters -v` lists the available filters; HDF5_PLUGIN_PATH sets the plugin directories"
        }
        Detail::UnusableCodec(_) => "use another compression: --codec zstd, -d LEVEL, or -d 0 for no filters",
        Detail::ReservedName => "`ncirrus copy --rename-reserved` renames it in the copy",
        Detail::BeyondHeader => "store it as a variable, or choose -k nczarr",
        Detail::NoListings => {
            "give the address of the dataset itself; buckets can be listed by s3://, gs:// or az://"
        }
        Detail::UnknownScheme => "known schemes: file, http, https, s3, gs, gs3, az, abfs",
        Detail::Found(Found::Page) => "this is the address of a web page; use the address of the data",
        Detail::Found(Found::Directory) => "`ncirrus ls -r URL` lists the datasets in it",
        Detail::Unreachable => "check the address and the network",
        _ => return None,
    })
}

/// Hints for kinds of errors.
fn general_hint(error: &Error) -> Option<&'static str> {
    Some(match error.kind() {
        ErrorKind::NotFound => "check the path; a URL needs its scheme, such as s3:// or https://",
        ErrorKind::Denied => {
            "check the permissions; `ncirrus whoami URL` shows which credentials are used for object stores and servers"
        }
        ErrorKind::Malformed if error.detail() == Some(&Detail::Found(Found::EmptyDirectory)) => return None,
        ErrorKind::Malformed => {
            "the file may be truncated, or its format may differ from what its name suggests"
        }
        ErrorKind::Limit => "--memory raises the limit; such a size is often a sign of a damaged file",
        ErrorKind::Changed => "another program is writing to it; retry when it has finished",
        ErrorKind::Internal => "this is a bug in ncirrus: please report it with the command that caused it",
        ErrorKind::Invalid => "`ncirrus help COMMAND` shows the syntax with examples",
        _ => return None,
    })
}
