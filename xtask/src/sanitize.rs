//! The address and thread sanitizers over all `unsafe` code: codecs in C, filter plugins, mapped memory, scatter, the memory and the handles
//! of the C library.
//!
//! The compiler must ship the sanitizers' runtimes, as rustup's do; the thread sanitizer also requires the standard
//! library to be compiled with it, hence the component `rust-src`: otherwise everything that is passed between threads
//! through a lock of the standard library looks like a race.
use crate::run::{Outcome, command};
use std::path::Path;
use std::process::Command;

/// The tests that are run: arguments to `cargo test`.
const TESTS: &[&[&str]] = &[
    &["--package", "ncirrus-codec", "--features", "plugins", "--lib", "--tests"],
    &["--package", "ncirrus-store", "--no-default-features", "--lib", "mapped"],
    &["--package", "ncirrus-engine", "--lib"],
    &["--package", "ncirrus-engine", "--test", "reading"],
    // Each has the slots of the process alone.
    &["--package", "ncirrus-capi", "--lib", "--", "--test-threads=1"],
];

/// Runs one of the sanitizers, or both.
pub(crate) fn run(arguments: &[String]) -> Outcome {
    match arguments.first().map(String::as_str) {
        None => {
            address()?;
            thread()
        }
        Some("address") => address(),
        Some("thread") => thread(),
        Some(other) => Err(format!("no sanitizer {other:?}: address or thread")),
    }
}

/// C code is compiled with it as well, so that a codec that leaves one of our buffers is found.
fn address() -> Outcome {
    let host = Compiler::found()?.host;
    let c = format!("CFLAGS_{}", host.replace('-', "_"));
    let environment = [
        (
            c.as_str(),
            "-fsanitize=address -fno-sanitize-address-use-after-scope --param asan-use-after-return=0 -g",
        ),
        ("RUSTFLAGS", "-Zsanitizer=address"),
        ("ASAN_OPTIONS", ASAN),
    ];
    test("address", &host, &[], &environment)
}

/// Plugins leak what they keep, which is not our fault. C libraries have tables of the same name, each with its own.
const ASAN: &str = "allocator_may_return_null=1:detect_leaks=0:detect_odr_violation=0:detect_stack_use_after_return=1:strict_string_checks=1";

/// As with the other one, allocations that are too large return null: tests expect an error.
const TSAN: &str = "halt_on_error=0:allocator_may_return_null=1";

fn thread() -> Outcome {
    let compiler = Compiler::found()?;
    if !compiler.has_source() {
        return Err(
            "the thread sanitizer needs the standard library's source: rustup component add rust-src".into(),
        );
    }
    let environment = [("RUSTFLAGS", "-Zsanitizer=thread"), ("TSAN_OPTIONS", TSAN)];
    test("thread", &compiler.host, &["-Zbuild-std"], &environment)
}

/// Any compiler accepts flags of unstable features with the right variable.
fn test(name: &str, host: &str, more: &[&str], environment: &[(&str, &str)]) -> Outcome {
    let folder = std::env::var("CARGO_TARGET_DIR").unwrap_or_else(|_| "target".to_owned());
    let folder = format!("{folder}/sanitize-{name}");
    let mut environment = environment.to_vec();
    environment.extend([("RUSTC_BOOTSTRAP", "1"), ("CARGO_TARGET_DIR", folder.as_str())]);
    for tests in TESTS {
        let arguments = [&["test", "--target", host], more, *tests].concat();
        command("cargo", &arguments, &environment)?;
    }
    Ok(())
}

/// The compiler that cargo will use.
struct Compiler {
    host: String,
    sysroot: String,
}

impl Compiler {
    fn found() -> Result<Self, String> {
        let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        let ask = |arguments: &[&str]| {
            let output = Command::new(&rustc).args(arguments).output();
            let output = output.map_err(|error| format!("{}: {error}", rustc.display()))?;
            Ok::<_, String>(String::from_utf8_lossy(&output.stdout).trim().to_owned())
        };
        let version = ask(&["-vV"])?;
        let host = version.lines().find_map(|line| line.strip_prefix("host: "));
        let host = host.ok_or("rustc -vV names no host")?.to_owned();
        Ok(Self { host, sysroot: ask(&["--print", "sysroot"])? })
    }

    fn has_source(&self) -> bool {
        Path::new(&self.sysroot).join("lib/rustlib/src/rust/library/Cargo.lock").exists()
    }
}
