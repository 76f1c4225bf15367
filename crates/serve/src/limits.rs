//! What a response, a client and all of them together may use.
use std::time::Duration;

/// Limits of a server.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ServerLimits {
    /// Bytes of one response, before compression.
    pub response_bytes: u64,
    /// Time of one response, from the request to the last byte.
    pub response_time: Duration,
    /// Time without progress after which a client that does not read, or does not send its request, is cut off.
    pub idle_time: Duration,
    /// Responses that are produced at the same time; more are refused with 503.
    pub responses: usize,
    /// Of these, responses for one client (an address of the network); more are refused with 429.
    pub responses_per_client: usize,
    /// Connections that are open at the same time. For one more, the connection is closed that has been idle longest; if all
    /// have responses in progress, the new one is refused with 503.
    pub connections: usize,
    /// Worker threads for what blocks.
    pub workers: usize,
    /// Datasets that are kept open.
    pub open_datasets: usize,
    /// How long an open dataset, or the list of a folder, is used without a check whether it changed.
    pub recheck: Duration,
}

impl Default for ServerLimits {
    fn default() -> Self {
        Self {
            response_bytes: 4 << 30,
            response_time: Duration::from_secs(1800),
            idle_time: Duration::from_secs(60),
            responses: 256,
            responses_per_client: 64,
            connections: 16 << 10,
            workers: 2 * std::thread::available_parallelism().map_or(4, std::num::NonZero::get).max(4),
            open_datasets: 64,
            recheck: Duration::from_secs(2),
        }
    }
}
