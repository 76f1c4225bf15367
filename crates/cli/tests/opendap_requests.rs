//! How many requests a server of OPeNDAP is sent, how many bytes it sends, and what memory that takes.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail the test")]
use ncirrus::{Atomic, Dataset, DimensionLen, OpenOptions, Selection, Session, Values};
use ncirrus_model::Model;
use ncirrus_testkit::dap_server::{DapBehaviour, DapServer, ServedDataset};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

/// The element at these indices of any variable.
fn value_at(indices: &[u64]) -> f32 {
    indices
        .iter()
        .fold(0_u16, |sum, index| sum.wrapping_mul(31).wrapping_add(u16::try_from(index % 65_536).unwrap()))
        .into()
}

pub(crate) fn values(selection: &Selection) -> Values {
    let shape = selection.shape();
    let axes: Vec<Vec<u64>> = selection
        .axes()
        .iter()
        .map(|axis| (0..axis.count()).map(|at| axis.index(at).unwrap()).collect())
        .collect();
    let count = usize::try_from(shape.iter().product::<u64>()).unwrap();
    let mut at = vec![0_usize; shape.len()];
    let mut values = Vec::with_capacity(count);
    for _ in 0..count {
        let indices: Vec<u64> = axes.iter().zip(&at).map(|(axis, at)| axis[*at]).collect();
        values.push(value_at(&indices));
        for (at, len) in at.iter_mut().zip(&shape).rev() {
            *at += 1;
            if (*at as u64) < *len {
                break;
            }
            *at = 0;
        }
    }
    Values::Float(values)
}

/// A dataset of floats by name and shape; dimensions are named after variables and axes.
pub(crate) fn made(variables: &[(String, Vec<u64>)], read: fn(&Selection) -> Values) -> ServedDataset {
    let mut model = Model::new();
    let root = model.root();
    for (name, shape) in variables {
        let name_of = |axis| if shape.len() == 1 { name.clone() } else { format!("{name}_{axis}") };
        let dims: Vec<_> = (0..shape.len())
            .map(|axis| model.add_dimension(root, &name_of(axis), DimensionLen::Fixed(shape[axis])).unwrap())
            .collect();
        model.add_variable(root, name, Atomic::Float.into(), &dims).unwrap();
    }
    ServedDataset { model: Arc::new(model), read: Box::new(move |_, selection| Ok(read(selection))) }
}

struct Opened {
    server: DapServer,
    dataset: Dataset,
    mode: &'static str,
}

fn opened(variables: &[(&str, &[u64])], mode: &'static str, latency: u64) -> Opened {
    let variables: Vec<_> =
        variables.iter().map(|(name, shape)| ((*name).to_owned(), shape.to_vec())).collect();
    opened_all(&variables, mode, latency)
}

fn opened_all(variables: &[(String, Vec<u64>)], mode: &'static str, latency: u64) -> Opened {
    opened_in(&Session::new().unwrap(), variables, mode, latency)
}

fn opened_in(
    session: &Session,
    variables: &[(String, Vec<u64>)],
    mode: &'static str,
    latency: u64,
) -> Opened {
    let behaviour = DapBehaviour { latency: Duration::from_millis(latency), ..DapBehaviour::default() };
    let server = DapServer::start([("x".to_owned(), made(variables, values))], behaviour);
    let address = format!("{}#{mode}", server.url("x"));
    let dataset = Dataset::open_with(&address, &OpenOptions::default(), session).unwrap();
    let requests = server.take_requests().len();
    assert_eq!(requests, if mode == "dap2" { 2 } else { 1 }, "opening by {mode}");
    Opened { server, dataset, mode }
}

impl Opened {
    /// Reads a selection, and returns how many requests that took.
    fn read(&self, name: &str, selection: &Selection) -> usize {
        let read = self.dataset.variable(name).unwrap().values(selection).unwrap();
        assert_eq!(read, values(selection), "{name} by {}", self.mode);
        self.server.take_requests().len()
    }
}

