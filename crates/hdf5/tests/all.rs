//! What the crate needs of the compiler, and what holds of every format.
#![expect(clippy::unwrap_used, reason = "helpers of tests may panic")]

mod laws;
mod optimised;
