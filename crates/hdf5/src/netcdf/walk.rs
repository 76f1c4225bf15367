//! Finding all objects of a file: the links of all groups of a level are requested together
//! (docs/spec/hdf5-netcdf4.md H.1).
use super::ObjectKey;
use crate::address::FileAddress;
use crate::file::Hdf5File;
use crate::group::{GroupLink, LinkTarget, follow, links};
use crate::object::{ObjectHeader, ObjectRef, header, kind};
use ncirrus_layout::{Error, ErrorKind, ObjectId, Stall, Step, View, join_each, settle};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

/// Names of the objects of each file: the path under which each was found first.
pub(super) type ObjectPaths = HashMap<ObjectId, Arc<HashMap<FileAddress, String>>>;

/// The objects found so far.
#[derive(Debug)]
pub(super) struct ObjectTree {
    /// The root first, each group before its subgroups.
    pub(super) groups: Vec<GroupNode>,
    pub(super) warnings: Vec<String>,
    /// For what netCDF-C does not open the file, if there is anything.
    pub(super) refusal: Option<String>,
    /// The first group that does not track in which order its members were created.
    pub(super) untracked: Option<String>,
    /// The first link or part of a header that the model does not show.
    pub(super) unshown: Option<String>,
    paths: HashMap<ObjectId, HashMap<FileAddress, String>>,
    /// The number of paths to a group.
    met: HashMap<ObjectKey, u32>,
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
    pub(super) members: Vec<TreeMember>,
    pub(super) groups: Vec<usize>,
    /// Faults, with their locations.
    pub(super) losses: Vec<Error>,
}

/// A member of a group that is not a group.
#[derive(Debug)]
pub(super) struct TreeMember {
    pub(super) name: String,
    pub(super) object: ObjectRef,
    pub(super) what: MemberKind,
}

/// The kind of a member.
#[derive(Debug, Clone)]
pub(super) enum MemberKind {
    Dataset,
    Type,
    /// Its header cannot be read.
    Damaged(Error),
}

/// Why a group is not walked.
#[derive(Clone, Copy)]
enum WalkObstacle {
    Circle,
    Deep,
    Paths,
}

impl WalkObstacle {
    fn reason(self) -> &'static str {
        match self {
            Self::Circle => "it contains itself",
            Self::Deep => "it is nested too deeply",
            Self::Paths => "too many paths lead to it",
        }
    }
}

/// The kind of an object according to its header.
enum ObjectSort {
    Group,
    Dataset,
    Type,
    Unknown,
}

impl ObjectTree {
    /// A file of which only the root is known.
    pub(super) fn new(file: &Arc<Hdf5File>) -> Self {
        let object = ObjectRef { file: Arc::clone(file), addr: file.root };
        let mut tree = Self {
            groups: Vec::new(),
            warnings: file.warnings.clone(),
            refusal: None,
            untracked: None,
            unshown: None,
            paths: HashMap::new(),
            met: HashMap::new(),
            members: 0,
        };
        tree.name(&object, "/");
        let root = tree.group(String::new(), String::new(), None, object);
        tree.lose(root, file.losses.iter().cloned());
        tree
    }

    /// Finds all objects. If it stalls, complete levels can already be described.
    pub(super) fn walk(&mut self, view: &dyn View) -> Step<()> {
        let mut level = vec![0];
        while !level.is_empty() {
            level = self.level(view, &level)?;
        }
        Ok(())
    }

