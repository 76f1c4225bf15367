//! The resources that reading uses: memory, open files, requests.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail the test")]

mod handles;
mod mapped;
