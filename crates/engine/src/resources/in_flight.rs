//! Many requests at once, but not too many: the one loop for all fetching.
use super::{MemoryBudget, MemoryPermit};
use futures_util::FutureExt;
use futures_util::stream::{FuturesUnordered, StreamExt};
use ncirrus_layout::Result;

/// How many requests are in flight at once, and the memory that they share.
pub(crate) struct InFlight<'a> {
    max: usize,
    memory: Option<(&'a MemoryBudget, FirstRequest)>,
}

/// What a request does if there is no memory for it and no other request is in flight whose end could free some.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FirstRequest {
    /// It waits until other reads and writes release some.
    Waits,
    /// It proceeds without: the caller bounds what it fetches.
    Goes,
}

/// Whether a request may begin.
enum Admission {
    Now(Option<MemoryPermit>),
    Later,
}

impl<'a> InFlight<'a> {
    /// At most `max` at once, at least one.
    pub(crate) fn at_most(max: usize) -> Self {
        Self { max: max.max(1), memory: None }
    }

    /// The same, where each holds its share of the memory while it is in flight and until its answer is processed.
    pub(crate) fn within(self, memory: &'a MemoryBudget, first: FirstRequest) -> Self {
        Self { memory: Some((memory, first)), ..self }
    }

    /// Begins a request for every item, and passes on the answers in the order in which they arrive, as many at a time
    /// as have arrived. `bytes` says how much memory a request takes.
    ///
    /// # Errors
    /// The first failure of `begin` or `done`: what is in flight then is dropped.
    pub(crate) async fn run<I, F: Future>(
        &self,
        items: impl IntoIterator<Item = I, IntoIter: Send>,
        bytes: impl Fn(&I) -> usize + Send,
        mut begin: impl FnMut(I, Option<MemoryPermit>) -> Result<F> + Send,
        mut done: impl FnMut(Vec<F::Output>) -> Result<()> + Send,
    ) -> Result<()> {
        let (mut items, mut waiting) = (items.into_iter(), None);
        let mut in_flight = FuturesUnordered::new();
        loop {
            while in_flight.len() < self.max
                && let Some(item) = waiting.take().or_else(|| items.next())
            {
                match self.admit(bytes(&item), in_flight.is_empty()).await? {
                    Admission::Now(permit) => in_flight.push(begin(item, permit)?),
                    Admission::Later => {
                        waiting = Some(item);
                        break;
                    }
                }
            }
            let Some(first) = in_flight.next().await else { return Ok(()) };
            let mut arrived = vec![first];
            while let Some(Some(more)) = in_flight.next().now_or_never() {
                arrived.push(more);
            }
            done(arrived)?;
        }
    }

    /// As [`run`](Self::run), without memory shares, and one answer at a time.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub(crate) async fn for_each<I, F: Future>(
        &self,
        items: impl IntoIterator<Item = I, IntoIter: Send>,
        mut begin: impl FnMut(I) -> Result<F> + Send,
        mut done: impl FnMut(F::Output) -> Result<()> + Send,
    ) -> Result<()> {
        self.run(items, |_| 0, |item, _| begin(item), |arrived| arrived.into_iter().try_for_each(&mut done))
            .await
    }

    async fn admit(&self, bytes: usize, is_first: bool) -> Result<Admission> {
        let Some((memory, first)) = self.memory else { return Ok(Admission::Now(None)) };
        match memory.try_share(bytes) {
            Some(permit) => Ok(Admission::Now(Some(permit))),
            None if !is_first => Ok(Admission::Later),
            None if first == FirstRequest::Goes => Ok(Admission::Now(None)),
            None => Ok(Admission::Now(Some(memory.share(bytes).await?))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resources::block_on;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// The maximum number of requests in flight at once, each of the given number of bytes.
    fn max_at_once(limits: &InFlight<'_>, count: usize, bytes: usize) -> usize {
        let (now, max, mut done) = (AtomicUsize::new(0), AtomicUsize::new(0), 0);
        let begin = |_, permit: Option<MemoryPermit>| {
            max.fetch_max(now.fetch_add(1, Ordering::Relaxed) + 1, Ordering::Relaxed);
            let now = &now;
            Ok(async move {
                let _permit = permit;
                let mut polls = 0;
                std::future::poll_fn(|context| {
                    context.waker().wake_by_ref();
                    polls += 1;
                    if polls > 2 { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
                })
                .await;
                now.fetch_sub(1, Ordering::Relaxed);
            })
        };
        let run = limits.run(
            0..count,
            |_| bytes,
            begin,
            |arrived| {
                done += arrived.len();
                Ok(())
            },
        );
        block_on(run).unwrap();
        assert_eq!(done, count);
        max.into_inner()
    }

    #[test]
    fn no_more_requests_than_allowed_are_in_flight() {
        assert_eq!(max_at_once(&InFlight::at_most(3), 10, 1), 3);
        assert_eq!(max_at_once(&InFlight::at_most(0), 3, 1), 1);
        assert_eq!(max_at_once(&InFlight::at_most(3), 0, 1), 0);
    }

    #[test]
    fn requests_wait_for_memory() {
        let memory = MemoryBudget::new(64 << 10);
        let limits = |first| InFlight::at_most(8).within(&memory, first);
        assert_eq!(max_at_once(&limits(FirstRequest::Waits), 10, 32 << 10), 2);
        assert_eq!(max_at_once(&limits(FirstRequest::Waits), 4, 1 << 20), 1);
        let _all = memory.try_share(64 << 10);
        assert_eq!(max_at_once(&limits(FirstRequest::Goes), 4, 32 << 10), 1);
    }
}
