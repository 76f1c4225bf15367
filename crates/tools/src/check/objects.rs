//! The objects of a dataset that is a tree: which exist, and which belong to nothing.
use super::is_of_data;
use super::report::{CheckFinding, FindingCode, Findings, Severity, code_of};
use crate::places::{KeysOptions, keys};
use ncirrus::internals::DatasetInternals;
use ncirrus::{Dataset, Model, ObjectId, Result, Session};
use ncirrus_layout::{ObjectBytes, Want};
use ncirrus_store::{Opened, Store};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// The objects in the place of a dataset.
pub(super) struct StoredObjects {
    store: Arc<dyn Store>,
    root: ObjectId,
    url: String,
    /// Keys relative to the dataset that nothing has named yet; `None` if they cannot be listed, are too many, or the
    /// dataset is one object.
    unnamed: Option<BTreeSet<String>>,
    /// Whether there are more keys than are compared.
    is_too_many: bool,
    /// Keys of chunks that exist.
    sizes: HashMap<ObjectId, Option<u64>>,
    /// The store again, if it is a zip file.
    zip: Option<Opened>,
    zip_keys: Vec<String>,
}

/// Keys that are compared; a dataset with more is not searched for objects that belong to nothing.
const MAX_KEYS: usize = 4 << 20;
/// Names of metadata objects of Zarr and NCZarr.
const METADATA: [&str; 11] = [
    "zarr.json",
    ".zgroup",
    ".zarray",
    ".zattrs",
    ".zmetadata",
    ".nczarr",
    ".ncz",
    ".nczgroup",
    ".nczarray",
    ".nczattr",
    ".nczvar",
];

impl StoredObjects {
    pub(super) fn new(dataset: &Dataset, url: &str, session: &Session) -> Result<Self> {
        let reader = dataset.reader()?;
        let (store, root) = (Arc::clone(reader.store()), reader.root().clone());
        let mut found = Self {
            store,
            root,
            url: url.to_owned(),
            unnamed: None,
            is_too_many: false,
            sizes: HashMap::new(),
            zip: None,
            zip_keys: Vec::new(),
        };
        // A repository also has the objects of other states.
        let is_whole = reader.driver().name() != "icechunk";
        if is_whole && dataset.kind().is_zarr() && found.store.facts().lists {
            found.list(session)?;
        }
        Ok(found)
    }

    fn list(&mut self, session: &Session) -> Result<()> {
        let mut listed = BTreeSet::new();
        for key in keys(&self.url, &KeysOptions::default(), session)? {
            let key = key?;
            if key.is_named {
                listed.insert(key.key);
            }
            if listed.len() > MAX_KEYS {
                self.is_too_many = true;
                return Ok(());
            }
        }
        let opened =
            session.wait_for_store(&self.url, ncirrus_store::open(&self.url, session.store_context()))?;
        if opened.container.is_some() {
            self.zip_keys = listed.iter().cloned().collect();
            self.zip = Some(opened);
        }
        self.unnamed = Some(listed);
        Ok(())
    }

