//! Miri over the modules with `unsafe` that call no foreign code: scatter, and the memory of C. It does not support mapped files,
//! plugins and codecs in C: the sanitizers check those (`cargo xtask sanitize`).
use crate::run::{Outcome, command};

/// By package the modules with `unsafe`, and those whose bytes they move.
const TESTS: &[(&str, &[&str])] =
    &[("ncirrus-engine", &["scatter::", "convert::", "plan::"]), ("ncirrus-capi", &["memory::"])];

pub(crate) fn run(_: &[String]) -> Outcome {
    if command("cargo", &["+nightly", "miri", "--version"], &[]).is_err() {
        let components = "rustup toolchain install nightly --component miri,rust-src";
        return Err(format!("miri is a part of nightly toolchains: {components}"));
    }
    // Addresses are numbers in C's structures. Property tests try few cases each: every step is interpreted.
    let environment =
        [("MIRIFLAGS", "-Zmiri-disable-isolation -Zmiri-permissive-provenance"), ("PROPTEST_CASES", "8")];
    for (package, modules) in TESTS {
        let mut arguments = vec!["+nightly", "miri", "test", "--package", *package, "--lib", "--"];
        arguments.extend(*modules);
        command("cargo", &arguments, &environment)?;
    }
    Ok(())
}
