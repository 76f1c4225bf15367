//! Remote datasets: HTTP, object stores, bad networks, datasets that are found, copied and removed there.
#![expect(clippy::unwrap_used, reason = "helpers of tests may panic")]

#[path = "../../ncirrus/tests/support/far.rs"]
mod far;
#[path = "support/fixtures.rs"]
mod fixtures;
#[path = "support/proxy.rs"]
mod proxy;
mod support;

mod faults;
mod http;
mod places;
mod resources;
mod s3;
