//! Whether a file is stored as a profile wants it: by its metadata alone.
use super::Profile;
use super::fault::{ProfileFault, ProfileFaultKind};
use super::front_store::FrontStore;
use super::wanted::wanted;
use ncirrus::internals::SessionInternals;
use ncirrus::{Error, ErrorKind, Model, OpenOptions, Result, Session};
use ncirrus_engine::Dataset;
use ncirrus_model::{AttributeState, NodeId, Stored};
use std::sync::Arc;

/// How a file fits a profile.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Conformity {
    /// What does not fit.
    pub(crate) faults: Vec<ProfileFault>,
    /// The kind of the file in words; empty if it could not be opened.
    pub(crate) format: String,
    /// Variables that were examined.
    pub(crate) variables: u64,
    /// Stored chunks of these variables.
    pub(crate) chunks: u64,
}

/// Where metadata and data are in a file.
#[derive(Default)]
struct FilePlacement {
    /// Offset of the first chunk.
    first_chunk: Option<u64>,
    /// Offset of the last structure of a chunk index, and the variable that it belongs to.
    last_index: Option<(u64, String)>,
}

impl Conformity {
    /// Examines an open file of HDF5; values are not read.
    ///
    /// # Errors
    /// `Unsupported` for other formats, `Invalid` if a rule does not fit a variable, otherwise errors of reading metadata.
    pub(crate) fn examine(dataset: &Dataset, profile: &Profile) -> Result<Self> {
        check_format(dataset)?;
        let model = complete_model(dataset)?;
        let whole = profile.whole_variables(&model);
        let mut found = Self { format: dataset.catalog().kind().to_string(), ..Self::default() };
        let mut placement = FilePlacement::default();
        for var in model.variables() {
            if model.variable(var).is_none_or(|variable| variable.fault.is_some()) {
                continue;
            }
            found.variables += 1;
            let path = model.variable_path(var);
            let wanted =
                wanted(profile, &model, var, whole.contains(&var)).map_err(|error| at(error, &path))?;
            found.faults.extend(wanted.fault);
            let part = dataset.session().wait(dataset.placement(var))?;
            found.chunks = found.chunks.saturating_add(part.chunks);
            if part.chunks > 0 {
                placement.add(part.first_data, part.last_index, path);
            }
        }
        found.faults.extend(placement.fault(dataset.catalog().facts().headers_end));
        Ok(found)
    }

    /// Whether metadata are behind the first chunk.
    pub(crate) fn is_scattered(&self) -> bool {
        self.faults.iter().any(|fault| fault.kind == ProfileFaultKind::ScatteredMetadata)
    }
}

impl FilePlacement {
    fn add(&mut self, first: Option<u64>, last: Option<u64>, path: String) {
        self.first_chunk = self.first_chunk.into_iter().chain(first).min();
        if let Some(last) = last
            && self.last_index.as_ref().is_none_or(|(known, _)| last > *known)
        {
            self.last_index = Some((last, path));
        }
    }

    /// The first structure that is behind the first chunk, if one is.
    fn fault(&self, headers_end: Option<u64>) -> Option<ProfileFault> {
        let first = self.first_chunk?;
        let message = match (&self.last_index, headers_end) {
            (Some((last, path)), _) if *last > first => {
                format!(
                    "the chunk index of {path} reaches byte {last}, behind the first chunk at byte {first}"
                )
            }
            (_, Some(end)) if end > first => {
                format!("headers of objects reach byte {end}, behind the first chunk at byte {first}")
            }
            _ => return None,
        };
        Some(ProfileFault::new(ProfileFaultKind::ScatteredMetadata, "/", message))
    }
}

/// Examines a file that is not on this machine, with at most three requests. If these do not bring all metadata, that is a
/// fault, and what they bring is examined.
///
/// # Errors
/// As [`Conformity::examine`]; errors of opening the address.
pub(crate) fn examine_remote(
    url: &str,
    profile: &Profile,
    options: &OpenOptions,
    session: &Session,
) -> Result<Conformity> {
    let opening = ncirrus_store::open(url, session.store_context());
    let mut opened = session.wait_for_store(url, opening)?;
    let front = Arc::new(FrontStore::new(Arc::clone(&opened.store), opened.root.clone()));
    opened.store = Arc::<FrontStore>::clone(&front);
    let drivers: Vec<_> =
        session.drivers().iter().filter(|driver| driver.name() == "hdf5").cloned().collect();
    let dataset = session.wait_for_store(url, session.engine().open_opened(&opened, &drivers, options));
    let examined = dataset.and_then(|dataset| match Conformity::examine(&dataset, profile) {
        Err(_) if front.beyond().is_some() => definitions_only(&dataset, profile),
        examined => examined,
    });
    match (examined, front.beyond()) {
        (Ok(found), None) => Ok(found),
        (Err(error), None) => Err(error),
        (found, Some(offset)) => {
            let mut found = found.unwrap_or_default();
            let message = format!(
                "metadata are at byte {offset}, behind the first {} bytes: the rest of the file was not examined",
                front.len()
            );
            found.faults.retain(|fault| fault.kind != ProfileFaultKind::ScatteredMetadata);
            found.faults.push(ProfileFault::new(ProfileFaultKind::ScatteredMetadata, "/", message));
            Ok(found)
        }
    }
}

/// The faults that the definitions show.
fn definitions_only(dataset: &Dataset, profile: &Profile) -> Result<Conformity> {
    let model = complete_model(dataset)?;
    let whole = profile.whole_variables(&model);
    let mut found = Conformity { format: dataset.catalog().kind().to_string(), ..Conformity::default() };
    for var in model.variables() {
        if model.variable(var).is_some_and(|variable| variable.fault.is_none()) {
            found.variables += 1;
            found.faults.extend(wanted(profile, &model, var, whole.contains(&var))?.fault);
        }
    }
    Ok(found)
}

/// The definitions with the attributes of all variables, as far as they can be read.
fn complete_model(dataset: &Dataset) -> Result<Model> {
    let mut model = Model::clone(&dataset.model());
    let is_pending = |node: &NodeId| matches!(model.attributes(*node), Some(AttributeState::Pending));
    let pending: Vec<NodeId> = model.nodes().into_iter().filter(is_pending).collect();
    let session = dataset.session();
    let found = session.wait(async { Ok(dataset.attributes(&pending).await) })?;
    for (node, attributes) in pending.iter().zip(found) {
        model.take_attributes(*node, attributes.into());
    }
    Ok(model)
}

fn check_format(dataset: &Dataset) -> Result<()> {
    let kind = dataset.catalog().kind();
    if kind.stored == Stored::Hdf5 {
        return Ok(());
    }
    Err(Error::new(ErrorKind::Unsupported, format!("profiles are of netCDF-4 files, and this is {kind}")))
}

fn at(error: Error, path: &str) -> Error {
    if error.place().path.is_some() { error } else { error.at_path(path) }
}
