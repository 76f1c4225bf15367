//! Aggregations: the corpus of all generations; what goes wrong with fragments; what reading costs.
#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of tests may panic")]

pub(crate) mod constants;
pub(crate) mod corpus;
pub(crate) mod cost;
pub(crate) mod faults;
pub(crate) mod made;
pub(crate) mod older;
mod texts;
