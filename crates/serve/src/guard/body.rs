//! A body within the limits, whose end is logged.
use crate::access::{AccessRecord, ClientPermit};
use crate::{HttpError, ServerState};
use axum::body::{Body, Bytes, HttpBody};
use http_body::{Frame, SizeHint};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use tokio::time::{Sleep, sleep_until};

/// A body that counts its bytes and ends early past the limits.
pub(super) struct GuardedBody {
    body: Body,
    state: ServerState,
    record: Option<AccessRecord>,
    sent: u64,
    /// Bytes of the whole body, if they are known.
    len: Option<u64>,
    /// Whether nothing is left to send.
    is_ended: bool,
    has_failed: bool,
    deadline: Pin<Box<Sleep>>,
    _permit: Option<ClientPermit>,
}

impl GuardedBody {
    /// `len`: the length that the head states.
    pub(super) fn new(
        body: Body,
        len: Option<u64>,
        state: ServerState,
        record: AccessRecord,
        permit: Option<ClientPermit>,
    ) -> Self {
        let (deadline, now) = (record.begun() + state.limits().response_time, Instant::now());
        // The error that the time is over needs some time, too.
        let deadline = if deadline > now { deadline } else { now + LATE };
        let deadline = Box::pin(sleep_until(deadline.into()));
        let len = len.or_else(|| body.size_hint().exact());
        // A response to HEAD states the length of a body that is not sent.
        let is_ended = record.is_head() || body.is_end_stream();
        let (record, sent, has_failed) = (Some(record), 0, false);
        Self { body, state, record, sent, len, is_ended, has_failed, deadline, _permit: permit }
    }

    fn refuse(&mut self, message: &str) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        self.has_failed = true;
        self.record = self.record.take().map(|record| record.cause(Some(message.to_owned())));
        Poll::Ready(Some(Err(axum::Error::new(HttpError::internal(message)))))
    }
}

impl HttpBody for GuardedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        // The timer wakes the connection also while nothing is produced.
        if self.deadline.as_mut().poll(context).is_ready() {
            return self.refuse("the response took too long");
        }
        let polled = Pin::new(&mut self.body).poll_frame(context);
        match &polled {
            Poll::Ready(Some(Ok(frame))) => {
                self.sent += frame.data_ref().map_or(0, |data| data.len() as u64);
                if self.sent > self.state.limits().response_bytes.saturating_add(SLACK) {
                    return self.refuse("the response is larger than the limit");
                }
            }
            Poll::Ready(Some(Err(error))) => {
                let cause = error.to_string();
                self.has_failed = true;
                self.record = self.record.take().map(|record| record.cause(Some(cause)));
            }
            Poll::Ready(None) => self.is_ended = true,
            Poll::Pending => {}
        }
        polled
    }

    /// Only of a body without bytes: the connection drops a body that says so at its last bytes, before it has sent them, and
    /// the permit with it.
    fn is_end_stream(&self) -> bool {
        self.sent == 0 && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// Time for the body of a response that begins when its time is over.
const LATE: Duration = Duration::from_secs(5);
/// What a response may have besides its values: documents in front of them, lengths between them.
const SLACK: u64 = 64 << 20;

impl Drop for GuardedBody {
    fn drop(&mut self) {
        if let Some(record) = self.record.take() {
            // A body of known length is dropped when all its bytes were taken.
            let is_complete = !self.has_failed && (self.is_ended || self.len == Some(self.sent));
            self.state.metrics().note(record.status_code(), self.sent, record.elapsed(), is_complete);
            self.state.log().write(&record, self.sent, is_complete);
        }
    }
}
