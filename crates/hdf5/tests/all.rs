//! What the crate needs of the compiler.
#![expect(clippy::unwrap_used, reason = "helpers of tests may panic")]

mod optimised;
