//! Cookie files as browsers and `curl` keep them (Netscape's format).
use ncirrus_store::{Scheme, Url};

/// The cookies for an address, as the value of a `Cookie` header; `None` if there are none.
pub(super) fn of(text: &str, url: &Url, now: u64) -> Option<String> {
    let cookies: Vec<String> = text.lines().filter_map(|line| cookie(line, url, now)).collect();
    (!cookies.is_empty()).then(|| cookies.join("; "))
}

/// One line of the file: domain, whether it includes subdomains, path, whether it is for https only, expiry, name,
/// value.
fn cookie(line: &str, url: &Url, now: u64) -> Option<String> {
    let line = line.strip_prefix("#HttpOnly_").unwrap_or(line);
    let fields: Vec<&str> = line.split('\t').collect();
    let [domain, below, path, secure, until, name, value] = fields[..] else { return None };
    if domain.starts_with('#') || name.is_empty() {
        return None;
    }
    let until: u64 = until.trim().parse().ok()?;
    let (domain, host) =
        (domain.trim_start_matches('.').to_ascii_lowercase(), url.host().to_ascii_lowercase());
    let is_below = || host.strip_suffix(&domain).is_some_and(|rest| rest.ends_with('.'));
    let is_host = host == domain || (below == "TRUE" && is_below());
    let is_path = url
        .path()
        .strip_prefix(path)
        .is_some_and(|rest| path.ends_with('/') || rest.is_empty() || rest.starts_with('/'));
    let is_safe = secure != "TRUE" || url.scheme() == Scheme::Https;
    let is_clean =
        |text: &str| text.bytes().all(|byte| byte.is_ascii_graphic() && byte != b';' && byte != b',');
    let is_good = until == 0 || until > now;
    (is_host && is_path && is_safe && is_good && is_clean(name) && is_clean(value))
        .then(|| format!("{name}={value}"))
}
