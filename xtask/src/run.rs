//! Running other programs.
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};

/// Success, or a message that says what failed.
pub(crate) type Outcome = Result<(), String>;

/// The root folder of the project.
pub(crate) fn project() -> PathBuf {
    let mut path = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    path.pop();
    path
}

/// The folder that cargo builds in.
pub(crate) fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| project().join("target"), PathBuf::from)
}

/// The file of a program.
pub(crate) fn program(name: &str) -> String {
    format!("{name}{}", std::env::consts::EXE_SUFFIX)
}

/// How many processors there are.
pub(crate) fn processors() -> usize {
    std::thread::available_parallelism().map_or(2, usize::from)
}

/// How many tests run at once: one more than processors, since many wait for servers and disks.
pub(crate) fn concurrent_tests() -> String {
    (processors() + 1).to_string()
}

/// Runs cargo in the project's folder.
pub(crate) fn cargo(arguments: &[&str]) -> Outcome {
    command("cargo", arguments, &[])
}

/// Runs a program in the project's folder with further environment variables.
pub(crate) fn command(program: &str, arguments: &[&str], environment: &[(&str, &str)]) -> Outcome {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(project()).envs(environment.iter().copied());
    finish(&mut command, program)
}

/// Runs a program in a folder.
pub(crate) fn command_in(folder: &Path, program: &str, arguments: &[&str]) -> Outcome {
    finish(Command::new(program).args(arguments).current_dir(folder), program)
}

/// What a program prints that succeeds, run in the project's folder with further environment variables.
pub(crate) fn output(
    program: &str,
    arguments: &[&str],
    environment: &[(&str, &str)],
) -> Result<String, String> {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(project()).envs(environment.iter().copied());
    without_own_variables(&mut command);
    let output = command.output().map_err(|error| format!("{program} cannot be run: {error}"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{command:?} ended with {}: {}", output.status, said.trim_end()));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// How a program ends, or nothing if it does not within a time: it is killed then.
pub(crate) fn ended_within(program: &mut Child, time: Duration) -> std::io::Result<Option<ExitStatus>> {
    let start = Instant::now();
    loop {
        if let Some(status) = program.try_wait()? {
            return Ok(Some(status));
        }
        if start.elapsed() > time {
            _ = program.kill();
            _ = program.wait();
            return Ok(None);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Whether cargo sets an environment variable for the package that it runs.
fn is_of_cargo(name: &str) -> bool {
    ["CARGO_PKG_", "CARGO_MANIFEST_"].iter().any(|prefix| name.starts_with(prefix))
}

/// A build script that depends on these variables, such as ring's, would run again, and everything above it would be built again.
fn without_own_variables(command: &mut Command) {
    let own = std::env::vars_os().map(|(name, _)| name).filter(|name| is_of_cargo(&name.to_string_lossy()));
    own.for_each(|name| _ = command.env_remove(name));
    // Tests start hundreds of Python processes, each of which would compile every module that it imports.
    if std::env::var_os("PYTHONPYCACHEPREFIX").is_none() {
        command.env("PYTHONPYCACHEPREFIX", absolute(target().join("pycache")));
    }
    command.env_remove("PYTHONDONTWRITEBYTECODE");
    // What helps to compile a changed crate again costs time when everything is compiled once.
    if std::env::var_os("CI").is_some() && std::env::var_os("CARGO_INCREMENTAL").is_none() {
        command.env("CARGO_INCREMENTAL", "0");
    }
}

/// Programs run in folders of their own, where a relative path names another folder in each.
fn absolute(path: PathBuf) -> PathBuf {
    std::path::absolute(&path).unwrap_or(path)
}

fn finish(command: &mut Command, program: &str) -> Outcome {
    without_own_variables(command);
    let status = command.status().map_err(|error| format!("{program} cannot be run: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("{command:?} ended with {status}")) }
}

#[cfg(test)]
mod tests {
    use super::absolute;

    #[test]
    fn relative_paths_are_those_of_this_process() {
        let here = std::env::current_dir().unwrap();
        assert_eq!(absolute("build/pycache".into()), here.join("build/pycache"));
        assert_eq!(absolute(here.clone()), here);
    }
}
