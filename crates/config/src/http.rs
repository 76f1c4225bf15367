//! HTTP settings, and credentials for web servers.
use super::show::without_password;
use super::{ConfigKey, ConfigSettings, SecretText, ValueOrigin, WebServerSettings, cookies, netrc};
use ncirrus_store::Url;
use std::net::IpAddr;
use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Settings common to all requests.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct HttpSettings {
    /// Proxy for all requests; may contain a password. `None`: as in the environment.
    pub proxy: Option<SecretText>,
    /// Hosts that bypass the proxy, separated by commas.
    pub no_proxy: Option<String>,
    /// File of certificates (PEM) that are trusted in addition to the system's.
    pub certificates: Option<PathBuf>,
    /// The `User-Agent` header.
    pub user_agent: Option<String>,
    /// Connection timeout.
    pub connect_timeout: Option<Duration>,
    /// How long idle connections stay open.
    pub keepalive: Option<Duration>,
}

/// The credentials for a web server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpLogin {
    /// User and password, or a token.
    pub kind: LoginKind,
    /// Where they came from.
    pub origin: ValueOrigin,
}

/// How a request authenticates to a web server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LoginKind {
    /// User and password.
    Basic(String, Option<SecretText>),
    /// A bearer token.
    Bearer(SecretText),
}

/// Hosts to which NASA's token is sent.
const EARTHDATA: [&str; 2] = ["earthdata.nasa.gov", "earthdatacloud.nasa.gov"];

impl ConfigSettings {
    /// Settings common to all requests.
    pub fn http(&self) -> HttpSettings {
        HttpSettings {
            proxy: self.text(ConfigKey::HttpProxy).map(SecretText::new),
            no_proxy: self.text(ConfigKey::HttpNoProxy).map(str::to_owned),
            certificates: self.path(ConfigKey::HttpCertificates).map(Into::into),
            user_agent: self.text(ConfigKey::HttpUserAgent).map(str::to_owned),
            connect_timeout: self.duration(ConfigKey::ConnectTimeout),
            keepalive: self.duration(ConfigKey::HttpKeepalive),
        }
    }

    /// The cookies for an address from the configured file.
    pub fn cookies(&self, url: &Url) -> Option<SecretText> {
        let text = self.environment.text(self.path(ConfigKey::HttpCookies)?).ok()??;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        cookies::of(&text, url, now.as_secs()).map(SecretText::new)
    }

    /// The hosts that bypass the proxy: from the configuration if it sets a proxy, else from the environment.
    pub fn excepted(&self) -> Option<&str> {
        match self.text(ConfigKey::HttpProxy) {
            Some(_) => self.text(ConfigKey::HttpNoProxy),
            None => ["NO_PROXY", "no_proxy"].into_iter().find_map(|name| self.environment.variable(name)),
        }
    }

    /// The proxy for an address, without its password, and where it is set.
    pub fn proxy_of(&self, url: &Url) -> Option<(String, ValueOrigin)> {
        self.of_address(url).as_ref().unwrap_or(self).proxy_named(url)
    }

    fn proxy_named(&self, url: &Url) -> Option<(String, ValueOrigin)> {
        if self.excepted().is_some_and(|hosts| hosts.split(',').any(|except| is_host_in(url.host(), except)))
        {
            return None;
        }
        if let (Some(proxy), Some(origin)) =
            (self.text(ConfigKey::HttpProxy), self.origin(ConfigKey::HttpProxy))
        {
            return Some((without_password(proxy), origin.clone()));
        }
        let own = if url.scheme() == ncirrus_store::Scheme::Https { "https_proxy" } else { "http_proxy" };
        let names =
            [own.to_owned(), own.to_ascii_uppercase(), "all_proxy".to_owned(), "ALL_PROXY".to_owned()];
        let (name, proxy) = names.into_iter().find_map(|name| {
            let proxy = without_password(self.environment.variable(&name)?);
            Some((name, proxy))
        })?;
        Some((proxy, ValueOrigin::Variable(name)))
    }

    /// The credentials for a web server: the address itself, the configuration file, netCDF's files, NASA's token,
    /// `.netrc`.
    pub fn login(&self, url: &Url) -> Option<HttpLogin> {
        if let Some((user, password)) = url.credentials() {
            let kind = LoginKind::Basic(user.to_owned(), password.map(SecretText::new));
            return Some(HttpLogin { kind, origin: ValueOrigin::Url("user") });
        }
        let host = url.host().to_ascii_lowercase();
        self.server_login(url, &host)
            .or_else(|| self.rc_login(url))
            .or_else(|| self.earthdata(url, &host))
            .or_else(|| self.netrc_login(&host))
    }

    /// The credentials for the target of a redirect: what the configuration file, `.netrc` or NASA's token have for
    /// that very host. Credentials in the address, and in netCDF's files, are for the first server only.
    pub fn login_elsewhere(&self, url: &Url) -> Option<HttpLogin> {
        let host = url.host().to_ascii_lowercase();
        self.server_login(url, &host)
            .or_else(|| self.netrc_login(&host))
            .or_else(|| self.earthdata(url, &host))
    }

