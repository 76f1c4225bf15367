//! Waiting for a future without a runtime.
use std::cell::Cell;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

thread_local! {
    /// How many calls of `block_on` this thread is in: inside, nobody else's tasks wait for this thread.
    static DEPTH: Cell<usize> = const { Cell::new(0) };
}

/// Runs a future to its end on this thread, which sleeps while there is nothing to do.
pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    let _blocking = BlockedThread::enter();
    let mut future = pin!(future);
    let waker = Waker::from(Arc::new(ThreadWaker(thread::current())));
    let mut context = Context::from_waker(&waker);
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(output) => return output,
            Poll::Pending => thread::park(),
        }
    }
}

/// Whether the future that is being polled may keep this thread for long: it was handed to `block_on`.
pub(crate) fn may_block() -> bool {
    DEPTH.with(|depth| depth.get() > 0)
}

struct ThreadWaker(Thread);

impl Wake for ThreadWaker {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

struct BlockedThread;

impl BlockedThread {
    fn enter() -> Self {
        DEPTH.with(|depth| depth.set(depth.get() + 1));
        Self
    }
}

impl Drop for BlockedThread {
    fn drop(&mut self) {
        DEPTH.with(|depth| depth.set(depth.get().saturating_sub(1)));
    }
}
