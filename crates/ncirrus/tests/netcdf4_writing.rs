//! How netCDF-4 files are created: the location of everything in them, and what readers see after every sync.
#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of tests may panic")]

mod deep_groups;
mod long_attributes;

use crate::far::Far;
use ncirrus_engine::{Dataset, DatasetWriter, Session};
use ncirrus_hdf5::{FileStructures, Hdf5Driver, Hdf5Writer};
use ncirrus_layout::{Driver, Location, OpenOptions};
use ncirrus_model::{
    Atomic, Attribute, CodecSpec, DimensionLen, Fill, Model, NodeId, Selection, Storage, Values, VarId,
};
use ncirrus_store::{BlockingStore, LocalStore, MemoryStore, Store};
use std::sync::Arc;

fn session() -> Session {
    Session::builder().threads(2).durable(false).build().unwrap()
}

/// A file in memory that is being created.
struct Making {
    session: Session,
    store: MemoryStore,
    writer: DatasetWriter,
}

impl Making {
    fn begin(choices: Hdf5Writer) -> Self {
        let (session, store) = (session(), MemoryStore::new("memory://made"));
        let root = store.root().child("data");
        let writer = session
            .block_on(session.create(Arc::new(BlockingStore(store.clone())), root, Arc::new(choices)))
            .unwrap();
        Self { session, store, writer }
    }

    fn edit<T>(&self, change: impl FnOnce(&mut Model) -> T) -> T {
        self.session.block_on(self.writer.edit(|model| Ok(change(model)))).unwrap()
    }

    fn write(&self, var: VarId, start: &[u64], count: &[u64], values: &Values) {
        self.session.block_on(self.writer.write(var, &Selection::slab(start, count), values)).unwrap();
    }

    fn sync(&self) {
        self.session.block_on(self.writer.sync()).unwrap();
    }

    /// The file as others see it.
    fn seen(&self) -> Dataset {
        let drivers: [Arc<dyn Driver>; 1] = [Arc::new(Hdf5Driver)];
        let (store, root) = (Arc::new(BlockingStore(self.store.clone())), self.store.root().child("data"));
        self.session.block_on(self.session.open(store, root, &drivers, &OpenOptions::default())).unwrap()
    }

    fn read(&self, dataset: &Dataset, path: &str) -> Values {
        let model = dataset.model();
        let var = model.variable_at(path).unwrap();
        self.session.block_on(dataset.read(var, &Selection::all(&model.shape(var)))).unwrap()
    }

    fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.store.read_whole(&self.store.root().child("data"), u64::MAX, &mut bytes).unwrap();
        bytes
    }

    /// Addresses of the chunks of a variable.
    fn addresses(&self, dataset: &Dataset, path: &str) -> Vec<u64> {
        let model = dataset.model();
        let var = model.variable_at(path).unwrap();
        let chunks = self.session.block_on(dataset.chunks(var, &Selection::all(&model.shape(var)))).unwrap();
        let start = |chunk: &ncirrus_engine::StoredChunk| match &chunk.stored.location {
            Location::Bytes(_, range) => range.start,
            other => panic!("{other:?}"),
        };
        chunks.iter().map(start).collect()
    }
}

fn choices(structures: FileStructures) -> Hdf5Writer {
    Hdf5Writer { structures, ..Hdf5Writer::default() }
}

#[test]
fn records_appended_one_by_one_are_seen_after_every_sync() {
    [FileStructures::V18, FileStructures::V110].into_iter().for_each(append_one_by_one);
}

fn append_one_by_one(structures: FileStructures) {
    let making = Making::begin(choices(structures));
    let (series, words) = making.edit(|model| {
        let root = model.root();
        let time = model.add_dimension(root, "time", DimensionLen::Unlimited(0)).unwrap();
        let x = model.add_dimension(root, "x", DimensionLen::Fixed(3)).unwrap();
        let series = model.add_variable(root, "series", Atomic::Int.into(), &[time, x]).unwrap();
        let variable = model.variable_mut(series).unwrap();
        variable.storage = Storage::Chunked(vec![4, 2]);
        variable.filters = vec![CodecSpec::hdf5(2, &[]), CodecSpec::hdf5(1, &[1])];
        let words = model.add_variable(root, "words", Atomic::String.into(), &[time]).unwrap();
        (series, words)
    });
    let mut expected = Vec::new();
    for record in 0..150u64 {
        let numbers: Vec<i32> = (0..3).map(|x| i32::try_from(record).unwrap() * 10 + x).collect();
        expected.extend(&numbers);
        making.write(series, &[record, 0], &[1, 3], &Values::Int(numbers));
        let word = format!("word {record}");
        making.write(words, &[record], &[1], &Values::String([Some(word.as_str())].into_iter().collect()));
        making.sync();
        let seen = making.seen();
        assert_eq!(making.read(&seen, "/series"), Values::Int(expected.clone()));
        let Values::String(read) = making.read(&seen, "/words") else { panic!("strings") };
        assert_eq!(read.len() as u64, record + 1);
        assert_eq!(read.get(read.len() - 1), Some(word.as_bytes()));
        assert_eq!(read.get(0), Some(&b"word 0"[..]));
    }
}

