//! Names of files in references: as fsspec interprets them, so paths are not escaped.
use ncirrus::{Error, Result};
use ncirrus_store::{Scheme, Url, percent_decoded};
use std::path::{Component, Path, PathBuf};

/// The name of a file in a reference file at `target`.
///
/// # Errors
/// `Invalid` for invalid addresses, `Unsupported` for datasets that are not plain files.
pub(super) fn name(url: &str, target: &str, relative: bool) -> Result<String> {
    let (source, place) = (Url::parse(url)?, Url::parse(target)?);
    if matches!(source.scheme(), Scheme::S3 | Scheme::Gs | Scheme::Azure) {
        let path = source.read_key(source.path().trim_end_matches('/'));
        let query = source.query().map(|query| format!("?{query}")).unwrap_or_default();
        return Ok(format!("{}{query}", source.with_path(path)));
    }
    if source.scheme() != Scheme::File {
        let plain = url.split('#').next().unwrap_or(url);
        return Ok(plain.trim_end_matches('/').to_owned());
    }
    let path = absolute(source.path())?;
    if !relative {
        return text(&path);
    }
    if place.scheme() != Scheme::File {
        let message = "relative names of local files in a remote reference file";
        return Err(Error::unsupported(message).at_object(url));
    }
    let place = absolute(place.path())?;
    text(&between(place.parent().unwrap_or(Path::new("/")), &path))
}

/// The address of a file in Icechunk: absolute, with the characters escaped that have a meaning in addresses.
///
/// # Errors
/// `Unsupported` for places that icechunk does not reach, and for old versions of objects.
pub(super) fn address(url: &str) -> Result<String> {
    let source = Url::parse(url)?;
    let plain = url.split('#').next().unwrap_or(url).trim_end_matches('/');
    let unreachable = |what: &str| Error::unsupported(format!("virtual chunks in {what}")).at_object(url);
    match source.scheme() {
        Scheme::File => Ok(format!("file://{}", escaped(&text(&absolute(source.path())?)?))),
        _ if source.query().is_some() => Err(unreachable("an object whose address has a query")),
        Scheme::S3 | Scheme::Azure | Scheme::Http | Scheme::Https => Ok(plain.to_owned()),
        Scheme::Gs => Ok(plain.replacen("gs://", "gcs://", 1)),
        _ => Err(unreachable("a place that Icechunk does not reach")),
    }
}

/// A path with the characters escaped that have a meaning in addresses.
pub(super) fn escaped(path: &str) -> String {
    path.replace('%', "%25").replace('?', "%3F").replace('#', "%23")
}

/// The same address as this library writes it.
pub(super) fn reachable(address: &str) -> String {
    match (address.strip_prefix("file://"), address.strip_prefix("gcs://")) {
        (Some(path), _) => percent_decoded(path),
        (_, Some(rest)) => format!("gs://{rest}"),
        _ => address.to_owned(),
    }
}

/// An absolute path without `..`: other readers of references compare addresses as texts.
///
/// Symbolic links keep their names, since the prefixes of containers are given by these names. Only if a link before `..`
/// leads to a place that is not the one above its name, the folder is named as it really is.
fn absolute(path: &str) -> Result<PathBuf> {
    let found = std::path::absolute(path);
    let path = found.map_err(|error| Error::invalid("no path").at_object(path).because(error))?;
    if !path.components().any(|part| part == Component::ParentDir) {
        return Ok(path);
    }
    // The file itself may not exist yet.
    let (folder, name) = match (path.parent(), path.file_name()) {
        (Some(folder), Some(name)) => (folder, Some(name)),
        _ => (path.as_path(), None),
    };
    let mut folded = PathBuf::new();
    for part in folder.components() {
        if part == Component::ParentDir {
            folded.pop();
        } else {
            folded.push(part);
        }
    }
    if let Ok(real) = folder.canonicalize()
        && folded.canonicalize().ok().as_ref() != Some(&real)
    {
        folded = real;
    }
    folded.extend(name);
    Ok(folded)
}

