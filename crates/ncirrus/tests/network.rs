//! Remote datasets: HTTP, object stores, bad networks, the number and size of requests, and the resources that reading
//! uses.
#![expect(clippy::unwrap_used, reason = "helpers of tests may panic")]

#[path = "support/far.rs"]
mod far;
#[path = "support/fixtures.rs"]
mod fixtures;
#[path = "support/proxy.rs"]
mod proxy;
#[path = "support/serve.rs"]
mod serve;
#[path = "support/s3.rs"]
mod small_s3;
mod support;

mod faults;
mod hdf5_requests;
mod hdf5_stress;
mod http;
mod places;
mod requests;
mod resources;
mod s3;
mod streamed;
