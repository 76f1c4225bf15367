//! The addresses that were given.
use super::{Entry, EntryKind};
use ncirrus::store::Url;
use ncirrus::{Dataset, Error, ErrorKind, OpenOptions, Result, Session};
use ncirrus_tools::places::{ListOptions, PlaceKind};

/// A dataset or folder that was given.
pub(super) struct Root {
    pub(super) name: String,
    pub(super) address: String,
    pub(super) is_folder: bool,
    /// Whether the name was given, too.
    pub(super) is_named: bool,
    kind: Option<PlaceKind>,
}

impl Root {
    pub(super) fn entry(&self) -> Entry {
        let kind = if self.is_folder { EntryKind::Folder } else { EntryKind::Dataset(self.kind) };
        let modified = super::folder::modified(&self.address);
        Entry { name: self.name.clone(), kind, size: None, modified, address: self.address.clone() }
    }
}

/// Looks at the addresses.
pub(super) fn find(addresses: &[String], session: &Session) -> Result<Vec<Root>> {
    let mut roots: Vec<Root> = Vec::new();
    for given in addresses {
        let root = look(given, session)?;
        if roots.iter().any(|other| other.name == root.name) {
            let message = format!("two addresses have the name {:?}: give one as NAME=ADDRESS", root.name);
            return Err(Error::invalid(message));
        }
        roots.push(root);
    }
    Ok(roots)
}

fn look(given: &str, session: &Session) -> Result<Root> {
    let (name, address) = match given.split_once('=') {
        Some((name, address)) if is_name(name) => (Some(name.to_owned()), address),
        _ => (None, given),
    };
    let is_named = name.is_some();
    let name = match name {
        Some(name) => name,
        None => last_segment(address)?,
    };
    let (is_folder, kind) = match ncirrus_tools::places::list(address, &ListOptions::new().all(true), session)
    {
        Ok(mut places) => match places.next() {
            Some(Ok(found)) if found.path.is_empty() && found.kind.is_dataset() => (false, Some(found.kind)),
            // Neither its name nor its first bytes are those of a dataset: it is one of references, or an error.
            Some(Ok(found)) if found.path.is_empty() => {
                Dataset::open_with(address, &OpenOptions::default(), session)?;
                (false, None)
            }
            // An entry that cannot be read is skipped by the list of the folder.
            _ => (true, None),
        },
        // Servers that cannot list, among them those of OPeNDAP, have datasets.
        Err(error) if error.kind() == ErrorKind::Unsupported => (false, None),
        Err(error) => return Err(error),
    };
    Ok(Root { name, address: address.to_owned(), is_folder, is_named, kind })
}

/// Whether the text before `=` is a name and no part of an address.
fn is_name(text: &str) -> bool {
    !text.is_empty() && !text.contains(['/', '\\', ':', '?', '#']) && text != "." && text != ".."
}

/// The name of an address: its last segment, with the extension.
fn last_segment(address: &str) -> Result<String> {
    let url = Url::parse(address)?;
    let path = url.path().trim_end_matches('/').to_owned();
    let mut name = path.rsplit('/').next().unwrap_or_default().to_owned();
    if matches!(name.as_str(), "" | "." | "..") && !address.contains("://") {
        let whole = std::fs::canonicalize(address).ok();
        let last = whole.as_deref().and_then(std::path::Path::file_name);
        name = last.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    }
    if name.is_empty() {
        url.host().clone_into(&mut name);
    }
    Ok(if is_name(&name) { name } else { "data".to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_last_segments() {
        for (address, name) in [
            ("/data/sst.nc", "sst.nc"),
            ("data/a/", "a"),
            ("s3://bucket/x/y.zarr", "y.zarr"),
            ("s3://bucket", "bucket"),
            ("https://host.org/dap/air.nc?var=1", "air.nc"),
        ] {
            assert_eq!(last_segment(address).unwrap(), name, "{address}");
        }
    }

    #[test]
    fn a_name_is_no_part_of_an_address() {
        assert!(is_name("sst"));
        for text in ["", "..", "a/b", "https://x?a", "s3:x"] {
            assert!(!is_name(text), "{text}");
        }
    }
}
