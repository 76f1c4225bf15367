//! What lies where: datasets below prefixes, objects of stores, and what finding them costs.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail the test")]
#[path = "requests/far.rs"]
mod far;
mod support;

mod places {
    mod finding;
    mod own_store;
}
