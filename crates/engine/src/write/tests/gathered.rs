//! Small patches that are held and written together.
use super::super::gathered_patches::GatheringStore;
use super::stores::WrittenPlaces;
use super::*;
use bytes::Bytes;
use ncirrus_layout::{LockExt, PatchRows};
use ncirrus_store::{LocalStore, conformance};

struct Gathering {
    memory: MemoryStore,
    object: ObjectId,
    store: Arc<GatheringStore>,
    written: WrittenPlaces,
}

impl Gathering {
    /// Of a file of so many bytes; changes after the first `allowed` ones fail.
    fn of(len: usize, allowed: usize) -> Self {
        let memory = MemoryStore::new("memory://gathered");
        let object = memory.root().child("file");
        LocalStore::put(&memory, &object, &vec![9; len], &ncirrus_store::PutCondition::None).unwrap();
        let (counted, written) = UnpluggedStore::counted(&memory, allowed);
        let store = GatheringStore::of(&counted).unwrap();
        Self { memory, object, store, written }
    }

    fn try_put(&self, offset: u64, body: &[u8]) -> Result<()> {
        let body = Bytes::copy_from_slice(body);
        self.store.put(StorePut::Patch { object: self.object.clone(), offset, body })
    }

    fn put(&self, offset: u64, body: &[u8]) {
        self.try_put(offset, body).unwrap();
    }

    fn put_rows(&self, offset: u64, stride: u64, row: usize, bytes: &[u8]) {
        let (object, bytes) = (self.object.clone(), bytes.to_vec());
        self.store.put_rows(PatchRows { object, offset, stride, row, bytes }).unwrap();
    }

    fn written(&self) -> Vec<(u64, usize)> {
        std::mem::take(&mut self.written.guard())
    }

    /// What is in the store below.
    fn stored(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.memory.read_whole(&self.object, u64::MAX, &mut bytes).unwrap();
        bytes
    }
}

#[test]
fn a_store_that_gathers_keeps_the_laws_of_stores() {
    let Gathering { store, memory, .. } = Gathering::of(0, usize::MAX);
    let root = memory.root().child("laws");
    session(1 << 20).block_on(conformance::writable(store.as_ref(), &root)).unwrap();
}

#[test]
fn records_of_several_variables_are_written_as_one_run_of_bytes() {
    let file = Gathering::of(8, usize::MAX);
    for record in 0..100 {
        for column in 0..4 {
            file.put(8 + record * 32 + column * 8, &[u8::try_from(record).unwrap(); 8]);
        }
    }
    assert_eq!((file.written(), file.stored().len()), (vec![], 8));
    file.store.settle().unwrap();
    assert_eq!(file.written(), [(8, 3200)]);
    // One variable after the other: their records are between those that are held already.
    for column in [2, 0, 3, 1] {
        for record in 0..100 {
            file.put(8 + record * 32 + column * 8, &[u8::try_from(column).unwrap(); 8]);
        }
    }
    file.store.settle().unwrap();
    assert_eq!(file.written(), [(8, 3200)]);
    assert_eq!(file.stored()[8 + 16..8 + 48], [[2; 8], [3; 8], [0; 8], [1; 8]].concat());
}

#[test]
fn bytes_between_patches_are_written_only_behind_the_end_of_the_file() {
    let file = Gathering::of(64, usize::MAX);
    // The last one is farther from the one before than what is written as zeros.
    for offset in [0, 16, 72, 100, 5000] {
        file.put(offset, &[1; 8]);
    }
    file.store.settle().unwrap();
    assert_eq!(file.written(), [(0, 8), (16, 8), (72, 36), (5000, 8)]);
    let stored = file.stored();
    assert_eq!(
        (stored.len(), &stored[8..16], &stored[24..72]),
        (5008, &[9; 8][..], &[[9; 40].as_slice(), &[0; 8]].concat()[..])
    );
}

