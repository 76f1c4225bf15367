//! The configuration: settings from files and the environment, each value with its origin (`docs/configuration.md`).
#![forbid(unsafe_code)]

mod cookies;
mod environment;
mod file;
mod host;
mod http;
mod key;
mod netrc;
mod rc;
mod s3nc;
mod show;
mod size;
mod template;
mod value;

#[cfg(test)]
mod tests;

pub use environment::ProcessEnvironment;
pub use host::{HostSettings, TransferSettings, WebServerSettings, endpoint};
pub use http::{HttpLogin, HttpSettings, LoginKind};
pub use key::ConfigKey;
pub use show::{ShownValue, shortened};
pub use size::{parse_duration, parse_size};
pub use value::{ConfigValue, SecretText, ValueOrigin};

use key::KeyTarget;
use ncirrus_layout::{Error, Result};
use ncirrus_store::{BucketUrl, Scheme, Url};
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Settings from files and the environment, read once. If several sources set a value, the first of these wins:
/// environment, the configuration file, netCDF's files, the file of S3netCDF4.
///
/// ```
/// use ncirrus_config::{ProcessEnvironment, ConfigKey, ConfigSettings};
/// let settings = ConfigSettings::of_environment(ProcessEnvironment::default().with("NCIRRUS_MEMORY", "2G"));
/// assert_eq!(settings.size(ConfigKey::Memory), Some(2 << 30));
/// assert_eq!(settings.origin(ConfigKey::Memory).unwrap().to_string(), "NCIRRUS_MEMORY");
/// ```
#[derive(Clone, Default)]
pub struct ConfigSettings {
    environment: ProcessEnvironment,
    entries: BTreeMap<ConfigKey, ConfigValue<KeyTarget>>,
    hosts: BTreeMap<String, HostSettings>,
    servers: BTreeMap<String, WebServerSettings>,
    substitutions: BTreeMap<String, ConfigValue<String>>,
    rc: rc::RcFiles,
    files: Vec<PathBuf>,
    warnings: Vec<String>,
}

impl ConfigSettings {
    /// The settings from the process's environment and all files.
    ///
    /// # Errors
    /// As [`ConfigSettings::gather`].
    pub fn of_process() -> Result<Self> {
        Self::gather(ProcessEnvironment::of_process(), None)
    }

    /// The settings from an environment and all files; `file` is read instead of the configuration file at its usual
    /// place.
    ///
    /// # Errors
    /// `NotFound` if a file that was named does not exist, `Invalid` if one that was named cannot be parsed. Other
    /// files that cannot be parsed are ignored with a warning.
    pub fn gather(environment: ProcessEnvironment, file: Option<&Path>) -> Result<Self> {
        Self::gather_with(environment, file, &[])
    }

    /// As [`ConfigSettings::gather`], with keys of netCDF's files and their values that the program sets: they take
    /// precedence over all other sources, and apply to all datasets.
    ///
    /// # Errors
    /// As [`ConfigSettings::gather`].
    pub fn gather_with(
        environment: ProcessEnvironment,
        file: Option<&Path>,
        rc: &[(String, String)],
    ) -> Result<Self> {
        let mut settings = Self { environment, ..Self::default() };
        rc::set(&mut settings, rc);
        settings.take_variables();
        file::read(&mut settings, file)?;
        rc::read(&mut settings);
        s3nc::read(&mut settings);
        Ok(settings)
    }

    /// Adds the settings in a text, with lower precedence than everything read before; `path` is used in messages.
    ///
    /// # Errors
    /// `Invalid` for a configuration file that cannot be parsed; mistakes in others are warnings.
    pub fn read(&mut self, format: ConfigFormat, text: &str, path: &Path) -> Result<()> {
        match format {
            ConfigFormat::Own => return file::take(self, text, path),
            ConfigFormat::NetCdf => {
                let warnings = self.rc.take(text, path);
                warnings.into_iter().for_each(|warning| self.warn(warning));
            }
            ConfigFormat::S3NetCdf => s3nc::take(self, text, path),
        }
        Ok(())
    }

    /// The settings from an environment alone: no file is read.
    pub fn of_environment(environment: ProcessEnvironment) -> Self {
        let mut settings = Self { environment, ..Self::default() };
        settings.take_variables();
        settings
    }

