//! Project tasks; `cargo xtask` lists them.
#![forbid(unsafe_code)]
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command that reports to a terminal")]

mod arrows;
mod bench;
mod capi;
mod capi_languages;
mod capi_memory;
mod capi_python;
mod capi_world;
mod circles;
mod citations;
mod coastlines;
mod comparison;
mod debian_source;
mod deny;
mod long;
mod miri;
mod msrv;
mod names;
mod netcdf_c;
mod netcdf_source;
mod netcdf_tools;
mod package;
mod pages;
mod papers;
mod peers;
mod pictures;
mod platforms;
mod programs;
mod prose;
mod python;
mod races;
mod release;
mod run;
mod sanitize;
mod site;
mod spelling;
mod stages;
mod suites;
mod text;
mod unlisted;

use run::{Outcome, cargo};
use std::process::ExitCode;

/// A task: its name, what it does, and its function.
struct Task {
    name: &'static str,
    about: &'static str,
    run: fn(&[String]) -> Outcome,
}

const TASKS: &[Task] = &[
    Task { name: "test", about: "install what tests need, then run every check and test", run: |_| test() },
    Task { name: "peers", about: "install the programs that tests compare with", run: |_| peers::install() },
    Task { name: "ships", about: "build everything that ships", run: |_| python::build_release() },
    Task {
        name: "release",
        about: "everything that is published, tried in fresh systems: [--dirty] [tarball|deb|wheel|sbom|conda|container|crates|roots]",
        run: release::run,
    },
    Task {
        name: "platforms",
        about: "check that the project compiles for Windows and macOS, where rustup has their libraries",
        run: platforms::run,
    },
    Task {
        name: "corpus",
        about: "make a small corpus of every format with the peers: [FOLDER]",
        run: suites::corpus,
    },
    Task { name: "fmt", about: "check the formatting", run: |_| cargo(&["fmt", "--all", "--check"]) },
    Task { name: "lint", about: "run clippy on everything, warnings are errors", run: |_| lint() },
    Task { name: "arrows", about: "check who depends on whom", run: |_| arrows::check() },
    Task {
        name: "names",
        about: "what types are called: single words, repetitions",
        run: |_| names::check(),
    },
    Task { name: "features", about: "compile without each feature", run: |_| features() },
    Task {
        name: "docs",
        about: "check citations, links, prose and spelling, build the documentation, warnings are errors",
        run: |_| docs(),
    },
    Task {
        name: "site",
        about: "build the site of the documentation in target/site",
        run: |_| site::build(&peers::site_python()?),
    },
    Task {
        name: "pictures",
        about: "make the pictures of the README anew, with the release build: [FOLDER OF DATA]",
        run: pictures::make,
    },
    Task { name: "unit", about: "run the tests (arguments go to cargo test)", run: suites::unit },
    Task {
        name: "shipped",
        about: "build the program as it ships and test it: [PART OF A NAME]",
        run: suites::shipped,
    },
    Task {
        name: "python",
        about: "build the Python package as it ships, test it and check its types: [ARGUMENTS OF PYTEST]",
        run: python::test,
    },
    Task {
        name: "python-oldest",
        about: "the same on the oldest Python on which all tests run: [ARGUMENTS OF PYTEST]",
        run: python::test_oldest,
    },
    Task {
        name: "long",
        about: "run all recipes outside of `test`, where it stopped if it was interrupted: [--again] [PART..]",
        run: long::run,
    },
    Task {
        name: "races",
        about: "writers that change one dataset at the same time, and a table: [RACES OF EACH KIND] [--again] [CELL..]",
        run: races::run,
    },
    Task { name: "wheel", about: "make the sdist and the wheel, and try them", run: python::wheel },
    Task {
        name: "coastlines",
        about: "convert the coastlines of `ncirrus plot` anew, from the npm package world-atlas",
        run: |_| coastlines::convert(),
    },
    Task { name: "example", about: "make examples/sst.nc anew", run: |_| example() },
    Task {
        name: "bench",
        about: "measure beside the peers: [FOLDER [ROUNDS [aggregate|capi|cloud|dap|hdf5|memory|netcdf4|python|tools|write|zarr]]]",
        run: bench::run,
    },
    Task {
        name: "fuzz",
        about: "run the fuzz targets over mutated samples: [ROUNDS OF EACH HDF5 FILE]",
        run: suites::fuzz,
    },
    Task {
        name: "stress",
        about: "sixteen threads on one handle, of files and of OPeNDAP servers: [SECONDS] each, ten minutes by default",
        run: stress,
    },
    Task {
        name: "capi",
        about: "build the C library as it ships and install it: PREFIX",
        run: capi::install,
    },
    Task {
        name: "capi-sequences",
        about: "sequences of calls that seeds choose, on Debian's library and on ours: [COUNT [FIRST SEED]]",
        run: capi_sequences,
    },
    Task {
        name: "capi-stress",
        about: "the C library in sixteen threads, and many opens: [SECONDS [OPENS]], an hour and a million by default",
        run: capi_stress,
    },
    Task {
        name: "netcdf-c",
        about: "the C programs of netCDF-C's tests, with Debian's library and with ours: [PART OF A NAME]",
        run: netcdf_c::run,
    },
    Task {
        name: "capi-memory",
        about: "the C library's own programs, or those of netCDF-C's tests, under valgrind: [own|netcdf-c [PART OF A NAME]]",
        run: capi_memory::run,
    },
    Task {
        name: "capi-world",
        about: "GDAL, R, Octave and ncview, with Debian's library and with ours: [PART OF A NAME [PREFIX]]",
        run: capi_world::run,
    },
    Task {
        name: "capi-python",
        about: "netCDF4-python's tests, with its library and with ours: [debian|wheel [PREFIX]]",
        run: capi_python::run,
    },
    Task {
        name: "capi-languages",
        about: "the tests of netCDF for Fortran and C++, with Debian's library and with ours: [PART OF A NAME [PREFIX]]",
        run: capi_languages::run,
    },
    Task {
        name: "netcdf-tools",
        about: "the shell tests of netCDF-C's tools, with Debian's programs, and with ours or on our library: [command|library [PREFIX]]",
        run: netcdf_tools::run,
    },
    Task {
        name: "programs",
        about: "random updates and copies: [HOW MANY [FIRST SEED]]",
        run: programs::run,
    },
    Task {
        name: "deny",
        about: "licences, sources, known faults of what is used: [CHECK..]",
        run: deny::run,
    },
    Task { name: "msrv", about: "the oldest Rust that builds the project", run: msrv::run },
    Task {
        name: "package",
        about: "pack what is published (arguments go to cargo package)",
        run: package::run,
    },
    Task { name: "miri", about: "run what is unsafe in Miri (nightly)", run: miri::run },
    Task {
        name: "sanitize",
        about: "run what is unsafe under the sanitizers: [address|thread]",
        run: sanitize::run,
    },
    Task { name: "cuts", about: "files of the corpus cut off at every byte: [PART OF A NAME]", run: cuts },
    Task {
        name: "silence",
        about: "all of the corpora damaged, each at 40 lengths and with 200 changed bytes",
        run: |_| silence(),
    },
];

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let name = arguments.next().unwrap_or_default();
    let rest: Vec<String> = arguments.collect();
    let Some(task) = TASKS.iter().find(|task| task.name == name) else {
        println!("usage: cargo xtask TASK\n");
        TASKS.iter().for_each(|task| println!("  {:10} {}", task.name, task.about));
        return if name.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    };
    match (task.run)(&rest) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("xtask {name}: {message}");
            ExitCode::FAILURE
        }
    }
}

