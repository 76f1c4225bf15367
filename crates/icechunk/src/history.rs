//! The history of a repository: branches, tags and snapshots, and what each snapshot changed.
use crate::chunk_refs::ShownSnapshot;
use crate::envelope::{self, FileKind};
use crate::flat::{FlatTable, FlatVector};
use crate::id::ObjectName;
use crate::repo_info::RepoInfo;
use crate::repository::{self, MAX_WALK};
use crate::time;
use bytes::Bytes;
use ncirrus_layout::{
    Error, Limits, ListEntry, ObjectId, RefEntry, RepositoryHistory, Result, SnapshotChanges, SnapshotEntry,
    Stall, Step, View, Want, join, join_each, settle,
};
use std::collections::HashSet;

/// The history of the repository that a snapshot belongs to.
///
/// # Errors
/// A need; damage of the repository's information. A transaction log that cannot be read is a warning.
pub(crate) fn history(view: &dyn View, shown: &ShownSnapshot, changes: bool) -> Step<RepositoryHistory> {
    let mut history = match repository::repo_info(view, &shown.root)? {
        Some(info) => of_info(&info),
        None => of_objects(view, shown)?,
    };
    history.shown = shown.snapshot.id.to_string();
    if changes {
        add_changes(view, &shown.root, &mut history)?;
    }
    Ok(history)
}

/// Spec version 2: all is in `repo`.
fn of_info(info: &RepoInfo) -> RepositoryHistory {
    let id = |number: usize| info.snapshots.get(number).map(|snapshot| snapshot.id.to_string());
    let refs = |list: &[(String, usize)]| {
        let entry =
            |(name, number): &(String, usize)| Some(RefEntry { name: name.clone(), snapshot: id(*number)? });
        list.iter().filter_map(entry).collect()
    };
    let mut order: Vec<usize> = (0..info.snapshots.len()).collect();
    order.sort_by_key(|number| {
        std::cmp::Reverse(info.snapshots.get(*number).map(|snapshot| snapshot.flushed_at))
    });
    let entry = |number: usize| {
        let snapshot = info.snapshots.get(number)?;
        Some(SnapshotEntry {
            id: snapshot.id.to_string(),
            time: time::shown(snapshot.flushed_at),
            message: snapshot.message.clone(),
            parent: snapshot.parent.and_then(id),
            changes: None,
        })
    };
    RepositoryHistory {
        branches: refs(&info.branches),
        tags: refs(&info.tags),
        snapshots: order.into_iter().filter_map(entry).collect(),
        ..RepositoryHistory::default()
    }
}

/// Spec version 1: branches and tags are listed, and snapshots name those before them.
fn of_objects(view: &dyn View, shown: &ShownSnapshot) -> Step<RepositoryHistory> {
    let mut history = RepositoryHistory::default();
    match settle(list_all(view, &shown.root.child("refs"))).map_err(Stall::Need)? {
        Ok(names) => {
            let names = |kind: &str| -> Vec<String> {
                names.iter().filter_map(|entry| entry.name.strip_prefix(kind).map(str::to_owned)).collect()
            };
            let read = |kind: &'static str, names: Vec<String>| {
                let found = join_each(&names, |name| repository::stored_ref(view, &shown.root, kind, name))?;
                Ok::<_, Stall>((names, found))
            };
            let (branches, tags) =
                ncirrus_layout::both(read("branch", names("branch.")), read("tag", names("tag.")))?;
            history.branches = entries(branches, &mut history.warnings);
            history.tags = entries(tags, &mut history.warnings);
        }
        Err(error) => history.warnings.push(format!("branches and tags cannot be listed: {error}")),
    }
    let refs = history.branches.iter().chain(&history.tags);
    let tips = refs.filter_map(|entry| ObjectName::parse(&entry.snapshot)).chain([shown.snapshot.id]);
    let mut seen = HashSet::new();
    let walks = join(tips.collect::<Vec<_>>(), |tip| walk(view, &shown.root, tip, &mut seen))?;
    let mut snapshots: Vec<(u64, SnapshotEntry)> = walks.into_iter().flatten().collect();
    snapshots.sort_by_key(|(time, _)| std::cmp::Reverse(*time));
    history.snapshots = snapshots.into_iter().map(|(_, entry)| entry).collect();
    Ok(history)
}

