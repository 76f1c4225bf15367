//! Amazon's protocol against servers that check signatures: round trips, rivals, killed writers, errors, requests.
#![expect(
    clippy::panic,
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "helpers of tests may panic and tell"
)]

#[path = "support/fixtures.rs"]
mod fixtures;
mod s3 {
    mod conflicts;
    mod errors;
    mod fixtures;
    mod kills;
    mod places;
    mod requests;
    mod server;
}
mod support;
