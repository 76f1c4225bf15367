//! New files at the end of existing references: only the new files are scanned.
use super::embed::{EmbeddedArray, ValueSources, embedded, is_replaceable};
use super::json::{ReferenceKeys, StoredReference};
use ncirrus::{Detail, Error, Result, Session};
use ncirrus_store::{Reference, open_references};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Existing references.
pub(super) struct ExistingReferences {
    references: BTreeMap<String, Reference>,
    /// Rows of each file, if they are stored in Parquet.
    pub(super) record_size: Option<u64>,
}

/// Metadata of arrays and groups by key.
type Documents = BTreeMap<String, Value>;

impl ExistingReferences {
    /// Reads the references at an address.
    ///
    /// # Errors
    /// `NotFound` if there are none, errors of reading them.
    pub(super) fn read(target: &str, session: &Session) -> Result<Self> {
        session.wait_for_store(target, async {
            let found = open_references(target, session.store_context()).await?;
            let found = found.ok_or_else(|| {
                Error::not_found("no references to which files could be added").at_object(target)
            })?;
            let references = found.references().await?.into_iter().collect();
            Ok(Self { references, record_size: found.record_size() })
        })
    }

    /// The references with those of new files, which continue the dimension `axis`.
    ///
    /// # Errors
    /// `Invalid` naming the variable whose metadata do not fit; errors of reading values that are embedded.
    pub(super) fn extended(
        self,
        added: ReferenceKeys,
        axis: &str,
        sources: &ValueSources<'_>,
    ) -> Result<ReferenceKeys> {
        let (variables, mut chunks) = split(self.references, |reference| match reference {
            Reference::Inline(body) => StoredReference::Inline(body.to_vec()),
            Reference::Whole(name) => StoredReference::Whole(name.into()),
            Reference::Range(name, offset, len) => StoredReference::Range(name.into(), offset, len),
        })?;
        let (others, new_chunks) = split(added.into_entries().collect(), |reference| reference)?;
        let whole = |array: &str, grown: &Value, at: usize| match is_replaceable(&chunks, array) {
            true => embedded(sources, array, grown, at),
            false => Ok(None),
        };
        let joined = joined(&variables, &others, axis, whole)?;
        for (key, reference) in new_chunks {
            let (array, cell) = key.rsplit_once('/').unwrap_or(("", key.as_str()));
            // Variables without the axis stay as they are.
            let Some(along) = joined.along.get(array) else { continue };
            chunks.insert(format!("{array}/{}", along.moved(cell)?), reference);
        }
        let mut metadata = variables;
        metadata.extend(joined.metadata);
        for (array, whole) in joined.embedded {
            let prefix = format!("{array}/");
            chunks.retain(|key, _| !key.starts_with(&prefix));
            chunks.insert(format!("{prefix}{}", whole.cell), whole.chunk);
            metadata.insert(format!("{prefix}.zarray"), whole.metadata);
        }
        Ok(ReferenceKeys::of_parts(&metadata, chunks))
    }
}

/// Metadata, and chunks.
fn split<T>(
    all: BTreeMap<String, T>,
    convert: impl Fn(T) -> StoredReference,
) -> Result<(Documents, BTreeMap<String, StoredReference>)> {
    let (mut documents, mut chunks) = (Documents::new(), BTreeMap::new());
    for (key, reference) in all {
        let name = key.rsplit('/').next().unwrap_or_default();
        if name == "zarr.json" {
            return Err(Error::unsupported("adding to references of Zarr v3"));
        }
        match convert(reference) {
            StoredReference::Inline(body) if name.starts_with(".z") => {
                let document = serde_json::from_slice(&body);
                let failed =
                    |error| Error::malformed("metadata that are not JSON").because(error).at_object(&key);
                documents.insert(key.clone(), document.map_err(failed)?);
            }
            reference => _ = chunks.insert(key, reference),
        }
    }
    documents.remove(".zmetadata");
    Ok((documents, chunks))
}

/// What arrays that grow have afterwards.
struct JoinedArrays {
    metadata: Documents,
    /// By the path of the array.
    along: BTreeMap<String, GrowingAxis>,
    /// Those that have one embedded chunk afterwards, by their path.
    embedded: BTreeMap<String, EmbeddedArray>,
}

/// The axis along which an array grows, and its number of chunks so far.
struct GrowingAxis {
    axis: usize,
    chunks: u64,
}

impl GrowingAxis {
    /// The end of the key of a chunk of the new files.
    fn moved(&self, cell: &str) -> Result<String> {
        let mut indices: Vec<String> = cell.split('.').map(str::to_owned).collect();
        let index = indices.get_mut(self.axis);
        let index = index.ok_or_else(|| Error::internal(format!("a chunk {cell} without the axis")))?;
        let moved = index.parse::<u64>().ok().and_then(|at| at.checked_add(self.chunks));
        *index = moved.ok_or_else(|| Error::internal(format!("a chunk {cell}")))?.to_string();
        Ok(indices.join("."))
    }
}

