//! Aggregations: the corpus of all generations; what goes wrong with fragments; what reading costs.
#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of tests may panic")]
#[cfg(feature = "http")]
#[path = "support/serve.rs"]
mod serve;
mod support;

mod aggregations {
    pub(crate) mod constants;
    pub(crate) mod corpus;
    pub(crate) mod cost;
    pub(crate) mod faults;
    pub(crate) mod made;
    pub(crate) mod older;
    mod texts;
}
