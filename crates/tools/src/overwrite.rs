//! What may be replaced: never what is read, never what is no dataset, and by a reference file or an aggregation only one
//! of its kind, unless any dataset is meant.
use crate::places::{self, ListOptions};
use ncirrus::internals::DatasetInternals;
use ncirrus::{Dataset, Error, OpenOptions, Result, Session, Variable};
use ncirrus_layout::{Detail, ErrorKind};
use ncirrus_store::{Scheme, Url, is_same_place};
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

/// Refuses a target that is one of the sources, or where something lies that what is written does not replace.
///
/// # Errors
/// `Conflict` that says what is there; what looking fails with.
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
                "is one of the files that are read, and is not replaced: was the target left out?",
                target,
            ));
        }
    }
    if written == WrittenForm::References && is_reference_text(target) {
        return Ok(());
    }
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
            "exists already and is a dataset, but no reference file: was the target left out?",
            target,
        )),
        (false, _) => Err(conflict(
            "exists already and is a dataset, but no aggregation: was the target left out?",
            target,
        )),
    }
}

/// Whether a dataset was opened through a reference file: what lies in a zip file looks else alike.
fn is_references(dataset: &Dataset) -> Result<bool> {
    let url = Url::parse(dataset.url())?;
    let is_json = url.path().trim_end_matches('/').to_ascii_lowercase().ends_with(".json");
    Ok(is_json && dataset.reader()?.driver().name() == "zarr")
}

/// Whether a file on this machine begins as reference files do, whatever its name.
fn is_reference_text(target: &str) -> bool {
    let Ok(url) = Url::parse(target) else { return false };
    if url.scheme() != Scheme::File {
        return false;
    }
    let mut text = String::new();
    let read =
        std::fs::File::open(url.path()).and_then(|file| file.take(LOOKED_AT).read_to_string(&mut text));
    let is_json = text.trim_start().starts_with('{');
    // Bytes of other characters than text's are none of JSON.
    read.is_ok() && is_json && ["\"refs\"", "\".zgroup\""].iter().any(|mark| text.contains(mark))
}

/// Bytes of a file that are looked at.
const LOOKED_AT: u64 = 1 << 16;

/// What cannot be opened is replaced only when it is the beginning of a dataset all the same, or nothing at all.
fn of_unknown(error: Error, target: &str, may_be_damaged: bool, session: &Session) -> Result<()> {
    match error.kind() {
        // Creating finds it out.
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
            match is_dataset || is_empty {
                true => Ok(()),
                false => Err(plain_conflict("is no dataset that could be replaced, and stays", target)),
            }
        }
        // Directories are looked at when they are replaced.
        _ => Ok(()),
    }
}

/// What lies in a tree that is replaced and is no part of the dataset: it stays.
pub(crate) fn others_in(target: &str, session: &Session) -> Vec<String> {
    let removal = crate::removal(target, session);
    removal.ok().filter(|removal| removal.is_tree).map(|removal| removal.others).unwrap_or_default()
}

/// Refuses to replace a part of another dataset.
///
/// # Errors
/// `Conflict` naming the dataset around.
pub(crate) fn check_around(target: &str, session: &Session) -> Result<()> {
    let Some(around) = around(target) else { return Ok(()) };
    let is_part = match Url::parse(&around)? {
        url if url.scheme() == Scheme::File => is_store(Path::new(url.path())),
        _ => Dataset::open_with(&around, &OpenOptions::default(), session).is_ok(),
    };
    let is_there = || Dataset::open_with(target, &OpenOptions::default(), session).is_ok();
    if is_part && is_there() {
        let shown = Url::parse(&around).map_or_else(|_| String::new(), |url| url.to_string());
        return Err(plain_conflict(&format!("is a part of the dataset {shown} and is not replaced"), target));
    }
    Ok(())
}

/// Whether a folder, or one around it, is a Zarr dataset.
fn is_store(folder: &Path) -> bool {
    const MARKERS: [&str; 5] = [".zgroup", ".zmetadata", "zarr.json", ".zarray", ".nczarr"];
    let holds = |folder: &Path| MARKERS.iter().any(|name| folder.join(name).is_file());
    folder.ancestors().take(DEEPEST).any(holds)
}

/// Folders that are looked at around a target.
const DEEPEST: usize = 16;

/// The address of the folder around an address, if there is one.
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
