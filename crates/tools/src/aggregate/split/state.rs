//! The state file by which the next run recognises an interrupted one.
use super::super::names::{folder_of, join};
use super::{MasterOptions, SplitOptions};
use ncirrus::{Dataset, Error, Result, Session};
use ncirrus_layout::{ErrorKind, ObjectId, Want};
use ncirrus_store::{DirectoryStore, PutCondition, Scheme, Store, Url};
use serde_json::json;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

/// The options of a run, in a file among the fragments until the master exists.
pub(super) struct SplitState(String);

/// Its name: hidden, and not a dataset.
const NAME: &str = ".ncirrus-split.json";

impl SplitState {
    /// The options of a run: source, target and settings.
    pub(super) fn of(
        source: &Dataset,
        target: &str,
        options: &SplitOptions<'_>,
        master: &MasterOptions,
        session: &Session,
    ) -> Result<Self> {
        let mut definitions = DefaultHasher::new();
        format!("{:?}", source.model()?).hash(&mut definitions);
        let choices = json!({
            "source": source.url(),
            "definitions": definitions.finish(),
            "state": state_of(source.url(), session),
            "target": target,
            "max_size": options.max_size,
            "shape": options.shape,
            "like_s3netcdf4": options.like_s3netcdf4,
            "fragments": format!("{:?}", options.fragment_kind),
            "master": format!("{:?}", master.kind_for(target)),
        });
        Ok(Self(choices.to_string()))
    }

    /// Begins a run, or continues one with the same options: returns whether there was one. Folders are created as
    /// needed.
    ///
    /// # Errors
    /// `Conflict` if a run with other options was begun there, or fragments of something else exist.
    pub(super) fn begin(&self, folder: &str, base: &str, session: &Session) -> Result<bool> {
        let (store, root) = place(folder, session)?;
        let object = root.child(NAME);
        let found = session.wait_for_store(folder, store.get(&object, &Want::All))?;
        match found {
            Some(found) if found.bytes == self.0.as_bytes() => Ok(true),
            Some(_) => {
                let message = "the folder contains an unfinished split with other options: remove the folder, or repeat that command";
                Err(Error::new(ErrorKind::Conflict, message).at_object(join(folder, NAME)))
            }
            None => {
                check_empty((&*store, &root), (folder, base), session)?;
                let body = self.0.clone().into_bytes().into();
                session.wait_for_store(folder, store.put(&object, body, PutCondition::Absent))?;
                Ok(false)
            }
        }
    }

    /// Ends a run.
    pub(super) fn end(folder: &str, session: &Session) -> Result<()> {
        let (store, root) = place(folder, session)?;
        session.wait_for_store(folder, store.delete(&root.child(NAME)))
    }
}

/// Fragments that do not come from an earlier run may belong to a dataset in use.
fn check_empty(
    (store, root): (&dyn Store, &ObjectId),
    (folder, base): (&str, &str),
    session: &Session,
) -> Result<()> {
    let mut page: Option<String> = None;
    loop {
        let listing = session.wait_for_store(folder, store.list(root, page.as_deref()))?;
        let is_fragment = |name: &str| name.strip_prefix(base).is_some_and(|rest| rest.starts_with('.'));
        if let Some(entry) = listing.entries.iter().find(|entry| is_fragment(&entry.name)) {
            let message = "a fragment already exists: choose another folder, or remove the old fragments";
            return Err(Error::new(ErrorKind::Conflict, message).at_object(join(folder, &entry.name)));
        }
        page = listing.next;
        if page.is_none() {
            return Ok(());
        }
    }
}

/// The folder with the state file, beside the fragments.
fn place(folder: &str, session: &Session) -> Result<(Arc<dyn Store>, ObjectId)> {
    let url = Url::parse(folder)?;
    let (store, root): (Arc<dyn Store>, ObjectId) = match url.scheme() {
        Scheme::File => {
            make(url.path())?;
            let store = DirectoryStore::new(url.path());
            let root = store.root();
            (store.shared(), root)
        }
        Scheme::Memory => {
            let store = session.store_context().memory.create(url.host());
            let root = store.root().child(&url.memory_key());
            (store.shared(), root)
        }
        _ => {
            let opened =
                session.wait_for_store(folder, ncirrus_store::open_url(&url, session.store_context()))?;
            (opened.store, opened.root)
        }
    };
    Ok((store, root))
}

/// Creates the folder for a local file, or the store in memory.
pub(in crate::aggregate) fn make_folder(address: &str, session: &Session) -> Result<()> {
    let url = Url::parse(address)?;
    match url.scheme() {
        Scheme::File => make(folder_of(url.path())),
        Scheme::Memory => {
            session.store_context().memory.create(url.host());
            Ok(())
        }
        _ => Ok(()),
    }
}

fn make(folder: &str) -> Result<()> {
    if folder.is_empty() {
        return Ok(());
    }
    std::fs::create_dir_all(folder).map_err(|error| {
        Error::new(ErrorKind::Denied, "the folder cannot be created").at_object(folder).because(error)
    })
}

/// Identifies the state of a single file: size and tag.
fn state_of(url: &str, session: &Session) -> Option<String> {
    let opened = session.wait_for_store(url, ncirrus_store::open(url, session.store_context())).ok()?;
    let blob = session.wait_for_store(url, opened.store.get(&opened.root, &Want::Range(0..1))).ok()??;
    Some(format!("{} {:?}", blob.size, blob.tag))
}
