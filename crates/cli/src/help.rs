//! The help of commands in three lengths: `-h` shows the most used options, `--help` all options of the command with a
//! line each, `ncirrus help COMMAND` its manual page.
//!
//! A command declares its examples as `before_long_help` and its rules as `after_long_help`. The first paragraph of an
//! option's documentation is its line, the others are in the manual page alone. Options with `hide_short_help` are not
//! shown by `-h`; options below a heading are in the manual page alone.
use clap::builder::StyledStr;
use clap::{Arg, ArgAction, Command};
use std::ffi::OsString;
use std::fmt::Write as _;

/// How much of the help is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HelpLength {
    /// `-h`.
    Brief,
    /// `--help`.
    Listing,
    /// `help COMMAND`.
    Manual,
}

impl HelpLength {
    /// The length that a command line requests, if it requests help. Nothing else depends on it.
    pub(crate) fn of(arguments: &[OsString]) -> Self {
        let has = |word: &str| arguments.iter().skip(1).any(|argument| argument == word);
        match (has("--help"), has("help")) {
            (true, _) => Self::Listing,
            (false, true) => Self::Manual,
            (false, false) => Self::Brief,
        }
    }

    /// The maximum number of examples.
    fn max_examples(self) -> usize {
        match self {
            Self::Brief => 2,
            Self::Listing => 3,
            Self::Manual => usize::MAX,
        }
    }
}

/// Lines of the help have at most this many columns.
pub(crate) const MAX_WIDTH: usize = 100;

const TEMPLATE: &str = "{about-with-newline}\n{before-help}{usage-heading} {usage}\n\n{all-args}{after-help}";
const TEMPLATE_WITHOUT_OPTIONS: &str =
    "{about-with-newline}\n{before-help}{usage-heading} {usage}{after-help}";

/// The commands by what they are for, in the order of the help.
const GROUPS: &[(&str, &[&str])] = &[
    (
        "Inspect",
        &[
            "info",
            "dump",
            #[cfg(feature = "plot")]
            "plot",
            #[cfg(feature = "serve")]
            "view",
            #[cfg(feature = "serve")]
            "serve",
            "ls",
            "explain",
            "compare",
            "check",
            "filters",
            "keys",
            "log",
            "fragments",
        ],
    ),
    (
        "Write",
        &[
            "copy",
            "generate",
            "append",
            "optimize",
            "reference",
            "aggregate",
            "split",
            "relocate",
            "rm",
            "clean",
        ],
    ),
    ("Set up", &["config", "whoami", "link", "completions", "manual", "help"]),
    ("netCDF", &["ncdump", "ncgen", "ncgen3", "nccopy"]),
];

/// clap adds the command `help` later.
const ABOUT_HELP: &str = "Print the manual page of a command: every option, more examples";

/// Gives the commands of `table` their help.
pub(crate) fn of_commands(table: Command, length: HelpLength) -> Command {
    let everywhere: Vec<String> = headed_options(&table);
    table.mut_subcommands(|command| of_command(command, length, "ncirrus", &everywhere))
}

fn of_command(command: Command, length: HelpLength, parent: &str, everywhere: &[String]) -> Command {
    let path = format!("{parent} {}", command.get_name());
    let mut others = headed_options(&command);
    others.extend_from_slice(everywhere);
    let command = with_examples(with_help_option(command), length)
        .mut_args(|arg| shown(arg, length))
        .mut_subcommands(|below| of_command(below, length, &path, everywhere));
    if length == HelpLength::Manual {
        return command.help_template(TEMPLATE);
    }
    let has_lines =
        command.has_subcommands() || command.get_arguments().any(|arg| !arg.is_hide_short_help_set());
    let manual = path.replacen("ncirrus", "ncirrus help", 1);
    let more = match length {
        HelpLength::Brief => format!("`{path} --help` lists all options, `{manual}` explains them."),
        _ => format!("Other options, explained by `{manual}`: {}", others.join(", ")),
    };
    command.help_template(if has_lines { TEMPLATE } else { TEMPLATE_WITHOUT_OPTIONS }).after_help(more)
}

