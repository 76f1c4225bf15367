//! The layer below all stores that speak HTTP: time limits, retries, checks of answers, traces.
mod answer;
mod bucket;
mod failure;
mod monitored_body;
mod operation;
mod record;
mod request_limiter;
mod service;

pub use answer::clock_difference_text;
pub(crate) use answer::{content_coding, content_range};
pub use failure::{RequestFailure, RetryOutlook};
pub use monitored_body::MonitoredBody;
pub(crate) use operation::query_operation;
pub use operation::{StoreOperation, again, once, operation, read_operation};
pub use record::NetworkTraffic;
pub(crate) use service::SharedService;
pub use service::{RequestService, ResponseHead};
