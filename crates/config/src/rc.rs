//! netCDF's own configuration files (`docs/spec/nczarr.md` 9.1, 9.2).
use super::{ConfigKey, ConfigSettings, ValueOrigin};
use ncirrus_store::{BucketUrl, Url};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The entries of all files, in the order in which they were read.
#[derive(Clone, Default)]
pub(super) struct RcFiles(Vec<RcEntry>);

/// An entry: what it sets, and for which datasets.
#[derive(Clone)]
pub(super) struct RcEntry {
    /// Host and port, and the path unless it applies to all paths; `None` for all datasets.
    place: Option<RcPlace>,
    pub(super) key: String,
    pub(super) value: String,
    pub(super) origin: ValueOrigin,
}

type RcPlace = (String, Option<String>);

const FILES: [&str; 3] = [".ncrc", ".daprc", ".dodsrc"];
/// Maximum number of entries that are kept.
const MAX_ENTRIES: usize = 10_000;

/// Reads the files: those in the home folder, then those in the current one, unless a variable names one or none.
pub(super) fn read(settings: &mut ConfigSettings) {
    let is_named = settings.environment.variable("NCRCENV_RC").is_some();
    for path in places(settings) {
        settings.files.push(path.clone());
        match settings.environment.text(&path) {
            Ok(Some(text)) => {
                let warnings = settings.rc.take(&text, &path);
                warnings.into_iter().for_each(|warning| settings.warn(warning));
            }
            Ok(None) if is_named => settings.warn(format!("{}: no such file (NCRCENV_RC)", path.display())),
            Ok(None) => {}
            Err(why) => settings.warn(format!("{}: {why}", path.display())),
        }
    }
    offer(settings);
    let vain = |entry: &&RcEntry| without_effect(&entry.key) == Some(VERIFIED) && entry.value == "0";
    let vain: Vec<ValueOrigin> =
        settings.rc.0.iter().filter(vain).map(|entry| entry.origin.clone()).collect();
    vain.iter().for_each(|origin| settings.warn(format!("{origin}: {VERIFIED}")));
}

/// Takes what the program sets, for all datasets: files that are read later do not change it.
pub(super) fn set(settings: &mut ConfigSettings, keys: &[(String, String)]) {
    // The last value of each key.
    let last: BTreeMap<_, _> = keys.iter().map(|(key, value)| (key, value)).collect();
    let made = last.into_iter().take(MAX_ENTRIES).map(|(key, value)| RcEntry {
        place: None,
        key: key.clone(),
        value: value.clone(),
        origin: ValueOrigin::Program,
    });
    settings.rc.0.extend(made);
    offer(settings);
}

/// Offers the entries for all datasets as values of the keys that they set.
fn offer(settings: &mut ConfigSettings) {
    for key in ConfigKey::all() {
        for name in key.rc() {
            let is_trusted =
                |entry: &RcEntry| key != ConfigKey::PluginPath || !is_local(settings, &entry.origin);
            let Some(entry) = settings.rc.find(name, None).filter(|entry| is_trusted(entry)) else {
                continue;
            };
            let (value, origin) = (entry.value.clone(), entry.origin.clone());
            settings.offer(key, &value, origin);
        }
    }
}

/// The settings with the entries for one address only, if there are any; values from earlier sources stay.
pub(super) fn of_place(settings: &ConfigSettings, url: &Url) -> Option<ConfigSettings> {
    let bucket = settings.bucket(url).ok().flatten();
    let place = bucket.map_or_else(|| place_of(url), |bucket| place(&in_bucket(&bucket)))?;
    let is_rc = |origin: &ValueOrigin| settings.rc.0.iter().any(|entry| entry.origin == *origin);
    let keys = ConfigKey::all().filter(|key| *key != ConfigKey::PluginPath);
    let open = keys.filter(|key| settings.origin(*key).is_none_or(is_rc));
    let said: Vec<(ConfigKey, RcEntry)> = open
        .filter_map(|key| {
            Some((key, key.rc().iter().find_map(|name| settings.rc.find_own(name, &place))?.clone()))
        })
        .collect();
    if said.is_empty() {
        return None;
    }
    let mut own = settings.clone();
    for (key, entry) in said {
        let before = own.entries.remove(&key);
        own.offer(key, &entry.value, entry.origin);
        // A value that cannot be parsed changes nothing.
        if let Some(before) = before.filter(|_| own.origin(key).is_none()) {
            own.entries.insert(key, before);
        }
    }
    Some(own)
}