#[test]
fn records_that_are_put_in_blocks_of_each_variable_are_written_once() {
    const BLOCK: u64 = 1000;
    let file = Gathering::of(8, usize::MAX);
    for block in 0..20 {
        for column in 0..4 {
            for record in block * BLOCK..(block + 1) * BLOCK {
                file.put(8 + record * 32 + column * 8, &[u8::try_from(column).unwrap(); 8]);
            }
        }
    }
    file.store.settle().unwrap();
    let written = file.written();
    let ends: Vec<u64> = written.iter().map(|(offset, len)| offset + *len as u64).collect();
    assert_eq!((written[0].0, ends[ends.len() - 1]), (8, 8 + 20 * BLOCK * 32));
    assert!(
        written.len() <= 12 && written.iter().skip(1).zip(&ends).all(|((start, _), end)| start == end),
        "{written:?}"
    );
}

#[test]
fn rows_of_several_variables_become_one_run_of_bytes_in_any_order() {
    for order in [[0, 1, 2, 3], [3, 2, 1, 0], [2, 0, 3, 1], [1, 3, 0, 2]] {
        let file = Gathering::of(8, usize::MAX);
        let mut next = [0u64; 4];
        // Some variables are ahead of others by a record, as when the run of one is full in the middle of a record.
        for (block, ahead) in [(1, 0), (2, 2), (3, 4), (4, 1)].into_iter().chain([(4, 4)]) {
            for column in order {
                let end = block * 100 + u64::from(column < ahead);
                let rows = usize::try_from(end.saturating_sub(next[column])).unwrap();
                if rows > 0 {
                    let offset = 8 + next[column] * 32 + column as u64 * 8;
                    file.put_rows(offset, 32, 8, &vec![u8::try_from(column).unwrap(); rows * 8]);
                }
                next[column] = next[column].max(end);
            }
        }
        file.store.settle().unwrap();
        assert_eq!(file.written(), [(8, 401 * 32)], "{order:?}");
        assert_eq!(file.stored()[8..], [[0; 8], [1; 8], [2; 8], [3; 8]].concat().repeat(401));
    }
}

#[test]
fn rows_that_are_far_apart_are_held_in_a_bounded_number() {
    let file = Gathering::of(0, usize::MAX);
    for block in 0..10 {
        file.put_rows(block * 1000 * 8192, 8192, 4, &[1; 4000]);
        file.put_rows(block * 1000 * 8192 + 4, 8192, 4, &[2; 4000]);
    }
    let written = file.written();
    assert!(written.len() >= 10_000 - 8192 && written.iter().all(|(_, len)| *len == 8), "{}", written.len());
    file.store.settle().unwrap();
    assert_eq!(written.len() + file.written().len(), 10_000);
}

#[test]
fn rows_with_gaps_are_written_in_pieces_of_bounded_size() {
    let file = Gathering::of(0, usize::MAX);
    file.put_rows(0, 4004, 4, &[1; 4 * 5000]);
    file.store.settle().unwrap();
    let written = file.written();
    assert!(written.iter().all(|(_, len)| *len <= (4 << 20) + 4100), "{written:?}");
    assert_eq!(file.stored()[4004 * 4999..], [1; 4]);
}

#[test]
fn long_patches_between_rows_leave_them_held() {
    let file = Gathering::of(0, usize::MAX);
    file.put_rows(0, 32 << 10, 4, &[1; 12]);
    file.put(8, &[2; 20_000]);
    assert_eq!(file.written(), [(8, 20_000)], "it meets no row");
    file.put(20_008, &[3; 20_000]);
    assert_eq!(file.written(), [(0, 4), (32 << 10, 4), (64 << 10, 4), (20_008, 20_000)]);
    assert_eq!(file.stored()[(32 << 10)..][..4], [3; 4]);
}

#[test]
fn what_is_held_is_bounded_and_long_patches_are_written_at_once() {
    let file = Gathering::of(0, usize::MAX);
    for record in 0..100_000u64 {
        file.put(record * 8, &[1; 8]);
    }
    let written = file.written();
    assert!((5..=8).contains(&written.len()), "{written:?}");
    for record in 0..20_000u64 {
        file.put(record * 8_000, &[1; 4]);
    }
    assert!(file.written().len() >= 20_000 - 8192);
    let long = Gathering::of(0, usize::MAX);
    long.put(0, &[1; 8]);
    long.put(8, &[2; 20_000]);
    assert_eq!(long.written(), [(8, 20_000)], "it meets nothing");
    long.put(4, &[3; 20_000]);
    assert_eq!(long.written(), [(0, 8), (4, 20_000)]);
    assert_eq!(long.stored()[..8], [1, 1, 1, 1, 3, 3, 3, 3]);
}

