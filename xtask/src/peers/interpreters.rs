//! The Python interpreters of this computer.
use std::path::PathBuf;
use std::process::Command;

/// Minor versions of Python 3: those that the package supports and that exist.
pub(super) const SUPPORTED: std::ops::RangeInclusive<u32> = 10..=14;
/// The oldest version on which all tests run.
pub(super) const OLDEST_TESTED: u32 = 11;

/// An interpreter of CPython.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Interpreter {
    /// The minor version: 13 of 3.13.
    pub(super) minor: u32,
    /// The program itself, not a script that starts it.
    pub(super) program: PathBuf,
}

/// One interpreter of each supported version that is found, the newest first: `python3.N` on the path, otherwise in the
/// folders of pyenv.
pub(super) fn found() -> Vec<Interpreter> {
    SUPPORTED.rev().filter_map(|minor| candidates(minor).into_iter().find_map(tried)).collect()
}

/// The interpreter that makes the project's own environment.
pub(super) fn newest() -> Option<Interpreter> {
    found().into_iter().find(|interpreter| interpreter.minor >= OLDEST_TESTED)
}

/// The interpreter of the oldest version on which all tests run.
pub(super) fn oldest_tested() -> Option<Interpreter> {
    candidates(OLDEST_TESTED).into_iter().find_map(tried)
}

/// Programs that are probably interpreters of a version.
fn candidates(minor: u32) -> Vec<PathBuf> {
    let name = crate::run::program(&format!("python3.{minor}"));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let on_path = std::env::split_paths(&path).map(|folder| folder.join(&name));
    let of_pyenv = pyenv_versions().into_iter().map(|folder| folder.join("bin").join(&name));
    on_path.chain(of_pyenv).filter(|program| program.is_file()).collect()
}

/// The folders of the versions that pyenv has installed.
fn pyenv_versions() -> Vec<PathBuf> {
    let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".pyenv"));
    let root = std::env::var_os("PYENV_ROOT").map(PathBuf::from).or_else(home);
    let entries = root.and_then(|root| std::fs::read_dir(root.join("versions")).ok());
    let mut folders: Vec<PathBuf> =
        entries.into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    folders.sort();
    folders
}

/// The interpreter that a program starts. A script of pyenv starts none if that version is not selected, and a
/// free-threaded interpreter cannot load the package.
fn tried(program: PathBuf) -> Option<Interpreter> {
    let output = Command::new(program).args(["-c", DESCRIBE]).output().ok()?;
    let described = String::from_utf8(output.stdout).ok().filter(|_| output.status.success())?;
    parsed(&described)
}

/// Prints the minor version and the program, that of an environment's interpreter, if environments can be made with it.
const DESCRIBE: &str = "import sys, sysconfig, venv\n\
                        assert not sysconfig.get_config_var('Py_GIL_DISABLED')\n\
                        print(sys.version_info[1], getattr(sys, '_base_executable', sys.executable))";

fn parsed(described: &str) -> Option<Interpreter> {
    let (minor, program) = described.trim_end().split_once(' ')?;
    Some(Interpreter { minor: minor.parse().ok()?, program: PathBuf::from(program) })
}

/// The minor version of the interpreter of an environment, by the text of its `pyvenv.cfg`.
pub(super) fn minor_of_environment(settings: &str) -> Option<u32> {
    let fields = settings.lines().filter_map(|line| line.split_once('='));
    let version = fields
        .into_iter()
        .find_map(|(name, value)| ["version", "version_info"].contains(&name.trim()).then(|| value.trim()))?;
    version.strip_prefix("3.")?.split('.').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_found_newest_first() {
        let minors: Vec<u32> = found().iter().map(|interpreter| interpreter.minor).collect();
        assert!(minors.is_sorted_by(|newer, older| newer > older), "{minors:?}");
        assert!(minors.iter().all(|minor| SUPPORTED.contains(minor)), "{minors:?}");
    }

    #[test]
    fn versions_of_environments_are_read_from_their_settings() {
        let by_venv = "home = /usr/bin\nversion = 3.11.7\nexecutable = /usr/bin/python3.11\n";
        assert_eq!(minor_of_environment(by_venv), Some(11));
        assert_eq!(minor_of_environment("home = /usr/bin\nversion_info = 3.13.0.final.0\n"), Some(13));
        assert_eq!(minor_of_environment("home = /usr/bin\n"), None);
    }

    #[test]
    fn paths_of_interpreters_may_contain_blanks() {
        let found = parsed("13 /opt/my python/bin/python3.13\n");
        assert_eq!(found, Some(Interpreter { minor: 13, program: "/opt/my python/bin/python3.13".into() }));
        assert_eq!(parsed("pyenv: python3.13: command not found"), None);
    }
}
