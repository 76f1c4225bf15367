//! The Debian packages, by cargo-deb. The manifests of `crates/cli` and `crates/capi` list their files.
use super::report::StepOutput;
use super::{VERSION, commit_time, folder, linux, stage, tools};
use crate::peers;
use crate::run::{self, Outcome};

const TOOL: (&str, &str) = ("cargo-deb", "3.8.0");

/// The packages: crate, variant, name.
const PACKAGES: [(&str, Option<&str>, &str); 3] = [
    ("ncirrus-cli", None, "ncirrus"),
    ("ncirrus-capi", Some("library"), "libnetcdf-ncirrus"),
    ("ncirrus-capi", None, "libnetcdf-ncirrus-dev"),
];

/// Builds them, and checks them with lintian.
pub(super) fn make() -> Result<StepOutput, String> {
    let path = tools::cargo_tool(TOOL.0, TOOL.1)?;
    stage::command()?;
    stage::compress_manual()?;
    stage::library()?;
    let time = commit_time()?;
    let mut names = Vec::new();
    for (package, variant, name) in PACKAGES {
        let file = file(name);
        let out = folder().join(&file).to_string_lossy().into_owned();
        let mut deb = vec!["deb", "--quiet", "--no-build", "--no-strip", "--package", package];
        deb.extend(["--target", linux::TRIPLE, "--output", &out]);
        variant.iter().for_each(|variant| deb.extend(["--variant", variant]));
        run::command("cargo", &deb, &[("PATH", &path), ("SOURCE_DATE_EPOCH", &time)])?;
        names.push(file);
    }
    lint(&names)?;
    Ok(StepOutput::of(names))
}

/// The file of a package.
pub(super) fn file(name: &str) -> String {
    format!("{name}_{VERSION}_amd64.deb")
}

/// Fails for errors of lintian, and prints its warnings.
fn lint(names: &[String]) -> Outcome {
    peers::debian(&[("lintian", "lintian")])?;
    let paths: Vec<String> =
        names.iter().map(|name| folder().join(name).to_string_lossy().into_owned()).collect();
    let mut lintian = vec!["--fail-on", "error", "--suppress-tags", ALLOWED, "--allow-root"];
    lintian.extend(paths.iter().map(String::as_str));
    run::command("lintian", &lintian, &[])
}

/// What does not apply: the packages are not part of Debian, and `libnetcdf.so.22` has only a name and a dependency, no code.
const ALLOWED: &str = "initial-upload-closes-no-bugs,bogus-mail-host,no-manual-page,bad-distribution-in-changes-file,    library-not-linked-against-libc";
