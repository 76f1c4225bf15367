//! What may be replaced: never a source, never what is not a dataset, and by a reference file or an aggregation only
//! one of its kind, unless any dataset is allowed.
use crate::places::{self, ListOptions};
use ncirrus::internals::DatasetInternals;
use ncirrus::{Dataset, Error, OpenOptions, Result, Session, Variable};
use ncirrus_layout::{Detail, ErrorKind};
use ncirrus_store::{Scheme, StoreExt, Url, is_same_place};
use std::io::Read;
use std::path::Path;

/// What is to be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WrittenForm {
    /// A dataset with its data.
    Dataset,
    /// A master.
    Aggregation,
    /// A reference file.
    References,
}

/// Refuses a target that is one of the sources, or that the new dataset must not replace.
///
/// # Errors
/// `Conflict` that says what exists; errors of inspecting it.
pub(crate) fn check<'a>(
    target: &str,
    sources: impl Iterator<Item = &'a str>,
    written: WrittenForm,
    any: bool,
    session: &Session,
) -> Result<()> {
    let may_be_source = any && written == WrittenForm::Dataset;
    for source in sources {
        if !may_be_source && is_same_place(source, target, session.store_context())? {
            return Err(conflict(
                "is one of the input files, and is not replaced: is the target missing from the command?",
                target,
            ));
        }
    }
    if written == WrittenForm::References && is_reference_text(target) {
        return Ok(());
    }
    // What cannot be opened may be the data of another program: without a request only datasets are replaced.
    let there = match Dataset::open_with(target, &OpenOptions::default(), session) {
        Ok(there) => there,
        Err(error) => return of_unknown(error, target, any || written == WrittenForm::Dataset, session),
    };
    let fits = any
        || match written {
            WrittenForm::Dataset => true,
            WrittenForm::Aggregation => there.variables().iter().any(Variable::is_aggregated),
            WrittenForm::References => is_references(&there)?,
        };
    match (fits, written) {
        (true, _) => Ok(()),
        (false, WrittenForm::References) => Err(conflict(
            "exists already and is a dataset, not a reference file: is the target missing from the command?",
            target,
        )),
        (false, _) => Err(conflict(
            "exists already and is a dataset, not an aggregation: is the target missing from the command?",
            target,
        )),
    }
}

/// Whether a dataset was opened through a reference file: zip files look similar otherwise.
fn is_references(dataset: &Dataset) -> Result<bool> {
    let url = Url::parse(dataset.url())?;
    let path = url.path().trim_end_matches('/').to_ascii_lowercase();
    let is_json = [".json", ".json.gz", ".json.zst"].iter().any(|ending| path.ends_with(ending));
    Ok(dataset.kind().is_zarr() && (is_json || has_records(dataset)?))
}

/// Whether the chunks of a dataset are in other files, of which its store reads the names as needed: references in Parquet,
/// whatever their name.
pub(crate) fn has_records(dataset: &Dataset) -> Result<bool> {
    Ok(dataset.reader()?.store().reads_where_objects_are())
}

/// Whether a local file begins as reference files do, whatever its name.
fn is_reference_text(target: &str) -> bool {
    let Ok(url) = Url::parse(target) else { return false };
    if url.scheme() != Scheme::File {
        return false;
    }
    let mut text = String::new();
    let read =
        std::fs::File::open(url.path()).and_then(|file| file.take(LOOKED_AT).read_to_string(&mut text));
    let is_json = text.trim_start().starts_with('{');
    // Bytes other than text are not JSON.
    read.is_ok() && is_json && ["\"refs\"", "\".zgroup\""].iter().any(|mark| text.contains(mark))
}

/// How much of a file is inspected.
const LOOKED_AT: u64 = 1 << 16;

/// What cannot be opened is replaced only if it is the start of a dataset all the same, or nothing at all.
fn of_unknown(error: Error, target: &str, may_be_damaged: bool, session: &Session) -> Result<()> {
    match error.kind() {
        // Creating it reports this.
        ErrorKind::NotFound | ErrorKind::Denied => return Ok(()),
        ErrorKind::Io { .. } => return Err(error),
        _ => {}
    }
    let options = ListOptions::new().recursive(false).all(true);
    let Ok(mut found) = places::list(target, &options, session) else { return Ok(()) };
    match found.next() {
        Some(Ok(found)) if found.path.is_empty() => {
            let is_dataset = found.kind.is_dataset() && may_be_damaged;
            let is_empty = found.size == Some(0);
            if is_dataset || is_empty {
                Ok(())
            } else {
                Err(plain_conflict("is not a dataset that could be replaced, and is kept", target))
            }
        }
        // Directories are inspected when they are replaced.
        _ => Ok(()),
    }
}

/// Foreign objects in a tree that is replaced, which stay.
pub(crate) fn others_in(target: &str, session: &Session) -> Vec<String> {
    let removal = crate::removal(target, session);
    removal.ok().filter(|removal| removal.is_tree).map(|removal| removal.others).unwrap_or_default()
}

/// Refuses to replace a part of another dataset.
///
/// # Errors
/// `Conflict` naming the enclosing dataset.
pub(crate) fn check_around(target: &str, session: &Session) -> Result<()> {
    let Some(around) = around(target) else { return Ok(()) };
    let is_part = match Url::parse(&around)? {
        url if url.scheme() == Scheme::File => is_store(Path::new(url.path())),
        _ => Dataset::open_with(&around, &OpenOptions::default(), session).is_ok(),
    };
    let is_there = || Dataset::open_with(target, &OpenOptions::default(), session).is_ok();
    if is_part && is_there() {
        let shown = Url::parse(&around).map_or_else(|_| String::new(), |url| url.to_string());
        return Err(plain_conflict(&format!("is part of the dataset {shown} and is not replaced"), target));
    }
    Ok(())
}

/// Whether a folder, or an enclosing one, is a Zarr dataset.
fn is_store(folder: &Path) -> bool {
    const MARKERS: [&str; 5] = [".zgroup", ".zmetadata", "zarr.json", ".zarray", ".nczarr"];
    let holds = |folder: &Path| MARKERS.iter().any(|name| folder.join(name).is_file());
    folder.ancestors().take(DEEPEST).any(holds)
}

/// Maximum number of enclosing folders that are checked.
const DEEPEST: usize = 16;

/// The address of the parent folder, if there is one.
pub(crate) fn around(url: &str) -> Option<String> {
    let (address, fragment) = url.split_at(url.find('#').unwrap_or(url.len()));
    let (scheme, path) = address.split_at(address.find("://").map_or(0, |at| at + 3));
    let (folder, name) = path.trim_end_matches('/').rsplit_once('/').unwrap_or(("", path));
    let is_plain = !matches!(name, "" | "." | "..") && !address.contains('?');
    let folder = if folder.is_empty() && scheme.is_empty() && !path.starts_with('/') { "." } else { folder };
    (is_plain && !folder.is_empty()).then(|| format!("{scheme}{folder}{fragment}"))
}

fn conflict(message: &str, target: &str) -> Error {
    plain_conflict(message, target).with_detail(Detail::NotReplaced)
}

fn plain_conflict(message: &str, target: &str) -> Error {
    let shown = Url::parse(target).map_or_else(|_| String::new(), |url| url.to_string());
    Error::new(ErrorKind::Conflict, message).at_object(shown)
}