/// Why a key that netCDF knows has no effect here.
pub(super) fn without_effect(key: &str) -> Option<&'static str> {
    WITHOUT_EFFECT.iter().find(|(name, _)| *name == key).map(|(_, why)| *why)
}

const WITHOUT_EFFECT: [(&str, &str); 11] = [
    ("HTTP.SSL.VALIDATE", VERIFIED),
    ("HTTP.SSL.VERIFYPEER", VERIFIED),
    ("HTTP.SSL.VERIFYHOST", VERIFIED),
    ("HTTP.SSL.CERTIFICATE", NO_CLIENTS),
    ("HTTP.SSL.KEY", NO_CLIENTS),
    ("HTTP.SSL.KEYPASSWORD", NO_CLIENTS),
    ("HTTP.DEFLATE", "byte ranges of stored objects are requested, which cannot be compressed in transit"),
    ("HTTP.READ.BUFFERSIZE", BUFFERS),
    ("HTTP.READ_BUFFERSIZE", BUFFERS),
    ("HTTP.VERBOSE", "--trace and NCTRACING log requests"),
    ("HTTP.PROXY.USERPASSWORD", "user and password belong in HTTP.PROXY.SERVER"),
];
const VERIFIED: &str = "certificates are verified regardless";
const NO_CLIENTS: &str = "client certificates are not sent";
const BUFFERS: &str = "buffer sizes adapt to the answers";

fn places(settings: &ConfigSettings) -> Vec<PathBuf> {
    let environment = &settings.environment;
    if environment.is_set("NCRCENV_IGNORE") {
        return Vec::new();
    }
    if let Some(file) = environment.variable("NCRCENV_RC") {
        return vec![environment.expanded(file)];
    }
    let home = environment.variable("NCRCENV_HOME").map(PathBuf::from);
    let home = home.or_else(|| environment.home().map(Path::to_owned));
    let folder = environment.folder().map(Path::to_owned).filter(|folder| Some(folder) != home.as_ref());
    home.iter().chain(&folder).flat_map(|folder| FILES.map(|file| folder.join(file))).collect()
}

/// Whether a file is in the current folder: otherwise anyone who can put a file there could run code.
pub(super) fn is_local(settings: &ConfigSettings, origin: &ValueOrigin) -> bool {
    let home = settings.environment.home();
    match origin {
        ValueOrigin::File(path, _) => settings
            .environment
            .folder()
            .is_some_and(|folder| path.parent() == Some(folder) && home != Some(folder)),
        _ => false,
    }
}

impl RcFiles {
    /// Adds the lines of a file; returns those whose brackets do not contain a URL.
    pub(super) fn take(&mut self, text: &str, path: &Path) -> Vec<String> {
        let mut warnings = Vec::new();
        for (at, line) in text.lines().enumerate() {
            let origin = ValueOrigin::File(path.to_owned(), Some(at + 1));
            let entry = match parse(line, origin) {
                Ok(Some(entry)) => entry,
                Ok(None) => continue,
                Err(origin) => {
                    warnings
                        .push(format!("{origin}: the text in brackets is not a URL: the line is ignored"));
                    continue;
                }
            };
            let is_same = |other: &RcEntry| other.key == entry.key && other.place == entry.place;
            if self.0.iter().any(|other| is_same(other) && other.origin == ValueOrigin::Program) {
                continue;
            }
            self.0.retain(|other| !is_same(other));
            if self.0.len() < MAX_ENTRIES {
                self.0.push(entry);
            }
        }
        warnings
    }

