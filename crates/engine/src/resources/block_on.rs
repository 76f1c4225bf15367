//! Waiting for a future without a runtime, and interrupting such a wait.
use ncirrus_layout::{Error, ErrorKind, LockExt, Result};
use std::cell::{Cell, RefCell};
use std::mem::ManuallyDrop;
use std::pin::pin;
use std::rc::Rc;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::time::{Duration, Instant};
// In a task of tokio, its locks let a future wait once the task's budget is used up, and wake it when the task yields. A task that
// waits here never yields: such futures have no budget.
use tokio::task::unconstrained;

// Programs also wait in what they registered for the end of a thread or with `atexit`: variables of the thread that have a destructor
// are gone by then. So these have none, and `std::thread::current`, which has one, is not used.
thread_local! {
    /// Depth of nested calls of `block_on` on this thread: inside one, no other tasks depend on this thread.
    static DEPTH: Cell<usize> = const { Cell::new(0) };
    /// The watch that is asked whether to go on while this thread waits. `watch` drops it.
    static WATCH: RefCell<Option<ManuallyDrop<Rc<Watch>>>> = const { RefCell::new(None) };
}

/// A callback that decides whether to go on.
struct Watch {
    interval: Duration,
    stops: Box<dyn Fn() -> bool>,
    last: Cell<Instant>,
}

impl Watch {
    /// Whether the wait is to end; while a wait goes on, the callback is called once per interval.
    fn says_stop(&self) -> bool {
        self.last.get().elapsed() >= self.interval && self.says_stop_now()
    }

    fn says_stop_now(&self) -> bool {
        let stops = (self.stops)();
        self.last.set(Instant::now());
        stops
    }

    /// Time until the callback is called again.
    fn rest(&self) -> Duration {
        self.interval.saturating_sub(self.last.get().elapsed())
    }
}

/// Runs `body`; every call in it that waits on this thread calls `stops` when it begins to wait, then once in
/// `interval`: what made `stops` true before such a call is seen by that call, however short. When that returns true, the
/// wait ends with [`ErrorKind::Interrupted`](ncirrus_layout::ErrorKind::Interrupted): what was in flight is
/// dropped, and its requests are cancelled. Calls that compute for long check between their parts.
///
/// After an interrupted read the dataset is as it was. An interrupted write has written some of its elements; if
/// changes that the format relies on were in flight (on remote stores, and in a `sync` or `close` whose commit had
/// begun), the writer is ended: every later call fails, what was committed before stays valid, and a new dataset does
/// not appear.
///
/// Watches may be nested: the innermost counts.
pub fn watch<T>(interval: Duration, stops: impl Fn() -> bool + 'static, body: impl FnOnce() -> T) -> T {
    let watch = Watch { interval, stops: Box::new(stops), last: Cell::new(Instant::now()) };
    let _before = WatchBefore(WATCH.replace(Some(ManuallyDrop::new(Rc::new(watch)))));
    body()
}

/// Restores the previous watch.
struct WatchBefore(Option<ManuallyDrop<Rc<Watch>>>);

impl Drop for WatchBefore {
    fn drop(&mut self) {
        let before = self.0.take();
        drop(WATCH.replace(before).map(ManuallyDrop::into_inner));
    }
}

fn watched() -> Option<Rc<Watch>> {
    WATCH.with_borrow(|watch| watch.as_deref().cloned())
}

/// Runs a future to its end on this thread, or until its [watch](watch) stops it.
pub(crate) fn wait<T>(future: impl Future<Output = Result<T>>) -> Result<T> {
    let Some(watch) = watched() else { return block_on(future) };
    let _blocking = BlockedThread::enter();
    let mut future = pin!(unconstrained(future));
    let signal = Arc::new(WakeSignal::default());
    let waker = Waker::from(Arc::clone(&signal));
    let mut context = Context::from_waker(&waker);
    let mut says_stop = watch.says_stop_now();
    loop {
        if says_stop {
            return Err(Error::new(ErrorKind::Interrupted, "the wait was ended by the caller"));
        }
        match future.as_mut().poll(&mut context) {
            Poll::Ready(output) => return output,
            Poll::Pending => signal.wait(Some(watch.rest())),
        }
        says_stop = watch.says_stop();
    }
}

/// Lets the [watch](watch) of this thread end the wait, between parts of a long computation.
pub(crate) async fn between_parts() {
    if watched().is_none() {
        return;
    }
    let mut waited = false;
    std::future::poll_fn(|context| {
        if waited {
            return Poll::Ready(());
        }
        waited = true;
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// Runs a future to its end on this thread, which sleeps while there is nothing to do.
pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    let _blocking = BlockedThread::enter();
    let mut future = pin!(unconstrained(future));
    let signal = Arc::new(WakeSignal::default());
    let waker = Waker::from(Arc::clone(&signal));
    let mut context = Context::from_waker(&waker);
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(output) => return output,
            Poll::Pending => signal.wait(None),
        }
    }
}

/// Whether the future that is being polled may keep this thread for long: it was passed to `block_on`, and no watch has
/// to be asked meanwhile.
pub(crate) fn may_block() -> bool {
    DEPTH.with(|depth| depth.get() > 0) && watched().is_none()
}

/// Wakes the thread that waits for a future.
#[derive(Default)]
struct WakeSignal {
    state: Mutex<SignalState>,
    changed: Condvar,
}

#[derive(Default)]
struct SignalState {
    is_set: bool,
    /// Whether the thread sleeps: otherwise the system need not be called.
    is_awaited: bool,
}

