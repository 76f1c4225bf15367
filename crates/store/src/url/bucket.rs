//! Datasets in object stores: the many forms of their URLs (docs/spec/nczarr.md 8.8).
use super::{Scheme, Url, amazon};
use ncirrus_layout::{Error, Result};
use std::borrow::Cow;

/// A bucket (or container) of an object store, and a key in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BucketUrl {
    /// The provider.
    pub provider: CloudProvider,
    /// Scheme, host and port of a server other than the provider's own.
    pub endpoint: Option<String>,
    /// Region, if the URL states it.
    pub region: Option<String>,
    /// Name of the bucket or container.
    pub name: String,
    /// Account, if the URL states it (Azure).
    pub account: Option<String>,
    /// Key without slashes at its ends.
    pub key: String,
    /// Alias of the server in the configuration, if the URL uses it.
    pub alias: Option<String>,
    /// Whether the URL names a server of Amazon itself: the configuration does not override it.
    pub is_amazon: bool,
}

/// The provider of an object store, or of its protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CloudProvider {
    /// Amazon S3 and compatible stores.
    S3,
    /// Google Cloud Storage.
    Gcs,
    /// Azure Blob Storage.
    Azure,
}

const GOOGLE: &str = "storage.googleapis.com";

impl CloudProvider {
    /// The provider's own server, whatever the region.
    pub fn server(self) -> &'static str {
        match self {
            Self::S3 => "s3.amazonaws.com",
            Self::Gcs => GOOGLE,
            Self::Azure => "blob.core.windows.net",
        }
    }
}

impl BucketUrl {
    pub(super) fn of(url: &Url) -> Result<Option<Self>> {
        let modes = url.fragment().modes();
        let host = url.host().to_ascii_lowercase();
        let may_be_amazon = url.port().is_none() && (url.is_http() || url.scheme() == Scheme::S3);
        if let Some(server) = amazon::server(&host).filter(|_| may_be_amazon) {
            return Self::at_amazon(url, server).map(Some);
        }
        match url.scheme() {
            Scheme::S3 if is_server(url) => {
                let scheme = if is_near(url) { "http" } else { "https" };
                let endpoint = Some(format!("{scheme}://{}", place(url)));
                Self::in_path(url, CloudProvider::S3, endpoint).map(Some)
            }
            Scheme::S3 => Self::named(url, CloudProvider::S3).map(Some),
            Scheme::Gs => Self::named(url, CloudProvider::Gcs).map(Some),
            Scheme::Azure => Self::in_account(url).map(Some),
            Scheme::Http | Scheme::Https => {
                if host == GOOGLE {
                    return Self::in_path(
                        url,
                        CloudProvider::Gcs,
                        url.port().map(|_| endpoint(url, url.host())),
                    )
                    .map(Some);
                }
                if let Some(labels) = host.strip_suffix(GOOGLE).and_then(|front| front.strip_suffix('.')) {
                    return Self::in_host(url, CloudProvider::Gcs, labels.split('.').count()).map(Some);
                }
                if modes.contains("s3") || modes.contains("gs3") {
                    return Self::of_host(url, &host).map(Some);
                }
                Ok(None)
            }
            Scheme::File | Scheme::Memory | Scheme::Other => Ok(None),
        }
    }

    /// The name of the store in messages: scheme and bucket, or the server and bucket.
    pub fn address(&self) -> String {
        let scheme = match self.provider {
            CloudProvider::S3 => "s3",
            CloudProvider::Gcs => "gs",
            CloudProvider::Azure => "az",
        };
        match (&self.endpoint, &self.account) {
            (Some(endpoint), _) => format!("{endpoint}/{}", self.name),
            (None, Some(account)) => format!("az://{}@{account}", self.name),
            (None, None) => format!("{scheme}://{}", self.name),
        }
    }

    /// Forms 1 to 4, and the same with `s3://`.
    fn at_amazon(url: &Url, server: amazon::AmazonHost<'_>) -> Result<Self> {
        let found = match server.bucket_labels {
            0 => Self::in_path(url, CloudProvider::S3, None)?,
            labels => Self::in_host(url, CloudProvider::S3, labels)?,
        };
        let region = server.region.map(str::to_owned).or(found.region);
        Ok(Self { region, is_amazon: true, ..found })
    }

    /// The bucket is the first labels of the provider's own host.
    fn in_host(url: &Url, provider: CloudProvider, labels: usize) -> Result<Self> {
        let name = first_labels(url.host(), labels);
        let (region, key) = (region_of(url), key_of(&decoded(url)));
        Self::checked(
            url,
            Self {
                provider,
                endpoint: None,
                region,
                name,
                account: None,
                key,
                alias: None,
                is_amazon: false,
            },
        )
    }

