//! Addresses of datasets: URLs with their fragments, and bare local paths (docs/spec/nczarr.md 8).
mod amazon;
mod bucket;
mod fragment;
mod modes;
mod name;
mod percent;
mod relative;
#[cfg(test)]
mod tests;

pub use bucket::{BucketUrl, CloudProvider};
pub use fragment::UrlFragment;
pub use modes::UrlModes;
pub use name::dataset_name;
pub use percent::{percent_decoded, percent_encoded, query_encoded};
pub(crate) use relative::anchored_path;

use crate::path_text;
use ncirrus_layout::{Error, Result};
use std::fmt;

/// The address of a dataset. It is displayed without password and without query values, which may be signatures.
///
/// ```
/// use ncirrus_store::{Scheme, Url};
/// let url = Url::parse("[mode=zarr]s3://bucket/a/b.zarr#aws.region=eu-west-1")?;
/// assert_eq!((url.scheme(), url.path()), (Scheme::S3, "/a/b.zarr"));
/// assert!(url.fragment().modes().contains("nczarr"));
/// assert_eq!(url.fragment().value("aws.region"), Some("eu-west-1"));
/// # Ok::<(), ncirrus_layout::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Url {
    scheme: Scheme,
    /// The name of a scheme that is not built in.
    other: Option<String>,
    authority: UrlAuthority,
    path: String,
    query: Option<String>,
    fragment: UrlFragment,
    /// A bare path as it was given, if part of it was taken for a fragment: a file of that name takes precedence.
    whole: Option<String>,
}

/// How a dataset is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scheme {
    /// The local file system: `file:` or a bare path.
    File,
    /// `http://`.
    Http,
    /// `https://`.
    Https,
    /// `s3://`.
    S3,
    /// `gs://` or `gs3://`.
    Gs,
    /// `az://`, `abfs://`, `abfss://`.
    Azure,
    /// `memory://name`.
    Memory,
    /// One that is not built in: of a custom store, or unknown.
    Other,
}

/// The authority: user, password, host and port.
#[derive(Clone, Default, PartialEq, Eq)]
struct UrlAuthority {
    user: Option<String>,
    password: Option<String>,
    /// Host, or bucket, container, name of a memory store.
    host: String,
    port: Option<u16>,
}

impl Scheme {
    /// The scheme of that name, and the mode word that the name implies.
    fn named(name: &str) -> Option<(Self, Option<&'static str>)> {
        Some(match name {
            "file" => (Self::File, None),
            "http" => (Self::Http, None),
            "https" => (Self::Https, None),
            "dods" | "dap2" | "dap2+http" => (Self::Http, Some("dap2")),
            "dap4" | "dap4+http" => (Self::Http, Some("dap4")),
            "s3" => (Self::S3, Some("s3")),
            "gs3" => (Self::Gs, Some("gs3")),
            "gs" => (Self::Gs, None),
            "az" | "abfs" | "abfss" => (Self::Azure, None),
            "memory" => (Self::Memory, None),
            _ => return None,
        })
    }

    /// The scheme as written in a URL.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Http => "http",
            Self::Https => "https",
            Self::S3 => "s3",
            Self::Gs => "gs",
            Self::Azure => "az",
            Self::Memory => "memory",
            Self::Other => "other",
        }
    }
}

impl Url {
    /// Parses a URL or a bare local path. A part after `#` of a bare path is a fragment if it cannot be anything
    /// else: a list of known keys and macros. Local paths that are not UTF-8 are written as [`path_text`] has them.
    ///
    /// # Errors
    /// `Invalid` for a missing host, a port that is not a number, a NUL, nothing at all. Whether a scheme is known is
    /// checked when the address is opened.
    pub fn parse(text: &str) -> Result<Self> {
        if text.is_empty() {
            return Err(Error::invalid("address is empty"));
        }
        let (clauses, rest) = split_clauses(text);
        let scheme = split_scheme(rest);
        let is_path = scheme.is_none_or(|(scheme, _)| scheme.eq_ignore_ascii_case("file"));
        if text.contains('\0') && !(is_path && path_text::is_valid(text)) {
            return Err(Error::invalid(format!("{text:?} contains a NUL")));
        }
        match scheme {
            Some((scheme, rest)) => Self::with_scheme(&clauses, scheme, rest),
            None => Ok(Self::bare(text)),
        }
    }

