//! Configuration files and addresses.
use ncirrus_config::{ConfigFormat, ConfigSettings};
use ncirrus_store::Url;
use std::path::Path;

/// Parses a text as each kind of configuration file, and as an address. The result can be shown, without secrets.
pub fn configuration(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let mut settings = ConfigSettings::default();
    for format in [ConfigFormat::Own, ConfigFormat::NetCdf, ConfigFormat::S3NetCdf] {
        _ = settings.read(format, text, Path::new("file"));
    }
    for shown in settings.shown() {
        let is_secret =
            ["secret_key", "session_token", "bearer"].iter().any(|name| shown.name.ends_with(name));
        let is_of_host = ["hosts.", "http.hosts."].iter().any(|table| shown.name.starts_with(table));
        assert!(!is_secret || !is_of_host || shown.value == "***", "{}", shown.name);
    }
    if let Ok(url) = Url::parse(text) {
        _ = (settings.bucket(&url), settings.login(&url), url.version(), url.to_string());
    }
}
