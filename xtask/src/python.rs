//! The Python package: built into the project's environment and tested there, and packaged as wheels.
use crate::run::{self, Outcome, project, target};
use crate::{capi, peers};
use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
use std::path::{Path, PathBuf};

/// Builds the package as it ships into the project's environment, then runs its tests (arguments are passed to pytest)
/// and, without arguments, checks its types.
pub(crate) fn test(arguments: &[String]) -> Outcome {
    build()?;
    if !arguments.is_empty() {
        return pytest(arguments.iter().map(String::as_str));
    }
    all_tests()?;
    size_of_package()
}

/// The same on the oldest Python on which all tests run.
pub(crate) fn test_oldest(arguments: &[String]) -> Outcome {
    let python = peers::oldest_python()?;
    let arguments: Vec<&str> =
        ["xtask", "python"].into_iter().chain(arguments.iter().map(String::as_str)).collect();
    run::command("cargo", &arguments, &[("NCIRRUS_PEERS_PYTHON", &python.to_string_lossy())])
}

/// All tests, in as many processes as there are processors; the types are checked beside them.
fn all_tests() -> Outcome {
    let folder = project().join("crates/python/tests").to_string_lossy().into_owned();
    let temporary = target().join("pytest").to_string_lossy().into_owned();
    let processes = run::concurrent_tests();
    let parallel = ["--numprocesses", &processes, "--dist", "worksteal", "--basetemp", &temporary, &folder];
    std::thread::scope(|scope| {
        let types = scope.spawn(types);
        let tests = pytest(parallel);
        types.join().map_err(|_| "a thread panicked".to_owned())?.and(tests)
    })
}

fn pytest<'a>(arguments: impl IntoIterator<Item = &'a str>) -> Outcome {
    let all: Vec<&str> = ["-m", "pytest", "-q"].into_iter().chain(arguments).collect();
    python(&all)
}

/// What ships fits a wheel: the package's files, compressed as in one.
fn size_of_package() -> Outcome {
    let folder = project().join("crates/python/python/ncirrus");
    let script = "import pathlib, sys, zlib\n\
                  kept = [path for path in pathlib.Path(sys.argv[1]).rglob('*') if path.suffix in ('.py', '.pyi', '.so')]\n\
                  bytes = sum(len(zlib.compress(path.read_bytes(), 9)) for path in kept)\n\
                  print(f'the package, compressed: {bytes / 2**20:.1f} MiB')\n\
                  sys.exit(f'at most {sys.argv[2]} bytes are allowed, not {bytes}' if bytes > int(sys.argv[2]) else 0)";
    python(&["-c", script, &folder.to_string_lossy(), &MAX_BYTES.to_string()])
}

/// Builds the extension module as it ships and installs the package, editable, in the project's environment.
pub(crate) fn build() -> Outcome {
    // The server of the benchmarks, which tests of object stores use. With the tests of Rust, which are there already: without
    // them the crates would have fewer features, and all of them were built again.
    let server =
        ["build", "--quiet", "--profile", "checked", "--workspace", "--tests", "--bin", "ncirrus-bench"];
    run::cargo(&server)?;
    build_module()?;
    let module = target().join("release").join(format!("{}_ncirrus{}", DLL_PREFIX, DLL_SUFFIX));
    let sources = project().join("crates/python/python");
    python(&["-c", EDITABLE, &module.to_string_lossy(), &sources.to_string_lossy()])
}

/// Everything that ships: the command, the C library, the extension module.
pub(crate) fn build_release() -> Outcome {
    capi::build(&[])?;
    build_module()
}

/// With the C library, so that other crates have the same features as in its build.
fn build_module() -> Outcome {
    let packages = ["--package", "ncirrus-capi", "--package", "ncirrus-python", "--lib"];
    run::cargo(&[&["build", "--quiet", "--release"], &packages[..]].concat())
}

/// Installs what cargo has built as `maturin develop` would, which builds it again.
const EDITABLE: &str = include_str!("python/editable.py");

/// The package's type annotations are right and complete, and the examples conform to them.
fn types() -> Outcome {
    python(&["-m", "mypy"])?;
    python(&[
        "-m",
        "mypy.stubtest",
        "ncirrus",
        "--ignore-disjoint-bases",
        "--mypy-config-file",
        "pyproject.toml",
    ])?;
    python(&["-m", "pyright", "--verifytypes", "ncirrus", "--ignoreexternal"])
}

/// Builds the sdist and the wheel, as they are published, and tries the wheel in an environment that has neither Rust nor
/// a network.
pub(crate) fn wheel(_: &[String]) -> Outcome {
    try_out(&build_wheel()?.1)
}

