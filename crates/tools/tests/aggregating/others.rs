//! How other programs read masters that are written here.
use super::files::{Bench, doubles};
use ncirrus::Kind;
use ncirrus_testkit::corpus::aggregation_python;
use ncirrus_tools::aggregate::{AggregateOptions, Convention, MasterOptions, PreparedAggregation, aggregate};
use std::path::Path;
use std::process::Command;

/// The values that a program reads, one per line.
fn read(python: &Path, program: &str, master: &str, folder: &str) -> Vec<f64> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/aggregating/read.py");
    let output =
        Command::new(python).arg(script).args([program, master]).current_dir(folder).output().unwrap();
    assert!(output.status.success(), "{program}: {}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(|line| line.parse().unwrap()).collect()
}

fn check(program: &str, convention: Convention, variants: &[(Kind, bool)]) {
    let Some(python) = aggregation_python(program) else { return };
    for (kind, compat) in variants {
        let bench = Bench::new();
        let files = [bench.field("a.nc", 0..3), bench.field("b.nc", 3..7), bench.field("c.nc", 7..9)];
        let target = bench.path("m.nca");
        let options = MasterOptions::new().convention(convention).kind(*kind).compat(*compat);
        // The last file is added later.
        let (axis, first) = (AggregateOptions::default(), &files[..2]);
        aggregate(&target, first, &axis, &options, &bench.session).unwrap();
        let prepared = PreparedAggregation::adding(&target, &files[2..], &axis, &bench.session).unwrap();
        let overwrite = options.overwrite(true);
        prepared.write(&target, &overwrite, &bench.session).unwrap();
        // With whole URLs it does not matter in which folder the program runs; others resolve relative names against
        // that.
        let folder = if *compat { "/".to_owned() } else { bench.path(".") };
        assert_eq!(read(&python, program, &target, &folder), doubles(&(0..9)), "{program} {kind:?} {compat}");
    }
}

#[test]
fn cfdm_reads_cf_1_13() {
    check("cfdm", Convention::Cf113, &[(Kind::Nc4, true), (Kind::Nc4, false), (Kind::Nc3, false)]);
}

#[test]
fn cfapyx_reads_cf_1_13() {
    check("CFAPyX", Convention::Cf113, &[(Kind::Nc4, true)]);
}

#[test]
fn cf_python_reads_cfa_0_6() {
    check("cf", Convention::Cfa06, &[(Kind::Nc4, true), (Kind::Nc4, false), (Kind::Nc3, false)]);
}
