//! The shell tests of netCDF-C's `ncdump`, `nccopy`, `ncgen` and `ncgen3`, with Debian's programs and with ours:
//! `cargo xtask netcdf-tools`.
use crate::netcdf_source::{compile, configured};
use crate::run::{Outcome, cargo, command_in, ended_within, target};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// The tools, by the places where the scripts look for them.
const TOOLS: [&str; 4] = ["ncdump/ncdump", "ncdump/nccopy", "ncgen/ncgen", "ncgen3/ncgen3"];

/// A script that takes longer hangs.
const LONGEST: Duration = Duration::from_secs(300);

/// Scripts that do not pass with ours, each with the reason.
const EXCEPTIONS: &[(&str, &str)] = &[
    (
        "ncdump/test_keywords.sh",
        "a dimension called `string` is a name where the place tells it, in netCDF-4 too: dumps have it",
    ),
    (
        "ncdump/tst_ncgen4.sh",
        "expects the first of two types that look the same for the second one, and types of atoms first: `ncdump` prints which \
         one it is, and `ncgen` keeps the order of the text",
    ),
    (
        "nczarr_test/run_interop.sh",
        "a folder of arrays that is no group: Zarr v2 has metadata in every group",
    ),
    (
        "nczarr_test/run_jsonconvention.sh",
        "expects a text attribute of JSON without its line ends; it is kept as it is",
    ),
    ("nczarr_test/run_nczarr_fill.sh", "dimensions without a name are called as by 4.9.3 and later"),
    ("nczarr_test/run_purezarr.sh", "dimensions without a name are called as by 4.9.3 and later"),
];

/// Runs every script of the two folders with both and compares.
pub(crate) fn run(_: &[String]) -> Outcome {
    cargo(&["build", "--package", "ncirrus-cli", "--release"])?;
    let source = configured()?;
    programs(&source)?;
    let ours = target().join("release/ncirrus");
    let reference = scripts(&source, "debian", &|tool| Ok(PathBuf::from("/usr/bin").join(tool)))?;
    let found = scripts(&source, "ours", &|_| Ok(ours.clone()))?;
    let passed = |results: &BTreeMap<String, bool>| results.values().filter(|passed| **passed).count();
    println!("Debian's programs pass {} of {}", passed(&reference), reference.len());
    println!("ours pass {} of {}", passed(&found), found.len());
    let mut wrong = Vec::new();
    for (script, _) in reference.iter().filter(|(_, passed)| **passed) {
        let passes = found.get(script).copied().unwrap_or(false);
        match (passes, EXCEPTIONS.iter().find(|(name, _)| name == script)) {
            (false, None) => wrong.push(format!("{script} fails")),
            (true, Some(_)) => wrong.push(format!("{script} is an exception and passes")),
            (false, Some((_, reason))) => println!("{script}: {reason}"),
            (true, None) => {}
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("; ")) }
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
) -> Result<BTreeMap<String, bool>, String> {
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
    let mut results = BTreeMap::new();
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