#[test]
fn definitions_and_data_may_follow_a_sync() {
    let making = Making::begin(Hdf5Writer::default());
    let x = making.edit(|model| model.add_dimension(model.root(), "x", DimensionLen::Fixed(4)).unwrap());
    making.sync();
    assert_eq!(making.seen().model().variables().len(), 0);
    let first = making.edit(|model| {
        let var = model.add_variable(model.root(), "first", Atomic::Double.into(), &[x]).unwrap();
        model.variable_mut(var).unwrap().storage = Storage::Chunked(vec![2]);
        var
    });
    making.write(first, &[0], &[4], &Values::Double(vec![1.0, 2.0, 3.0, 4.0]));
    making.sync();
    let before = making.bytes();
    making.edit(|model| {
        let second = model.add_variable(model.root(), "second", Atomic::Short.into(), &[x]).unwrap();
        let text = Attribute::text("long", &"text ".repeat(5000));
        model.attributes_mut(NodeId::Variable(second)).unwrap().known_mut().put(text);
    });
    making.write(first, &[1], &[1], &Values::Double(vec![-2.0]));
    let second = making.writer.model().variable_at("/second").unwrap();
    making.write(second, &[1], &[2], &Values::Short(vec![7, 8]));
    // Nothing that readers use has changed so far.
    let now = making.bytes();
    assert!(now.get(..before.len()).unwrap() == before);
    making.sync();
    let seen = making.seen();
    assert_eq!(making.read(&seen, "/first"), Values::Double(vec![1.0, -2.0, 3.0, 4.0]));
    assert_eq!(making.read(&seen, "/second"), Values::Short(vec![-32767, 7, 8, -32767]));
}

#[test]
fn all_metadata_are_at_the_front_and_opening_is_one_request() {
    for (structures, filtered) in
        [(FileStructures::V18, true), (FileStructures::V110, true), (FileStructures::V18, false)]
    {
        open_with_one_request(structures, filtered);
    }
}

fn open_with_one_request(structures: FileStructures, filtered: bool) {
    let making = Making::begin(Hdf5Writer { align: 4096, ..choices(structures) });
    let vars = making.edit(|model| {
        let root = model.root();
        let time = model.add_dimension(root, "time", DimensionLen::Unlimited(0)).unwrap();
        let x = model.add_dimension(root, "x", DimensionLen::Fixed(100)).unwrap();
        let names = ["a", "b", "c", "d"];
        let vars =
            names.map(|name| model.add_variable(root, name, Atomic::Float.into(), &[time, x]).unwrap());
        for var in vars {
            let attributes = model.attributes_mut(NodeId::Variable(var)).unwrap().known_mut();
            attributes
                .put(Attribute::atomic("words", Values::String([Some("one"), None].into_iter().collect())));
            let variable = model.variable_mut(var).unwrap();
            variable.storage = Storage::Chunked(vec![1, 100]);
            if filtered {
                variable.filters = vec![CodecSpec::hdf5(1, &[1])];
            }
        }
        vars
    });
    for record in 0..50 {
        for var in vars {
            making.write(var, &[record, 0], &[1, 100], &Values::Float(vec![1.5; 100]));
        }
    }
    making.sync();
    let seen = making.seen();
    for path in ["/a", "/d"] {
        let addresses = making.addresses(&seen, path);
        assert!(addresses.iter().all(|addr| addr % 4096 == 0), "{addresses:?}");
    }
    let facts = seen.catalog().facts();
    assert!(facts.metadata_end.is_some_and(|end| end > 0), "{facts:?}");
    let far = Arc::new(Far::new(making.store.clone()));
    let drivers: [Arc<dyn Driver>; 1] = [Arc::new(Hdf5Driver)];
    let (store, root) = (Arc::clone(&far) as Arc<dyn Store>, making.store.root().child("data"));
    let options = OpenOptions::default();
    let opening = making.session.open(store, root, &drivers, &options);
    let dataset = making.session.block_on(opening).unwrap();
    let nodes: Vec<NodeId> = dataset.model().nodes();
    for attributes in making.session.block_on(dataset.attributes(&nodes)) {
        attributes.unwrap();
    }
    let requests = far.requests();
    assert!(requests.len() <= 1, "{requests:?}");
}

