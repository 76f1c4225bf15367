//! Keeps addresses that others named out of private networks. The host is looked up before each request, for a clear error, and
//! again for each connection, so that a name cannot mean something else by then.
use ncirrus_layout::{Error, ErrorKind, LockExt, Result};
use ncirrus_store::{HostAccess, StoreOptions, has_host};
use reqwest::Url;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Who named the addresses, and which private hosts are allowed all the same.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct GuardRules {
    /// The host of the dataset that names them; none if that is not known.
    base: Option<String>,
    allowed: BTreeSet<String>,
    proxies: BTreeSet<String>,
}

impl GuardRules {
    /// The rules of these options; `None` if everything may be reached.
    pub(crate) fn of(options: &StoreOptions, proxy: Option<&str>, endpoint: Option<&str>) -> Option<Self> {
        let HostAccess::NamedBy(base) = &options.hosts else { return None };
        let of_environment =
            ["http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"];
        let proxies = of_environment.into_iter().filter_map(|name| std::env::var(name).ok());
        let proxies = proxies.chain(proxy.map(str::to_owned)).filter_map(|text| host_in(&text)).collect();
        let base = base.clone().or_else(|| endpoint.and_then(host_in)).map(|base| bare(&base));
        Some(Self { base, allowed: options.allowed_hosts.clone(), proxies })
    }

    /// Whether requests may be sent to a proxy. Some systems have settings that are not known here.
    fn may_have_proxy(&self) -> bool {
        !self.proxies.is_empty() || cfg!(any(windows, target_os = "macos"))
    }

    /// Whether the user named a host: it is allowed, or that of the dataset, or the server of the dataset's bucket
    /// (`s3.example.org` of `bucket.s3.example.org`).
    fn is_named(&self, host: &str) -> bool {
        let prefix = self.base.as_deref().and_then(|base| base.strip_suffix(host));
        let is_own =
            prefix.is_some_and(|prefix| prefix.is_empty() || (prefix.ends_with('.') && host.contains('.')));
        is_own || has_host(&self.allowed, host)
    }
}

/// The host of a URL.
fn host_in(text: &str) -> Option<String> {
    let parsed =
        Url::parse(text).ok().filter(Url::has_host).or_else(|| Url::parse(&format!("http://{text}")).ok())?;
    parsed.host_str().map(bare)
}

/// The name of a host, without the brackets of an address.
fn bare(host: &str) -> String {
    host.trim_start_matches('[').trim_end_matches(']').trim_end_matches('.').to_ascii_lowercase()
}

/// Enforces rules; clones share what was found out.
#[derive(Debug, Clone)]
pub(crate) struct HostGuard {
    rules: Arc<GuardRules>,
    /// Whether the requests are redirects of an address that the user gave.
    is_of_user: bool,
    /// Hosts that may be reached, and since when that is known.
    good: Arc<Mutex<BTreeMap<String, Instant>>>,
}

/// How long a host is not looked up again before a request.
const KEPT: Duration = Duration::from_secs(60);

impl HostGuard {
    pub(crate) fn new(rules: GuardRules) -> Self {
        Self { rules: Arc::new(rules), is_of_user: false, good: Arc::default() }
    }

    /// For redirects of an address that the user gave: names that only a proxy can look up are sent to it.
    pub(crate) fn of_redirects(rules: GuardRules) -> Self {
        Self { is_of_user: true, ..Self::new(rules) }
    }

    /// Checks the host of a request; `from` is the host that redirected to it, if it was another one.
    ///
    /// A name that cannot be looked up here may be known to a proxy, in the proxy's network: it is refused unless it is
    /// allowed, or that of the dataset itself. Without a proxy the connection fails, for a reason that may be temporary.
    ///
    /// # Errors
    /// `Denied` if the host is in a private network, or only a proxy could look it up, and that is not allowed; `Io` if
    /// that cannot be found out at the moment.
    pub(crate) async fn check(&self, url: &Url, from: Option<&str>) -> Result<()> {
        let Some(host) = url.host_str().map(bare) else { return Ok(()) };
        if self.good.guard().get(&host).is_some_and(|since| since.elapsed() < KEPT) {
            return Ok(());
        }
        let may_be_unknown = self.is_of_user || !self.rules.may_have_proxy() || self.rules.is_named(&host);
        let found = match looked_up(&host).await {
            Err(error) if !may_be_unknown && is_temporary(&error) => looked_up_again(&host).await?,
            found => found.unwrap_or_default(),
        };
        if found.is_empty() {
            return if may_be_unknown { Ok(()) } else { Err(self.unknown(&host, from)) };
        }
        if self.permitted(&host, found).await.is_empty() {
            return Err(self.refused(&host, from));
        }
        self.good.guard().insert(host, Instant::now());
        Ok(())
    }

