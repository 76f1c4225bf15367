//! Files with chunk indexes built and changed here are read and changed by HDF5.
use super::world::IndexWorld;
use super::{LARGE_ARRAY, ONE_BLOCK, grid};
use crate::address::FileAddress;
use crate::checksum::lookup3;
use crate::datatypes::{Dataspace, FillMessage};
use crate::layout::{ElementLayout, IndexKind};
use crate::object::kind;
use crate::testing::build::superblock;
use crate::write::header::{MessageDraft, encode_header};
use crate::write::index::{ChunkMap, IndexGrid};
use crate::write::types::datatype_of;
use crate::write::{FilePatch, StoredChunk, message};
use bytes::Bytes;
use ncirrus_model::{Atomic, CodecSpec, Endianness, Model};
use ncirrus_testkit::corpus::peers_python;
use serde_json::{Value, json};
use std::process::Command;

const SCRIPT: &str = include_str!("peers.py");

/// A file with a dataset `d` of 4-byte integers, and its written elements.
struct PeerFile {
    world: IndexWorld,
    written: Vec<(u64, i32)>,
}

impl PeerFile {
    fn new(kind: IndexKind, grid: IndexGrid) -> Self {
        Self { world: IndexWorld::new(kind, grid), written: Vec::new() }
    }

    /// Puts the data of chunks; filtered datasets skip the filter.
    fn data(&mut self, cells: impl IntoIterator<Item = Vec<u64>>, value: i32) -> ChunkMap {
        let grid = self.world.grid.clone();
        let len = grid.chunk.iter().product::<u64>();
        let body = Bytes::from(value.to_le_bytes().repeat(usize::try_from(len).unwrap()));
        let mut chunks = ChunkMap::new();
        for cell in cells {
            let addr = self.world.space.take(4 * len, 8);
            self.world.put(&FilePatch { addr, body: body.clone() });
            let elements = elements(&grid, &cell);
            self.written.retain(|(at, _)| !elements.contains(at));
            self.written.extend(elements.into_iter().map(|at| (at, value)));
            chunks.insert(cell, StoredChunk { addr, len: 4 * len, mask: u32::from(grid.filtered) });
        }
        chunks
    }

    /// The whole file.
    fn finish(mut self) -> (Vec<u8>, Value) {
        self.written.sort_unstable();
        let (at, values): (Vec<_>, Vec<_>) = self.written.iter().copied().unzip();
        let header = encode_header(&drafts(&self.world), true, 0);
        let dataset = self.add(header);
        let sizes = self.world.sizes;
        let links = [
            draft(kind::LINK_INFO, message::link_info(1, sizes)),
            draft(kind::GROUP_INFO, message::group_info()),
            draft(kind::LINK, message::link("d", 0, dataset, sizes).unwrap()),
        ];
        let root = self.add(encode_header(&links, true, 0));
        let mut bytes = self.world.bytes;
        let end = self.world.space.end();
        bytes.resize(usize::try_from(end).unwrap(), 0);
        bytes[..48].copy_from_slice(&superblock(2, 0, 0, u64::MAX, end, root.0));
        assert_eq!(bytes[44..48], lookup3(&bytes[..44]).to_le_bytes());
        (bytes, json!([at, values]))
    }

    fn add(&mut self, body: Bytes) -> FileAddress {
        let addr = self.world.space.take(body.len() as u64, 8);
        self.world.put(&FilePatch { addr, body });
        addr
    }
}

fn drafts(world: &IndexWorld) -> Vec<MessageDraft> {
    let IndexWorld { grid, sizes, .. } = world;
    let datatype = datatype_of(&Model::new(), Atomic::Int.into(), Endianness::Little).unwrap();
    let arrangement = ElementLayout::Chunked {
        shape: grid.chunk.clone(),
        index: world.kind,
        addr: world.addr,
        edges_unfiltered: false,
        version: grid.version,
    };
    let space = Dataspace::Simple { dims: grid.dims.clone(), max: grid.max.clone() };
    let mut drafts = vec![
        draft(kind::DATASPACE, message::dataspace(&space, *sizes)),
        draft(kind::DATATYPE, message::datatype(&datatype).unwrap()),
        draft(kind::FILL, message::fill(&FillMessage::default(), 3).unwrap()),
        draft(kind::LAYOUT, message::layout(&arrangement, 4, *sizes).unwrap()),
    ];
    if grid.filtered {
        drafts.push(draft(kind::PIPELINE, message::pipeline(&[CodecSpec::hdf5(1, &[1])]).unwrap()));
    }
    drafts
}

