//! Changing a file that this handle has just made: all is known already.
use super::{Known, Stand, Track, Update};
use crate::file::Addr;
use crate::write::heap::HeapBuilder;
use crate::write::objects::{Object, SIZES, dimension_ids};
use crate::write::placer::{Form, Hdf5Writer, Held};
use crate::write::space::Space;
use ncirrus_layout::ObjectId;
use ncirrus_model::{Model, VarId};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// A file that was made.
#[derive(Debug)]
pub(crate) struct Made {
    pub(crate) root: ObjectId,
    pub(crate) choices: Hdf5Writer,
    pub(crate) model: Model,
    /// Where the objects are.
    pub(crate) addrs: HashMap<Object, Addr>,
    /// Each variable's form, and where data in one run begin.
    pub(crate) forms: Vec<(VarId, Form, Option<Addr>)>,
    pub(crate) space: Space,
}

impl Update {
    /// Goes on with a file that was made.
    pub(crate) fn after(made: Made) -> Self {
        let Made { root, choices, model, addrs, forms, space } = made;
        let (mut tracks, mut stands) = (HashMap::new(), HashMap::new());
        for (id, form, run) in forms {
            let (path, shape) = (model.variable_path(id), model.shape(id));
            if let Some(addr) = addrs.get(&Object::Variable(id)).copied() {
                stands.insert(id, Stand { addr, run, implicit: false, shape: shape.clone() });
            }
            let held = Held::nothing(form.arranged);
            tracks.insert(id, Track { form, held, path, shape, late: BTreeMap::new() });
        }
        let root_group = addrs.get(&Object::Group(model.root())).copied().unwrap_or(Addr(0));
        let paths = Arc::new(paths(&model, &addrs));
        let known = Known { addrs, ids: dimension_ids(&model) };
        Self {
            root,
            choices,
            model,
            known,
            tracks,
            stands,
            refused: HashMap::new(),
            paths,
            base: 0,
            sizes: SIZES,
            root_group,
            space,
            heap: HeapBuilder::new(SIZES),
            planned: None,
        }
    }
}

/// What references to objects lead to.
fn paths(model: &Model, addrs: &HashMap<Object, Addr>) -> HashMap<Addr, String> {
    let path = |object: &Object| match object {
        Object::Group(id) => Some(model.group_path(*id)),
        Object::Variable(id) => Some(model.variable_path(*id)),
        Object::Type(id) => Some(model.type_path(*id)),
        Object::Dimension(_) => None,
    };
    addrs.iter().filter_map(|(object, addr)| Some((*addr, path(object)?))).collect()
}
