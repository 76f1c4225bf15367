//! The command line of a tool: options in the order given, of which the last one counts, and operands.
use super::{NetcdfTool, ToolFailure, ToolOption};
use clap::ArgMatches;

/// The name of operands in clap's table.
pub(super) const OPERANDS: &str = "operands";

/// An option without a value.
pub(crate) const fn flag(letter: char, help: &'static str) -> ToolOption {
    ToolOption { letter, value: None, help }
}

/// An option with a value.
pub(crate) const fn valued(letter: char, value: &'static str, help: &'static str) -> ToolOption {
    ToolOption { letter, value: Some(value), help }
}

/// A command line in its parts.
pub(crate) struct ToolLine {
    /// In the order given.
    pub(crate) flags: Vec<Flag>,
    pub(crate) operands: Vec<String>,
}

/// One option; its value is empty if it has none.
pub(crate) struct Flag {
    pub(crate) letter: char,
    pub(crate) value: String,
}

impl ToolLine {
    /// The command line as clap parsed it.
    pub(super) fn new(tool: &NetcdfTool, matches: &ArgMatches) -> Self {
        let mut flags = Vec::new();
        for option in tool.options {
            let id = option.letter.to_string();
            let places = matches.indices_of(&id).into_iter().flatten();
            if option.value.is_some() {
                let values = matches.get_many::<String>(&id).into_iter().flatten().cloned();
                flags.extend(
                    places.zip(values).map(|(at, value)| (at, Flag { letter: option.letter, value })),
                );
            } else if matches.get_flag(&id) {
                flags.extend(places.map(|at| (at, Flag { letter: option.letter, value: String::new() })));
            }
        }
        flags.sort_by_key(|(at, _)| *at);
        let operands = matches.get_many::<String>(OPERANDS).into_iter().flatten().cloned().collect();
        Self { flags: flags.into_iter().map(|(_, flag)| flag).collect(), operands }
    }

    /// Whether an option was given.
    pub(crate) fn has(&self, letter: char) -> bool {
        self.flags.iter().any(|flag| flag.letter == letter)
    }

    /// The last value of an option.
    pub(crate) fn value(&self, letter: char) -> Option<&str> {
        self.flags.iter().rev().find(|flag| flag.letter == letter).map(|flag| flag.value.as_str())
    }

    /// The level of `-L N`: requests are logged as with `NCTRACING=N`.
    ///
    /// # Errors
    /// If it is not a number.
    pub(super) fn trace_level(&self) -> Result<Option<u64>, ToolFailure> {
        let Some(text) = self.value('L') else { return Ok(None) };
        let level = text.parse().map_err(|_| ToolFailure::new(1, format!("invalid log level: {text}")))?;
        Ok(Some(level))
    }
}
