//! The result of opening an address.
use crate::store::Store;
use crate::url::Url;
use ncirrus_layout::ObjectId;
use std::sync::Arc;

/// An opened address.
#[derive(Debug, Clone)]
pub struct Opened {
    /// The store with the bytes.
    pub store: Arc<dyn Store>,
    /// The dataset in it: an object, or the prefix of a tree.
    pub root: ObjectId,
    /// The address, with its modes.
    pub url: Url,
    /// Name of the dataset as `ncdump` prints it.
    pub name: String,
    /// The zip file that holds the dataset, and where it is.
    pub container: Option<(Arc<dyn Store>, ObjectId)>,
    /// What was ignored or refused on opening, for the user's information.
    pub warnings: Vec<String>,
}

impl Opened {
    pub(crate) fn new(store: Arc<dyn Store>, root: ObjectId, url: &Url) -> Self {
        let name = url.name().to_owned();
        Self { store, root, url: url.clone(), name, container: None, warnings: Vec::new() }
    }
}
