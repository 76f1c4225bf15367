//! `ncirrus link`: links to the program with the names of netCDF's programs.
use crate::CommandStatus;
use crate::tools::{NetcdfTool, TOOLS};
use clap::Args as ClapArgs;
use ncirrus::store::fault::of_io;
use ncirrus::{Error, ErrorKind, Result, Session};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Make links to ncirrus with the names of netCDF's programs.
///
/// Called by such a name, ncirrus is that program.
#[derive(ClapArgs)]
#[command(before_long_help = "Examples:
  ncirrus link ~/bin         ncdump, ncgen, ncgen3 and nccopy
  ncirrus link ~/bin ncdump  ncdump only")]
pub(crate) struct Args {
    /// Folder of the links; it is made if it does not exist.
    folder: PathBuf,
    /// Names of the links [default: all].
    names: Vec<String>,
}

pub(crate) fn run(args: &Args, _: &Session) -> Result<CommandStatus> {
    let all = TOOLS.iter().map(|tool| tool.name);
    if let Some(unknown) = args.names.iter().find(|name| NetcdfTool::named(name).is_none()) {
        let names: Vec<&str> = all.collect();
        return Err(Error::invalid(format!("{unknown:?} is not one of {}", names.join(", "))));
    }
    let names: Vec<&str> =
        if args.names.is_empty() { all.collect() } else { args.names.iter().map(String::as_str).collect() };
    let program = std::env::current_exe().map_err(|error| of_io(error, "ncirrus"))?;
    let links: Vec<PathBuf> = names.iter().map(|name| args.folder.join(file_name(name))).collect();
    fs::create_dir_all(&args.folder).map_err(|error| of_io(error, args.folder.display()))?;
    // No link is made if one of them cannot be made.
    links.iter().try_for_each(|link| check(link))?;
    links.iter().try_for_each(|link| make(link, &program).map_err(|error| of_io(error, link.display())))?;
    Ok(CommandStatus::SUCCESS)
}

fn file_name(name: &str) -> String {
    format!("{name}{}", std::env::consts::EXE_SUFFIX)
}

/// Checks that a link may be made: the path does not exist, or is a link to a program `ncirrus`.
fn check(link: &Path) -> Result<()> {
    match fs::symlink_metadata(link) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(of_io(error, link.display())),
        Ok(_) => {
            let target = fs::read_link(link).ok();
            let is_ours = target.and_then(|target| Some(target.file_stem()? == "ncirrus")) == Some(true);
            let message = "it exists and is not a link to ncirrus: it is not replaced";
            if is_ours {
                Ok(())
            } else {
                Err(Error::new(ErrorKind::Conflict, message).at_object(link.display()))
            }
        }
    }
}

fn make(link: &Path, program: &Path) -> io::Result<()> {
    match fs::remove_file(link) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    #[cfg(unix)]
    return std::os::unix::fs::symlink(program, link);
    #[cfg(not(unix))]
    return fs::hard_link(program, link).or_else(|_| fs::copy(program, link).map(|_| ()));
}
