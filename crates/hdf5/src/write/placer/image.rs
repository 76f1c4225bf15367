//! All metadata of a file in one run of bytes: headers, then chunk indexes, then collections of attributes' values
//! (docs/spec/hdf5-netcdf4.md A.3, I.1, I.4).
use super::form::{ChunkArrangement, StorageForm};
use super::held::HeldElements;
use crate::address::FileAddress;
use crate::datatypes::FillMessage;
use crate::layout::{ElementLayout, IndexKind};
use crate::write::header::{MessageDraft, encode_header, header_len};
use crate::write::heap::HeapBuilder;
use crate::write::index::{self, BuiltIndex, IndexGrid};
use crate::write::objects::{
    ElementStorage, FileObject, OLD_LAYOUT, ObjectDescriber, SIZES, dimension_ids, members, type_users,
};
use crate::write::out::ByteSink;
use crate::write::space::SpaceAllocator;
use crate::write::value::encode_values;
use crate::write::{FilePatch, StoredChunk};
use bytes::Bytes;
use ncirrus_layout::{Error, Result};
use ncirrus_model::{Attribute, Fill, GroupId, Model, Values, VarId};
use std::collections::{BTreeMap, HashMap};

/// A variable's definition.
#[derive(Debug, Clone)]
pub(crate) struct VariableWrites {
    pub(crate) form: StorageForm,
    pub(crate) path: String,
    /// The shape of contiguous data.
    pub(crate) shape: Vec<u64>,
}

/// All metadata of a file.
#[derive(Debug)]
pub(super) struct MetadataImage {
    pub(super) start: FileAddress,
    pub(super) bytes: Bytes,
    /// The root group's header.
    pub(super) root: FileAddress,
    pub(super) addrs: HashMap<FileObject, FileAddress>,
}

impl MetadataImage {
    /// First address behind it.
    pub(super) fn end(&self) -> u64 {
        self.start.0 + self.bytes.len() as u64
    }
}

/// The inputs of the metadata.
pub(crate) struct ImageSource<'a> {
    pub(crate) model: &'a Model,
    pub(crate) pending_writes: &'a HashMap<VarId, VariableWrites>,
    /// The stored data; variables without an entry have none.
    pub(crate) held: &'a HashMap<VarId, HeldElements>,
    /// For HDF5 1.10 and newer.
    pub(crate) newer: bool,
    /// Whether it follows the classic model.
    pub(crate) strict: bool,
}

/// Headers before they are encoded, and their locations.
struct HeaderDrafts {
    headers: Vec<(FileObject, Vec<MessageDraft>)>,
    collections: Vec<FilePatch>,
    end: u64,
}