#[test]
fn one_point_through_all_steps_is_one_request() {
    for mode in ["dap2", "dap4"] {
        let opened = opened(&[("v", &[365, 30, 40])], mode, 0);
        assert_eq!(opened.read("v", &Selection::slab(&[0, 7, 9], &[365, 1, 1])), 1);
        let before = opened.server.sent();
        assert_eq!(opened.read("v", &Selection::slab(&[3, 3, 3], &[1, 1, 1])), 1);
        assert!(opened.server.sent() - before < 600, "one value");
    }
}

#[test]
fn forty_coordinates_are_one_request() {
    let names: Vec<(String, Vec<u64>)> = (0..40).map(|at| (format!("c{at}"), vec![9])).collect();
    for mode in ["dap2", "dap4"] {
        let opened = opened_all(&names, mode, 0);
        let all = Selection::all(&[9]);
        let requests: usize = names.iter().map(|(name, _)| opened.read(name, &all)).sum();
        assert_eq!(requests, 1, "{mode}");
    }
}

#[test]
fn a_loop_over_five_thousand_rows_is_two_requests() {
    let opened = opened(&[("v", &[5000, 3])], "dap4", 0);
    let rows = (0..5000).map(|row| opened.read("v", &Selection::slab(&[row, 0], &[1, 3])));
    assert_eq!(rows.sum::<usize>(), 2);
}

#[test]
fn threads_that_loop_over_rows_fetch_the_whole_once() {
    const THREADS: usize = 8;
    for mode in ["dap2", "dap4"] {
        let opened = opened(&[("v", &[800, 30])], mode, 20);
        let barrier = std::sync::Barrier::new(THREADS);
        std::thread::scope(|scope| {
            for thread in 0..THREADS as u64 {
                let (opened, barrier) = (&opened, &barrier);
                scope.spawn(move || {
                    // Each has rows of its own, and some of its neighbour's.
                    for row in thread * 90..thread * 90 + 150 {
                        let part = Selection::slab(&[row, 0], &[1, 30]);
                        if row < thread * 90 + 2 {
                            barrier.wait();
                        }
                        let read = opened.dataset.variable("v").unwrap().values(&part).unwrap();
                        assert_eq!(read, values(&part));
                    }
                });
            }
        });
        let requests = opened.server.take_requests();
        let whole = requests.iter().filter(|target| !target.contains("%5B")).count();
        // And the first row of each.
        assert_eq!((whole, requests.len()), (1, 1 + THREADS), "{requests:#?}");
    }
}

#[test]
fn nothing_is_fetched_ahead_that_is_not_kept() {
    let names: Vec<(String, Vec<u64>)> = (0..40).map(|at| (format!("c{at}"), vec![90])).collect();
    for (mode, bytes) in [("dap2", 0), ("dap4", 0), ("dap2", 1000), ("dap4", 40 * 90 * 4)] {
        let session = Session::builder().chunk_cache(bytes).build().unwrap();
        let opened = opened_in(&session, &names, mode, 0);
        let before = opened.server.sent();
        let all = Selection::all(&[90]);
        let requests: Vec<usize> = names.iter().map(|(name, _)| opened.read(name, &all)).collect();
        // At last the rest fits.
        let min = if bytes < 4000 { 40 } else { 31 };
        assert_eq!(requests.iter().sum::<usize>(), min, "{requests:?} by {mode} with {bytes} bytes");
        let sent = opened.server.sent() - before;
        assert!(sent < 40 * (90 * 4 + 2000), "{sent} bytes by {mode}");
        // Row after row.
        let part = |at: u64| Selection::slab(&[at], &[10]);
        let before = opened.server.sent();
        let requests: usize = (0..9).map(|at| opened.read("c0", &part(10 * at))).sum();
        let sent = opened.server.sent() - before;
        if bytes == 0 {
            assert!(
                requests == 9 && sent < 9 * (10 * 4 + 2000),
                "{requests} requests, {sent} bytes by {mode}"
            );
        }
    }
}

