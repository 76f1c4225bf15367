//! The programs that tests compare with: Debian's netCDF tools, and a Python environment of the project's own.
mod interpreters;

use crate::run::{Outcome, command, command_in, project, target};
use interpreters::Interpreter;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The Python that has the peers: the one that `NCIRRUS_PEERS_PYTHON` names, otherwise the project's own environment.
pub(crate) fn python() -> PathBuf {
    named("NCIRRUS_PEERS_PYTHON", ".venv")
}

/// The oldest Python on which all tests run, with the peers that support it; its packages are installed.
pub(crate) fn oldest_python() -> Result<PathBuf, String> {
    installed(OLDEST.0, OLDEST.1, |python| packages(python, REQUIREMENTS))
}

/// The reason why the tests cannot run on the oldest Python here.
pub(crate) fn without_oldest_python() -> Option<String> {
    let is_there = named(OLDEST.0, OLDEST.1).exists() || interpreters::oldest_tested().is_some();
    (!is_there).then(|| format!("no Python 3.{} was found", interpreters::OLDEST_TESTED))
}

/// The variable that names the oldest Python, and the project's own environment of it.
const OLDEST: (&str, &str) = ("NCIRRUS_OLDEST_PYTHON", ".venv-oldest");
/// The programs that tests compare with.
const REQUIREMENTS: &str = "peers/requirements.txt";

/// The Python of one environment for each interpreter that was found, without peers: the package is tried in all of them.
pub(crate) fn interpreters() -> Vec<PathBuf> {
    interpreters::SUPPORTED.map(python_without_peers).filter(|python| python.exists()).collect()
}

fn python_without_peers(minor: u32) -> PathBuf {
    target().join("peers").join(format!("python3.{minor}")).join("bin/python")
}

/// The Python that builds the site of the documentation and checks its spelling; its packages are installed.
pub(crate) fn site_python() -> Result<PathBuf, String> {
    installed("NCIRRUS_SITE_PYTHON", ".venv-site", |python| packages(python, "peers/site.txt"))
}

/// The Python that has cfdm and CFAPyX: the one that `NCIRRUS_CFA_PYTHON` names, otherwise an environment of the
/// project's own.
pub(crate) fn cfa_python() -> PathBuf {
    named("NCIRRUS_CFA_PYTHON", ".venv-cfa")
}

/// The Python that has cf-python, which requires older packages than the others.
pub(crate) fn cf_python() -> PathBuf {
    named("NCIRRUS_CF_PYTHON", ".venv-cf")
}

/// The Python that has Iris, which brings a good many packages of its own.
fn iris_python() -> PathBuf {
    named("NCIRRUS_IRIS_PYTHON", ".venv-iris")
}

/// The Python that has what wheels and the command for other systems are built with; its packages are installed.
pub(crate) fn release_python() -> Result<PathBuf, String> {
    installed("NCIRRUS_RELEASE_PYTHON", ".venv-release", |python| {
        environment(python)?;
        pip(python, &["install", "--quiet", "-r", "peers/release.txt"])
    })
}

/// The Python that a variable names, which is used as it is; otherwise the project's own, after installing what it needs.
fn installed(
    variable: &str,
    environment: &str,
    install: impl FnOnce(&Path) -> Outcome,
) -> Result<PathBuf, String> {
    let python = named(variable, environment);
    if std::env::var_os(variable).is_none() {
        install(&python)?;
    }
    Ok(python)
}

fn named(variable: &str, environment: &str) -> PathBuf {
    let own = || project().join(environment).join("bin/python");
    std::env::var_os(variable).map_or_else(own, PathBuf::from)
}

/// Installs what is missing; running it again takes a second. Debian's packages and npm's are installed beside those of
/// Python, which take as long.
pub(crate) fn install() -> Outcome {
    if !on_path("python3") {
        debian(DEBIAN)?;
    }
    remove_outdated()?;
    std::thread::scope(|scope| {
        let programs = scope.spawn(|| debian(DEBIAN).and_then(|()| azurite()).and_then(|()| axe()));
        let pythons = python_environments();
        programs.join().map_err(|_| "a thread panicked".to_owned())?.and(pythons)
    })?;
    // Its metadata are made with Debian's library.
    netcdf4_sdist(&pin("netCDF4")?)?;
    s3netcdf4_sdist()
}

fn python_environments() -> Outcome {
    python_packages(REQUIREMENTS)?;
    packages(&cfa_python(), "peers/cfa.txt")?;
    packages(&cf_python(), "peers/cf.txt")?;
    packages(&iris_python(), "peers/iris.txt")?;
    interpreters::found().iter().try_for_each(environment_without_peers)
}

