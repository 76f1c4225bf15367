use super::*;
use crate::file::Hdf5File;
use crate::superblock::load;
use crate::testing::build::FileBuilder;
use crate::testing::{KEY, done, view};
use ncirrus_layout::Want;
use ncirrus_testkit::{MemoryView, ObjectView, StallingView, drive};

mod arrival;
mod tree;

/// Chunks of 4 by 10 elements of 2 bytes in a dataset of 17 by 45.
fn chunks(file: &Arc<Hdf5File>, kind: IndexKind, addr: u64) -> ChunkLookup {
    ChunkLookup {
        file: Arc::clone(file),
        dims: vec![17, 45],
        max: vec![Some(17), Some(45)],
        shape: vec![4, 10],
        byte_len: 80,
        is_filtered: false,
        filter_names: Vec::new(),
        edges_unfiltered: false,
        size_width: 2,
        kind,
        addr: Some(FileAddress(addr)),
        visited: AtomicU64::new(0),
    }
}

/// A file of 4096 bytes and nothing in it.
fn empty() -> (MemoryView, Arc<Hdf5File>) {
    let mut builder = FileBuilder::new();
    builder.bytes.resize(4096, 7);
    opened(builder)
}

fn opened(builder: FileBuilder) -> (MemoryView, Arc<Hdf5File>) {
    let view = view(builder.finish(48));
    let file = done(load(&view, &ObjectView::id(KEY))).expect("a file");
    (view, file)
}

fn bytes(range: std::ops::Range<u64>) -> Location {
    Location::Bytes(ObjectView::id(KEY), range)
}

fn find(view: &MemoryView, chunks: &ChunkLookup, cell: &[u64]) -> Result<ChunkRef> {
    Ok(done(chunks.locate(view, &CellList::one(cell)))?.remove(0))
}

#[test]
fn chunks_of_implicit_indexes_are_numbered_by_the_largest_extent() {
    let (view, file) = empty();
    let mut chunks = chunks(&file, IndexKind::Implicit, 100);
    chunks.max = vec![Some(100), Some(81)];
    assert_eq!(find(&view, &chunks, &[0, 4]).expect("a chunk").location, bytes(420..500));
    assert_eq!(find(&view, &chunks, &[1, 0]).expect("a chunk").location, bytes(820..900));
    assert_eq!(find(&view, &chunks, &[4, 4]).expect("a chunk").location, bytes(3300..3380));
    for outside in [[5, 0], [0, 5], [u64::MAX, 0]] {
        assert_eq!(find(&view, &chunks, &outside).expect("no chunk").location, Location::Absent);
    }
    chunks.max = vec![Some(100), None];
    assert!(find(&view, &chunks, &[0, 0]).is_err(), "it cannot grow");
}

#[test]
fn the_unlimited_axis_of_an_array_counts_first() {
    let (_, file) = empty();
    let mut chunks = chunks(&file, IndexKind::Implicit, 100);
    chunks.max = vec![Some(20), None];
    assert_eq!(chunks.number_along([1, 0], &[3, 2]).expect("a number"), Some(2 * 5 + 3));
    chunks.max = vec![Some(u64::MAX), None];
    chunks.dims = vec![u64::MAX, u64::MAX];
    assert!(chunks.number_along([1, 0], &[3, 1 << 60]).is_err(), "more than 2^64");
}

#[test]
fn the_single_chunk_of_a_filtered_dataset_has_its_size_in_the_layout() {
    let (view, file) = empty();
    let mut chunks = chunks(&file, IndexKind::Single { filtered: Some((33, 2)) }, 500);
    (chunks.dims, chunks.is_filtered) = (vec![4, 10], true);
    let found = find(&view, &chunks, &[0, 0]).expect("a chunk");
    assert_eq!((found.location, found.mask), (bytes(500..533), 2));
    (chunks.kind, chunks.is_filtered) = (IndexKind::Single { filtered: None }, false);
    assert_eq!(find(&view, &chunks, &[0, 0]).expect("a chunk").location, bytes(500..580));
}

#[test]
fn chunks_without_index_were_never_written() {
    let (view, file) = empty();
    let chunks = ChunkLookup { addr: None, ..chunks(&file, IndexKind::BTree1, 0) };
    assert_eq!(find(&view, &chunks, &[0, 0]).expect("no chunk").location, Location::Absent);
}

#[test]
fn edge_chunks_may_go_without_filters() {
    let (_, file) = empty();
    let mut chunks = chunks(&file, IndexKind::Implicit, 100);
    (chunks.is_filtered, chunks.edges_unfiltered) = (true, true);
    let stored = ChunkRecord { addr: FileAddress(100), byte_len: Some(9), mask: 1 };
    let inner = chunks.place(&[3, 3], Some(stored)).expect("a chunk");
    assert_eq!((inner.location, inner.mask), (bytes(100..109), 1));
    for edge in [[4, 0], [0, 4], [4, 4]] {
        let found = chunks.place(&edge, Some(stored)).expect("a chunk");
        assert_eq!((found.location, found.mask), (bytes(100..180), u32::MAX), "{edge:?}");
    }
    chunks.edges_unfiltered = false;
    assert_eq!(chunks.place(&[4, 4], Some(stored)).expect("a chunk").mask, 1);
}

#[test]
fn sizes_of_unfiltered_chunks_are_checked_and_cut() {
    let (_, file) = empty();
    let mut chunks = chunks(&file, IndexKind::BTree1, 100);
    let stored = |byte_len| Some(ChunkRecord { addr: FileAddress(100), byte_len: Some(byte_len), mask: 0 });
    assert_eq!(chunks.place(&[0, 0], stored(99)).expect("a chunk").location, bytes(100..180));
    let error = chunks.place(&[1, 2], stored(79)).expect_err("too small");
    assert!(error.to_string().contains("79 bytes instead of 80 (chunk [1, 2]"), "{error}");
    chunks.is_filtered = true;
    assert!(chunks.place(&[0, 0], stored(0)).is_err(), "nothing decodes from nothing");
    assert_eq!(chunks.place(&[0, 0], stored(7)).expect("a chunk").location, bytes(100..107));
}

#[test]
fn chunks_that_lie_nowhere_are_errors_of_their_own() {
    let (view, file) = empty();
    let chunks = chunks(&file, IndexKind::Implicit, 4096 - 100);
    assert!(find(&view, &chunks, &[0, 0]).is_ok());
    let error = find(&view, &chunks, &[0, 1]).expect_err("beyond the end");
    assert_eq!(error.place().chunk, Some(vec![0, 1]));
    assert!(error.message().contains("80 bytes at address 4076 lie beyond the end"), "{error}");
    let nowhere = ChunkRecord { addr: FileAddress(0), byte_len: None, mask: 0 };
    assert!(chunks.place(&[0, 0], Some(nowhere)).is_err(), "the superblock lies there");
    let far = ChunkRecord { addr: FileAddress(u64::MAX - 3), byte_len: None, mask: 0 };
    assert!(chunks.place(&[0, 0], Some(far)).is_err());
}

#[test]
fn sizes_of_chunks_are_one_byte_wider_than_the_decoded_size_needs() {
    let widths = [(1, 2), (255, 2), (256, 3), (65_535, 3), (65_536, 4), (1 << 24, 5), (u64::MAX, 8)];
    for (byte_len, width) in widths {
        assert_eq!(size_width(byte_len), width, "{byte_len}");
    }
}