#[test]
fn scattered_boxes_are_requested_four_at_a_time() {
    let opened = opened(&[("v", &[1000, 1000])], "dap2", 3);
    let model = opened.dataset.model().unwrap();
    let id = model.variable_at("/v").unwrap();
    let wanted: Vec<_> = (0..100).map(|at| (id, Selection::slab(&[at * 9, at * 7], &[2, 3]))).collect();
    let read = opened.dataset.read_many(&wanted).unwrap();
    for ((_, selection), read) in wanted.iter().zip(read) {
        assert_eq!(read, values(selection));
    }
    assert_eq!((opened.server.take_requests().len(), opened.server.max_in_flight()), (100, 4));
}

#[test]
fn variables_that_are_read_together_share_requests() {
    let variables: Vec<(String, Vec<u64>)> = (0..150).map(|at| (format!("v{at}"), vec![100, 250])).collect();
    for mode in ["dap2", "dap4"] {
        let opened = opened_all(&variables, mode, 2);
        let model = opened.dataset.model().unwrap();
        let all = Selection::all(&[100, 250]);
        let wanted: Vec<_> = model.variables().into_iter().map(|id| (id, all.clone())).collect();
        let (read, before) = (opened.dataset.read_many(&wanted).unwrap(), opened.server.sent());
        assert!(read.iter().all(|read| *read == values(&all)));
        // 15 MB in answers of 4 MiB.
        assert_eq!((opened.server.take_requests().len(), opened.server.max_in_flight()), (4, 4), "{mode}");
        let payload = 150 * 100 * 250 * 4;
        assert!(before < payload + payload / 100 + (64 << 10), "{before} bytes for {payload} by {mode}");
    }
}

#[test]
fn a_dump_and_a_copy_request_variables_together() {
    let variables: Vec<(String, Vec<u64>)> = (0..150).map(|at| (format!("v{at}"), vec![10, 25])).collect();
    let server = DapServer::start([("x".to_owned(), made(&variables, values))], DapBehaviour::default());
    let address = format!("{}#dap2", server.url("x"));
    let run = |arguments: &[&str]| {
        let output = crate::program::command().args(arguments).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        (output.stdout, server.take_requests().len())
    };
    let made = tempfile::tempdir().unwrap();
    let copy = made.path().join("copy.nc");
    let copy = copy.to_str().unwrap();
    let (shown, requests) = run(&["dump", "-n", "x", &address]);
    assert_eq!(requests, 3, "two to open, and one for all values");
    let (_, requests) = run(&["copy", &address, copy]);
    assert_eq!(requests, 3);
    assert_eq!(run(&["dump", "-n", "x", copy]).0.len(), shown.len());
    let (_, requests) = run(&["dump", "-h", &address]);
    assert_eq!(requests, 2);
    let (_, requests) = run(&["dump", "-v", "v3", &address]);
    assert_eq!(requests, 3);
}

#[test]
fn a_large_variable_is_requested_in_parts_that_are_reported_beforehand() {
    for mode in ["dap2", "dap4"] {
        let opened = opened(&[("v", &[64, 256, 1024]), ("large", &[128, 1024, 1024])], mode, 1);
        let plan = |name: &str, selection: &Selection| {
            let variable = opened.dataset.variable(name).unwrap();
            opened.dataset.plan(&variable, selection).unwrap()
        };
        assert_eq!(plan("large", &Selection::all(&[128, 1024, 1024])).requests, 32, "512 MiB");
        assert!(opened.server.take_requests().is_empty(), "a plan asks for nothing");
        let all = Selection::all(&[64, 256, 1024]);
        let plan = plan("v", &all);
        let before = opened.server.sent();
        assert_eq!(opened.read("v", &all) as u64, plan.requests);
        assert_eq!((plan.requests, plan.bytes), (4, 64 << 20));
        let sent = opened.server.sent() - before;
        assert!(sent < (64 << 20) + (64 << 20) / 100, "{sent} bytes by {mode}");
        assert_eq!(opened.server.max_in_flight(), 4);
    }
}

