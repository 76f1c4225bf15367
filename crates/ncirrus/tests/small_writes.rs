//! Loops of small writes ask the store for few: what adjoins in a file is written together.
#![expect(clippy::unwrap_used, reason = "helpers of tests may panic")]

use crate::nc4::counting::{Count, Counting};
use ncirrus_classic::{ClassicDriver, ClassicWriter, FormatVersion};
use ncirrus_engine::{DatasetWriter, Session};
use ncirrus_hdf5::{Hdf5Driver, Hdf5Writer};
use ncirrus_layout::{Driver, Error, ObjectId, OpenOptions, Result, Writing};
use ncirrus_model::{Atomic, Attribute, DimensionLen, Model, NodeId, Selection, Storage, Values, VarId};
use ncirrus_store::{BlockingStore, LocalStore, MemoryStore, Store};
use std::sync::Arc;

const RECORDS: u64 = 2000;
const WIDTH: u64 = 50;

struct Written {
    session: Session,
    memory: MemoryStore,
    store: Arc<dyn Store>,
    count: Arc<Count>,
}

impl Written {
    fn new() -> Self {
        let (memory, count) = (MemoryStore::new("memory://small"), Arc::new(Count::default()));
        let store = Counting { inner: memory.clone(), count: Arc::clone(&count) };
        let session = Session::builder().threads(2).durable(false).build().unwrap();
        Self { session, memory, store: Arc::new(BlockingStore(store)), count }
    }

    fn root(&self) -> ObjectId {
        self.memory.root().child("data")
    }

    /// How often the store was written to.
    fn writes(&self) -> u64 {
        self.count.so_far()[0]
    }

    fn create(&self, writing: Arc<dyn Writing>) -> DatasetWriter {
        self.session.block_on(self.session.create(Arc::clone(&self.store), self.root(), writing)).unwrap()
    }

    fn read(&self, name: &str) -> Values {
        let drivers: [Arc<dyn Driver>; 2] = [Arc::new(ClassicDriver), Arc::new(Hdf5Driver)];
        let options = OpenOptions::default();
        let all = async {
            let opened = self.session.open(self.memory.shared(), self.root(), &drivers, &options);
            let dataset = opened.await?;
            let var = dataset.model().variable_at(name).unwrap();
            let shape = dataset.model().shape(var);
            dataset.read(var, &Selection::slab(&vec![0; shape.len()], &shape)).await
        };
        self.session.block_on(all).unwrap()
    }
}

/// Variables of records: single values, and rows. Each chunk has one record, where there are chunks.
fn define(model: &mut Model) -> Result<Vec<VarId>> {
    let root = model.root();
    let time = model.add_dimension(root, "time", DimensionLen::Unlimited(0))?;
    let x = model.add_dimension(root, "x", DimensionLen::Fixed(WIDTH))?;
    let mut vars = Vec::new();
    for (name, dims) in [("a", &[time][..]), ("b", &[time]), ("row", &[time, x])] {
        let var = model.add_variable(root, name, Atomic::Int.into(), dims)?;
        if let Some(variable) = model.variable_mut(var) {
            variable.storage = Storage::Chunked(if dims.len() == 1 { vec![512] } else { vec![1, WIDTH] });
        }
        vars.push(var);
    }
    Ok(vars)
}

fn value(var: usize, record: u64) -> i32 {
    i32::try_from(record * 10).unwrap() + i32::try_from(var).unwrap()
}

async fn put(writer: &DatasetWriter, vars: &[VarId], record: u64) -> Result<()> {
    for (number, var) in vars.iter().enumerate() {
        let value = value(number, record);
        let (selection, values) = match number {
            2 => (Selection::slab(&[record, 0], &[1, WIDTH]), vec![value; 50]),
            _ => (Selection::slab(&[record], &[1]), vec![value]),
        };
        writer.write(*var, &selection, &Values::Int(values)).await?;
    }
    Ok(())
}

