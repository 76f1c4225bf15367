//! CDL as netCDF-C prints it. One binary, so that what it needs is linked once.
#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests may panic")]

mod faults;
mod golden;
mod numbers;
mod support;