/// Everything that must hold before a change lands; the cheap checks first.
fn test() -> Outcome {
    stages::all(STAGES, EARLY, |name| {
        let task = TASKS.iter().find(|task| task.name == name).ok_or("no such task")?;
        (task.run)(&[])
    })
}

/// In this order.
const STAGES: &[&str] =
    &["fmt", "arrows", "names", "lint", "docs", "features", "peers", "unit", "ships", "shipped", "python"];

/// Stages that run beside others, and the stage that they begin with: one waits for networks, the other takes processors
/// that the tests leave idle.
const EARLY: &[(&str, &str)] = &[("peers", "fmt"), ("ships", "docs")];

/// In the profile of the tests, as the other stages: build scripts, C libraries and procedural macros are compiled once for all.
fn lint() -> Outcome {
    let command = ["clippy", "--quiet", "--profile", "checked", "--workspace", "--all-targets"];
    cargo(&[&command[..], &["--", "-D", "warnings"]].concat())
}

/// Builds the command without features, and with each half of them; they are features of the facade, which adds what opens
/// addresses.
fn features() -> Outcome {
    let check = |package: &str, kept: &str| {
        let command = ["check", "--quiet", "--profile", "checked", "--no-default-features"];
        cargo(&[&command[..], &["--package", package, "--features", kept]].concat())
    };
    check("ncirrus-store", "")?;
    ["", "zip,http,plot", "cloud,plugins,serve"].into_iter().try_for_each(|kept| check("ncirrus-cli", kept))
}

