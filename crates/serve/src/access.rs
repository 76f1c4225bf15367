//! Who is served, and what is counted and logged of it.
mod clients;
mod counters;
mod log;

pub(crate) use clients::{ClientPermit, Clients};
pub(crate) use counters::{Gauges, Metrics};
pub use log::AccessLog;
pub(crate) use log::AccessRecord;
