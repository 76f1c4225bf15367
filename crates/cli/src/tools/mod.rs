//! netCDF's programs by their own names: `ncirrus ncdump`, or a link `ncdump` to this program.
//!
//! Each has a table of its options. Parsing, help, manual pages and completions are derived from it.
pub(crate) mod completions;
mod line;
pub(crate) mod link;
pub(crate) mod manual;
mod nccopy;
mod ncdump;
mod ncgen;

pub(crate) use line::{Flag, ToolLine, flag, valued};

use crate::CommandStatus;
use crate::message;
use crate::session::SessionOptions;
use clap::{Arg, ArgAction, Command};
use ncirrus::{Error, Session};
use std::ffi::OsString;
use std::path::Path;

/// One of netCDF's programs.
pub(crate) struct NetcdfTool {
    pub(crate) name: &'static str,
    /// What it does, in a line.
    pub(crate) about: &'static str,
    /// Its operands, as the usage shows them.
    pub(crate) operands: &'static str,
    pub(crate) options: &'static [ToolOption],
    /// Lines of an example and what it does.
    pub(crate) examples: &'static str,
    /// The exit code for unknown options.
    pub(crate) unknown_option: u8,
    pub(crate) run: fn(&ToolLine, &Session) -> Result<CommandStatus, ToolFailure>,
}

/// One option of a tool.
pub(crate) struct ToolOption {
    pub(crate) letter: char,
    /// The name of its value, if it has one.
    pub(crate) value: Option<&'static str>,
    pub(crate) help: &'static str,
}

/// All tools, in the order of the help.
pub(crate) static TOOLS: [NetcdfTool; 4] = [ncdump::TOOL, ncgen::NCGEN, ncgen::NCGEN3, nccopy::TOOL];

/// The failure of a tool: its exit code, and its message on standard error.
pub(crate) struct ToolFailure {
    code: u8,
    message: String,
    shows_usage: bool,
}

impl ToolFailure {
    /// A failure with a message.
    pub(crate) fn new(code: u8, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), shows_usage: false }
    }

    /// An invalid command line. The usage is shown after the message; an empty message is not shown.
    pub(crate) fn usage(code: u8, message: impl Into<String>) -> Self {
        Self { shows_usage: true, ..Self::new(code, message) }
    }
}

impl From<Error> for ToolFailure {
    fn from(error: Error) -> Self {
        Self::new(1, error.to_string())
    }
}

