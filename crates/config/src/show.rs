//! The configuration for display: without secrets.
use super::{ConfigKey, ConfigSettings, HostSettings, SecretText, ValueOrigin};
use ncirrus_store::Url;

/// A value for display.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownValue {
    /// The key, as in the configuration file.
    pub name: String,
    /// The value; secrets are masked.
    pub value: String,
    /// Where it came from.
    pub origin: ValueOrigin,
    /// For keys of netCDF-C that this library does not implement: why it has no effect.
    pub without_effect: Option<&'static str>,
}

impl ShownValue {
    /// A value and where it came from.
    pub fn new(name: impl Into<String>, value: String, origin: ValueOrigin) -> Self {
        Self { name: name.into(), value, origin, without_effect: None }
    }
}

impl ConfigSettings {
    /// All values that are set, and where they came from.
    pub fn shown(&self) -> Vec<ShownValue> {
        let keys = self.entries.iter().map(|(key, value)| {
            let text = value.value.to_string();
            let may_have_password = matches!(key, ConfigKey::HttpProxy | ConfigKey::Endpoint);
            let value_shown = if may_have_password { without_password(&text) } else { text };
            ShownValue::new(key.name(), value_shown, value.origin.clone())
        });
        let hosts = self.hosts.iter().flat_map(|(alias, host)| of_host(alias, host));
        let servers = self.servers.iter().filter_map(|(name, server)| {
            let kind = if server.bearer.is_some() { "bearer" } else { "password" };
            let name = format!("http.hosts.{name}.{kind}");
            Some(ShownValue::new(name, SecretText::new("").to_string(), server.origin.clone()?))
        });
        let substitutions = self.substitutions.iter().map(|(name, value)| {
            ShownValue::new(format!("substitutions.{name}"), value.value.clone(), value.origin.clone())
        });
        let rc = self.rc.entries().map(|(name, entry)| {
            // Misspelt keys may hold the same kind of secrets.
            let key = entry.key.to_ascii_uppercase();
            let is_secret = ["PASSWORD", "KEY", "TOKEN"].iter().any(|part| key.contains(part));
            let value = if is_secret {
                SecretText::new("").to_string()
            } else if key.contains("PROXY") {
                without_password(&entry.value)
            } else {
                entry.value.clone()
            };
            let without_effect = super::rc::without_effect(&entry.key);
            ShownValue {
                without_effect,
                ..ShownValue::new(format!("rc.{name}"), value, entry.origin.clone())
            }
        });
        keys.chain(hosts).chain(servers).chain(substitutions).chain(rc).collect()
    }
}

fn of_host(alias: &str, host: &HostSettings) -> Vec<ShownValue> {
    let secret = |secret: &Option<SecretText>| secret.as_ref().map(SecretText::to_string);
    let transfer = &host.transfer;
    let time = |time: std::time::Duration| format!("{}s", time.as_secs_f64());
    let values = [
        ("url", Some(host.endpoint.clone())),
        ("access_key", host.access_key.as_ref().map(|key| shortened(key.exposed()))),
        ("secret_key", secret(&host.secret_key)),
        ("session_token", secret(&host.session_token)),
        ("profile", host.profile.clone()),
        ("region", host.region.clone()),
        ("anonymous", host.anonymous.then(|| "true".to_owned())),
        ("requester_pays", host.requester_pays.map(|pays| pays.to_string())),
        ("virtual_hosted", host.virtual_hosted.then(|| "true".to_owned())),
        ("backend", host.backend.clone()),
        ("part_size", transfer.part_size.map(|size| size.to_string())),
        ("parts", transfer.parts.map(|parts| parts.to_string())),
        ("connect_timeout", transfer.connect_timeout.map(time)),
        ("timeout", transfer.timeout.map(time)),
        ("multipart_download", transfer.multipart_download.map(|is| is.to_string())),
        ("multipart_upload", transfer.multipart_upload.map(|is| is.to_string())),
    ];
    let shown = |(name, value): (&str, Option<String>)| {
        Some(ShownValue::new(format!("hosts.{alias}.{name}"), value?, host.origin.clone()))
    };
    values.into_iter().filter_map(shown).collect()
}

/// The last four characters of an access key; nothing of short ones.
pub fn shortened(key: &str) -> String {
    let letters: Vec<char> = key.chars().collect();
    match letters.len().checked_sub(4) {
        Some(start) if start >= 4 => format!("***{}", letters.iter().skip(start).collect::<String>()),
        _ => "***".to_owned(),
    }
}

/// A proxy without user and password.
pub(super) fn without_password(proxy: &str) -> String {
    match Url::parse(proxy) {
        Ok(url) if url.is_http() => url.to_string(),
        _ => proxy.rsplit_once('@').map_or(proxy, |(_, host)| host).to_owned(),
    }
}
