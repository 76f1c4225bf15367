//! An OPeNDAP server that answers with a delay: ncdump, netCDF4-python, pydap's client and xarray over both, compared.
use super::cloud::Server;
use crate::run::{Outcome, target};
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

/// Milliseconds that the server waits before each answer.
const LATENCY: &str = "50";
const CASES: [&str; 7] = ["open2", "open4", "series", "scattered", "read2", "read4", "dump"];
const PROGRAMS: [&str; 7] =
    ["limit", "ncirrus", "ncdump", "netCDF4", "pydap", "xarray-netcdf4", "xarray-pydap"];

/// Seconds, MiB of memory, and what the server counted: requests, bytes, and the most requests in flight.
#[derive(Debug, Clone, Copy)]
struct DapFigures {
    seconds: f64,
    peak: f64,
    counts: [f64; 3],
}

/// Measures everything several times, alternating between programs, and prints a table in Markdown.
pub(super) fn run(folder: &Path, rounds: usize) -> Outcome {
    let built = ["build", "--release", "--quiet", "--package", "ncirrus-cli"];
    crate::run::cargo(&built)?;
    let server = Server::start("dap-serve", folder, LATENCY)?;
    let mut figures: BTreeMap<(usize, usize), DapFigures> = BTreeMap::new();
    for _ in 0..rounds {
        for (case, name) in CASES.iter().enumerate() {
            for (program, who) in PROGRAMS.iter().enumerate() {
                _ = counts(&server.url);
                let Some((seconds, peak)) = measure(who, name, &server.url) else { continue };
                let counts = counts(&server.url).unwrap_or_default();
                let new = DapFigures { seconds, peak, counts };
                let best = figures.entry((case, program)).or_insert(new);
                *best = DapFigures { seconds: best.seconds.min(seconds), peak: best.peak.max(peak), counts };
            }
        }
    }
    println!("\n### OPeNDAP, {LATENCY} ms away: seconds, memory, requests (most in flight), MiB received");
    println!("\n| case | {} |", PROGRAMS.join(" | "));
    println!("|---|{}", "---|".repeat(PROGRAMS.len()));
    for (case, name) in CASES.iter().enumerate() {
        let cell = |program: usize| {
            let Some(found) = figures.get(&(case, program)) else { return "-".to_owned() };
            let [requests, bytes, max] = found.counts;
            let mib = bytes / f64::from(1 << 20);
            if found.seconds.is_infinite() {
                return format!("over {} s", super::MAX_SECONDS);
            }
            format!(
                "{}, {:.0} MiB, {requests} ({max}), {mib:.1}",
                super::described(found.seconds),
                found.peak
            )
        };
        println!("| {name} | {} |", (0..PROGRAMS.len()).map(cell).collect::<Vec<_>>().join(" | "));
    }
    Ok(())
}

fn measure(who: &str, case: &str, server: &str) -> Option<(f64, f64)> {
    if (who, case) == ("ncirrus", "dump") {
        return dump(server);
    }
    super::figures_of(super::measuring(who, "dap").args([who, case, server, "1"]))
}

/// The command; its memory is not measured.
fn dump(server: &str) -> Option<(f64, f64)> {
    let mut command = Command::new(target().join("release/ncirrus"));
    command.arg("dump").arg(format!("{server}listed#dap2")).stdout(Stdio::null());
    let start = Instant::now();
    let is_done = command.status().ok()?.success();
    is_done.then(|| (start.elapsed().as_secs_f64(), 0.0))
}

/// What the server was asked for since it was last asked for this.
fn counts(server: &str) -> Option<[f64; 3]> {
    let host = server.trim_start_matches("http://").trim_end_matches('/');
    let mut stream = TcpStream::connect(host).ok()?;
    write!(stream, "GET /counts HTTP/1.1\r\nhost: {host}\r\n\r\n").ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    let (_, body) = answer.split_once("\r\n\r\n")?;
    let reported: Value = serde_json::from_str(body).ok()?;
    Some([reported["requests"].as_f64()?, reported["bytes"].as_f64()?, reported["most_in_flight"].as_f64()?])
}
