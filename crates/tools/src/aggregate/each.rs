//! The same work on many items, several at once.
use ncirrus::{Error, Result};
use ncirrus_layout::LockExt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Progress of long work: items done, and items in total.
pub type WorkSteps<'a> = dyn Fn(usize, usize) + Sync + 'a;

/// Does something for every item, `at_once` of them at the same time, and returns the results in the items' order.
/// After an error no further work is begun.
pub(crate) fn each<T: Sync, R: Send>(
    items: &[T],
    at_once: usize,
    steps: Option<&WorkSteps<'_>>,
    work: impl Fn(usize, &T) -> Result<R> + Sync,
) -> Result<Vec<R>> {
    let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let results: Mutex<Vec<Option<Result<R>>>> = Mutex::new(items.iter().map(|_| None).collect());
    let worker = || {
        while let Some((at, item)) = take(items, &next) {
            let result = work(at, item);
            if result.is_err() {
                next.store(items.len(), Ordering::Relaxed);
            }
            if let Some(slot) = results.guard().get_mut(at) {
                *slot = Some(result);
            }
            let done = done.fetch_add(1, Ordering::Relaxed) + 1;
            if let Some(steps) = steps {
                steps(done, items.len());
            }
        }
    };
    std::thread::scope(|scope| {
        (1..at_once.min(items.len())).for_each(|_| _ = scope.spawn(worker));
        worker();
    });
    let results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    // An error takes precedence over items that were not begun because of it, whatever their order.
    let (begun, skipped): (Vec<_>, Vec<_>) = results.into_iter().partition(Option::is_some);
    let results = begun.into_iter().flatten().collect::<Result<Vec<R>>>()?;
    if skipped.is_empty() { Ok(results) } else { Err(Error::internal("not all work was done")) }
}

fn take<'a, T>(items: &'a [T], next: &AtomicUsize) -> Option<(usize, &'a T)> {
    let at = next.fetch_add(1, Ordering::Relaxed);
    // Far past the end the counter is left as it is.
    (at < items.len()).then(|| items.get(at).map(|item| (at, item))).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_the_order_of_the_items() {
        let items: Vec<usize> = (0..100).collect();
        assert_eq!(
            each(&items, 4, None, |at, item| Ok(at + item)).unwrap(),
            (0..200).step_by(2).collect::<Vec<_>>()
        );
    }

    #[test]
    fn an_error_ends_the_work() {
        let begun = AtomicUsize::new(0);
        let work = |at: usize, _: &usize| {
            begun.fetch_add(1, Ordering::Relaxed);
            if at == 3 { Err(Error::invalid("no")) } else { Ok(()) }
        };
        let error = each(&(0..1000).collect::<Vec<_>>(), 1, None, work).unwrap_err();
        assert_eq!((error.message(), begun.into_inner()), ("no", 4));
    }
}
