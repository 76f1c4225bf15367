//! Conversion between the JSON of a codec and the parameters of its filter.
use super::found::{FilterEntry, NamePair};
use crate::{ChunkInfo, CodecError, names};
use ncirrus_model::{CodecSpace, CodecSpec};
use serde_json::{Map, Value};

/// The working parameters of a filter.
#[derive(Debug)]
pub(super) struct WorkingParameters {
    pub(super) parameters: Vec<u32>,
    /// Why they may be insufficient for encoding.
    pub(super) incomplete: Option<String>,
}

/// Parameters for a description.
///
/// # Errors
/// `Malformed` if the codec cannot convert it.
pub(super) fn working(
    filter: &FilterEntry,
    spec: &CodecSpec,
    chunk: &ChunkInfo,
) -> Result<WorkingParameters, CodecError> {
    let sets_local = filter.native.as_ref().is_some_and(|(native, _)| native.sets_local);
    let mut working = match spec {
        CodecSpec::Hdf5 { parameters, .. } => {
            // Parameters are complete if the codec would produce them itself.
            let incomplete =
                if !sets_local || made_by_codec(filter, parameters, chunk) { None } else { Some("") };
            WorkingParameters { parameters: parameters.clone(), incomplete: incomplete.map(str::to_owned) }
        }
        CodecSpec::V2(map) => of_members(filter, map, chunk)?,
        CodecSpec::V3 { configuration, .. } => of_members(filter, configuration, chunk)?,
    };
    working.incomplete = working.incomplete.filter(|_| sets_local);
    Ok(working)
}

/// A description in another name space.
///
/// # Errors
/// `Unsupported` if it has no name there, `Malformed` if its parameters are invalid.
pub(super) fn translate(
    filter: &FilterEntry,
    spec: &CodecSpec,
    to: CodecSpace,
    chunk: &ChunkInfo,
) -> Result<CodecSpec, CodecError> {
    if spec.space() == to {
        return Ok(spec.clone());
    }
    let parameters = working(filter, spec, chunk)?.parameters;
    if to == CodecSpace::Hdf5 || filter.native.is_none() {
        let hdf5 = CodecSpec::Hdf5 { id: filter.id, parameters, optional: true };
        return names::translate(&hdf5, to, &chunk.element);
    }
    let Some(pair) = &filter.codec else {
        let reason = "its plugin gives it no name in Zarr; a file *.ncfilter.json beside it can";
        return Err(CodecError::unsupported(&filter.label(), reason));
    };
    let mut members = match spec {
        CodecSpec::Hdf5 { .. } => members(filter, pair, &parameters)?,
        CodecSpec::V2(map) => map.clone(),
        CodecSpec::V3 { configuration, .. } => configuration.clone(),
    };
    members.shift_remove("id");
    Ok(match to {
        CodecSpace::V3 => CodecSpec::V3 { name: pair.v3().to_owned(), configuration: members },
        _ => CodecSpec::V2(with_id(pair, &members)),
    })
}

fn of_members(
    filter: &FilterEntry,
    members: &Map<String, Value>,
    chunk: &ChunkInfo,
) -> Result<WorkingParameters, CodecError> {
    match &filter.codec {
        None => Err(CodecError::unsupported(&filter.label(), "it has no name in Zarr")),
        Some(NamePair::Declared(declared, _)) => {
            let incomplete =
                (!declared.complete).then(|| "the declaration does not say that it is".to_owned());
            Ok(WorkingParameters { parameters: declared.to_parameters(members, chunk)?, incomplete })
        }
        Some(pair @ NamePair::Native(codec, path)) => {
            let json = Value::Object(with_id(pair, members)).to_string();
            let visible = codec.to_parameters(&json).map_err(|reason| {
                CodecError::malformed(&filter.label(), format!("{json}: {reason}: {}", path.display()))
            })?;
            // Decoding does without parameters that could not be completed.
            Ok(match codec.working(&visible) {
                Ok(parameters) => WorkingParameters { parameters, incomplete: None },
                Err(reason) => WorkingParameters { parameters: visible, incomplete: Some(reason) },
            })
        }
    }
}

/// Whether the codec, after describing and completing the parameters, arrives at the same ones.
fn made_by_codec(filter: &FilterEntry, parameters: &[u32], chunk: &ChunkInfo) -> bool {
    let again = || {
        let members = members(filter, filter.codec.as_ref()?, parameters).ok()?;
        of_members(filter, &members, chunk).ok()
    };
    again().is_some_and(|again| again.incomplete.is_none() && again.parameters == parameters)
}

fn members(
    filter: &FilterEntry,
    pair: &NamePair,
    parameters: &[u32],
) -> Result<Map<String, Value>, CodecError> {
    match pair {
        NamePair::Declared(declared, _) => declared.to_members(parameters),
        NamePair::Native(codec, path) => {
            let bad = |reason: String| {
                CodecError::malformed(
                    &filter.label(),
                    format!("parameters {parameters:?}: {reason}: {}", path.display()),
                )
            };
            let json = codec.to_json(parameters).map_err(bad)?;
            serde_json::from_str(&json).map_err(|error| bad(format!("{json}: {error}")))
        }
    }
}

fn with_id(pair: &NamePair, members: &Map<String, Value>) -> Map<String, Value> {
    let mut map = Map::new();
    map.insert("id".to_owned(), Value::from(pair.v2()));
    map.extend(
        members.iter().filter(|(key, _)| *key != "id").map(|(key, value)| (key.clone(), value.clone())),
    );
    map
}
