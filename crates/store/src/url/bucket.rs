//! Datasets in object stores: the many forms of their URLs (`nczarr.md` 8.8).
use super::{Scheme, Url};
use ncirrus_layout::{Error, Result};

/// A bucket (or container) of an object store, and a key in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bucket {
    /// Whose store.
    pub provider: Provider,
    /// Scheme, host and port of a server other than the provider's own.
    pub endpoint: Option<String>,
    /// Region, when the URL says.
    pub region: Option<String>,
    /// Name of the bucket or container.
    pub name: String,
    /// Account, when the URL says (Azure).
    pub account: Option<String>,
    /// Key without slashes at its ends.
    pub key: String,
    /// Name that the configuration gives to the server, when the URL uses it.
    pub alias: Option<String>,
}

/// Whose object store, or whose interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Provider {
    /// Amazon S3 and what speaks like it.
    S3,
    /// Google Cloud Storage.
    Gcs,
    /// Azure Blob Storage.
    Azure,
}

const AMAZON: &str = "amazonaws.com";
const GOOGLE: &str = "storage.googleapis.com";

impl Provider {
    /// The provider's own server, whatever the region.
    pub(crate) fn server(self) -> &'static str {
        match self {
            Self::S3 => "s3.amazonaws.com",
            Self::Gcs => GOOGLE,
            Self::Azure => "blob.core.windows.net",
        }
    }
}

impl Bucket {
    pub(super) fn of(url: &Url) -> Result<Option<Self>> {
        let modes = url.fragment().modes();
        match url.scheme() {
            Scheme::S3 if is_server(url) => {
                let scheme = if is_near(url) { "http" } else { "https" };
                Self::at_server(url, &format!("{scheme}://{}", place(url))).map(Some)
            }
            Scheme::S3 => Self::named(url, Provider::S3).map(Some),
            Scheme::Gs => Self::named(url, Provider::Gcs).map(Some),
            Scheme::Azure => Self::in_account(url).map(Some),
            Scheme::Http | Scheme::Https => {
                let host = url.host().to_ascii_lowercase();
                let is_amazon = host == AMAZON || host.ends_with(".amazonaws.com");
                if host == GOOGLE {
                    return Self::path_style(url, Provider::Gcs, None, url.port().is_none()).map(Some);
                }
                if is_amazon || modes.contains("s3") || modes.contains("gs3") {
                    return Self::of_host(url, &host, is_amazon);
                }
                Ok(None)
            }
            Scheme::File | Scheme::Memory | Scheme::Other => Ok(None),
        }
    }

    /// The name of the store in messages: scheme and bucket, or the server and bucket.
    pub fn address(&self) -> String {
        let scheme = match self.provider {
            Provider::S3 => "s3",
            Provider::Gcs => "gs",
            Provider::Azure => "az",
        };
        match (&self.endpoint, &self.account) {
            (Some(endpoint), _) => format!("{endpoint}/{}", self.name),
            (None, Some(account)) => format!("az://{}@{account}", self.name),
            (None, None) => format!("{scheme}://{}", self.name),
        }
    }

    /// `s3://server/bucket/key`: the bucket is the first segment of the path.
    fn at_server(url: &Url, endpoint: &str) -> Result<Self> {
        let path = url.path().trim_start_matches('/');
        let (name, key) = path.split_once('/').unwrap_or((path, ""));
        let host = url.host().to_ascii_lowercase();
        let is_amazon = url.port().is_none() && host.ends_with(".amazonaws.com");
        let region = host.strip_prefix("s3.").and_then(|rest| rest.strip_suffix(".amazonaws.com"));
        let region = region.filter(|_| is_amazon).map(str::to_owned).or_else(|| region_of(url));
        let endpoint = (!is_amazon).then(|| endpoint.to_owned());
        let (name, key) = (name.to_owned(), key_of(key));
        Self::checked(
            url,
            Self { provider: Provider::S3, endpoint, region, name, account: None, key, alias: None },
        )
    }

    /// `s3://alias/bucket/key`, of an alias for a server.
    pub(crate) fn of_alias(url: &Url, endpoint: &str) -> Result<Self> {
        let alias = Some(url.host().to_owned());
        Ok(Self { alias, ..Self::at_server(url, endpoint)? })
    }

    /// `scheme://bucket/key`.
    fn named(url: &Url, provider: Provider) -> Result<Self> {
        let region = region_of(url);
        Self::checked(
            url,
            Self {
                provider,
                endpoint: None,
                region,
                name: url.host().to_owned(),
                account: None,
                key: key_of(url.path()),
                alias: None,
            },
        )
    }

