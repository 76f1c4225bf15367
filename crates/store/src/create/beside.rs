//! A tree that will replace another one: it is created in a folder below that one, which stays unchanged until the
//! new one is complete.
//!
//! In the folder, documents of the root are stored apart from the rest, so that it is not taken for a dataset. What
//! takes longest, sending the chunks, is finished before anything of the old tree is touched; the rest are copies
//! within the store.
use crate::marker;
use ncirrus_layout::ObjectId;

/// Where a new tree is made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ReplacementTree {
    root: ObjectId,
    folder: ObjectId,
}

/// What an object of the folder will become.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ReplacementPart {
    /// A document of the root.
    Document(ObjectId),
    /// Anything else.
    Other(ObjectId),
}

/// The folder that holds the folders of all writers.
pub(super) const FOLDER: &str = ".ncirrus-new";
const DOCUMENTS: &str = "documents";
const TREE: &str = "tree";
/// Suffix of the names of documents until they belong to the root.
const SUFFIX: &str = ".new";

impl ReplacementTree {
    /// A folder of that name, for a tree that will be at `root`.
    pub(super) fn new(root: &ObjectId, name: &str) -> Self {
        Self { root: root.clone(), folder: root.child(FOLDER).child(name) }
    }

    /// The name of its folder.
    pub(super) fn name(&self) -> &str {
        self.folder.name()
    }

    /// The folder with everything in it.
    pub(super) fn folder(&self) -> &ObjectId {
        &self.folder
    }

    /// The folder of all writers.
    pub(super) fn all(root: &ObjectId) -> ObjectId {
        root.child(FOLDER)
    }

    /// Where an object of the new tree is stored.
    pub(super) fn place_of(&self, object: &ObjectId) -> ObjectId {
        let Some(rest) = below(&self.root, object) else { return object.clone() };
        match rest {
            "" => self.folder.child(TREE),
            name if marker::NAMES.contains(&name) => self.documents().child(&format!("{name}{SUFFIX}")),
            rest => self.folder.child(TREE).child(rest),
        }
    }

    /// The documents of the root.
    pub(super) fn documents(&self) -> ObjectId {
        self.folder.child(DOCUMENTS)
    }

    /// The name that an object among the documents will have.
    pub(super) fn document(name: &str) -> Option<&str> {
        name.strip_suffix(SUFFIX)
    }

    pub(super) fn is_root(&self, object: &ObjectId) -> bool {
        *object == self.root
    }

    /// What an object of the folder will become; `None` for others.
    pub(super) fn part(&self, object: &ObjectId) -> Option<ReplacementPart> {
        let (kind, rest) = below(&self.folder, object)?.split_once('/')?;
        match kind {
            DOCUMENTS => Some(ReplacementPart::Document(self.root.child(Self::document(rest)?))),
            TREE => Some(ReplacementPart::Other(self.root.child(rest))),
            _ => None,
        }
    }

    /// Number of bytes by which keys are longer until the new tree is complete.
    pub(super) fn longer(&self) -> usize {
        self.folder.key().len() - self.root.key().len() + (DOCUMENTS.len() + SUFFIX.len()).max(TREE.len()) + 1
    }
}

/// The rest of a key behind that of a folder.
fn below<'a>(folder: &ObjectId, object: &'a ObjectId) -> Option<&'a str> {
    let rest = object.key().strip_prefix(folder.key()).filter(|_| object.store == folder.store)?;
    if rest.is_empty() || folder.key().is_empty() { Some(rest) } else { rest.strip_prefix('/') }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ncirrus_layout::StoreId;

    #[test]
    fn objects_have_one_place_each_and_come_back() {
        let root = ObjectId::new(StoreId::new("s3://b"), "a/x.zarr");
        let beside = ReplacementTree::new(&root, "7-0a");
        for (name, key, is_document) in [
            (".zgroup", "documents/.zgroup.new", true),
            ("zarr.json", "documents/zarr.json.new", true),
            ("v/.zgroup", "tree/v/.zgroup", false),
            ("v/0.0", "tree/v/0.0", false),
            ("documents/0", "tree/documents/0", false),
        ] {
            let (object, place) = (root.child(name), beside.place_of(&root.child(name)));
            assert_eq!(place.key(), format!("a/x.zarr/.ncirrus-new/7-0a/{key}"));
            let part = if is_document {
                ReplacementPart::Document(object.clone())
            } else {
                ReplacementPart::Other(object.clone())
            };
            assert_eq!(beside.part(&place), Some(part));
            assert_eq!(beside.part(&object), None);
            assert!(place.key().len() - object.key().len() <= beside.longer());
        }
        let other = ObjectId::new(StoreId::new("s3://b"), "a/x.zarr2/v");
        assert_eq!(beside.place_of(&other), other);
    }
}
