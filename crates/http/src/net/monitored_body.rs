//! Bodies of answers, monitored while they arrive: they must have the declared length and a minimum speed.
use super::failure::RequestFailure;
use super::operation::StoreOperation;
use super::record::RequestRecord;
use bytes::{Bytes, BytesMut};
use http_body::{Body as _, Frame};
use ncirrus_layout::Error;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::time::{Instant, Sleep, sleep};

/// The body of an answer.
pub struct MonitoredBody {
    body: reqwest::Body,
    /// Bytes still to come, if known.
    left: Option<u64>,
    /// Maximum number of bytes still allowed.
    room: Option<u64>,
    pace: Option<TransferRate>,
    record: Option<RequestRecord>,
}

/// The minimum speed.
struct TransferRate {
    min: u64,
    window: Duration,
    end: Pin<Box<Sleep>>,
    so_far: u64,
}

impl MonitoredBody {
    /// A body of `len` bytes, if known, of which at least `min` must arrive within each window.
    pub(super) fn new(
        body: reqwest::Body,
        len: Option<u64>,
        (min, window): (u64, Duration),
        record: RequestRecord,
    ) -> Self {
        let pace = TransferRate { min, window, end: Box::pin(sleep(window)), so_far: 0 };
        let room = record.operation.max;
        let mut watched = Self { body, left: len, room, pace: Some(pace), record: Some(record) };
        if len == Some(0) {
            watched.done();
        }
        watched
    }

    /// A body that has already arrived.
    pub fn ready(body: Bytes) -> Self {
        Self { left: None, room: None, body: body.into(), pace: None, record: None }
    }

    /// The next bytes; `None` at the end.
    pub async fn piece(&mut self) -> Option<Result<Bytes, RequestFailure>> {
        poll_fn(|context| self.poll_piece(context)).await
    }

    /// All bytes, or the first `max` of them.
    pub async fn collect(&mut self, max: usize) -> Result<Bytes, RequestFailure> {
        let mut bytes = BytesMut::new();
        while bytes.len() < max
            && let Some(piece) = self.piece().await
        {
            bytes.extend_from_slice(&piece?);
        }
        bytes.truncate(max);
        Ok(bytes.freeze())
    }

    /// Explains why an answer that arrived is unusable.
    pub(crate) fn refuse(mut self, failure: &RequestFailure) -> RequestFailure {
        self.failed(failure)
    }

    /// The operation for which the request was made.
    pub(super) fn operation(&self) -> Option<Arc<StoreOperation>> {
        self.record.as_ref().map(|record| Arc::clone(&record.operation))
    }

    fn poll_piece(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Bytes, RequestFailure>>> {
        loop {
            let Poll::Ready(frame) = Pin::new(&mut self.body).poll_frame(context) else {
                let Some(pace) = &mut self.pace else { return Poll::Pending };
                let slow = ready!(pace.poll_slow(context));
                return Poll::Ready(Some(Err(self.failed(&RequestFailure::passing(slow)))));
            };
            return Poll::Ready(match frame.map(|frame| frame.map(Frame::into_data)) {
                Some(Ok(Ok(piece))) => Some(self.take(piece)),
                // Trailers are ignored.
                Some(Ok(Err(_))) => continue,
                Some(Err(error)) => Some(Err(self.failed(&RequestFailure::of(error)))),
                None => match self.left {
                    Some(left) if left > 0 => Some(Err(self
                        .failed(&RequestFailure::passing(format!("answer was cut off {left} bytes early"))))),
                    _ => {
                        self.done();
                        None
                    }
                },
            });
        }
    }

    fn take(&mut self, piece: Bytes) -> Result<Bytes, RequestFailure> {
        let len = piece.len() as u64;
        if let Some(pace) = &mut self.pace {
            pace.so_far += len;
        }
        if let Some(record) = &mut self.record {
            record.received(piece.len());
        }
        if let Some(room) = &mut self.room {
            let Some(left) = room.checked_sub(len) else {
                return Err(
                    self.failed(&RequestFailure::lasting(Error::limit("object has more bytes than it may")))
                );
            };
            *room = left;
        }
        match &mut self.left {
            Some(left) if *left < len => {
                Err(self.failed(&RequestFailure::passing("answer is longer than it says")))
            }
            Some(left) => {
                *left -= len;
                if *left == 0 {
                    self.done();
                }
                Ok(piece)
            }
            None => Ok(piece),
        }
    }

    fn failed(&mut self, failure: &RequestFailure) -> RequestFailure {
        if let Some(record) = &mut self.record {
            record.failed(failure.error.message());
        }
        failure.clone()
    }

    fn done(&mut self) {
        if let Some(record) = &mut self.record {
            record.done();
        }
    }
}

impl TransferRate {
    /// Ready when too little arrived within a window.
    fn poll_slow(&mut self, context: &mut Context<'_>) -> Poll<String> {
        loop {
            ready!(self.end.as_mut().poll(context));
            if self.so_far < self.min {
                let seconds = self.window.as_secs_f64();
                return Poll::Ready(format!("answer is too slow: {} bytes in {seconds} s", self.so_far));
            }
            self.so_far = 0;
            let next = Instant::now() + self.window;
            self.end.as_mut().reset(next);
        }
    }
}

impl http_body::Body for MonitoredBody {
    type Data = Bytes;
    type Error = RequestFailure;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        let piece = ready!(self.poll_piece(context));
        Poll::Ready(piece.map(|piece| piece.map(Frame::data)))
    }

    fn size_hint(&self) -> http_body::SizeHint {
        self.left.map_or_else(http_body::SizeHint::default, http_body::SizeHint::with_exact)
    }
}