/// The sdist and the wheel, as they are published, in `wheels` below cargo's build folder; the wheel is checked by auditwheel.
pub(crate) fn build_wheel() -> Result<(PathBuf, PathBuf), String> {
    let folder = target().join("wheels");
    // Leftovers of an earlier run would be tried as well; it is fine if there are none.
    let _ = std::fs::remove_dir_all(&folder);
    let out = folder.to_string_lossy().into_owned();
    let python = peers::release_python()?;
    let tool = |arguments: &[&str]| {
        let path = path_of_tools(&python);
        let all = [&["-m"], arguments].concat();
        run::command(&python.to_string_lossy(), &all, &[("PATH", &path)])
    };
    tool(&["maturin", "sdist", "--out", &out])?;
    let build = ["maturin", "build", "--release", "--quiet", "--zig", "--compatibility", OLDEST];
    tool(&[&build[..], &["--compression-level", "9", "--out", &out]].concat())?;
    let wheel = file_in(&folder, ".whl")?;
    let shown = wheel.to_string_lossy();
    tool(&["auditwheel", "show", &shown])?;
    let bytes = std::fs::metadata(&wheel).map_err(|error| format!("{shown}: {error}"))?.len();
    println!("{shown}: {:.1} MiB", bytes as f64 / f64::from(1 << 20));
    if bytes > MAX_BYTES {
        return Err(format!("the wheel has {bytes} bytes, at most {MAX_BYTES} are allowed"));
    }
    Ok((file_in(&folder, ".tar.gz")?, wheel))
}

/// The oldest Linux that the wheel runs on.
const OLDEST: &str = "manylinux_2_28";
/// Maximum number of bytes of a wheel.
const MAX_BYTES: u64 = 25 << 20;

fn file_in(folder: &Path, ending: &str) -> Result<PathBuf, String> {
    let described = |error: std::io::Error| format!("{}: {error}", folder.display());
    let entries =
        std::fs::read_dir(folder).map_err(described)?.collect::<Result<Vec<_>, _>>().map_err(described)?;
    let mut files = entries.into_iter().map(|entry| entry.path());
    let found = files.find(|path| path.to_string_lossy().ends_with(ending));
    found.ok_or_else(|| format!("{}: no file *{ending} was made", folder.display()))
}

/// Installs the wheel into a fresh environment, without an index and without cargo on the path, and copies a dataset.
fn try_out(wheel: &Path) -> Outcome {
    let environment = target().join("wheels").join("environment");
    let folder = environment.to_string_lossy();
    run::command("python3", &["-m", "venv", &folder], &[])?;
    let python = environment.join("bin/python").to_string_lossy().into_owned();
    // numpy is its only dependency, and is installed before the index is disabled.
    run::command(&python, &["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "numpy"], &[])?;
    let bare = [("PATH", "/usr/bin:/bin"), ("PIP_NO_INDEX", "1"), ("PYTHONPATH", "")];
    let wheel = wheel.to_string_lossy();
    run::command(
        &python,
        &["-m", "pip", "install", "--quiet", "--disable-pip-version-check", &wheel],
        &bare,
    )?;
    let copy = format!("{folder}/sst.zarr");
    let command = environment.join("bin/ncirrus").to_string_lossy().into_owned();
    run::command(&command, &["copy", "--overwrite", "examples/sst.nc", &copy], &bare)?;
    let script = "import sys, ncirrus\n\
                  one, two = ncirrus.open(sys.argv[1]), ncirrus.open(sys.argv[2])\n\
                  assert list(one.variables) == list(two.variables)\n\
                  assert all((one[name][...] == two[name][...]).all() for name in one.variables)";
    run::command(&python, &["-c", script, "examples/sst.nc", &copy], &bare)
}

/// A program of the project's environment.
fn python(arguments: &[&str]) -> Outcome {
    let python = peers::python();
    let (path, sources, server) = (path_of_tools(&python), project().join("crates/python/python"), server());
    let tests = peers::netcdf4_tests()?;
    let interpreters = std::env::join_paths(peers::interpreters()).map_err(|error| error.to_string())?;
    let environment = python.parent().and_then(Path::parent).unwrap_or(Path::new(""));
    let environment = [
        ("VIRTUAL_ENV", environment.to_string_lossy()),
        ("PATH", path.into()),
        ("PYTHONPATH", sources.to_string_lossy()),
        ("NCIRRUS_BENCH", server.to_string_lossy()),
        ("NCIRRUS_NETCDF4_TESTS", tests.to_string_lossy()),
        ("NCIRRUS_PYTHONS", interpreters.to_string_lossy()),
    ];
    let environment: Vec<(&str, &str)> = environment.iter().map(|(name, value)| (*name, &**value)).collect();
    run::command(&python.to_string_lossy(), arguments, &environment)
}

/// The path with the programs of the environment first: pyright runs the `python` on it to find out what is installed.
pub(crate) fn path_of_tools(python: &Path) -> String {
    let rest = std::env::var("PATH").unwrap_or_default();
    match python.parent() {
        Some(folder) => format!("{}:{rest}", folder.display()),
        None => rest,
    }
}

fn server() -> PathBuf {
    target().join("checked").join(run::program("ncirrus-bench"))
}
