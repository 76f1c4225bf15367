//! Command lines as POSIX's `getopt` of the GNU C library reads them.
use std::ffi::OsString;

/// A command line in its parts.
#[derive(Debug, Default)]
pub(super) struct Flags {
    /// In the order given.
    pub(super) given: Vec<Flag>,
    pub(super) operands: Vec<String>,
}

/// One flag; its value is empty if it has none.
#[derive(Debug)]
pub(super) struct Flag {
    pub(super) letter: char,
    pub(super) value: String,
}

impl Flags {
    /// Reads the arguments after the program's name. `known` has the letters of all flags, a colon behind those that
    /// have a value. Flags may be bundled, follow operands, and have their value attached or apart; `--` ends them.
    ///
    /// # Errors
    /// A message for the user.
    pub(super) fn parse(known: &str, arguments: &[OsString]) -> Result<Self, String> {
        let mut all = Self::default();
        let mut rest = arguments.iter();
        let text = |argument: &OsString| {
            let text = argument.to_str().map(str::to_owned);
            text.ok_or_else(|| format!("argument {} is not UTF-8", argument.to_string_lossy()))
        };
        while let Some(argument) = rest.next() {
            let argument = text(argument)?;
            if argument == "--" {
                for operand in rest.by_ref() {
                    all.operands.push(text(operand)?);
                }
                break;
            }
            let Some(bundle) = argument.strip_prefix('-').filter(|bundle| !bundle.is_empty()) else {
                all.operands.push(argument);
                continue;
            };
            for (at, letter) in bundle.char_indices() {
                let found = known.find(letter).filter(|_| letter != ':');
                let found = found.ok_or_else(|| format!("invalid option -- '{letter}'"))?;
                let has_value =
                    known.get(found + letter.len_utf8()..).is_some_and(|rest| rest.starts_with(':'));
                if !has_value {
                    all.given.push(Flag { letter, value: String::new() });
                    continue;
                }
                let attached = bundle.get(at + letter.len_utf8()..).unwrap_or_default();
                let value = match (attached, rest.len()) {
                    ("", 0) => return Err(format!("option requires an argument -- '{letter}'")),
                    ("", _) => rest.next().map(text).transpose()?.unwrap_or_default(),
                    (attached, _) => attached.to_owned(),
                };
                all.given.push(Flag { letter, value });
                break;
            }
        }
        Ok(all)
    }
}
