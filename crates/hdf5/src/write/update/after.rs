//! Changing a file that this handle has just created: all of it is known already.
use super::additions::AcceptedAdditions;
use super::{ExistingStorage, FileUpdate, KnownObjects, PendingWrites};
use crate::address::FileAddress;
use crate::write::heap::HeapBuilder;
use crate::write::objects::{FileObject, SIZES, dimension_ids};
use crate::write::placer::{Hdf5Writer, HeldElements, StorageForm};
use crate::write::space::SpaceAllocator;
use ncirrus_layout::ObjectId;
use ncirrus_model::{Model, VarId};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// A newly created file.
#[derive(Debug)]
pub(crate) struct MadeFile {
    pub(crate) root: ObjectId,
    pub(crate) choices: Hdf5Writer,
    pub(crate) model: Model,
    /// The locations of the objects.
    pub(crate) addrs: HashMap<FileObject, FileAddress>,
    /// Each variable's form, and where contiguous data begin.
    pub(crate) forms: Vec<(VarId, StorageForm, Option<FileAddress>)>,
    pub(crate) space: SpaceAllocator,
}

impl FileUpdate {
    /// Continues with a newly created file.
    pub(crate) fn after(made: MadeFile) -> Self {
        let MadeFile { root, choices, model, addrs, forms, space } = made;
        let (mut pending_writes, mut existing_storage) = (HashMap::new(), HashMap::new());
        for (id, form, run) in forms {
            let (path, shape) = (model.variable_path(id), model.shape(id));
            if let Some(addr) = addrs.get(&FileObject::Variable(id)).copied() {
                existing_storage
                    .insert(id, ExistingStorage { addr, run, implicit: false, shape: shape.clone() });
            }
            // Everything is in the file already; what is written from now on is held until the next commit.
            let held = HeldElements::nothing(form.arranged);
            pending_writes.insert(id, PendingWrites { form, held, path, shape, late: BTreeMap::new() });
        }
        let root_group = addrs.get(&FileObject::Group(model.root())).copied().unwrap_or(FileAddress(0));
        let paths = Arc::new(paths(&model, &addrs));
        let known = KnownObjects { addrs, ids: dimension_ids(&model) };
        Self {
            root,
            choices,
            model,
            known,
            pending_writes,
            existing_storage,
            refused: HashMap::new(),
            paths,
            base: 0,
            sizes: SIZES,
            root_group,
            space,
            heap: HeapBuilder::new(SIZES),
            planned: None,
            accepted: AcceptedAdditions::default(),
        }
    }
}

/// The targets of object references.
fn paths(model: &Model, addrs: &HashMap<FileObject, FileAddress>) -> HashMap<FileAddress, String> {
    let path = |object: &FileObject| match object {
        FileObject::Group(id) => Some(model.group_path(*id)),
        FileObject::Variable(id) => Some(model.variable_path(*id)),
        FileObject::Type(id) => Some(model.type_path(*id)),
        FileObject::Dimension(_) => None,
    };
    addrs.iter().filter_map(|(object, addr)| Some((*addr, path(object)?))).collect()
}
