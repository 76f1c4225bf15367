//! The requests that reading of references costs, with a cache of blocks on disk.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail the test")]

mod cached;
