//! The C library's own programs under valgrind: no access to memory that nobody gave, nothing lost: `cargo xtask capi-memory`.
use crate::netcdf_c::loaded_from;
use crate::run::{Outcome, cargo, project, target};
use std::fs;
use std::path::Path;
use std::process::Command;

/// Programs of `crates/capi/tests/c` that work in a folder.
const PROGRAMS: [&str; 11] = [
    "data_text",
    "default_slabs",
    "defining_types",
    "late_fill",
    "limits",
    "locked",
    "nulls",
    "places",
    "records",
    "user_formats",
    "version2",
];

/// Runs each program, or those whose name contains a text.
pub(crate) fn run(arguments: &[String]) -> Outcome {
    crate::peers::debian(&[("valgrind", "valgrind"), ("nc-config", "libnetcdf-dev"), ("cc", "gcc")])?;
    cargo(&["build", "--package", "ncirrus-capi", "--profile", "checked"])?;
    let folder = target().join("capi-memory/programs");
    fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let library = loaded_from(&folder)?;
    let only = arguments.first().map_or("", String::as_str);
    let mut wrong = Vec::new();
    for name in PROGRAMS.iter().filter(|name| name.contains(only)) {
        compile(&folder, name)?;
        println!("{name}");
        if !is_clean(&folder, name, &library)? {
            wrong.push(*name);
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(format!("errors of memory: {}", wrong.join(", "))) }
}

fn compile(folder: &Path, name: &str) -> Outcome {
    let source = project().join(format!("crates/capi/tests/c/{name}.c"));
    let mut command = Command::new("cc");
    command.args(["-Wall", "-Werror", "-g", "-o", name]).arg(source).arg("-lnetcdf").current_dir(folder);
    let status = command.status().map_err(|error| format!("cc cannot be run: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("{name}.c does not compile")) }
}

/// Whether valgrind has nothing to say; what it says goes to standard error.
fn is_clean(folder: &Path, name: &str, library: &Path) -> Result<bool, String> {
    let found = ["--quiet", "--leak-check=full", "--show-leak-kinds=definite"];
    let ends = ["--errors-for-leak-kinds=definite", "--error-exitcode=9"];
    let output = Command::new("valgrind")
        .args(found.iter().chain(&ends))
        .arg(folder.join(name))
        .arg(".")
        .current_dir(folder)
        .env("LD_LIBRARY_PATH", library)
        .output()
        .map_err(|error| format!("valgrind cannot be run: {error}"))?;
    eprint!("{}", String::from_utf8_lossy(&output.stderr));
    Ok(output.status.success())
}
