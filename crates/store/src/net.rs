//! What lies below all stores that speak HTTP: time limits, repetition, checks of answers, traces.
#[cfg(feature = "net")]
mod answer;
#[cfg(feature = "net")]
mod bucket;
#[cfg(feature = "cloud")]
mod connector;
#[cfg(feature = "net")]
mod failure;
#[cfg(feature = "net")]
mod monitored_body;
#[cfg(feature = "net")]
mod operation;
#[cfg(feature = "net")]
mod record;
#[cfg(feature = "net")]
mod request_limiter;
mod retry_policy;
#[cfg(feature = "net")]
mod service;

#[cfg(feature = "net")]
pub use operation::at_most;
#[cfg(feature = "net")]
pub use record::NetworkTraffic;
pub use retry_policy::RetryPolicy;

/// Runs reads of stores, none of which is over a network.
#[cfg(not(feature = "net"))]
pub async fn at_most<T>(_: u64, work: impl Future<Output = T>) -> T {
    work.await
}

#[cfg(feature = "http")]
pub(crate) use answer::content_range;
#[cfg(feature = "cloud")]
pub(crate) use answer::told_of_clock;
#[cfg(feature = "cloud")]
pub(crate) use connector::PooledConnector;
#[cfg(feature = "net")]
pub(crate) use failure::RequestFailure;
#[cfg(feature = "cloud")]
pub(crate) use operation::{StoreOperation, once};
#[cfg(feature = "net")]
pub(crate) use operation::{again, operation};
#[cfg(feature = "http")]
pub(crate) use service::ResponseHead;
#[cfg(feature = "net")]
pub(crate) use service::{RequestService, SharedService};
