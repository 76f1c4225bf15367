//! Miri over scatter, the only module with `unsafe` that calls no foreign code. It does not support mapped files,
//! plugins and codecs in C: the sanitizers check those (`cargo xtask sanitize`).
use crate::run::{Outcome, command};

/// The modules with `unsafe`, and those whose bytes they move.
const TESTS: &[&str] = &["scatter::", "convert::", "plan::"];

pub(crate) fn run(_: &[String]) -> Outcome {
    if command("cargo", &["+nightly", "miri", "--version"], &[]).is_err() {
        let components = "rustup toolchain install nightly --component miri,rust-src";
        return Err(format!("miri is a part of nightly toolchains: {components}"));
    }
    // Property tests try few cases each: every step is interpreted.
    let environment = [("MIRIFLAGS", "-Zmiri-disable-isolation"), ("PROPTEST_CASES", "8")];
    let mut arguments = vec!["+nightly", "miri", "test", "--package", "ncirrus-engine", "--lib", "--"];
    arguments.extend(TESTS);
    command("cargo", &arguments, &environment)
}