    /// What leads to a host.
    fn cause(&self, from: Option<&str>) -> String {
        match from {
            Some(from) => format!("{} redirects to", bare(from)),
            None => {
                let base = self.rules.base.as_deref().unwrap_or("an object store");
                format!("a dataset at {base} refers to")
            }
        }
    }

    fn unknown(&self, host: &str, from: Option<&str>) -> Error {
        let cause = self.cause(from);
        let message = format!(
            "{cause} {host}, which cannot be looked up here and may be a host of a private network that a proxy \
             reaches: allow it by references.hosts if that is right"
        );
        Error::new(ErrorKind::Denied, message)
    }

    fn refused(&self, host: &str, from: Option<&str>) -> Error {
        let cause = self.cause(from);
        let message = format!(
            "{cause} {host}, a host of a private network: allow it by references.hosts if that is right"
        );
        Error::new(ErrorKind::Denied, message)
    }

    /// The addresses of a host that may be connected to.
    async fn permitted(&self, host: &str, found: Vec<IpAddr>) -> Vec<IpAddr> {
        if has_host(&self.rules.allowed, host) || !found.iter().any(is_private) {
            return found;
        }
        if found.iter().any(|address| self.rules.allowed.contains(&address.to_string()))
            || self.is_base_private().await
        {
            return found;
        }
        found.into_iter().filter(|address| !is_private(address)).collect()
    }

    /// Whether the dataset that names the hosts is in a private network itself.
    async fn is_base_private(&self) -> bool {
        let Some(base) = &self.rules.base else { return false };
        looked_up(base).await.is_ok_and(|found| !found.is_empty() && found.iter().all(is_private))
    }
}

impl Resolve for HostGuard {
    fn resolve(&self, name: Name) -> Resolving {
        let guard = self.clone();
        Box::pin(async move {
            let host = bare(name.as_str());
            let found = looked_up(&host).await?;
            let found =
                if guard.rules.proxies.contains(&host) { found } else { guard.permitted(&host, found).await };
            if found.is_empty() {
                return Err(io::Error::new(
                    io::ErrorKind::PermissionDenied,
                    guard.refused(&host, None).to_string(),
                )
                .into());
            }
            Ok(Box::new(found.into_iter().map(|address| SocketAddr::new(address, 0))) as Addrs)
        })
    }
}

/// The addresses of a host.
async fn looked_up(host: &str) -> io::Result<Vec<IpAddr>> {
    if let Ok(address) = host.parse() {
        return Ok(vec![address]);
    }
    // Such names exist nowhere (RFC 6761).
    if host.ends_with(".invalid") {
        return Err(io::Error::new(io::ErrorKind::NotFound, "the name of the host is unknown"));
    }
    let name = host.to_owned();
    let found = tokio::task::spawn_blocking(move || (name.as_str(), 0).to_socket_addrs());
    let found = found.await.map_err(io::Error::other)??;
    Ok(found.map(|address| address.ip()).collect())
}

/// Waits before a host is looked up again.
const LOOKUP_WAITS: [Duration; 2] = [Duration::from_millis(250), Duration::from_secs(1)];

/// The same, after a failure that may be temporary.
async fn looked_up_again(host: &str) -> Result<Vec<IpAddr>> {
    for wait in LOOKUP_WAITS {
        tokio::time::sleep(wait).await;
        match looked_up(host).await {
            Err(error) if is_temporary(&error) => {}
            found => return Ok(found.unwrap_or_default()),
        }
    }
    let message =
        format!("{host} cannot be looked up at the moment: try again, or allow it by references.hosts");
    Err(Error::new(ErrorKind::Io { retryable: true }, message))
}

/// Whether a name was not looked up for a reason that may pass. The standard library reports that in the message only,
/// or as a number of Windows (`WSATRY_AGAIN`).
fn is_temporary(error: &io::Error) -> bool {
    let message = error.to_string().to_ascii_lowercase();
    let is_passing = matches!(error.kind(), io::ErrorKind::TimedOut | io::ErrorKind::Interrupted);
    let is_reported =
        ["temporary failure in name resolution", "try again"].iter().any(|words| message.contains(words));
    is_passing || is_reported || (cfg!(windows) && error.raw_os_error() == Some(11002))
}