/// Joins metadata; `whole` embeds the values of an array whose chunks cannot follow each other, if it can.
fn joined(
    old: &Documents,
    new: &Documents,
    axis: &str,
    whole: impl Fn(&str, &Value, usize) -> Result<Option<EmbeddedArray>>,
) -> Result<JoinedArrays> {
    let mut joined =
        JoinedArrays { metadata: Documents::new(), along: BTreeMap::new(), embedded: BTreeMap::new() };
    for (key, metadata) in old.iter().filter(|(key, _)| key.ends_with("/.zarray")) {
        let array = key.trim_end_matches("/.zarray");
        let Some(at) = axis_of(old, array, axis) else { continue };
        let odd = |what: String| {
            Error::invalid(what).at_path(format!("/{array}")).with_detail(Detail::JoinedByAggregation)
        };
        let other = new.get(key).ok_or_else(|| odd("the new files do not have the variable".to_owned()))?;
        if axis_of(new, array, axis) != Some(at) {
            return Err(odd(format!("the new files do not have the dimension {axis:?} there")));
        }
        let key_of_attributes = format!("{array}/.zattrs");
        check_attributes(old.get(&key_of_attributes), new.get(&key_of_attributes)).map_err(&odd)?;
        let grown = grown(metadata, other, at).map_err(&odd)?;
        match following(metadata, other, at) {
            Ok(along) => {
                joined.metadata.insert(key.clone(), grown);
                joined.along.insert(array.to_owned(), along);
            }
            Err(reason) => {
                let whole = whole(array, &grown, at)?.ok_or_else(|| odd(reason))?;
                joined.embedded.insert(array.to_owned(), whole);
            }
        }
    }
    let unknown = new.keys().find(|key| {
        let array = key.strip_suffix("/.zarray");
        array.is_some_and(|array| axis_of(new, array, axis).is_some() && !old.contains_key(*key))
    });
    if let Some(key) = unknown {
        let path = key.trim_end_matches("/.zarray");
        return Err(Error::invalid("the references do not have this variable").at_path(format!("/{path}")));
    }
    if joined.along.is_empty() && joined.embedded.is_empty() {
        return Err(Error::invalid(format!("no variable of the references has the dimension {axis:?}")));
    }
    Ok(joined)
}

/// The number of an axis by the name of its dimension.
fn axis_of(documents: &Documents, array: &str, axis: &str) -> Option<usize> {
    let names = documents.get(&format!("{array}/.zattrs"))?.get("_ARRAY_DIMENSIONS")?.as_array()?;
    names.iter().position(|name| name == axis)
}

/// Chunks are not rewritten: whatever says how bytes become values must be alike.
fn check_attributes(old: Option<&Value>, new: Option<&Value>) -> std::result::Result<(), String> {
    for name in
        ["units", "calendar", "scale_factor", "add_offset", "_FillValue", "missing_value", "_Unsigned"]
    {
        let of = |attributes: Option<&Value>| attributes.and_then(|all| all.get(name)).cloned();
        if of(old) != of(new) {
            return Err(format!("attribute {name} of the new files differs from the references"));
        }
    }
    Ok(())
}

/// How the chunks of the new files follow the others, or why they cannot.
fn following(old: &Value, new: &Value, axis: usize) -> std::result::Result<GrowingAxis, String> {
    for name in ["dtype", "chunks", "compressor", "filters", "order", "dimension_separator"] {
        let (old, new) = (old.get(name).unwrap_or(&Value::Null), new.get(name).unwrap_or(&Value::Null));
        if old != new {
            return Err(format!("{name} of the new files is {new}, that of the references {old}"));
        }
    }
    let along = |name: &str| lens(old, name).and_then(|lens| lens.get(axis).copied()).ok_or_else(no_shape);
    let (len, chunk) = (along("shape")?, along("chunks")?.max(1));
    if !len.is_multiple_of(chunk) {
        return Err(format!(
            "the last chunk of the references along the axis is not full: {len} of chunks of {chunk}"
        ));
    }
    Ok(GrowingAxis { axis, chunks: len / chunk })
}

fn lens(metadata: &Value, name: &str) -> Option<Vec<u64>> {
    metadata.get(name)?.as_array()?.iter().map(Value::as_u64).collect()
}

fn no_shape() -> String {
    "metadata without a valid shape".to_owned()
}

/// The metadata of an array that is longer along an axis.
fn grown(old: &Value, new: &Value, axis: usize) -> std::result::Result<Value, String> {
    let (mut shape, added) =
        (lens(old, "shape").ok_or_else(no_shape)?, lens(new, "shape").ok_or_else(no_shape)?);
    let differs = |(at, (one, other)): (usize, (&u64, &u64))| at != axis && one != other;
    if shape.len() != added.len() || shape.iter().zip(&added).enumerate().any(differs) {
        return Err(format!("shape {added:?} where the references have {shape:?}"));
    }
    let more = *added.get(axis).ok_or_else(no_shape)?;
    let slot = shape.get_mut(axis).ok_or_else(no_shape)?;
    *slot = slot.checked_add(more).ok_or_else(|| "too long".to_owned())?;
    let mut metadata: Map<String, Value> = old.as_object().cloned().unwrap_or_default();
    metadata.insert("shape".to_owned(), json!(shape));
    // A fill value that only one side needs is that of both, as long as the other side has no missing chunks.
    let fill = |metadata: &Value| metadata.get("fill_value").cloned().unwrap_or_default();
    match (fill(old), fill(new)) {
        (one, other) if one == other => {}
        (Value::Null, fill) => _ = metadata.insert("fill_value".to_owned(), fill),
        (_, Value::Null) => {}
        (one, other) => return Err(format!("fill value {other} where the references have {one}")),
    }
    Ok(Value::Object(metadata))
}