    fn take_variables(&mut self) {
        for key in ConfigKey::all() {
            for name in key.variables() {
                let Some(text) = self.environment.variable(name).map(str::to_owned) else { continue };
                self.offer(key, &text, ValueOrigin::Variable((*name).to_owned()));
            }
        }
    }

    /// The environment that was read.
    pub fn environment(&self) -> &ProcessEnvironment {
        &self.environment
    }

    /// A number of bytes.
    pub fn size(&self, key: ConfigKey) -> Option<u64> {
        match self.item(key)? {
            KeyTarget::Size(size) => Some(*size),
            _ => None,
        }
    }

    /// A number.
    pub fn count(&self, key: ConfigKey) -> Option<u64> {
        match self.item(key)? {
            KeyTarget::Count(count) => Some(*count),
            _ => None,
        }
    }

    /// A time.
    pub fn duration(&self, key: ConfigKey) -> Option<Duration> {
        match self.item(key)? {
            KeyTarget::Duration(duration) => Some(*duration),
            _ => None,
        }
    }

    /// A choice between yes and no.
    pub fn flag(&self, key: ConfigKey) -> Option<bool> {
        match self.item(key)? {
            KeyTarget::Flag(flag) => Some(*flag),
            _ => None,
        }
    }

    /// A text.
    pub fn text(&self, key: ConfigKey) -> Option<&str> {
        match self.item(key)? {
            KeyTarget::Text(text) => Some(text),
            _ => None,
        }
    }

    /// A file or folder.
    pub fn path(&self, key: ConfigKey) -> Option<&Path> {
        match self.item(key)? {
            KeyTarget::Path(path) => Some(path),
            _ => None,
        }
    }

    /// Where the value of a key came from.
    pub fn origin(&self, key: ConfigKey) -> Option<&ValueOrigin> {
        self.entries.get(&key).map(|value| &value.origin)
    }

    /// The host with that alias.
    pub fn host(&self, alias: &str) -> Option<&HostSettings> {
        self.hosts.get(alias)
    }

    /// The host with that scheme, host name and port.
    pub fn host_at(&self, endpoint: &str) -> Option<(&str, &HostSettings)> {
        let mut hosts = self.hosts.iter();
        hosts.find(|(_, host)| host.endpoint == endpoint).map(|(alias, host)| (alias.as_str(), host))
    }

    /// The entries of netCDF's files for a dataset.
    pub fn rc(&self, key: &str, url: &Url) -> Option<ConfigValue<&str>> {
        let entry = self.rc.find(key, Some(url))?;
        Some(ConfigValue { value: &entry.value, origin: entry.origin.clone() })
    }

    /// The place of the configuration file, whether there is one or not.
    pub fn file_place(&self) -> Option<PathBuf> {
        file::place(self)
    }

    /// The text of a configuration file that has every key as a comment.
    pub fn template() -> String {
        template::text()
    }

    /// The file that netCDF's files request a log of a dataset in (`log=FILE`); empty for standard error, as always for
    /// a line of a file in the current folder.
    pub fn log(&self, url: &Url) -> Option<&str> {
        let entry = self.rc.find("log", Some(url)).or_else(|| self.rc.find("LOG", Some(url)))?;
        Some(if rc::is_local(self, &entry.origin) { "" } else { &entry.value })
    }

    /// The settings with the entries of netCDF's files for one address only (`[url]HTTP.TIMEOUT=9`), if there are
    /// any.
    pub fn of_address(&self, url: &Url) -> Option<Self> {
        rc::of_place(self, url)
    }

    /// The entries of netCDF's files for a dataset in a bucket.
    pub fn rc_of_bucket(&self, key: &str, bucket: &BucketUrl) -> Option<ConfigValue<&str>> {
        let entry = self.rc.find_in(key, bucket)?;
        Some(ConfigValue { value: &entry.value, origin: entry.origin.clone() })
    }

