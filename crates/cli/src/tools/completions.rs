//! `ncirrus completions`: scripts that complete the command line in shells.
use crate::CommandStatus;
use crate::commands::{StandardOutput, finish};
use crate::help::HelpLength;
use crate::tools::TOOLS;
use clap::{Args as ClapArgs, ValueEnum};
use clap_complete::Shell;
use ncirrus::{Result, Session};
use std::io::Write;

/// Print a script for a shell that completes commands and options.
///
/// The script is for ncirrus and for netCDF's programs.
#[derive(ClapArgs)]
#[command(before_long_help = "Examples:
  eval \"$(ncirrus completions bash)\"  in ~/.bashrc: complete command lines
  ncirrus completions zsh             print the script for another shell")]
pub(crate) struct Args {
    /// The shell: bash, zsh, fish or powershell.
    #[arg(value_enum)]
    shell: ShellName,
}

/// Shells with completion.
#[derive(Clone, Copy, ValueEnum)]
enum ShellName {
    Bash,
    Zsh,
    Fish,
    Powershell,
}

pub(crate) fn run(args: &Args, _: &Session) -> Result<CommandStatus> {
    let shell = match args.shell {
        ShellName::Bash => Shell::Bash,
        ShellName::Zsh => Shell::Zsh,
        ShellName::Fish => Shell::Fish,
        ShellName::Powershell => Shell::PowerShell,
    };
    // The generator does not expect writing to fail.
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut crate::command_table(HelpLength::Manual), "ncirrus", &mut script);
    for tool in &TOOLS {
        clap_complete::generate(shell, &mut tool.command(), tool.name, &mut script);
    }
    let mut out = StandardOutput::new();
    finish(out.write_all(&script).and_then(|()| out.flush()))
}
