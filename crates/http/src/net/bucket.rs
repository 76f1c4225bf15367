//! A retry budget shared by a session, so that a failing service is not overloaded.
use ncirrus_layout::LockExt;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// How many retries may happen at once. It refills with time and with success.
#[derive(Debug, Default)]
pub(crate) struct TokenBucket(Mutex<Option<TokenLevel>>);

#[derive(Debug, Clone, Copy)]
struct TokenLevel {
    /// Thousandths of retries; negative while some are waiting.
    millis: i64,
    max: i64,
    at: Instant,
}

/// Thousandths of a retry per millisecond.
const REFILL: i64 = 10;
/// Thousandths of a retry per success.
const REWARD: i64 = 200;

impl TokenBucket {
    /// Takes a retry from the budget; returns how long it has to wait.
    pub(crate) fn take(&self, reserve: u32, now: Instant) -> Duration {
        let mut level = self.0.guard();
        let max = i64::from(reserve) * 1000;
        let level = level.get_or_insert(TokenLevel { millis: max, max, at: now });
        let passed = now.saturating_duration_since(level.at).as_millis();
        let passed = i64::try_from(passed).unwrap_or(i64::MAX);
        level.millis = level.millis.saturating_add(passed.saturating_mul(REFILL)).min(level.max) - 1000;
        level.at = now;
        let missing = u64::try_from(-level.millis).unwrap_or(0);
        Duration::from_millis(missing.div_ceil(REFILL.unsigned_abs()))
    }

    /// A request succeeded.
    pub(crate) fn reward(&self) {
        let mut level = self.0.guard();
        if let Some(level) = level.as_mut() {
            level.millis = (level.millis + REWARD).min(level.max);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beyond_the_reserve_ten_per_second_are_let_through() {
        let (bucket, start) = (TokenBucket::default(), Instant::now());
        let waits: Vec<u128> = (0..5).map(|_| bucket.take(3, start).as_millis()).collect();
        assert_eq!(waits, [0, 0, 0, 100, 200]);
        assert_eq!(bucket.take(3, start + Duration::from_millis(300)), Duration::ZERO);
    }

    #[test]
    fn five_that_succeed_allow_one_more() {
        let (bucket, start) = (TokenBucket::default(), Instant::now());
        assert_eq!(bucket.take(1, start), Duration::ZERO);
        (0..5).for_each(|_| bucket.reward());
        assert_eq!(bucket.take(1, start), Duration::ZERO);
        assert_eq!(bucket.take(1, start), Duration::from_millis(100));
    }
}
