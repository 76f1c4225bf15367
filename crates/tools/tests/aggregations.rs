//! Aggregations: the corpus of all conventions; faults of fragments; the cost of reading.
#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of tests may panic")]

pub(crate) mod constants;
pub(crate) mod corpus;
pub(crate) mod cost;
pub(crate) mod faults;
pub(crate) mod made;
pub(crate) mod older;
mod texts;
