//! Reading through the engine: selections, costs, stored types, driving of steps.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::cast_possible_truncation,
    reason = "a broken fixture fails the test"
)]
mod driving;
mod index_cache;
mod library;
mod mosaics;
mod queries;
mod references;
mod requests;
mod selections;
mod stored_types;
mod support;
mod tiles;