    fn server_login(&self, url: &Url, host: &str) -> Option<HttpLogin> {
        let with_port = url.port().map(|port| format!("{host}:{port}"));
        let server = with_port.as_ref().and_then(|host| self.servers.get(host));
        server.or_else(|| self.servers.get(host)).and_then(WebServerSettings::login)
    }

    fn rc_login(&self, url: &Url) -> Option<HttpLogin> {
        let find = |name: &str| self.rc.find(name, Some(url)).filter(|entry| !entry.value.is_empty());
        if let Some(both) = find("HTTP.CREDENTIALS.USERPASSWORD") {
            let (user, password) = both.value.split_once(':').unwrap_or((&both.value, ""));
            let kind = LoginKind::Basic(user.to_owned(), Some(SecretText::new(password)));
            return Some(HttpLogin { kind, origin: both.origin.clone() });
        }
        let user = find("HTTP.CREDENTIALS.USER").or_else(|| find("HTTP.CREDENTIALS.USERNAME"))?;
        let password = find("HTTP.CREDENTIALS.PASSWORD").map(|entry| SecretText::new(entry.value.as_str()));
        Some(HttpLogin { kind: LoginKind::Basic(user.value.clone(), password), origin: user.origin.clone() })
    }

    fn earthdata(&self, url: &Url, host: &str) -> Option<HttpLogin> {
        let is_theirs = EARTHDATA.iter().any(|domain| {
            host.strip_suffix(domain).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
        });
        if !is_theirs || url.scheme() != ncirrus_store::Scheme::Https {
            return None;
        }
        let token = self.environment.variable("EARTHDATA_TOKEN")?;
        let origin = ValueOrigin::Variable("EARTHDATA_TOKEN".to_owned());
        Some(HttpLogin { kind: LoginKind::Bearer(SecretText::new(token)), origin })
    }

    fn netrc_login(&self, host: &str) -> Option<HttpLogin> {
        let path = self.path(ConfigKey::HttpNetrc).map(PathBuf::from);
        let path = path.or_else(|| Some(self.environment.home()?.join(".netrc")))?;
        let text = self.environment.text(&path).ok()??;
        let login = netrc::parse(&text).remove(host)?;
        let kind = LoginKind::Basic(login.user, login.password);
        Some(HttpLogin { kind, origin: ValueOrigin::File(path, None) })
    }
}

/// Whether an entry of a no-proxy list matches a host: `*`, an IP address or a range of them, a name and all below
/// it.
fn is_host_in(host: &str, except: &str) -> bool {
    let (except, host) = (except.trim().trim_start_matches('.'), host.trim_matches(['[', ']']));
    let (network, bits) = except.split_once('/').map_or((except, None), |(net, bits)| (net, Some(bits)));
    if let (Ok(host), Ok(network)) = (host.parse::<IpAddr>(), network.parse::<IpAddr>()) {
        let (host, network, len) = match (host, network) {
            (IpAddr::V4(host), IpAddr::V4(network)) => {
                (u32::from(host).into(), u32::from(network).into(), 32_u32)
            }
            (IpAddr::V6(host), IpAddr::V6(network)) => (u128::from(host), u128::from(network), 128),
            _ => return false,
        };
        let free = bits.map_or(Some(0), |bits| len.checked_sub(bits.parse::<u32>().ok()?));
        return free.is_some_and(|free| (host ^ network).checked_shr(free).unwrap_or(0) == 0);
    }
    let is_below = || {
        let host = host.to_ascii_lowercase();
        let rest = host.strip_suffix(&except.to_ascii_lowercase());
        rest.is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
    };
    except == "*" || (!except.is_empty() && is_below())
}

impl WebServerSettings {
    fn login(&self) -> Option<HttpLogin> {
        let kind = match (&self.bearer, &self.user) {
            (Some(token), _) => LoginKind::Bearer(token.clone()),
            (None, Some(user)) => LoginKind::Basic(user.clone(), self.password.clone()),
            (None, None) => return None,
        };
        Some(HttpLogin { kind, origin: self.origin.clone()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ProcessEnvironment;

    #[test]
    fn a_proxy_is_reported_where_it_is_used() {
        for (hosts, url, is_used) in [
            ("", "http://data.example.org/a", true),
            ("*", "http://127.0.0.1/a", false),
            ("127.0.0.1", "http://127.0.0.1:80/a", false),
            ("10.0.0.0/8, .example.org", "http://10.2.3.4/a", false),
            ("10.0.0.0/8, .example.org", "http://11.2.3.4/a", true),
            ("10.0.0.0/8, .example.org", "http://data.EXAMPLE.org/a", false),
            ("example.org", "http://notexample.org/a", true),
            ("10.0.0.0/99,::1/0", "http://10.2.3.4/a", true),
            ("::/0", "http://[::1]/a", false),
        ] {
            let environment = [("http_proxy", "http://u:hunter2@proxy:1"), ("NO_PROXY", hosts)]
                .into_iter()
                .fold(ProcessEnvironment::default(), |all, (name, value)| all.with(name, value));
            let settings = ConfigSettings::of_environment(environment);
            let proxy = settings.proxy_of(&Url::parse(url).unwrap());
            let reported = is_used
                .then(|| ("http://proxy:1".to_owned(), ValueOrigin::Variable("http_proxy".to_owned())));
            assert_eq!(proxy, reported, "{hosts} {url}");
        }
    }
}
