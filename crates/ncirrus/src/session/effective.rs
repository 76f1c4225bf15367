//! What a session goes by, whoever said so.
use super::Session;
use ncirrus_store::StoreOptions;
use ncirrus_store::config::{Key, Origin, Shown};
use std::time::Duration;

impl Session {
    /// The values that count, and where each came from: those of the configuration, what the program chose instead, and
    /// the defaults of what nobody said. Secrets are masked.
    pub fn effective(&self) -> Vec<Shown> {
        let mut shown = self.settings().shown();
        for (key, value, usual) in self.values() {
            let origin = if value == usual { Origin::Default } else { Origin::Program };
            match shown.iter_mut().find(|shown| shown.name == key.name()) {
                Some(set) if set.value == value => {}
                Some(set) => *set = Shown::new(key.name(), value, Origin::Program),
                None => shown.push(Shown::new(key.name(), value, origin)),
            }
        }
        shown
    }

    /// Keys that have a value without being set: the value here, and what it is by default.
    fn values(&self) -> Vec<(Key, String, String)> {
        let (threads, memory) = ncirrus_engine::Session::usual();
        let (stores, usual) = (&self.stores, StoreOptions::default());
        let folder = |stores: &StoreOptions| stores.scratch_folder().display().to_string();
        let is_consolidated = self.settings().flag(Key::Consolidated).unwrap_or(true);
        let mut values = vec![
            (Key::Threads, self.engine.threads().to_string(), threads.to_string()),
            (Key::Memory, self.memory().to_string(), memory.to_string()),
            (Key::Handles, stores.handles.most().to_string(), usual.handles.most().to_string()),
            (Key::Timeout, seconds(stores.timeout), seconds(usual.timeout)),
            (Key::ConnectTimeout, seconds(stores.patience.connect), seconds(usual.patience.connect)),
            (Key::Retries, stores.retries.to_string(), usual.retries.to_string()),
            (Key::Scratch, folder(stores), folder(&usual)),
            (
                Key::CacheFolder,
                self.cache_folder().display().to_string(),
                std::env::temp_dir().display().to_string(),
            ),
            (Key::Consolidated, is_consolidated.to_string(), true.to_string()),
        ];
        #[cfg(any(feature = "http", feature = "cloud"))]
        values.push((
            Key::Requests,
            stores.connections.requests().to_string(),
            usual.connections.requests().to_string(),
        ));
        values
    }
}

/// A time as the configuration shows it.
fn seconds(time: Duration) -> String {
    format!("{}s", time.as_secs_f64())
}
