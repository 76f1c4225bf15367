//! Cookies that servers set (RFC 6265), kept in memory for a session. Each is sent back only to the server that set
//! it: same scheme, host and port, whatever its `Domain` says.
use ncirrus_layout::LockExt;
use reqwest::Url;
use reqwest::header::{HeaderMap, SET_COOKIE};
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::{Duration, SystemTime};

/// Cookies by login and server.
#[derive(Default)]
pub(crate) struct CookieJar(Mutex<BTreeMap<(String, String), Vec<StoredCookie>>>);

struct StoredCookie {
    name: String,
    value: String,
    path: String,
    until: Option<SystemTime>,
}

/// Maximum number of servers whose cookies are kept.
const SERVERS: usize = 64;
/// Maximum number of cookies per server.
const COOKIES: usize = 16;
/// Maximum size of a cookie.
const LONGEST: usize = 4096;

impl CookieJar {
    /// Stores the cookies that an answer sets.
    pub(crate) fn take(&self, who: &str, from: &Url, headers: &HeaderMap) {
        let now = SystemTime::now();
        for header in headers.get_all(SET_COOKIE).iter().take(COOKIES) {
            if let Some(cookie) = header.to_str().ok().and_then(|text| StoredCookie::parse(text, from, now)) {
                self.put(key(who, from), cookie, now);
            }
        }
    }

    /// The cookies for an address, each as written in a request.
    pub(crate) fn of(&self, who: &str, url: &Url) -> Vec<String> {
        let now = SystemTime::now();
        let all = self.0.guard();
        let cookies = all.get(&key(who, url)).into_iter().flatten();
        let fitting = cookies.filter(|cookie| cookie.is_good(now) && cookie.is_for(url.path()));
        fitting.map(|cookie| format!("{}={}", cookie.name, cookie.value)).collect()
    }

    fn put(&self, key: (String, String), cookie: StoredCookie, now: SystemTime) {
        let mut all = self.0.guard();
        if all.len() >= SERVERS && !all.contains_key(&key) {
            all.pop_first();
        }
        let cookies = all.entry(key).or_default();
        cookies.retain(|old| old.is_good(now) && (&old.name, &old.path) != (&cookie.name, &cookie.path));
        if cookies.len() >= COOKIES {
            cookies.remove(0);
        }
        // An expired cookie deletes the one of its name.
        if cookie.is_good(now) {
            cookies.push(cookie);
        }
    }
}

fn key(who: &str, url: &Url) -> (String, String) {
    (who.to_owned(), url.origin().ascii_serialization())
}

impl StoredCookie {
    fn parse(text: &str, from: &Url, now: SystemTime) -> Option<Self> {
        let mut parts = text.split(';');
        let (name, value) = parts.next()?.split_once('=')?;
        let (name, value) = (name.trim(), value.trim());
        let is_clean = |text: &str| text.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ');
        if name.is_empty() || text.len() > LONGEST || !is_clean(name) || !is_clean(value) {
            return None;
        }
        let folder = from.path().rsplit_once('/').map_or("", |(folder, _)| folder);
        let path = if folder.is_empty() { "/" } else { folder };
        let mut cookie =
            Self { name: name.to_owned(), value: value.to_owned(), path: path.to_owned(), until: None };
        let mut age = None;
        for (name, value) in parts.filter_map(|part| part.split_once('=')) {
            match name.trim().to_ascii_lowercase().as_str() {
                "path" if value.starts_with('/') => cookie.path = value.trim().to_owned(),
                "max-age" => age = value.trim().parse::<i64>().ok(),
                "expires" => cookie.until = httpdate::parse_http_date(value.trim()).ok(),
                _ => {}
            }
        }
        if let Some(age) = age {
            cookie.until = now.checked_add(Duration::from_secs(u64::try_from(age).unwrap_or_default()));
        }
        Some(cookie)
    }

    fn is_good(&self, now: SystemTime) -> bool {
        self.until.is_none_or(|until| until > now)
    }

    fn is_for(&self, path: &str) -> bool {
        path.strip_prefix(&self.path)
            .is_some_and(|rest| self.path.ends_with('/') || rest.is_empty() || rest.starts_with('/'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        text.parse().unwrap()
    }

    fn set(jar: &CookieJar, from: &str, cookies: &[&str]) {
        let mut headers = HeaderMap::new();
        for cookie in cookies {
            headers.append(SET_COOKIE, cookie.parse().unwrap());
        }
        jar.take("", &url(from), &headers);
    }

    #[test]
    fn cookies_go_back_to_who_set_them_alone() {
        let jar = CookieJar::default();
        set(&jar, "https://h.org/login", &["a=1; Domain=org; HttpOnly", "b=2; Path=/deep", " =x", "no"]);
        assert_eq!(jar.of("", &url("https://h.org/x")), ["a=1"]);
        assert_eq!(jar.of("", &url("https://h.org/deep/x")), ["a=1", "b=2"]);
        assert_eq!(jar.of("", &url("https://h.org/deeper")), ["a=1"]);
        for other in ["http://h.org/x", "https://h.org:8443/x", "https://sub.h.org/x", "https://org/x"] {
            assert!(jar.of("", &url(other)).is_empty(), "{other}");
        }
        assert!(jar.of("somebody@", &url("https://h.org/x")).is_empty());
    }

    #[test]
    fn cookies_are_replaced_and_end() {
        let jar = CookieJar::default();
        set(&jar, "https://h.org/", &["a=1", "b=2", "c=3; Expires=Sat, 01 Jan 2000 00:00:00 GMT"]);
        set(&jar, "https://h.org/", &["a=4; Max-Age=60", "b=; Max-Age=0"]);
        assert_eq!(jar.of("", &url("https://h.org/")), ["a=4"]);
    }

    #[test]
    fn what_is_kept_is_bounded() {
        let jar = CookieJar::default();
        let many: Vec<String> = (0..40).map(|index| format!("c{index}=1")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        for host in 0..100 {
            many.chunks(10).for_each(|some| set(&jar, &format!("https://h{host}.org/"), some));
        }
        assert_eq!(jar.of("", &url("https://h99.org/")).len(), COOKIES);
        assert_eq!(jar.0.lock().unwrap().len(), SERVERS);
        set(&jar, "https://long.org/", &[&format!("a={}", "x".repeat(LONGEST))]);
        assert!(jar.of("", &url("https://long.org/")).is_empty());
    }
}