impl WakeSignal {
    /// Waits until it is set, or for so long, and resets it.
    fn wait(&self, max: Option<Duration>) {
        let mut state = self.state.guard();
        state.is_awaited = true;
        let is_unset = |state: &mut SignalState| !state.is_set;
        let mut state = match max {
            None => self.changed.wait_while(state, is_unset).unwrap_or_else(PoisonError::into_inner),
            Some(max) => {
                let waited = self.changed.wait_timeout_while(state, max, is_unset);
                waited.unwrap_or_else(PoisonError::into_inner).0
            }
        };
        *state = SignalState::default();
    }
}

impl Wake for WakeSignal {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        let mut state = self.state.guard();
        state.is_set = true;
        let is_awaited = state.is_awaited;
        drop(state);
        if is_awaited {
            self.changed.notify_one();
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::{pending, ready};
    use std::sync::mpsc;
    use std::thread;

    /// Says stop from the given number of calls on.
    fn after(questions: usize) -> (Rc<Cell<usize>>, impl Fn() -> bool + 'static) {
        let requested = Rc::new(Cell::new(0));
        let counted = Rc::clone(&requested);
        (requested, move || {
            counted.set(counted.get() + 1);
            counted.get() >= questions
        })
    }

    #[test]
    fn a_wait_within_a_task_of_tokio_does_not_end_with_the_budget_of_the_task() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let lock = tokio::sync::RwLock::new(());
        let waits = runtime
            .block_on(async { (0..1000).map(|_| block_on(async { drop(lock.read().await) })).count() });
        assert_eq!(waits, 1000);
    }

    #[test]
    fn a_wait_without_end_ends_when_the_check_says_so() {
        let (requested, stops) = after(3);
        let ended = watch(Duration::from_millis(1), stops, || wait(pending::<Result<()>>()));
        assert_eq!(ended.unwrap_err().kind(), ErrorKind::Interrupted);
        assert_eq!(requested.get(), 3);
        // After it, no watch is set.
        assert!(watched().is_none());
        assert_eq!(wait(ready(Ok(5))).unwrap(), 5);
    }

    #[test]
    fn a_wait_that_begins_within_the_interval_asks_too() {
        let (requested, stops) = after(3);
        let ended = watch(Duration::from_secs(3600), stops, || {
            (0..10).map(|_| wait(ready(Ok(1)))).collect::<Result<Vec<i32>>>()
        });
        assert_eq!(ended.unwrap_err().kind(), ErrorKind::Interrupted);
        assert_eq!(requested.get(), 3);
    }

    #[test]
    fn what_is_dropped_is_cancelled_and_the_inner_watch_counts() {
        struct DropNotice(Rc<Cell<bool>>);
        impl Drop for DropNotice {
            fn drop(&mut self) {
                self.0.set(true);
            }
        }
        let dropped = Rc::new(Cell::new(false));
        let notice = DropNotice(Rc::clone(&dropped));
        let ended = watch(
            Duration::ZERO,
            || panic!("the outer one is not asked"),
            || {
                watch(
                    Duration::ZERO,
                    || true,
                    || {
                        wait(async move {
                            let _notice = notice;
                            pending::<Result<()>>().await
                        })
                    },
                )
            },
        );
        assert_eq!(ended.unwrap_err().kind(), ErrorKind::Interrupted);
        assert!(dropped.get());
    }

    #[test]
    fn who_waits_is_woken_by_another_thread() {
        let (ask, requested) = mpsc::channel::<Waker>();
        let waking = thread::spawn(move || requested.iter().for_each(Waker::wake));
        let mut rounds = 0;
        block_on(std::future::poll_fn(|context| {
            rounds += 1;
            if rounds > 1000 {
                return Poll::Ready(());
            }
            ask.send(context.waker().clone()).unwrap();
            Poll::Pending
        }));
        drop(ask);
        waking.join().unwrap();
    }

    #[test]
    fn a_thread_that_ends_still_waits() {
        /// Waits when it is dropped.
        struct AtEnd(mpsc::Sender<Option<i32>>);
        impl Drop for AtEnd {
            fn drop(&mut self) {
                let waited = watch(
                    Duration::ZERO,
                    || false,
                    || {
                        wait(async {
                            between_parts().await;
                            Ok(5)
                        })
                    },
                );
                self.0.send(waited.ok().filter(|_| watched().is_none())).unwrap();
            }
        }
        thread_local! {
            static AT_END: RefCell<Option<AtEnd>> = const { RefCell::new(None) };
        }
        let (sender, receiver) = mpsc::channel();
        let thread = thread::spawn(move || {
            // What comes first goes last.
            AT_END.set(Some(AtEnd(sender)));
            watch(Duration::ZERO, || false, || wait(ready(Ok(())))).unwrap();
        });
        thread.join().unwrap();
        assert_eq!(receiver.recv().unwrap(), Some(5));
    }

    #[test]
    fn a_long_computation_checks_for_interrupts_between_its_parts() {
        let (requested, stops) = after(4);
        let parts = Rc::new(Cell::new(0));
        let counted = Rc::clone(&parts);
        let ended = watch(Duration::ZERO, stops, || {
            assert!(!may_block());
            wait(async move {
                for _ in 0..100 {
                    counted.set(counted.get() + 1);
                    between_parts().await;
                }
                Ok(())
            })
        });
        assert_eq!(ended.unwrap_err().kind(), ErrorKind::Interrupted);
        assert_eq!((parts.get(), requested.get()), (3, 4));
        // Without a watch there is no break.
        let mut once = pin!(between_parts());
        let mut context = Context::from_waker(Waker::noop());
        assert!(once.as_mut().poll(&mut context).is_ready());
    }
}