/// An environment that contains only what the package needs. It is made without pip, which takes seconds to install.
fn environment_without_peers(interpreter: &Interpreter) -> Outcome {
    let python = python_without_peers(interpreter.minor);
    if let (false, Some(folder)) = (python.exists(), python.parent().and_then(Path::parent)) {
        let (program, folder) = (interpreter.program.to_string_lossy(), folder.to_string_lossy());
        command(&program, &["-m", "venv", "--clear", "--without-pip", &folder], &[])?;
    }
    let list = "peers/interpreters.txt";
    with_uv(&python, list).or_else(|_| {
        println!("uv cannot install {list}: pip does");
        pip(&self::python(), &["--python", &python.to_string_lossy(), "install", "--quiet", "-r", list])
    })
}

/// Removes the project's own environment if there is a newer Python now than the one that it was made with.
fn remove_outdated() -> Outcome {
    if std::env::var_os("NCIRRUS_PEERS_PYTHON").is_some() {
        return Ok(());
    }
    let _uv = one_at_a_time("uv")?;
    let _environments = one_at_a_time("environments")?;
    let folder = project().join(".venv");
    let settings = std::fs::read_to_string(folder.join("pyvenv.cfg")).unwrap_or_default();
    let old = interpreters::minor_of_environment(&settings);
    let (Some(old), Some(newest)) = (old, interpreters::newest()) else { return Ok(()) };
    if old >= newest.minor {
        return Ok(());
    }
    println!("{} has Python 3.{old}; it is made again with 3.{}", folder.display(), newest.minor);
    std::fs::remove_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))
}

/// Programs and the Debian packages that have them.
const DEBIAN: &[(&str, &str)] = &[
    ("ncdump", "netcdf-bin"),
    ("h5dump", "hdf5-tools"),
    ("ncks", "nco"),
    ("python3", "python3"),
    ("cc", "gcc"),
    ("g++", "g++"),
    ("nc-config", "libnetcdf-dev"),
    ("gfortran", "gfortran"),
    ("nf-config", "libnetcdff-dev"),
    ("ncxx4-config", "libnetcdf-c++4-dev"),
    ("cdo", "cdo"),
    ("cmake", "cmake"),
    ("make", "make"),
    ("pkg-config", "pkg-config"),
    ("udunits2", "udunits-bin"),
    ("npm", "npm"),
    ("chromium", "chromium"),
    ("chromedriver", "chromium-driver"),
];

/// Installs Azure's emulator into a folder of the project's own, unless `NCIRRUS_PEERS_AZURITE` names one.
fn azurite() -> Outcome {
    let is_there = project().join(".node/node_modules/.bin/azurite-blob").exists();
    if is_there || std::env::var_os("NCIRRUS_PEERS_AZURITE").is_some() {
        return Ok(());
    }
    command("npm", &["install", "--prefix", ".node", "--no-save", "--no-audit", "--no-fund", AZURITE], &[])
}

/// Installs the checker of accessibility into the same folder, unless `NCIRRUS_PEERS_AXE` names its script.
fn axe() -> Outcome {
    let is_there = project().join(".node/node_modules/axe-core/axe.min.js").exists();
    if is_there || std::env::var_os("NCIRRUS_PEERS_AXE").is_some() {
        return Ok(());
    }
    command(
        "npm",
        &["install", "--prefix", ".node", "--no-save", "--no-audit", "--no-fund", AXE, AZURITE],
        &[],
    )
}

/// The checker of accessibility, pinned.
const AXE: &str = "axe-core@4.14.1";
/// The emulator, pinned.
const AZURITE: &str = "azurite@3.35.0";

/// The tests of netCDF4-python: the folder `test` of its sdist, unpacked below cargo's build folder.
pub(crate) fn netcdf4_tests() -> Result<PathBuf, String> {
    Ok(netcdf4_home(&pin("netCDF4")?).join("test"))
}

fn netcdf4_home(version: &str) -> PathBuf {
    target().join("peers").join(format!("netcdf4-{version}"))
}

/// Fetches the sdist of a version of netCDF4-python, if it is not there: the folder with its tests.
pub(crate) fn netcdf4_sdist(version: &str) -> Result<PathBuf, String> {
    let source = netcdf4_home(version);
    // Older ones are spelt with capitals.
    sdist(&source, "netCDF4", version, &["netcdf4", "netCDF4"], (&[], &[]))?;
    Ok(source.join("test"))
}