    /// The key of an object relative to the dataset.
    fn relative<'o>(&self, object: &'o ObjectId) -> Option<&'o str> {
        let rest = object.key().strip_prefix(self.root.key())?;
        Some(rest.strip_prefix('/').unwrap_or(rest))
    }

    /// Notes that an object belongs to a member. Whether it exists; `None` if that is not known.
    pub(super) fn name(&mut self, object: &ObjectId) -> Option<bool> {
        if object.store != self.root.store {
            return None;
        }
        let key = self.relative(object)?;
        self.unnamed.as_mut().map(|unnamed| unnamed.remove(key))
    }

    /// The object that is the dataset, if it is one object.
    pub(super) fn root(&self) -> &ObjectId {
        &self.root
    }

    /// Bytes of an object; `None` if there is no such object.
    pub(super) fn size(&mut self, dataset: &Dataset, object: &ObjectId) -> Result<Option<u64>> {
        if let Some(size) = self.sizes.get(object) {
            return Ok(*size);
        }
        let size = match self.store.local() {
            Some(local) => local.stat(object)?.map(|(size, _)| size),
            None => {
                let none = Want::Range(0..0);
                let head = dataset.session().wait_for_store(&self.url, self.store.get(object, &none))?;
                head.map(|head| head.size)
            }
        };
        self.sizes.insert(object.clone(), size);
        Ok(size)
    }

    /// The first or last `len` bytes of an object, and its size; `None` if the object does not exist.
    pub(super) fn end_of(
        &mut self,
        dataset: &Dataset,
        object: &ObjectId,
        len: u64,
        is_first: bool,
    ) -> Result<Option<ObjectBytes>> {
        let want = if is_first { Want::Range(0..len) } else { Want::Suffix(len) };
        let found = dataset.session().wait_for_store(&self.url, self.store.get(object, &want))?;
        self.sizes.insert(object.clone(), found.as_ref().map(|found| found.size));
        Ok(found)
    }

    /// Reports objects that belong to no member.
    pub(super) fn check_unnamed(&self, model: &Model, findings: &mut Findings) {
        if self.is_too_many {
            let message = format!(
                "the dataset has more than {MAX_KEYS} objects: whether each belongs to a member was not checked"
            );
            findings.note(FindingCode::LimitReached, Severity::Warning, "/", message);
        }
        let damaged: Vec<String> = damaged_members(model);
        for key in self.unnamed.iter().flatten() {
            let name = key.rsplit_once('/').map_or(key.as_str(), |(_, name)| name);
            let of_damaged = damaged.iter().any(|path| {
                key.strip_prefix(path.as_str()).is_some_and(|rest| path.is_empty() || rest.starts_with('/'))
            });
            if METADATA.contains(&name) && is_of_member(model, key) || of_damaged {
                continue;
            }
            let message = "the object does not belong to a member of the dataset";
            findings.note(FindingCode::ObjectUnnamed, Severity::Warning, key.as_str(), message);
        }
    }

    /// Reads every entry of a zip file, which verifies its checksum: parts of entries are read without.
    pub(super) fn check_zip(&self, session: &Session, findings: &mut Findings) -> Result<()> {
        let Some(opened) = &self.zip else { return Ok(()) };
        let max = (session.memory() / 2) as u64;
        for key in &self.zip_keys {
            let object = opened.root.child(key);
            let want = Want::AtMost(max);
            if let Err(error) = session.wait_for_store(&self.url, opened.store.get(&object, &want)) {
                if !is_of_data(&error) {
                    return Err(error);
                }
                findings.add(CheckFinding {
                    object: Some(object.to_string()),
                    ..CheckFinding::new(code_of(&error), Severity::Error, key.as_str(), error.message())
                });
            }
        }
        Ok(())
    }
}

/// Keys of members that cannot be read: nothing is said about the objects below them.
fn damaged_members(model: &Model) -> Vec<String> {
    let key = |path: String| path.trim_matches('/').to_owned();
    let groups = model
        .walk()
        .into_iter()
        .filter(|group| model.group(*group).is_some_and(|group| group.fault.is_some()));
    let groups: Vec<String> = groups.map(|group| key(model.group_path(group))).collect();
    let vars = model
        .variables()
        .into_iter()
        .filter(|var| model.variable(*var).is_some_and(|variable| variable.fault.is_some()));
    groups.into_iter().chain(vars.map(|var| key(model.variable_path(var)))).collect()
}

/// Whether a metadata object is in the folder of a group or variable.
fn is_of_member(model: &Model, key: &str) -> bool {
    let folder = key.rsplit_once('/').map_or("", |(folder, _)| folder);
    let path = format!("/{folder}");
    folder.is_empty() || model.group_at(&path).is_some() || model.variable_at(&path).is_some()
}
