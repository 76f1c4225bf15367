//! Changes of whole datasets: updates, random programs, aggregations that grow.
#![expect(clippy::unwrap_used, reason = "helpers of tests may panic")]

#[expect(dead_code, reason = "its other parts are for the tests of single datasets")]
#[path = "../../ncirrus/tests/kills/stores.rs"]
mod killed_stores;
mod support;

mod aggregating;
mod optimizing;
mod programs;
mod root_arrays;
mod updates;
