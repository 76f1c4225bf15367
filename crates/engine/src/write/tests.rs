use super::*;
use crate::convert;
use ncirrus_layout::{ByteOrder, SequenceItem, StoredType};
use ncirrus_model::{
    Atomic, AxisSelection, DimensionLen, Fill, Selection, Storage, Strings, TypeRef, UserKind, UserType,
    Values, default_fill,
};
use ncirrus_store::MemoryStore;
use proptest::prelude::*;

mod bodies;
mod copies;
mod edits;
mod failures;
mod flat;
mod flight;
mod full_chunks;
mod gathered;
mod map;
mod phases;
mod random;
mod spooled;
mod stores;

use flat::FlatFormat;
use map::{MapFormat, TestDriver, zlib};
use stores::{DistantStore, UnpluggedStore};

/// A session and store to write with.
pub(super) struct WritePlace {
    session: Session,
    memory: MemoryStore,
    store: Arc<dyn Store>,
    format: MapFormat,
}

fn session(memory: usize) -> Session {
    Session::builder().threads(4).memory(memory).build().unwrap()
}

fn place(flat: bool) -> WritePlace {
    let memory = MemoryStore::new("memory://test");
    let format = MapFormat { flat, ..MapFormat::default() };
    WritePlace { session: session(1 << 20), store: memory.shared(), memory, format }
}

impl WritePlace {
    fn root(&self) -> ObjectId {
        self.memory.root().child("data")
    }

    fn writing(&self) -> Arc<dyn Writing> {
        if self.format.flat {
            Arc::new(FlatFormat(self.format.clone()))
        } else {
            Arc::new(self.format.clone())
        }
    }

    fn create(&self) -> DatasetWriter {
        let created = self.session.create(Arc::clone(&self.store), self.root(), self.writing());
        self.session.block_on(created).unwrap()
    }

    fn try_open(&self) -> Result<Dataset> {
        let drivers: [Arc<dyn ncirrus_layout::Driver>; 1] = [Arc::new(TestDriver(self.format.clone()))];
        let options = ncirrus_layout::OpenOptions::default();
        self.session.block_on(self.session.open(self.memory.shared(), self.root(), &drivers, &options))
    }

    fn open(&self) -> Dataset {
        self.try_open().unwrap()
    }

    fn run<F: Future>(&self, future: F) -> F::Output {
        self.session.block_on(future)
    }

    /// Adds a variable on an unlimited dimension and fixed ones.
    fn add(&self, writer: &DatasetWriter, name: &str, ty: Atomic, fixed: &[u64], filters: bool) -> VarId {
        let add = |model: &mut Model| {
            let root = model.root();
            let mut dims = Vec::new();
            let time = match model.dimension_in(root, "time") {
                Some(time) => time,
                None => model.add_dimension(root, "time", DimensionLen::Unlimited(0))?,
            };
            dims.push(time);
            for (axis, len) in fixed.iter().enumerate() {
                dims.push(model.add_dimension(root, &format!("{name}_{axis}"), DimensionLen::Fixed(*len))?);
            }
            let var = model.add_variable(root, name, ty.into(), &dims)?;
            if let (true, Some(variable)) = (filters, model.variable_mut(var)) {
                variable.filters = vec![zlib()];
                variable.storage = Storage::Chunked(vec![3; dims.len()]);
            }
            Ok(var)
        };
        self.run(writer.edit(add)).unwrap()
    }
}

fn slab(start: &[u64], count: &[u64]) -> Selection {
    Selection::slab(start, count)
}

#[test]
fn values_are_read_back_before_and_after_the_commit() {
    for flat in [false, true] {
        let place = place(flat);
        let writer = place.create();
        let var = place.add(&writer, "v", Atomic::Int, &[4], false);
        let values = Values::Int((0..12).collect());
        place.run(writer.write(var, &slab(&[1, 0], &[3, 4]), &values)).unwrap();
        assert_eq!(writer.model().shape(var), [4, 4]);
        let mut expected = vec![-2_147_483_647; 4];
        expected.extend(0..12);
        let all = slab(&[0, 0], &[4, 4]);
        assert_eq!(place.run(writer.read(var, &all)).unwrap(), Values::Int(expected.clone()));
        assert!(place.try_open().is_err(), "nothing is true before the commit");
        place.run(writer.close()).unwrap();
        let dataset = place.open();
        assert_eq!(dataset.model().shape(var), [4, 4]);
        assert_eq!(place.run(dataset.read(var, &all)).unwrap(), Values::Int(expected));
    }
}

