//! How slow a network may be.
use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

/// How slow a network may be, and how long requests are retried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryPolicy {
    /// Connection timeout.
    pub connect: Duration,
    /// Minimum bytes per second, on average over a window: slower answers are aborted and retried.
    pub slowest: u64,
    /// The time over which the speed is measured.
    pub window: Duration,
    /// How long a request is retried, from its first failure on.
    pub longest: Duration,
    /// Maximum wait before the first retry; it doubles every time.
    pub first_wait: Duration,
    /// Maximum wait before any retry.
    pub longest_wait: Duration,
    /// How many retries a session may make in a row; after that ten per second are allowed, and one for every five
    /// requests that succeed.
    pub reserve: u32,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(20),
            slowest: 1 << 10,
            window: Duration::from_secs(20),
            longest: Duration::from_secs(180),
            first_wait: Duration::from_millis(200),
            longest_wait: Duration::from_secs(10),
            reserve: 100,
        }
    }
}

impl RetryPolicy {
    /// Minimum bytes per window.
    pub fn min_bytes(&self) -> u64 {
        let millis = u64::try_from(self.window.as_millis()).unwrap_or(u64::MAX);
        (self.slowest.saturating_mul(millis) / 1000).max(1)
    }

    /// How long that many bytes may take.
    pub fn time_for(&self, bytes: u64) -> Duration {
        Duration::from_secs(bytes / self.slowest.max(1))
    }

    /// A wait after that many failures, random up to the maximum: waits of many clients do not end at the same
    /// moment.
    pub fn wait(&self, failures: u32) -> Duration {
        let doubled = self.first_wait.saturating_mul(2_u32.saturating_pow(failures.saturating_sub(1)));
        let share = u32::try_from(RandomState::new().hash_one(failures) % 1024).unwrap_or_default();
        doubled.min(self.longest_wait).saturating_mul(share) / 1024
    }
}
