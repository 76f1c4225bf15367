//! From the root of a repository to the snapshot that is shown: steps that request objects.
use crate::config;
use crate::envelope;
use crate::id::ObjectName;
use crate::repo_info::{RepoInfo, SnapshotInfo};
use crate::snapshot::Snapshot;
use crate::state::{MAIN, StateChoice};
use crate::time;
use ncirrus_layout::{
    Confidence, Error, ErrorKind, NamedKind, ObjectBytes, ObjectId, OutsideContainer, Result, Stall, Step,
    View, Want, both, join, settle,
};
use std::sync::Arc;

/// The entry point of spec version 2.
pub(crate) const REPO: &str = "repo";
/// Objects of which either shows that a dataset is Zarr and no repository.
const ZARR: [&str; 2] = ["zarr.json", ".zmetadata"];
/// Kinds of finished parts that are kept.
const REPO_INFO: &str = "icechunk repository";
const SNAPSHOT: &str = "icechunk snapshot";
/// Maximum number of snapshots that are read one after the other, to find the one of a time.
pub(crate) const MAX_WALK: usize = 10_000;
/// Maximum number of names in an error message.
const SHOWN_NAMES: usize = 12;

/// The snapshot that is shown, and why.
#[derive(Debug, Clone)]
pub(crate) struct ChosenSnapshot {
    pub(crate) id: ObjectName,
    /// What the address named it by, such as `("branch", "main")`.
    pub(crate) reason: (&'static str, String),
}

/// How certain it is that an object is a repository (docs/spec/icechunk-format.md, "Which version"). If the name does not
/// state another format, `repo` is requested together with the objects that show that there is Zarr. All other objects of a
/// repository are requested only if there is neither.
///
/// # Errors
/// As [`Driver::probe`](ncirrus_layout::Driver::probe).
pub(crate) fn probe(view: &dyn View, root: &ObjectId) -> Step<Confidence> {
    let zarr = || join(ZARR, |name| is_there(view, &root.child(name)));
    let repo = || document(view, &root.child(REPO));
    let main = || document(view, &ref_object(root, "branch", MAIN));
    let (zarr, early) = match NamedKind::of(root) {
        Some(NamedKind::File | NamedKind::Zarr) => (zarr()?, None),
        Some(NamedKind::Repository) => {
            let (zarr, found) = both(zarr(), both(repo(), main()))?;
            (zarr, Some(found))
        }
        None => {
            let (zarr, repo) = both(zarr(), repo())?;
            // Spec version 1 has no such object.
            let main = if repo.is_some() || zarr.contains(&true) { None } else { main()? };
            (zarr, Some((repo, main)))
        }
    };
    if zarr.contains(&true) {
        return Ok(Confidence::No);
    }
    let found = match early {
        Some(found) => found,
        None => both(repo(), main())?,
    };
    Ok(match found {
        (Some(repo), _) if envelope::begins_well(&repo.bytes) => Confidence::Yes,
        (None, Some(_)) => Confidence::Yes,
        _ => Confidence::No,
    })
}

fn is_there(view: &dyn View, object: &ObjectId) -> Step<bool> {
    Ok(settle(view.read(object, Want::All)).map_err(Stall::Need)?.is_ok_and(|found| found.is_some()))
}

/// An object of a repository; `None` if it is absent or cannot be one.
fn document(view: &dyn View, object: &ObjectId) -> Step<Option<ObjectBytes>> {
    match settle(view.read(object, Want::All)).map_err(Stall::Need)? {
        Ok(found) => Ok(found),
        Err(error) if is_fatal(error.kind()) => Err(error.into()),
        // What is below an object that is a file, for example.
        Err(_) => Ok(None),
    }
}

/// Failures that do not only mean that an object does not belong to a repository.
fn is_fatal(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::Io { .. } | ErrorKind::Changed | ErrorKind::Internal | ErrorKind::Limit)
}

/// The object that holds a branch or tag in spec version 1.
pub(crate) fn ref_object(root: &ObjectId, kind: &str, name: &str) -> ObjectId {
    root.child(&format!("refs/{kind}.{name}/ref.json"))
}