fn entries(
    (names, found): (Vec<String>, Vec<Result<ObjectName>>),
    warnings: &mut Vec<String>,
) -> Vec<RefEntry> {
    let mut entries = Vec::new();
    for (name, id) in names.into_iter().zip(found) {
        match id {
            Ok(id) => entries.push(RefEntry { name, snapshot: id.to_string() }),
            // A tag that was deleted keeps its folder.
            Err(error) if error.kind() == ncirrus_layout::ErrorKind::NotFound => {}
            Err(error) => warnings.push(error.to_string()),
        }
    }
    entries
}

fn list_all(view: &dyn View, prefix: &ObjectId) -> Step<Vec<ListEntry>> {
    let (mut entries, mut page) = (Vec::new(), None::<String>);
    loop {
        let listing = view.list(prefix, page.as_deref())?;
        entries.extend(listing.entries);
        view.limits().count(entries.len() as u64, "a list of branches and tags")?;
        match listing.next {
            Some(next) if page.as_ref() != Some(&next) => page = Some(next),
            _ => return Ok(entries),
        }
    }
}

/// A snapshot and those before it that are not yet `seen`; one that no longer exists is the end.
fn walk(
    view: &dyn View,
    root: &ObjectId,
    tip: ObjectName,
    seen: &mut HashSet<ObjectName>,
) -> Step<Vec<(u64, SnapshotEntry)>> {
    let (mut next, mut found) = (Some(tip), Vec::new());
    while let Some(id) = next.filter(|id| found.len() < MAX_WALK && seen.insert(*id)) {
        let snapshot = match settle(repository::snapshot(view, root, id)).map_err(Stall::Need)? {
            Ok(snapshot) => snapshot,
            Err(error) if error.kind() == ncirrus_layout::ErrorKind::NotFound => break,
            Err(error) => return Err(error.into()),
        };
        next = snapshot.parent;
        let entry = SnapshotEntry {
            id: id.to_string(),
            time: time::shown(snapshot.flushed_at),
            message: snapshot.message.clone(),
            parent: snapshot.parent.map(|parent| parent.to_string()),
            changes: None,
        };
        found.push((snapshot.flushed_at, entry));
    }
    Ok(found)
}

/// What each snapshot changed, by its transaction log.
fn add_changes(view: &dyn View, root: &ObjectId, history: &mut RepositoryHistory) -> Step<()> {
    let logs = join_each(&history.snapshots, |entry| {
        let object = root.child(&format!("transactions/{}", entry.id));
        let Some(blob) = view.read(&object, Want::All)? else { return Ok(None) };
        let changes = changes_of(&blob.bytes, view.limits()).map_err(|error| error.at_object(&object))?;
        Ok(Some(changes))
    })?;
    for (entry, changes) in history.snapshots.iter_mut().zip(logs) {
        match changes {
            Ok(changes) => entry.changes = changes,
            Err(error) => history.warnings.push(format!("the changes of {} are unknown: {error}", entry.id)),
        }
    }
    Ok(())
}

/// The numbers of changes in a transaction log (docs/spec/icechunk-format.md, "Transaction logs").
fn changes_of(bytes: &Bytes, limits: &Limits) -> Result<SnapshotChanges> {
    let file = envelope::open(bytes, FileKind::TransactionLog, limits)?;
    let table = FlatTable::root(&file.body)?;
    let nodes = |slot| Ok::<_, Error>(table.vector(slot, 8)?.len() as u64);
    let arrays = table.vector(7, 4)?;
    let chunks = |table: Result<FlatTable<'_>>| table?.vector(1, 4).map(|chunks| chunks.len() as u64);
    let chunks: Result<Vec<u64>> = FlatVector::tables(arrays).map(chunks).collect();
    Ok(SnapshotChanges {
        new_groups: nodes(1)?,
        new_arrays: nodes(2)?,
        deleted_groups: nodes(3)?,
        deleted_arrays: nodes(4)?,
        updated_arrays: nodes(5)?,
        updated_groups: nodes(6)?,
        arrays_with_chunks: arrays.len() as u64,
        chunks: chunks?.into_iter().fold(0, u64::saturating_add),
        moved: table.vector(8, 4)?.len() as u64,
    })
}
