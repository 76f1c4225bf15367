//! The keys of the configuration.
use super::{ProcessEnvironment, parse_duration, parse_size};
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

/// What a key is set to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum KeyTarget {
    Size(u64),
    Count(u64),
    Duration(Duration),
    Flag(bool),
    Text(String),
    Path(PathBuf),
}

impl fmt::Display for KeyTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Size(number) | Self::Count(number) => write!(f, "{number}"),
            Self::Duration(time) => write!(f, "{}s", time.as_secs_f64()),
            Self::Flag(flag) => write!(f, "{flag}"),
            Self::Text(text) => f.write_str(text),
            Self::Path(path) => write!(f, "{}", path.display()),
        }
    }
}

/// What kind of value a key has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ValueKind {
    Size,
    Count,
    Duration,
    Flag,
    Text,
    Path,
}

/// A row of the table below: key, its name, kind of value, variables of the environment (the first one that is set
/// counts), keys of netCDF's files, what it means.
type KeyRow =
    (ConfigKey, &'static str, ValueKind, &'static [&'static str], &'static [&'static str], &'static str);

macro_rules! keys {
    ($($key:ident, $name:literal, $kind:ident, [$($variable:literal),*], [$($rc:literal),*], $text:literal;)*) => {
        /// A key of the configuration.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum ConfigKey {
            $(#[doc = $text] $key,)*
        }

        const TABLE: &[KeyRow] = &[$((ConfigKey::$key, $name, ValueKind::$kind, &[$($variable),*], &[$($rc),*], $text),)*];
    };
}

keys! {
    Threads, "threads", Count, ["NCIRRUS_THREADS"], [], "threads that decode and encode";
    Memory, "memory", Size, ["NCIRRUS_MEMORY"], [], "bytes that reading and copying may hold";
    Handles, "handles", Count, ["NCIRRUS_HANDLES"], [], "files that are open at the same time";
    Requests, "requests", Count, ["NCIRRUS_REQUESTS"], [], "requests that are under way at the same time, to all servers together";
    Timeout, "timeout", Duration, ["NCIRRUS_TIMEOUT"], ["HTTP.READTIMEOUT", "HTTP.TIMEOUT"], "longest wait for an answer";
    ConnectTimeout, "connect_timeout", Duration, ["NCIRRUS_CONNECT_TIMEOUT"], ["HTTP.CONNECTTIMEOUT"], "longest wait for a connection";
    Retries, "retries", Count, ["NCIRRUS_RETRIES"], [], "how often a request is tried again";
    Scratch, "scratch", Path, ["NCIRRUS_SCRATCH"], [], "folder of files that are to be uploaded, and of what a copy cuts anew and memory has no room for";
    CacheFolder, "cache.folder", Path, ["NCIRRUS_CACHE"], [], "folder of arrays larger than memory";
    CacheSize, "cache.size", Size, ["NCIRRUS_CACHE_SIZE"], [], "bytes that a cache of remote objects may have in it";
    IndexCacheFolder, "index_cache.folder", Path, ["NCIRRUS_INDEX_CACHE"], [], "folder of headers and chunk indexes of remote datasets";
    IndexCacheSize, "index_cache.size", Size, ["NCIRRUS_INDEX_CACHE_SIZE"], [], "bytes of the files in it";
    PluginPath, "plugin_path", Text, ["HDF5_PLUGIN_PATH"], ["PLUGIN.PATH"], "folders of filter plugins";
    Consolidated, "consolidated", Flag, ["NCZARR_CONSOLIDATED"], [], "whether new NCZarr and Zarr datasets have consolidated metadata";
    Trace, "trace", Count, ["NCIRRUS_TRACE", "NCTRACING"], [], "how much is told of requests; 0 is nothing";
    Profile, "profile", Text, ["AWS_PROFILE", "AWS_DEFAULT_PROFILE"], [], "profile of Amazon's files; none is nobody";
    Region, "region", Text, ["AWS_REGION", "AWS_DEFAULT_REGION"], [], "region of buckets";
    Endpoint, "endpoint", Text, ["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"], [], "server that speaks S3";
    Anonymous, "anonymous", Flag, ["AWS_SKIP_SIGNATURE", "AWS_NO_SIGN_REQUEST"], [], "whether requests are never signed";
    RequesterPays, "requester_pays", Flag, ["AWS_REQUEST_PAYER"], [], "whether you pay for requests to buckets that ask for it";
    HttpProxy, "http.proxy", Text, ["NCIRRUS_PROXY"], ["HTTP.PROXY.SERVER", "HTTP.PROXY_SERVER"], "proxy of all requests, instead of HTTPS_PROXY and HTTP_PROXY";
    HttpNoProxy, "http.no_proxy", Text, ["NCIRRUS_NO_PROXY"], [], "hosts that are reached without it";
    HttpCertificates, "http.certificates", Path, ["AWS_CA_BUNDLE", "CURL_CA_BUNDLE"], ["HTTP.SSL.CAINFO", "HTTP.SSL.CAPATH"], "file of certificates (PEM), or folder of such files, that are trusted besides the system's";
    HttpNetrc, "http.netrc", Path, ["NETRC"], ["HTTP.NETRC"], "file of users and passwords by host";
    HttpUserAgent, "http.user_agent", Text, ["NCIRRUS_USER_AGENT"], ["HTTP.USERAGENT", "HTTP.USER_AGENT"], "how requests name the program";
    HttpCookies, "http.cookies", Path, [], ["HTTP.COOKIEJAR", "HTTP.COOKIE_JAR"], "file of cookies that are sent to web servers";
    HttpKeepalive, "http.keepalive", Duration, [], ["HTTP.KEEPALIVE"], "how long connections that are not used stay open";
}

impl ConfigKey {
    /// All keys.
    pub fn all() -> impl Iterator<Item = Self> {
        TABLE.iter().map(|row| row.0)
    }

    /// The key of that name.
    pub fn named(name: &str) -> Option<Self> {
        TABLE.iter().find(|row| row.1 == name).map(|row| row.0)
    }

    /// The name in the project's file; a dot stands between table and key.
    pub fn name(self) -> &'static str {
        self.row().map_or("", |row| row.1)
    }

    /// Variables of the environment that set it; the first one counts.
    pub fn variables(self) -> &'static [&'static str] {
        self.row().map_or(&[], |row| row.3)
    }

    /// Keys of netCDF's files that set it; the first one counts.
    pub(super) fn rc(self) -> &'static [&'static str] {
        self.row().map_or(&[], |row| row.4)
    }

    /// What it means.
    pub fn meaning(self) -> &'static str {
        self.row().map_or("", |row| row.5)
    }

    fn row(self) -> Option<&'static KeyRow> {
        TABLE.get(self as usize)
    }

    /// Reads a value of the key's kind.
    pub(super) fn parse(self, text: &str, environment: &ProcessEnvironment) -> Result<KeyTarget, String> {
        let trimmed = text.trim();
        match self.row().map_or(ValueKind::Text, |row| row.2) {
            ValueKind::Size => parse_size(trimmed).map(KeyTarget::Size),
            ValueKind::Count => {
                trimmed.parse().map(KeyTarget::Count).map_err(|_| format!("{trimmed:?} is not a number"))
            }
            ValueKind::Duration => self.duration(trimmed).map(KeyTarget::Duration),
            ValueKind::Flag => flag(trimmed).map(KeyTarget::Flag),
            ValueKind::Text => Ok(KeyTarget::Text(trimmed.to_owned())),
            ValueKind::Path => Ok(KeyTarget::Path(environment.expanded(trimmed))),
        }
    }
}

