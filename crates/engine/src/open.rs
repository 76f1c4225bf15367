//! Finding out what is at an address.
mod found;

use found::FoundInstead;
pub(crate) use found::is_zip;

use crate::drive::DriveContext;
use ncirrus_layout::{
    AddressHints, Confidence, Driver, Error, NamedKind, Need, ObjectId, OpenOptions, Result, Stall, Step,
    View, join_each, settle,
};
use ncirrus_store::StoreFacts;
use std::sync::Arc;

/// The driver that is most certain about the dataset at `root`; the first of those that are equally certain.
///
/// # Errors
/// `NotFound` if nothing is there; the error of a driver if no other recognizes the dataset; otherwise what was found
/// instead of a dataset.
pub(crate) async fn probe(
    context: &DriveContext,
    root: &ObjectId,
    drivers: &[Arc<dyn Driver>],
    hints: &AddressHints,
) -> Result<Arc<dyn Driver>> {
    let order = if TREE_MODES.iter().any(|mode| hints.has_mode(mode)) {
        ProbeOrder::Tree
    } else if is_checked_first(root, &context.snapshot.store().facts()) {
        ProbeOrder::RootFirst
    } else {
        ProbeOrder::Together
    };
    let mut failure = None;
    // If the mode names Zarr, a repository is looked for only after all else.
    let is_late = |driver: &Arc<dyn Driver>| order == ProbeOrder::Tree && driver.name() == REPOSITORY;
    let (late, first): (Vec<_>, Vec<_>) = drivers.iter().cloned().partition(is_late);
    for drivers in [first, late].into_iter().filter(|drivers| !drivers.is_empty()) {
        let probed = context.drive(|view| probe_all(view, root, &drivers, order)).await?;
        if let Some(best) = most_certain(drivers, probed, &mut failure) {
            return Ok(best);
        }
    }
    match failure {
        Some(error) => Err(error),
        None => Err(explain(context, root, drivers).await),
    }
}

/// The driver that is most certain, the first of those that are equally certain. The first failure is kept.
fn most_certain(
    drivers: Vec<Arc<dyn Driver>>,
    probed: Vec<Result<Confidence>>,
    failure: &mut Option<Error>,
) -> Option<Arc<dyn Driver>> {
    let mut best: Option<(Confidence, Arc<dyn Driver>)> = None;
    for (driver, result) in drivers.into_iter().zip(probed) {
        match result {
            Ok(Confidence::No) => {}
            Ok(confidence) if best.as_ref().is_none_or(|(surest, _)| confidence > *surest) => {
                best = Some((confidence, driver));
            }
            Ok(_) => {}
            Err(error) => _ = failure.get_or_insert_with(|| error.by(driver.name())),
        }
    }
    best.map(|(_, driver)| driver)
}

/// The driver that an address names by its mode; `None` if it names none, and the contents decide.
///
/// # Errors
/// `Unsupported` if the library was built without it.
pub(crate) fn named(hints: &AddressHints, drivers: &[Arc<dyn Driver>]) -> Result<Option<Arc<dyn Driver>>> {
    let Some(mode) = PROTOCOLS.into_iter().find(|mode| hints.has_mode(mode)) else {
        let repository =
            |driver: &&Arc<dyn Driver>| driver.name() == REPOSITORY && hints.has_mode(REPOSITORY);
        return Ok(drivers.iter().find(repository).cloned());
    };
    let driver = drivers.iter().find(|driver| driver.name() == "dap");
    let absent = || Error::unsupported(format!("the mode {mode}: the library was built without OPeNDAP"));
    driver.cloned().ok_or_else(absent).map(Some)
}

/// The driver of Zarr, if the mode says that the dataset is one and it can be opened without metadata of a root: a folder
/// of arrays that is not a group, which netCDF-C reads.
pub(crate) async fn by_mode(
    context: &DriveContext,
    root: &ObjectId,
    options: &OpenOptions,
    drivers: &[Arc<dyn Driver>],
) -> Option<Arc<dyn Driver>> {
    let is_meant = ["zarr", "nczarr"].iter().any(|mode| options.address.has_mode(mode));
    let driver = drivers.iter().find(|driver| is_meant && driver.name() == "zarr")?;
    context.drive(|view| driver.open(view, root, options)).await.ok().map(|_| Arc::clone(driver))
}