fn draft(kind: u16, body: Bytes) -> MessageDraft {
    MessageDraft { kind, flags: 0, order: 0, body }
}

/// Numbers of a chunk's elements in the dataset, as far as they are inside.
fn elements(grid: &IndexGrid, cell: &[u64]) -> Vec<u64> {
    let mut numbers = vec![0];
    for ((at, chunk), len) in cell.iter().zip(&grid.chunk).zip(&grid.dims) {
        let along = at * chunk..((at + 1) * chunk).min(*len);
        numbers =
            numbers.iter().flat_map(|before| along.clone().map(move |along| before * len + along)).collect();
    }
    numbers
}

/// One dataset after the other: kind of index, shape, chunks at first, chunks that come later.
fn made() -> Vec<(String, PeerFile)> {
    let line = |numbers: Vec<u64>| numbers.into_iter().map(|at| vec![at]).collect::<Vec<_>>();
    let box_of =
        |columns: Vec<u64>| columns.into_iter().flat_map(|at| [vec![0, at], vec![2, at]]).collect::<Vec<_>>();
    let long = |len: u64, grows: bool| (vec![1], vec![len], vec![grows]);
    let wide = |grows: [bool; 2]| (vec![2, 5], vec![5, 200], grows.to_vec());
    let near: Vec<u64> = (0..900).collect();
    let far: Vec<u64> = (0..2500).step_by(3).chain(150_000..150_030).collect();
    let cases = [
        (
            "tree1",
            IndexKind::BTree1,
            3,
            wide([true, true]),
            box_of((0..20).collect()),
            box_of((5..40).collect()),
        ),
        ("tree1 deep", IndexKind::BTree1, 3, long(160_000, true), line(near.clone()), line(far.clone())),
        (
            "tree2",
            IndexKind::BTree2,
            4,
            wide([true, true]),
            box_of((0..20).collect()),
            box_of((5..40).collect()),
        ),
        ("tree2 deep", IndexKind::BTree2, 4, long(160_000, true), line(near.clone()), line(far.clone())),
        (
            "tree2 fixed",
            IndexKind::BTree2,
            4,
            wide([false, false]),
            box_of(vec![0, 7]),
            box_of((5..9).collect()),
        ),
        ("array", LARGE_ARRAY, 4, wide([false, true]), box_of((0..20).collect()), box_of((5..40).collect())),
        ("array deep", LARGE_ARRAY, 4, long(160_000, true), line(near), line(far)),
        ("block", ONE_BLOCK, 4, wide([false, false]), box_of(vec![0, 7]), box_of((5..9).collect())),
        ("pages", ONE_BLOCK, 4, long(5000, false), line((0..20).collect()), line(vec![7, 2100, 3000, 4999])),
    ];
    let mut all = Vec::new();
    for (name, kind, version, (chunk, dims, grows), first, then) in cases {
        for filtered in [false, true] {
            let mut made = PeerFile::new(kind, grid(&chunk, &dims, &grows, filtered, version));
            let chunks = made.data(first.clone(), 1);
            made.world.build(chunks).unwrap();
            for (value, cells) in (2..).zip(then.chunks(then.len().div_ceil(3))) {
                let chunks = made.data(cells.to_vec(), value);
                made.world.change(&chunks).unwrap();
            }
            all.push((format!("{name} {filtered}.h5"), made));
        }
    }
    all
}

#[test]
fn hdf5_reads_and_changes_indexes_of_every_kind() {
    let Some(python) = peers_python() else { return };
    let home = tempfile::tempdir().unwrap();
    let mut expected = serde_json::Map::new();
    for (name, made) in made() {
        let (bytes, content) = made.finish();
        std::fs::write(home.path().join(&name), bytes).unwrap();
        expected.insert(name, content);
    }
    let output = Command::new(python).args(["-c", SCRIPT]).arg(home.path()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let said: serde_json::Map<String, Value> = serde_json::from_slice(&output.stdout).unwrap();
    for (name, content) in &expected {
        assert!(said.get(name) == Some(content), "{name}");
    }
}
