//! The network of stores: connections, time limits, retries, and the objects of web servers.
//!
//! Everything that sends requests does so through [`RequestService`], which queues requests, retries them while that
//! may help, and counts them.
#![deny(unsafe_code)]

mod byte_ranges;
#[cfg(test)]
mod byte_ranges_tests;
mod connections;
mod context;
mod jar;
mod net;
mod opener;
mod web;

pub use connections::ConnectionPool;
pub use context::NetworkContext;
pub use net::{
    MonitoredBody, NetworkTraffic, RequestFailure, RequestService, ResponseHead, RetryOutlook,
    StoreOperation, again, clock_difference_text, once, operation, read_operation,
};
pub use opener::HttpOpener;
pub use web::HttpStore;