#[test]
fn records_of_several_variables_are_few_writes() {
    let formats: [(&str, Arc<dyn Writing>); 2] = [
        ("netCDF-3", Arc::new(ClassicWriter::new(FormatVersion::Classic))),
        ("netCDF-4", Arc::new(Hdf5Writer::default())),
    ];
    for (format, writing) in formats {
        let written = Written::new();
        let writer = written.create(writing);
        let done: Result<()> = written.session.block_on(async {
            let vars = writer.edit(define).await?;
            for record in 0..RECORDS {
                put(&writer, &vars, record).await?;
                if record % 500 == 499 {
                    // What was written is there for who reads.
                    let found = writer.read(vars[2], &Selection::slab(&[record, 3], &[1, 2])).await?;
                    assert_eq!(found, Values::Int(vec![value(2, record); 2]), "{format}");
                    assert_eq!(writer.model().shape(vars[0]), [record + 1], "{format}");
                }
            }
            // Once more: in place.
            put(&writer, &vars, 7).await?;
            writer.sync().await
        });
        done.unwrap();
        drop(writer);
        let writes = written.writes();
        println!("{format}: {writes} writes");
        assert!(writes <= 40, "{format}: {writes} writes of {RECORDS} records");
        let column = |var| (0..RECORDS).map(move |record| value(var, record));
        assert_eq!(written.read("a"), Values::Int(column(0).collect()), "{format}");
        assert_eq!(written.read("b"), Values::Int(column(1).collect()), "{format}");
        let rows = column(2).flat_map(|value| [value; 50]);
        assert_eq!(written.read("row"), Values::Int(rows.collect()), "{format}");
    }
}

#[test]
fn what_was_not_committed_is_not_written_when_the_writer_is_dropped() {
    let written = Written::new();
    let writer = written.create(Arc::new(ClassicWriter::new(FormatVersion::Classic)));
    let vars = written.session.block_on(writer.edit(define)).unwrap();
    written.session.block_on(put(&writer, &vars, 0)).unwrap();
    let before = written.writes();
    drop(writer);
    assert_eq!(written.writes(), before);
}

#[test]
fn a_fill_value_that_is_set_after_other_values_were_written_fills_what_is_left() {
    let written = Written::new();
    let writer = written.create(Arc::new(Hdf5Writer::default()));
    let done: Result<()> = written.session.block_on(async {
        let define = |model: &mut Model| {
            let root = model.root();
            let x = model.add_dimension(root, "x", DimensionLen::Fixed(4))?;
            let vars = ["v", "w"].map(|name| model.add_variable(root, name, Atomic::Int.into(), &[x]));
            let [v, w] = vars;
            Ok::<[VarId; 2], Error>([v?, w?])
        };
        let [v, w] = writer.edit(define).await?;
        writer.write(w, &Selection::all(&[4]), &Values::Int(vec![1; 4])).await?;
        let fill = |model: &mut Model| {
            let attributes = model.attributes_mut(NodeId::Variable(v)).unwrap().known_mut();
            attributes.put(Attribute::atomic("_FillValue", Values::Int(vec![-1])));
            Ok(())
        };
        writer.edit(fill).await?;
        writer.write(v, &Selection::slab(&[0], &[2]), &Values::Int(vec![7, 8])).await?;
        writer.close().await
    });
    done.unwrap();
    assert_eq!(written.read("/v"), Values::Int(vec![7, 8, -1, -1]));
}

/// Variables whose records have padding, and one without.
fn define_padded(model: &mut Model) -> Result<Vec<(VarId, u64)>> {
    let root = model.root();
    let time = model.add_dimension(root, "time", DimensionLen::Unlimited(0))?;
    let mut vars = Vec::new();
    for (name, element, len) in [("b", Atomic::Byte, 3), ("s", Atomic::Short, 5), ("i", Atomic::Int, 2)] {
        let x = model.add_dimension(root, &format!("x{len}"), DimensionLen::Fixed(len))?;
        vars.push((model.add_variable(root, name, element.into(), &[time, x])?, len));
    }
    Ok(vars)
}

