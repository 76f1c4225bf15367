//! The shell tests of netCDF-C's `ncdump`, `nccopy`, `ncgen` and `ncgen3`, with Debian's programs and with ours, or with Debian's
//! programs on our library: `cargo xtask netcdf-tools`.
use crate::capi;
use crate::comparison::{PassedTests, compare};
use crate::netcdf_source::{compile, configured};
use crate::run::{Outcome, cargo, command_in, ended_within, target};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// The tools, by the places where the scripts look for them.
const TOOLS: [&str; 4] = ["ncdump/ncdump", "ncdump/nccopy", "ncgen/ncgen", "ncgen3/ncgen3"];

/// A script that takes longer hangs.
const LONGEST: Duration = Duration::from_secs(300);

/// Scripts that do not pass with our programs, each with the reason.
const EXCEPTIONS: &str = include_str!("netcdf_tools_exceptions.tsv");

/// Scripts that do not pass with Debian's programs on our library, each with the reason.
const LIBRARY_EXCEPTIONS: &str = include_str!("netcdf_tools_library_exceptions.tsv");

/// Runs every script of the two folders with both and compares: with our programs, or with `library` those of Debian on our library,
/// which may be installed below a folder.
pub(crate) fn run(arguments: &[String]) -> Outcome {
    let source = configured()?;
    programs(&source)?;
    let debians = |tool: &str| Ok(PathBuf::from("/usr/bin").join(tool));
    match arguments.first().map(String::as_str) {
        Some("library") => {
            let library = capi::library_folder(arguments.get(1))?;
            let reference = scripts(&source, "debian", &debians)?;
            let found = scripts(&source, "library", &|tool| on_library(&source, &library, tool))?;
            compare(&reference, &found, LIBRARY_EXCEPTIONS)
        }
        None | Some("command") => {
            cargo(&["build", "--package", "ncirrus-cli", "--release"])?;
            let ours = target().join("release/ncirrus");
            let reference = scripts(&source, "debian", &debians)?;
            let found = scripts(&source, "ours", &|_| Ok(ours.clone()))?;
            compare(&reference, &found, EXCEPTIONS)
        }
        Some(other) => Err(format!("no tools {other:?}: command or library")),
    }
}

/// A program that runs one of Debian's on our library. Only the tools do: programs of the tests' own use functions of Debian's library
/// that are private.
fn on_library(source: &Path, library: &Path, tool: &str) -> Result<PathBuf, String> {
    let folder = source.with_file_name("tools");
    fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let path = folder.join(tool);
    let text = format!("#!/bin/sh\nLD_LIBRARY_PATH='{}' exec /usr/bin/{tool} \"$@\"\n", library.display());
    write(&path, &text)?;
    capi::executable(&path)?;
    Ok(path)
}

/// Compiles the programs that the scripts use, against Debian's library.
fn programs(source: &Path) -> Outcome {
    let quantize = [("test_quantize", "tst_quantize"), ("test_filter_avail", "tst_filter_avail")];
    for (made, from) in quantize {
        let text = read(&source.join("nc_test4").join(format!("{from}.c")))?;
        write(&source.join("nczarr_test").join(format!("{made}.c")), &format!("#define TESTNCZARR\n{text}"))?;
    }
    let mut failed = Vec::new();
    for (folder, others, names) in PROGRAMS {
        for name in names.split_whitespace() {
            let own: Vec<&str> = if name == "nc4print" { vec!["nc4printer.c"] } else { others.to_vec() };
            if !source.join(folder).join(name).exists() && !compile(source, folder, name, &own)? {
                failed.push(name);
            }
        }
    }
    if failed.is_empty() { Ok(()) } else { Err(format!("do not compile: {}", failed.join(", "))) }
}