#[test]
fn patches_that_cannot_be_written_fail_every_later_call() {
    let file = Gathering::of(8, 0);
    file.put(0, &[1; 8]);
    for _ in 0..2 {
        assert!(file.store.read(&file.object, &ncirrus_layout::Want::All).is_err());
        assert!(file.try_put(8, &[1; 8]).is_err() && file.store.settle().is_err());
        assert!(file.store.barrier().is_err());
        assert!(file.store.write_at(&file.object, 0, &[2]).is_err());
    }
    drop(file.store);
    assert_eq!(file.written.guard().len(), 0);
}

#[test]
fn what_a_writer_held_is_lost_with_it() {
    let file = Gathering::of(8, usize::MAX);
    file.put(0, &[1; 8]);
    let Gathering { store, written, .. } = file;
    drop(store);
    assert_eq!(written.guard().len(), 0);
}

#[derive(Debug, Clone)]
enum Step {
    Put(u16, Vec<u8>),
    /// The first one, the distance, the length of a row, how many, their bytes.
    Rows(u16, u8, u8, u8, u8),
    Write(u16, Vec<u8>),
    Resize(u16),
    Read(u16, u8),
    Settle,
}

fn step() -> impl Strategy<Value = Step> {
    let body = || prop_oneof![8 => prop::collection::vec(any::<u8>(), 0..40), 1 => Just(vec![7; 17_000])];
    prop_oneof![
        20 => (0u16..600, body()).prop_map(|(at, body)| Step::Put(at, body)),
        8 => (0u16..300, prop_oneof![Just(12u8), 1u8..20], 1u8..5, 1u8..12, any::<u8>())
            .prop_map(|(at, stride, row, count, byte)| Step::Rows(at, stride.max(row), row, count, byte)),
        1 => (0u16..600, body()).prop_map(|(at, body)| Step::Write(at, body)),
        1 => (0u16..700).prop_map(Step::Resize),
        2 => (0u16..600, any::<u8>()).prop_map(|(at, len)| Step::Read(at, len)),
        1 => Just(Step::Settle),
    ]
}

fn patch(bytes: &mut Vec<u8>, at: u16, body: &[u8]) {
    let (at, end) = (usize::from(at), usize::from(at) + body.len());
    bytes.resize(bytes.len().max(end), 0);
    bytes[at..end].copy_from_slice(body);
}

proptest! {
    #[test]
    fn any_order_of_patches_gives_the_bytes_of_patching_at_once(steps in prop::collection::vec(step(), 0..200)) {
        let file = Gathering::of(100, usize::MAX);
        let mut expected = vec![9; 100];
        for step in steps {
            match step {
                Step::Put(_, body) if body.is_empty() => {}
                Step::Put(at, body) => {
                    file.put(at.into(), &body);
                    patch(&mut expected, at, &body);
                }
                Step::Rows(at, stride, row, count, byte) => {
                    let bytes: Vec<u8> = (0..row * count).map(|number| byte.wrapping_add(number)).collect();
                    file.put_rows(at.into(), stride.into(), row.into(), &bytes);
                    for (number, body) in (0..).zip(bytes.chunks(row.into())) {
                        patch(&mut expected, at + u16::from(stride) * number, body);
                    }
                }
                Step::Write(_, body) if body.is_empty() => {}
                Step::Write(at, body) => {
                    file.store.write_at(&file.object, at.into(), &body).unwrap();
                    patch(&mut expected, at, &body);
                }
                Step::Resize(len) => {
                    file.store.resize(&file.object, len.into()).unwrap();
                    expected.resize(len.into(), 0);
                }
                Step::Read(at, len) => {
                    let mut found = vec![0; len.into()];
                    let count = file.store.read_into(&file.object, at.into(), &mut found).unwrap().unwrap();
                    let there = expected.get(at.into()..).unwrap_or_default();
                    prop_assert_eq!(&found[..count], &there[..count]);
                    prop_assert_eq!(count, there.len().min(len.into()));
                }
                Step::Settle => file.store.settle().unwrap(),
            }
        }
        file.store.settle().unwrap();
        prop_assert_eq!(file.stored(), expected);
    }
}
