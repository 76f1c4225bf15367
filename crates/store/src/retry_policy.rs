//! How slow a network may be.
use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

/// How slow a network may be, and how long requests are made again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryPolicy {
    /// Longest wait for a connection.
    pub connect: Duration,
    /// Fewest bytes per second, on average over a window: what is slower is given up and asked for again.
    pub slowest: u64,
    /// The time over which slowness is measured.
    pub window: Duration,
    /// How long a request is made again at most, from its first failure on.
    pub longest: Duration,
    /// Longest wait before a request is made again for the first time; it doubles every time.
    pub first_wait: Duration,
    /// Longest wait before a request is made again.
    pub longest_wait: Duration,
    /// How many requests of a session may be made again in a row; after that ten per second may, and one for every five
    /// that succeed.
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
    /// Fewest bytes per window.
    pub fn least(&self) -> u64 {
        let millis = u64::try_from(self.window.as_millis()).unwrap_or(u64::MAX);
        (self.slowest.saturating_mul(millis) / 1000).max(1)
    }

    /// How long so many bytes may take.
    pub fn time_for(&self, bytes: u64) -> Duration {
        Duration::from_secs(bytes / self.slowest.max(1))
    }

    /// A wait after so many failures, anything up to the longest: waits of many clients do not end at the same moment.
    pub fn wait(&self, failures: u32) -> Duration {
        let doubled = self.first_wait.saturating_mul(2_u32.saturating_pow(failures.saturating_sub(1)));
        let share = u32::try_from(RandomState::new().hash_one(failures) % 1024).unwrap_or_default();
        doubled.min(self.longest_wait).saturating_mul(share) / 1024
    }
}
