//! Limits on concurrent requests: of a session in total, and to each host.
use ncirrus_layout::LockExt;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

/// The limits of a session.
#[derive(Debug)]
pub(crate) struct RequestLimiter {
    all: Arc<Semaphore>,
    /// By bucket, or by web server.
    places: Mutex<HashMap<String, Arc<PlaceLimits>>>,
}

/// The limits of a host.
#[derive(Debug)]
struct PlaceLimits {
    permits: Arc<Semaphore>,
    /// One at a time, for a host that is busy.
    alone: Arc<Semaphore>,
    /// When a busy host may be sent a request again.
    busy_until: Mutex<Option<Instant>>,
}

/// The queue for requests to one host.
#[derive(Debug, Clone)]
pub(crate) struct RequestQueue {
    all: Arc<Semaphore>,
    place: Arc<PlaceLimits>,
}

/// A request may be in flight until this is dropped.
#[derive(Debug)]
pub(super) struct RequestPermit {
    _place: Option<OwnedSemaphorePermit>,
    _alone: Option<OwnedSemaphorePermit>,
    _all: Option<OwnedSemaphorePermit>,
}

impl RequestLimiter {
    /// At most this many concurrent requests, and at least one.
    pub(crate) fn new(max: usize) -> Self {
        Self { all: semaphore(max), places: Mutex::default() }
    }

    /// The queue for a host that accepts at most this many concurrent requests.
    pub(crate) fn queue(&self, place: &str, max: usize) -> RequestQueue {
        let mut places = self.places.guard();
        let limits = || {
            let (permits, alone) = (semaphore(max), semaphore(1));
            Arc::new(PlaceLimits { permits, alone, busy_until: Mutex::default() })
        };
        let place = places.entry(place.to_owned()).or_insert_with(limits);
        RequestQueue { all: Arc::clone(&self.all), place: Arc::clone(place) }
    }
}

impl RequestQueue {
    /// Waits for a permit: first that of the host, so that a busy host does not hold up the others.
    pub(super) async fn acquire(&self) -> RequestPermit {
        let place = Arc::clone(&self.place.permits).acquire_owned().await.ok();
        let mut alone = None;
        if self.place.busy_until.guard().is_some() {
            alone = Arc::clone(&self.place.alone).acquire_owned().await.ok();
            let until = *self.place.busy_until.guard();
            if let Some(until) = until {
                tokio::time::sleep_until(until).await;
            }
        }
        RequestPermit { _place: place, _alone: alone, _all: Arc::clone(&self.all).acquire_owned().await.ok() }
    }

    /// From now on the host is sent one request at a time, the first of them after a while.
    pub(super) fn slow_down(&self, after: Duration) {
        let until = Instant::now() + after;
        let mut busy = self.place.busy_until.guard();
        *busy = Some(busy.map_or(until, |before| before.max(until)));
    }
}

fn semaphore(max: usize) -> Arc<Semaphore> {
    Arc::new(Semaphore::new(max.clamp(1, Semaphore::MAX_PERMITS)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt;

    #[test]
    fn a_busy_host_is_sent_one_request_at_a_time() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let limiter = RequestLimiter::new(8);
            let queue = limiter.queue("host", 4);
            let all: Vec<RequestPermit> = (0..4).filter_map(|_| queue.acquire().now_or_never()).collect();
            assert_eq!(all.len(), 4);
            drop(all);
            limiter.queue("host", 4).slow_down(Duration::from_millis(20));
            let start = Instant::now();
            let first = queue.acquire().await;
            assert!(start.elapsed() >= Duration::from_millis(20), "the host asked to wait");
            assert!(queue.acquire().now_or_never().is_none(), "another one waits for the first");
            assert!(limiter.queue("other", 4).acquire().now_or_never().is_some());
            drop(first);
            assert!(queue.acquire().now_or_never().is_some());
        });
    }
}
