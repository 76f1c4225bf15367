//! Miri over scatter, the one module with `unsafe` that calls nothing foreign. Maps of files, plugins and codecs in C
//! are beyond it: the sanitizers look at those (`cargo xtask sanitize`).
use crate::run::{Outcome, command};

/// The modules with `unsafe`, and those whose bytes they move.
const TESTS: &[&str] = &["scatter::", "convert::", "plan::"];

pub(crate) fn run(_: &[String]) -> Outcome {
    if command("cargo", &["+nightly", "miri", "--version"], &[]).is_err() {
        let components = "rustup toolchain install nightly --component miri,rust-src";
        return Err(format!("miri is a part of nightly toolchains: {components}"));
    }
    // Properties try few cases each: every step of theirs is interpreted.
    let environment = [("MIRIFLAGS", "-Zmiri-disable-isolation"), ("PROPTEST_CASES", "8")];
    let mut arguments = vec!["+nightly", "miri", "test", "--package", "ncirrus-engine", "--lib", "--"];
    arguments.extend(TESTS);
    command("cargo", &arguments, &environment)
}
