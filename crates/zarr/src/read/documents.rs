//! Metadata objects as parsed documents, from the store or from consolidated metadata.
use crate::json::{self, JsonObject, JsonValue};
use crate::special::{ZARR_JSON, ZMETADATA};
use ncirrus_layout::{Error, ErrorKind, Members, ObjectId, Step, View, Want, settle};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// A document: absent, unreadable, or parsed.
pub(super) type ParsedDocument = Option<Result<Arc<JsonValue>, Error>>;

/// The memo key of parsed documents.
const PARSED: &str = "zarr document";
/// The memo key of split consolidated metadata.
const SPLIT: &str = "zarr consolidated metadata";

/// Reads and parses one metadata object. Damage is part of the result; only failures of the store end the walk.
pub(super) fn read_document(view: &dyn View, object: &ObjectId) -> Step<ParsedDocument> {
    let blob = match settle(view.read(object, Want::All)).map_err(ncirrus_layout::Stall::Need)? {
        Ok(Some(blob)) => blob,
        Ok(None) => return Ok(None),
        Err(error) if is_fatal(&error) => return Err(error.into()),
        Err(error) => return Ok(Some(Err(error.at_object(object)))),
    };
    if let Some(known) = view.memo().find::<Result<Arc<JsonValue>, Error>>(object, Some(&blob.tag), 0, PARSED)
    {
        return Ok(Some(known.as_ref().clone()));
    }
    let parsed =
        json::parse(&blob.bytes, view.limits()).map(Arc::new).map_err(|error| error.at_object(object));
    let cost = blob.bytes.len().saturating_mul(4).saturating_add(200);
    Ok(Some(view.memo().keep(object, Some(&blob.tag), 0, PARSED, parsed, cost).as_ref().clone()))
}

/// Failures that do not concern a single object.
fn is_fatal(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Io { .. } | ErrorKind::Changed | ErrorKind::Internal)
}

/// Consolidated metadata: documents by path of the node (empty for the root) and name of the object.
#[derive(Debug, Default)]
pub(super) struct ConsolidatedMetadata {
    nodes: HashMap<String, Vec<(String, Arc<JsonValue>)>>,
    children: HashMap<String, Vec<String>>,
}

impl ConsolidatedMetadata {
    /// Adds one document, and its node to the children of the groups above it.
    fn add(&mut self, path: &str, name: &str, json: JsonValue) {
        let known = self.nodes.contains_key(path);
        self.nodes.entry(path.to_owned()).or_default().push((name.to_owned(), Arc::new(json)));
        if !known {
            self.add_child(path);
        }
    }

    fn add_child(&mut self, path: &str) {
        let mut path = path;
        while !path.is_empty() {
            let (parent, name) = path.rsplit_once('/').unwrap_or(("", path));
            let is_new = !self.children.contains_key(parent);
            self.children.entry(parent.to_owned()).or_default().push(name.to_owned());
            if !is_new {
                return;
            }
            path = parent;
        }
    }

    fn find(&self, path: &str, name: &str) -> Option<&Arc<JsonValue>> {
        let documents = self.nodes.get(path)?;
        documents.iter().find(|(known, _)| known == name).map(|(_, json)| json)
    }

    /// Splits the members of `metadata`; `split` separates node and object.
    fn split(metadata: &JsonObject, split: impl Fn(&str) -> Option<(&str, &str)>) -> Self {
        let mut all = Self::default();
        for (key, json) in metadata.iter() {
            if let Some((path, name)) = split(key.trim_start_matches('/')) {
                all.add(path, name, json.clone());
            }
        }
        for names in all.children.values_mut() {
            let mut seen = BTreeSet::new();
            names.retain(|name| seen.insert(name.clone()));
        }
        all
    }
}

/// Zarr v2's consolidated metadata, if `.zmetadata` exists and is valid (docs/spec/nczarr.md 3.16).
pub(super) fn consolidated(
    view: &dyn View,
    root: &ObjectId,
    document: Option<&Result<Arc<JsonValue>, Error>>,
) -> Step<Option<Arc<ConsolidatedMetadata>>> {
    let Some(Ok(json)) = document else { return Ok(None) };
    if json.member("record_size").is_some() {
        let message = "references in Parquet, as kerchunk writes them, are not read: write them as JSON";
        return Err(Error::unsupported(message).at_object(root).into());
    }
    let format = json.member("zarr_consolidated_format").and_then(JsonValue::as_u64);
    let (Some(metadata), Some(1)) = (json.member("metadata").and_then(JsonValue::as_object), format) else {
        return Ok(None);
    };
    let split = || {
        let all =
            ConsolidatedMetadata::split(metadata, |key| Some(key.rsplit_once('/').unwrap_or(("", key))));
        (all, metadata.len())
    };
    memoised(view, &root.child(ZMETADATA), split)
}

