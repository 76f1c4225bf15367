//! Carrying out puts, and cutting selections into chunks.
use super::super::cells::ChunkSelection;
use super::*;
use bytes::Bytes;
use ncirrus_layout::{ChunkGrid, PhaseForm, PutPhase};
use ncirrus_store::LocalStore;

fn output(memory: &MemoryStore, far: bool) -> TargetStore {
    let store: Arc<dyn Store> = if far { Arc::new(DistantStore(memory.clone())) } else { memory.shared() };
    TargetStore::new(Arc::clone(&session(1 << 20).shared), store, true)
}

fn body(memory: &MemoryStore, object: &ObjectId) -> Option<Vec<u8>> {
    let mut body = Vec::new();
    memory.read_whole(object, 1 << 20, &mut body).unwrap().map(|_| body)
}

fn put(object: &ObjectId, body: &'static [u8]) -> StorePut {
    StorePut::Object { object: object.clone(), body: Bytes::from_static(body) }
}

#[test]
fn a_rewritten_file_takes_the_place_of_the_old_one() {
    let memory = MemoryStore::new("memory://phases");
    let file = memory.root().child("dir/file");
    LocalStore::put(&memory, &file, b"headABCDEFGHtail", &ncirrus_store::PutCondition::None).unwrap();
    let object = file.clone();
    let puts = vec![
        StorePut::Move { object: object.clone(), from: 4, to: 8, len: 8 },
        StorePut::Patch { object: object.clone(), offset: 0, body: Bytes::from_static(b"HEADHEAD") },
        StorePut::Resize { object, len: 14 },
    ];
    let output = output(&memory, false);
    let session = session(1 << 20);
    session.block_on(output.run_phase(PutPhase { puts, form: PhaseForm::Rewritten })).unwrap();
    assert_eq!(body(&memory, &file).unwrap(), b"HEADHEADABCDEF");
    assert_eq!(memory.keys(), ["dir/file"]);
}

#[test]
fn a_rewriting_that_fails_leaves_the_file_alone() {
    let memory = MemoryStore::new("memory://phases");
    let file = memory.root().child("file");
    LocalStore::put(&memory, &file, b"old", &ncirrus_store::PutCondition::None).unwrap();
    let puts = vec![StorePut::Move { object: file.clone(), from: 100, to: 0, len: 8 }];
    let done = session(1 << 20)
        .block_on(output(&memory, false).run_phase(PutPhase { puts, form: PhaseForm::Rewritten }));
    assert_eq!(done.unwrap_err().kind(), ErrorKind::Malformed);
    assert_eq!(body(&memory, &file).unwrap(), b"old");
    assert_eq!(memory.keys(), ["file"]);
}

#[test]
fn trees_are_copied_renamed_and_removed_near_and_far() {
    for far in [false, true] {
        let memory = MemoryStore::new("memory://phases");
        let root = memory.root();
        let (session, output) = (session(1 << 20), output(&memory, far));
        let run = |puts: Vec<StorePut>| session.block_on(output.put_all(puts)).unwrap();
        run(vec![
            put(&root.child("a/x"), b"1"),
            put(&root.child("a/b/y"), b"2"),
            put(&root.child("ab"), b"3"),
        ]);
        run(vec![StorePut::CopyTree { from: root.child("a"), to: root.child("c") }]);
        assert_eq!(memory.keys(), ["a/b/y", "a/x", "ab", "c/b/y", "c/x"]);
        run(vec![StorePut::RenameTree { from: root.child("c"), to: root.child("d/e") }]);
        assert_eq!(memory.keys(), ["a/b/y", "a/x", "ab", "d/e/b/y", "d/e/x"]);
        run(vec![
            StorePut::DeleteTree { prefix: root.child("a") },
            StorePut::Delete { object: root.child("none") },
        ]);
        assert_eq!(memory.keys(), ["ab", "d/e/b/y", "d/e/x"]);
        assert_eq!(body(&memory, &root.child("d/e/b/y")).unwrap(), b"2");
    }
}

#[test]
fn rows_that_lie_together_are_moved_as_one() {
    let grid = ChunkGrid::regular(vec![4, 3, 5]).unwrap();
    let runs = |selection: &Selection| {
        let touched = ChunkSelection::new(selection, &grid, &[8, 3, 5], &[false; 3]).unwrap();
        let mut runs = Vec::new();
        for part in touched.parts() {
            touched.runs(&part, &[4, 3, 5], &mut |run| runs.push((run.inside, run.source, run.len))).unwrap();
        }
        runs
    };
    assert_eq!(runs(&Selection::all(&[8, 3, 5])), [(0, 0, 60), (0, 60, 60)]);
    assert_eq!(runs(&slab(&[3, 0, 0], &[2, 3, 5])), [(45, 0, 15), (0, 15, 15)]);
    assert_eq!(runs(&slab(&[0, 1, 2], &[1, 2, 3])), [(7, 0, 3), (12, 3, 3)]);
}

#[test]
fn only_cells_that_are_covered_to_their_end_are_whole() {
    let grid = ChunkGrid::regular(vec![2, 3]).unwrap();
    let whole = |selection: &Selection, growing: &[bool]| -> Vec<bool> {
        let touched = ChunkSelection::new(selection, &grid, &[3, 4], growing).unwrap();
        touched.parts().map(|part| part.whole).collect()
    };
    assert_eq!(whole(&Selection::all(&[3, 4]), &[false, false]), [true; 4]);
    // Along an axis that grows, an edge chunk may soon hold another writer's rows.
    assert_eq!(whole(&Selection::all(&[3, 4]), &[true, false]), [true, true, false, false]);
    assert_eq!(whole(&slab(&[0, 0], &[2, 2]), &[false, false]), [false]);
    assert_eq!(whole(&Selection::strided(&[0, 0], &[2, 2], &[1, 2]), &[false, false]), [false]);
}
