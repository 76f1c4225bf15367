//! A server against clients. One binary, so that its dependencies are linked once.
#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests fail the test")]

mod changes;
mod compression;
mod crowds;
mod endings;
mod nccopy;
mod pages;
mod peers;
mod server;
mod support;