impl ImageSource<'_> {
    /// Checks that everything can be described.
    ///
    /// # Errors
    /// The first such thing, by name.
    pub(super) fn check(&self) -> Result<()> {
        self.drafts(&HashMap::new(), &HashMap::new(), 0).map(|_| ())
    }

    /// Size to reserve at the front before any data come, with a margin.
    ///
    /// # Errors
    /// As [`check`](Self::check).
    pub(super) fn reserve(&self) -> Result<u64> {
        let drafts = self.drafts(&HashMap::new(), &HashMap::new(), 0)?;
        let headers: u64 = drafts.headers.iter().map(|(object, header)| len_of(*object, header)).sum();
        let indexes = self.chunked().map(|(var, pending)| {
            let grid = self.grid(var, pending);
            let chunks = expected_chunks(&grid);
            let len = index::byte_len(index::choose(&grid, self.newer), &grid, chunks, SIZES);
            // For more chunks than a file can have, nothing is reserved.
            len.checked_next_multiple_of(8).unwrap_or(0)
        });
        let known = SUPERBLOCK + headers + indexes.fold(0, u64::saturating_add) + drafts.end;
        Ok(known.saturating_add(known / 8).saturating_add(1024))
    }

    /// All metadata from `start` on.
    ///
    /// # Errors
    /// As [`check`](Self::check).
    pub(super) fn build(&self, start: FileAddress) -> Result<MetadataImage> {
        let mut end = start.0;
        let mut place = |len: u64| {
            let at = end.next_multiple_of(8);
            end = at.saturating_add(len);
            FileAddress(at)
        };
        let lens = self.drafts(&HashMap::new(), &HashMap::new(), 0)?.headers;
        let addrs: HashMap<FileObject, FileAddress> =
            lens.iter().map(|(object, header)| (*object, place(len_of(*object, header)))).collect();
        let mut built = HashMap::new();
        for (var, pending) in self.chunked() {
            if let Some(HeldElements::Chunks(chunks)) = self.held.get(&var) {
                built.insert(var, self.index(var, pending, chunks, &mut place)?);
            }
        }
        let drafts = self.drafts(&addrs, &built, end.next_multiple_of(8))?;
        let root = addrs.get(&FileObject::Group(self.model.root())).copied().unwrap_or(start);
        let mut bytes = vec![0; to_len(drafts.end - start.0)?];
        for (object, header) in &drafts.headers {
            let addr = addrs.get(object).copied().unwrap_or(start);
            put(&mut bytes, start, &FilePatch { addr, body: encode_header(header, tracked(*object), 0) })?;
        }
        for patch in built.values().flat_map(|built| &built.patches).chain(&drafts.collections) {
            put(&mut bytes, start, patch)?;
        }
        Ok(MetadataImage { start, bytes: bytes.into(), root, addrs })
    }

    /// The messages of all objects; variable-length data are placed from `heap_start` on.
    fn drafts(
        &self,
        addrs: &HashMap<FileObject, FileAddress>,
        built: &HashMap<VarId, BuiltIndex>,
        heap_start: u64,
    ) -> Result<HeaderDrafts> {
        let (model, ids, users) = (self.model, dimension_ids(self.model), type_users(self.model));
        let (mut heap, mut space) = (HeapBuilder::new(SIZES), SpaceAllocator::new(heap_start));
        let mut describer = ObjectDescriber {
            model,
            sizes: SIZES,
            addrs,
            // All objects of a new file are in it.
            is_placed: false,
            ids: &ids,
            heap: &mut heap,
            space: &mut space,
        };
        let mut headers = Vec::new();
        for group in model.walk() {
            let extra = self.extra_attributes(group);
            headers.push((FileObject::Group(group), describer.group(group, &extra)?));
            for (_, object) in members(model, group)? {
                let header = match object {
                    FileObject::Group(_) => continue,
                    FileObject::Type(id) => describer
                        .committed(id, users.get(&id).copied())
                        .map_err(|error| error.at_path(model.type_path(id)))?,
                    FileObject::Dimension(id) => describer.dimension(id)?,
                    FileObject::Variable(id) => self.variable(&mut describer, id, built.get(&id))?,
                };
                headers.push((object, header));
            }
        }
        Ok(HeaderDrafts { headers, collections: heap.take(), end: space.end() })
    }

    /// The file-level attributes of the root group.
    fn extra_attributes(&self, group: GroupId) -> Vec<Attribute> {
        if group != self.model.root() {
            return Vec::new();
        }
        let mut list = vec![Attribute::text("_NCProperties", PROVENANCE)];
        list.extend(self.strict.then(|| Attribute::atomic("_nc3_strict", Values::Int(vec![1]))));
        list
    }

    /// The messages of a variable.
    ///
    /// # Errors
    /// What cannot be described, by name.
    pub(crate) fn variable(
        &self,
        describer: &mut ObjectDescriber<'_>,
        id: VarId,
        built: Option<&BuiltIndex>,
    ) -> Result<Vec<MessageDraft>> {
        let pending =
            self.pending_writes.get(&id).ok_or_else(|| Error::internal("a variable without a form"))?;
        let path = || self.model.variable_path(id);
        let variable = self.model.variable(id).ok_or_else(|| Error::not_found("no such variable"))?;
        let datatype = describer.type_of(variable.ty, variable.endianness)?;
        let mut one = || {
            let fill = &pending.form.encoding.fill;
            encode_values(&pending.form.datatype, fill, 0..1, describer.heap, describer.space)
        };
        let fill = match variable.fill {
            Fill::None => FillMessage { value: None, never: true },
            _ => FillMessage {
                value: Some(one().map_err(|error| error.at_path(path()))?.into()),
                never: false,
            },
        };
        let arrangement = self.arrangement(id, pending, built, fill.value.as_ref());
        let arrangement = arrangement.map_err(|error| error.at_path(path()))?;
        let nothing = HeldElements::nothing(pending.form.arranged);
        let held = self.held.get(&id).unwrap_or(&nothing);
        let reaches_end = |user: VarId| {
            let user_held = self.held.get(&user).zip(self.pending_writes.get(&user));
            user_held
                .is_some_and(|(held, pending)| held.reaches_end(self.model, user, pending.form.cell_shape()))
        };
        let shape = pending.form.cell_shape();
        let records = held.records(self.model, id, shape, reaches_end);
        let filters = &pending.form.encoding.codecs;
        let stowed = ElementStorage { datatype: &datatype, arrangement, filters, fill, records };
        describer.variable(id, &stowed).map_err(|error| error.at_path(path()))
    }

    fn arrangement(
        &self,
        id: VarId,
        pending: &VariableWrites,
        built: Option<&BuiltIndex>,
        fill: Option<&Bytes>,
    ) -> Result<ElementLayout> {
        let shape = self.model.shape(id);
        // Chunks may be anywhere in an array of any size; contiguous storage has a length.
        let byte_len =
            shape.iter().try_fold(pending.form.datatype.byte_len, |len, axis| len.checked_mul(*axis));
        let byte_len = match (byte_len, pending.form.arranged) {
            (Some(len), _) => len,
            (None, ChunkArrangement::Chunked) => u64::MAX,
            _ => return Err(Error::limit(format!("elements of shape {shape:?} in one piece"))),
        };
        Ok(match (self.held.get(&id), pending.form.arranged) {
            (Some(HeldElements::Compact(Some(body))), _) => ElementLayout::Compact(body.clone()),
            (_, ChunkArrangement::Compact) => {
                let len = usize::try_from(byte_len).unwrap_or(0);
                let one: Vec<u8> = fill.map_or_else(|| vec![0], |fill| fill.to_vec());
                ElementLayout::Compact(one.into_iter().cycle().take(len).collect())
            }
            (Some(HeldElements::Run { addr, .. }), _) => ElementLayout::Contiguous { addr: *addr, byte_len },
            (_, ChunkArrangement::Contiguous) => ElementLayout::Contiguous { addr: None, byte_len },
            (_, ChunkArrangement::Chunked) => {
                let grid = self.grid(id, pending);
                let index = built.map_or_else(|| self.kind(&grid), |built| built.kind);
                ElementLayout::Chunked {
                    shape: pending.form.cell_shape().to_vec(),
                    index,
                    addr: built.and_then(|built| built.addr),
                    edges_unfiltered: false,
                    version: grid.version,
                }
            }
        })
    }

    /// The kind of an index that is not built yet; its message has the final length.
    fn kind(&self, grid: &IndexGrid) -> IndexKind {
        match index::choose(grid, self.newer) {
            IndexKind::Single { .. } => IndexKind::Single { filtered: grid.filtered.then_some((0, 0)) },
            other => other,
        }
    }

    /// The index of a variable's chunks.
    ///
    /// # Errors
    /// If a chunk has no position in it.
    pub(crate) fn index(
        &self,
        var: VarId,
        pending: &VariableWrites,
        chunks: &BTreeMap<Vec<u64>, StoredChunk>,
        place: &mut dyn FnMut(u64) -> FileAddress,
    ) -> Result<BuiltIndex> {
        let grid = self.grid(var, pending);
        if chunks.is_empty() {
            return Ok(BuiltIndex { patches: Vec::new(), addr: None, kind: self.kind(&grid) });
        }
        let built = index::build(index::choose(&grid, self.newer), &grid, chunks, SIZES, place);
        built.map_err(|error| error.at_path(self.model.variable_path(var)))
    }

    /// Chunked variables in the order of the model.
    fn chunked(&self) -> impl Iterator<Item = (VarId, &VariableWrites)> {
        let pending_writes =
            self.model.variables().into_iter().filter_map(|var| Some((var, self.pending_writes.get(&var)?)));
        pending_writes.filter(|(_, pending)| pending.form.arranged == ChunkArrangement::Chunked)
    }

    fn grid(&self, var: VarId, pending: &VariableWrites) -> IndexGrid {
        let dims = self.model.shape(var);
        let growing = self.model.growing(var);
        IndexGrid {
            chunk: pending.form.cell_shape().to_vec(),
            element: pending.form.datatype.byte_len,
            max: dims.iter().zip(growing).map(|(len, grows)| (!grows).then_some(*len)).collect(),
            dims,
            filtered: !pending.form.encoding.codecs.is_empty(),
            version: if self.newer { NEW_LAYOUT } else { OLD_LAYOUT },
        }
    }
}