    /// The entry for a dataset: one that names its host takes precedence over one for all.
    pub(super) fn find(&self, key: &str, url: Option<&Url>) -> Option<&RcEntry> {
        self.find_at(key, url.and_then(place_of).as_ref())
    }

    /// As [`Self::find`], for a dataset in a bucket.
    pub(super) fn find_in(&self, key: &str, bucket: &BucketUrl) -> Option<&RcEntry> {
        self.find_at(key, place(&in_bucket(bucket)).as_ref())
    }

    fn find_at(&self, key: &str, place: Option<&RcPlace>) -> Option<&RcEntry> {
        let for_all = || self.0.iter().find(|entry| entry.key == key && entry.place.is_none());
        place.and_then(|place| self.find_own(key, place)).or_else(for_all)
    }

    /// The entry for one place (not for all).
    fn find_own(&self, key: &str, (its_host, its_path): &RcPlace) -> Option<&RcEntry> {
        let applies = |entry: &&RcEntry| match &entry.place {
            Some((host, path)) => host == its_host && (path.is_none() || path == its_path),
            None => false,
        };
        self.0.iter().filter(|entry| entry.key == key).find(applies)
    }

    pub(super) fn entries(&self) -> impl Iterator<Item = (String, &RcEntry)> {
        self.0.iter().map(|entry| {
            let place = entry
                .place
                .as_ref()
                .map(|(host, path)| format!("[{host}{}]", path.as_deref().unwrap_or_default()));
            (format!("{}{}", place.unwrap_or_default(), entry.key), entry)
        })
    }
}

/// A line: `[url]key=value`, `key=value`, or a key; `None` for comments. The bracketed text is returned if it is not
/// a URL.
fn parse(line: &str, origin: ValueOrigin) -> Result<Option<RcEntry>, ValueOrigin> {
    let line = line.trim();
    if line.is_empty() || line.starts_with('#') {
        return Ok(None);
    }
    let (place, rest) = match line.strip_prefix('[').and_then(bracketed) {
        Some((url, rest)) => match Url::parse(url).ok().as_ref().and_then(place_of) {
            Some(place) => (Some(place), rest),
            None => return Err(origin),
        },
        None => (None, line),
    };
    let (key, value) = rest.split_once('=').unwrap_or((rest, ""));
    let (key, value) = (key.trim().to_owned(), value.trim().to_owned());
    Ok((!key.is_empty()).then_some(RcEntry { place, key, value, origin }))
}

/// The text in brackets and the rest; IPv6 hosts have brackets of their own.
fn bracketed(text: &str) -> Option<(&str, &str)> {
    let within = text.find("://[").and_then(|at| Some(at + text.get(at..)?.find(']')? + 1)).unwrap_or(0);
    let end = within + text.get(within..)?.find(']')?;
    Some((text.get(..end)?, text.get(end + 1..)?))
}

/// Host with port, and path, of an address; buckets in path style, without region.
fn place_of(url: &Url) -> Option<RcPlace> {
    match url.bucket().ok().flatten() {
        Some(bucket) => place(&in_bucket(&bucket)),
        None => {
            let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
            place(&(format!("{}{port}", url.host()), url.path().to_owned()))
        }
    }
}

/// Server and path of a bucket.
fn in_bucket(bucket: &BucketUrl) -> (String, String) {
    let host = bucket.endpoint.as_deref().and_then(|endpoint| Some(endpoint.split_once("://")?.1));
    let host = host.unwrap_or(bucket.provider.server()).to_owned();
    (host, format!("/{}/{}", bucket.name, bucket.key))
}

fn place((host, path): &(String, String)) -> Option<RcPlace> {
    let path = path.trim_end_matches('/');
    let path = (!path.is_empty()).then(|| path.to_owned());
    (!host.is_empty()).then(|| (host.to_ascii_lowercase(), path))
}
