//! The keys of a reference file, of which there may be millions: their texts lie one behind the other.
use crate::{key, page};
use ncirrus_layout::{ListEntry, Listing};
use std::collections::BTreeMap;

/// Values by key. Keys are put in any order and sorted once.
#[derive(Debug)]
pub(super) struct KeyTable<T> {
    texts: String,
    /// In the byte order of the keys, each once, as soon as `is_sorted`.
    rows: Vec<KeyRow<T>>,
    is_sorted: bool,
}

#[derive(Debug)]
struct KeyRow<T> {
    start: usize,
    len: u32,
    value: T,
}

impl<T> Default for KeyTable<T> {
    fn default() -> Self {
        Self { texts: String::new(), rows: Vec::new(), is_sorted: true }
    }
}

impl<T> KeyTable<T> {
    /// Puts a value, which replaces an earlier one of the same key. Keys of 4 GiB and more are not put.
    pub(super) fn insert(&mut self, key: &str, value: T) {
        let Ok(len) = u32::try_from(key.len()) else { return };
        let start = self.texts.len();
        self.is_sorted &= self.rows.last().is_none_or(|last| text(&self.texts, last) < key);
        self.texts.push_str(key);
        self.rows.push(KeyRow { start, len, value });
    }

    /// Sorts the keys: has to be called after the last [`insert`](Self::insert).
    pub(super) fn sort(&mut self) {
        let texts = std::mem::take(&mut self.texts);
        if !self.is_sorted {
            // Stable, so that of equal keys the one that was put last comes last.
            self.rows.sort_by(|one, other| text(&texts, one).cmp(text(&texts, other)));
            self.rows.reverse();
            self.rows.dedup_by(|one, other| text(&texts, one) == text(&texts, other));
            self.rows.reverse();
        }
        self.texts = texts;
        self.texts.shrink_to_fit();
        self.rows.shrink_to_fit();
        self.is_sorted = true;
    }

    pub(super) fn get(&self, key: &str) -> Option<&T> {
        let at = self.rows.binary_search_by(|row| text(&self.texts, row).cmp(key)).ok()?;
        self.rows.get(at).map(|row| &row.value)
    }

    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &T)> {
        self.rows.iter().map(|row| (text(&self.texts, row), &row.value))
    }

    /// One page of the names directly below a prefix.
    pub(super) fn list(&self, prefix: &str, page: Option<&str>) -> Listing {
        let folder = key::folder(prefix);
        let from = self.rows.partition_point(|row| text(&self.texts, row) < folder.as_str());
        let below = self.rows.iter().skip(from);
        let below = below.map_while(|row| text(&self.texts, row).strip_prefix(folder.as_str()));
        let mut names: BTreeMap<&str, bool> = BTreeMap::new();
        for rest in below {
            let (name, is_prefix) = rest.split_once('/').map_or((rest, false), |(name, _)| (name, true));
            *names.entry(name).or_default() |= is_prefix;
        }
        let entries =
            names.into_iter().map(|(name, is_prefix)| ListEntry { name: name.to_owned(), is_prefix });
        page::cut(entries, page)
    }
}

fn text<'a, T>(texts: &'a str, row: &KeyRow<T>) -> &'a str {
    texts.get(row.start..row.start.saturating_add(row.len as usize)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn a_table_is_a_map(pairs in prop::collection::vec(("[ab/]{0,4}", any::<u8>()), 0..20)) {
            let mut table = KeyTable::default();
            let mut map = BTreeMap::new();
            for (key, value) in &pairs {
                table.insert(key, *value);
                map.insert(key.as_str(), *value);
            }
            table.sort();
            let found: Vec<_> = table.iter().map(|(key, value)| (key, *value)).collect();
            prop_assert_eq!(found, map.iter().map(|(key, value)| (*key, *value)).collect::<Vec<_>>());
            for (key, _) in &pairs {
                prop_assert_eq!(table.get(key), map.get(key.as_str()));
            }
            prop_assert_eq!(table.get("c"), None);
        }
    }

    #[test]
    fn names_directly_below_a_prefix_are_listed() {
        let mut table = KeyTable::default();
        for key in ["b/1", "a/.z", "a/x/1", "a/x/2", "ab", "a"] {
            table.insert(key, ());
        }
        table.sort();
        let names = |prefix: &str| -> Vec<(String, bool)> {
            let listing = table.list(prefix, None);
            listing.entries.into_iter().map(|entry| (entry.name, entry.is_prefix)).collect()
        };
        assert_eq!(names(""), [("a".into(), true), ("ab".into(), false), ("b".into(), true)]);
        assert_eq!(names("a"), [(".z".into(), false), ("x".into(), true)]);
    }
}