/// Fetches the sdist of S3netCDF4, if it is not there: its tests run on ours.
fn s3netcdf4_sdist() -> Outcome {
    let home = target().join("peers");
    let backend = home.join("backend");
    let package = backend.join("setuptools");
    create(&package)?;
    for (name, text) in [("__init__.py", ""), ("build_meta.py", include_str!("peers/backend.py"))] {
        let path = package.join(name);
        std::fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    let environment = [("PYTHONPATH", &*backend.to_string_lossy())];
    let source = home.join(format!("s3netcdf4-{S3NETCDF4}"));
    sdist(
        &source,
        "S3netCDF4",
        S3NETCDF4,
        &["S3netCDF4", "s3netcdf4"],
        (&["--no-build-isolation"], &environment),
    )
}

/// The last version of S3netCDF4.
const S3NETCDF4: &str = "2.1rc1";

/// Fetches and unpacks the sdist of a package, whose archive has one of these names, if its folder `test` is not there.
fn sdist(
    source: &Path,
    package: &str,
    version: &str,
    names: &[&str],
    (options, environment): (&[&str], &[(&str, &str)]),
) -> Outcome {
    if source.join("test").exists() {
        return Ok(());
    }
    let home = target().join("peers").join("sdist");
    create(&home)?;
    create(source)?;
    let (folder, requirement) = (home.to_string_lossy(), format!("{package}=={version}"));
    let pip = ["-m", "pip", "--disable-pip-version-check", "download", "--quiet", "--no-deps"];
    let rest = ["--no-binary", package, "--dest", &folder, &requirement];
    command(&python().to_string_lossy(), &[&pip[..], options, &rest].concat(), environment)?;
    let names = names.iter().map(|name| home.join(format!("{name}-{version}.tar.gz")));
    let archive =
        names.into_iter().find(|name| name.exists()).ok_or(format!("pip left no archive of {package}"))?;
    command_in(source, "tar", &["xzf", &archive.to_string_lossy(), "--strip-components=1"])
}

fn create(folder: &Path) -> Outcome {
    std::fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))
}

/// The pinned version of a Python package.
fn pin(package: &str) -> Result<String, String> {
    let list = project().join(REQUIREMENTS);
    let text = std::fs::read_to_string(&list).map_err(|error| format!("{}: {error}", list.display()))?;
    let pin = text.lines().find_map(|line| line.strip_prefix(package)?.strip_prefix("=="));
    let pin = pin.and_then(|pin| pin.split(';').next()).map(|pin| pin.trim().to_owned());
    pin.ok_or_else(|| format!("{}: {package} has no pin", list.display()))
}

/// Installs Python packages into the project's own environment.
pub(crate) fn python_packages(list: &str) -> Outcome {
    packages(&python(), list)
}

/// Installs Python packages into the environment of a Python, which is created if it does not exist.
fn packages(python: &Path, list: &str) -> Outcome {
    environment(python)?;
    if with_uv(python, list).is_ok() {
        return Ok(());
    }
    println!("uv cannot install {list}: pip does");
    pip(python, &["install", "--quiet", "-r", list])?;
    // pip only prints that packages installed before require other versions.
    pip(python, &["check", "--quiet"])
}

/// Creates the environment of a Python if it does not exist.
fn environment(python: &Path) -> Outcome {
    let _one = one_at_a_time("environments")?;
    if let (false, Some(folder)) = (python.exists(), python.parent().and_then(Path::parent)) {
        let interpreter = interpreter_of(python);
        let make = || command(&interpreter, &["-m", "venv", &folder.to_string_lossy()], &[]);
        make_whole(folder, make, || apt(&["python3-venv"]))?;
    }
    Ok(())
}

/// The interpreter that makes the environment of a Python: the newest for most peers, the oldest that is tested, and for
/// peers that require older packages the one that is called `python3`.
fn interpreter_of(python: &Path) -> String {
    let is = |(variable, folder)| python == named(variable, folder);
    let found = match () {
        () if python == self::python() => interpreters::newest(),
        () if is(OLDEST) => interpreters::oldest_tested(),
        () => None,
    };
    found.map_or_else(|| "python3".to_owned(), |found| found.program.to_string_lossy().into_owned())
}

/// Makes a folder, again after installing what that may lack. A new folder is removed if this fails: without
/// `python3-venv` Debian leaves an environment that has Python but not pip, which would be taken for a whole one.
fn make_whole(folder: &Path, make: impl Fn() -> Outcome, install: impl FnOnce() -> Outcome) -> Outcome {
    let is_new = !folder.exists();
    let made = make().or_else(|_| install().and_then(|()| make()));
    if made.is_err() && is_new {
        // Why it could not be made matters more than why it could not be removed.
        _ = std::fs::remove_dir_all(folder);
    }
    made
}

