//! CDL as netCDF-C prints it. One binary, so that what it needs is linked once.

mod faults;
mod golden;
mod numbers;
mod support;
