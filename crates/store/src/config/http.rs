//! How web servers are spoken to, and who asks.
use super::show::without_password;
use super::{Key, Origin, Secret, Server, Settings, cookies, netrc};
use crate::Url;
use std::net::IpAddr;
use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// What all requests have in common.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct HttpSettings {
    /// Proxy of all requests; may hold a password. Without, what the environment says.
    pub proxy: Option<Secret>,
    /// Hosts that are reached without it, between commas.
    pub no_proxy: Option<String>,
    /// File of certificates (PEM) that are trusted besides the system's.
    pub certificates: Option<PathBuf>,
    /// How requests name the program.
    pub user_agent: Option<String>,
    /// Longest wait for a connection.
    pub connect_timeout: Option<Duration>,
    /// How long connections that are not used stay open.
    pub keepalive: Option<Duration>,
}

/// Who asks a web server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Login {
    /// User and password, or a token.
    pub kind: LoginKind,
    /// Where it came from.
    pub origin: Origin,
}

/// How somebody is known to a web server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LoginKind {
    /// User and password.
    Basic(String, Option<Secret>),
    /// A bearer token.
    Bearer(Secret),
}

/// Where NASA's token is sent.
const EARTHDATA: [&str; 2] = ["earthdata.nasa.gov", "earthdatacloud.nasa.gov"];

impl Settings {
    /// What all requests have in common.
    pub fn http(&self) -> HttpSettings {
        HttpSettings {
            proxy: self.text(Key::HttpProxy).map(Secret::new),
            no_proxy: self.text(Key::HttpNoProxy).map(str::to_owned),
            certificates: self.path(Key::HttpCertificates).map(Into::into),
            user_agent: self.text(Key::HttpUserAgent).map(str::to_owned),
            connect_timeout: self.duration(Key::ConnectTimeout),
            keepalive: self.duration(Key::HttpKeepalive),
        }
    }

    /// The cookies that an address is asked with, of the file that the configuration names.
    pub fn cookies(&self, url: &Url) -> Option<Secret> {
        let text = self.environment.text(self.path(Key::HttpCookies)?).ok()??;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        cookies::of(&text, url, now.as_secs()).map(Secret::new)
    }

    /// The hosts that are reached without a proxy, of the configuration where that names a proxy, else of the environment.
    pub(crate) fn excepted(&self) -> Option<&str> {
        match self.text(Key::HttpProxy) {
            Some(_) => self.text(Key::HttpNoProxy),
            None => ["NO_PROXY", "no_proxy"].into_iter().find_map(|name| self.environment.variable(name)),
        }
    }

    /// The proxy that an address is asked through, without its password, and where it is named.
    pub fn proxy_of(&self, url: &Url) -> Option<(String, Origin)> {
        self.of_address(url).as_ref().unwrap_or(self).proxy_named(url)
    }

    fn proxy_named(&self, url: &Url) -> Option<(String, Origin)> {
        if self.excepted().is_some_and(|hosts| hosts.split(',').any(|except| is_host_in(url.host(), except)))
        {
            return None;
        }
        if let (Some(proxy), Some(origin)) = (self.text(Key::HttpProxy), self.origin(Key::HttpProxy)) {
            return Some((without_password(proxy), origin.clone()));
        }
        let own = if url.scheme() == crate::Scheme::Https { "https_proxy" } else { "http_proxy" };
        let names =
            [own.to_owned(), own.to_ascii_uppercase(), "all_proxy".to_owned(), "ALL_PROXY".to_owned()];
        let (name, proxy) = names.into_iter().find_map(|name| {
            let proxy = without_password(self.environment.variable(&name)?);
            Some((name, proxy))
        })?;
        Some((proxy, Origin::Variable(name)))
    }

