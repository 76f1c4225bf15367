//! The objects named in a reference file.
use crate::StoreContext;
use crate::store::StoreFacts;
use crate::targets::{ChosenBy, TargetOpener, TargetPlace, local_file};
use crate::url::{Scheme, Url};
use ncirrus_layout::{Error, LockExt, ObjectId, Result, StoreId};
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock};

/// The objects named in a reference file; opened on demand, those of one folder by one store.
pub(super) struct ReferenceTargets {
    names: Mutex<TargetNames>,
    opener: TargetOpener,
}

/// The objects by their numbers; their number grows when references are read in parts.
struct TargetNames {
    list: Vec<Arc<ReferenceTarget>>,
    /// Numbers of the names that were added later.
    known: HashMap<Arc<str>, u32>,
    /// Remaining budget for bytes of names.
    left: u64,
}

struct ReferenceTarget {
    name: Arc<str>,
    /// Its name in the store of the reference file.
    object: OnceLock<ObjectId>,
    place: OnceLock<Result<TargetPlace>>,
}

impl fmt::Debug for ReferenceTargets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Targets({} objects, named in {})", self.names.guard().list.len(), self.opener.base)
    }
}

impl ReferenceTargets {
    pub(super) fn new(names: &[String], base: &Url, context: &StoreContext) -> Self {
        let list = names.iter().map(|name| Arc::new(ReferenceTarget::new(name.as_str().into()))).collect();
        let names = TargetNames { list, known: HashMap::new(), left: context.options.limits.metadata_bytes };
        Self { names: Mutex::new(names), opener: TargetOpener::new(base.clone(), context) }
    }

    /// The number of the object of that name, which is added if it is new.
    ///
    /// # Errors
    /// `Limit` if the names are too long together.
    pub(super) fn intern(&self, name: &str) -> Result<u32> {
        let mut names = self.names.guard();
        if let Some(known) = names.known.get(name) {
            return Ok(*known);
        }
        let left = names.left.checked_sub(name.len() as u64);
        names.left = left.ok_or_else(|| Error::limit("the names in references are too long together"))?;
        let number = u32::try_from(names.list.len());
        let number = number.map_err(|_| Error::limit("references name more than 2^32 objects"))?;
        let target = Arc::new(ReferenceTarget::new(name.into()));
        names.known.insert(Arc::clone(&target.name), number);
        names.list.push(target);
        Ok(number)
    }

    /// The name of an object, for messages, without secrets.
    pub(super) fn name(&self, target: u32) -> String {
        let Some(target) = self.find(target) else { return String::new() };
        Url::parse(&target.name).map_or_else(|_| target.name.to_string(), |url| url.to_string())
    }

    /// The name of an object as it is written.
    pub(super) fn written_name(&self, target: u32) -> String {
        self.find(target).map(|target| target.name.to_string()).unwrap_or_default()
    }

    /// The object in the store of the reference file that represents a whole object elsewhere: no key, and as query
    /// the number, and the name for messages.
    pub(super) fn object(&self, target: u32, store: &StoreId) -> Option<ObjectId> {
        let make = || ObjectId::new(store.clone(), "").with_query(format!("{target}={}", self.name(target)));
        Some(self.find(target)?.object.get_or_init(make).clone())
    }

    /// The number of the object that it represents.
    pub(super) fn number(&self, object: &ObjectId) -> Option<u32> {
        let (number, _) = object.query()?.split_once('=')?;
        number.parse().ok().filter(|_| object.key().is_empty())
    }

    /// The facts about the store of the first object that can be reached.
    pub(super) fn facts(&self) -> Option<StoreFacts> {
        let first = self.names.guard().list.iter().position(|target| !target.name.is_empty())?;
        self.get(u32::try_from(first).ok()?).ok().map(|(store, _)| store.facts())
    }

    /// Where an object is stored.
    ///
    /// # Errors
    /// `Denied` if it may not be accessed from the location of the file, otherwise errors of opening its store.
    pub(super) fn get(&self, target: u32) -> Result<TargetPlace> {
        let found = self.find(target).ok_or_else(|| Error::internal("a reference to no object"))?;
        found.place.get_or_init(|| self.open(&found.name)).clone()
    }

    fn find(&self, target: u32) -> Option<Arc<ReferenceTarget>> {
        self.names.guard().list.get(usize::try_from(target).ok()?).cloned()
    }

    fn open(&self, name: &str) -> Result<TargetPlace> {
        let url = self.resolve(name)?;
        // Local files must not be accessible to the authors of remote files.
        let TargetOpener { base, context, .. } = &self.opener;
        let is_near = TargetOpener::is_near;
        if is_near(&url) && !is_near(base) && !context.options.local_references {
            return Err(local_file("the reference file", name));
        }
        self.opener.open(name, &url, ChosenBy::Dataset, true)
    }

    /// The address of a name: relative ones are relative to the reference file.
    fn resolve(&self, name: &str) -> Result<Url> {
        let url = Url::of_plain_name(name)?;
        let begins_anew = name.starts_with(['/', '\\']) || name.starts_with("file:");
        let is_drive = cfg!(windows) && std::path::Path::new(name).is_absolute();
        let is_relative = url.scheme() == Scheme::File && !begins_anew && !is_drive;
        if is_relative { beside(&self.opener.base, name) } else { Ok(url) }
    }
}

impl ReferenceTarget {
    fn new(name: Arc<str>) -> Self {
        Self { name, object: OnceLock::new(), place: OnceLock::new() }
    }
}

/// The address of a relative name in a file.
///
/// # Errors
/// `Invalid` when the name leads above the root.
fn beside(file: &Url, name: &str) -> Result<Url> {
    let path = file.path().trim_end_matches('/');
    let (folder, _) = path.rsplit_once('/').unwrap_or(("", path));
    let root = if path.starts_with('/') { "/" } else { "" };
    let name = if file.is_http() { name.into() } else { file.written_key(name) };
    let mut segments: Vec<&str> = folder.split('/').filter(|segment| !segment.is_empty()).collect();
    for segment in name.split('/') {
        let above = segments.last().is_some_and(|last| *last != "..");
        match segment {
            "" | "." => {}
            ".." if above => _ = segments.pop(),
            ".." if file.scheme() == Scheme::File && root.is_empty() => segments.push(".."),
            ".." => return Err(Error::invalid(format!("{name:?} leads above {file}"))),
            _ => segments.push(segment),
        }
    }
    Ok(file.beside(format!("{root}{}", segments.join("/"))))
}
