//! Following links: soft ones by path, external ones into other files of the same store.
use super::{LinkTarget, links};
use crate::file::Hdf5File;
use crate::object::ObjectRef;
use crate::superblock::load;
use ncirrus_layout::{Error, ErrorKind, ObjectId, Stall, Step, View, settle};
use std::sync::Arc;

/// The target of a link of `group`; at most 16 links are followed.
pub(crate) fn follow(view: &dyn View, group: &ObjectRef, target: &LinkTarget) -> Step<ObjectRef> {
    let mut walk = PathWalk::new(group);
    walk.pass(view, target)?;
    walk.finish(view)
}

/// The object at a path, from the root when it begins with `/`, else from `start`.
pub(crate) fn lookup(view: &dyn View, start: &ObjectRef, path: &str) -> Step<ObjectRef> {
    let mut walk = PathWalk::new(start);
    walk.turn(path);
    walk.finish(view)
}

/// The objects that a file name in `file` may refer to, in order of preference: the name relative to the folder of
/// `file`, then its last segment there. A name that leads out of the store is invalid.
pub(crate) fn external_candidates(file: &Hdf5File, name: &str) -> Vec<ObjectId> {
    let key = file.object.key();
    let folder: Vec<&str> =
        key.rsplit_once('/').map_or(Vec::new(), |(folder, _)| folder.split('/').collect());
    let relative = if name.starts_with('/') || name.contains("://") { None } else { below(&folder, name) };
    let last = name.rsplit('/').next().and_then(|last| below(&folder, last));
    let mut keys: Vec<String> = relative.into_iter().chain(last).collect();
    keys.dedup();
    keys.into_iter().map(|key| ObjectId::new(file.object.store.clone(), key)).collect()
}

/// The key of a path relative to a folder, unless it leads above the first folder or is empty.
fn below(folder: &[&str], path: &str) -> Option<String> {
    let mut key = folder.to_vec();
    for segment in path.split('/') {
        match segment {
            "" | "." => {}
            ".." => _ = key.pop()?,
            name => key.push(name),
        }
    }
    let is_name = !matches!(path.rsplit('/').next(), None | Some("" | "." | ".."));
    is_name.then(|| key.join("/"))
}

/// A walk along a path.
#[derive(Debug)]
struct PathWalk {
    at: ObjectRef,
    /// Names still to be resolved, the next one last.
    ahead: Vec<String>,
    /// Links followed, except hard ones.
    passed: usize,
}

impl PathWalk {
    fn new(start: &ObjectRef) -> Self {
        Self { at: start.clone(), ahead: Vec::new(), passed: 0 }
    }

    /// Prepends a path to the remaining names.
    fn turn(&mut self, path: &str) {
        if path.starts_with('/') {
            self.at = ObjectRef { addr: self.at.file.root, file: Arc::clone(&self.at.file) };
        }
        let names = path.split('/').filter(|name| !matches!(*name, "" | "."));
        self.ahead.extend(names.rev().map(str::to_owned));
    }

    fn finish(mut self, view: &dyn View) -> Step<ObjectRef> {
        while let Some(name) = self.ahead.pop() {
            let links = links(view, &self.at)?;
            let missing = || {
                let file = &self.at.file;
                file.at(self.at.addr, Error::not_found(format!("no link {name:?} in the group")))
            };
            let target = &links.find(&name).ok_or_else(missing)?.target;
            self.pass(view, target)?;
        }
        Ok(self.at)
    }

    /// Follows a link of the current group.
    fn pass(&mut self, view: &dyn View, target: &LinkTarget) -> Step<()> {
        if let LinkTarget::Hard(addr) = target {
            self.at.addr = *addr;
            return Ok(());
        }
        self.passed += 1;
        if self.passed > MAX_LINKS {
            let message =
                format!("more than {MAX_LINKS} links lead from one to the next: they may form a cycle");
            return Err(self.at.file.at(self.at.addr, Error::limit(message)).into());
        }
        match target {
            LinkTarget::Hard(_) => {}
            LinkTarget::Soft(path) => self.turn(path),
            LinkTarget::External { file, path } => {
                let file = open(view, &self.at.file, file)?;
                self.at = ObjectRef { addr: file.root, file };
                self.turn(path);
            }
            LinkTarget::Unknown(kind) => {
                return Err(Error::unsupported(format!("following links of type {kind}")).into());
            }
        }
        Ok(())
    }
}

/// The file of that name, seen from another: the first candidate that exists.
fn open(view: &dyn View, from: &Hdf5File, name: &str) -> Step<Arc<Hdf5File>> {
    for candidate in external_candidates(from, name) {
        match settle(load(view, &candidate)).map_err(Stall::Need)? {
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            other => return Ok(other?),
        }
    }
    Err(Error::not_found(format!("no file {name:?} beside this one")).at_object(&from.object).into())
}

/// Maximum number of links that are not hard on one walk, as in the HDF5 library.
const MAX_LINKS: usize = 16;

#[cfg(test)]
mod tests;
