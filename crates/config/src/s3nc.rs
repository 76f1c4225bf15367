//! The configuration file of S3netCDF4 (`docs/spec/cfa.md` 7.9).
use super::host::{HostSettings, TransferSettings};
use super::{ConfigKey, ConfigSettings, ValueOrigin};
use serde_json::{Map, Value as Json};
use std::collections::BTreeMap;
use std::path::Path;

/// The backends of S3netCDF4.
const BACKENDS: [&str; 4] = ["s3aioFileObject", "s3FileObject", "_s3aioFileObject", "_s3FileObject"];

/// Reads `S3_NC_CONFIG`, else `~/.s3nc.json`. All errors in it are warnings.
pub(super) fn read(settings: &mut ConfigSettings) {
    let Some(path) = settings.environment.file("S3_NC_CONFIG", ".s3nc.json") else { return };
    let is_named = settings.environment.variable("S3_NC_CONFIG").is_some();
    settings.files.push(path.clone());
    match settings.environment.text(&path) {
        Ok(Some(text)) => take(settings, &text, &path),
        Ok(None) if is_named => settings.warn(format!("{}: no such file (S3_NC_CONFIG)", path.display())),
        Ok(None) => {}
        Err(why) => settings.warn(format!("{}: {why}", path.display())),
    }
}

/// Applies the text of a file.
pub(super) fn take(settings: &mut ConfigSettings, text: &str, path: &Path) {
    let json: Json = match serde_json::from_str(text) {
        Ok(json) => json,
        Err(error) => return settings.warn(format!("{}: {error}", path.display())),
    };
    let mut file = S3ncFile { settings, text, path, backends: BTreeMap::new() };
    match json {
        Json::Object(members) => file.members(&members),
        _ => file.warn("", "is not an object"),
    }
}

struct S3ncFile<'a> {
    settings: &'a mut ConfigSettings,
    text: &'a str,
    path: &'a Path,
    backends: BTreeMap<String, TransferSettings>,
}

impl S3ncFile<'_> {
    fn members(&mut self, members: &Map<String, Json>) {
        if !members.contains_key("version") {
            self.warn("version", "is missing: assuming 9");
        }
        // Hosts name backends.
        if let Some(backends) = members.get("backends") {
            self.each("backends", backends, Self::backend);
        }
        for (name, value) in members {
            match name.as_str() {
                "backends" => {}
                "version" if scalar(value).as_deref() == Some("9") => {}
                "version" => self.warn(name, "is not 9: reading what is understood"),
                "hosts" => self.each(name, value, Self::host),
                "cache_location" => self.offer(ConfigKey::CacheFolder, name, value),
                "resource_allocation" => self.each(name, value, Self::resource),
                _ => self.warn(name, "unknown key"),
            }
        }
    }

    fn each(&mut self, name: &str, value: &Json, take: fn(&mut Self, &str, &Json)) {
        match value {
            Json::Object(members) => members.iter().for_each(|(name, value)| take(self, name, value)),
            _ => self.warn(name, "is not an object"),
        }
    }

    fn resource(&mut self, name: &str, value: &Json) {
        match name {
            "memory" => self.offer(ConfigKey::Memory, name, value),
            "filehandles" | "file_handles" | "disk_handles" => self.offer(ConfigKey::Handles, name, value),
            _ => self.warn(name, "unknown key"),
        }
    }

    fn backend(&mut self, name: &str, value: &Json) {
        let mut transfer = TransferSettings::default();
        self.settings_of(name, value, &mut |key, text| transfer.set(key, text));
        self.backends.insert(name.to_owned(), transfer);
    }

    fn host(&mut self, name: &str, value: &Json) {
        let origin = self.origin(name);
        let mut host = HostSettings::new(origin);
        self.settings_of(name, value, &mut |key, text| host.set(key, text));
        match host.backend.as_ref().map(|backend| (backend, self.backends.get(backend))) {
            Some((_, Some(transfer))) => host.transfer.or(transfer),
            // The standard ones need no settings.
            Some((backend, None)) if !BACKENDS.contains(&backend.as_str()) => {
                let why = format!("{backend:?} is not among the backends: using default settings");
                self.warn(&format!("{name}.backend"), &why);
            }
            _ => {}
        }
        let alias = name.split_once("://").map_or(name, |(_, alias)| alias).trim_end_matches('/');
        match host.fault() {
            Some(why) => self.warn(name, why),
            None => {
                self.settings.hosts.entry(alias.to_owned()).or_insert(host);
            }
        }
    }

    /// Passes on each setting of an object, including those of its object `credentials`.
    fn settings_of(
        &mut self,
        name: &str,
        value: &Json,
        set: &mut dyn FnMut(&str, &str) -> Result<bool, String>,
    ) {
        let Json::Object(members) = value else { return self.warn(name, "is not an object") };
        for (key, value) in members {
            let outcome = match (key.as_str(), value, scalar(value)) {
                ("credentials", Json::Object(_), _) => {
                    self.settings_of(key, value, set);
                    continue;
                }
                (_, _, Some(text)) => set(key, &text),
                _ => Err("is not a single value".to_owned()),
            };
            match outcome {
                Ok(true) => {}
                Ok(false) => self.warn(&format!("{name}.{key}"), "unknown key"),
                Err(why) => self.warn(&format!("{name}.{key}"), &why),
            }
        }
    }

    fn offer(&mut self, key: ConfigKey, name: &str, value: &Json) {
        match scalar(value) {
            Some(text) => {
                let origin = self.origin(name);
                self.settings.offer(key, &text, origin);
            }
            None => self.warn(name, "is not a single value"),
        }
    }

    fn warn(&mut self, name: &str, why: &str) {
        let origin = self.origin(name.rsplit('.').next().unwrap_or(name));
        let separator = if name.is_empty() { "" } else { ": " };
        self.settings.warn(format!("{origin}: {name}{separator}{why}"));
    }

    /// The file, and the line of a name if it occurs exactly once.
    fn origin(&self, name: &str) -> ValueOrigin {
        let quoted = format!("\"{name}\"");
        let mut found = self.text.match_indices(&quoted).map(|(at, _)| at);
        let line = match (found.next(), found.next()) {
            (Some(at), None) => self.text.get(..at).map(|before| before.matches('\n').count() + 1),
            _ => None,
        };
        ValueOrigin::File(self.path.to_owned(), line)
    }
}

fn scalar(value: &Json) -> Option<String> {
    match value {
        Json::String(text) => Some(text.clone()),
        Json::Number(number) => Some(number.to_string()),
        Json::Bool(flag) => Some(flag.to_string()),
        _ => None,
    }
}