    /// The bucket of an address in an object store; the host may be an alias.
    ///
    /// # Errors
    /// `Invalid` if the address has no bucket, or a host that can be neither alias nor bucket.
    pub fn bucket(&self, url: &Url) -> Result<Option<BucketUrl>> {
        let is_s3 = url.scheme() == Scheme::S3;
        let alias = url.port().map_or_else(|| url.host().to_owned(), |port| format!("{}:{port}", url.host()));
        let bucket = match self.host(&alias).filter(|_| is_s3) {
            Some(host) => Some(BucketUrl::of_alias(url, &alias, &host.endpoint)?),
            None => url.bucket()?,
        };
        if bucket.is_some() && !url.is_http() {
            check_rest(url)?;
        }
        let is_name =
            |name: &str| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte));
        // A bucket of the same name on another server has a different identity.
        let bucket = bucket.map(|found| {
            if found.is_amazon && self.entries.contains_key(&ConfigKey::Endpoint) {
                BucketUrl { endpoint: Some(AMAZON.to_owned()), ..found }
            } else {
                found
            }
        });
        match &bucket {
            Some(found) if is_s3 && found.endpoint.is_none() && !is_name(&found.name) => {
                Err(Error::invalid(format!("{:?} is not a bucket, and {}", found.name, self.no_alias())))
            }
            _ => Ok(bucket),
        }
    }

    /// The error for a missing alias, with the places that were searched.
    pub fn no_alias(&self) -> String {
        let is_ours = |path: &&PathBuf| path.extension().is_some_and(|end| end == "toml" || end == "json");
        let files: Vec<String> =
            self.files.iter().filter(is_ours).map(|path| path.display().to_string()).collect();
        if files.is_empty() {
            "no configuration file was read that could define an alias".to_owned()
        } else {
            format!("no alias in {}", files.join(", "))
        }
    }

    /// Where the value of a key came from, in words.
    pub fn described(&self, key: ConfigKey) -> String {
        match self.origin(key) {
            Some(origin @ ValueOrigin::File(..)) => format!("{key} in {origin}"),
            Some(origin) => origin.to_string(),
            None => String::new(),
        }
    }

    /// Names that are substituted in the file names of aggregations.
    pub fn substitutions(&self) -> impl Iterator<Item = (&str, &ConfigValue<String>)> {
        self.substitutions.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// The files that were looked for, whether they exist or not.
    pub fn files(&self) -> &[PathBuf] {
        &self.files
    }

    /// What was ignored and why.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    fn item(&self, key: ConfigKey) -> Option<&KeyTarget> {
        self.entries.get(&key).map(|value| &value.value)
    }

    /// Sets a value unless an earlier source has it; one that cannot be parsed is a warning.
    fn offer(&mut self, key: ConfigKey, text: &str, origin: ValueOrigin) {
        match key.parse(text, &self.environment) {
            Ok(value) => {
                self.entries.entry(key).or_insert(ConfigValue { value, origin });
            }
            Err(why) => self.warn(format!("{origin}: {key}: {why}")),
        }
    }

    fn warn(&mut self, warning: String) {
        if self.warnings.len() < MAX_WARNINGS {
            self.warnings.push(warning);
        }
    }
}

/// Amazon's endpoint, whatever the region.
pub(crate) const AMAZON: &str = "https://s3.amazonaws.com";

/// Parts of a bucket address other than bucket, key and version would be silently ignored, so they are refused.
fn check_rest(url: &Url) -> Result<()> {
    let is_known = |field: &str| {
        field.is_empty() || field.strip_prefix("versionId=").is_some_and(|version| !version.is_empty())
    };
    let fields = || url.query().unwrap_or_default().split('&').filter(|field| !field.is_empty());
    let why = if fields().count() > 1 || !fields().all(is_known) {
        "a query in the address of a bucket: only versionId= is known; a ? in a key is written %3F"
    } else if url.scheme() != Scheme::Azure && url.credentials().is_some() {
        "a user in the address of a bucket: name a profile (#aws.profile=) or an alias, or set variables"
    } else {
        return Ok(());
    };
    Err(Error::invalid(why).at_object(url))
}

/// The format of a configuration file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConfigFormat {
    /// ncirrus's own, in TOML.
    Own,
    /// netCDF's (`.ncrc`).
    NetCdf,
    /// S3netCDF4's, in JSON.
    S3NetCdf,
}

/// Maximum number of warnings that are kept: a file may consist of nothing but mistakes.
const MAX_WARNINGS: usize = 100;

/// Only names.
impl fmt::Debug for ConfigSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings").field("keys", &self.entries.keys()).finish_non_exhaustive()
    }
}

/// An error at a place in a file.
fn invalid(origin: &ValueOrigin, why: impl fmt::Display) -> Error {
    Error::invalid(why.to_string()).at_object(origin)
}