/// A lock on an installation, which is held until it is dropped: the stage `docs` installs packages while `peers`, a process of
/// its own, may still be installing others. The order of these locks is `uv`, `environments`, `apt`.
fn one_at_a_time(what: &str) -> Result<File, String> {
    let path = target().join(format!("{what}.lock"));
    let described = |error: std::io::Error| format!("{}: {error}", path.display());
    std::fs::create_dir_all(target()).map_err(described)?;
    let file = File::create(&path).map_err(described)?;
    file.lock().map_err(described)?;
    Ok(file)
}

/// By uv, of the project's own environment: it takes a sixth of the processor time of pip, and environments share files.
fn with_uv(python: &Path, list: &str) -> Outcome {
    let uv = uv()?;
    let (uv, python) = (uv.to_string_lossy(), python.to_string_lossy());
    // It does not read the settings of pip.
    let settings = [
        ("SSL_CERT_FILE", "PIP_CERT"),
        ("UV_DEFAULT_INDEX", "PIP_INDEX_URL"),
        ("UV_INDEX", "PIP_EXTRA_INDEX_URL"),
    ];
    let settings: Vec<(&str, String)> =
        settings.into_iter().filter_map(|(ours, pips)| Some((ours, std::env::var(pips).ok()?))).collect();
    let settings: Vec<(&str, &str)> = settings.iter().map(|(name, value)| (*name, value.as_str())).collect();
    command(&uv, &["pip", "install", "--quiet", "--python", &python, "-r", list], &settings)?;
    command(&uv, &["pip", "check", "--quiet", "--python", &python], &settings)
}

/// The program uv of the project's own environment; both are installed if they do not exist.
fn uv() -> Result<PathBuf, String> {
    let _one = one_at_a_time("uv")?;
    let own = python();
    let uv = own.with_file_name(crate::run::program("uv"));
    if !uv.exists() {
        environment(&own)?;
        pip(&own, &["install", "--quiet", &format!("uv=={}", pin("uv")?)])?;
    }
    Ok(uv)
}

fn pip(python: &Path, arguments: &[&str]) -> Outcome {
    let all = [&["-m", "pip", "--disable-pip-version-check"], arguments].concat();
    command(&python.to_string_lossy(), &all, &[])
}

/// Installs the Debian packages of programs that are not on the path.
pub(crate) fn debian(programs: &[(&str, &str)]) -> Outcome {
    let missing: Vec<&str> =
        programs.iter().filter(|(program, _)| !on_path(program)).map(|(_, package)| *package).collect();
    if missing.is_empty() { Ok(()) } else { apt(&missing) }
}

fn apt(packages: &[&str]) -> Outcome {
    let _one = one_at_a_time("apt")?;
    println!("installing {}", packages.join(", "));
    let sudo: &[&str] = if is_root() { &[] } else { &["sudo"] };
    let run = |rest: &[&str]| {
        let all: Vec<&str> =
            sudo.iter().copied().chain(["apt-get", "-qq"]).chain(rest.iter().copied()).collect();
        let (program, arguments) = all.split_first().ok_or("nothing to run")?;
        command(program, arguments, &[("DEBIAN_FRONTEND", "noninteractive")])
    };
    let failed = |error| format!("{error}; install these Debian packages by hand: {}", packages.join(" "));
    run(&["update"]).map_err(failed)?;
    let install: Vec<&str> =
        ["install", "--yes", "--no-install-recommends"].into_iter().chain(packages.iter().copied()).collect();
    run(&install).map_err(failed)
}

fn on_path(program: &str) -> bool {
    let Some(path) = std::env::var_os("PATH") else { return false };
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

pub(crate) fn is_root() -> bool {
    Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout.starts_with(b"0\n"))
}

#[cfg(test)]
mod tests {
    use super::make_whole;

    #[test]
    fn environments_that_cannot_be_made_whole_are_removed() {
        let top = std::env::temp_dir().join(format!("ncirrus-xtask-{}", std::process::id()));
        let folder = top.join("venv");
        let half = || {
            std::fs::create_dir_all(folder.join("bin")).unwrap();
            Err("no pip".to_owned())
        };
        assert_eq!(make_whole(&folder, half, || Ok(())), Err("no pip".to_owned()));
        assert!(!folder.exists());
        assert_eq!(make_whole(&folder, half, || Err("no apt".to_owned())), Err("no apt".to_owned()));
        assert!(!folder.exists());
        // What was there before stays.
        std::fs::create_dir_all(&folder).unwrap();
        assert!(make_whole(&folder, half, || Ok(())).is_err());
        assert!(folder.exists());
        std::fs::remove_dir_all(&top).unwrap();
    }
}