#[test]
fn what_was_never_written_is_fill_in_every_variable() {
    for flat in [false, true] {
        let place = place(flat);
        let writer = place.create();
        let one = place.add(&writer, "one", Atomic::Short, &[2], false);
        let other = place.add(&writer, "other_big", Atomic::Double, &[3], false);
        let scalar = place
            .run(writer.edit(|model| Ok(model.add_variable(model.root(), "s", Atomic::Int.into(), &[])?)));
        let scalar = scalar.unwrap();
        for row in [0, 7, 3] {
            place.run(writer.write(one, &slab(&[row, 0], &[1, 2]), &Values::Short(vec![1, 2]))).unwrap();
            place.run(writer.sync()).unwrap();
        }
        let last = Values::Double(vec![5.5]);
        place.run(writer.write(other, &slab(&[9, 2], &[1, 1]), &last)).unwrap();
        place.run(writer.close()).unwrap();
        let dataset = place.open();
        let read = |var| place.run(dataset.read(var, &Selection::all(&dataset.model().shape(var)))).unwrap();
        let mut expected = vec![-32767i16; 20];
        for row in [0, 3, 7] {
            expected[2 * row..2 * row + 2].copy_from_slice(&[1, 2]);
        }
        assert_eq!(read(one), Values::Short(expected));
        let mut expected = vec![9.969_209_968_386_869e36; 30];
        expected[29] = 5.5;
        assert_eq!(read(other), Values::Double(expected));
        assert_eq!(read(scalar), default_fill(Atomic::Int));
    }
}

#[test]
fn a_variable_without_fill_still_makes_the_file_long_enough() {
    use ncirrus_store::LocalStore;
    let place = place(true);
    let writer = place.create();
    let var = place.add(&writer, "v", Atomic::Int, &[4], false);
    let none = |model: &mut Model| {
        model.variable_mut(var).unwrap().fill = Fill::None;
        let time = model.variable(var).unwrap().dims[0];
        Ok(model.grow(time, 7)?)
    };
    place.run(writer.edit(none)).unwrap();
    place.run(writer.close()).unwrap();
    let (len, _) = place.memory.stat(&place.root()).unwrap().unwrap();
    assert_eq!(len, 8 + 7 * 16);
}

#[test]
fn a_cell_that_was_put_at_the_growing_edge_is_completed() {
    let place = WritePlace { session: session(16), ..place(true) };
    let writer = place.create();
    let var = place.add(&writer, "v", Atomic::Int, &[2], false);
    for row in [0, 5, 13] {
        place.run(writer.write(var, &slab(&[row, 0], &[1, 2]), &Values::Int(vec![1, 2]))).unwrap();
        assert_eq!(writer.stage.held(), 0, "everything is spilled at once");
    }
    place.run(writer.close()).unwrap();
    let mut expected = vec![-2_147_483_647; 28];
    for row in [0, 5, 13] {
        expected[2 * row..2 * row + 2].copy_from_slice(&[1, 2]);
    }
    let read = place.run(place.open().read(var, &slab(&[0, 0], &[14, 2]))).unwrap();
    assert_eq!(read, Values::Int(expected));
}

#[test]
fn an_update_changes_only_what_is_written() {
    for flat in [false, true] {
        let place = place(flat);
        let writer = place.create();
        let var = place.add(&writer, "v", Atomic::Int, &[3], false);
        place.run(writer.write(var, &slab(&[0, 0], &[4, 3]), &Values::Int((0..12).collect()))).unwrap();
        place.run(writer.close()).unwrap();
        let writer = place.run(place.session.update(&place.open())).unwrap();
        place.run(writer.write(var, &slab(&[1, 1], &[1, 1]), &Values::Int(vec![-1]))).unwrap();
        place.run(writer.write(var, &slab(&[8, 0], &[1, 3]), &Values::Int(vec![7, 8, 9]))).unwrap();
        let before = place.open();
        if !flat {
            assert_eq!(before.model().shape(var), [4, 3], "appended rows are not visible yet");
        }
        place.run(writer.close()).unwrap();
        let dataset = place.open();
        let all = place.run(dataset.read(var, &slab(&[0, 0], &[9, 3]))).unwrap();
        let Values::Int(all) = all else { panic!("{all:?}") };
        assert_eq!(all[..12], [0, 1, 2, 3, -1, 5, 6, 7, 8, 9, 10, 11]);
        assert_eq!(all[12..24], [-2_147_483_647; 12]);
        assert_eq!(all[24..], [7, 8, 9]);
    }
}

