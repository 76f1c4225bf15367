//! Existing groups: their attributes and links (docs/spec/hdf5-netcdf4.md J.2).
use super::super::links::{NamedLinks, has_symbol_table};
use super::UpdatePlanner;
use crate::group::links;
use crate::write::objects::{FileObject, listed};
use ncirrus_layout::{Error, Step};
use ncirrus_model::{GroupId, NodeId};
use std::collections::{HashMap, HashSet};

/// Changes of a group's links.
#[derive(Debug, Default)]
struct LinkChanges {
    removed: Vec<String>,
    renamed: Vec<(String, String)>,
    added: Vec<(String, FileObject)>,
}

impl UpdatePlanner<'_> {
    /// Brings a group up to date.
    pub(super) fn group(&mut self, id: GroupId) -> Step<()> {
        let Some(addr) = self.known.addrs.get(&FileObject::Group(id)).copied() else { return Ok(()) };
        let changes = self.changes(id)?;
        if self.new.group(id).is_none() {
            return self.check_empty(id, &changes);
        }
        self.attributes(NodeId::Group(id), addr)?;
        if changes.removed.is_empty() && changes.renamed.is_empty() && changes.added.is_empty() {
            return Ok(());
        }
        self.links_are_changed = true;
        let added: Vec<_> = changes
            .added
            .iter()
            .filter_map(|(name, object)| Some((name, self.after.addrs.get(object).copied()?)))
            .collect();
        let (view, object) = (self.view, self.object(addr));
        let is_root = addr == self.file.root;
        let header = self.header(addr)?;
        let was_old = has_symbol_table(header);
        let mut named = NamedLinks::new(view, &object, header)?;
        named.remove(changes.removed.iter().map(String::as_str))?;
        // Names may be swapped or passed on: one that is given up in the same step is free.
        let given_up: HashSet<&str> = changes.renamed.iter().map(|(from, _)| from.as_str()).collect();
        for (_, to) in &changes.renamed {
            if named.has(to) && !given_up.contains(to.as_str()) {
                let message = format!("{to:?} is the name of something else in the group");
                return Err(Error::unsupported(message).into());
            }
        }
        named.rename(&changes.renamed)?;
        for (name, addr) in added {
            named.add(name, addr)?;
        }
        self.root_is_new |= is_root && was_old;
        Ok(())
    }

    fn changes(&self, id: GroupId) -> Step<LinkChanges> {
        let old: HashMap<FileObject, String> =
            listed(self.old, id).into_iter().map(|(name, object)| (object, name)).collect();
        let new: HashMap<FileObject, String> =
            listed(self.new, id).into_iter().map(|(name, object)| (object, name)).collect();
        let mut changes = LinkChanges::default();
        let gets_scale = |object: &FileObject| self.unscaled.has_dimension(*object);
        if old == new && !new.keys().any(gets_scale) {
            return Ok(changes);
        }
        for (_, object) in listed(self.old, id) {
            let (Some(name), after) = (old.get(&object), new.get(&object)) else { continue };
            if after == Some(name) {
                continue;
            }
            if !self.known.addrs.contains_key(&object) {
                match after {
                    Some(to) if !gets_scale(&object) => {
                        let message =
                            format!("{name:?} has no object in the file that could be renamed to {to:?}");
                        return Err(Error::unsupported(message).into());
                    }
                    // A dimension that is not in the file needs no change; one that comes there is added.
                    _ => continue,
                }
            }
            let link = self.link_of(id, object, name)?;
            match after {
                Some(to) => changes.renamed.push((link, to.clone())),
                None => changes.removed.push(link),
            }
        }
        let is_new = |object: &FileObject| !old.contains_key(object) || gets_scale(object);
        changes.added = listed(self.new, id).into_iter().filter(|(_, object)| is_new(object)).collect();
        Ok(changes)
    }

    /// The name of the link to an object: the one expected from the model, or any other one in the group.
    fn link_of(&self, group: GroupId, object: FileObject, name: &str) -> Step<String> {
        let addrs = &self.known.addrs;
        let (Some(at), Some(target)) = (addrs.get(&FileObject::Group(group)), addrs.get(&object)) else {
            return Ok(name.to_owned());
        };
        let found = links(self.view, &self.object(*at))?;
        if found.find(name).is_some() {
            return Ok(name.to_owned());
        }
        let leads_there =
            |link: &&crate::group::GroupLink| link.target == crate::group::LinkTarget::Hard(*target);
        let other = found.list.iter().find(leads_there).map(|link| link.name.clone());
        Ok(other.ok_or_else(|| Error::unsupported(format!("no link {name:?} in the group")))?)
    }

    /// Refuses to remove a group that contains something not shown in the model.
    fn check_empty(&self, id: GroupId, changes: &LinkChanges) -> Step<()> {
        let Some(addr) = self.known.addrs.get(&FileObject::Group(id)) else { return Ok(()) };
        let found = links(self.view, &self.object(*addr))?;
        let removed: HashSet<&str> = changes.removed.iter().map(String::as_str).collect();
        match found.list.iter().find(|link| !removed.contains(link.name.as_str())) {
            None => Ok(()),
            Some(link) => {
                let message = format!("the group holds {:?}, which cannot be shown", link.name);
                Err(Error::unsupported(message).into())
            }
        }
    }
}
