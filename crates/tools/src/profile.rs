//! Profiles: how the variables of a netCDF-4 file are to be stored, so that few requests read them.
mod chunk_shape;
mod conformity;
mod fault;
mod front_store;
mod text;
mod wanted;

pub(crate) use chunk_shape::VariableGeometry;
pub(crate) use conformity::{Conformity, examine_remote};
pub(crate) use fault::ProfileFaultKind;
pub(crate) use front_store::CountingStore;
pub(crate) use wanted::{WantedStorage, same_filters, wanted};

use crate::aggregate::{is_time, known_attributes};
use crate::{ChunkRule, FilterRule};
use ncirrus::{Error, Result};
use ncirrus_model::{Model, NodeId, VarId};
use std::collections::BTreeSet;
use std::path::Path;

/// How the variables of a file are to be stored: limits of the size of chunks, variables that are one chunk, and rules for
/// single variables. All metadata are in one block at the front of the file in every profile.
///
/// ```
/// use ncirrus_tools::Profile;
///
/// assert_eq!(Profile::parse("cmip7")?.min_chunk_bytes, 4 << 20);
/// assert!(Profile::parse("cmip8").is_err());
/// # Ok::<(), ncirrus::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Profile {
    /// Its name: `cmip7`, `cloud`, or the path of the file that describes it.
    pub name: String,
    /// Minimum size of the decoded chunks of a variable that has several.
    pub min_chunk_bytes: u64,
    /// Maximum size of decoded chunks.
    pub max_chunk_bytes: Option<u64>,
    /// Which axes become longer when chunks are too small.
    pub growth: ChunkGrowth,
    /// Whether coordinates of time and their bounds are one chunk each.
    pub whole_times: bool,
    /// Names or paths of further variables that are one chunk each.
    pub whole: Vec<String>,
    /// Chunk shapes that take precedence over the limits.
    pub chunks: Vec<ChunkRule>,
    /// Filters of variables; those without a rule keep theirs.
    pub filters: Vec<FilterRule>,
}

/// Which axes of a chunk become longer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChunkGrowth {
    /// The slowest one, then the next if that is not enough: existing chunks are put together whole.
    Slowest,
    /// All of them, so that a map and a series touch about as many chunks each.
    Balanced,
}

/// The size from which cmip7 accepts chunks.
const CMIP7_CHUNK: u64 = 4 << 20;
/// The sizes between which chunks suit object stores.
const CLOUD_CHUNKS: (u64, u64) = (1 << 20, 16 << 20);

impl Profile {
    /// The storage that CMIP7 requires: coordinates of time and their bounds in one chunk each, data in chunks of at least
    /// 4 MiB.
    pub fn cmip7() -> Self {
        Self {
            name: "cmip7".to_owned(),
            min_chunk_bytes: CMIP7_CHUNK,
            max_chunk_bytes: None,
            growth: ChunkGrowth::Slowest,
            ..Self::cloud()
        }
    }

    /// Cloud-optimized HDF5: chunks of 1 to 16 MiB, coordinates of time in one chunk each.
    pub fn cloud() -> Self {
        Self {
            name: "cloud".to_owned(),
            min_chunk_bytes: CLOUD_CHUNKS.0,
            max_chunk_bytes: Some(CLOUD_CHUNKS.1),
            growth: ChunkGrowth::Balanced,
            whole_times: true,
            whole: Vec::new(),
            chunks: Vec::new(),
            filters: Vec::new(),
        }
    }

    /// The profile of that name, or of the TOML file at that path, whose name ends in `.toml`.
    ///
    /// # Errors
    /// `Invalid` for an unknown name, or a text that cannot be parsed; errors of reading the file.
    pub fn parse(name: &str) -> Result<Self> {
        match name {
            "cmip7" => Ok(Self::cmip7()),
            "cloud" => Ok(Self::cloud()),
            path if Path::new(path).extension().is_some_and(|ending| ending.eq_ignore_ascii_case("toml")) => {
                let text = std::fs::read_to_string(path);
                let text = text.map_err(|error| ncirrus_store::fault::of_io(error, path))?;
                Self::from_toml(path, &text)
            }
            _ => Err(Error::invalid(format!("profile {name:?}: expected cmip7, cloud or a file FILE.toml"))),
        }
    }

    /// The variables that are one chunk each: coordinates of time with their bounds, and those that the profile names.
    pub(crate) fn whole_variables(&self, model: &Model) -> BTreeSet<VarId> {
        let mut whole = BTreeSet::new();
        for var in model.variables() {
            if self.whole.iter().any(|name| crate::copy::is_named(model, var, name)) {
                whole.insert(var);
            }
            if self.whole_times && is_time_coordinate(model, var) {
                whole.insert(var);
                whole.extend(bounds_of(model, var));
            }
        }
        whole
    }
}

/// Whether a variable is the coordinate of a dimension, and a time.
fn is_time_coordinate(model: &Model, var: VarId) -> bool {
    let Some(variable) = model.variable(var) else { return false };
    let [dim] = variable.dims.as_slice() else { return false };
    let is_coordinate = model.dimension(*dim).is_some_and(|dim| dim.name == variable.name);
    is_coordinate && (variable.name == "time" || is_time(&known_attributes(model, NodeId::Variable(var))))
}

/// The variables that hold the bounds of a coordinate.
fn bounds_of(model: &Model, var: VarId) -> impl Iterator<Item = VarId> + '_ {
    let group = model.variable_group(var);
    let attributes = known_attributes(model, NodeId::Variable(var));
    let names = ["bounds", "climatology"].into_iter();
    let names = names.filter_map(move |name| attributes.find(name).and_then(ncirrus::Attribute::as_text));
    names.filter_map(move |name| crate::copy::in_scope(model, group?, name.trim()))
}
