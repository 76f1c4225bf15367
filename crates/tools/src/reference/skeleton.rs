//! The Zarr dataset without the referenced chunks: metadata, and embedded values. It is created in memory like any
//! other, and read again to check that its chunks are what the files contain.
use super::draft::{JointVariable, ReferenceDraft};
use super::{ReferenceInput, ReferenceOptions, ZarrFormat};
use ncirrus::internals::{DatasetInternals, SessionInternals};
use ncirrus::{CodecSpec, Detail, Error, LeftOut, Result, Selection, Session};
use ncirrus_codec::{ChunkInfo, DecodedElement, names};
use ncirrus_engine::{Dataset, DatasetWriter};
use ncirrus_layout::{ChunkGrid, EdgeChunks, Layout, ObjectId, OpenOptions, Source, StoredType, Want};
use ncirrus_store::{LocalStore, MemoryStore};
use ncirrus_zarr::{Dialect, ZarrWriter};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The Zarr dataset without the referenced chunks.
pub(super) struct ZarrSkeleton {
    /// Its objects.
    pub(super) keys: BTreeMap<String, Vec<u8>>,
    /// How many of them are chunks.
    pub(super) inline: u64,
}

impl ZarrSkeleton {
    /// Creates it; variables whose chunks differ from what Zarr would store are marked.
    ///
    /// # Errors
    /// `Unsupported` naming the member that Zarr cannot represent; `Invalid` if files do not match.
    pub(super) fn build(
        draft: &mut ReferenceDraft,
        inputs: &[ReferenceInput],
        options: &ReferenceOptions,
        format: ZarrFormat,
        session: &Session,
    ) -> Result<Self> {
        let memory = MemoryStore::new("memory://references");
        let root = memory.root().child("data");
        let engine = session.engine();
        let model = draft.model.clone();
        let writing = Arc::new(match format {
            ZarrFormat::V2 => ZarrWriter::new(Dialect::Xarray).consolidated(true),
            ZarrFormat::V3 => ZarrWriter::new(Dialect::V3).consolidated(false),
        });
        engine.wait(async {
            let writer = engine.create(memory.shared(), root.clone(), writing).await?;
            let adopt = |empty: &mut ncirrus::Model| {
                *empty = model;
                Ok(())
            };
            writer.edit(adopt).await?;
            writer.close().await
        })?;
        let how = OpenOptions::default();
        let opening = engine.open(memory.shared(), root.clone(), session.drivers(), &how);
        let dataset = engine.wait(opening)?;
        for variable in &mut draft.variables {
            if let Err(reason) = engine.wait(async { Ok(check(variable, &dataset).await) })? {
                (variable.chunk, variable.reason) = (None, reason);
            }
        }
        let writer = engine.wait(engine.update(&dataset))?;
        put_values(draft, &writer, inputs, options, session)?;
        engine.wait(writer.close())?;
        let keys = keys(&memory, &root)?;
        let is_chunk = |key: &&String| {
            let name = key.rsplit('/').next().unwrap_or_default();
            !name.starts_with(".z") && name != "zarr.json"
        };
        let inline = keys.keys().filter(is_chunk).count() as u64;
        Ok(Self { keys, inline })
    }
}

/// Whether the chunks of the files are those of the dataset; otherwise why not.
async fn check(variable: &JointVariable, dataset: &Dataset) -> std::result::Result<(), String> {
    let Some(chunk) = &variable.chunk else { return Err(variable.reason.clone()) };
    let there = dataset.model().variable_at(&variable.path).ok_or("Zarr cannot store it")?;
    let there = dataset.source(there).await.map_err(|error| error.to_string())?;
    let Layout::Grid { grid, edge: EdgeChunks::Full, codecs, .. } = &there.layout else {
        return Err("Zarr would not chunk it".to_owned());
    };
    let first = grid.cell_shape(&vec![0; chunk.len()]).unwrap_or_default();
    if first != *chunk || matches!(grid, ChunkGrid::Rectilinear(_)) != variable.lengths.is_some() {
        return Err(format!("Zarr would use chunks of {first:?}, not {chunk:?}"));
    }
    let fits = |source: &Source| {
        let none = Arc::from([]);
        let theirs: &Arc<[CodecSpec]> = match &source.layout {
            Layout::Grid { codecs, .. } => codecs,
            _ => &none,
        };
        let byte_len = source.stored.byte_len().and_then(|len| usize::try_from(len).ok());
        let info = ChunkInfo { shape: chunk.clone(), element: DecodedElement::sized(byte_len) };
        let (theirs, ours) = (without_sums(theirs), without_sums(codecs));
        same_elements(&source.stored, &there.stored) && names::make_same_bytes(&theirs, &ours, &info)
    };
    let odd = variable.parts.iter().any(|part| !fits(&part.source));
    if odd { Err("Zarr would store its elements or filters differently".to_owned()) } else { Ok(()) }
}

