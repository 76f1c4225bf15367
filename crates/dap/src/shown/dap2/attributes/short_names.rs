//! What netCDF-C does with the containers of a DAS: each belongs to all variables and members that have its whole path, or
//! its name as their path or last name (docs/spec/dap.md 2.3).
use super::{MAX_GIVEN, OTHER, OWN, SPECIAL, Sorter, is_global, is_special};
use crate::{DasAttribute, DasItem, DdsKind};
use std::collections::BTreeSet;

impl<'a> Sorter<'a, '_> {
    /// Assigns all items below a path: those of inner containers first.
    pub(super) fn by_short_names(&mut self, path: &str, items: &'a [DasItem]) {
        for item in items {
            let DasItem::Container { name, items } = item else { continue };
            let name = self.shown(name);
            let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
            self.by_short_names(&path, items);
            self.container(&name, &path, items);
        }
        if path.is_empty() {
            self.hoist_own(OWN, "", items);
        }
    }

    fn container(&mut self, name: &str, path: &str, items: &'a [DasItem]) {
        if is_global(name) {
            return self.hoist_own(OWN, "", items);
        }
        if is_special(name) {
            self.special(items);
            return self.hoist_own(SPECIAL, name, items);
        }
        if attributes(items).next().is_none() || self.given > MAX_GIVEN {
            return;
        }
        match self.named_by(name, path) {
            places if places.is_empty() && (self.is_left_out(name) || self.is_left_out(path)) => {}
            places if places.is_empty() => self.hoist_own(OTHER, path, items),
            places => attributes(items).for_each(|attribute| {
                places.iter().for_each(|place| self.give(place, attribute));
            }),
        }
    }

    /// The places of variables and members of atomic types. Those that are not shown, like maps, have attributes, too.
    fn named_by(&self, name: &str, path: &str) -> BTreeSet<Vec<usize>> {
        let by_path = [name, path].into_iter().filter_map(|path| self.nodes.by_path.get(path));
        let by_name = self.nodes.by_name.get(name).into_iter().flatten();
        let is_atomic = |place: &&Vec<usize>| {
            self.nodes.at(place).is_some_and(|node| matches!(node.kind, DdsKind::Atomic(_)))
        };
        by_path.chain(by_name).filter(is_atomic).cloned().collect()
    }

    /// The attributes of a container, but not those of containers in it, are the dataset's.
    fn hoist_own(&mut self, to: usize, path: &str, items: &'a [DasItem]) {
        for attribute in attributes(items) {
            let name = self.shown(&attribute.name);
            let name = if path.is_empty() { name } else { format!("{path}.{name}") };
            if let Some(list) = self.global.get_mut(to) {
                list.push((name, attribute));
            }
        }
    }
}

fn attributes(items: &[DasItem]) -> impl Iterator<Item = &DasAttribute> {
    items.iter().filter_map(|item| match item {
        DasItem::Attribute(attribute) => Some(attribute),
        DasItem::Container { .. } => None,
    })
}
