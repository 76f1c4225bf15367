//! The keys of the configuration.
use super::{ProcessEnvironment, parse_duration, parse_size};
use ncirrus_layout::yes_or_no;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

/// The value of a key.
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

/// The type of a key's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ValueKind {
    Size,
    Count,
    Duration,
    Flag,
    Text,
    Path,
}

/// A row of the table below: key, name, type of value, environment variables (the first one that is set wins), keys
/// of netCDF's files, meaning.
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
    Threads, "threads", Count, ["NCIRRUS_THREADS"], [], "threads for decoding and encoding";
    Memory, "memory", Size, ["NCIRRUS_MEMORY"], [], "memory that reading and copying may use";
    Handles, "handles", Count, ["NCIRRUS_HANDLES"], [], "open files, at most";
    Requests, "requests", Count, ["NCIRRUS_REQUESTS"], [], "concurrent requests, to all servers together";
    ReadAhead, "read_ahead", Flag, ["NCIRRUS_READ_AHEAD"], [], "whether slabs that come next in a loop are read before they are asked for";
    Timeout, "timeout", Duration, ["NCIRRUS_TIMEOUT"], ["HTTP.READTIMEOUT", "HTTP.TIMEOUT"], "timeout for an answer";
    ConnectTimeout, "connect_timeout", Duration, ["NCIRRUS_CONNECT_TIMEOUT"], ["HTTP.CONNECTTIMEOUT"], "timeout for a connection";
    Retries, "retries", Count, ["NCIRRUS_RETRIES"], [], "how often a request is retried";
    Scratch, "scratch", Path, ["NCIRRUS_SCRATCH"], [], "folder for files waiting to be uploaded, and for what a copy rechunks and memory has no room for";
    CacheFolder, "cache.folder", Path, ["NCIRRUS_CACHE"], [], "folder for arrays larger than memory";
    CacheSize, "cache.size", Size, ["NCIRRUS_CACHE_SIZE"], [], "size limit of the cache of remote objects in it";
    IndexCacheFolder, "index_cache.folder", Path, ["NCIRRUS_INDEX_CACHE"], [], "folder for headers and chunk indexes of remote datasets";
    IndexCacheSize, "index_cache.size", Size, ["NCIRRUS_INDEX_CACHE_SIZE"], [], "size limit of that folder";
    PluginPath, "plugin_path", Text, ["HDF5_PLUGIN_PATH"], ["PLUGIN.PATH"], "folders of filter plugins";
    ReferencesHosts, "references.hosts", Text, ["NCIRRUS_REFERENCES_HOSTS"], [], "hosts of private networks that datasets from elsewhere may refer to, separated by commas";
    IcechunkBranch, "icechunk.branch", Text, ["NCIRRUS_ICECHUNK_BRANCH"], ["ICECHUNK.BRANCH"], "branch of Icechunk repositories whose address names no state";
    IcechunkTag, "icechunk.tag", Text, ["NCIRRUS_ICECHUNK_TAG"], ["ICECHUNK.TAG"], "tag of such repositories";
    IcechunkSnapshot, "icechunk.snapshot", Text, ["NCIRRUS_ICECHUNK_SNAPSHOT"], ["ICECHUNK.SNAPSHOT"], "id of the snapshot of such repositories";
    IcechunkAt, "icechunk.at", Text, ["NCIRRUS_ICECHUNK_AT"], ["ICECHUNK.AT"], "time whose state of such repositories is shown";
    VirtualContainers, "virtual.containers", Text, ["NCIRRUS_VIRTUAL_CONTAINERS"], ["ICECHUNK.VIRTUAL"], "virtual chunk containers of Icechunk that may be read, as NAME=allow, NAME=deny or NAME=ADDRESS, separated by blanks";
    Consolidated, "consolidated", Flag, ["NCZARR_CONSOLIDATED"], [], "whether new NCZarr and Zarr datasets have consolidated metadata";
    Trace, "trace", Count, ["NCIRRUS_TRACE", "NCTRACING"], [], "how much is logged of requests; 0 is nothing";
    Profile, "profile", Text, ["AWS_PROFILE", "AWS_DEFAULT_PROFILE"], [], "profile in Amazon's configuration files; none for unsigned requests";
    Region, "region", Text, ["AWS_REGION", "AWS_DEFAULT_REGION"], [], "region of buckets";
    Endpoint, "endpoint", Text, ["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"], [], "endpoint of an S3-compatible server";
    Anonymous, "anonymous", Flag, ["AWS_SKIP_SIGNATURE", "AWS_NO_SIGN_REQUEST"], [], "whether requests are left unsigned";
    RequesterPays, "requester_pays", Flag, ["AWS_REQUEST_PAYER"], [], "whether you pay for requests to requester-pays buckets";
    HttpProxy, "http.proxy", Text, ["NCIRRUS_PROXY"], ["HTTP.PROXY.SERVER", "HTTP.PROXY_SERVER"], "proxy of all requests, instead of HTTPS_PROXY and HTTP_PROXY";
    HttpNoProxy, "http.no_proxy", Text, ["NCIRRUS_NO_PROXY"], [], "hosts that bypass the proxy";
    HttpCertificates, "http.certificates", Path, ["AWS_CA_BUNDLE", "CURL_CA_BUNDLE"], ["HTTP.SSL.CAINFO", "HTTP.SSL.CAPATH"], "file of certificates (PEM), or folder of such files, trusted in addition to the system's";
    HttpNetrc, "http.netrc", Path, ["NETRC"], ["HTTP.NETRC"], "file with users and passwords by host (netrc)";
    HttpUserAgent, "http.user_agent", Text, ["NCIRRUS_USER_AGENT"], ["HTTP.USERAGENT", "HTTP.USER_AGENT"], "the User-Agent of requests";
    HttpCookies, "http.cookies", Path, [], ["HTTP.COOKIEJAR", "HTTP.COOKIE_JAR"], "cookie file for web servers";
    HttpKeepalive, "http.keepalive", Duration, [], ["HTTP.KEEPALIVE"], "how long idle connections stay open";
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

    /// The name in the configuration file; a dot separates table and key.
    pub fn name(self) -> &'static str {
        self.row().map_or("", |row| row.1)
    }

    /// Environment variables that set it; the first one wins.
    pub fn variables(self) -> &'static [&'static str] {
        self.row().map_or(&[], |row| row.3)
    }

    /// Keys of netCDF's files that set it; the first one wins.
    pub(super) fn rc(self) -> &'static [&'static str] {
        self.row().map_or(&[], |row| row.4)
    }

    /// Its meaning.
    pub fn meaning(self) -> &'static str {
        self.row().map_or("", |row| row.5)
    }

    /// A value as a configuration file has it.
    pub(super) fn example(self) -> &'static str {
        match self.row().map_or(ValueKind::Text, |row| row.2) {
            ValueKind::Size => "\"2G\"",
            ValueKind::Count => "8",
            ValueKind::Duration => "\"30s\"",
            ValueKind::Flag => "true",
            ValueKind::Text => "\"...\"",
            ValueKind::Path => "\"~/folder\"",
        }
    }

    fn row(self) -> Option<&'static KeyRow> {
        TABLE.get(self as usize)
    }

    /// Parses a value of the key's type.
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
        // netCDF has `on`, or the idle time and interval of probes.
        let text = match (self, text.split_once('/')) {
            (Self::HttpKeepalive, Some((idle, _))) => idle,
            (Self::HttpKeepalive, None) if text == "on" => USUAL_KEEPALIVE,
            _ => text,
        };
        let time = parse_duration(text)?;
        if time.is_zero() && matches!(self, Self::Timeout | Self::ConnectTimeout) {
            Err("a timeout of 0 would end every request: leave it out for the default".to_owned())
        } else {
            Ok(time)
        }
    }
}

/// How long connections stay open if netCDF's files only enable keep-alive.
const USUAL_KEEPALIVE: &str = "90s";

/// Yes or no, in the words that configurations use.
pub(super) fn flag(text: &str) -> Result<bool, String> {
    match (yes_or_no(text), text.parse::<i64>()) {
        (Some(flag), _) => Ok(flag),
        (None, Ok(number)) => Ok(number > 0),
        (None, Err(_)) if text.eq_ignore_ascii_case("requester") => Ok(true),
        (None, Err(_)) => Err(format!("{text:?} is neither true nor false")),
    }
}

impl fmt::Display for ConfigKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