impl NetcdfTool {
    /// The tool of that name.
    pub(crate) fn named(name: &str) -> Option<&'static Self> {
        TOOLS.iter().find(|tool| tool.name == name)
    }

    /// The table of its options for clap.
    pub(crate) fn command(&self) -> Command {
        let options = self.options.iter().map(|option| {
            let arg = Arg::new(option.letter.to_string()).short(option.letter).help(option.help);
            match option.value {
                Some(name) => arg.value_name(name).action(ArgAction::Append).allow_hyphen_values(true),
                None => arg.action(ArgAction::SetTrue).overrides_with(option.letter.to_string()),
            }
        });
        Command::new(self.name)
            .about(self.about)
            .disable_help_flag(true)
            .disable_version_flag(true)
            .override_usage(format!("{} [OPTION]... {}", self.name, self.operands))
            .after_help(format!("Examples:\n{}", self.examples))
            .max_term_width(crate::help::MAX_WIDTH)
            .args(options)
            .arg(Arg::new(line::OPERANDS).hide(true).num_args(0..).action(ArgAction::Append))
    }

    /// Runs the tool with the arguments after its name.
    pub(crate) fn run(
        &self,
        arguments: impl IntoIterator<Item = OsString>,
        session: &SessionOptions,
    ) -> CommandStatus {
        let _name = message::SpeakerName::set(self.name);
        self.ended(self.read(arguments).and_then(|line| self.run_line(&line, session)))
    }

    fn read(&self, arguments: impl IntoIterator<Item = OsString>) -> Result<ToolLine, ToolFailure> {
        let matches = self.command().no_binary_name(true).try_get_matches_from(arguments);
        Ok(ToolLine::new(self, &matches.map_err(|error| self.misread(&error))?))
    }

    fn run_line(&self, line: &ToolLine, session: &SessionOptions) -> Result<CommandStatus, ToolFailure> {
        session.run(line.trace_level()?, |session| Ok((self.run)(line, session)))?
    }

    fn ended(&self, outcome: Result<CommandStatus, ToolFailure>) -> CommandStatus {
        let failure = match outcome {
            Ok(status) => return status,
            Err(failure) => failure,
        };
        if !failure.message.is_empty() {
            message::print(&failure.message);
        }
        if failure.shows_usage {
            message::print_lines(&self.usage());
        }
        CommandStatus::from(failure.code)
    }

    /// The usage and the options.
    pub(crate) fn usage(&self) -> String {
        self.command().render_help().to_string()
    }

    /// A mistake in the command line, in the words of `getopt`.
    fn misread(&self, error: &clap::Error) -> ToolFailure {
        use clap::error::{ContextKind, ContextValue, ErrorKind};
        let shown = match error.get(ContextKind::InvalidArg) {
            Some(ContextValue::String(shown)) => shown.as_str(),
            _ => "",
        };
        let letter = shown.chars().nth(1).unwrap_or('-');
        let message = match error.kind() {
            ErrorKind::UnknownArgument => format!("invalid option -- '{letter}'"),
            ErrorKind::InvalidValue | ErrorKind::TooFewValues | ErrorKind::WrongNumberOfValues => {
                format!("option requires an argument -- '{letter}'")
            }
            ErrorKind::InvalidUtf8 => "an argument is not UTF-8".to_owned(),
            _ => error.to_string(),
        };
        ToolFailure::usage(self.unknown_option, message)
    }
}

/// The tool with the name that the program was called by: the last part of its path, without `.exe`. Other names that
/// begin with `nc` are errors.
pub(crate) enum CalledAs {
    Ncirrus,
    Tool(&'static NetcdfTool),
    Unknown(String),
}

impl CalledAs {
    pub(crate) fn of(program: &OsString) -> Self {
        let name = Path::new(program).file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let name = match name.len().checked_sub(4).and_then(|at| name.split_at_checked(at)) {
            Some((stem, ending)) if ending.eq_ignore_ascii_case(".exe") => stem,
            _ => name,
        };
        match NetcdfTool::named(name) {
            Some(tool) => Self::Tool(tool),
            None if name.starts_with("nc") && !name.starts_with("ncirrus") => Self::Unknown(name.to_owned()),
            None => Self::Ncirrus,
        }
    }
}

/// Reports an unknown name, and the known ones.
pub(crate) fn print_names(name: &str) -> CommandStatus {
    let _name = message::SpeakerName::set("ncirrus");
    let names: Vec<&str> = TOOLS.iter().map(|tool| tool.name).collect();
    let names = names.join(", ");
    message::print(format_args!("unknown program name {name}: the known names are ncirrus, {names}"));
    CommandStatus::from(crate::exit::USAGE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_are_sound() {
        TOOLS.iter().for_each(|tool| tool.command().debug_assert());
    }

    #[test]
    fn the_name_is_the_last_part_without_exe() {
        for (program, name) in [
            ("/usr/bin/ncdump", Some("ncdump")),
            ("ncdump.EXE", Some("ncdump")),
            ("ncirrus", None),
            ("x", None),
        ] {
            let called = CalledAs::of(&program.into());
            let tool = if let CalledAs::Tool(tool) = called { Some(tool.name) } else { None };
            assert_eq!(tool, name, "{program}");
        }
        assert!(matches!(CalledAs::of(&"/x/ncfoo".into()), CalledAs::Unknown(name) if name == "ncfoo"));
    }
}