/// What `repo` says; `None` for spec version 1.
///
/// # Errors
/// A need; `Malformed`, `Unsupported` or `Limit` for what cannot be read; `Denied` if the repository is offline.
pub(crate) fn repo_info(view: &dyn View, root: &ObjectId) -> Step<Option<Arc<RepoInfo>>> {
    let object = root.child(REPO);
    let Some(blob) = view.read(&object, Want::All)? else { return Ok(None) };
    if let Some(known) = view.memo().find::<RepoInfo>(&object, Some(&blob.tag), 0, REPO_INFO) {
        return Ok(Some(known));
    }
    let info = RepoInfo::parse(&blob.bytes, view.limits()).map_err(|error| error.at_object(&object))?;
    if let Some(reason) = &info.offline {
        let reason = if reason.is_empty() { String::new() } else { format!(": {reason}") };
        let message = format!("the repository is offline{reason}");
        return Err(Error::new(ErrorKind::Denied, message).at_object(&object).into());
    }
    let cost = blob.bytes.len().saturating_mul(4);
    Ok(Some(view.memo().keep(&object, Some(&blob.tag), 0, REPO_INFO, info, cost)))
}

/// A snapshot.
///
/// # Errors
/// A need; `NotFound` if it does not exist; `Malformed`, `Unsupported` or `Limit` for what cannot be read.
pub(crate) fn snapshot(view: &dyn View, root: &ObjectId, id: ObjectName) -> Step<Arc<Snapshot>> {
    let object = root.child(&format!("snapshots/{id}"));
    let Some(blob) = view.read(&object, Want::All)? else {
        return Err(Error::not_found(format!("no snapshot {id}")).at_object(&object).into());
    };
    if let Some(known) = view.memo().find::<Snapshot>(&object, Some(&blob.tag), 0, SNAPSHOT) {
        return Ok(known);
    }
    let parsed = Snapshot::parse(&blob.bytes, view.limits()).map_err(|error| error.at_object(&object))?;
    if parsed.id != id {
        return Err(Error::malformed(format!("the file holds snapshot {}", parsed.id))
            .at_object(&object)
            .into());
    }
    let cost = parsed.byte_len();
    Ok(view.memo().keep(&object, Some(&blob.tag), 0, SNAPSHOT, parsed, cost))
}

/// The containers of virtual chunks that the configuration names.
///
/// # Errors
/// A need; damage of the configuration.
pub(crate) fn containers(
    view: &dyn View,
    root: &ObjectId,
    info: Option<&RepoInfo>,
) -> Step<Vec<OutsideContainer>> {
    if let Some(info) = info {
        let Some(bytes) = &info.config else { return Ok(Vec::new()) };
        return Ok(config::containers_in(bytes, view.limits()).map_err(|error| {
            error.reworded(|text| format!("configuration: {text}")).at_object(root.child(REPO))
        })?);
    }
    let object = root.child("config.yaml");
    let Some(blob) = view.read(&object, Want::All)? else { return Ok(Vec::new()) };
    Ok(config::containers_in_yaml(&blob.bytes, view.limits()).map_err(|error| error.at_object(&object))?)
}

/// Which snapshot an address names.
///
/// # Errors
/// A need; `NotFound`, with the existing names, if the branch, tag or snapshot does not exist.
pub(crate) fn choose(
    view: &dyn View,
    root: &ObjectId,
    info: Option<&RepoInfo>,
    state: &StateChoice,
) -> Step<ChosenSnapshot> {
    match (state, info) {
        (StateChoice::Snapshot(id), Some(info)) if info.number(*id).is_none() => {
            Err(Error::not_found(format!("the repository has no snapshot {id}")).at_object(root).into())
        }
        (StateChoice::Snapshot(id), _) => {
            Ok(ChosenSnapshot { id: *id, reason: ("snapshot", id.to_string()) })
        }
        (StateChoice::Branch(name), Some(info)) => {
            Ok(chosen(named_in(info, name, &info.branches, "branch", root)?, "branch", name))
        }
        (StateChoice::Tag(name), Some(info)) => {
            Ok(chosen(named_in(info, name, &info.tags, "tag", root)?, "tag", name))
        }
        (StateChoice::At(name, time), Some(info)) => {
            let last = named_in(info, name, &info.branches, "branch", root)?;
            let number = info.number(last.id).unwrap_or_default();
            let found = info.ancestors(number).find(|snapshot| snapshot.flushed_at <= *time);
            Ok(chosen(found.ok_or_else(|| none_at(name, *time, root))?, "branch", name))
        }
        (StateChoice::Branch(name), None) => Ok(ChosenSnapshot {
            id: stored_ref(view, root, "branch", name)?,
            reason: ("branch", name.clone()),
        }),
        (StateChoice::Tag(name), None) => {
            Ok(ChosenSnapshot { id: stored_ref(view, root, "tag", name)?, reason: ("tag", name.clone()) })
        }
        (StateChoice::At(name, time), None) => walk_back(view, root, name, *time),
    }
}

