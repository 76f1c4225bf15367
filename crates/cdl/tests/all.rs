//! CDL as netCDF-C prints it. One binary, so that its dependencies are linked once.
#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests may panic")]

mod faults;
mod golden;
mod ncml;
mod numbers;
mod reading;
mod support;