impl ConfigKey {
    fn duration(self, text: &str) -> Result<Duration, String> {
        // netCDF has `on`, or idle time and interval of probes.
        let text = match (self, text.split_once('/')) {
            (Self::HttpKeepalive, Some((idle, _))) => idle,
            (Self::HttpKeepalive, None) if text == "on" => USUAL_KEEPALIVE,
            _ => text,
        };
        let time = parse_duration(text)?;
        match time.is_zero() && matches!(self, Self::Timeout | Self::ConnectTimeout) {
            true => Err("a wait of 0 would end every request: leave it out for the usual one".to_owned()),
            false => Ok(time),
        }
    }
}

/// How long connections stay open when netCDF's files only say that they shall.
const USUAL_KEEPALIVE: &str = "90s";

/// Yes or no, in the words that configurations use.
pub(super) fn flag(text: &str) -> Result<bool, String> {
    match text.to_ascii_lowercase().as_str() {
        "true" | "yes" | "on" | "1" | "requester" => Ok(true),
        "false" | "no" | "off" | "0" => Ok(false),
        number => match number.parse::<i64>() {
            Ok(number) => Ok(number > 0),
            Err(_) => Err(format!("{text:?} is neither true nor false")),
        },
    }
}

impl fmt::Display for ConfigKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
