//! The effective settings of a session, and their sources.
use super::Session;
use ncirrus_config::{ConfigKey, ShownValue, ValueOrigin};
use ncirrus_store::{HandleBudget, StoreOptions};
use std::time::Duration;

impl Session {
    /// The effective values, and the source of each: those of the configuration, of the program that overrides it, and
    /// the defaults of the rest. Secrets are masked.
    pub fn effective(&self) -> Vec<ShownValue> {
        let mut shown = self.settings().shown();
        for (key, value, usual) in self.values() {
            let origin = if value == usual { ValueOrigin::Default } else { ValueOrigin::Program };
            match shown.iter_mut().find(|shown| shown.name == key.name()) {
                Some(set) if set.value == value => {}
                Some(set) => *set = ShownValue::new(key.name(), value, ValueOrigin::Program),
                None => shown.push(ShownValue::new(key.name(), value, origin)),
            }
        }
        shown
    }

    /// Keys that have a value without being set: the value here, and the default.
    fn values(&self) -> Vec<(ConfigKey, String, String)> {
        let (threads, memory) = ncirrus_engine::Session::usual();
        let (stores, usual) = (&self.stores.options, StoreOptions::default());
        let handles = HandleBudget::default().max();
        let folder = |stores: &StoreOptions| stores.scratch_folder().display().to_string();
        let is_consolidated = self.settings().flag(ConfigKey::Consolidated).unwrap_or(true);
        #[cfg_attr(
            not(any(feature = "http", feature = "cloud")),
            expect(unused_mut, reason = "only networks have more to tell")
        )]
        let mut values = vec![
            (ConfigKey::Threads, self.engine.threads().to_string(), threads.to_string()),
            (ConfigKey::Memory, self.memory().to_string(), memory.to_string()),
            (ConfigKey::Handles, self.stores.handles.max().to_string(), handles.to_string()),
            (ConfigKey::Timeout, seconds(stores.timeout), seconds(usual.timeout)),
            (
                ConfigKey::ConnectTimeout,
                seconds(stores.retry_policy.connect),
                seconds(usual.retry_policy.connect),
            ),
            (ConfigKey::Retries, stores.retries.to_string(), usual.retries.to_string()),
            (ConfigKey::Scratch, folder(stores), folder(&usual)),
            (
                ConfigKey::CacheFolder,
                self.cache_folder().display().to_string(),
                std::env::temp_dir().display().to_string(),
            ),
            (ConfigKey::ReadAhead, self.windows.is_some().to_string(), true.to_string()),
            (ConfigKey::Consolidated, is_consolidated.to_string(), true.to_string()),
        ];
        #[cfg(any(feature = "http", feature = "cloud"))]
        values.push((
            ConfigKey::Requests,
            self.network.connections.requests().to_string(),
            ncirrus_http::ConnectionPool::default().requests().to_string(),
        ));
        values
    }
}

/// A duration as the configuration shows it.
fn seconds(time: Duration) -> String {
    format!("{}s", time.as_secs_f64())
}
