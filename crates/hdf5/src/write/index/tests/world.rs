//! A file of nothing but a chunk index, which is changed patch by patch and read by the reading code.
use super::super::{ChunkMap, IndexGrid, UpdatedIndex, build, update};
use crate::address::{FieldSizes, FileAddress};
use crate::datatypes::{Dataspace, Datatype, DatatypeClass};
use crate::file::{Hdf5File, NodeRanks};
use crate::layout::{ElementLayout, IndexKind, StoredDataset, layout};
use crate::object::ObjectRef;
use crate::testing::{KEY, done, view};
use crate::write::space::SpaceAllocator;
use crate::write::{FilePatch, StoredChunk};
use ncirrus_layout::{CellList, Layout, Location, Result, Tag};
use ncirrus_model::CodecSpec;
use ncirrus_testkit::ObjectView;
use ncirrus_testkit::law::RandomSource;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The file, the index in its layout message, and the chunks that it should contain.
pub(super) struct IndexWorld {
    pub(super) bytes: Vec<u8>,
    pub(super) space: SpaceAllocator,
    pub(super) grid: IndexGrid,
    pub(super) kind: IndexKind,
    pub(super) addr: Option<FileAddress>,
    pub(super) chunks: ChunkMap,
    pub(super) sizes: FieldSizes,
    /// Rank of version 1 B-trees.
    pub(super) rank: u16,
    /// Chooses the order of writes that may come in any.
    random: RandomSource,
}

impl IndexWorld {
    pub(super) fn new(kind: IndexKind, grid: IndexGrid) -> Self {
        let sizes = FieldSizes { offsets: 8, lengths: 8 };
        let (bytes, space) = (vec![0xee; 96], SpaceAllocator::new(96));
        Self {
            bytes,
            space,
            grid,
            kind,
            addr: None,
            chunks: ChunkMap::new(),
            sizes,
            rank: 32,
            random: RandomSource(7),
        }
    }

    /// Rebuilds the index.
    pub(super) fn build(&mut self, chunks: ChunkMap) -> Result<()> {
        let space = &mut self.space;
        let built = build(self.kind, &self.grid, &chunks, self.sizes, &mut |len| space.take(len, 8))?;
        built.patches.iter().for_each(|patch| self.put(patch));
        (self.kind, self.addr, self.chunks) = (built.kind, built.addr, chunks);
        Ok(())
    }

    /// Plans a change.
    pub(super) fn plan(&mut self, chunks: &ChunkMap) -> Result<UpdatedIndex> {
        let view = view(self.bytes.clone());
        let index = (self.kind, self.addr);
        done(update(&view, &self.file(), index, &self.grid, chunks, &mut self.space))
    }

    /// Makes a change, and reads the index after every single write.
    pub(super) fn change(&mut self, chunks: &ChunkMap) -> Result<()> {
        let UpdatedIndex { change, layout } = self.plan(chunks)?;
        let old = self.chunks.clone();
        change.fresh.iter().for_each(|patch| self.put(patch));
        assert_eq!(self.read(chunks), self.expected(&old, chunks), "what is new changes nothing");
        let mut new = old.clone();
        new.extend(chunks.clone());
        let mut then = change.then;
        shuffle(&mut then, &mut self.random);
        assert_apart(&then);
        for patch in &then {
            self.put(patch);
            self.assert_between(&old, &new, chunks);
        }
        if let Some((kind, addr)) = layout {
            (self.kind, self.addr) = (kind, Some(addr));
        }
        self.chunks = new.clone();
        assert_eq!(self.read(chunks), self.expected(&new, chunks), "all is changed");
        for (addr, len) in change.released {
            self.space.leave(addr, len);
        }
        self.space.committed();
        Ok(())
    }

    pub(super) fn put(&mut self, patch: &FilePatch) {
        let start = usize::try_from(patch.addr.0).expect("small");
        let end = start + patch.body.len();
        assert!(end as u64 <= self.space.end().max(96), "bytes beyond the space that was taken");
        self.bytes.resize(self.bytes.len().max(end), 0xee);
        self.bytes[start..end].copy_from_slice(&patch.body);
    }

