//! Whole files: real ones, odd and damaged ones, and those that are written.
#![expect(clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod corpus;
mod damage;
mod ncgen;
mod properties;
mod support;
mod writing;