#[test]
fn a_box_inside_one_that_was_read_is_no_request() {
    let opened = opened(&[("v", &[50, 30])], "dap4", 0);
    assert_eq!(opened.read("v", &Selection::slab(&[10, 0], &[20, 30])), 1);
    assert_eq!(opened.read("v", &Selection::strided(&[11, 3], &[4, 5], &[3, 5])), 0);
}

/// The most memory that a command takes, in bytes.
fn peak_of(arguments: &[&str]) -> u64 {
    let mut command = crate::program::command();
    let mut child = command.args(arguments).stdout(Stdio::null()).spawn().unwrap();
    let path = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    loop {
        let status = std::fs::read_to_string(&path).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kib = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
        peak = peak.max(kib.unwrap_or(0) << 10);
        if let Some(ended) = child.try_wait().unwrap() {
            assert!(ended.success(), "{arguments:?}");
            return peak;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn answers_are_never_held_beside_what_they_decode_to() {
    eprintln!("{}", copied_within(64).join("\n"));
}

#[cfg(target_os = "linux")]
#[test]
fn a_whole_read_takes_the_array_and_sixteen_mib() {
    const MIB: u64 = 64;
    let variables = [("v".to_owned(), vec![MIB / 4, 1024, 1024])];
    let server = DapServer::start([("x".to_owned(), made(&variables, ones))], DapBehaviour::default());
    for mode in ["dap2", "dap4"] {
        let address = format!("{}#{mode}", server.url("x"));
        let definitions = peak_of(&["dump", "-h", &address]);
        // One block, which is read whole.
        let whole = peak_of(&["dump", "-v", "v", &address]);
        let taken = whole.saturating_sub(definitions) >> 20;
        eprintln!("{MIB} MiB by {mode} take {taken} MiB besides {} MiB", definitions >> 20);
        assert!(taken <= MIB + 16, "{taken} MiB by {mode}");
    }
}

fn ones(selection: &Selection) -> Values {
    Values::Float(vec![1.0; usize::try_from(selection.element_count().unwrap()).unwrap()])
}

/// `cargo test --profile checked -p ncirrus-cli --test command -- --ignored four_gibibytes --nocapture`
#[cfg(target_os = "linux")]
#[test]
#[ignore = "writes 4 GiB twice"]
fn four_gibibytes_are_copied_within_128_mib() {
    eprintln!("{}", copied_within(1024).join("\n"));
}

/// Copies a variable of so many times 4 MiB to netCDF-4 with a memory of 128 MiB; what that takes, in words.
#[cfg(target_os = "linux")]
fn copied_within(planes: u64) -> Vec<String> {
    let variables = [("v".to_owned(), vec![planes, 1024, 1024])];
    let server = DapServer::start([("x".to_owned(), made(&variables, ones))], DapBehaviour::default());
    let made = tempfile::tempdir().unwrap();
    let copy = made.path().join("copy.nc");
    let copied = |mode| {
        let address = format!("{}#{mode}", server.url("x"));
        let start = std::time::Instant::now();
        let peak = peak_of(&["copy", "--memory", "128M", "--overwrite", &address, copy.to_str().unwrap()]);
        let (mib, seconds) = (4 * planes, start.elapsed().as_secs_f64());
        assert!(std::fs::metadata(&copy).unwrap().len() >= mib << 20);
        assert!(peak < 176 << 20, "{} MiB by {mode}", peak >> 20);
        format!("a copy of {mib} MiB by {mode} takes {} MiB and {seconds:.1} s", peak >> 20)
    };
    ["dap2", "dap4"].map(copied).into()
}