    /// `az://container/key`, or `abfs://container@account.dfs.core.windows.net/key`.
    fn in_account(url: &Url) -> Result<Self> {
        let key = key_of(url.path());
        let (name, account) = match url.credentials() {
            Some((container, _)) => {
                let account = url.host().split('.').next().unwrap_or_default();
                (container.to_owned(), Some(account.to_owned()))
            }
            None => (url.host().to_owned(), None),
        };
        Self::checked(
            url,
            Self { provider: Provider::Azure, endpoint: None, region: None, name, account, key, alias: None },
        )
    }

    /// Forms 1 to 4 and 8 to 10: the labels of the host tell bucket and region.
    fn of_host(url: &Url, host: &str, is_amazon: bool) -> Result<Option<Self>> {
        let labels: Vec<&str> = host.split('.').collect();
        let own = is_amazon && url.port().is_none();
        let s3 = labels.iter().rposition(|label| *label == "s3");
        let after = labels.iter().skip(s3.map_or(labels.len(), |at| at + 1));
        let after: Vec<&str> = after.copied().filter(|label| *label != "dualstack").collect();
        let region =
            after.first().filter(|label| after.len() > 2 && !(own && **label == "amazonaws")).copied();
        match s3 {
            Some(at) if at > 0 && (is_amazon || after.len() > 1) => {
                let name = first_labels(url.host(), at);
                let server = labels.get(at..).unwrap_or_default().join(".");
                let endpoint = (!own).then(|| endpoint(url, &server));
                let region = region.map(str::to_owned).or_else(|| region_of(url));
                let key = key_of(&percent_decoded(url.path()));
                let provider = Provider::S3;
                Self::checked(url, Self { provider, endpoint, region, name, account: None, key, alias: None })
                    .map(Some)
            }
            None if is_amazon => Ok(None),
            _ => Self::path_style(url, Provider::S3, region, own).map(Some),
        }
    }

    /// The bucket is the first segment of the path.
    fn path_style(url: &Url, provider: Provider, region: Option<&str>, own: bool) -> Result<Self> {
        let path = percent_decoded(url.path());
        let path = path.trim_start_matches('/');
        let (name, key) = path.split_once('/').unwrap_or((path, ""));
        let endpoint = (!own).then(|| endpoint(url, url.host()));
        let region = region.map(str::to_owned).or_else(|| region_of(url));
        Self::checked(
            url,
            Self {
                provider,
                endpoint,
                region,
                name: name.to_owned(),
                account: None,
                key: key_of(key),
                alias: None,
            },
        )
    }

    fn checked(url: &Url, bucket: Self) -> Result<Self> {
        if bucket.name.is_empty() {
            return Err(Error::invalid(format!("{url} names no bucket")));
        }
        Ok(bucket)
    }
}

/// Whether the host of `s3://host/...` is a server and no bucket: it has a port, is a number or `localhost`, or has a label
/// that is `s3` or has it at one end (`s3.example.org`, `store.s3-west.example.org`).
fn is_server(url: &Url) -> bool {
    let host = url.host().to_ascii_lowercase();
    let speaks = |label: &str| label == "s3" || label.starts_with("s3-") || label.ends_with("-s3");
    let labels: Vec<&str> = host.split('.').collect();
    url.port().is_some() || is_near(url) || (labels.len() > 2 && labels.into_iter().any(speaks))
}

/// Whether a host is this machine, a number, or a name without dots: such are asked without encryption unless the port
/// is that of encryption.
fn is_near(url: &Url) -> bool {
    let host = url.host();
    let is_number = host.starts_with('[') || host.parse::<std::net::Ipv4Addr>().is_ok();
    let is_name = url.port().is_some() && !host.contains('.');
    url.port() != Some(443) && (is_number || is_name || host.eq_ignore_ascii_case("localhost"))
}

/// Host and port.
fn place(url: &Url) -> String {
    let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
    format!("{}{port}", url.host())
}

fn region_of(url: &Url) -> Option<String> {
    url.fragment().region().map(str::to_owned)
}

fn key_of(path: &str) -> String {
    path.trim_matches('/').to_owned()
}

/// Scheme, host and port; `http` is kept when given.
fn endpoint(url: &Url, host: &str) -> String {
    let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
    format!("{}://{host}{port}", url.scheme().as_str())
}

/// The first labels of a host as written: names of buckets may tell upper and lower case apart.
fn first_labels(host: &str, count: usize) -> String {
    host.split('.').take(count).collect::<Vec<_>>().join(".")
}

/// Resolves `%xx`; what is no such escape, or gives no UTF-8, stays as it is.
pub(crate) fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let escaped = (first == b'%').then(|| after.get(..2)).flatten().and_then(hex_byte);
        bytes.push(escaped.unwrap_or(first));
        rest = if escaped.is_some() { after.get(2..).unwrap_or_default() } else { after };
    }
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned())
}

fn hex_byte(digits: &[u8]) -> Option<u8> {
    let text = std::str::from_utf8(digits).ok().filter(|text| text.chars().all(|c| c.is_ascii_hexdigit()))?;
    u8::from_str_radix(text, 16).ok()
}
