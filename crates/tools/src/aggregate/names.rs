//! How the locations of fragments are written.
use ncirrus::{Dataset, Error, ErrorKind, OpenOptions, Result, Session};
use ncirrus_store::{Scheme, Url};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// What stays as it is in a path of a `file:` URL.
const FILE_PATH: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'/')
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~')
    .remove(b'+')
    .remove(b'=')
    .remove(b',')
    .remove(b'@')
    .remove(b':');

/// How the locations of fragments are written in a master.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Naming {
    /// Relative to the master if they are in the same store, else as URLs: folders can be moved as a whole.
    #[default]
    Relative,
    /// As URLs.
    Absolute,
    /// With `${base}` in place of the prefix `url` (CFA-0.6 only).
    Substitute {
        /// Name of the substitution.
        base: String,
        /// Its value, which is recorded in the master.
        url: String,
    },
}

impl Naming {
    /// How a dataset is named in a master.
    ///
    /// # Errors
    /// `Invalid` for an invalid address, or one without the prefix of the substitution.
    pub(super) fn name(&self, master: &str, fragment: &str) -> Result<String> {
        let (master, fragment) = (Url::parse(master)?, Url::parse(fragment)?);
        match self {
            Self::Relative => match relative(&master, &fragment)? {
                Some(name) => Ok(name),
                None => absolute(&fragment),
            },
            Self::Absolute => absolute(&fragment),
            Self::Substitute { base, url } => {
                let (name, start) = (absolute(&fragment)?, absolute(&Url::parse(url)?)?);
                let rest = name.strip_prefix(start.as_str()).ok_or_else(|| {
                    Error::invalid(format!("the name does not start with {start:?}")).at_object(&name)
                })?;
                Ok(format!("${{{base}}}{rest}"))
            }
        }
    }

    /// The substitutions that are recorded.
    pub(super) fn substitutions(&self) -> Result<Vec<(String, String)>> {
        match self {
            Self::Substitute { base, url } => Ok(vec![(base.clone(), absolute(&Url::parse(url)?)?)]),
            Self::Relative | Self::Absolute => Ok(Vec::new()),
        }
    }
}

/// The name of one dataset relative to another; `None` in another store.
pub(super) fn relative(master: &Url, fragment: &Url) -> Result<Option<String>> {
    let same = master.scheme() == fragment.scheme()
        && master.other_scheme() == fragment.other_scheme()
        && master.host() == fragment.host()
        && master.port() == fragment.port()
        && fragment.query().is_none()
        && !fragment.is_computed();
    if !same {
        return Ok(None);
    }
    let (from, to) = (full_path(master)?, full_path(fragment)?);
    let from: Vec<&str> = from.split('/').collect();
    let to: Vec<&str> = to.split('/').collect();
    let folders = from.len().saturating_sub(1).min(to.len().saturating_sub(1));
    let common = from.iter().zip(&to).take(folders).take_while(|(one, other)| one == other).count();
    let up = from.len().saturating_sub(1).saturating_sub(common);
    let below = to.get(common..).unwrap_or_default().iter().copied();
    let name = std::iter::repeat_n("..", up).chain(below).collect::<Vec<_>>().join("/");
    // Otherwise it would be read as a scheme, an option or a fragment of a URL.
    let first = name.split('/').next().unwrap_or_default();
    let is_odd = first.contains(':') || first.starts_with('#') || first.starts_with('[');
    Ok(Some(if is_odd { format!("./{name}") } else { name }))
}

/// The whole URL of a dataset.
pub(super) fn absolute(url: &Url) -> Result<String> {
    let place = without_protocol(url)?;
    if !url.is_computed() {
        return Ok(place);
    }
    let protocol = if url.fragment().modes().contains("dap4") { "dap4" } else { "dap2" };
    Ok(format!("{place}#{protocol}"))
}

/// Texts of which the addresses of one dataset share one: a plain address may turn out to be that of a dataset that a
/// server computes, whichever protocol is spoken, and its query a constraint.
pub(super) fn identities(url: &Url) -> Result<Vec<String>> {
    if url.is_computed() {
        return Ok(vec![format!("computed {}", without_protocol(url)?)]);
    }
    let computed = url.is_http().then(|| format!("computed {}", with_query(url)));
    Ok([absolute(url)?].into_iter().chain(computed).collect())
}

