//! Finding all objects of a file: the links of all groups of a level are asked for together (hdf5-netcdf4.md H.1).
use super::Key;
use crate::file::{Addr, File};
use crate::group::{Link, LinkTarget, follow, links};
use crate::object::{Header, ObjectRef, header, kind};
use ncirrus_layout::{Error, ObjectId, Stall, Step, View, join_each, settle};
use std::collections::HashMap;
use std::sync::Arc;

/// Names of the objects of each file: where each was found first.
pub(super) type Paths = HashMap<ObjectId, Arc<HashMap<Addr, String>>>;

/// What was found so far.
#[derive(Debug)]
pub(super) struct Tree {
    /// The root first, each group before its subgroups.
    pub(super) groups: Vec<GroupNode>,
    pub(super) warnings: Vec<String>,
    paths: HashMap<ObjectId, HashMap<Addr, String>>,
    /// How many paths lead to a group.
    met: HashMap<Key, u32>,
    members: u64,
}

/// A group.
#[derive(Debug)]
pub(super) struct GroupNode {
    pub(super) name: String,
    /// Absolute path, empty for the root.
    pub(super) path: String,
    pub(super) parent: Option<usize>,
    pub(super) object: ObjectRef,
    /// Datasets and committed types, in the order of their links.
    pub(super) members: Vec<Member>,
    pub(super) groups: Vec<usize>,
    pub(super) fault: Option<Error>,
}

/// A member of a group that is no group.
#[derive(Debug)]
pub(super) struct Member {
    pub(super) name: String,
    pub(super) object: ObjectRef,
    pub(super) what: What,
}

/// What a member is.
#[derive(Debug, Clone)]
pub(super) enum What {
    Dataset,
    Type,
    /// Its header cannot be read.
    Damaged(Error),
}

/// What an object's header says that it is.
enum Sort {
    Group,
    Dataset,
    Type,
    Unknown,
}

impl Tree {
    /// A file of which only the root is known.
    pub(super) fn new(file: &Arc<File>) -> Self {
        let object = ObjectRef { file: Arc::clone(file), addr: file.root };
        let mut tree = Self {
            groups: Vec::new(),
            warnings: file.warnings.clone(),
            paths: HashMap::new(),
            met: HashMap::new(),
            members: 0,
        };
        tree.name(&object, "/");
        tree.group(String::new(), String::new(), None, object);
        tree
    }

    /// Finds all objects. When it stalls, the levels that are complete can be described already.
    pub(super) fn walk(&mut self, view: &dyn View) -> Step<()> {
        let mut level = vec![0];
        while !level.is_empty() {
            level = self.level(view, &level)?;
        }
        Ok(())
    }

    /// Names of all objects.
    pub(super) fn take_paths(&mut self) -> Paths {
        let named = std::mem::take(&mut self.paths);
        named.into_iter().map(|(file, paths)| (file, Arc::new(paths))).collect()
    }

    /// The members of the groups of a level; returns the groups of the next one.
    fn level(&mut self, view: &dyn View, level: &[usize]) -> Step<Vec<usize>> {
        let found = self.links_of(view, level)?;
        let objects = join_each(&found, |(group, link)| {
            let Some(group) = self.groups.get(*group) else { return Err(Error::internal("no group").into()) };
            let object = follow(view, &group.object, &link.target)?;
            let header = settle(header(view, &object)).map_err(Stall::Need)?;
            Ok((object, header))
        })?;
        let mut next = Vec::new();
        for ((group, link), found) in found.into_iter().zip(objects) {
            let home = self.groups.get(group).ok_or_else(|| Error::internal("no group"))?;
            let path = format!("{}/{}", home.path, link.name);
            match found {
                Ok((object, header)) => {
                    next.extend(self.member(view, (group, link.name, path), object, &header));
                }
                Err(error) => self.warnings.push(dangling(&path, &link.target, &error)),
            }
        }
        Ok(next)
    }

