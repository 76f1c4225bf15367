//! What becomes of each variable of a file.
use crate::Profile;
use crate::copy::PrescribedStorage;
use crate::profile::{WantedStorage, wanted};
use ncirrus::{Error, Model, Result};
use ncirrus_codec::names;
use ncirrus_model::{DimId, Storage, VarId, Variable};
use std::collections::BTreeMap;

/// What becomes of a variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedVariable {
    /// Its path.
    pub path: String,
    /// The names of its dimensions.
    pub dims: Vec<String>,
    /// Its shape.
    pub shape: Vec<u64>,
    /// Bytes of a decoded element; `None` if they differ, as those of strings.
    pub element_bytes: Option<u64>,
    /// Its chunk shape; `None` if it is not chunked.
    pub from: Option<Vec<u64>>,
    /// The chunk shape that it gets; `None` if it will not be chunked.
    pub to: Option<Vec<u64>>,
    /// Whether its values are decoded and encoded again. Otherwise its stored bytes are moved as they are.
    pub recoded: bool,
    /// The filters that it gets, by name, if these change.
    pub filters: Option<Vec<String>>,
    /// Why it stays as it is, although it does not fit the profile.
    pub kept: Option<String>,
}

/// What becomes of the variables of a file.
pub(super) struct FilePlan {
    pub(super) variables: Vec<PlannedVariable>,
    /// Storage and filters of all variables.
    pub(super) prescribed: BTreeMap<VarId, PrescribedStorage>,
}

impl FilePlan {
    /// Plans a file.
    ///
    /// # Errors
    /// `Unsupported` for what cannot be rewritten, `Invalid` if a rule of the profile does not fit a variable.
    pub(super) fn new(model: &Model, profile: &Profile) -> Result<Self> {
        let whole = profile.whole_variables(model);
        let mut plan = Self { variables: Vec::new(), prescribed: BTreeMap::new() };
        for var in model.variables() {
            let Some(variable) = model.variable(var) else { continue };
            let path = model.variable_path(var);
            if variable.storage == Storage::Virtual {
                let message = "is composed of other files, whose values would be copied into this one";
                return Err(Error::unsupported(message).at_path(path));
            }
            let wanted = wanted(profile, model, var, whole.contains(&var));
            let wanted = wanted.map_err(|error| error.at_path(path.as_str()))?;
            plan.add(model, (var, variable), path, wanted);
        }
        Ok(plan)
    }

    fn add(
        &mut self,
        model: &Model,
        (var, variable): (VarId, &Variable),
        path: String,
        wanted: WantedStorage,
    ) {
        let name = |dim: &DimId| model.dimension(*dim).map_or_else(String::new, |dim| dim.name.clone());
        let recoded = wanted.storage.is_some() || wanted.filters.is_some();
        let named = |filters: &[ncirrus::CodecSpec]| filters.iter().map(names::label).collect();
        let filters = wanted.filters.as_deref().map(named);
        let storage = wanted.storage.unwrap_or_else(|| variable.storage.clone());
        self.variables.push(PlannedVariable {
            path,
            dims: variable.dims.iter().map(name).collect(),
            shape: model.shape(var),
            element_bytes: model.packed_len(variable.ty),
            from: chunk_of(&variable.storage),
            to: chunk_of(&storage),
            recoded,
            filters,
            kept: wanted.kept,
        });
        let filters = wanted.filters.unwrap_or_else(|| variable.filters.clone());
        self.prescribed.insert(var, PrescribedStorage { storage, filters });
    }

    /// Whether any variable changes.
    pub(super) fn changes(&self) -> bool {
        self.variables.iter().any(|variable| variable.recoded)
    }
}

fn chunk_of(storage: &Storage) -> Option<Vec<u64>> {
    match storage {
        Storage::Chunked(chunk) => Some(chunk.clone()),
        _ => None,
    }
}
