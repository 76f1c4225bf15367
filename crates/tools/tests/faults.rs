//! Bad networks: everything is read and written as on good ones, or the error says what happened.
#![cfg(all(feature = "http", feature = "cloud", feature = "zip"))]
#![expect(clippy::unwrap_used, reason = "helpers of tests fail the test")]

pub(crate) mod bounds;
pub(crate) mod kinds;
pub(crate) mod reading;
pub(crate) mod writing;

use crate::proxy::{Harm, Rule};
use ncirrus::{Session, SessionBuilder};
use ncirrus_store::{RetryPolicy, StoreOptions};
use std::time::Duration;

/// A session that retries without delay.
fn session(change: impl FnOnce(&mut StoreOptions)) -> Session {
    builder(change).build().unwrap()
}

/// The same, before it is built.
fn builder(change: impl FnOnce(&mut StoreOptions)) -> SessionBuilder {
    let retry_policy = RetryPolicy {
        first_wait: Duration::from_millis(1),
        slowest: 10,
        window: Duration::from_millis(500),
        reserve: 100_000,
        ..RetryPolicy::default()
    };
    let mut options =
        StoreOptions { retry_policy, timeout: Duration::from_secs(10), ..StoreOptions::default() };
    change(&mut options);
    Session::builder().threads(2).durable(false).stores(options)
}

/// Every tenth request is disturbed.
fn tenth(harms: &[Harm]) -> Rule {
    Rule { harms: harms.to_vec(), one_in: 10, latency: Duration::ZERO, seed: 7 }
}

/// No request is disturbed.
fn good() -> Rule {
    tenth(&[])
}