/// The address at which a dataset is opened.
pub(super) fn address(url: &Url) -> Result<String> {
    if url.is_computed() { absolute(url) } else { Ok(url.to_string()) }
}

/// The whole URL of a dataset, without the protocol that its server speaks.
fn without_protocol(url: &Url) -> Result<String> {
    if url.is_computed() && url.scheme() != Scheme::File {
        return Ok(with_query(url));
    }
    if url.scheme() != Scheme::File {
        return Ok(url.to_string());
    }
    let path = full_path(url)?;
    let start = if path.starts_with('/') { "file://" } else { "file:///" };
    Ok(format!("{start}{}", utf8_percent_encode(&path, FILE_PATH)))
}

/// An address with its query. That of a dataset that a server computes is a constraint: it says which dataset this is.
fn with_query(url: &Url) -> String {
    let query = url.query().map(|query| format!("?{query}")).unwrap_or_default();
    format!("{url}{query}")
}

/// Path from the root of the store, with `/` between its parts and without `.` and `..`.
fn full_path(url: &Url) -> Result<String> {
    let path = url.path().trim_end_matches('/');
    match url.scheme() {
        Scheme::File => {}
        // What is relative is percent-decoded only if it is not found as it is.
        Scheme::Http | Scheme::Https => return Ok(path.to_owned()),
        _ => return Ok(url.read_key(path).into_owned()),
    }
    let here = std::path::absolute(path);
    let path = here.map_err(|error| Error::invalid(format!("not a path: {error}")).at_object(url))?;
    let path = path.to_string_lossy().replace('\\', "/");
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            ".." => _ = parts.pop(),
            "." => {}
            part => parts.push(part),
        }
    }
    Ok(parts.join("/"))
}

/// The part of a path or URL before the name, with its slash.
pub(super) fn folder_of(url: &str) -> &str {
    url.rfind('/').and_then(|at| url.get(..=at)).unwrap_or_default()
}

/// A name below a folder.
pub(super) fn join(folder: &str, name: &str) -> String {
    match folder {
        "" => name.to_owned(),
        _ => format!("{}/{name}", folder.trim_end_matches('/')),
    }
}

/// The target of a name in a master: a URL, percent-decoded, or a path relative to the master.
pub(super) fn resolve(master: &str, name: &str) -> Result<Url> {
    if let Some(path) = name.strip_prefix("file:") {
        let path = path.strip_prefix("//").unwrap_or(path);
        // A protocol at the end says how responses in files are read; any other `#` is part of the name.
        let url = Url::parse(path)?;
        let url = if url.is_computed() { url } else { Url::of_path(path) };
        return Ok(url.with_path(unescaped(url.path())));
    }
    if name.contains("://") {
        return Url::parse(name);
    }
    if name.starts_with('/') {
        return Ok(Url::of_path(name));
    }
    let master = master.split(['#', '?']).next().unwrap_or_default();
    let (url, folder) = (Url::parse(master)?, folder_of(master));
    match url.scheme() {
        Scheme::File => Ok(Url::of_path(&join(folder, name))),
        Scheme::Http | Scheme::Https => Url::parse(&join(folder, name)),
        _ => Url::parse(&join(folder, &url.written_key(name))),
    }
}

/// The addresses of an absolute name in a store whose escapes can be read in several ways, in the order in which readers
/// try them: older versions wrote keys as they are. Empty for any other name.
pub(super) fn readings(name: &str) -> Result<Vec<Url>> {
    if !name.contains('%') || !is_address(name) {
        return Ok(Vec::new());
    }
    let url = Url::parse(name)?;
    let path = url.path();
    if url.is_http() || url.read_key(path) == path {
        return Ok(Vec::new());
    }
    Ok(url.key_readings())
}

/// As [`resolve`], but a name that can be read in several ways has the first target that exists; `None` if none does.
///
/// # Errors
/// Errors of opening a target.
pub(super) fn existing(master: &str, name: &str, session: &Session) -> Result<Option<Url>> {
    let readings = readings(name)?;
    if readings.is_empty() {
        return resolve(master, name).map(Some);
    }
    let raw = OpenOptions::new().raw(true);
    for url in readings {
        match Dataset::open_with(&address(&url)?, &raw, session) {
            Ok(_) => return Ok(Some(url)),
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(error.at_object(&url)),
        }
    }
    Ok(None)
}

/// Whether a name is an address, but not one of a local file.
fn is_address(name: &str) -> bool {
    name.contains("://") && !name.starts_with("file:")
}