/// Gives the program its help: its commands in groups.
pub(crate) fn of_program(table: Command, length: HelpLength) -> Command {
    let groups = match length {
        HelpLength::Brief => names_by_group(),
        _ => lines_by_group(&table),
    };
    let options = if length == HelpLength::Manual { "\n\nOptions:\n{options}" } else { "" };
    // The list of all commands fits two screens without this blank line.
    let blank = if length == HelpLength::Listing { "" } else { "\n" };
    let template = format!(
        "{{about-with-newline}}{blank}{{before-help}}{{usage-heading}} {{usage}}\n\n{groups}{options}{{after-help}}"
    );
    let more = match length {
        HelpLength::Brief => {
            "`ncirrus --help` describes the commands, `ncirrus COMMAND -h` shows how to use one."
        }
        _ => {
            "`ncirrus COMMAND --help` lists options. `ncirrus help` lists those of all commands, and exit codes."
        }
    };
    with_examples(with_help_option(table), length)
        .mut_args(|arg| shown(arg, length))
        .help_template(template)
        .after_help(more)
}

fn names_by_group() -> String {
    let mut text = String::from("Commands:");
    for (heading, names) in GROUPS {
        _ = write!(text, "\n  {heading:<7}  {}", names.join(", "));
    }
    text
}

fn lines_by_group(table: &Command) -> String {
    let mut text = String::new();
    for (heading, names) in GROUPS {
        _ = write!(text, "{}{heading}:", if text.is_empty() { "" } else { "\n\n" });
        for name in *names {
            let about = table.find_subcommand(name).and_then(Command::get_about).map(ToString::to_string);
            _ = write!(text, "\n  {name:<11}  {}", about.as_deref().unwrap_or(ABOUT_HELP));
        }
    }
    text
}

/// Options below a heading: those of the session, and of aggregations.
fn headed_options(command: &Command) -> Vec<String> {
    let headed = command.get_arguments().filter(|arg| arg.get_help_heading().is_some());
    headed.filter_map(Arg::get_long).map(|name| format!("--{name}")).collect()
}

fn with_help_option(command: Command) -> Command {
    if command.get_arguments().any(|arg| arg.get_id() == "help") {
        return command;
    }
    let help = "Print help: -h shows the most used options, --help all options of the command";
    command
        .disable_help_flag(true)
        .arg(Arg::new("help").short('h').long("help").action(ArgAction::HelpShort).help(help))
}

fn with_examples(command: Command, length: HelpLength) -> Command {
    let Some(all) = command.get_before_long_help().map(StyledStr::to_string) else { return command };
    let lines = all.lines().take(length.max_examples().saturating_add(1));
    let examples = lines.collect::<Vec<_>>().join("\n");
    command.before_help(examples)
}

/// An option as that length of the help shows it. Lines name the possible values themselves.
fn shown(arg: Arg, length: HelpLength) -> Arg {
    let is_manual_only = arg.get_help_heading().is_some() || arg.get_id() == "help";
    let hide = match length {
        HelpLength::Manual => return arg,
        HelpLength::Listing => is_manual_only,
        HelpLength::Brief => is_manual_only || arg.is_hide_short_help_set(),
    };
    let takes_values = arg.get_action().takes_values();
    arg.hide_short_help(hide).hide_possible_values(takes_values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_command_is_in_one_group() {
        let table = crate::command_table(HelpLength::Manual);
        let mut names: Vec<&str> = table.get_subcommands().map(Command::get_name).chain(["help"]).collect();
        let mut grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        names.sort_unstable();
        grouped.sort_unstable();
        assert_eq!(names, grouped);
    }

    #[test]
    fn lines_of_options_name_their_values() {
        let table = crate::command_table(HelpLength::Listing);
        for command in table.get_subcommands() {
            for arg in command.get_arguments().filter(|arg| arg.get_help_heading().is_none()) {
                let line = arg.get_help().map(ToString::to_string).unwrap_or_default();
                let values = arg.get_possible_values();
                let unnamed: Vec<&str> = values
                    .iter()
                    .filter(|value| !value.is_hide_set() && arg.get_action().takes_values())
                    .map(|value| value.get_name())
                    .filter(|name| !line.contains(name))
                    .collect();
                assert!(unnamed.is_empty(), "{} {arg}: {unnamed:?}", command.get_name());
            }
        }
    }

    #[test]
    fn the_length_is_that_of_the_help_that_is_requested() {
        let of = |line: &str| HelpLength::of(&line.split(' ').map(OsString::from).collect::<Vec<_>>());
        assert_eq!(of("ncirrus copy -h"), HelpLength::Brief);
        assert_eq!(of("ncirrus"), HelpLength::Brief);
        assert_eq!(of("ncirrus copy --help"), HelpLength::Listing);
        assert_eq!(of("ncirrus help copy"), HelpLength::Manual);
    }
}