/// The modes that name a protocol, the preferred one first: the first bytes at such an address do not show the format.
pub(crate) const PROTOCOLS: [&str; 2] = ["dap4", "dap2"];

/// The mode that names a repository of Icechunk, and its driver.
const REPOSITORY: &str = "icechunk";

/// The modes that name a tree of objects. What a web server shows at the address itself, such as a page about the dataset,
/// is then unrelated to the objects below.
const TREE_MODES: [&str; 3] = ["nczarr", "zarr", "zarr3"];

/// What is requested first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ProbeOrder {
    /// The object at the address itself.
    RootFirst,
    /// That object and those below it; if it leaves no doubt, it decides.
    Together,
    /// The same, and what is below is always looked for.
    Tree,
}

/// Probes with all drivers, one after the other, and collects what they need. A driver that is certain ends the search,
/// and so does the object at the address itself if it leaves no doubt: what drivers still need from below it is not
/// fetched then.
fn probe_all(
    view: &dyn View,
    root: &ObjectId,
    drivers: &[Arc<dyn Driver>],
    order: ProbeOrder,
) -> Step<Vec<Result<Confidence>>> {
    let mut probes: Vec<Step<Confidence>> = Vec::with_capacity(drivers.len());
    for (certain, driver) in drivers.iter().enumerate() {
        let probe = driver.probe(view, root);
        if matches!(probe, Ok(Confidence::Yes)) {
            let answer = |at| Ok(if at == certain { Confidence::Yes } else { Confidence::No });
            return Ok((0..drivers.len()).map(answer).collect());
        }
        probes.push(probe);
    }
    let of_root = probes.iter().find_map(|probe| need_of(probe, root));
    match of_root {
        Some(need) if order == ProbeOrder::RootFirst => return Err(need.into()),
        None if order != ProbeOrder::Tree && found::is_all(view, root, order == ProbeOrder::RootFirst) => {
            let settled = probes.into_iter().map(|probe| match probe {
                Err(Stall::Need(_)) => Ok(Ok(Confidence::No)),
                probe => settle(probe).map_err(Stall::Need),
            });
            return settled.collect();
        }
        _ => {}
    }
    join_each(probes, |probe| probe)
}

/// What a driver needs of the object at the address itself.
fn need_of(probe: &Step<Confidence>, root: &ObjectId) -> Option<Need> {
    let Err(Stall::Need(needs)) = probe else { return None };
    needs.iter().find(|need| matches!(need, Need::Object { object, .. } if object == root)).cloned()
}

/// Whether an address is requested as an object before anything below it is: if it is named like a file, or is on a web
/// server, which answers with pages for folders, unless it is named like a tree.
fn is_checked_first(root: &ObjectId, facts: &StoreFacts) -> bool {
    // The root of a store is never a file.
    let kind = NamedKind::of(root).filter(|_| !root.key().is_empty());
    match kind {
        Some(kind) => kind == NamedKind::File,
        None => !facts.lists && !root.key().is_empty(),
    }
}

/// Why no driver recognizes what is there.
async fn explain(context: &DriveContext, root: &ObjectId, drivers: &[Arc<dyn Driver>]) -> Error {
    let names: Vec<&str> = drivers.iter().map(|driver| driver.name()).collect();
    let store = context.snapshot.store();
    let lists = store.facts().lists;
    let error = match context.drive(|view| found::look(view, root, lists)).await {
        // The root of a store of a local folder exists because the folder does.
        Ok(FoundInstead::Nothing) if store.local().is_some() && root.key().is_empty() => {
            FoundInstead::EmptyDirectory.describe("")
        }
        Ok(found) => found.describe(&names.join(", ")),
        Err(error) => error,
    };
    error.at_object(root)
}
