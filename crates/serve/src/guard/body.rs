//! A body within the limits, whose end is logged.
use super::ClientPermit;
use super::log::AccessRecord;
use crate::{HttpError, ServerState};
use axum::body::{Body, Bytes, HttpBody};
use http_body::{Frame, SizeHint};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Instant;

/// A body that counts its bytes and ends early past the limits.
pub(crate) struct GuardedBody {
    body: Body,
    state: ServerState,
    record: Option<AccessRecord>,
    sent: u64,
    has_failed: bool,
    deadline: Instant,
    _permit: Option<ClientPermit>,
}

impl GuardedBody {
    pub(super) fn new(
        body: Body,
        state: ServerState,
        record: AccessRecord,
        permit: Option<ClientPermit>,
    ) -> Self {
        let deadline = record.begun() + state.limits().response_time;
        Self { body, state, record: Some(record), sent: 0, has_failed: false, deadline, _permit: permit }
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
        if Instant::now() > self.deadline {
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
            _ => {}
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// What a response may have besides its values: documents in front of them, lengths between them.
const SLACK: u64 = 64 << 20;

impl Drop for GuardedBody {
    fn drop(&mut self) {
        if let Some(record) = self.record.take() {
            let is_complete = !self.has_failed;
            self.state.metrics().note(record.status_code(), self.sent, record.elapsed(), is_complete);
            self.state.log().write(&record, self.sent, is_complete);
        }
    }
}
