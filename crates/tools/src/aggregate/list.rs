//! Lists of datasets: names with wildcards, folders, files of names.
use super::names::written;
use ncirrus::{Error, Result, Session};
use ncirrus_layout::{ErrorKind, ListEntry};
use ncirrus_store::{Scheme, Url};

/// The datasets that names refer to, in order: a name with `*`, `?` or `[...]` means all that match, in the order of
/// their names; a local folder that is not a dataset means all files in it, and so does such a prefix of a bucket if its
/// name ends with a slash or has no extension. Wildcards may occur in any part of a
/// path, also of an object store.
///
/// # Errors
/// `NotFound` if nothing matches a name; errors of listing a folder.
pub fn list(names: &[String], session: &Session) -> Result<Vec<String>> {
    let mut all = Vec::new();
    for name in names {
        let before = all.len();
        if is_pattern(name) {
            expand(name, session, &mut all)?;
        } else if is_plain_folder(name) {
            let below = format!("{}/*", name.trim_end_matches('/'));
            expand(&below, session, &mut all)?;
        } else if let Some(members) = members_of_prefix(name, session)? {
            all.extend(members);
        } else {
            all.push(name.clone());
        }
        if all.len() == before {
            return Err(Error::not_found("no dataset has that name").at_object(name));
        }
    }
    Ok(all)
}

/// Whether a name has wildcards; an existing file whose name has such characters takes precedence.
fn is_pattern(name: &str) -> bool {
    let Ok(url) = Url::parse(name) else { return false };
    let is_local = url.scheme() == Scheme::File;
    url.path().contains(['*', '?', '[']) && !(is_local && std::fs::symlink_metadata(url.path()).is_ok())
}

/// Objects that make a folder or prefix a dataset.
const MARKS: [&str; 5] = [".zgroup", ".zarray", ".zmetadata", "zarr.json", ".nczarr"];

/// The datasets directly below a prefix of a bucket; `None` for anything else.
fn members_of_prefix(name: &str, session: &Session) -> Result<Option<Vec<String>>> {
    let Ok(url) = Url::parse(name) else { return Ok(None) };
    let last = url.path().rsplit('/').next().unwrap_or_default();
    let is_bucket = session.settings().bucket(&url).is_ok_and(|bucket| bucket.is_some());
    if !is_bucket || last.contains('.') || url.query().is_some() || url.fragment().modes().contains("zarr") {
        return Ok(None);
    }
    let (place, fragment) = name.split_at(name.find('#').unwrap_or(name.len()));
    let place = place.trim_end_matches('/');
    let found = match entries(&format!("{place}/{fragment}"), session) {
        // Who may not list may read what is named.
        Err(error)
            if matches!(error.kind(), ErrorKind::Denied | ErrorKind::Unsupported) && !name.ends_with('/') =>
        {
            return Ok(None);
        }
        found => found?,
    };
    if found.is_empty() || found.iter().any(|entry| MARKS.contains(&entry.name.as_str())) {
        return Ok(None);
    }
    let mut members = Vec::new();
    for entry in found.into_iter().filter(|entry| !entry.name.starts_with('.')) {
        let member = format!("{place}/{}", url.written_key(&entry.name));
        // Folders of other objects, such as those of fragments, are left out.
        let is_dataset =
            |below: Vec<ListEntry>| below.iter().any(|entry| MARKS.contains(&entry.name.as_str()));
        if !entry.is_prefix || is_dataset(entries(&format!("{member}/{fragment}"), session)?) {
            members.push(format!("{member}{fragment}"));
        }
    }
    Ok(Some(members))
}

/// Whether a name is that of a local folder with no dataset in it.
fn is_plain_folder(name: &str) -> bool {
    let Ok(url) = Url::parse(name) else { return false };
    let path = std::path::Path::new(url.path());
    url.scheme() == Scheme::File && path.is_dir() && !MARKS.iter().any(|mark| path.join(mark).exists())
}

/// Adds what matches a name with wildcards.
fn expand(pattern: &str, session: &Session, all: &mut Vec<String>) -> Result<()> {
    let wild = pattern.find(['*', '?', '[']).unwrap_or(pattern.len());
    let fixed = pattern.get(..wild).and_then(|start| start.rfind('/')).map_or(0, |slash| slash + 1);
    let (folder, rest) = pattern.split_at(fixed);
    let parts: Vec<&str> = rest.split('/').filter(|part| !part.is_empty()).collect();
    expand_below(folder, &parts, session, all)
}

fn expand_below(folder: &str, parts: &[&str], session: &Session, all: &mut Vec<String>) -> Result<()> {
    let Some((part, rest)) = parts.split_first() else { return Ok(()) };
    for entry in entries(folder, session)? {
        // Patterns are written as addresses are, or as keys.
        let written = written(folder, &entry.name);
        let is_hidden = entry.name.starts_with('.') && !part.starts_with('.');
        if is_hidden || !fits_either(part, &written, &entry.name) {
            continue;
        }
        let name = format!("{folder}{written}");
        if !rest.is_empty() {
            expand_below(&format!("{name}/"), rest, session, all)?;
        } else if !entry.is_prefix || !is_plain_folder(&name) {
            all.push(name);
        }
    }
    Ok(())
}

