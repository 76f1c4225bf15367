//! Definitions that a format refuses leave nothing behind: what follows them is as if they had not been made.
#![expect(clippy::unwrap_used, reason = "helpers of tests may panic")]

use ncirrus_classic::{ClassicDriver, ClassicWriter, FormatVersion};
use ncirrus_engine::{DatasetWriter, Session};
use ncirrus_hdf5::{Hdf5Driver, Hdf5Writer};
use ncirrus_layout::{Driver, ObjectId, OpenOptions, Result, Writing};
use ncirrus_model::{Atomic, CodecSpec, DimensionLen, Model, Selection, Storage, Values, VarId};
use ncirrus_store::MemoryStore;
use ncirrus_zarr::{Dialect, ZarrDriver, ZarrWriter};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What is done before the refused definitions.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Before {
    Written,
    Synced,
    Reopened,
}

/// What is done after them.
#[derive(Debug, Clone, Copy, PartialEq)]
enum After {
    Nothing,
    ValidForm,
}

type Members = BTreeMap<String, Values>;

struct Place {
    session: Session,
    memory: MemoryStore,
}

impl Place {
    fn new() -> Self {
        let session = Session::builder().threads(2).durable(false).build().unwrap();
        Self { session, memory: MemoryStore::new("memory://refused") }
    }

    fn root(&self) -> ObjectId {
        self.memory.root().child("data")
    }

    fn open(&self) -> ncirrus_engine::Dataset {
        let drivers: [Arc<dyn Driver>; 3] =
            [Arc::new(ClassicDriver), Arc::new(Hdf5Driver), Arc::new(ZarrDriver)];
        let options = OpenOptions::default();
        let opened = self.session.open(self.memory.shared(), self.root(), &drivers, &options);
        self.session.block_on(opened).unwrap()
    }

    fn edit<T>(&self, writer: &DatasetWriter, change: impl FnOnce(&mut Model) -> Result<T>) -> Result<T> {
        self.session.block_on(writer.edit(change))
    }

    fn write(&self, writer: &DatasetWriter, name: &str, (start, count): (&[u64], &[u64]), first: f64) {
        let var = writer.model().variable_at(name).unwrap();
        let len = count.iter().product::<u64>();
        let values = (0..len).scan(first, |value, _| Some(std::mem::replace(value, *value + 1.0))).collect();
        let (selection, values) = (Selection::slab(start, count), Values::Double(values));
        let written = self.session.block_on(writer.write(var, &selection, &values));
        assert!(written.is_ok(), "{name}: {written:?}");
    }

    fn begin(&self, writing: &Arc<dyn Writing>, before: Before) -> DatasetWriter {
        let created = self.session.create(self.memory.shared(), self.root(), Arc::clone(writing));
        let writer = self.session.block_on(created).unwrap();
        self.edit(&writer, define).unwrap();
        // Chunks that are wholly written are stored at once, others stay in the cache.
        self.write(&writer, "/v", (&[0, 0], &[2, 4]), 1.0);
        self.write(&writer, "/v", (&[2, 1], &[1, 2]), 20.0);
        self.write(&writer, "/w", (&[0], &[3]), 40.0);
        match before {
            Before::Written => return writer,
            Before::Synced => self.session.block_on(writer.sync()).unwrap(),
            Before::Reopened => {
                self.session.block_on(writer.close()).unwrap();
                let writer = self.session.block_on(self.session.update(&self.open())).unwrap();
                self.write(&writer, "/w", (&[1], &[1]), 50.0);
                return writer;
            }
        }
        self.write(&writer, "/w", (&[1], &[1]), 50.0);
        writer
    }

    fn end(&self, writer: DatasetWriter, after: After) -> Members {
        let mut v = "/v";
        if after == After::ValidForm {
            let valid = |model: &mut Model| {
                change_members(model, false)?;
                add(model, "bad").map(|_| ())
            };
            self.edit(&writer, valid).unwrap();
            v = "/renamed";
            self.write(&writer, "/bad", (&[0], &[4]), 70.0);
        }
        // Within the present length: a plain Zarr v2 that was opened again has no unlimited dimension.
        self.write(&writer, v, (&[1, 3], &[2, 1]), 60.0);
        self.write(&writer, "/w", (&[3], &[1]), 80.0);
        self.session.block_on(writer.close()).unwrap();
        let dataset = self.open();
        let model = dataset.model();
        let read = |var: VarId| {
            let values = self.session.block_on(dataset.read(var, &Selection::all(&model.shape(var))));
            (model.variable_path(var), values.unwrap())
        };
        model.variables().into_iter().map(read).collect()
    }
}

