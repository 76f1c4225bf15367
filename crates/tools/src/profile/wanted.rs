//! How a profile wants a variable to be stored.
use super::Profile;
use super::chunk_shape::{ChunkFault, VariableGeometry};
use super::fault::{ProfileFault, ProfileFaultKind};
use crate::FilterRule;
use crate::copy::storage_by_rules;
use ncirrus::Result;
use ncirrus_codec::{ChunkInfo, names};
use ncirrus_engine::element_in;
use ncirrus_model::{CodecSpace, CodecSpec, Model, Storage, VarId, Variable};

/// How a variable is to be stored, as far as it is not stored so already.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct WantedStorage {
    /// Another storage.
    pub(crate) storage: Option<Storage>,
    /// Other filters.
    pub(crate) filters: Option<Vec<CodecSpec>>,
    /// How it does not fit the profile.
    pub(crate) fault: Option<ProfileFault>,
    /// Why it stays as it is, although it does not fit.
    pub(crate) kept: Option<String>,
}

/// How a profile wants a variable to be stored; `whole` if it is to be one chunk.
///
/// # Errors
/// `Invalid` if a rule does not fit the variable.
pub(crate) fn wanted(profile: &Profile, model: &Model, var: VarId, whole: bool) -> Result<WantedStorage> {
    let Some(variable) = model.variable(var) else { return Ok(WantedStorage::default()) };
    let path = || model.variable_path(var);
    let mut wanted = WantedStorage::default();
    if let Some(filters) = FilterRule::choose(&profile.filters, model, var)
        && !variable.dims.is_empty()
        && model.packed_len(variable.ty).is_some()
        && !model.shape(var).contains(&0)
        && !has_filters(model, variable, filters)
    {
        wanted.filters = Some(filters.to_vec());
        // Only chunks have filters.
        let is_chunked = filters.is_empty() || matches!(variable.storage, Storage::Chunked(_));
        wanted.storage = (!is_chunked).then_some(Storage::Default);
        let message = format!("has the filters {}, not {}", listed(&variable.filters), listed(filters));
        wanted.fault = Some(ProfileFault::new(ProfileFaultKind::OtherFilters, path(), message));
    }
    let by_rule = storage_by_rules(&profile.chunks, model, var)?;
    if let Some(storage) = by_rule.filter(|_| !variable.dims.is_empty()) {
        if storage != variable.storage {
            let message = format!("is stored as {}, not as {}", shown(&variable.storage), shown(&storage));
            wanted.fault = Some(ProfileFault::new(ProfileFaultKind::OtherChunks, path(), message));
            wanted.storage = Some(storage);
        }
    } else if let Some(geometry) = VariableGeometry::of(model, var, whole)
        && let Some(fault) = geometry.fault(profile)
    {
        wanted.fault = Some(described(&fault, &geometry, profile, path()));
        match geometry.fitted(profile) {
            Some(chunk) => wanted.storage = Some(Storage::Chunked(chunk)),
            None => wanted.kept = Some("HDF5 cannot store chunks of the size that is needed".to_owned()),
        }
    }
    if wanted.storage.is_some() && wanted.filters.is_none() && changes_again(model, variable) {
        wanted.storage = None;
        let filters = listed(&variable.filters);
        wanted.kept = Some(format!("encoding its values again with {filters} would change them"));
    }
    Ok(wanted)
}

/// Whether the filters of a variable make the bytes that others would make.
fn has_filters(model: &Model, variable: &Variable, others: &[CodecSpec]) -> bool {
    let Storage::Chunked(shape) = &variable.storage else { return others.is_empty() };
    let chunk = ChunkInfo { shape: shape.clone(), element: element_in(model, variable) };
    let stored = |spec: &CodecSpec| names::translate(spec, CodecSpace::Hdf5, &chunk.element);
    let others = others.iter().map(|spec| stored(spec).unwrap_or_else(|_| spec.clone()));
    names::make_same_bytes(&variable.filters, &others.collect::<Vec<_>>(), &chunk)
}

/// Whether values that are decoded and encoded again may differ.
fn changes_again(model: &Model, variable: &Variable) -> bool {
    names::without_change(&variable.filters, &element_in(model, variable)).is_some()
}

/// Whether filters have the same names; parameters may be completed on writing.
pub(crate) fn same_filters(one: &[CodecSpec], other: &[CodecSpec]) -> bool {
    one.len() == other.len()
        && one.iter().zip(other).all(|(one, other)| names::label(one) == names::label(other))
}

fn listed(filters: &[CodecSpec]) -> String {
    if filters.is_empty() {
        return "none".to_owned();
    }
    filters.iter().map(names::label).collect::<Vec<_>>().join(", ")
}

fn shown(storage: &Storage) -> String {
    match storage {
        Storage::Chunked(chunk) => format!("chunks of {chunk:?}"),
        Storage::Contiguous => "one run of elements".to_owned(),
        Storage::Compact => "a part of the metadata".to_owned(),
        Storage::Default | Storage::Virtual => "the format chooses".to_owned(),
    }
}

fn described(
    fault: &ChunkFault,
    geometry: &VariableGeometry,
    profile: &Profile,
    path: String,
) -> ProfileFault {
    let chunk = &geometry.chunk;
    let (kind, message) = match fault {
        ChunkFault::Several { chunks } => (
            ProfileFaultKind::NotOneChunk,
            format!("has {chunks} chunks of {chunk:?}, where one is required"),
        ),
        ChunkFault::Small { bytes } => (
            ProfileFaultKind::SmallChunks,
            format!(
                "has chunks of {chunk:?}, {bytes} bytes each, and at least {} are required",
                profile.min_chunk_bytes
            ),
        ),
        ChunkFault::Large { bytes } => (
            ProfileFaultKind::LargeChunks,
            format!(
                "has chunks of {chunk:?}, {bytes} bytes each, and at most {} are allowed",
                profile.max_chunk_bytes.unwrap_or(u64::MAX)
            ),
        ),
    };
    ProfileFault::new(kind, path, message)
}