    /// Who asks a web server: the address itself, the project's file, netCDF's files, NASA's token, `.netrc`.
    pub fn login(&self, url: &Url) -> Option<Login> {
        if let Some((user, password)) = url.credentials() {
            let kind = LoginKind::Basic(user.to_owned(), password.map(Secret::new));
            return Some(Login { kind, origin: Origin::Url("user") });
        }
        let host = url.host().to_ascii_lowercase();
        self.server_login(url, &host)
            .or_else(|| self.rc_login(url))
            .or_else(|| self.earthdata(url, &host))
            .or_else(|| self.netrc_login(&host))
    }

    /// Who asks a server that another one redirects to: what the project's file, `.netrc` or NASA's token say of that very
    /// host. What the address says, and netCDF's files, is meant for the first server alone.
    pub fn login_elsewhere(&self, url: &Url) -> Option<Login> {
        let host = url.host().to_ascii_lowercase();
        self.server_login(url, &host)
            .or_else(|| self.netrc_login(&host))
            .or_else(|| self.earthdata(url, &host))
    }

    fn server_login(&self, url: &Url, host: &str) -> Option<Login> {
        let with_port = url.port().map(|port| format!("{host}:{port}"));
        let server = with_port.as_ref().and_then(|host| self.servers.get(host));
        server.or_else(|| self.servers.get(host)).and_then(Server::login)
    }

    fn rc_login(&self, url: &Url) -> Option<Login> {
        let find = |name: &str| self.rc.find(name, Some(url)).filter(|entry| !entry.value.is_empty());
        if let Some(both) = find("HTTP.CREDENTIALS.USERPASSWORD") {
            let (user, password) = both.value.split_once(':').unwrap_or((&both.value, ""));
            let kind = LoginKind::Basic(user.to_owned(), Some(Secret::new(password)));
            return Some(Login { kind, origin: both.origin.clone() });
        }
        let user = find("HTTP.CREDENTIALS.USER").or_else(|| find("HTTP.CREDENTIALS.USERNAME"))?;
        let password = find("HTTP.CREDENTIALS.PASSWORD").map(|entry| Secret::new(entry.value.as_str()));
        Some(Login { kind: LoginKind::Basic(user.value.clone(), password), origin: user.origin.clone() })
    }

    fn earthdata(&self, url: &Url, host: &str) -> Option<Login> {
        let is_theirs = EARTHDATA.iter().any(|domain| {
            host.strip_suffix(domain).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
        });
        if !is_theirs || url.scheme() != crate::Scheme::Https {
            return None;
        }
        let token = self.environment.variable("EARTHDATA_TOKEN")?;
        let origin = Origin::Variable("EARTHDATA_TOKEN".to_owned());
        Some(Login { kind: LoginKind::Bearer(Secret::new(token)), origin })
    }

    fn netrc_login(&self, host: &str) -> Option<Login> {
        let path = self.path(Key::HttpNetrc).map(PathBuf::from);
        let path = path.or_else(|| Some(self.environment.home()?.join(".netrc")))?;
        let text = self.environment.text(&path).ok()??;
        let login = netrc::parse(&text).remove(host)?;
        let kind = LoginKind::Basic(login.user, login.password);
        Some(Login { kind, origin: Origin::File(path, None) })
    }
}

/// Whether an entry of a list of hosts without proxy is for a host: `*`, a number or a range of them, a name and all below.
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

impl Server {
    fn login(&self) -> Option<Login> {
        let kind = match (&self.bearer, &self.user) {
            (Some(token), _) => LoginKind::Bearer(token.clone()),
            (None, Some(user)) => LoginKind::Basic(user.clone(), self.password.clone()),
            (None, None) => return None,
        };
        Some(Login { kind, origin: self.origin.clone()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Environment;

    #[test]
    fn a_proxy_is_told_of_where_it_is_asked() {
        for (hosts, url, is_asked) in [
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
                .fold(Environment::default(), |all, (name, value)| all.with(name, value));
            let settings = Settings::of_environment(environment);
            let proxy = settings.proxy_of(&Url::parse(url).unwrap());
            let told =
                is_asked.then(|| ("http://proxy:1".to_owned(), Origin::Variable("http_proxy".to_owned())));
            assert_eq!(proxy, told, "{hosts} {url}");
        }
    }
}
