//! Aggregations that are made here: of files that are there, by splitting, and by writing; what others make of them.
#![expect(clippy::unwrap_used, reason = "helpers of tests may panic")]
mod support;

mod aggregating {
    mod added;
    pub(crate) mod files;
    mod joined;
    mod killed;
    mod layouts;
    mod moved;
    mod others;
    mod referred;
    mod split;
    mod written;
}

#[expect(dead_code, reason = "its requests are counted elsewhere")]
#[path = "support/s3.rs"]
mod s3;
#[path = "support/serve.rs"]
mod serve;
#[expect(dead_code, reason = "shared with tests that need more of it")]
#[path = "kills/stores.rs"]
mod stores;