    /// The address of a local path, whatever characters it has.
    pub fn of_path(path: &str) -> Self {
        Self {
            scheme: Scheme::File,
            other: None,
            authority: UrlAuthority::default(),
            path: path.to_owned(),
            query: None,
            fragment: UrlFragment::default(),
            whole: None,
        }
    }

    /// How the dataset is reached.
    pub fn scheme(&self) -> Scheme {
        self.scheme
    }

    /// The name of a scheme that is not built in, in lower case.
    pub fn other_scheme(&self) -> Option<&str> {
        self.other.as_deref()
    }

    /// Host, bucket, container or name of a memory store; empty for local files.
    pub fn host(&self) -> &str {
        &self.authority.host
    }

    /// Port, if given.
    pub fn port(&self) -> Option<u16> {
        self.authority.port
    }

    /// User and password, if given, without escapes. Never show them.
    pub fn credentials(&self) -> Option<(&str, Option<&str>)> {
        self.authority.user.as_deref().map(|user| (user, self.authority.password.as_deref()))
    }

    /// Path: for a file as in the file system, otherwise from the slash after the host on.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Query, without the question mark. Never show it: it may be signed.
    pub fn query(&self) -> Option<&str> {
        self.query.as_deref()
    }

    /// The version of an object in a bucket that the query asks for (`versionId`).
    pub fn version(&self) -> Option<String> {
        let mut fields = self.query.as_deref()?.split('&').filter_map(|field| field.split_once('='));
        let (_, version) = fields.find(|(name, value)| *name == "versionId" && !value.is_empty())?;
        Some(percent_decoded(version))
    }

    /// The part after `#` or in brackets before the scheme.
    pub fn fragment(&self) -> &UrlFragment {
        &self.fragment
    }

    /// A bare path as it was given, if part of it was taken for a fragment.
    pub fn whole_path(&self) -> Option<&str> {
        self.whole.as_deref()
    }

    /// Whether the address is that of a web server, or of a store behind one.
    pub fn is_http(&self) -> bool {
        matches!(self.scheme, Scheme::Http | Scheme::Https)
    }

    /// Whether the address names a protocol whose servers compute their answers (`dap2`, `dap4`): there are no objects
    /// with ranges and states, neither at the address nor beside it.
    pub fn is_computed(&self) -> bool {
        let modes = self.fragment.modes();
        modes.contains("dap2") || modes.contains("dap4")
    }

    /// The bucket, if the dataset is in an object store (docs/spec/nczarr.md 8.8).
    ///
    /// # Errors
    /// `Invalid` if it should be, but the URL names no bucket.
    pub fn bucket(&self) -> Result<Option<BucketUrl>> {
        BucketUrl::of(self)
    }

    /// Name of the dataset as `ncdump` prints it (docs/spec/nczarr.md 8.9).
    pub fn name(&self) -> &str {
        dataset_name(&self.path)
    }

    fn with_scheme(clauses: &[&str], scheme: &str, rest: &str) -> Result<Self> {
        let scheme = scheme.to_ascii_lowercase();
        let (known, mode) = Scheme::named(&scheme).unwrap_or((Scheme::Other, None));
        let marks = |text: &str| text.bytes().filter(|byte| *byte == b'@').count();
        let all_marks = marks(rest);
        let (rest, fragment) = rest.split_once('#').map_or((rest, ""), |(rest, fragment)| (rest, fragment));
        let (rest, query) = rest.split_once('?').map_or((rest, None), |(rest, query)| (rest, Some(query)));
        let fragment = UrlFragment::parse(clauses.iter().copied().chain([fragment]), mode);
        if known == Scheme::File {
            return Ok(Self { fragment, ..Self::of_path(file_path(rest)) });
        }
        let rest = rest.strip_prefix("//").unwrap_or(rest);
        let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let authority = UrlAuthority::parse(authority, all_marks > marks(authority))?;
        let path = path.to_owned();
        let query = query.map(str::to_owned);
        let known = match scheme.as_str() {
            "dods" | "dap2" | "dap4" if authority.port.is_none() && !authority.is_loopback() => Scheme::Https,
            _ => known,
        };
        let other = (known == Scheme::Other).then_some(scheme);
        Ok(Self { scheme: known, other, authority, path, query, fragment, whole: None })
    }

