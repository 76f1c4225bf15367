//! Changes of datasets: updates, random programs, appends, killed writers, aggregations that grow.
#![expect(clippy::unwrap_used, reason = "helpers of tests may panic")]

#[path = "support/serve.rs"]
mod serve;
#[expect(dead_code, reason = "its requests are counted elsewhere")]
#[path = "support/s3.rs"]
mod small_s3;
mod support;

mod nc4 {
    pub(crate) mod changes;
    pub(crate) mod counting;
}

mod aggregating;
mod examples;
mod growing;
mod hdf5_updates;
mod kills;
mod lengths;
mod nc4_appends;
mod nc4_kills;
mod programs;
mod updates;