fn chosen(snapshot: &SnapshotInfo, kind: &'static str, name: &str) -> ChosenSnapshot {
    ChosenSnapshot { id: snapshot.id, reason: (kind, name.to_owned()) }
}

fn none_at(branch: &str, time: u64, root: &ObjectId) -> Error {
    let message = format!("branch {branch:?} has no snapshot of {} or before", time::shown(time));
    Error::not_found(message).at_object(root)
}

/// The snapshot of a branch or a tag in spec version 2.
fn named_in<'a>(
    info: &'a RepoInfo,
    name: &str,
    list: &[(String, usize)],
    kind: &str,
    root: &ObjectId,
) -> Result<&'a SnapshotInfo> {
    let found = list.iter().find(|(other, _)| other == name);
    if let Some(snapshot) = found.and_then(|(_, number)| info.snapshots.get(*number)) {
        return Ok(snapshot);
    }
    let message = if kind == "tag" && info.deleted_tags.iter().any(|deleted| deleted == name) {
        format!("tag {name:?} was deleted")
    } else {
        let names: Vec<&str> = list.iter().map(|(name, _)| name.as_str()).collect();
        no_ref(kind, name, &names)
    };
    Err(Error::not_found(message).at_object(root))
}

fn no_ref(kind: &str, name: &str, names: &[&str]) -> String {
    let shown = names.get(..SHOWN_NAMES).unwrap_or(names).join(", ");
    let more = if names.len() > SHOWN_NAMES { ", ..." } else { "" };
    match names {
        [] => format!("no {kind} {name:?}"),
        _ => format!("no {kind} {name:?}; there are {shown}{more}"),
    }
}

/// The snapshot of a branch or a tag in spec version 1.
///
/// # Errors
/// A need; `NotFound` if there is none, or the tag was deleted; `Malformed` for a file that is not what it should be.
pub(crate) fn stored_ref(view: &dyn View, root: &ObjectId, kind: &str, name: &str) -> Step<ObjectName> {
    let is_plain = |segment: &str| !matches!(segment, "" | "." | "..") && !segment.contains('\0');
    if !name.split('/').all(is_plain) {
        return Err(Error::invalid(format!("{name:?} is not the name of a {kind}")).into());
    }
    let object = ref_object(root, kind, name);
    let tombstone = root.child(&format!("refs/{kind}.{name}/ref.json.deleted"));
    let (found, deleted) = match kind {
        "tag" => both(view.read(&object, Want::All), view.read(&tombstone, Want::All))?,
        _ => (view.read(&object, Want::All)?, None),
    };
    if deleted.is_some() {
        return Err(Error::not_found(format!("tag {name:?} was deleted")).at_object(root).into());
    }
    let Some(blob) = found else {
        return Err(Error::not_found(no_ref(kind, name, &[])).at_object(root).into());
    };
    let parsed: serde_json::Value = serde_json::from_slice(&blob.bytes).map_err(|error| {
        Error::malformed(format!("the file of {kind} {name:?} is not JSON")).because(error).at_object(&object)
    })?;
    let id = parsed.get("snapshot").and_then(serde_json::Value::as_str).and_then(ObjectName::parse);
    let odd =
        || Error::malformed(format!("the file of {kind} {name:?} names no snapshot")).at_object(&object);
    Ok(id.ok_or_else(odd)?)
}

/// The last snapshot of a branch at a time or before, by the parents of snapshots.
fn walk_back(view: &dyn View, root: &ObjectId, name: &str, time: u64) -> Step<ChosenSnapshot> {
    let mut id = stored_ref(view, root, "branch", name)?;
    for _ in 0..MAX_WALK {
        let snapshot = snapshot(view, root, id)?;
        if snapshot.flushed_at <= time {
            return Ok(ChosenSnapshot { id, reason: ("branch", name.to_owned()) });
        }
        match snapshot.parent {
            Some(parent) => id = parent,
            None => return Err(none_at(name, time, root).into()),
        }
    }
    Err(Error::limit(format!("more than {MAX_WALK} snapshots since {}", time::shown(time)))
        .at_object(root)
        .into())
}