/// Writes records of a variable, `block` at a time.
async fn put_records(
    writer: &DatasetWriter,
    (var, len): (VarId, u64),
    records: std::ops::Range<u64>,
    (block, seed): (u64, i8),
) -> Result<()> {
    let mut next = records.start;
    while next < records.end {
        let count = block.min(records.end - next);
        let numbers = (next * len..(next + count) * len)
            .map(|at| seed.wrapping_add(u8::try_from(at % 100).unwrap().cast_signed()));
        let values = match len {
            3 => Values::Byte(numbers.collect()),
            5 => Values::Short(numbers.map(i16::from).collect()),
            _ => Values::Int(numbers.map(i32::from).collect()),
        };
        writer.write(var, &Selection::slab(&[next, 0], &[count, len]), &values).await?;
        next += count;
    }
    Ok(())
}

#[test]
fn blocks_of_records_are_stored_like_records_that_are_written_one_by_one() {
    let file_of = |block: u64| -> Vec<u8> {
        let written = Written::new();
        let writer = written.create(Arc::new(ClassicWriter::new(FormatVersion::Classic)));
        let done: Result<()> = written.session.block_on(async {
            let vars = writer.edit(define_padded).await?;
            let [b, s, i] = [vars[0], vars[1], vars[2]];
            // A part of a record, which stays in memory, and is written over below.
            writer.write(i.0, &Selection::slab(&[5, 0], &[1, 1]), &Values::Int(vec![7])).await?;
            for var in [b, s, i] {
                put_records(&writer, var, 0..40, (block, 1)).await?;
            }
            // Records between are filled, and some are replaced.
            put_records(&writer, s, 60..100, (block, 2)).await?;
            put_records(&writer, i, 20..41, (block, 3)).await?;
            writer.write(b.0, &Selection::slab(&[70, 1], &[1, 1]), &Values::Byte(vec![9])).await?;
            put_records(&writer, b, 69..90, (block, 4)).await?;
            let found = writer.read(b.0, &Selection::slab(&[70, 0], &[1, 3])).await?;
            assert_eq!(found, Values::Byte(vec![14, 15, 16]));
            writer.close().await
        });
        done.unwrap();
        let (len, _) = written.memory.stat(&written.root()).unwrap().unwrap();
        let mut bytes = vec![0; usize::try_from(len).unwrap()];
        written.memory.read_into(&written.root(), 0, &mut bytes).unwrap();
        bytes
    };
    let one_by_one = file_of(1);
    for block in [16, 20, 40] {
        assert!(file_of(block) == one_by_one, "blocks of {block} records");
    }
}

#[test]
fn records_of_variables_that_are_defined_after_others_have_data_are_kept() {
    let (url, session) = ("memory://records/late.nc", ncirrus::Session::new().unwrap());
    let made = ncirrus::Dataset::create_with(url, &Default::default(), &session).unwrap();
    made.root().add_dimension("t", DimensionLen::Unlimited(0)).unwrap();
    let values = |number: i16| (0..25).map(|at| number * 100 + at).collect::<Vec<i16>>();
    for number in 0..3 {
        let variable = made.root().add_variable(&format!("v{number}"), Atomic::Short, &["t"]).unwrap();
        variable.write(&Selection::slab(&[0], &[25]), &values(number)).unwrap();
    }
    made.close().unwrap();
    let dataset = ncirrus::Dataset::open_with(url, &Default::default(), &session).unwrap();
    for number in 0..3 {
        let found = dataset.variable(&format!("v{number}")).unwrap().read::<i16>().unwrap();
        assert_eq!(found.to_vec(), values(number), "v{number}");
    }
}
