//! One line per error, and a hint where one helps.
use crate::exit;
use ncirrus::{Error, ErrorKind};
use std::borrow::Cow;
use std::fmt::Display;
use std::io::Write;
use std::process::ExitCode;

/// Prints the error and its hint to standard error, and returns the exit code.
pub(crate) fn report(error: &Error) -> ExitCode {
    match hint(error) {
        Some(hint) => tell(format_args!("{error}; hint: {hint}")),
        None => tell(error),
    }
    exit::code(error.kind())
}

/// As [`report`], with a hint of the command's own.
pub(crate) fn report_with(error: &Error, hint: &str) -> ExitCode {
    tell(format_args!("{error}; hint: {hint}"));
    exit::code(error.kind())
}

/// Prints what the user should know besides.
pub(crate) fn notes(notes: &[String]) {
    for note in notes {
        tell(format_args!("note: {note}"));
    }
}

/// Prints a line to standard error. That nobody reads it is no reason to stop.
pub(crate) fn tell(line: impl Display) {
    _ = writeln!(std::io::stderr().lock(), "ncirrus: {}", plain(&line.to_string()));
}

/// A name of somebody else's without characters that a terminal would obey, or that would end the line.
pub(crate) fn escaped(name: &str) -> Cow<'_, str> {
    if !name.contains(char::is_control) {
        return Cow::Borrowed(name);
    }
    let letters = name.chars().map(|letter| match letter.is_control() {
        true => letter.escape_default().to_string(),
        false => letter.to_string(),
    });
    Cow::Owned(letters.collect())
}

/// One line without characters that a terminal would obey, and without the marks in addresses that tell askers apart.
pub(crate) fn plain(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for (at, part) in text.split("://").enumerate() {
        line.push_str(if at == 0 { "" } else { "://" });
        let part = if at == 0 { part } else { without_mark(part) };
        for letter in part.chars() {
            match letter {
                '\n' | '\r' => line.push(' '),
                letter if letter.is_control() => line.extend(letter.escape_default()),
                letter => line.push(letter),
            }
        }
    }
    line
}

/// A mark is 16 hexadecimal digits where the user of an address stands.
fn without_mark(text: &str) -> &str {
    let is_mark = |mark: &&str| mark.bytes().all(|byte| byte.is_ascii_hexdigit());
    let rest = text.get(..16).filter(is_mark).and_then(|_| text.get(16..)?.strip_prefix('@'));
    rest.unwrap_or(text)
}

fn hint(error: &Error) -> Option<&'static str> {
    let message = error.message();
    let says = |word: &str| message.contains(word);
    Some(match error.kind() {
        ErrorKind::Conflict if says("what is read") || says("would be replaced") || says("would replace") => {
            "name a target elsewhere"
        }
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
        ErrorKind::Unsupported if says("has no listings") => {
            "name the dataset itself; buckets are listed by s3://, gs:// or az://"
        }
        ErrorKind::Invalid if says("scheme") => "known schemes: file, http, https, s3, gs, gs3, az, abfs",
        ErrorKind::Malformed if says("HTML") => {
            "the address is that of a web page; use the address of the data"
        }
        ErrorKind::Malformed if says("a directory that is not") => {
            "`ncirrus ls -r URL` lists the datasets in it"
        }
        ErrorKind::Malformed if says("an empty directory") => return None,
        ErrorKind::Malformed => "the file may be cut off or not be what its name says",
        ErrorKind::Limit => "--memory raises the budget; a size like this is often damage",
        ErrorKind::Io { .. } if says("lookup") || says("connect") => "check the address and the network",
        ErrorKind::Changed => "another program is writing to it; try again when it is done",
        ErrorKind::Internal => "this is a fault of ncirrus: please report it with the command that caused it",
        ErrorKind::Invalid => "`ncirrus help COMMAND` shows the forms with examples",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_one_line_and_has_nothing_that_a_terminal_obeys() {
        assert_eq!(plain("a\nb\u{1b}[31m\u{7}\u{9b}é"), "a b\\u{1b}[31m\\u{7}\\u{9b}é");
    }

    #[test]
    fn names_stay_on_their_line() {
        assert_eq!(escaped("a\nb\u{1b}[31m\u{9b}é \\"), "a\\nb\\u{1b}[31m\\u{9b}é \\");
    }

    #[test]
    fn marks_of_askers_are_left_out_and_users_are_not() {
        let line = "in http://5e5f853e3d2ca549@h/x, s3://lab@b/5e5f853e3d2ca549@";
        assert_eq!(plain(line), "in http://h/x, s3://lab@b/5e5f853e3d2ca549@");
        assert_eq!(plain("http://5e5f853e3d2ca54é@h"), "http://5e5f853e3d2ca54é@h");
    }
}
