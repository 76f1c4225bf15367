//! What a read will do, before it does it.
mod summary;

pub use summary::{PlannedRequest, PlannedSource, ReadPlan};