/// Zarr v3's inline consolidated metadata of a group, if they exist and are valid (`docs/spec/nczarr.md` 6.2).
pub(super) fn inline(
    view: &dyn View,
    root: &ObjectId,
    json: &JsonValue,
) -> Step<Option<Arc<ConsolidatedMetadata>>> {
    let Some(all) = json.member("consolidated_metadata") else { return Ok(None) };
    let is_inline = all.member("kind").and_then(JsonValue::as_str).is_none_or(|kind| kind == "inline");
    let (Some(metadata), true) = (all.member("metadata").and_then(JsonValue::as_object), is_inline) else {
        return Ok(None);
    };
    let split = || (ConsolidatedMetadata::split(metadata, |path| Some((path, ZARR_JSON))), metadata.len());
    memoised(view, &root.child(ZARR_JSON), split)
}

/// The split metadata for the current tag of an object.
fn memoised(
    view: &dyn View,
    object: &ObjectId,
    split: impl FnOnce() -> (ConsolidatedMetadata, usize),
) -> Step<Option<Arc<ConsolidatedMetadata>>> {
    let Some(blob) = view.read(object, Want::All)? else { return Ok(None) };
    if let Some(known) = view.memo().find::<ConsolidatedMetadata>(object, Some(&blob.tag), 0, SPLIT) {
        return Ok(Some(known));
    }
    let (all, count) = split();
    let cost = count.saturating_mul(2000);
    Ok(Some(view.memo().keep(object, Some(&blob.tag), 0, SPLIT, all, cost)))
}

/// Where documents come from: the store, or consolidated metadata.
pub(super) struct DocumentSource<'a> {
    pub(super) view: &'a dyn View,
    pub(super) root: &'a ObjectId,
    consolidated: Option<Arc<ConsolidatedMetadata>>,
    members: Members,
}

impl<'a> DocumentSource<'a> {
    /// Documents below `root`.
    pub(super) fn new(
        view: &'a dyn View,
        root: &'a ObjectId,
        consolidated: Option<Arc<ConsolidatedMetadata>>,
        members: Members,
    ) -> Self {
        Self { view, root, consolidated, members }
    }

    /// Whether consolidated metadata replace all objects.
    pub(super) fn is_consolidated(&self) -> bool {
        self.consolidated.is_some()
    }

    /// Whether consolidated metadata have nodes below a path, so that it is a group even without an object of its own.
    pub(super) fn is_implied_group(&self, path: &str) -> bool {
        self.consolidated.as_ref().is_some_and(|all| all.children.contains_key(path))
    }

    /// The object of a node; the path is relative to the root.
    pub(super) fn object(&self, path: &str) -> ObjectId {
        self.root.child(path)
    }

    /// One document of a node.
    pub(super) fn read(&self, path: &str, name: &str) -> Step<ParsedDocument> {
        match &self.consolidated {
            Some(all) => Ok(all.find(path, name).map(|json| Ok(Arc::clone(json)))),
            None => read_document(self.view, &self.object(path).child(name)),
        }
    }

    /// Whether unlisted members are ignored if a group's own document names members.
    pub(super) fn trusts_names(&self) -> bool {
        self.members == Members::Named && self.consolidated.is_none()
    }

    /// As [`children`](Self::children), depending on whether the group's document names members.
    pub(super) fn unnamed_children(&self, path: &str, are_named: bool) -> Step<Option<Vec<String>>> {
        if are_named && self.trusts_names() { Ok(Some(Vec::new())) } else { self.children(path) }
    }

    /// Names of the members of a node: prefixes only, hidden ones left out. `None` if the store cannot list.
    pub(super) fn children(&self, path: &str) -> Step<Option<Vec<String>>> {
        if let Some(all) = &self.consolidated {
            return Ok(Some(all.children.get(path).cloned().unwrap_or_default()));
        }
        let prefix = self.object(path);
        let mut names = Vec::new();
        let mut page: Option<String> = None;
        loop {
            let listing = self.view.list(&prefix, page.as_deref());
            let listing = match settle(listing).map_err(ncirrus_layout::Stall::Need)? {
                Ok(listing) => listing,
                Err(error) if is_fatal(&error) => return Err(error.into()),
                Err(_) => return Ok(None),
            };
            let prefixes = listing.entries.into_iter().filter(|entry| entry.is_prefix);
            names.extend(prefixes.map(|entry| entry.name).filter(|name| !name.starts_with('.')));
            self.view.limits().count(names.len() as u64, "group")?;
            match listing.next {
                Some(next) if page.as_ref() != Some(&next) => page = Some(next),
                _ => return Ok(Some(names)),
            }
        }
    }
}
