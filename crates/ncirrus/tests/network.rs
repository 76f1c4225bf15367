//! Remote datasets: the number and size of requests, uploads in parts, and the resources that reading uses.
#![expect(clippy::unwrap_used, reason = "helpers of tests may panic")]

#[path = "support/far.rs"]
mod far;
mod support;

mod hdf5_requests;
mod hdf5_stress;
mod requests;
mod resources;
mod streamed;
