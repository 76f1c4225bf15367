//! `ncirrus completions`: what shells need to complete the command line.
use crate::CommandStatus;
use crate::commands::{StandardOutput, finish};
use crate::tools::TOOLS;
use clap::{Args as ClapArgs, ValueEnum};
use clap_complete::Shell;
use ncirrus::{Result, Session};
use std::io::Write;

/// Print a script that completes the commands and options of ncirrus and of netCDF's programs in a shell.
#[derive(ClapArgs)]
#[command(after_help = "Examples:
  ncirrus completions bash                    print it
  eval \"$(ncirrus completions bash)\"          use it: in ~/.bashrc")]
pub(crate) struct Args {
    /// The shell.
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
    clap_complete::generate(shell, &mut crate::command_table(), "ncirrus", &mut script);
    for tool in &TOOLS {
        clap_complete::generate(shell, &mut tool.command(), tool.name, &mut script);
    }
    let mut out = StandardOutput::new();
    finish(out.write_all(&script).and_then(|()| out.flush()))
}