#[test]
fn strings_and_vlens_are_staged_as_values() {
    let place = place(false);
    let writer = place.create();
    let text = place.add(&writer, "text", Atomic::String, &[3], true);
    let (ty, lists) = place
        .run(writer.edit(|model| {
            let root = model.root();
            let kind = UserKind::Vlen(Atomic::Int.into());
            let ty = TypeRef::User(model.add_type(root, UserType { name: "row".to_owned(), kind })?);
            let time = model.dimension_in(root, "time").unwrap();
            Ok((ty, model.add_variable(root, "lists", ty, &[time])?))
        }))
        .unwrap();
    let strings = |items: &[Option<&str>]| Values::String(items.iter().copied().collect());
    place.run(writer.write(text, &slab(&[1, 1], &[1, 2]), &strings(&[Some("a"), None]))).unwrap();
    place.run(writer.write(text, &slab(&[0, 0], &[1, 2]), &strings(&[Some("long text"), Some("")]))).unwrap();
    let rows = Values::Vlen { ends: vec![2, 2], elements: Box::new(Values::Int(vec![1, 2])) };
    place.run(writer.write(lists, &slab(&[1], &[2]), &rows)).unwrap();
    let empty = Some("");
    let expected = strings(&[Some("long text"), empty, empty, empty, Some("a"), None, empty, empty, empty]);
    let all = slab(&[0, 0], &[3, 3]);
    assert_eq!(place.run(writer.read(text, &all)).unwrap(), expected);
    place.run(writer.close()).unwrap();
    let dataset = place.open();
    assert_eq!(place.run(dataset.read(text, &all)).unwrap(), expected);
    let read = place.run(dataset.read(lists, &slab(&[0], &[3]))).unwrap();
    assert!(convert::matches(&dataset.model(), ty, &read));
    assert_eq!(read, Values::Vlen { ends: vec![0, 2, 2], elements: Box::new(Values::Int(vec![1, 2])) });
}

#[test]
fn many_threads_write_parts_of_the_same_cells() {
    for (flat, memory) in [(false, 1 << 20), (true, 1 << 20), (false, 2048), (true, 2048)] {
        let place = WritePlace { session: session(memory), ..place(flat) };
        let writer = place.create();
        let var = place.add(&writer, "v_big", Atomic::Int, &[64], !flat);
        std::thread::scope(|scope| {
            for thread in 0..8u64 {
                let (writer, place) = (&writer, &place);
                scope.spawn(move || {
                    for row in 0..10u64 {
                        let mine = Selection::strided(&[row, thread], &[1, 8], &[1, 8]);
                        let number = |k: u64| i32::try_from(1000 * row + thread + 8 * k).unwrap();
                        let values = Values::Int((0..8).map(number).collect());
                        place.run(writer.write(var, &mine, &values)).unwrap();
                        assert_eq!(place.run(writer.read(var, &mine)).unwrap(), values);
                    }
                });
            }
        });
        assert!(writer.stage.held() <= memory, "{} bytes are staged", writer.stage.held());
        place.run(writer.close()).unwrap();
        let expected = (0..10).flat_map(|row| (0..64).map(move |k| 1000 * row + k)).collect();
        let read = place.run(place.open().read(var, &slab(&[0, 0], &[10, 64]))).unwrap();
        assert_eq!(read, Values::Int(expected));
    }
}