/// Whether an address is one of this machine, or of a network that is not public.
fn is_private(address: &IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_private_v4(*address),
        IpAddr::V6(address) => is_private_v6(address),
    }
}

fn is_private_v4(address: Ipv4Addr) -> bool {
    let [first, second, ..] = address.octets();
    let is_shared = first == 100 && (64..128).contains(&second);
    let is_special = first == 0 || address.is_broadcast() || address.is_multicast();
    address.is_loopback() || address.is_private() || address.is_link_local() || is_shared || is_special
}

/// Those that stand for one of version 4 are what that is.
fn is_private_v6(address: &Ipv6Addr) -> bool {
    let parts = address.segments();
    let low = |at: usize| {
        let [high, low] =
            [parts.get(at), parts.get(at + 1)].map(|part| part.copied().unwrap_or(0).to_be_bytes());
        Ipv4Addr::new(high[0], high[1], low[0], low[1])
    };
    let within = match parts {
        [0x64, 0xff9b, ..] | [0, 0, 0, 0, 0, 0xffff | 0, ..] if !address.is_loopback() => Some(low(6)),
        [0x2002, ..] => Some(low(1)),
        _ => None,
    };
    let is_local = address.is_unique_local() || address.is_unicast_link_local() || address.is_multicast();
    address.is_loopback() || address.is_unspecified() || is_local || within.is_some_and(is_private_v4)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guard(base: Option<&str>, allowed: &[&str]) -> HostGuard {
        let allowed = allowed.iter().map(|host| (*host).to_owned()).collect();
        HostGuard::new(GuardRules { base: base.map(str::to_owned), allowed, proxies: BTreeSet::new() })
    }

    fn behind_proxy(guard: &HostGuard) -> HostGuard {
        HostGuard::new(GuardRules { proxies: BTreeSet::from(["proxy".to_owned()]), ..(*guard.rules).clone() })
    }

    fn now<T>(work: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap().block_on(work)
    }

    const PRIVATE: [&str; 20] = [
        "127.0.0.1",
        "127.9.9.9",
        "10.1.2.3",
        "172.16.0.1",
        "172.31.255.255",
        "192.168.1.1",
        "169.254.169.254",
        "100.64.0.1",
        "0.0.0.0",
        "255.255.255.255",
        "::1",
        "::",
        "fe80::1",
        "fc00::1",
        "fd12::1",
        "::ffff:127.0.0.1",
        "::ffff:a9fe:a9fe",
        "64:ff9b::7f00:1",
        "2002:a9fe:a9fe::",
        "::127.0.0.1",
    ];
    const PUBLIC: [&str; 8] = [
        "8.8.8.8",
        "172.32.0.1",
        "100.128.0.1",
        "2001:4860::8888",
        "::ffff:8.8.8.8",
        "64:ff9b::808:808",
        "2002:808:808::",
        "1.1.1.1",
    ];

    #[test]
    fn addresses_of_private_networks_are_known_in_every_form() {
        for text in PRIVATE {
            assert!(is_private(&text.parse().unwrap()), "{text}");
        }
        for text in PUBLIC {
            assert!(!is_private(&text.parse().unwrap()), "{text}");
        }
    }

    #[test]
    fn a_request_to_a_private_host_needs_a_base_there_or_leave() {
        let check = |guard: &HostGuard, url: &str| now(guard.check(&Url::parse(url).unwrap(), None));
        let urls = [
            "http://127.0.0.1:8/a",
            "http://localhost:8/a",
            "http://LOCALHOST./a",
            "http://[::1]/a",
            "http://2130706433/a",
            "http://0x7f.1/a",
            "http://169.254.169.254/latest/meta-data",
        ];
        for url in urls {
            let error = check(&guard(Some("8.8.8.8"), &[]), url).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Denied, "{url}");
            assert!(error.message().contains("references.hosts"), "{}", error.message());
            assert!(check(&guard(None, &[]), url).is_err(), "{url}");
            assert!(check(&guard(Some("127.0.0.1"), &[]), url).is_ok(), "{url}");
            assert!(check(&guard(Some("localhost"), &[]), url).is_ok(), "{url}");
        }
        assert!(check(&guard(Some("8.8.8.8"), &["localhost"]), "http://localhost/a").is_ok());
        assert!(check(&guard(Some("8.8.8.8"), &["127.0.0.1"]), "http://localhost/a").is_ok());
        assert!(check(&guard(Some("8.8.8.8"), &["other"]), "http://localhost/a").is_err());
        assert!(check(&guard(Some("8.8.8.8"), &[]), "http://1.1.1.1/a").is_ok());
        assert!(check(&guard(Some("nowhere.invalid"), &[]), "http://localhost/a").is_err());
    }

    #[test]
    fn a_name_that_only_a_proxy_can_look_up_must_be_allowed() {
        let check =
            |guard: &HostGuard, url: &str| now(behind_proxy(guard).check(&Url::parse(url).unwrap(), None));
        let base = Some("data.invalid");
        let error = check(&guard(base, &[]), "http://other.invalid/a").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Denied);
        assert!(error.message().contains("cannot be looked up here"), "{}", error.message());
        assert!(error.message().contains("references.hosts"), "{}", error.message());
        assert!(check(&guard(base, &["other.invalid"]), "http://other.invalid/a").is_ok());
        assert!(check(&guard(base, &[".invalid"]), "http://a.other.invalid/a").is_ok());
        assert!(check(&guard(base, &["invalid", "r.invalid"]), "http://other.invalid/a").is_err());
        assert!(check(&guard(base, &[]), "http://DATA.invalid./a").is_ok(), "the host of the dataset");
        assert!(check(&guard(base, &[]), "http://127.0.0.1/a").is_err(), "an address needs no proxy");
        assert!(check(&guard(base, &[]), "http://1.1.1.1/a").is_ok());
        assert!(check(&guard(None, &[]), "http://other.invalid/a").is_err());
        let plain = now(guard(base, &[]).check(&Url::parse("http://other.invalid/a").unwrap(), None));
        assert_eq!(
            plain.is_ok(),
            cfg!(not(any(windows, target_os = "macos"))),
            "without a proxy no request is sent"
        );
    }

    #[test]
    fn the_server_of_the_bucket_of_a_dataset_is_its_own() {
        let own = behind_proxy(&guard(Some("bucket.s3.corp.invalid"), &[]));
        for (host, is_own) in [
            ("bucket.s3.corp.invalid", true),
            ("s3.corp.invalid", true),
            ("3.corp.invalid", false),
            ("other.s3.corp.invalid", false),
            ("invalid", false),
        ] {
            assert_eq!(own.rules.is_named(host), is_own, "{host}");
        }
    }

    #[test]
    fn a_redirect_of_the_user_is_refused_only_into_private_networks() {
        let rules = || (*behind_proxy(&guard(Some("data.invalid"), &[])).rules).clone();
        let check = |guard: HostGuard, url: &str| {
            now(async { guard.check(&Url::parse(url).unwrap(), Some("data.invalid")).await })
        };
        assert!(check(HostGuard::of_redirects(rules()), "http://other.invalid/a").is_ok());
        for (guard, url) in [
            (HostGuard::of_redirects(rules()), "http://10.0.0.1/a"),
            (HostGuard::of_redirects(rules()), "http://localhost/a"),
            (HostGuard::new(rules()), "http://other.invalid/a"),
        ] {
            let error = check(guard, url).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Denied, "{url}");
            assert!(error.message().starts_with("data.invalid redirects to "), "{}", error.message());
        }
    }

    #[test]
    fn failures_of_lookups_that_may_pass_are_known() {
        let start = "failed to lookup address information: ";
        for (why, is_passing) in [
            ("Temporary failure in name resolution", true),
            ("Try again", true),
            ("Name or service not known", false),
            ("No address associated with hostname", false),
        ] {
            assert_eq!(is_temporary(&io::Error::other(format!("{start}{why}"))), is_passing, "{why}");
        }
        let unknown = now(looked_up("a.invalid")).unwrap_err();
        assert!(!is_temporary(&unknown));
    }

    #[test]
    fn each_connection_is_checked_when_its_name_is_looked_up() {
        let resolve =
            |guard: HostGuard| now(guard.resolve("localhost".parse().unwrap())).map(|found| found.count());
        assert!(resolve(guard(Some("8.8.8.8"), &[])).is_err());
        assert!(resolve(guard(Some("8.8.8.8"), &["localhost"])).unwrap() > 0);
        assert!(resolve(guard(Some("127.0.0.1"), &[])).unwrap() > 0);
    }
}
