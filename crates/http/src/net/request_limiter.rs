//! Limits on concurrent requests: of a session in total, and to each host.
use ncirrus_layout::LockExt;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The limits of a session.
#[derive(Debug)]
pub(crate) struct RequestLimiter {
    all: Arc<Semaphore>,
    /// By bucket, or by web server.
    places: Mutex<HashMap<String, Arc<Semaphore>>>,
}

/// The queue for requests to one host.
#[derive(Debug, Clone)]
pub(crate) struct RequestQueue {
    all: Arc<Semaphore>,
    place: Arc<Semaphore>,
}

/// A request may be in flight until this is dropped.
#[derive(Debug)]
pub(super) struct RequestPermit {
    _place: Option<OwnedSemaphorePermit>,
    _all: Option<OwnedSemaphorePermit>,
}

impl RequestLimiter {
    /// At most this many concurrent requests, and at least one.
    pub(crate) fn new(most: usize) -> Self {
        Self { all: semaphore(most), places: Mutex::default() }
    }

    /// The queue for a host that accepts at most this many concurrent requests.
    pub(crate) fn queue(&self, place: &str, most: usize) -> RequestQueue {
        let mut places = self.places.guard();
        let place = places.entry(place.to_owned()).or_insert_with(|| semaphore(most));
        RequestQueue { all: Arc::clone(&self.all), place: Arc::clone(place) }
    }
}

impl RequestQueue {
    /// Waits for a permit: first that of the host, so that a busy host does not hold up the others.
    pub(super) async fn turn(&self) -> RequestPermit {
        let place = Arc::clone(&self.place).acquire_owned().await.ok();
        RequestPermit { _place: place, _all: Arc::clone(&self.all).acquire_owned().await.ok() }
    }
}

fn semaphore(most: usize) -> Arc<Semaphore> {
    Arc::new(Semaphore::new(most.clamp(1, Semaphore::MAX_PERMITS)))
}