/// The members of a folder.
fn entries(folder: &str, session: &Session) -> Result<Vec<ListEntry>> {
    let address = if folder.is_empty() { "." } else { folder };
    let opened = match session.wait_for_store(address, ncirrus_store::open(address, session.store_context()))
    {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        opened => opened?,
    };
    let mut entries = Vec::new();
    let mut page: Option<String> = None;
    loop {
        let listing = session.wait_for_store(address, opened.store.list(&opened.root, page.as_deref()))?;
        entries.extend(listing.entries);
        page = listing.next;
        if page.is_none() {
            break;
        }
    }
    entries.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(entries)
}

/// Whether a key matches a pattern, as it is written in addresses or as it is.
fn fits_either(pattern: &str, written: &str, key: &str) -> bool {
    [written, key].iter().any(|name| fits(pattern.as_bytes(), name.as_bytes()))
}

/// Whether a name matches a pattern of `*` (anything), `?` (one character) and `[...]` (one of these).
fn fits(pattern: &[u8], name: &[u8]) -> bool {
    // Where to continue when the last star matches one more character.
    let mut again: Option<(&[u8], &[u8])> = None;
    let (mut pattern, mut name) = (pattern, name);
    loop {
        let step = match (pattern, name) {
            ([b'*', rest @ ..], _) => {
                again = Some((rest, name));
                Some((rest, name))
            }
            ([], []) => return true,
            ([b'?', pattern @ ..], [_, name @ ..]) => Some((pattern, name)),
            ([b'[', set @ ..], [first, name @ ..]) => in_set(set, *first).map(|pattern| (pattern, name)),
            ([one, pattern @ ..], [other, name @ ..]) if one == other => Some((pattern, name)),
            _ => None,
        };
        (pattern, name) = match (step, again) {
            (Some(step), _) => step,
            (None, Some((rest, [_, taken @ ..]))) => {
                again = Some((rest, taken));
                (rest, taken)
            }
            _ => return false,
        };
    }
}

/// The pattern after a set that contains the character.
fn in_set(set: &[u8], character: u8) -> Option<&[u8]> {
    let end = set.iter().position(|byte| *byte == b']')?;
    let (set, rest) = (set.get(..end)?, set.get(end + 1..)?);
    let (set, negated) = match set {
        [b'!' | b'^', set @ ..] => (set, true),
        set => (set, false),
    };
    let has = set.contains(&character)
        || set
            .windows(3)
            .any(|three| matches!(three, [from, b'-', to] if (*from..=*to).contains(&character)));
    (has != negated).then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wildcards_fit_as_in_a_shell() {
        for (pattern, name, want) in [
            ("*.nc", "a.nc", true),
            ("*.nc", "a.nca", false),
            ("a*b*c", "axxbyybzzc", true),
            ("t?.nc", "t1.nc", true),
            ("t?.nc", "t10.nc", false),
            ("t[0-4].nc", "t3.nc", true),
            ("t[!0-4].nc", "t3.nc", false),
            ("t[ab]*", "tb", true),
            ("*", "", true),
            ("[", "a", false),
        ] {
            assert_eq!(fits(pattern.as_bytes(), name.as_bytes()), want, "{pattern} {name}");
        }
    }

    #[test]
    fn wildcards_fit_keys_and_what_is_written_for_them() {
        for (folder, key, patterns) in [
            ("https://host/b/", "run #1.nc", ["run #*.nc", "run%20%231*"]),
            ("s3://b/", "run #1.nc", ["run #?.nc", "run %23*"]),
            ("/d/", "run%20#1.nc", ["run%20#*", "run%20#1.nc"]),
        ] {
            for pattern in patterns {
                assert!(fits_either(pattern, &written(folder, key), key), "{folder} {pattern}");
            }
            assert!(!fits_either("other*", &written(folder, key), key), "{folder}");
        }
    }

    #[test]
    fn folders_and_patterns_are_expanded_in_order() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["x/b.nc", "x/a.nc", "y/c.nc", "y/.hidden.nc"] {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, b"").unwrap();
        }
        let session = Session::new().unwrap();
        let top = folder.path().to_str().unwrap();
        let listed = |name: &str| {
            let all = list(&[format!("{top}/{name}")], &session).unwrap();
            all.into_iter().map(|name| name[top.len() + 1..].to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(listed("*/*.nc"), ["x/a.nc", "x/b.nc", "y/c.nc"]);
        assert_eq!(listed("x"), ["x/a.nc", "x/b.nc"]);
        assert_eq!(listed("z.nc"), ["z.nc"]);
        assert!(list(&[format!("{top}/*.zarr")], &session).is_err());
    }
}