    /// The links of all groups of a level, each with the number of its group.
    fn links_of(&mut self, view: &dyn View, level: &[usize]) -> Step<Vec<(usize, Link)>> {
        let of_groups = join_each(level, |group| match self.groups.get(*group) {
            Some(group) => links(view, &group.object),
            None => Err(Error::internal("no group").into()),
        })?;
        let mut found = Vec::new();
        for (&at, links) in level.iter().zip(of_groups) {
            let Some(group) = self.groups.get_mut(at) else { continue };
            match links {
                Ok(links) => {
                    let place = |text: &String| format!("group {}/: {text}", group.path);
                    self.warnings.extend(links.warnings.iter().map(place));
                    let named = links.list.iter().filter(|link| !link.name.is_empty());
                    found.extend(named.map(|link| (at, link.clone())));
                }
                Err(error) => group.fault = Some(error),
            }
        }
        let room = view.limits().count.saturating_sub(self.members);
        let room = usize::try_from(room).unwrap_or(usize::MAX);
        if found.len() > room {
            self.warnings.push(format!("only {} members are listed", view.limits().count));
            found.truncate(room);
        }
        self.members = self.members.saturating_add(found.len() as u64);
        Ok(found)
    }

    /// Takes in what a link leads to; returns the number of a group that is to be walked.
    fn member(
        &mut self,
        view: &dyn View,
        (group, name, path): (usize, String, String),
        object: ObjectRef,
        header: &Result<Arc<Header>, Error>,
    ) -> Option<usize> {
        self.name(&object, &path);
        let what = match header.as_ref().map(|header| sort_of(header)) {
            Ok(Sort::Group) => match self.hinder(view, group, &object) {
                None => return Some(self.group(name, path, Some(group), object)),
                Some(reason) => {
                    self.warnings.push(format!("group {path} is left out: {reason}"));
                    return None;
                }
            },
            Ok(Sort::Unknown) => {
                self.warnings.push(format!("{path} is neither a group, a dataset nor a type"));
                return None;
            }
            Ok(Sort::Dataset) => What::Dataset,
            Ok(Sort::Type) => What::Type,
            Err(error) => What::Damaged(error.clone()),
        };
        if let Ok(header) = header {
            self.warnings.extend(header.warnings.iter().map(|text| format!("{path}: {text}")));
        }
        if let Some(group) = self.groups.get_mut(group) {
            group.members.push(Member { name, object, what });
        }
        None
    }

    /// Why a group cannot be walked below another.
    fn hinder(&mut self, view: &dyn View, parent: usize, object: &ObjectRef) -> Option<&'static str> {
        let mut depth = 1;
        let mut at = Some(parent);
        while let Some(group) = at.and_then(|at| self.groups.get(at)) {
            if group.object == *object {
                return Some("it contains itself");
            }
            depth += 1;
            at = group.parent;
        }
        if view.limits().depth(depth, "a group").is_err() {
            return Some("it lies too deep");
        }
        let met = self.met.entry(Key::from(object)).or_insert(0);
        *met += 1;
        (*met > MOST_PATHS).then_some("too many paths lead to it")
    }

    fn group(&mut self, name: String, path: String, parent: Option<usize>, object: ObjectRef) -> usize {
        let at = self.groups.len();
        if let Some(parent) = parent.and_then(|parent| self.groups.get_mut(parent)) {
            parent.groups.push(at);
        }
        let (members, groups) = (Vec::new(), Vec::new());
        self.groups.push(GroupNode { name, path, parent, object, members, groups, fault: None });
        at
    }

    fn name(&mut self, object: &ObjectRef, path: &str) {
        let paths = self.paths.entry(object.file.object.clone()).or_default();
        paths.entry(object.addr).or_insert_with(|| path.to_owned());
    }
}

/// Groups that more paths lead to are left out there: links in a net of groups can be followed in endlessly many ways.
const MOST_PATHS: u32 = 256;

fn sort_of(header: &Header) -> Sort {
    let has = |wanted: u16| header.find(wanted).is_some();
    match (has(kind::DATATYPE), has(kind::DATASPACE) || has(kind::LAYOUT)) {
        (true, true) => Sort::Dataset,
        (true, false) => Sort::Type,
        (false, _)
            if [kind::SYMBOL_TABLE, kind::LINK_INFO, kind::LINK, kind::GROUP_INFO].into_iter().any(has) =>
        {
            Sort::Group
        }
        (false, true) => Sort::Dataset,
        (false, false) => Sort::Unknown,
    }
}

fn dangling(path: &str, target: &LinkTarget, error: &Error) -> String {
    match target {
        LinkTarget::Hard(_) => format!("{path} is left out: {error}"),
        LinkTarget::Soft(to) => format!("link {path} to {to:?} is left out: {error}"),
        LinkTarget::External { file, path: to } => {
            format!("link {path} to {to:?} in the file {file:?} is left out: {error}")
        }
        LinkTarget::Unknown(number) => format!("link {path} of the unknown type {number} is left out"),
    }
}
