//! The wheel, on the Pythons of Debian and of this machine.
use super::system::{System, home};
use super::{Checks, equal};
use crate::peers;
use crate::release::{create, wheel};
use crate::run::{self, Outcome, project};
use std::path::{Path, PathBuf};

/// Installs the wheel on Debian's Python, without an index.
pub(super) fn check(suite: &str, checks: &mut Checks) -> Outcome {
    let system = System::fresh(suite, "python")?;
    system.install(&["python3", "python3-venv"])?;
    let version = version_in(&system)?;
    offline(&system, &version, &["numpy>=1.25"])?;
    let name = name()?;
    system.run("python3 -m venv /v", &[])?;
    if checks.add_installation(&name, || system.run("/v/bin/pip install -q \"/release/$1\"", &[&name])) {
        let read = system.run("/v/bin/python -c \"$1\" /data/sst.nc", &[READ]);
        let what = format!("import and read on Python {version}");
        checks.add(&name, &what, read.and_then(|found| equal(&found, EXPECTED)));
        let notices = format!("test -s /v/lib/python*/site-packages/ncirrus/{}", wheel::NOTICES);
        let found = system.run(&notices, &[]);
        checks.add(&name, "has the licences of what is linked in", found);
    }
    Ok(())
}

/// The wheel's file name.
pub(super) fn name() -> Result<String, String> {
    Ok(wheel::path()?.file_name().unwrap_or_default().to_string_lossy().into_owned())
}

/// The version of a system's Python, such as `3.13`.
pub(super) fn version_in(system: &System) -> Result<String, String> {
    let script = "python3 -c 'import sys; print(\"%d.%d\" % sys.version_info[:2])'";
    Ok(system.run(script, &[])?.trim().to_owned())
}

/// Copies packages with their dependencies into a system, and has its pip take them from there: what is measured does not
/// depend on a network.
pub(super) fn offline(system: &System, version: &str, packages: &[&str]) -> Outcome {
    let folder = home().join(format!("wheels-{version}"));
    create(&folder)?;
    let shown = folder.to_string_lossy().into_owned();
    let mut download =
        vec!["-m", "pip", "--disable-pip-version-check", "download", "--quiet", "--dest", &shown];
    download.extend(["--only-binary", ":all:", "--python-version", version]);
    download.extend(packages);
    run::command(&peers::release_python()?.to_string_lossy(), &download, &[])?;
    for entry in std::fs::read_dir(&folder).map_err(|error| format!("{shown}: {error}"))?.flatten() {
        system.put(&entry.path(), &format!("wheels/{}", entry.file_name().to_string_lossy()))?;
    }
    system
        .run("printf '[install]\\nno-index = true\\nfind-links = /wheels\\n' > /etc/pip.conf", &[])
        .map(|_| ())
}

/// Reads one value of the example.
const READ: &str = "import sys, ncirrus
with ncirrus.open(sys.argv[1]) as dataset:
    print(dataset['sst'].shape, round(float(dataset['sst'][0, 9, 18]), 3))";
const EXPECTED: &str = "(12, 18, 36) 28.4\n";

/// Installs the wheel on each Python of this machine.
pub(super) fn check_here(checks: &mut Checks) -> Outcome {
    checks.root = "this machine".to_owned();
    let name = name()?;
    for version in VERSIONS {
        let what = format!("import and read on Python {version}");
        let outcome = match interpreter(version) {
            Some(python) => use_in_environment(&python, version),
            None => Ok("untried: there is no such interpreter".to_owned()),
        };
        checks.add(&name, &what, outcome);
    }
    Ok(())
}

/// The versions that the package supports.
const VERSIONS: [&str; 5] = ["3.10", "3.11", "3.12", "3.13", "3.14"];

/// On the path, or among the versions that pyenv has installed.
fn interpreter(version: &str) -> Option<PathBuf> {
    let home = std::env::var_os("PYENV_ROOT").map(PathBuf::from);
    let home = home.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".pyenv")));
    let entries = home.and_then(|home| std::fs::read_dir(home.join("versions")).ok());
    let of_pyenv = entries.into_iter().flatten().flatten().filter_map(|entry| {
        let is_version = entry.file_name().to_string_lossy().starts_with(&format!("{version}."));
        is_version.then(|| entry.path().join("bin/python3"))
    });
    let path = std::env::var_os("PATH").unwrap_or_default();
    let on_path: Vec<PathBuf> =
        std::env::split_paths(&path).map(|folder| folder.join(format!("python{version}"))).collect();
    of_pyenv.chain(on_path).find(|python| runs(python))
}

/// Programs of pyenv on the path run only for the version that is selected.
fn runs(python: &Path) -> bool {
    python.is_file() && run::output(&python.to_string_lossy(), &["--version"], &[]).is_ok()
}

fn use_in_environment(python: &Path, version: &str) -> Result<String, String> {
    let environment = home().join(format!("here-{version}"));
    let shown = environment.to_string_lossy();
    run::output(&python.to_string_lossy(), &["-m", "venv", "--clear", &shown], &[])?;
    let python = environment.join("bin/python").to_string_lossy().into_owned();
    let wheel = wheel::path()?;
    let install =
        ["-m", "pip", "--disable-pip-version-check", "install", "--quiet", &wheel.to_string_lossy()];
    run::output(&python, &install, &[])?;
    let example = project().join("examples/sst.nc");
    let read = run::output(&python, &["-c", READ, &example.to_string_lossy()], &[("PYTHONPATH", "")])?;
    equal(&read, EXPECTED)
}
