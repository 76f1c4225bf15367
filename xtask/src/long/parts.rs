//! The parts of `cargo xtask long`, quick ones first.
use std::process::Command;

/// A recipe with arguments and further environment variables.
pub(super) struct Part {
    pub(super) name: &'static str,
    pub(super) arguments: &'static [&'static str],
    pub(super) environment: &'static [(&'static str, &'static str)],
    /// The reason why it cannot run here.
    pub(super) missing: fn() -> Option<String>,
}

const fn recipe(name: &'static str, arguments: &'static [&'static str]) -> Part {
    Part { name, arguments, environment: &[], missing: || None }
}

/// Tests of the stages, with more cases than these run.
const fn full(
    name: &'static str,
    arguments: &'static [&'static str],
    environment: &'static [(&'static str, &'static str)],
) -> Part {
    Part { name, arguments, environment, missing: || None }
}

pub(super) const PARTS: &[Part] = &[
    recipe("msrv", &["msrv"]),
    recipe("deny", &["deny"]),
    recipe("package", &["package"]),
    recipe("wheel", &["wheel"]),
    recipe("platforms", &["platforms"]),
    Part { missing: without_root, ..recipe("release", &["release", "--dirty"]) },
    recipe("netcdf-tools", &["netcdf-tools"]),
    recipe("netcdf-tools-library", &["netcdf-tools", "library"]),
    recipe("netcdf-c", &["netcdf-c"]),
    recipe("capi-python", &["capi-python"]),
    recipe("capi-languages", &["capi-languages"]),
    recipe("capi-world", &["capi-world"]),
    recipe("capi-memory", &["capi-memory", "own"]),
    recipe("capi-memory-netcdf-c", &["capi-memory", "netcdf-c"]),
    Part { missing: without_miri, ..recipe("miri", &["miri"]) },
    recipe("sanitize-address", &["sanitize", "address"]),
    Part { missing: without_source, ..recipe("sanitize-thread", &["sanitize", "thread"]) },
    full("laws", &["unit", "--test", "formats", "hdf5_law::"], &[("NCIRRUS_LAW_SEEDS", "200")]),
    full("mutations", &["unit", "--test", "formats", "corpus::mutated::"], &[("NCIRRUS_MUTATIONS", "200")]),
    full("schemas", &["unit", "--test", "formats", "nc4_schemas::"], &[("NCIRRUS_SCHEMAS", "10000")]),
    full("appends", &["unit", "--test", "changes", "nc4_appends::"], &[("NCIRRUS_APPENDS_EVERY", "10")]),
    full("flips", &["unit", "--package", "ncirrus-tools", "check::"], &[("NCIRRUS_CHECK_FLIPS", "2000")]),
    full("kills", &["unit", "--test", "command", "appending::"], &[("NCIRRUS_TEST_KILLS", "500")]),
    full("optimize-kills", &["unit", "--test", "command", "optimizing::"], &[("NCIRRUS_TEST_KILLS", "200")]),
    full(
        "shards",
        &["unit", "--test", "network", "s3::shards::"],
        &[("NCIRRUS_SHARD_RACES", "1000"), ("NCIRRUS_SHARD_KILLS", "500")],
    ),
    full("command", &["unit", "--test", "command"], &[]),
    full("unit", &["unit"], &[("NCIRRUS_ALL_CASES", "1")]),
    full("shipped", &["shipped"], &[("NCIRRUS_ALL_CASES", "1")]),
    recipe("fuzz", &["fuzz", "20000"]),
    full(
        "fuzz-serving",
        &["unit", "--test", "serving", "--", "--nocapture", "--test-threads", "1"],
        &[("NCIRRUS_FUZZ_INPUTS", "10000000")],
    ),
    recipe("silence", &["silence"]),
    recipe("cuts", &["cuts"]),
    full(
        "python",
        &["python"],
        &[
            ("NCIRRUS_INDEX_CASES", "5000"),
            ("NCIRRUS_THREAD_SECONDS", "60"),
            ("NCIRRUS_TEST_KILLS", "200"),
            ("NCIRRUS_ALL_CASES", "1"),
            ("NCIRRUS_NETCDF4_KILLS", "100"),
            ("NCIRRUS_NETCDF4_PROGRAMS", "20000"),
            ("NCIRRUS_NETCDF4_SECONDS", "1200"),
        ],
    ),
    Part { missing: crate::peers::without_oldest_python, ..recipe("python-oldest", &["python-oldest"]) },
    recipe("races", &["races", "1000"]),
    recipe("stress", &["stress"]),
    recipe("capi-stress", &["capi-stress"]),
    recipe("programs", &["programs"]),
    recipe("capi-sequences", &["capi-sequences"]),
];

fn without_root() -> Option<String> {
    (!crate::peers::is_root()).then(|| "debootstrap needs root".to_owned())
}

fn without_miri() -> Option<String> {
    let output = Command::new("cargo").args(["+nightly", "miri", "--version"]).output();
    let is_there = output.is_ok_and(|output| output.status.success());
    (!is_there).then(|| "no nightly toolchain with the component miri".to_owned())
}

fn without_source() -> Option<String> {
    let output = Command::new("rustc").args(["--print", "sysroot"]).output();
    let root =
        output.map_or_else(|_| String::new(), |output| String::from_utf8_lossy(&output.stdout).into_owned());
    let library = std::path::Path::new(root.trim()).join("lib/rustlib/src/rust/library/Cargo.lock");
    (!library.exists()).then(|| "the toolchain has no component rust-src".to_owned())
}
