//! Dividing sorted names into pages.
use ncirrus_layout::{ListEntry, Listing};

/// Names per page: enough for one request in all but huge directories.
pub(crate) const PAGE: usize = 65_536;

/// One page of names that come in byte order, only those after `after`. The token of a page is its last name.
pub fn cut(names: impl Iterator<Item = ListEntry>, after: Option<&str>) -> Listing {
    let mut rest = names.filter(|entry| after.is_none_or(|after| entry.name.as_str() > after));
    let entries: Vec<ListEntry> = rest.by_ref().take(PAGE).collect();
    let more = rest.next().is_some();
    let next = entries.last().filter(|_| more).map(|entry| entry.name.clone());
    Listing { entries, next }
}
