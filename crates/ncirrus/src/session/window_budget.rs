//! The memory of what is read before it is asked for.
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Bytes that all windows of a session hold.
#[derive(Debug, Default)]
pub(crate) struct WindowBudget(AtomicUsize);

/// What one window takes of it, until it is dropped.
#[derive(Debug)]
pub(crate) struct WindowShare {
    budget: Arc<WindowBudget>,
    len: usize,
}

impl WindowBudget {
    /// A share of `len` bytes; none if windows would hold more than `max` bytes with it.
    pub(crate) fn take(self: &Arc<Self>, len: usize, max: usize) -> Option<WindowShare> {
        let more = |held: usize| held.checked_add(len).filter(|held| *held <= max);
        self.0.fetch_update(Ordering::AcqRel, Ordering::Acquire, more).ok()?;
        Some(WindowShare { budget: Arc::clone(self), len })
    }
}

impl Drop for WindowShare {
    fn drop(&mut self) {
        self.budget.0.fetch_sub(self.len, Ordering::AcqRel);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_of_a_session_hold_no_more_than_its_budget_and_give_it_back() {
        let budget = Arc::new(WindowBudget::default());
        let (first, second) = (budget.take(60, 100), budget.take(60, 100));
        assert!(first.is_some() && second.is_none() && budget.take(40, 100).is_some());
        drop(first);
        assert!(budget.take(100, 100).is_some());
    }
}
