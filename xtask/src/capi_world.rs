//! Programs that people have, on Debian's library and on ours: `cargo xtask capi-world`.
//!
//! Each script of `crates/capi/tests/world` reads every file that it finds in its folder, prints what it read, and writes files of its
//! own. It runs once with each library, each time in a folder with the same files.
use crate::run::{Outcome, command_in, project, target};
use crate::{capi, peers};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What runs a script, and its name.
const SCRIPTS: [(&str, &str); 4] =
    [("sh", "gdal.sh"), ("Rscript", "ncdf4.R"), ("octave-cli", "netcdf.m"), ("sh", "ncview.sh")];

/// Programs, or files of packages without one, and their packages.
const PACKAGES: [(&str, &str); 12] = [
    ("ncgen", "netcdf-bin"),
    ("gdalinfo", "gdal-bin"),
    ("Rscript", "r-base-core"),
    ("/usr/lib/R/site-library/ncdf4/DESCRIPTION", "r-cran-ncdf4"),
    ("octave-cli", "octave"),
    ("/usr/share/doc/octave-netcdf/copyright", "octave-netcdf"),
    ("ncview", "ncview"),
    ("Xvfb", "xvfb"),
    ("xauth", "xauth"),
    ("xwd", "x11-apps"),
    ("xwininfo", "x11-utils"),
    ("xdotool", "xdotool"),
];

/// Files that the scripts find: the name, netCDF's word for the kind, and the text.
const FILES: [(&str, &str, &str); 6] = [
    ("classic.nc", "classic", "world.cdl"),
    ("offset64.nc", "64-bit offset", "world.cdl"),
    ("cdf5.nc", "cdf5", "world.cdl"),
    ("netCDF-4.nc", "netCDF-4", "world.cdl"),
    ("model.nc", "netCDF-4 classic model", "world.cdl"),
    ("enhanced.nc", "netCDF-4", "enhanced.cdl"),
];

/// What a script left: what it printed, and the contents of its files by their names.
type Results = BTreeMap<String, String>;

/// Runs every script, or those whose name contains a text, and compares; with the library that is installed below a folder, if one is
/// named.
pub(crate) fn run(arguments: &[String]) -> Outcome {
    let only = arguments.first().map_or("", String::as_str);
    peers::debian(&PACKAGES)?;
    let library = capi::library_folder(arguments.get(1))?;
    let mut wrong = Vec::new();
    for (program, script) in SCRIPTS.iter().filter(|(_, script)| script.contains(only)) {
        println!("{script}");
        let expected = results(program, script, "debian", None)?;
        let found = results(program, script, "own", Some(&library))?;
        println!("{script}: {} results of Debian's library", expected.len());
        let names: BTreeSet<&String> = expected.keys().chain(found.keys()).collect();
        let differing = names.into_iter().filter(|name| expected.get(*name) != found.get(*name));
        wrong.extend(differing.map(|name| format!("{script}: {name}")));
    }
    let folder = home();
    if wrong.is_empty() {
        Ok(())
    } else {
        Err(format!("{} differ, see {}", wrong.join(", "), folder.display()))
    }
}

fn home() -> PathBuf {
    target().join("capi-world")
}

/// Runs a script in a new folder.
fn results(program: &str, script: &str, who: &str, library: Option<&Path>) -> Result<Results, String> {
    let scripts = project().join("crates/capi/tests/world");
    let folder = home().join(script).join(who);
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(|error| at(&folder, &error))?;
    }
    let files = folder.join("files");
    fs::create_dir_all(&files).map_err(|error| at(&files, &error))?;
    for (name, kind, text) in FILES {
        let text = scripts.join(text);
        command_in(&files, "ncgen", &["-k", kind, "-o", name, &text.to_string_lossy()])?;
    }
    let printed = folder.join("printed.txt");
    let said = folder.join("said.txt");
    let create = |path: &Path| fs::File::create(path).map_err(|error| at(path, &error));
    let mut command = Command::new(program);
    command.arg(scripts.join(script)).current_dir(&files).stdout(create(&printed)?).stderr(create(&said)?);
    if let Some(library) = library {
        let loaded = folder.join("loaded");
        command.env("LD_LIBRARY_PATH", library).env("LD_DEBUG", "libs").env("LD_DEBUG_OUTPUT", loaded);
        if program == "Rscript" {
            // It puts the folders of the system before others.
            command.env("LD_PRELOAD", library.join("libnetcdf.so.19"));
        }
    }
    let status = command.status().map_err(|error| format!("{program} cannot be run: {error}"))?;
    if !status.success() {
        return Err(format!("{script} on the library of {who}: {status}, see {}", said.display()));
    }
    if let Some(library) = library {
        check_loaded(&folder, library)?;
    }
    let mut results = dumps(&files)?;
    let printed = fs::read_to_string(&printed).map_err(|error| at(&printed, &error))?;
    results.insert("printed".to_owned(), without_time(&printed));
    for (name, text) in &results {
        let path = folder.join(format!("{name}.result"));
        fs::write(&path, text).map_err(|error| at(&path, &error))?;
    }
    Ok(results)
}

/// Whether a program really ran on a library, and on no other: the loader says so, in a file for each process.
fn check_loaded(folder: &Path, library: &Path) -> Outcome {
    let wanted = format!("{}/libnetcdf.so.19", library.display());
    let mut found = BTreeSet::new();
    for entry in fs::read_dir(folder).map_err(|error| at(folder, &error))?.flatten() {
        if entry.file_name().to_string_lossy().starts_with("loaded.") {
            let text = fs::read(entry.path()).map_err(|error| at(&entry.path(), &error))?;
            let text = String::from_utf8_lossy(&text);
            let loaded =
                text.lines().filter_map(|line| line.split_once("calling init: ").map(|(_, path)| path));
            found.extend(loaded.filter(|path| path.contains("/libnetcdf.so")).map(str::to_owned));
            fs::remove_file(entry.path()).map_err(|error| at(&entry.path(), &error))?;
        }
    }
    if found.iter().eq([&wanted]) { Ok(()) } else { Err(format!("{found:?} was loaded, not {wanted}")) }
}

/// Every netCDF file as Debian's `ncdump` prints it, without the time of day, and every picture.
fn dumps(files: &Path) -> Result<Results, String> {
    let mut results = Results::new();
    for entry in fs::read_dir(files).map_err(|error| at(files, &error))?.flatten() {
        let (name, path) = (entry.file_name().to_string_lossy().into_owned(), entry.path());
        let text = if name.ends_with(".nc") {
            dump(files, &name)?
        } else {
            let bytes = fs::read(&path).map_err(|error| at(&path, &error))?;
            bytes.escape_ascii().to_string()
        };
        results.insert(name, text);
    }
    Ok(results)
}

fn dump(files: &Path, name: &str) -> Result<String, String> {
    let output = Command::new("ncdump").args(["-n", "x", name]).current_dir(files).output();
    let output = output.map_err(|error| format!("ncdump cannot be run: {error}"))?;
    if !output.status.success() {
        return Err(format!("ncdump {name}: {}", String::from_utf8_lossy(&output.stderr)));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(without_time(&text))
}

/// A text without the lines that have the time of day.
fn without_time(text: &str) -> String {
    text.lines().filter(|line| !line.contains("history")).map(|line| format!("{line}\n")).collect()
}

fn at(path: &Path, error: &std::io::Error) -> String {
    format!("{}: {error}", path.display())
}
