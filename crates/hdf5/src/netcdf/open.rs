//! Opening a file: from its bytes to its catalog.
use super::MemberFacts;
use super::assemble::assemble;
use super::catalog::Hdf5Catalog;
use super::describe::{GroupFacts, describe, together};
use super::unshown::unshown;
use super::walk::ObjectTree;
use crate::file::Hdf5File;
use crate::object::ObjectRef;
use crate::superblock::load;
use ncirrus_layout::{ObjectId, Step, View};
use std::sync::Arc;

/// The objects of a file with the contents of their headers.
pub(crate) struct FileObjects {
    pub(crate) file: Arc<Hdf5File>,
    tree: ObjectTree,
    facts: Vec<GroupFacts>,
}

impl FileObjects {
    /// Each group with its members.
    pub(crate) fn groups(&self) -> impl Iterator<Item = (&ObjectRef, Vec<(&ObjectRef, &MemberFacts)>)> {
        self.tree.groups.iter().zip(&self.facts).map(|(group, facts)| {
            let objects = group.members.iter().map(|member| &member.object);
            (&group.object, objects.zip(&facts.members).collect())
        })
    }

    /// For what netCDF-C does not open the file, if there is anything.
    pub(crate) fn refusal(&self) -> Option<&str> {
        self.tree.refusal.as_deref()
    }

    /// A group that does not track in which order its members were created.
    pub(crate) fn untracked_group(&self) -> Option<&str> {
        self.tree.untracked.as_deref()
    }
}

/// Everything known about a file: its catalog, and the objects from which it was built. `hides_references`: variables
/// and attributes of references are left out.
///
/// # Errors
/// A need, or why the file cannot be read.
pub(crate) fn open(
    view: &dyn View,
    root: &ObjectId,
    hides_references: bool,
) -> Step<(Hdf5Catalog, FileObjects)> {
    let file = load(view, root)?;
    let mut tree = ObjectTree::new(&file);
    let walked = tree.walk(view);
    // Known objects are described while the next level is requested.
    let described = describe(view, &tree);
    let ((), facts) = together(walked, described)?;
    let mut catalog = assemble(view, &file, (&mut tree, &facts), hides_references)?;
    catalog.unshown = unshown(&tree, &facts, &catalog);
    Ok((catalog, FileObjects { file, tree, facts }))
}
