//! Finding out what lies at an address.
use crate::drive::Context;
use ncirrus_layout::{
    Blob, Confidence, Driver, Error, ErrorKind, Need, ObjectId, Result, Stall, Step, View, Want, join_each,
};
use std::sync::Arc;

/// The driver that is surest to know the dataset at `root`; the first of those that are equally sure.
///
/// # Errors
/// `NotFound` when nothing is there; what a driver fails with when no other knows the dataset; else what was found
/// instead of a dataset.
pub(crate) async fn probe(
    context: &Context,
    root: &ObjectId,
    drivers: &[Arc<dyn Driver>],
) -> Result<Arc<dyn Driver>> {
    let probed = context.drive(|view| probe_all(view, root, drivers)).await?;
    let mut best: Option<(Confidence, &Arc<dyn Driver>)> = None;
    let mut failure = None;
    for (driver, result) in drivers.iter().zip(probed) {
        match result {
            Ok(Confidence::No) => {}
            Ok(confidence) if best.is_none_or(|(surest, _)| confidence > surest) => {
                best = Some((confidence, driver));
            }
            Ok(_) => {}
            Err(error) => _ = failure.get_or_insert_with(|| error.by(driver.name())),
        }
    }
    match (best, failure) {
        (Some((_, driver)), _) => Ok(Arc::clone(driver)),
        (None, Some(error)) => Err(error),
        (None, None) => Err(explain(context, root, drivers).await),
    }
}

/// Asks all drivers at once. One that is certain ends it: what the others still need is not fetched.
fn probe_all(view: &dyn View, root: &ObjectId, drivers: &[Arc<dyn Driver>]) -> Step<Vec<Result<Confidence>>> {
    let probes: Vec<Step<Confidence>> = drivers.iter().map(|driver| driver.probe(view, root)).collect();
    if let Some(certain) = probes.iter().position(|probe| matches!(probe, Ok(Confidence::Yes))) {
        let answer = |at| Ok(if at == certain { Confidence::Yes } else { Confidence::No });
        return Ok((0..drivers.len()).map(answer).collect());
    }
    join_each(probes, |probe| probe).map_err(|stall| named_first(stall, root))
}

/// What is named as a file is asked for as one first: drivers that look below it wait until it shows to be none.
fn named_first(stall: Stall, root: &ObjectId) -> Stall {
    let ending = root.name().rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase());
    let (Stall::Need(needs), true) = (&stall, ending.is_some_and(|ending| FILES.contains(&&*ending))) else {
        return stall;
    };
    let of_root = |need: &&Need| matches!(need, Need::Object { object, .. } if object == root);
    match needs.iter().find(of_root) {
        Some(need) => need.clone().into(),
        None => stall,
    }
}

/// How names of single files end.
const FILES: [&str; 12] =
    ["nc", "nc3", "nc4", "nc5", "nc6", "nca", "cdf", "netcdf", "h5", "hdf5", "he5", "hdf"];

/// Why no driver knows what is there.
async fn explain(context: &Context, root: &ObjectId, drivers: &[Arc<dyn Driver>]) -> Error {
    let names: Vec<&str> = drivers.iter().map(|driver| driver.name()).collect();
    let lists = context.snapshot.store().facts().lists;
    let error = match context.drive(|view| sniff(view, root, lists)).await {
        Ok(Found::Nothing) => Error::not_found("no such object or directory"),
        Ok(Found::Html) => Error::malformed("an HTML page, not data"),
        Ok(Found::Zip) => Error::malformed(ZIP),
        Ok(Found::Empty) => Error::malformed("an empty object, not a dataset"),
        Ok(Found::Prefix) => Error::new(
            ErrorKind::Malformed,
            format!("a directory that is not a dataset of a known format ({})", names.join(", ")),
        ),
        Ok(Found::Object(first)) => Error::malformed(format!(
            "not a dataset of a known format ({}); it starts with {first:02x?}",
            names.join(", ")
        )),
        Err(error) => error,
    };
    error.at_object(root)
}

/// Whether a zip file was found: what lies in it is to be asked for.
pub(crate) fn is_zip(error: &Error) -> bool {
    error.kind() == ErrorKind::Malformed && error.message() == ZIP
}

const ZIP: &str = "a zip file without a dataset of a known format";

/// What was found instead of a dataset.
enum Found {
    Nothing,
    Empty,
    Zip,
    Html,
    Prefix,
    Object(Vec<u8>),
}

/// Bytes that are looked at.
const SNIFFED: u64 = 512;

fn sniff(view: &dyn View, root: &ObjectId, lists: bool) -> Step<Found> {
    match view.read(root, Want::Parse(0..SNIFFED)) {
        Ok(Some(blob)) => return Ok(classify(&blob)),
        Ok(None) => {}
        Err(Stall::Fail(error)) if error.kind() == ErrorKind::Invalid => {}
        Err(stall) => return Err(stall),
    }
    if lists && !view.list(root, None)?.entries.is_empty() {
        return Ok(Found::Prefix);
    }
    Ok(Found::Nothing)
}

fn classify(blob: &Blob) -> Found {
    let first = blob.bytes.get(..blob.bytes.len().min(512)).unwrap_or_default();
    let text = String::from_utf8_lossy(first).trim_start_matches('\u{feff}').trim_start().to_lowercase();
    match first {
        [] => Found::Empty,
        _ if ncirrus_store::looks_like_zip(first) => Found::Zip,
        _ if ["<!doctype html", "<html"].iter().any(|start| text.starts_with(start)) => Found::Html,
        _ => Found::Object(first.iter().take(8).copied().collect()),
    }
}