#[test]
fn a_variable_that_cannot_be_written_reads_as_it_was_committed() {
    let place = place(false);
    let writer = place.create();
    let var = place.add(&writer, "v", Atomic::Int, &[2], false);
    place.add(&writer, "virtual", Atomic::Int, &[2], false);
    place.run(writer.write(var, &slab(&[0, 0], &[2, 2]), &Values::Int(vec![1; 4]))).unwrap();
    place.run(writer.close()).unwrap();
    let writer = place.run(place.session.update(&place.open())).unwrap();
    let copy = writer.model().variable_at("/virtual").unwrap();
    let read = || place.run(writer.read(copy, &slab(&[0, 1], &[2, 1]))).unwrap();
    assert_eq!(read(), Values::Int(vec![1, 1]));
    place.run(writer.write(var, &slab(&[0, 1], &[1, 1]), &Values::Int(vec![2]))).unwrap();
    assert_eq!(read(), Values::Int(vec![1, 1]));
    place.run(writer.sync()).unwrap();
    assert_eq!(read(), Values::Int(vec![2, 1]));
    let error = place.run(writer.write(copy, &slab(&[0, 0], &[1, 1]), &Values::Int(vec![3]))).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
}

#[test]
fn rows_that_others_append_to_a_stored_cell_are_kept() {
    for _ in 0..100 {
        let place = WritePlace { session: session(1024), ..place(true) };
        let writer = place.create();
        let var = place.add(&writer, "v_big", Atomic::Int, &[64], false);
        let ready = std::sync::Barrier::new(8);
        std::thread::scope(|scope| {
            for thread in 0..8 {
                let (writer, place, ready) = (&writer, &place, &ready);
                scope.spawn(move || {
                    ready.wait();
                    for row in 0..3 {
                        let mine = Selection::strided(&[row, thread], &[1, 8], &[1, 8]);
                        place.run(writer.write(var, &mine, &Values::Int(vec![7; 8]))).unwrap();
                    }
                });
            }
        });
        place.run(writer.close()).unwrap();
        let read = place.run(place.open().read(var, &slab(&[0, 0], &[3, 64]))).unwrap();
        assert_eq!(read, Values::Int(vec![7; 3 * 64]));
    }
}

#[test]
fn more_than_the_budget_is_put_before_the_commit() {
    let place = WritePlace { session: session(4096), ..place(false) };
    let writer = place.create();
    let var = place.add(&writer, "v", Atomic::Int, &[30], true);
    for column in 0..30 {
        let values = Values::Int((0..90).map(|row| row * 100 + column).collect());
        let column = u64::try_from(column).unwrap();
        place.run(writer.write(var, &slab(&[0, column], &[90, 1]), &values)).unwrap();
        assert!(writer.stage.held() <= 2048, "{} bytes are staged", writer.stage.held());
    }
    assert!(place.memory.len() > 100, "{} chunks were spilled", place.memory.len());
    place.run(writer.close()).unwrap();
    let read = place.run(place.open().read(var, &slab(&[0, 0], &[90, 30]))).unwrap();
    assert_eq!(read, Values::Int((0..90).flat_map(|row| (0..30).map(move |k| row * 100 + k)).collect()));
}

#[test]
fn a_distant_store_is_written_and_read_back() {
    let near = place(false);
    let place = WritePlace { store: Arc::new(DistantStore(near.memory.clone())), ..near };
    let writer = place.create();
    let var = place.add(&writer, "v", Atomic::Int, &[10], true);
    let values = Values::Int((0..100).collect());
    place.run(writer.write(var, &slab(&[0, 0], &[10, 10]), &values)).unwrap();
    place.run(writer.write(var, &slab(&[4, 4], &[1, 1]), &Values::Int(vec![-5]))).unwrap();
    place.run(writer.sync()).unwrap();
    place.run(writer.write(var, &slab(&[4, 5], &[1, 1]), &Values::Int(vec![-6]))).unwrap();
    let read = place.run(writer.read(var, &slab(&[4, 3], &[1, 4]))).unwrap();
    assert_eq!(read, Values::Int(vec![43, -5, -6, 46]));
    place.run(writer.close()).unwrap();
    let read = place.run(place.open().read(var, &slab(&[4, 3], &[1, 4]))).unwrap();
    assert_eq!(read, Values::Int(vec![43, -5, -6, 46]));
}
