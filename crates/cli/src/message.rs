//! Lines on standard error, with names and texts from others made safe for terminals.
use ncirrus_tools::cdl::parse::CdlFault;
use std::borrow::Cow;
use std::fmt::Display;
use std::io::Write;
use std::sync::{Mutex, PoisonError};

/// Prints a note for the user.
pub(crate) fn notes(notes: &[String]) {
    for note in notes {
        print(format_args!("note: {note}"));
    }
}

/// Prints a line to standard error. A closed standard error is ignored.
pub(crate) fn print(line: impl Display) {
    _ = writeln!(std::io::stderr().lock(), "{}: {}", speaker(), plain(&line.to_string()));
}

/// Prints a text of several lines to standard error, as it is.
pub(crate) fn print_lines(text: &str) {
    _ = write!(std::io::stderr().lock(), "{text}");
}

/// Prints a fault of a CDL text with its line and a caret.
pub(crate) fn print_fault(fault: &CdlFault, name: &str) {
    let display = fault.display(name).to_string();
    // Tabs are as wide as blanks, so that the caret is below the fault.
    let lines = display.lines().map(|line| plain(&line.replace('\t', " ")));
    let lines: Vec<String> = lines.collect();
    _ = writeln!(std::io::stderr().lock(), "{}", lines.join("\n"));
}

/// The name at the beginning of lines.
static SPEAKER: Mutex<&str> = Mutex::new("ncirrus");

fn speaker() -> &'static str {
    *SPEAKER.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Lines begin with the name of a tool until this is dropped.
pub(crate) struct SpeakerName(&'static str);

impl SpeakerName {
    pub(crate) fn set(name: &'static str) -> Self {
        Self(std::mem::replace(&mut SPEAKER.lock().unwrap_or_else(PoisonError::into_inner), name))
    }
}

impl Drop for SpeakerName {
    fn drop(&mut self) {
        *SPEAKER.lock().unwrap_or_else(PoisonError::into_inner) = self.0;
    }
}

/// A name from elsewhere without control characters and line breaks.
pub(crate) fn escaped(name: &str) -> Cow<'_, str> {
    if !name.contains(char::is_control) {
        return Cow::Borrowed(name);
    }
    let letters = name.chars().map(|letter| {
        if letter.is_control() { letter.escape_default().to_string() } else { letter.to_string() }
    });
    Cow::Owned(letters.collect())
}

/// One line without control characters.
pub(crate) fn plain(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '\n' | '\r' => line.push(' '),
            letter if letter.is_control() => line.extend(letter.escape_default()),
            letter => line.push(letter),
        }
    }
    line
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
}
