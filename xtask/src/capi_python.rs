//! netCDF4-python's own tests on our library: Debian's package, and the wheel with its library preloaded by ours:
//! `cargo xtask capi-python`.
use crate::comparison::{PassedTests, compare};
use crate::run::{Outcome, project, target};
use crate::{capi, peers};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Tests that pass with the original library and not with ours, each with the reason.
const EXCEPTIONS: &str = include_str!("capi_python_exceptions.tsv");

/// A Python with netCDF4-python, and how its library is replaced.
struct Candidate {
    name: &'static str,
    python: PathBuf,
    variable: &'static str,
    /// What the variable names in the folder of the library.
    file: &'static str,
    /// Whether the library that it comes with is loaded as well.
    keeps_its_own: bool,
}

fn candidates() -> [Candidate; 2] {
    [
        Candidate {
            name: "debian",
            python: PathBuf::from("/usr/bin/python3"),
            variable: "LD_LIBRARY_PATH",
            file: "",
            keeps_its_own: false,
        },
        // Its library has a name of its own, by which its module finds it.
        Candidate {
            name: "wheel",
            python: peers::python(),
            variable: "LD_PRELOAD",
            file: "libnetcdf.so.19",
            keeps_its_own: true,
        },
    ]
}

/// Runs the tests of both, or of one, with both libraries; ours may be installed below a folder.
pub(crate) fn run(arguments: &[String]) -> Outcome {
    let only = arguments.first().map_or("", String::as_str);
    peers::debian(&[("/usr/lib/python3/dist-packages/netCDF4/__init__.py", "python3-netcdf4")])?;
    let library = capi::library_folder(arguments.get(1))?;
    let mut wrong = Vec::new();
    for candidate in candidates().iter().filter(|candidate| candidate.name.contains(only)) {
        println!("{}", candidate.name);
        if let Err(message) = compared(candidate, &library) {
            wrong.push(format!("{}: {message}", candidate.name));
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("; ")) }
}

fn compared(candidate: &Candidate, library: &Path) -> Outcome {
    if candidate.keeps_its_own {
        check_bound(candidate, library)?;
    }
    let version = answered(candidate, None, "import netCDF4; print(netCDF4.__version__)")?;
    answered(candidate, Some(library), "import netCDF4")?;
    let tests = peers::netcdf4_sdist(version.trim())?;
    let (reference, loaded) = outcomes(candidate, &tests, "original", None)?;
    if loaded.iter().any(|path| path.contains("ncirrus")) {
        return Err(format!("the original runs on {loaded:?}"));
    }
    let (found, loaded) = outcomes(candidate, &tests, "own", Some(library))?;
    let own = |path: &str| Path::new(path).starts_with(library);
    let others = loaded.iter().filter(|path| !own(path)).count();
    if !loaded.iter().any(|path| own(path)) || others != usize::from(candidate.keeps_its_own) {
        return Err(format!("{loaded:?} were loaded"));
    }
    compare(&reference, &found, EXCEPTIONS)
}

/// A command of a Python, with its own library or with ours.
fn python(candidate: &Candidate, library: Option<&Path>) -> Command {
    let mut command = Command::new(&candidate.python);
    // Servers that the tests ask may be away.
    command.env("NO_NET", "1");
    if let Some(library) = library {
        let place = if candidate.file.is_empty() { library.to_owned() } else { library.join(candidate.file) };
        command.env(candidate.variable, place);
    }
    command
}

fn answered(candidate: &Candidate, library: Option<&Path>, code: &str) -> Result<String, String> {
    printed(python(candidate, library).args(["-c", code]))
}

fn printed(command: &mut Command) -> Result<String, String> {
    let output = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    if !output.status.success() {
        return Err(format!("{command:?}: {}: {}", output.status, String::from_utf8_lossy(&output.stderr)));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Runs the tests in a copy of their folder: how each ended, and the netCDF libraries that were loaded.
fn outcomes(
    candidate: &Candidate,
    tests: &Path,
    who: &str,
    library: Option<&Path>,
) -> Result<(PassedTests, BTreeSet<String>), String> {
    let folder = target().join("capi-python").join(candidate.name).join(who);
    _ = fs::remove_dir_all(&folder);
    let parent = folder.parent().unwrap_or(&folder);
    fs::create_dir_all(parent).map_err(|error| format!("{}: {error}", parent.display()))?;
    printed(Command::new("cp").arg("-a").arg(tests).arg(&folder))?;
    let script = project().join("crates/capi/tests/python/each.py");
    let mut command = python(candidate, library);
    let text = printed(command.arg(script).args(["tst_*.py", "test_*.py"]).current_dir(&folder))?;
    let (mut passed, mut loaded) = (PassedTests::new(), BTreeSet::new());
    for (name, outcome) in text.lines().filter_map(|line| line.split_once('\t')) {
        if name == "loaded" {
            loaded.extend(outcome.split_whitespace().map(str::to_owned));
        } else if outcome != "skipped" {
            passed.insert(name.to_owned(), outcome == "passed");
        }
    }
    Ok((passed, loaded))
}

/// Fails unless the loader binds everything that the module imports from netCDF to ours, although the library that it
/// comes with is loaded, too.
fn check_bound(candidate: &Candidate, library: &Path) -> Outcome {
    let said = target().join("capi-python/bindings");
    fs::create_dir_all(&said).map_err(|error| format!("{}: {error}", said.display()))?;
    let mut command = python(candidate, Some(library));
    command.env("LD_BIND_NOW", "1").env("LD_DEBUG", "bindings").env("LD_DEBUG_OUTPUT", said.join("of"));
    printed(command.args(["-c", "import netCDF4"]))?;
    let (mut names, mut others) = (BTreeSet::new(), Vec::new());
    for entry in fs::read_dir(&said).map_err(|error| format!("{}: {error}", said.display()))?.flatten() {
        let text = fs::read(entry.path()).map_err(|error| format!("{}: {error}", said.display()))?;
        for line in String::from_utf8_lossy(&text).lines() {
            let Some((name, place)) = binding(line) else { continue };
            names.insert(name.to_owned());
            if !Path::new(place).starts_with(library) {
                others.push(format!("{name} of {place}"));
            }
        }
        _ = fs::remove_file(entry.path());
    }
    println!("{} names are bound to ours", names.len() - others.len());
    // It imports that many; fewer would mean that the loader's output has another form.
    if names.len() < 100 || !others.is_empty() {
        return Err(format!("{} names are bound, not to ours: {others:?}", names.len()));
    }
    Ok(())
}

/// The name of netCDF's library that the loader has bound for the module, and the file where it found it.
fn binding(line: &str) -> Option<(&str, &str)> {
    let (from, rest) = line.split_once("binding file ")?.1.split_once(" to ")?;
    let (place, rest) = rest.split_once(" [")?;
    let name = rest.split(['`', '\'']).nth(1)?;
    (from.contains("_netCDF4") && name.starts_with("nc")).then_some((name, place))
}

#[cfg(test)]
mod tests {
    use super::binding;

    #[test]
    fn what_the_loader_says_of_the_module_is_found() {
        let line = "  9: binding file /a/_netCDF4.so [0] to /b/libnetcdf.so.19 [0]: normal symbol `nc_open'";
        assert_eq!(binding(line), Some(("nc_open", "/b/libnetcdf.so.19")));
        assert_eq!(binding(&line.replace("nc_open", "malloc")), None);
        assert_eq!(binding(&line.replace("_netCDF4", "numpy")), None);
    }
}