/// Folder, further sources, programs.
const PROGRAMS: &[(&str, &[&str], &str)] = &[
    (
        "ncdump",
        &[],
        "ncvalidator ncpathcvt ncfilteravail printfqn nchdf5version rewrite-scalar ref_ctest ref_ctest64 tst_utf8 bom \
         tst_dimsizes nctrunc tst_rcmerge tst_fileinfo tst_create_files tst_h_rdc0 tst_group_data tst_enum_data \
         tst_opaque_data tst_string_data tst_vlen_data tst_comp tst_comp2 tst_nans tst_special_atts tst_unicode \
         tst_fillbug tst_compress tst_chunking tst_h_scalar tst_vlen_demo nc4print",
    ),
    ("nczarr_test", &["ut_util.c", "ut_test.c"], "ut_map ut_mapapi ut_json ut_projections ut_chunking"),
    (
        "nczarr_test",
        &[],
        "tst_zchunks tst_zchunks2 tst_zchunks3 test_quantize testfilter testfilter_misc testfilter_order \
         testfilter_repeat testfilter_multi test_filter_avail zmapio zhex zisjson zs3parse ncdumpchunks",
    ),
    ("nczarr_test", &["tst_utils.c"], "tst_fillonlyz tst_chunkcases tst_nczfilter"),
];

/// Runs the scripts in a copy of the source whose tools are links; whether each passes.
fn scripts(
    source: &Path,
    who: &str,
    program: &dyn Fn(&str) -> Result<PathBuf, String>,
) -> Result<PassedTests, String> {
    let home = source.with_file_name(who);
    _ = fs::remove_dir_all(&home);
    let texts = |path: &Path| path.to_string_lossy().into_owned();
    command_in(Path::new("/"), "cp", &["-a", &texts(source), &texts(&home)])?;
    let common = home.join("test_common.sh");
    write(&common, &read(&common)?.replace(&texts(source), &texts(&home)))?;
    for tool in TOOLS {
        let (path, name) = (home.join(tool), tool.rsplit('/').next().unwrap_or(tool));
        link(&program(name)?, &path)?;
    }
    let mut results = PassedTests::new();
    for folder in ["ncdump", "nczarr_test"] {
        for script in in_order(&home.join(folder))? {
            let passes = passes(&home.join(folder), &script)?;
            results.insert(format!("{folder}/{script}"), passes);
        }
    }
    Ok(results)
}

/// The scripts of a folder, those first whose files others read.
fn in_order(folder: &Path) -> Result<Vec<String>, String> {
    let entries = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut names: Vec<String> = names
        .filter(|name| name.ends_with(".sh") && !["findplugin.sh", "test_nczarr.sh"].contains(&name.as_str()))
        .collect();
    let late = |name: &str| match name {
        "tst_nccopy5.sh" => 3,
        "tst_nccopy3.sh" | "tst_nccopy4.sh" => 2,
        "tst_output.sh" | "tst_ncgen4_diff.sh" | "tst_ncgen4_cycle.sh" => 1,
        _ => 0,
    };
    names.sort_by_key(|name| (late(name), name.clone()));
    if folder.ends_with("ncdump") {
        for program in ["ref_ctest", "ref_ctest64"] {
            command_in(folder, &folder.join(program).to_string_lossy(), &[])?;
        }
    }
    Ok(names)
}

/// Runs a script; what it prints goes to a file beside it.
fn passes(folder: &Path, script: &str) -> Result<bool, String> {
    let said = folder.join(format!("{script}.out"));
    let file = fs::File::create(&said).map_err(|error| format!("{}: {error}", said.display()))?;
    let both = file.try_clone().map_err(|error| format!("{}: {error}", said.display()))?;
    let mut child = Command::new("bash")
        .arg(script)
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(file)
        .stderr(both)
        .spawn()
        .map_err(|error| format!("bash cannot be run: {error}"))?;
    let ended = ended_within(&mut child, LONGEST).map_err(|error| format!("{script}: {error}"))?;
    Ok(ended.is_some_and(|status| status.success()))
}

fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

fn write(path: &Path, text: &str) -> Outcome {
    fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))
}

#[cfg(unix)]
fn link(to: &Path, path: &Path) -> Outcome {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    }
    _ = fs::remove_file(path);
    std::os::unix::fs::symlink(to, path).map_err(|error| format!("{}: {error}", path.display()))
}

#[cfg(not(unix))]
fn link(_: &Path, path: &Path) -> Outcome {
    Err(format!("{}: Debian's programs are for Linux", path.display()))
}
