//! Counters, in the text format of Prometheus.
use axum::http::StatusCode;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Upper bounds of the times of responses, in milliseconds.
const BOUNDS: [u64; 9] = [5, 20, 100, 500, 1_000, 5_000, 20_000, 60_000, 300_000];

/// What was counted since the server began.
#[derive(Default)]
pub(crate) struct Metrics {
    /// By the first digit of the status.
    responses: [AtomicU64; 6],
    bytes: AtomicU64,
    cut: AtomicU64,
    times: [AtomicU64; BOUNDS.len() + 1],
    milliseconds: AtomicU64,
    pub(crate) connections: AtomicU64,
    pub(crate) refused_connections: AtomicU64,
}

/// What is counted elsewhere.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Gauges {
    /// Responses in progress.
    pub(crate) responses: usize,
    /// Datasets that are kept open.
    pub(crate) datasets: usize,
}

impl Metrics {
    pub(crate) fn note(&self, status: StatusCode, bytes: u64, time: Duration, is_complete: bool) {
        let class = usize::from(status.as_u16() / 100).min(self.responses.len() - 1);
        if let Some(counter) = self.responses.get(class) {
            counter.fetch_add(1, Ordering::Relaxed);
        }
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
        self.cut.fetch_add(u64::from(!is_complete), Ordering::Relaxed);
        let milliseconds = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        self.milliseconds.fetch_add(milliseconds, Ordering::Relaxed);
        let at = BOUNDS.iter().position(|bound| milliseconds <= *bound).unwrap_or(BOUNDS.len());
        if let Some(counter) = self.times.get(at) {
            counter.fetch_add(1, Ordering::Relaxed);
        }
    }

    pub(crate) fn text(&self, gauges: Gauges) -> String {
        let mut text = String::new();
        let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        family(&mut text, "ncirrus_responses_total", "counter", "Responses, by the class of their status.");
        for (class, counter) in self.responses.iter().enumerate().skip(1) {
            _ = writeln!(text, "ncirrus_responses_total{{class=\"{class}xx\"}} {}", get(counter));
        }
        let numbers = [
            ("ncirrus_sent_bytes_total", "counter", "Bytes of bodies, before compression.", get(&self.bytes)),
            ("ncirrus_cut_responses_total", "counter", "Responses that ended early.", get(&self.cut)),
            ("ncirrus_responses_in_progress", "gauge", "Responses in progress.", gauges.responses as u64),
            ("ncirrus_connections", "gauge", "Open connections.", get(&self.connections)),
            (
                "ncirrus_refused_connections_total",
                "counter",
                "Connections that were refused, since all others had responses in progress.",
                get(&self.refused_connections),
            ),
            ("ncirrus_open_datasets", "gauge", "Datasets that are kept open.", gauges.datasets as u64),
        ];
        for (name, kind, help, value) in numbers {
            family(&mut text, name, kind, help);
            _ = writeln!(text, "{name} {value}");
        }
        family(&mut text, "ncirrus_response_seconds", "histogram", "Time of responses.");
        let mut sum = 0;
        for (bound, counter) in BOUNDS.iter().zip(&self.times) {
            sum += get(counter);
            let (seconds, rest) = (bound / 1000, bound % 1000);
            _ = writeln!(text, "ncirrus_response_seconds_bucket{{le=\"{seconds}.{rest:03}\"}} {sum}");
        }
        sum += self.times.last().map_or(0, get);
        let (seconds, rest) = (get(&self.milliseconds) / 1000, get(&self.milliseconds) % 1000);
        _ = writeln!(text, "ncirrus_response_seconds_bucket{{le=\"+Inf\"}} {sum}");
        _ = writeln!(
            text,
            "ncirrus_response_seconds_sum {seconds}.{rest:03}\nncirrus_response_seconds_count {sum}"
        );
        text
    }
}

fn family(text: &mut String, name: &str, kind: &str, help: &str) {
    _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}");
}
