//! netCDF's own configuration files (`nczarr.md` 9.1, 9.2).
use super::{Key, Origin, Settings};
use crate::Url;
use crate::url::Bucket;
use std::path::{Path, PathBuf};

/// The entries of all files, in the order in which they were read.
#[derive(Clone, Default)]
pub(super) struct Rc(Vec<Entry>);

/// An entry: what it sets, and for which datasets.
#[derive(Clone)]
pub(super) struct Entry {
    /// Host and port, and the path unless it is for all paths; for all datasets without.
    place: Option<(String, Option<String>)>,
    key: String,
    pub(super) value: String,
    pub(super) origin: Origin,
}

const FILES: [&str; 3] = [".ncrc", ".daprc", ".dodsrc"];
/// Most entries that are kept.
const MOST: usize = 10_000;

/// Reads the files: those of the home folder, then those of the current one, unless a variable names one or none.
pub(super) fn read(settings: &mut Settings) {
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
    for key in Key::all() {
        for name in key.rc() {
            let is_trusted = |entry: &Entry| key != Key::PluginPath || !is_local(settings, &entry.origin);
            let Some(entry) = settings.rc.find(name, None).filter(|entry| is_trusted(entry)) else {
                continue;
            };
            let (value, origin) = (entry.value.clone(), entry.origin.clone());
            settings.offer(key, &value, origin);
        }
    }
    let unverified = ["HTTP.SSL.VALIDATE", "HTTP.SSL.VERIFYPEER"].into_iter();
    let unverified: Vec<Origin> = unverified
        .filter_map(|name| settings.rc.find(name, None))
        .filter(|entry| entry.value == "0")
        .map(|entry| entry.origin.clone())
        .collect();
    unverified
        .iter()
        .for_each(|origin| settings.warn(format!("{origin}: certificates are verified all the same")));
}

fn places(settings: &Settings) -> Vec<PathBuf> {
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

/// Whether a file lies in the current folder: whoever left one there would have their code run.
fn is_local(settings: &Settings, origin: &Origin) -> bool {
    let home = settings.environment.home();
    match origin {
        Origin::File(path, _) => settings
            .environment
            .folder()
            .is_some_and(|folder| path.parent() == Some(folder) && home != Some(folder)),
        _ => false,
    }
}

impl Rc {
    /// Takes over the lines of a file; tells those that name no place where one should stand.
    pub(super) fn take(&mut self, text: &str, path: &Path) -> Vec<String> {
        let mut warnings = Vec::new();
        for (at, line) in text.lines().enumerate() {
            let origin = Origin::File(path.to_owned(), Some(at + 1));
            let entry = match parse(line, origin) {
                Ok(Some(entry)) => entry,
                Ok(None) => continue,
                Err(origin) => {
                    warnings
                        .push(format!("{origin}: what stands in brackets is no url: the line is left out"));
                    continue;
                }
            };
            self.0.retain(|other| other.key != entry.key || other.place != entry.place);
            if self.0.len() < MOST {
                self.0.push(entry);
            }
        }
        warnings
    }

    /// The entry for a dataset: one that names its host goes before one that is for all.
    pub(super) fn find(&self, key: &str, url: Option<&Url>) -> Option<&Entry> {
        self.find_at(key, url.and_then(place_of).as_ref())
    }

    /// As [`Self::find`], for a dataset in a bucket.
    #[cfg(feature = "cloud")]
    pub(super) fn find_in(&self, key: &str, bucket: &Bucket) -> Option<&Entry> {
        self.find_at(key, place(&in_bucket(bucket)).as_ref())
    }

    fn find_at(&self, key: &str, place: Option<&(String, Option<String>)>) -> Option<&Entry> {
        let applies = |entry: &&Entry| match (&entry.place, place) {
            (Some((host, path)), Some((its_host, its_path))) => {
                host == its_host && (path.is_none() || path == its_path)
            }
            _ => false,
        };
        let of_key = || self.0.iter().filter(|entry| entry.key == key);
        of_key().find(applies).or_else(|| of_key().find(|entry| entry.place.is_none()))
    }

    pub(super) fn entries(&self) -> impl Iterator<Item = (String, &Entry)> {
        self.0.iter().map(|entry| {
            let place = entry
                .place
                .as_ref()
                .map(|(host, path)| format!("[{host}{}]", path.as_deref().unwrap_or_default()));
            (format!("{}{}", place.unwrap_or_default(), entry.key), entry)
        })
    }
}

/// A line: `[url]key=value`, `key=value`, or a key; none for comments. The place comes back where the URL is none.
fn parse(line: &str, origin: Origin) -> Result<Option<Entry>, Origin> {
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
    Ok((!key.is_empty()).then_some(Entry { place, key, value, origin }))
}

/// What stands in brackets, and what follows; hosts may be numbers in brackets of their own.
fn bracketed(text: &str) -> Option<(&str, &str)> {
    let within = text.find("://[").and_then(|at| Some(at + text.get(at..)?.find(']')? + 1)).unwrap_or(0);
    let end = within + text.get(within..)?.find(']')?;
    Some((text.get(..end)?, text.get(end + 1..)?))
}

/// Host with port, and path, of an address; of a bucket as if it were in path style, without region.
fn place_of(url: &Url) -> Option<(String, Option<String>)> {
    match url.bucket().ok().flatten() {
        Some(bucket) => place(&in_bucket(&bucket)),
        None => {
            let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
            place(&(format!("{}{port}", url.host()), url.path().to_owned()))
        }
    }
}

/// Server and path of a bucket.
fn in_bucket(bucket: &Bucket) -> (String, String) {
    let host = bucket.endpoint.as_deref().and_then(|endpoint| Some(endpoint.split_once("://")?.1));
    let host = host.unwrap_or(bucket.provider.server()).to_owned();
    (host, format!("/{}/{}", bucket.name, bucket.key))
}

fn place((host, path): &(String, String)) -> Option<(String, Option<String>)> {
    let path = path.trim_end_matches('/');
    let path = (!path.is_empty()).then(|| path.to_owned());
    (!host.is_empty()).then(|| (host.to_ascii_lowercase(), path))
}
