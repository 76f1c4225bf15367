//! Whether source and target overlap.
use crate::create::DatasetShape;
use crate::locate::{as_it_is, is_zip_name, local_path};
use crate::url::{Scheme, Url, percent_decoded};
use crate::{StoreContext, key};
use ncirrus_layout::{Detail, Error, ErrorKind, Result};
use std::fs;
use std::path::{Path, PathBuf};

/// The location of a dataset in comparable form.
#[derive(Debug, PartialEq, Eq)]
enum ComparablePlace {
    /// On this machine, with links resolved.
    Path(PathBuf),
    /// A server, and the path on it.
    Server(String, String),
}

/// Refuses a dataset that would be written inside its source, around it, or, if it is written in place, over it. No
/// request is sent.
///
/// # Errors
/// `Conflict` naming both; `Invalid` for an invalid address.
pub fn check_apart(source: &str, target: &str, shape: DatasetShape, context: &StoreContext) -> Result<()> {
    let (from, to) = (as_it_is(&Url::parse(source)?), as_it_is(&Url::parse(target)?));
    let Some((read, written)) = places(&from, &to, context)? else { return Ok(()) };
    let what = if written == read {
        if !is_written_in_place(&to, shape) {
            return Ok(());
        }
        "is also the source: it would be gone before it is read"
    } else if written.is_below(&read) {
        "lies inside the source"
    } else if read.is_below(&written) {
        "would replace the source, which lies inside it"
    } else {
        return Ok(());
    };
    let reported =
        if from.to_string() == to.to_string() { what.to_owned() } else { format!("{what} ({from})") };
    Err(Error::new(ErrorKind::Conflict, reported).with_detail(Detail::IsSource).at_object(to))
}

/// Whether two addresses name the same location. No request is sent.
///
/// # Errors
/// `Invalid` for an invalid address.
pub fn is_same_place(one: &str, other: &str, context: &StoreContext) -> Result<bool> {
    let (one, other) = (as_it_is(&Url::parse(one)?), as_it_is(&Url::parse(other)?));
    Ok(places(&one, &other, context)?.is_some_and(|(one, other)| one == other))
}

/// The locations of two datasets; `None` if they have none, or their keys alone show that they do not overlap.
fn places(
    one: &Url,
    other: &Url,
    context: &StoreContext,
) -> Result<Option<(ComparablePlace, ComparablePlace)>> {
    if let (Some(one), Some(other)) = (context.schemes.bucket(one)?, context.schemes.bucket(other)?) {
        let (first, second) = (key::folder(&one.key), key::folder(&other.key));
        if one.name != other.name || !(first.starts_with(&second) || second.starts_with(&first)) {
            return Ok(None);
        }
    }
    Ok(place_of(one, context)?.zip(place_of(other, context)?))
}

/// Elsewhere a dataset is written beside its final location, or sent when it is complete.
fn is_written_in_place(url: &Url, shape: DatasetShape) -> bool {
    let modes = url.fragment().modes();
    let is_zip = modes.contains("zip") || (is_zip_name(url.path()) && !modes.contains("file"));
    shape == DatasetShape::Tree && !is_zip && !matches!(url.scheme(), Scheme::File | Scheme::Memory)
}

/// `None` for a path of which not even the folder exists.
fn place_of(url: &Url, context: &StoreContext) -> Result<Option<ComparablePlace>> {
    Ok(match url.scheme() {
        Scheme::File => real_path(&local_path(url)).map(ComparablePlace::Path),
        Scheme::Memory => Some(served(format!("memory://{}", url.host()), &url.memory_key())),
        _ => match in_bucket(url, context)? {
            Some((server, key)) => Some(served(server, &key)),
            None => {
                let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
                let scheme = url.other_scheme().unwrap_or(url.scheme().as_str());
                Some(served(format!("{scheme}://{}{port}", url.host()), &percent_decoded(url.path())))
            }
        },
    })
}

fn served(server: String, path: &str) -> ComparablePlace {
    ComparablePlace::Server(server, path.trim_matches('/').to_owned())
}

/// A path without links and dots, for an existing or new file.
fn real_path(path: &Path) -> Option<PathBuf> {
    if let Ok(real) = fs::canonicalize(path) {
        return Some(real);
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    Some(fs::canonicalize(folder).ok()?.join(path.file_name()?))
}

/// The server of a bucket, whatever its name, and the path below it.
fn in_bucket(url: &Url, context: &StoreContext) -> Result<Option<(String, String)>> {
    let Some(bucket) = context.schemes.bucket(url)? else { return Ok(None) };
    let server = context.schemes.server(url, &context.options)?;
    Ok(server.map(|server| (server, format!("{}/{}", bucket.name, bucket.key))))
}

impl ComparablePlace {
    fn is_below(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Path(path), Self::Path(above)) => path.starts_with(above),
            (Self::Server(server, path), Self::Server(above, prefix)) => {
                server == above && path.starts_with(&key::folder(prefix))
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests;