    /// Every chunk is the old or the new one.
    fn assert_between(&self, old: &ChunkMap, new: &ChunkMap, changed: &ChunkMap) {
        let found = self.read(changed);
        let (old, new) = (self.expected(old, changed), self.expected(new, changed));
        for ((found, old), new) in found.iter().zip(&old).zip(&new) {
            assert!(found == old || found == new, "{found:?} is neither {old:?} nor {new:?}");
        }
    }

    /// All relevant positions: those with chunks now or soon, and their neighbours.
    fn cells(&self, more: &ChunkMap) -> Vec<Vec<u64>> {
        let mut cells: BTreeSet<Vec<u64>> = BTreeSet::new();
        for cell in self.chunks.keys().chain(more.keys()) {
            for axis in 0..cell.len() {
                let mut next = cell.clone();
                next[axis] += 1;
                if next[axis] * self.grid.chunk[axis] < self.grid.dims[axis] {
                    cells.insert(next);
                }
            }
            cells.insert(cell.clone());
        }
        cells.into_iter().collect()
    }

    fn expected(&self, chunks: &ChunkMap, more: &ChunkMap) -> Vec<Option<StoredChunk>> {
        self.cells(more).iter().map(|cell| chunks.get(cell).copied()).collect()
    }

    /// The result of the reading code.
    pub(super) fn read(&self, more: &ChunkMap) -> Vec<Option<StoredChunk>> {
        let (view, file) = (view(self.bytes.clone()), Arc::new(self.file()));
        let datatype =
            Datatype { byte_len: self.grid.element, class: DatatypeClass::Opaque, committed: None };
        let datatype = Arc::new(datatype);
        let filters = if self.grid.filtered { vec![CodecSpec::hdf5(1, &[])] } else { Vec::new() };
        let dataset = StoredDataset {
            space: Dataspace::Simple { dims: self.grid.dims.clone(), max: self.grid.max.clone() },
            element: Arc::clone(&datatype),
            datatype,
            shape: self.grid.dims.clone(),
            arrangement: ElementLayout::Chunked {
                shape: self.grid.chunk.clone(),
                index: self.kind,
                addr: self.addr,
                edges_unfiltered: false,
                version: self.grid.version,
            },
            filter_names: vec![String::new(); filters.len()],
            filters,
        };
        let object = ObjectRef { file, addr: FileAddress(48) };
        let Layout::Grid { index, .. } = done(layout(&view, &object, &dataset)).expect("a layout") else {
            panic!("no chunks");
        };
        let mut cells = CellList::new(self.grid.chunk.len());
        self.cells(more).iter().for_each(|cell| cells.push(cell));
        let found = done(index.locate(&view, &cells)).expect("an index that can be read");
        let stored = |location, mask| match location {
            Location::Bytes(_, range) => {
                Some(StoredChunk { addr: FileAddress(range.start), len: range.end - range.start, mask })
            }
            _ => None,
        };
        found.into_iter().map(|chunk| stored(chunk.location, chunk.mask)).collect()
    }

    /// The file, declared long enough for chunks anywhere.
    pub(super) fn file(&self) -> Hdf5File {
        Hdf5File {
            object: ObjectView::id(KEY),
            tag: Tag::new("1"),
            size: 1 << 62,
            base: 0,
            sizes: self.sizes,
            version: 2,
            root: FileAddress(48),
            ranks: NodeRanks { chunk: self.rank, ..NodeRanks::default() },
            shared: None,
            page: None,
            missing: 0,
            warnings: Vec::new(),
            losses: Vec::new(),
        }
    }
}

fn shuffle(patches: &mut [FilePatch], random: &mut RandomSource) {
    for behind in (1..patches.len()).rev() {
        let at = random.below(behind as u64 + 1);
        patches.swap(behind, usize::try_from(at).expect("small"));
    }
}

/// No write reverts another.
fn assert_apart(patches: &[FilePatch]) {
    let mut places: Vec<_> = patches.iter().map(|patch| (patch.addr.0, patch.body.len() as u64)).collect();
    places.sort_unstable();
    assert!(places.windows(2).all(|pair| pair[0].0 + pair[0].1 <= pair[1].0), "{places:?}");
}