fn text(path: &Path) -> Result<String> {
    let text = path.to_str().ok_or_else(|| Error::invalid("a path that is not UTF-8"));
    Ok(text?.replace(std::path::MAIN_SEPARATOR, "/"))
}

/// The relative path from a folder to a file.
fn between(folder: &Path, file: &Path) -> PathBuf {
    let (from, to): (Vec<Component>, Vec<Component>) =
        (folder.components().collect(), file.components().collect());
    let common = from.iter().zip(&to).take_while(|(one, other)| one == other).count();
    let up = from.iter().skip(common).map(|_| Component::ParentDir);
    up.chain(to.iter().skip(common).copied()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_named_as_paths_and_others_as_they_are() {
        let of = |url: &str, relative| name(url, "/data/refs/all.json", relative).unwrap();
        assert_eq!(of("/data/a b/x.nc", false), "/data/a b/x.nc");
        assert_eq!(of("/data/a b/x.nc", true), "../a b/x.nc");
        assert_eq!(of("/data/refs/x.nc", true), "x.nc");
        assert_eq!(of("s3://bucket/x.zarr/", true), "s3://bucket/x.zarr");
        assert_eq!(of("http://host/x.nc#mode=s3", false), "http://host/x.nc");
        assert_eq!(
            of("s3://bucket/a%23 50%25.nc?versionId=1#aws.profile=p", false),
            "s3://bucket/a# 50%.nc?versionId=1"
        );
        assert!(name("/data/x.nc", "s3://bucket/all.json", true).is_err());
    }

    #[test]
    fn addresses_in_icechunk_are_absolute() {
        assert_eq!(address("/data/a b/x#1?.nc").unwrap(), "file:///data/a b/x%231%3F.nc");
        assert_eq!(reachable("file:///data/a b/x%231%3F.nc"), "/data/a b/x#1?.nc");
        assert_eq!(address("s3://bucket/x.zarr/#mode=zarr").unwrap(), "s3://bucket/x.zarr");
        assert_eq!(address("gs://bucket/x.nc").unwrap(), "gcs://bucket/x.nc");
        assert_eq!(address("https://host/x.nc").unwrap(), "https://host/x.nc");
        assert!(address("s3://bucket/x.nc?versionId=1").is_err() && address("memory://a/x.nc").is_err());
    }

    #[test]
    fn names_of_files_have_no_parts_that_lead_up() {
        assert_eq!(address("/none/a/../b/../../data/x.nc").unwrap(), "file:///data/x.nc");
        assert_eq!(address("/../none/x.nc").unwrap(), "file:///none/x.nc");
        assert_eq!(name("/none/a/../x.nc", "/none/b/../all.json", true).unwrap(), "x.nc");
        let here = std::env::current_dir().unwrap();
        let above = here.parent().unwrap().join("x.nc");
        assert_eq!(name("../x.nc", "all.json", false).unwrap(), above.to_str().unwrap());
    }

    #[cfg(unix)]
    #[test]
    fn links_keep_their_names_unless_they_lead_elsewhere() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().canonicalize().unwrap();
        std::fs::create_dir_all(folder.join("far/below")).unwrap();
        std::fs::create_dir_all(folder.join("near/a")).unwrap();
        std::os::unix::fs::symlink(folder.join("far/below"), folder.join("near/link")).unwrap();
        let of = |path: &str| name(folder.join(path).to_str().unwrap(), "/all.json", false).unwrap();
        let expected = |path: &str| folder.join(path).to_str().unwrap().to_owned();
        assert_eq!(of("near/link/x.nc"), expected("near/link/x.nc"));
        assert_eq!(of("near/a/../link/x.nc"), expected("near/link/x.nc"));
        assert_eq!(of("near/link/../x.nc"), expected("far/x.nc"));
    }
}
