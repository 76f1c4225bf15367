//! What lies where: datasets below prefixes, objects of stores, and what finding them costs.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail the test")]

mod finding;
mod own_store;
