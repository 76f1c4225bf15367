//! ncirrus beside its peers and beside a bare loop, in one run: `cargo xtask bench [FOLDER [ROUNDS]]`.
use crate::peers;
use crate::run::{Outcome, cargo, project};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

const CODECS: [&str; 5] = ["raw", "zstd", "blosc", "zlib", "shuffle-zlib"];
const OPERATIONS: [&str; 4] = ["read", "write", "series", "strided"];
const PROGRAMS: [&str; 6] = ["limit", "ncirrus", "zarr-python", "zarrs-python", "tensorstore", "netcdf-c"];

/// Smallest time in seconds and largest memory in MiB of each program, by operation and codec.
type Figures = BTreeMap<(usize, usize, usize), (f64, f64)>;

/// Measures everything several times, in turn, and prints a table in Markdown.
pub(crate) fn run(arguments: &[String]) -> Outcome {
    peers::install()?;
    peers::python_packages("peers/bench.txt")?;
    cargo(&["build", "--release", "--quiet", "--package", "ncirrus-bench"])?;
    let folder = arguments.first().map_or_else(|| project().join("target/bench-data"), PathBuf::from);
    let rounds: usize =
        arguments.get(1).map_or(Ok(3), |text| text.parse()).map_err(|_| "ROUNDS is not a number")?;
    std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    for codec in CODECS {
        measure("ncirrus", codec, "write", &folder)
            .ok_or_else(|| format!("{codec}: the data cannot be written"))?;
    }
    let mut figures = Figures::new();
    for _ in 0..rounds {
        one_round(&folder, &mut figures);
    }
    print_tables(&figures);
    std::fs::remove_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))
}

/// Every program in turn for every case, so that a busy moment of the machine strikes all alike.
fn one_round(folder: &Path, figures: &mut Figures) {
    for (o, operation) in OPERATIONS.iter().enumerate() {
        for (c, codec) in CODECS.iter().enumerate() {
            for (p, program) in PROGRAMS.iter().enumerate() {
                let Some((seconds, peak)) = measure(program, codec, operation, folder) else { continue };
                let best = figures.entry((o, c, p)).or_insert((f64::INFINITY, 0.0));
                *best = (best.0.min(seconds), best.1.max(peak));
            }
        }
    }
}

fn measure(program: &str, codec: &str, operation: &str, folder: &Path) -> Option<(f64, f64)> {
    let runs = if operation == "write" { "2" } else { "5" };
    let ours = matches!(program, "ncirrus" | "limit");
    let mut command = if ours {
        Command::new(project().join("target/release/ncirrus-bench"))
    } else {
        let mut python = Command::new(peers::python());
        python.arg("benches/peers.py");
        python
    };
    let output = command
        .args([program, codec, operation])
        .arg(folder)
        .arg(runs)
        .current_dir(project())
        .output()
        .ok()?;
    let line: Value = serde_json::from_slice(&output.stdout).ok()?;
    Some((line["seconds"].as_f64()?, line["peak_kib"].as_f64()? / 1024.0))
}

fn print_tables(figures: &Figures) {
    for (o, operation) in OPERATIONS.iter().enumerate() {
        println!("\n### {operation}\n\n| codec | {} |", PROGRAMS.join(" | "));
        println!("|---|{}", "---|".repeat(PROGRAMS.len()));
        for (c, codec) in CODECS.iter().enumerate() {
            let limit = figures.get(&(o, c, 0)).map_or(f64::NAN, |figure| figure.0);
            let cell = |p: usize| match figures.get(&(o, c, p)) {
                Some((seconds, peak)) => format!("{seconds:.3} s ({:.2}), {peak:.0} MiB", seconds / limit),
                None => "-".to_owned(),
            };
            println!("| {codec} | {} |", (0..PROGRAMS.len()).map(cell).collect::<Vec<_>>().join(" | "));
        }
    }
}
