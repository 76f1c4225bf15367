//! Amazon's protocol against servers that check signatures: round trips, conflicts, killed writers, errors, requests.
#![expect(
    clippy::panic,
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "helpers of tests may panic and tell"
)]

mod conflicts;
mod enforced;
mod errors;
mod failed;
mod fixtures;
mod google;
mod guard;
mod icechunk;
mod joint;
mod kills;
mod listings;
mod parts;
mod places;
mod requests;
pub(crate) mod server;
mod shards;
