//! `ncirrus log`: the history of an Icechunk repository.
use super::finish;
use crate::CommandStatus;
use anstyle::Style;
use clap::Args as ClapArgs;
use ncirrus::{Error, RefEntry, RepositoryHistory, Result, Session, SnapshotChanges, SnapshotEntry};
use serde_json::{Value, json};
use std::io::{self, Write};

/// Show the history of an Icechunk repository: snapshots, branches and tags.
///
/// Snapshots are listed from the latest to the first one. A star marks the one that the address names.
#[derive(ClapArgs)]
#[command(before_long_help = "Examples:
  ncirrus log s3://bucket/repo
  ncirrus log --changes s3://bucket/repo  with the numbers of changed groups, arrays and chunks
  ncirrus log --json s3://bucket/repo | jq .snapshots[0].id")]
pub(crate) struct Args {
    /// Path or URL of the repository.
    url: String,
    /// Show what each snapshot changed, which takes a request for each.
    #[arg(long)]
    changes: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    reading: super::reading::ReadingOptions,
}

const ID: Style = Style::new().bold();
const QUIET: Style = Style::new().dimmed();

pub(crate) fn run(args: &Args, session: &Session) -> Result<CommandStatus> {
    let dataset = args.reading.open(&args.url, session)?;
    let none = || {
        Error::invalid("not an Icechunk repository: other datasets have no history").at_object(dataset.url())
    };
    let history = dataset.history(args.changes)?.ok_or_else(none)?;
    let mut out = anstream::stdout().lock();
    let shown = if args.json { writeln!(out, "{:#}", to_json(&history)) } else { show(&mut out, &history) };
    drop(out);
    finish(shown)
}

fn show(out: &mut impl Write, history: &RepositoryHistory) -> io::Result<()> {
    for warning in &history.warnings {
        writeln!(out, "warning: {}", crate::message::plain(warning))?;
    }
    for snapshot in &history.snapshots {
        show_snapshot(out, snapshot, history)?;
    }
    Ok(())
}

fn show_snapshot(
    out: &mut impl Write,
    snapshot: &SnapshotEntry,
    history: &RepositoryHistory,
) -> io::Result<()> {
    let mark = if snapshot.id == history.shown { "*" } else { " " };
    let named = |list: &[RefEntry], kind: &str| -> Vec<String> {
        let here = list.iter().filter(|entry| entry.snapshot == snapshot.id);
        here.map(|entry| format!("{kind} {}", crate::message::plain(&entry.name))).collect()
    };
    let refs = [named(&history.branches, "branch"), named(&history.tags, "tag")].concat();
    let refs = if refs.is_empty() { String::new() } else { format!("  ({})", refs.join(", ")) };
    writeln!(out, "{mark} {ID}{}{ID:#}  {}{refs}", snapshot.id, snapshot.time)?;
    for line in snapshot.message.lines() {
        writeln!(out, "    {}", crate::message::plain(line))?;
    }
    let parent = snapshot.parent.as_deref().unwrap_or("none");
    writeln!(out, "    {QUIET}parent {parent}{QUIET:#}")?;
    match &snapshot.changes {
        Some(changes) => writeln!(out, "    {QUIET}{}{QUIET:#}", in_words(changes)),
        None => Ok(()),
    }
}

/// The changes of a snapshot, such as `2 new arrays, 4 chunks of 2 arrays`.
fn in_words(changes: &SnapshotChanges) -> String {
    let counts = counts(changes);
    let some = counts.iter().filter(|(name, count)| *count > 0 && !name.starts_with("chunks"));
    let mut words: Vec<String> = some
        .filter(|(name, _)| *name != "arrays_with_chunks")
        .map(|(name, count)| format!("{count} {}", name.replace('_', " ")))
        .collect();
    if changes.chunks > 0 {
        words.push(format!("{} chunks of {} arrays", changes.chunks, changes.arrays_with_chunks));
    }
    if words.is_empty() { "no changes".to_owned() } else { words.join(", ") }
}

fn counts(changes: &SnapshotChanges) -> [(&'static str, u64); 9] {
    [
        ("new_groups", changes.new_groups),
        ("new_arrays", changes.new_arrays),
        ("deleted_groups", changes.deleted_groups),
        ("deleted_arrays", changes.deleted_arrays),
        ("updated_groups", changes.updated_groups),
        ("updated_arrays", changes.updated_arrays),
        ("moved", changes.moved),
        ("arrays_with_chunks", changes.arrays_with_chunks),
        ("chunks", changes.chunks),
    ]
}

fn to_json(history: &RepositoryHistory) -> Value {
    let refs = |list: &[RefEntry]| -> Vec<Value> {
        list.iter().map(|entry| json!({"name": entry.name, "snapshot": entry.snapshot})).collect()
    };
    let snapshot = |entry: &SnapshotEntry| {
        let mut shown = json!({
            "id": entry.id, "time": entry.time, "message": entry.message, "parent": entry.parent,
        });
        if let (Some(changes), Some(members)) = (&entry.changes, shown.as_object_mut()) {
            let counts = counts(changes).into_iter().map(|(name, count)| (name.to_owned(), json!(count)));
            members.insert("changes".to_owned(), Value::Object(counts.collect()));
        }
        shown
    };
    json!({
        "shown": history.shown,
        "branches": refs(&history.branches),
        "tags": refs(&history.tags),
        "snapshots": history.snapshots.iter().map(snapshot).collect::<Vec<_>>(),
        "warnings": history.warnings,
    })
}