/// The last part of a name in a master as it is written below a prefix: in addresses keys have escapes.
pub(super) fn last_below(prefix: &str, master: &str, name: &str) -> Result<String> {
    let last = name.get(folder_of(name).len()..).unwrap_or(name);
    // What follows these marks in an address is not part of the key.
    let has_more = is_address(name) && last.contains(['#', '?']);
    if !is_address(prefix) || has_more || resolve(master, name)?.is_computed() {
        return Ok(last.to_owned());
    }
    let key = if name.starts_with("file:") {
        unescaped(last)
    } else if is_address(name) {
        read(name, last)
    } else if Url::parse(master).is_ok_and(|url| url.is_http()) {
        read(master, last)
    } else {
        last.to_owned()
    };
    Ok(written(prefix, &key))
}

/// A name as it is written in addresses below a folder.
pub(super) fn written(folder: &str, name: &str) -> String {
    Url::parse(folder).map_or_else(|_| name.to_owned(), |url| url.written_key(name).into_owned())
}

/// The name that is [`written`] so.
pub(super) fn read(folder: &str, name: &str) -> String {
    Url::parse(folder).map_or_else(|_| name.to_owned(), |url| url.read_key(name).into_owned())
}

/// Percent-decodes text: `%41` becomes `A`.
fn unescaped(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(master: &str, fragment: &str) -> String {
        Naming::Relative.name(master, fragment).unwrap()
    }

    #[test]
    fn names_are_relative_within_a_store() {
        assert_eq!(name("/d/m.nca", "/d/m/a.nc"), "m/a.nc");
        assert_eq!(name("/d/x/m.nca", "/d/y/a.nc"), "../y/a.nc");
        assert_eq!(name("/d/m.nca", "/d/./y/../a.nc"), "a.nc");
        assert_eq!(name("m.nca", "a.nc"), "a.nc");
        assert_eq!(name("s3://b/x/m.nca", "s3://b/y/a.nc"), "../y/a.nc");
        assert_eq!(name("s3://b/m.nca", "s3://c/a.nc"), "s3://c/a.nc");
        assert_eq!(name("s3://b/m.nca", "/d/a b.nc"), "file:///d/a%20b.nc");
    }

    #[test]
    fn relative_names_in_buckets_have_no_escapes_and_addresses_have_them() {
        assert_eq!(name("s3://b/x/m.nca", "s3://b/x/a%23 50%25.nc"), "a# 50%.nc");
        assert_eq!(Naming::Absolute.name("s3://b/m.nca", "s3://b/a%23.nc").unwrap(), "s3://b/a%23.nc");
        for key in ["a#b.nc", "a?b 50%.nc", "a%23b.nc", "x/a%2523.nc"] {
            let master = "s3://b/x/m.nca#aws.profile=p";
            let address = format!("s3://b/x/{}", written("s3://b/x", key));
            assert_eq!(name(master, &address), key);
            assert_eq!(resolve(master, key).unwrap().to_string(), address);
            assert_eq!(read("s3://b/x", &written("s3://b/x", key)), key);
        }
        assert_eq!(written("/d", "a#b"), "a#b");
    }

    #[test]
    fn names_that_would_mean_something_else_begin_with_a_dot() {
        assert_eq!(name("/d/m.nca", "/d/a:b.nc"), "./a:b.nc");
        assert_eq!(name("/d/m.nca", "/d/#a.nc"), "./#a.nc");
    }

    #[test]
    fn absolute_names_are_urls_with_escapes() {
        assert_eq!(Naming::Absolute.name("/d/m.nca", "/d/a#%.nc").unwrap(), "file:///d/a%23%25.nc");
        assert_eq!(Naming::Absolute.name("/d/m.nca", "s3://b/a.nc").unwrap(), "s3://b/a.nc");
    }

    #[test]
    fn names_of_servers_datasets_say_the_protocol_and_the_constraint() {
        assert_eq!(name("/d/m.nca", "dods://host/a.nc"), "https://host/a.nc#dap2");
        assert_eq!(name("/d/m.nca", "dap4://host:80/a.nc"), "http://host:80/a.nc#dap4");
        assert_eq!(name("/d/m.nca", "https://host/a?t[0:3]#dap2"), "https://host/a?t[0:3]#dap2");
        assert_eq!(name("https://host/m.nca", "https://host/a.nc#dap4"), "https://host/a.nc#dap4");
        assert_eq!(name("/d/m.nca", "file:///d/a b#dap2"), "file:///d/a%20b#dap2");
    }

    #[test]
    fn plain_addresses_are_those_of_servers_datasets_too() {
        let is_same = |one: &str, other: &str| {
            let of = |address| identities(&Url::parse(address).unwrap()).unwrap();
            of(one).iter().any(|text| of(other).contains(text))
        };
        let whole = ["https://host/a", "https://host/a#dap2", "dap4://host/a", "dods://host/a"];
        let part = ["https://host/a?t[0:3]#dap2", "dap4://host/a?t[0:3]"];
        for (at, one) in whole.iter().enumerate() {
            assert!(whole[at..].iter().all(|other| is_same(one, other)), "{one}");
            assert!(part.iter().all(|other| !is_same(one, other)), "{one}");
        }
        assert!(is_same(part[0], part[1]) && is_same(part[0], "https://host/a?t[0:3]"));
        // What is signed anew each time is a file.
        assert!(is_same("https://host/a?X-Signature=1", "https://host/a?X-Signature=2"));
        assert!(!is_same("https://host/a#dap2", "https://host/b"));
        assert!(is_same("/d/a#dap2", "file:///d/a#dap4") && !is_same("/d/a", "/d/a#dap2"));
    }

    #[test]
    fn names_that_were_written_are_resolved_again() {
        for address in ["/d/a b", "/d/a#dap2", "file:///d/a b#dap4", "https://host/a?t[0:3]#dap2", "s3://b/a"]
        {
            let written = Naming::Absolute.name("/d/m.nca", address).unwrap();
            let found = resolve("/d/m.nca", &written).unwrap();
            assert_eq!(absolute(&found).unwrap(), written, "{address}");
        }
    }

    #[test]
    fn names_with_escapes_of_buckets_have_several_readings() {
        let of = |name: &str| readings(name).unwrap().iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(of("s3://b/a%23b.nc"), ["s3://b/a%23b.nc", "s3://b/a%2523b.nc"]);
        assert_eq!(of("s3://b/a%20b%23"), ["s3://b/a b%23", "s3://b/a%20b%23", "s3://b/a%20b%2523"]);
        for name in
            ["s3://b/a%20b.nc", "s3://b/a.nc", "a%23b.nc", "file:///d/a%23", "https://h/a%23", "/d/a%23"]
        {
            assert!(of(name).is_empty(), "{name}");
        }
        // What stays absolute says the same.
        let place = resolve("s3://b/m.nca", "s3://b/a%23b.nc").unwrap();
        assert_eq!(absolute(&place).unwrap(), "s3://b/a%23b.nc");
    }

    #[test]
    fn the_last_part_has_the_escapes_of_the_place_that_it_goes_to() {
        let below = |prefix: &str, name: &str| last_below(prefix, "/d/m.nca", name).unwrap();
        assert_eq!(below("s3://b/x", "f/a#b.nc"), "a%23b.nc");
        assert_eq!(below("s3://b/x", "a%23b.nc"), "a%2523b.nc");
        assert_eq!(below("s3://b/x", "s3://c/a%23b.nc"), "a%23b.nc");
        assert_eq!(below("s3://b/x", "file:///d/a%20%23b.nc"), "a %23b.nc");
        assert_eq!(below("s3://b/x", "https://host/a%20b.nc"), "a b.nc");
        assert_eq!(below("https://host/x", "a b#.nc"), "a%20b%23.nc");
        assert_eq!(below("y", "a#b.nc"), "a#b.nc");
        assert_eq!(below("https://new/x", "https://host/a?t[0:3]#dap2"), "a?t[0:3]#dap2");
        assert_eq!(last_below("s3://b", "https://host/m.nca", "a%20b.nc").unwrap(), "a b.nc");
        assert_eq!(last_below("s3://b", "s3://c/m.nca", "a%23.nc").unwrap(), "a%2523.nc");
    }

    #[test]
    fn substitutions_stand_for_the_beginning() {
        let naming = Naming::Substitute { base: "base".into(), url: "/d/".into() };
        assert_eq!(naming.name("/m.nca", "/d/a.nc").unwrap(), "${base}/a.nc");
        assert!(naming.name("/m.nca", "/e/a.nc").is_err());
        assert_eq!(naming.substitutions().unwrap(), [("base".to_owned(), "file:///d".to_owned())]);
    }
}