/// The expected number of chunks: all of a fixed shape, some more than now if an axis grows.
fn expected_chunks(grid: &IndexGrid) -> u64 {
    let along = grid.dims.iter().zip(&grid.chunk).map(|(len, chunk)| len.div_ceil((*chunk).max(1)));
    let chunks = along.fold(1, u64::saturating_mul);
    if grid.max.contains(&None) { chunks.saturating_add(chunks / 4).max(GROWING_CHUNKS) } else { chunks }
}

/// Types have no attributes; everything else keeps its order.
pub(crate) fn tracked(object: FileObject) -> bool {
    !matches!(object, FileObject::Type(_))
}

pub(crate) fn len_of(object: FileObject, header: &[MessageDraft]) -> u64 {
    header_len(header, tracked(object), 0).next_multiple_of(8)
}

/// Puts a structure into the bytes that begin at `start`.
fn put(bytes: &mut [u8], start: FileAddress, patch: &FilePatch) -> Result<()> {
    let from = patch.addr.0.checked_sub(start.0).and_then(|from| usize::try_from(from).ok());
    let place = from.and_then(|from| bytes.get_mut(from..from.checked_add(patch.body.len())?));
    let place = place.ok_or_else(|| Error::internal("a structure outside of its place"))?;
    place.copy_from_slice(&patch.body);
    Ok(())
}

fn to_len(len: u64) -> Result<usize> {
    usize::try_from(len).map_err(|_| Error::limit(format!("{len} bytes of metadata")))
}

/// The superblock of version 2 of a file that ends at `end`.
pub(super) fn superblock(end: u64, root: FileAddress) -> Bytes {
    let mut out = ByteSink::new();
    out.bytes(b"\x89HDF\r\n\x1a\n").u8(2).u8(SIZES.offsets).u8(SIZES.lengths).u8(0);
    out.addr(Some(FileAddress(0)), SIZES).addr(None, SIZES).u64(end).addr(Some(root), SIZES).checksum();
    out.finish()
}

/// Version of the layout message that HDF5 1.10 reads.
const NEW_LAYOUT: u8 = 4;
/// Minimum number of chunks of a growing variable for which space is reserved.
const GROWING_CHUNKS: u64 = 128;
/// The value of `_NCProperties`.
const PROVENANCE: &str = concat!("version=2,ncirrus=", env!("CARGO_PKG_VERSION"));

/// Bytes of the superblock.
pub(super) const SUPERBLOCK: u64 = 48;