#[test]
fn a_run_is_filled_once_touched_and_takes_no_place_before() {
    let making = Making::begin(Hdf5Writer::default());
    let [touched, unfilled, _] = making.edit(|model| {
        let root = model.root();
        let x = model.add_dimension(root, "x", DimensionLen::Fixed(3_000_000)).unwrap();
        ["touched", "unfilled", "untouched"].map(|name| {
            let var = model.add_variable(root, name, Atomic::Int.into(), &[x]).unwrap();
            if name == "unfilled" {
                model.variable_mut(var).unwrap().fill = Fill::None;
            }
            var
        })
    });
    making.write(touched, &[5], &[1], &Values::Int(vec![7]));
    making.write(unfilled, &[5], &[1], &Values::Int(vec![7]));
    making.sync();
    let seen = making.seen();
    let Values::Int(read) = making.read(&seen, "/touched") else { panic!("numbers") };
    assert_eq!((read[4], read[5], read[2_999_999]), (-2_147_483_647, 7, -2_147_483_647));
    let Values::Int(read) = making.read(&seen, "/untouched") else { panic!("numbers") };
    assert!(read.iter().all(|number| *number == -2_147_483_647));
    let len = making.bytes().len();
    assert!((24_000_000..24_100_000).contains(&len), "{len}");
}

#[test]
fn metadata_that_outgrow_the_front_go_to_the_end() {
    let making = Making::begin(Hdf5Writer { reserve: Some(512), ..Hdf5Writer::default() });
    let var = making.edit(|model| {
        let root = model.root();
        let x = model.add_dimension(root, "x", DimensionLen::Unlimited(0)).unwrap();
        let var = model.add_variable(root, "v", Atomic::Int.into(), &[x]).unwrap();
        model.variable_mut(var).unwrap().storage = Storage::Chunked(vec![1]);
        var
    });
    for at in 0..5000 {
        making.write(var, &[at], &[1], &Values::Int(vec![i32::try_from(at).unwrap()]));
    }
    making.sync();
    let seen = making.seen();
    assert_eq!(making.addresses(&seen, "/v")[0], 512);
    assert_eq!(making.read(&seen, "/v"), Values::Int((0..5000).collect()));
}

#[test]
fn small_data_lie_in_the_header_when_they_shall() {
    let making = Making::begin(Hdf5Writer::default());
    let vars = making.edit(|model| {
        let root = model.root();
        let x = model.add_dimension(root, "x", DimensionLen::Fixed(3)).unwrap();
        ["full", "partly", "empty"].map(|name| {
            let var = model.add_variable(root, name, Atomic::Short.into(), &[x]).unwrap();
            model.variable_mut(var).unwrap().storage = Storage::Compact;
            var
        })
    });
    making.write(vars[0], &[0], &[3], &Values::Short(vec![1, 2, 3]));
    making.write(vars[1], &[1], &[1], &Values::Short(vec![5]));
    making.sync();
    let seen = making.seen();
    assert_eq!(making.read(&seen, "/full"), Values::Short(vec![1, 2, 3]));
    assert_eq!(making.read(&seen, "/partly"), Values::Short(vec![-32767, 5, -32767]));
    assert_eq!(making.read(&seen, "/empty"), Values::Short(vec![-32767; 3]));
    let model = seen.model();
    assert!(model.variables().iter().all(|var| model.variable(*var).unwrap().storage == Storage::Compact));
}

#[test]
fn the_classic_model_refuses_what_it_has_not() {
    let refused = |change: fn(&mut Model)| {
        let making = Making::begin(Hdf5Writer { classic_model: true, ..Hdf5Writer::default() });
        making.edit(change);
        making.session.block_on(making.writer.sync()).unwrap_err().to_string()
    };
    let message = refused(|model| _ = model.add_group(model.root(), "g").unwrap());
    assert!(message.contains("groups") && message.contains("/g"), "{message}");
    let message = refused(|model| {
        _ = model.add_variable(model.root(), "v", Atomic::Int64.into(), &[]).unwrap();
    });
    assert!(message.contains("classic model") && message.contains("/v"), "{message}");
}

#[test]
fn data_that_come_in_part_after_a_sync_are_completed_with_fill() {
    let making = Making::begin(Hdf5Writer::default());
    let var = making.edit(|model| {
        let x = model.add_dimension(model.root(), "x", DimensionLen::Fixed(1000)).unwrap();
        let var = model.add_variable(model.root(), "v", Atomic::Int.into(), &[x]).unwrap();
        model.variable_mut(var).unwrap().fill = Fill::Apart(Values::Int(vec![7]));
        var
    });
    making.sync();
    making.write(var, &[3], &[2], &Values::Int(vec![1, 2]));
    making.sync();
    let Values::Int(read) = making.read(&making.seen(), "v") else { panic!("other values") };
    assert_eq!((read[2], &read[3..5], read[5], read[999]), (7, &[1, 2][..], 7, 7));
}
