//! Objects by key, for stores that know all of them.
use crate::{fault, key, page};
use ncirrus_layout::{ListEntry, Listing, ObjectId, Result};
use std::collections::BTreeMap;
use std::ops::Bound;

/// Objects by key, in byte order. An object has no children.
#[derive(Debug)]
pub(crate) struct KeyTree<T>(BTreeMap<String, T>);

impl<T> Default for KeyTree<T> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<T> KeyTree<T> {
    pub(crate) fn get(&self, key: &str) -> Option<&T> {
        self.0.get(key)
    }

    #[cfg(feature = "zip")]
    pub(crate) fn values_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.0.values_mut()
    }

    pub(crate) fn insert(&mut self, key: &str, value: T) -> Option<T> {
        self.0.insert(key.to_owned(), value)
    }

    pub(crate) fn remove(&mut self, key: &str) -> Option<T> {
        self.0.remove(key)
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &T)> {
        self.0.iter().map(|(key, value)| (key.as_str(), value))
    }

    /// Whether there is an object of that key, or anything below it.
    pub(crate) fn holds(&self, key: &str) -> bool {
        self.0.contains_key(key) || self.below(key).next().is_some()
    }

    /// Whether an object may be put: nothing above it is an object, and nothing lies below it.
    pub(crate) fn check_room(&self, object: &ObjectId) -> Result<()> {
        let key = object.key();
        if key.is_empty() {
            return Err(fault::in_the_way("the root", object));
        }
        if let Some(above) = key::ancestors(key).find(|above| self.0.contains_key(*above)) {
            return Err(fault::in_the_way(&format!("object {above:?}"), object));
        }
        match self.below(key).next() {
            Some(_) => Err(fault::in_the_way("a prefix", object)),
            None => Ok(()),
        }
    }

    /// Takes out what is at a key and below it.
    pub(crate) fn remove_tree(&mut self, prefix: &str) -> Vec<(String, T)> {
        let folder = key::folder(prefix);
        let below: Vec<String> = self.below(prefix).map(|rest| format!("{folder}{rest}")).collect();
        let own = (!prefix.is_empty()).then(|| prefix.to_owned());
        below.into_iter().chain(own).filter_map(|key| self.0.remove_entry(&key)).collect()
    }

    /// One page of the names directly below a prefix.
    pub(crate) fn list(&self, prefix: &str, page: Option<&str>) -> Listing {
        let mut names: BTreeMap<&str, bool> = BTreeMap::new();
        for rest in self.below(prefix) {
            let (name, below) = rest.split_once('/').map_or((rest, false), |(name, _)| (name, true));
            *names.entry(name).or_default() |= below;
        }
        let entries =
            names.into_iter().map(|(name, is_prefix)| ListEntry { name: name.to_owned(), is_prefix });
        page::cut(entries, page)
    }

    /// Keys strictly below a prefix, without the prefix.
    fn below<'a>(&'a self, prefix: &str) -> impl Iterator<Item = &'a str> + use<'a, T> {
        let folder = key::folder(prefix);
        let from = Bound::Included(folder.clone());
        let keys = self.0.range((from, Bound::Unbounded));
        keys.map_while(move |(key, _)| key.strip_prefix(folder.as_str()))
    }
}