    fn bare(text: &str) -> Self {
        match text.rsplit_once('#') {
            Some((path, fragment)) if !path.is_empty() && UrlFragment::is_unmistakable(fragment) => Self {
                fragment: UrlFragment::parse([fragment], None),
                whole: Some(text.to_owned()),
                ..Self::of_path(path)
            },
            _ => Self::of_path(text),
        }
    }
}

impl UrlAuthority {
    fn is_loopback(&self) -> bool {
        let host = self.host.trim_matches(['[', ']']);
        host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
    }

    /// Parses `user:password@host:port`; `is_secret`: what follows shows that a password may have been split.
    fn parse(text: &str, is_secret: bool) -> Result<Self> {
        let (login, place) =
            text.rsplit_once('@').map_or((None, text), |(login, place)| (Some(login), place));
        let (user, password) = match login.map(|login| login.split_once(':').unwrap_or((login, ""))) {
            Some((user, "")) => (Some(percent_decoded(user)), None),
            Some((user, password)) => (Some(percent_decoded(user)), Some(percent_decoded(password))),
            None => (None, None),
        };
        let after_brackets = place.find(']').map_or(0, |end| end + 1);
        let (brackets, rest) = place.split_at(after_brackets);
        let (name, port) = rest.split_once(':').map_or((rest, None), |(name, port)| (name, Some(port)));
        let has_brackets = !brackets.is_empty();
        if place.starts_with('[') != has_brackets || (has_brackets && !name.is_empty()) {
            return Err(Error::invalid("write a host in brackets as [::1] or [::1]:port"));
        }
        let port = port.map_or(Ok(None), |port| parse_port(port, is_secret))?;
        let host = format!("{brackets}{name}");
        if host.is_empty() {
            return Err(Error::invalid("the URL has no host"));
        }
        Ok(Self { user, password, host, port })
    }
}

fn parse_port(text: &str, is_secret: bool) -> Result<Option<u16>> {
    match text.parse() {
        _ if text.is_empty() => Ok(None),
        Ok(port) => Ok(Some(port)),
        Err(_) if is_secret => {
            Err(Error::invalid("the port is not a number; in a password, write / ? # @ as %2F %3F %23 %40"))
        }
        Err(_) => Err(Error::invalid(format!("port {text:?} is not a number from 0 to 65535"))),
    }
}

/// The bracketed clauses before a scheme, and the rest.
fn split_clauses(text: &str) -> (Vec<&str>, &str) {
    let mut clauses = Vec::new();
    let mut rest = text;
    while let Some((clause, after)) = rest.strip_prefix('[').and_then(|inner| inner.split_once(']')) {
        clauses.push(clause);
        rest = after;
    }
    (clauses, rest)
}

/// The scheme and what follows its colon. A single letter is a drive; only `file` may have a single slash.
fn split_scheme(text: &str) -> Option<(&str, &str)> {
    let (scheme, rest) = text.split_once(':')?;
    let mut letters = scheme.chars();
    let starts_well = letters.next().is_some_and(|first| first.is_ascii_alphabetic());
    let is_scheme =
        starts_well && scheme.len() > 1 && letters.all(|c| c.is_ascii_alphanumeric() || "+.-".contains(c));
    let slashes = if scheme.eq_ignore_ascii_case("file") { "/" } else { "//" };
    (is_scheme && rest.starts_with(slashes)).then_some((scheme, rest))
}

/// The path in a file URL: absolute after three slashes or one, relative after two (docs/spec/nczarr.md 8.6).
fn file_path(rest: &str) -> &str {
    let path = rest.strip_prefix("//").unwrap_or(rest);
    let drive = path.strip_prefix('/').filter(|path| path.get(1..2) == Some(":") && cfg!(windows));
    drive.unwrap_or(path)
}

impl fmt::Display for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.scheme == Scheme::File {
            return f.write_str(&self.path);
        }
        let scheme = self.other_scheme().unwrap_or(self.scheme.as_str());
        write!(f, "{scheme}://")?;
        // For Azure this is a container.
        if let (Scheme::Azure, Some(container)) = (self.scheme, &self.authority.user) {
            write!(f, "{container}@")?;
        }
        f.write_str(&self.authority.host)?;
        if let Some(port) = self.authority.port {
            write!(f, ":{port}")?;
        }
        f.write_str(&self.path)
    }
}

impl fmt::Debug for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Url({self}, {:?})", self.fragment)
    }
}
