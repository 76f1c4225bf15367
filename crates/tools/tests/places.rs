//! Finding datasets below prefixes and objects of stores, and its cost.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail the test")]

mod finding;
mod own_store;
