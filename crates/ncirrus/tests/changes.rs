//! Changes of datasets: appends, edits of files of others, killed writers, lengths, and the examples.
#![expect(clippy::unwrap_used, reason = "helpers of tests may panic")]

#[path = "support/far.rs"]
mod far;
mod support;

mod nc4 {
    pub(crate) mod changes;
    pub(crate) mod counting;
}

mod cancelled_writes;
mod examples;
mod growing;
mod hdf5_updates;
mod kills;
mod lengths;
mod nc4_appends;
mod nc4_kills;
mod refused_definitions;
mod shards;
mod small_writes;