/// Checks the pages, builds their site and the documentation of the libraries; the comments of the command are its help.
fn docs() -> Outcome {
    citations::check()?;
    papers::check()?;
    pages::check()?;
    prose::check()?;
    let python = peers::site_python()?;
    spelling::check(&python)?;
    site::build(&python)?;
    let commands = ["ncirrus-cli", "ncirrus-bench", "ncirrus-fuzz", "xtask"].map(|name| ["--exclude", name]);
    let arguments =
        [&["doc", "--quiet", "--profile", "checked", "--workspace", "--no-deps"], commands.as_flattened()]
            .concat();
    run::command("cargo", &arguments, &[("RUSTDOCFLAGS", "-D warnings")])
}

/// Creates the file that the README's first command copies.
fn example() -> Outcome {
    cargo(&["run", "--quiet", "--package", "ncirrus", "--example", "make_sst", "--", "examples/sst.nc"])
}

/// A long stress run, for finding rare faults; the tests include a minute.
fn stress(arguments: &[String]) -> Outcome {
    let seconds = arguments.first().map_or("600", String::as_str);
    let python = peers::python();
    let environment =
        [("NCIRRUS_STRESS_SECONDS", seconds), ("NCIRRUS_PEERS_PYTHON", &python.to_string_lossy())];
    for (target, tests) in [("network", "hdf5_stress::"), ("command", "opendap_threads::")] {
        let test = ["test", "--profile", "checked", "--workspace", "--test", target, tests];
        run::command("cargo", &test, &environment)?;
    }
    Ok(())
}

/// The tests do the same for some seconds.
fn capi_stress(arguments: &[String]) -> Outcome {
    let seconds = arguments.first().map_or("3600", String::as_str);
    let opens = arguments.get(1).map_or("1000000", String::as_str);
    let environment = [("NCIRRUS_STRESS_SECONDS", seconds), ("NCIRRUS_CAPI_OPENS", opens)];
    let test = ["test", "--profile", "checked", "--workspace", "--test", "library", "threads::"];
    run::command("cargo", &[&test[..], &["--", "--nocapture"]].concat(), &environment)
}

/// The tests compare some of them.
fn capi_sequences(arguments: &[String]) -> Outcome {
    let count = arguments.first().map_or("100000", String::as_str);
    let first = arguments.get(1).map_or("0", String::as_str);
    let environment = [("NCIRRUS_SEQUENCES", count), ("NCIRRUS_SEQUENCES_FROM", first)];
    let test = ["test", "--profile", "checked", "--workspace", "--test", "library", "sequences::"];
    run::command("cargo", &[&test[..], &["--", "--nocapture"]].concat(), &environment)
}

/// Checks that nothing is lost silently; the tests try a part.
fn silence() -> Outcome {
    let test = [
        "test",
        "--profile",
        "checked",
        "--workspace",
        "--test",
        "formats",
        "silence::",
        "--",
        "--nocapture",
    ];
    run::command("cargo", &test, &[("NCIRRUS_SILENCE", "all")])
}

/// Cuts every file at every length; the tests try some.
fn cuts(arguments: &[String]) -> Outcome {
    let part = arguments.first().map_or("", String::as_str);
    let environment = [("NCIRRUS_CUTS", "all"), ("NCIRRUS_CUTS_OF", part)];
    let test = [
        "test",
        "--profile",
        "checked",
        "--workspace",
        "--test",
        "formats",
        "hdf5_truncation::",
        "--",
        "--nocapture",
    ];
    run::command("cargo", &test, &environment)
}
