//! Places of connections: a limited number. If all are taken, the connection that has been idle longest is closed.
use axum::body::{Body, Bytes, HttpBody};
use http_body::{Frame, SizeHint};
use ncirrus::layout::LockExt;
use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

/// Time that an idle connection has to close before the next one is asked to.
const CLOSING: Duration = Duration::from_millis(100);
/// Idle connections that are closed for one place, at most.
const TRIES: usize = 3;

/// The places of a server.
pub(super) struct ConnectionPlaces {
    free: Arc<Semaphore>,
    idle: Mutex<IdleQueue>,
}

/// Idle connections, the longest idle first.
#[derive(Default)]
struct IdleQueue {
    next: u64,
    waiting: BTreeMap<u64, Arc<Notify>>,
}

impl ConnectionPlaces {
    pub(super) fn new(count: usize) -> Arc<Self> {
        let free = Arc::new(Semaphore::new(count.clamp(1, Semaphore::MAX_PERMITS)));
        Arc::new(Self { free, idle: Mutex::default() })
    }

    /// A place; `None` if there is none and no connection is idle.
    pub(super) async fn take(self: &Arc<Self>) -> Option<Arc<ConnectionPlace>> {
        for _ in 0..TRIES {
            let free = Arc::clone(&self.free);
            let permit = match Arc::clone(&free).try_acquire_owned() {
                Ok(permit) => Some(permit),
                Err(_) if self.close_longest_idle() => {
                    timeout(CLOSING, free.acquire_owned()).await.ok().and_then(Result::ok)
                }
                Err(_) => return None,
            };
            if let Some(permit) = permit {
                return Some(ConnectionPlace::new(self, permit));
            }
        }
        None
    }

    /// Asks the connection to close that has been idle longest, if one is idle.
    pub(super) fn close_longest_idle(&self) -> bool {
        let first = self.idle.guard().waiting.pop_first();
        first.inspect(|(_, leave)| leave.notify_one()).is_some()
    }

    fn enqueue(&self, leave: &Arc<Notify>) -> u64 {
        let mut idle = self.idle.guard();
        let number = idle.next;
        idle.next += 1;
        idle.waiting.insert(number, Arc::clone(leave));
        number
    }

    fn dequeue(&self, number: u64) {
        self.idle.guard().waiting.remove(&number);
    }
}

/// The place of one connection; free again when this is dropped.
pub(super) struct ConnectionPlace {
    places: Arc<ConnectionPlaces>,
    leave: Arc<Notify>,
    activity: Mutex<ConnectionActivity>,
    _permit: OwnedSemaphorePermit,
}

/// What a connection does.
struct ConnectionActivity {
    /// Its number among the idle ones, unless a response is in progress.
    idle: Option<u64>,
    responses: usize,
    /// Whether a request was ever received.
    has_begun: bool,
}

impl ConnectionPlace {
    fn new(places: &Arc<ConnectionPlaces>, permit: OwnedSemaphorePermit) -> Arc<Self> {
        let leave = Arc::new(Notify::new());
        let activity =
            ConnectionActivity { idle: Some(places.enqueue(&leave)), responses: 0, has_begun: false };
        let places = Arc::clone(places);
        Arc::new(Self { places, leave, activity: Mutex::new(activity), _permit: permit })
    }

    /// Is ready when the place is needed for another connection.
    pub(super) async fn is_needed(&self) {
        self.leave.notified().await;
    }

    /// Whether a request was ever received: otherwise nothing has to be completed.
    pub(super) fn has_begun(&self) -> bool {
        self.activity.guard().has_begun
    }

    /// Notes that a response is in progress, until the result is dropped.
    pub(super) fn begin(self: &Arc<Self>) -> ResponseInProgress {
        let mut activity = self.activity.guard();
        activity.has_begun = true;
        activity.responses += 1;
        if let Some(number) = activity.idle.take() {
            self.places.dequeue(number);
        }
        ResponseInProgress(Arc::clone(self))
    }
}

impl Drop for ConnectionPlace {
    fn drop(&mut self) {
        if let Some(number) = self.activity.guard().idle.take() {
            self.places.dequeue(number);
        }
    }
}

/// A response of a connection, which is not idle.
pub(super) struct ResponseInProgress(Arc<ConnectionPlace>);

impl ResponseInProgress {
    /// The body, in progress until it is dropped.
    pub(super) fn body(self, body: Body) -> Body {
        Body::new(BodyInProgress { body, _response: self })
    }
}

impl Drop for ResponseInProgress {
    fn drop(&mut self) {
        let place = &self.0;
        let mut activity = place.activity.guard();
        activity.responses -= 1;
        if activity.responses == 0 {
            activity.idle = Some(place.places.enqueue(&place.leave));
        }
    }
}

struct BodyInProgress {
    body: Body,
    _response: ResponseInProgress,
}

impl HttpBody for BodyInProgress {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether the connection was asked to close.
    async fn is_needed(place: &ConnectionPlace) -> bool {
        timeout(Duration::ZERO, place.is_needed()).await.is_ok()
    }

    fn run(work: impl Future<Output = ()>) {
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work);
    }

    #[test]
    fn the_connection_that_was_idle_longest_makes_room() {
        run(async {
            let places = ConnectionPlaces::new(3);
            let [first, second, third] =
                [places.take().await, places.take().await, places.take().await].map(Option::unwrap);
            // The first one is idle again after the others.
            drop(first.begin());
            let busy = third.begin();
            let waiting = tokio::spawn({
                let places = Arc::clone(&places);
                async move { places.take().await }
            });
            second.is_needed().await;
            assert!(!is_needed(&first).await && !is_needed(&third).await);
            assert!(!second.has_begun() && first.has_begun());
            drop(second);
            let fourth = waiting.await.unwrap().unwrap();
            drop(first);
            drop((busy, fourth));
            assert_eq!(places.idle.guard().waiting.len(), 1, "the third one");
            drop(third);
            assert!(places.idle.guard().waiting.is_empty());
        });
    }

    #[test]
    fn there_is_no_place_while_all_connections_have_responses_in_progress() {
        run(async {
            let places = ConnectionPlaces::new(2);
            let [one, other] = [places.take().await, places.take().await].map(Option::unwrap);
            let bodies = [one.begin().body(Body::empty()), other.begin().body(Body::empty())];
            assert!(places.take().await.is_none());
            assert!(!places.close_longest_idle());
            drop(bodies);
            drop(one);
            assert!(places.take().await.is_some());
        });
    }

    #[test]
    fn connections_that_do_not_close_keep_their_places() {
        run(async {
            let places = ConnectionPlaces::new(1);
            let _deaf = places.take().await.unwrap();
            assert!(places.take().await.is_none());
        });
    }
}
