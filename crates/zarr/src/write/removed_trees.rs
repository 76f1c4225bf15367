//! Trees that the next commit removes.
use std::collections::HashSet;

/// Keys of trees, in the order of their removal.
#[derive(Debug, Clone, Default)]
pub(crate) struct RemovedTrees {
    list: Vec<String>,
    known: HashSet<String>,
}

impl RemovedTrees {
    /// Adds a tree.
    pub(crate) fn push(&mut self, key: String) {
        self.known.insert(key.clone());
        self.list.push(key);
    }

    /// Whether a key is the root of a tree, or lies in one.
    pub(crate) fn contains(&self, key: &str) -> bool {
        let mut above = key.match_indices('/').filter_map(|(at, _)| key.get(..at));
        self.known.contains(key) || above.any(|above| self.known.contains(above))
    }

    /// The keys of the trees.
    pub(crate) fn keys(&self) -> &[String] {
        &self.list
    }

    /// Whether there is none.
    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Forgets all trees, when they are removed.
    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_in_a_removed_tree_is_removed() {
        let mut trees = RemovedTrees::default();
        ["g/h", "v"].into_iter().for_each(|key| trees.push(key.to_owned()));
        for key in ["g/h", "g/h/a", "g/h/a/b", "v", "v/0"] {
            assert!(trees.contains(key), "{key}");
        }
        for key in ["", "g", "g/hh", "g/x/h", "h", "w/v"] {
            assert!(!trees.contains(key), "{key}");
        }
        assert_eq!(trees.keys(), ["g/h", "v"]);
        trees.clear();
        assert!(trees.is_empty() && !trees.contains("v"));
    }
}
