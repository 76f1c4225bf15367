//! `ncirrus manual`: pages of all commands and tools, from the table that reads their command lines.
use crate::CommandStatus;
use crate::tools::{NetcdfTool, TOOLS};
use clap::{Args as ClapArgs, Command};
use ncirrus::store::fault::of_io;
use ncirrus::{Result, Session};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

/// Write manual pages of all commands and of netCDF's programs into a folder.
#[derive(ClapArgs)]
#[command(after_help = "Examples:
  ncirrus manual man1               ncirrus.1, ncirrus-copy.1, ncdump.1 ...
  ncirrus manual --markdown pages   the same as Markdown")]
pub(crate) struct Args {
    /// The folder; it is made if it is not there, and pages in it are replaced.
    folder: PathBuf,
    /// Markdown, a page for each command.
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
    clap_mangen::generate_to(crate::command_table(), folder)?;
    TOOLS.iter().try_for_each(|tool| clap_mangen::generate_to(tool.command(), folder))
}

/// A page for each command and tool.
fn write_markdown(folder: &Path) -> std::io::Result<()> {
    let mut table = crate::command_table().term_width(100);
    table.build();
    let commands = table.get_subcommands().filter(|command| command.get_name() != "help");
    for command in commands {
        let name = command.get_name().to_owned();
        let page = match NetcdfTool::named(&name) {
            Some(tool) => page(tool.command().term_width(100), tool.name),
            None => page(command.clone().term_width(100), &format!("ncirrus {name}")),
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