/// Without the checksums of HDF5, which numcodecs verifies as they are; which codecs exist is already known.
fn without_sums(codecs: &[CodecSpec]) -> Vec<CodecSpec> {
    let is_sum = |codec: &CodecSpec| match codec {
        CodecSpec::Hdf5 { id, .. } => *id == 3,
        CodecSpec::V2(map) => map.get("id").is_some_and(|id| id == "fletcher32"),
        CodecSpec::V3 { name, .. } => name == "numcodecs.fletcher32",
    };
    codecs.iter().filter(|codec| !is_sum(codec)).cloned().collect()
}

/// Whether elements are stored with the same bytes; single bytes have no byte order.
fn same_elements(one: &StoredType, other: &StoredType) -> bool {
    let plain = |stored: &StoredType| match stored {
        StoredType::Integer { size: 1, signed, .. } => {
            StoredType::Integer { size: 1, signed: *signed, order: ncirrus_layout::ByteOrder::Little }
        }
        other => other.clone(),
    };
    plain(one) == plain(other)
}

/// Embeds the values of small variables without references, and removes the large ones.
fn put_values(
    draft: &mut ReferenceDraft,
    writer: &DatasetWriter,
    inputs: &[ReferenceInput],
    options: &ReferenceOptions,
    session: &Session,
) -> Result<()> {
    let (mut gone, model) = (Vec::new(), writer.model());
    for variable in draft.variables.iter().filter(|variable| variable.chunk.is_none()) {
        let Some(var) = model.variable_at(&variable.path) else { continue };
        let ty = model.variable(var).and_then(|variable| model.packed_len(variable.ty));
        let count = model.shape(var).iter().fold(ty.unwrap_or(16), |all, len| all.saturating_mul(*len));
        if count > options.inline_values {
            let reason = format!("{count} bytes without references: {}", variable.reason);
            // A variable of one file can be left out with a note; without that of a joined one, the result would lack
            // records.
            if variable.parts.len() > 1 {
                let error = Error::invalid(reason).at_path(&variable.path);
                return Err(error.with_detail(Detail::JoinedByAggregation));
            }
            gone.push(LeftOut { path: variable.path.clone(), reason });
            continue;
        }
        for part in &variable.parts {
            let input = inputs.get(part.input).ok_or_else(|| Error::internal("no such file"))?;
            let mut start = vec![0; part.shape.len()];
            if let Some(slot) = variable.axis.and_then(|axis| start.get_mut(axis)) {
                *slot = part.start;
            }
            let (all, to) = (Selection::all(&part.shape), Selection::slab(&start, &part.shape));
            session.engine().wait(async {
                let values = input.dataset.reader()?.read(part.var, &all).await?;
                writer.write(var, &to, &values).await
            })?;
        }
    }
    // Only now: removals renumber nothing that `model`, a snapshot, is asked for above.
    for left in gone {
        let path = left.path.clone();
        let remove = |model: &mut ncirrus::Model| {
            let var = model.variable_at(&path);
            var.map_or(Ok(()), |var| Ok(model.remove_variable(var).map(|_| ())?))
        };
        session.engine().wait(writer.edit(remove))?;
        draft.variables.retain(|variable| variable.path != left.path);
        draft.left_out.push(left);
    }
    Ok(())
}

/// All objects of the dataset.
fn keys(memory: &MemoryStore, root: &ObjectId) -> Result<BTreeMap<String, Vec<u8>>> {
    let mut keys = BTreeMap::new();
    for key in memory.keys() {
        let Some(below) = key.strip_prefix(root.key()).and_then(|below| below.strip_prefix('/')) else {
            continue;
        };
        if let Some(blob) = memory.read(&memory.root().child(&key), &Want::All)? {
            keys.insert(below.to_owned(), blob.bytes.to_vec());
        }
    }
    Ok(keys)
}
