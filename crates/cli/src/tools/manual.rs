//! `ncirrus manual`: pages of all commands and tools, from the table that parses their command lines.
use crate::CommandStatus;
use crate::help::{HelpLength, MAX_WIDTH};
use crate::tools::{NetcdfTool, TOOLS};
use clap::{Args as ClapArgs, Command};
use ncirrus::store::fault::of_io;
use ncirrus::{Result, Session};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

/// Write manual pages of all commands and of netCDF's programs to a folder.
#[derive(ClapArgs)]
#[command(before_long_help = "Examples:
  ncirrus manual man1               ncirrus.1, ncirrus-copy.1, ncdump.1 ...
  ncirrus manual --markdown pages   the same as Markdown")]
pub(crate) struct Args {
    /// Folder of the pages; it is made if it does not exist.
    ///
    /// Pages in it are replaced.
    folder: PathBuf,
    /// Write Markdown, a page for each command.
    #[arg(long)]
    markdown: bool,
}

pub(crate) fn run(args: &Args, _: &Session) -> Result<CommandStatus> {
    let folder = &args.folder;
    let failed = |error| of_io(error, folder.display());
    fs::create_dir_all(folder).map_err(failed)?;
    let written = if args.markdown { write_markdown(folder) } else { write_manual(folder) };
    written.map_err(failed)?;
    Ok(CommandStatus::SUCCESS)
}

fn write_manual(folder: &Path) -> std::io::Result<()> {
    clap_mangen::generate_to(with_examples_last(crate::command_table(HelpLength::Manual)), folder)?;
    TOOLS.iter().try_for_each(|tool| clap_mangen::generate_to(tool.command(), folder))
}

/// Manual pages show the text after the options only: it includes the examples.
fn with_examples_last(command: Command) -> Command {
    let command = command.mut_subcommands(with_examples_last);
    let Some(examples) = command.get_before_long_help().map(ToString::to_string) else { return command };
    let rules = command.get_after_long_help().map(|rules| format!("\n\n{rules}")).unwrap_or_default();
    command.after_long_help(examples + &rules)
}

/// A page for each command and tool.
fn write_markdown(folder: &Path) -> std::io::Result<()> {
    let mut table = crate::command_table(HelpLength::Manual).term_width(MAX_WIDTH);
    table.build();
    let commands = table.get_subcommands().filter(|command| command.get_name() != "help");
    for command in commands {
        let name = command.get_name().to_owned();
        let page = match NetcdfTool::named(&name) {
            Some(tool) => page(tool.command().term_width(MAX_WIDTH), tool.name),
            None => page(command.clone().term_width(MAX_WIDTH), &format!("ncirrus {name}")),
        };
        fs::write(folder.join(format!("{name}.md")), page)?;
    }
    Ok(())
}

fn page(mut command: Command, title: &str) -> String {
    let mut page = format!("# {title}\n\n```text\n");
    let help = command.render_long_help().to_string();
    help.lines().for_each(|line| _ = writeln!(page, "{}", line.trim_end()));
    page.push_str("```\n");
    page
}