    /// The bucket is the first segment of the path.
    fn in_path(url: &Url, provider: CloudProvider, endpoint: Option<String>) -> Result<Self> {
        let path = decoded(url);
        let path = path.trim_start_matches('/');
        let (name, key) = path.split_once('/').unwrap_or((path, ""));
        let (name, key, region) = (name.to_owned(), key.trim_end_matches('/').to_owned(), region_of(url));
        Self::checked(
            url,
            Self { provider, endpoint, region, name, account: None, key, alias: None, is_amazon: false },
        )
    }

    /// `s3://alias/bucket/key`, of an alias for a server.
    pub fn of_alias(url: &Url, alias: &str, endpoint: &str) -> Result<Self> {
        let alias = Some(alias.to_owned());
        Ok(Self { alias, ..Self::in_path(url, CloudProvider::S3, Some(endpoint.to_owned()))? })
    }

    /// `scheme://bucket/key`.
    fn named(url: &Url, provider: CloudProvider) -> Result<Self> {
        let region = region_of(url);
        Self::checked(
            url,
            Self {
                provider,
                endpoint: None,
                region,
                name: url.host().to_owned(),
                account: None,
                key: key_of(&decoded(url)),
                alias: None,
                is_amazon: false,
            },
        )
    }

    /// `az://container/key`, or `abfs://container@account.dfs.core.windows.net/key`.
    fn in_account(url: &Url) -> Result<Self> {
        let key = key_of(&decoded(url));
        let (name, account) = match url.credentials() {
            Some((container, _)) => {
                let account = url.host().split('.').next().unwrap_or_default();
                (container.to_owned(), Some(account.to_owned()))
            }
            None => (url.host().to_owned(), None),
        };
        Self::checked(
            url,
            Self {
                provider: CloudProvider::Azure,
                endpoint: None,
                region: None,
                name,
                account,
                key,
                alias: None,
                is_amazon: false,
            },
        )
    }

    /// Forms 8 to 10: the labels of the host contain bucket and region.
    fn of_host(url: &Url, host: &str) -> Result<Self> {
        let labels: Vec<&str> = host.split('.').collect();
        let s3 = labels.iter().rposition(|label| *label == "s3");
        let after = labels.iter().skip(s3.map_or(labels.len(), |at| at + 1));
        let after: Vec<&str> = after.copied().filter(|label| *label != "dualstack").collect();
        let region = after.first().filter(|_| after.len() > 2).map(|label| (*label).to_owned());
        let found = match s3 {
            Some(at) if at > 0 && after.len() > 1 => {
                let server = labels.get(at..).unwrap_or_default().join(".");
                Self { endpoint: Some(endpoint(url, &server)), ..Self::in_host(url, CloudProvider::S3, at)? }
            }
            _ => Self::in_path(url, CloudProvider::S3, Some(endpoint(url, url.host())))?,
        };
        Ok(Self { region: region.or(found.region), ..found })
    }

    fn checked(url: &Url, bucket: Self) -> Result<Self> {
        if bucket.name.is_empty() {
            return Err(Error::invalid(format!("{url} does not name a bucket")));
        }
        Ok(bucket)
    }
}

/// Whether the host of `s3://host/...` is a server and not a bucket: it has a port, is an IP address or `localhost`,
/// or has a label that is `s3` or has it at one end (`s3.example.org`, `store.s3-west.example.org`).
fn is_server(url: &Url) -> bool {
    let host = url.host().to_ascii_lowercase();
    let speaks = |label: &str| label == "s3" || label.starts_with("s3-") || label.ends_with("-s3");
    let labels: Vec<&str> = host.split('.').collect();
    url.port().is_some() || is_near(url) || (labels.len() > 2 && labels.into_iter().any(speaks))
}

/// Whether a host is this machine, an IP address, or a name without dots: these are accessed without encryption
/// unless the port is 443.
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

/// The path after its first slash: a second one belongs to the key.
fn key_of(path: &str) -> String {
    path.strip_prefix('/').unwrap_or(path).trim_end_matches('/').to_owned()
}

/// The path of a URL without escapes: percent-encoded on the web; the schemes of stores have three escapes.
fn decoded(url: &Url) -> Cow<'_, str> {
    url.read_key(url.path())
}

/// Scheme, host and port; `http` is kept if given.
fn endpoint(url: &Url, host: &str) -> String {
    let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
    format!("{}://{host}{port}", url.scheme().as_str())
}

/// The first labels of a host as written: names of buckets may be case-sensitive.
fn first_labels(host: &str, count: usize) -> String {
    host.split('.').take(count).collect::<Vec<_>>().join(".")
}
