//! How many requests are under way at once: of a session in all, and to each place.
use ncirrus_layout::LockExt;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The bounds of a session.
#[derive(Debug)]
pub(crate) struct RequestLimiter {
    all: Arc<Semaphore>,
    /// By bucket, or by web server.
    places: Mutex<HashMap<String, Arc<Semaphore>>>,
}

/// Where requests to one place wait for their turn.
#[derive(Debug, Clone)]
pub(crate) struct RequestQueue {
    all: Arc<Semaphore>,
    place: Arc<Semaphore>,
}

/// A request may be under way until this is dropped.
#[derive(Debug)]
pub(super) struct RequestPermit {
    _place: Option<OwnedSemaphorePermit>,
    _all: Option<OwnedSemaphorePermit>,
}

impl RequestLimiter {
    /// At most so many requests at once, and at least one.
    pub(crate) fn new(most: usize) -> Self {
        Self { all: semaphore(most), places: Mutex::default() }
    }

    /// Where requests to a place wait, which takes at most so many at once.
    pub(crate) fn queue(&self, place: &str, most: usize) -> RequestQueue {
        let mut places = self.places.guard();
        let place = places.entry(place.to_owned()).or_insert_with(|| semaphore(most));
        RequestQueue { all: Arc::clone(&self.all), place: Arc::clone(place) }
    }
}

impl RequestQueue {
    /// Waits for the turn of a request: first at its place, so that one that is busy keeps nobody else waiting.
    pub(super) async fn turn(&self) -> RequestPermit {
        let place = Arc::clone(&self.place).acquire_owned().await.ok();
        RequestPermit { _place: place, _all: Arc::clone(&self.all).acquire_owned().await.ok() }
    }
}

fn semaphore(most: usize) -> Arc<Semaphore> {
    Arc::new(Semaphore::new(most.clamp(1, Semaphore::MAX_PERMITS)))
}