    /// Names of all objects.
    pub(super) fn take_paths(&mut self) -> ObjectPaths {
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
            if !matches!(link.target, LinkTarget::Hard(_)) {
                self.unshown.get_or_insert_with(|| format!("{path}: a soft or external link"));
            }
            match found {
                Ok((object, header)) => {
                    next.extend(self.member(view, (group, link.name, path), object, &header));
                }
                Err(error) => self.dangling(group, &path, &link.target, &error),
            }
        }
        Ok(next)
    }

    /// The links of all groups of a level, each with the number of its group.
    fn links_of(&mut self, view: &dyn View, level: &[usize]) -> Step<Vec<(usize, GroupLink)>> {
        let of_groups = join_each(level, |group| match self.groups.get(*group) {
            Some(group) => links(view, &group.object),
            None => Err(Error::internal("no group").into()),
        })?;
        let mut found = Vec::new();
        for (&at, links) in level.iter().zip(of_groups) {
            self.lose_of_root(view, at)?;
            match links {
                Ok(links) => {
                    self.lose(at, links.losses.iter().cloned());
                    self.note_order(at, links.is_tracked);
                    found.extend(links.list.iter().map(|link| (at, link.clone())));
                }
                Err(error) => self.lose(at, [error]),
            }
        }
        let room = view.limits().count.saturating_sub(self.members);
        let room = usize::try_from(room).unwrap_or(usize::MAX);
        if found.len() > room {
            let at = found.get(room).map_or(0, |(group, _)| *group);
            let message = format!("only the first {} members are listed", view.limits().count);
            self.lose(at, [Error::limit(message)]);
            found.truncate(room);
        }
        self.members = self.members.saturating_add(found.len() as u64);
        Ok(found)
    }

    /// Adds the target of a link; returns the index of a group that is to be walked.
    fn member(
        &mut self,
        view: &dyn View,
        (group, name, path): (usize, String, String),
        object: ObjectRef,
        header: &Result<Arc<ObjectHeader>, Error>,
    ) -> Option<usize> {
        self.name(&object, &path);
        if let Ok(header) = header {
            self.note_unshown(header, &path);
            self.lose(group, losses_of(header, &object, &path));
        }
        let what = match header.as_ref().map(|header| sort_of(header)) {
            Ok(ObjectSort::Group) => match self.hinder(view, group, &object) {
                None => return Some(self.group(name, path, Some(group), object)),
                Some(hinder) => {
                    let reported = format!("group {path} is left out: {}", hinder.reason());
                    match hinder {
                        WalkObstacle::Deep => {
                            self.lose(group, [object.file.at(object.addr, Error::limit(reported))]);
                        }
                        // Its contents are shown elsewhere.
                        WalkObstacle::Circle => self.warn_as_netcdf_c(reported),
                        WalkObstacle::Paths => self.warnings.push(reported),
                    }
                    return None;
                }
            },
            Ok(ObjectSort::Unknown) => {
                let error = Error::malformed(format!("{path} is neither a group, a dataset nor a type"));
                self.lose(group, [object.file.at(object.addr, error)]);
                return None;
            }
            Ok(ObjectSort::Dataset) => MemberKind::Dataset,
            Ok(ObjectSort::Type) => MemberKind::Type,
            Err(error) => MemberKind::Damaged(error.clone()),
        };
        if let Some(group) = self.groups.get_mut(group) {
            group.members.push(TreeMember { name, object, what });
        }
        None
    }

    /// Records faults of the root's own header; those of other groups are checked with their links.
    fn lose_of_root(&mut self, view: &dyn View, group: usize) -> Step<()> {
        let root = self.groups.get(group).filter(|group| group.parent.is_none());
        let Some(object) = root.map(|root| root.object.clone()) else { return Ok(()) };
        if let Ok(header) = settle(header(view, &object)).map_err(Stall::Need)? {
            self.lose(group, losses_of(&header, &object, "/"));
        }
        Ok(())
    }

    /// Records a fault of a group that is not recorded in a member.
    fn lose(&mut self, group: usize, losses: impl IntoIterator<Item = Error>) {
        if let Some(group) = self.groups.get_mut(group) {
            let object = &group.object;
            let placed = |error: Error| match error.place().offset {
                None if error.place().object.is_none() => object.file.at(object.addr, error),
                _ => error,
            };
            group.losses.extend(losses.into_iter().map(placed));
        }
    }

    /// Records a dangling link. Soft and external ones may dangle: their target may never have existed, or be a link
    /// that leads back.
    fn dangling(&mut self, group: usize, path: &str, target: &LinkTarget, error: &Error) {
        let reported = dangling(path, target, error);
        let is_damage = error.kind() == ErrorKind::Malformed;
        match target {
            LinkTarget::Hard(_) => self.lose(group, [Error::malformed(reported)]),
            _ if is_damage => self.lose(group, [Error::malformed(reported)]),
            _ => self.warn_as_netcdf_c(reported),
        }
    }

    /// Records what is not damage, but keeps netCDF-C from opening the file.
    fn warn_as_netcdf_c(&mut self, reported: String) {
        self.refusal.get_or_insert_with(|| reported.clone());
        self.warnings.push(reported);
    }

    fn note_order(&mut self, group: usize, is_tracked: bool) {
        if let Some(group) = self.groups.get(group).filter(|_| !is_tracked) {
            self.untracked.get_or_insert_with(|| format!("{}/", group.path));
        }
    }

    /// Why a group cannot be walked below another.
    fn hinder(&mut self, view: &dyn View, parent: usize, object: &ObjectRef) -> Option<WalkObstacle> {
        let mut depth = 1;
        let mut at = Some(parent);
        while let Some(group) = at.and_then(|at| self.groups.get(at)) {
            if group.object == *object {
                return Some(WalkObstacle::Circle);
            }
            depth += 1;
            at = group.parent;
        }
        if depth > view.limits().group_depth {
            return Some(WalkObstacle::Deep);
        }
        let met = self.met.entry(ObjectKey::from(object)).or_insert(0);
        *met += 1;
        (*met > MAX_PATHS).then_some(WalkObstacle::Paths)
    }

    fn group(&mut self, name: String, path: String, parent: Option<usize>, object: ObjectRef) -> usize {
        let at = self.groups.len();
        if let Some(parent) = parent.and_then(|parent| self.groups.get_mut(parent)) {
            parent.groups.push(at);
        }
        let (members, groups) = (Vec::new(), Vec::new());
        self.groups.push(GroupNode { name, path, parent, object, members, groups, losses: Vec::new() });
        at
    }

    fn name(&mut self, object: &ObjectRef, path: &str) {
        let paths = self.paths.entry(object.file.object.clone()).or_default();
        match paths.entry(object.addr) {
            Entry::Occupied(first) => {
                let first = first.get();
                self.unshown.get_or_insert_with(|| format!("{path}: another name of {first}"));
            }
            Entry::Vacant(place) => {
                place.insert(path.to_owned());
            }
        }
    }

    fn note_unshown(&mut self, header: &ObjectHeader, path: &str) {
        let has = |wanted: u16| header.find(wanted).is_some();
        let is_type = matches!(sort_of(header), ObjectSort::Type);
        let found = match (has(kind::COMMENT), is_type && has(kind::ATTRIBUTE)) {
            (true, _) => "a comment",
            (false, true) => "attributes of a type",
            (false, false) => return,
        };
        self.unshown.get_or_insert_with(|| format!("{path}: {found}"));
    }
}

/// Groups reached by more paths than this are omitted: a net of groups can have exponentially many paths.
const MAX_PATHS: u32 = 256;

fn losses_of(header: &ObjectHeader, object: &ObjectRef, path: &str) -> Vec<Error> {
    let of_header = |text: &String| object.file.at(object.addr, Error::malformed(format!("{path}: {text}")));
    header.losses.iter().map(of_header).collect()
}

fn sort_of(header: &ObjectHeader) -> ObjectSort {
    let has = |wanted: u16| header.find(wanted).is_some();
    match (has(kind::DATATYPE), has(kind::DATASPACE) || has(kind::LAYOUT)) {
        (true, true) => ObjectSort::Dataset,
        (true, false) => ObjectSort::Type,
        (false, _)
            if [kind::SYMBOL_TABLE, kind::LINK_INFO, kind::LINK, kind::GROUP_INFO].into_iter().any(has) =>
        {
            ObjectSort::Group
        }
        (false, true) => ObjectSort::Dataset,
        (false, false) => ObjectSort::Unknown,
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