fn define(model: &mut Model) -> Result<()> {
    let root = model.root();
    let t = model.add_dimension(root, "t", DimensionLen::Unlimited(0))?;
    let x = model.add_dimension(root, "x", DimensionLen::Fixed(4))?;
    let v = model.add_variable(root, "v", Atomic::Double.into(), &[t, x])?;
    let w = model.add_variable(root, "w", Atomic::Double.into(), &[x])?;
    for (var, chunk) in [(v, vec![2, 4]), (w, vec![4])] {
        model.variable_mut(var).unwrap().storage = Storage::Chunked(chunk);
    }
    Ok(())
}

/// Renames a variable that has data; removes the other one.
fn change_members(model: &mut Model, removes: bool) -> Result<()> {
    model.rename_variable(model.variable_at("/v").unwrap(), "renamed")?;
    if removes {
        model.remove_variable(model.variable_at("/w").unwrap())?;
    }
    Ok(())
}

fn add(model: &mut Model, name: &str) -> Result<VarId> {
    let x = model.dimension_in(model.root(), "x").unwrap();
    let var = model.add_variable(model.root(), name, Atomic::Double.into(), &[x])?;
    model.variable_mut(var).unwrap().storage = Storage::Chunked(vec![4]);
    Ok(var)
}

type Edit = fn(&mut Model) -> Result<()>;

/// What is refused: a filter for elements of another type, which shows when chunks have been chosen; names; sizes.
fn refusals() -> [(&'static str, Edit); 4] {
    [
        ("filter", |model| {
            let var = add(model, "bad")?;
            model.variable_mut(var).unwrap().filters = vec![CodecSpec::hdf5(6, &[2, 3])];
            Ok(())
        }),
        ("name", |model| add(model, ".zarray").map(|_| ())),
        ("type", |model| {
            let x = model.dimension_in(model.root(), "x").unwrap();
            Ok(model.add_variable(model.root(), "bad", Atomic::UInt64.into(), &[x]).map(|_| ())?)
        }),
        ("size", |model| {
            let long = model.add_dimension(model.root(), "long", DimensionLen::Fixed(1 << 40))?;
            let var = model.add_variable(model.root(), "bad", Atomic::Double.into(), &[long])?;
            model.variable_mut(var).unwrap().storage = Storage::Chunked(vec![1 << 40]);
            Ok(())
        }),
    ]
}

#[test]
fn refused_definitions_leave_nothing_behind() {
    let kinds: [(&str, Arc<dyn Writing>); 5] = [
        ("classic", Arc::new(ClassicWriter::new(FormatVersion::Classic))),
        ("hdf5", Arc::new(Hdf5Writer::default())),
        ("nczarr", Arc::new(ZarrWriter::new(Dialect::Attributes))),
        ("unconsolidated", Arc::new(ZarrWriter::new(Dialect::Attributes).consolidated(false))),
        ("zarr 3", Arc::new(ZarrWriter::new(Dialect::V3))),
    ];
    for (kind, writing) in kinds {
        let mut refused = Vec::new();
        for (name, bad) in refusals() {
            for before in [Before::Written, Before::Synced, Before::Reopened] {
                for after in [After::Nothing, After::ValidForm] {
                    for removes in [false, true] {
                        let case = format!("{kind}: {name}, {before:?}, {after:?}, removes: {removes}");
                        let place = Place::new();
                        let writer = place.begin(&writing, before);
                        let changed = place.edit(&writer, |model| {
                            change_members(model, removes)?;
                            bad(model)
                        });
                        let checked = place.session.block_on(writer.check_definitions());
                        if changed.is_ok() && checked.is_ok() {
                            continue;
                        }
                        refused.push(name);
                        let found = place.end(writer, after);
                        let other = Place::new();
                        let wanted = other.end(other.begin(&writing, before), after);
                        assert_eq!(found, wanted, "{case}");
                    }
                }
            }
        }
        assert!(refused.contains(&"filter") && refused.len() >= 24, "{kind}: only {refused:?} are refused");
    }
}
