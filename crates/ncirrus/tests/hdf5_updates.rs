//! netCDF-4 files that netCDF-C, h5py and h5netcdf made, and our own, changed in place: what other programs read of them
//! then, how they go on, and what is there when the writer is killed.
#![expect(clippy::panic, clippy::unwrap_used, reason = "helpers of tests may panic")]
#[path = "kills/stores.rs"]
#[allow(dead_code, reason = "one of two stores is used here")]
#[allow(
    clippy::allow_attributes,
    reason = "an expectation of code that is not used is never met for a module"
)]
mod stores;

use ncirrus_engine::{Dataset, Session, Writer};
use ncirrus_hdf5::{Hdf5Driver, Hdf5Writer};
use ncirrus_layout::{Driver, ObjectId, OpenOptions, Result, Writing};
use ncirrus_model::{
    Atomic, Attribute, CodecSpec, DimensionLen, Endianness, EnumMember, Field, Model, NodeId, Selection,
    Storage, TypeId, TypeRef, UserKind, UserType, Values, VarId,
};
use ncirrus_store::{Blocking, LocalStore, MemoryStore, Precondition, Store};
use ncirrus_testkit::corpus::peers_python;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use stores::{Unplugged, copy_of};

#[derive(Debug, Clone, Copy, PartialEq)]
enum Edit {
    Attributes,
    Append,
    Overwrite,
    Add,
    Remove,
    Types,
    Ties,
    Groups,
}

const EDITS: [Edit; 7] =
    [Edit::Attributes, Edit::Append, Edit::Overwrite, Edit::Add, Edit::Types, Edit::Remove, Edit::Ties];

impl Edit {
    fn name(self) -> &'static str {
        match self {
            Self::Attributes => "attributes",
            Self::Append => "append",
            Self::Overwrite => "overwrite",
            Self::Add => "add",
            Self::Remove => "remove",
            Self::Types => "types",
            Self::Ties => "ties",
            Self::Groups => "groups",
        }
    }
}

fn find(writer: &Writer, name: &str) -> VarId {
    let model = writer.model();
    let renamed = match name {
        "sst" => "sea",
        "time" => "when",
        other => other,
    };
    model
        .variable_at(name)
        .or_else(|| model.variable_at(renamed))
        .unwrap_or_else(|| panic!("no variable {name}"))
}

async fn write(writer: &Writer, name: &str, start: &[u64], count: &[u64], values: Values) -> Result<()> {
    writer.write(find(writer, name), &Selection::slab(start, count), &values).await
}

/// Changes what is written; `syncs` when in several commits where an edit has several steps.
async fn apply(writer: &Writer, edit: Edit, syncs: bool) -> Result<()> {
    match edit {
        Edit::Attributes => writer.edit(attributes).await,
        Edit::Append => append(writer, syncs).await,
        Edit::Overwrite => overwrite(writer, syncs).await,
        Edit::Add => add(writer).await,
        Edit::Remove => writer.edit(remove).await,
        Edit::Types => types(writer, syncs).await,
        Edit::Ties => ties(writer).await,
        Edit::Groups => groups(writer, syncs).await,
    }
}

fn attributes(model: &mut Model) -> Result<()> {
    let root = model.attributes_mut(NodeId::Group(model.root())).unwrap().known_mut();
    let title = format!("after, and much longer than it was before: {}", "x".repeat(300));
    root.put(Attribute::text("title", &title));
    root.remove("history").unwrap();
    root.put(Attribute::atomic("new_one", Values::Double(vec![1.5])));
    root.rename("a3", "A3")?;
    let sst = model.variable_at("sst").unwrap();
    let of_sst = model.attributes_mut(NodeId::Variable(sst)).unwrap().known_mut();
    of_sst.put(Attribute::text("units", "kelvin"));
    let group = model.group_at("g").unwrap();
    model.attributes_mut(NodeId::Group(group)).unwrap().known_mut().put(Attribute::text("note", "added"));
    Ok(())
}

/// Six records.
async fn append(writer: &Writer, syncs: bool) -> Result<()> {
    for record in 3..9u64 {
        let first = i16::try_from(record * 4).unwrap();
        write(writer, "time", &[record], &[1], Values::Double(vec![f64::from(first) / 4.0 + 0.5])).await?;
        let row: Vec<i16> = (first..first + 4).collect();
        let large = row.iter().map(|number| i32::from(*number) * 1000).collect();
        write(writer, "sst", &[record, 0], &[1, 4], Values::Short(row)).await?;
        write(writer, "packed", &[record, 0], &[1, 4], Values::Int(large)).await?;
        if syncs && record % 2 == 0 {
            writer.sync().await?;
        }
    }
    Ok(())
}

async fn overwrite(writer: &Writer, syncs: bool) -> Result<()> {
    write(writer, "sst", &[0, 1], &[2, 2], Values::Short(vec![-1, -2, -3, -4])).await?;
    let noise = |salt: i32| Values::Int((0..12).map(|n| n * 7919 + salt).collect());
    for salt in [1, 77_777, -5000] {
        write(writer, "packed", &[0, 0], &[3, 4], noise(salt)).await?;
        if syncs {
            writer.sync().await?;
        }
    }
    write(writer, "mask", &[0], &[4], Values::Byte(vec![4, 3, 2, 1])).await?;
    write(writer, "empty", &[1], &[2], Values::Int(vec![11, 12])).await?;
    let word = Values::String([Some("another")].into_iter().collect());
    write(writer, "words", &[1], &[1], word).await
}

async fn add(writer: &Writer) -> Result<()> {
    writer.edit(define).await?;
    write(writer, "new", &[0, 0], &[2, 4], Values::Float((0..8u8).map(f32::from).collect())).await?;
    let records = Values::Int(vec![7, 8, 9]);
    write(writer, "rec", &[0], &[3], records).await?;
    let lists = Values::String([Some("x"), Some("yy")].into_iter().collect());
    write(writer, "lists", &[0], &[2], lists).await?;
    write(writer, "h/inner2", &[0], &[2], Values::Int64(vec![5, 6])).await?;
    write(writer, "g/more", &[0], &[4], Values::Short(vec![1, 2, 3, 4])).await
}

fn define(model: &mut Model) -> Result<()> {
    let root = model.root();
    let y = model.add_dimension(root, "y", DimensionLen::Fixed(2))?;
    let x = model.dimension_at("x").or_else(|| model.dimension_at("longitude")).unwrap();
    let time = model.dimension_at("time").unwrap();
    let new = model.add_variable(root, "new", Atomic::Float.into(), &[y, x])?;
    if let Some(variable) = model.variable_mut(new) {
        variable.storage = Storage::Chunked(vec![1, 3]);
        variable.filters = vec![CodecSpec::hdf5(2, &[4]), CodecSpec::hdf5(1, &[5])];
        variable.endianness = Endianness::Big;
        variable.attributes.known_mut().put(Attribute::text("units", "m"));
    }
    model.add_variable(root, "rec", Atomic::Int.into(), &[time])?;
    model.add_variable(root, "lists", Atomic::String.into(), &[y])?;
    let h = model.add_group(root, "h")?;
    model.add_variable(h, "inner2", Atomic::Int64.into(), &[y])?;
    let g = model.group_at("g").unwrap();
    model.add_variable(g, "more", Atomic::Short.into(), &[x])?;
    Ok(())
}

fn remove(model: &mut Model) -> Result<()> {
    let mask = model.variable_at("mask").unwrap();
    model.remove_variable(mask)?;
    let sst = model.variable_at("sst").unwrap();
    model.rename_variable(sst, "sea")?;
    let x = model.dimension_at("x").unwrap();
    Ok(model.rename_dimension(x, "longitude")?)
}

/// Types of its own, used by attributes and variables, once more when they are there.
async fn types(writer: &Writer, syncs: bool) -> Result<()> {
    let define = |model: &mut Model| {
        let root = model.root();
        let member = |name: &str, value| EnumMember { name: name.to_owned(), value };
        let kind = UserKind::Enum { base: Atomic::UByte, members: vec![member("red", 1), member("blue", 2)] };
        let color = model.add_type(root, UserType { name: "color".to_owned(), kind })?;
        let field = |name: &str, ty: Atomic| Field { name: name.to_owned(), ty: ty.into(), dims: Vec::new() };
        let kind = UserKind::Compound(vec![field("a", Atomic::Short), field("b", Atomic::Double)]);
        model.add_type(root, UserType { name: "pair".to_owned(), kind })?;
        use_types(model, "flags", color)
    };
    writer.edit(define).await?;
    write(writer, "flags", &[0], &[4], Values::UByte(vec![1, 2, 2, 1])).await?;
    if syncs {
        writer.sync().await?;
    }
    writer
        .edit(|model| use_types(model, "more_flags", model.type_in(model.root(), "color").unwrap()))
        .await?;
    let pair = |model: &mut Model| {
        let root = model.root();
        let pair = model.type_in(root, "pair").unwrap();
        let y = model.add_dimension(root, "pairs_along", DimensionLen::Fixed(2))?;
        model.add_variable(root, "pairs", TypeRef::User(pair), &[y])?;
        Ok(())
    };
    writer.edit(pair).await?;
    let fields = vec![Values::Short(vec![1, 2]), Values::Double(vec![0.5, 1.5])];
    write(writer, "pairs", &[0], &[2], Values::Compound { len: 2, fields }).await
}

fn use_types(model: &mut Model, name: &str, color: TypeId) -> Result<()> {
    let x = model.dimension_at("x").or_else(|| model.dimension_at("longitude")).unwrap();
    let root = model.root();
    let var = model.add_variable(root, name, TypeRef::User(color), &[x])?;
    let attribute =
        Attribute { name: "flag".to_owned(), ty: TypeRef::User(color), values: Values::UByte(vec![2]) };
    model.attributes_mut(NodeId::Variable(var)).unwrap().known_mut().put(attribute);
    Ok(())
}

/// A dimension gets a variable of its name, and another one loses it.
async fn ties(writer: &Writer) -> Result<()> {
    let change = |model: &mut Model| {
        let root = model.root();
        let x = model.dimension_at("x").or_else(|| model.dimension_at("longitude")).unwrap();
        let name = model.dimension(x).unwrap().name.clone();
        model.add_variable(root, &name, Atomic::Float.into(), &[x])?;
        let time = model.variable_at("time").unwrap();
        Ok(model.rename_variable(time, "when")?)
    };
    writer.edit(change).await?;
    let name = if writer.model().variable_at("x").is_some() { "x" } else { "longitude" };
    write(writer, name, &[0], &[4], Values::Float(vec![10.0, 20.0, 30.0, 40.0])).await
}

/// A group gets another name, another one comes and goes with a dimension, and what was never written gets a value.
async fn groups(writer: &Writer, syncs: bool) -> Result<()> {
    let come = |model: &mut Model| {
        let root = model.root();
        let passing = model.add_group(root, "passing")?;
        let group = model.add_group(passing, "below")?;
        model.add_dimension(group, "z", DimensionLen::Fixed(2))?;
        model.rename_group(model.group_at("g").unwrap(), "renamed")?;
        let empty = model.variable_at("empty").unwrap();
        let fill = Attribute::atomic("_FillValue", Values::Int(vec![77]));
        model.attributes_mut(NodeId::Variable(empty)).unwrap().known_mut().put(fill);
        Ok(())
    };
    writer.edit(come).await?;
    if syncs {
        writer.sync().await?;
    }
    let go = |model: &mut Model| {
        model.remove_dimension(model.dimension_at("/passing/below/z").unwrap())?;
        model.remove_group(model.group_at("/passing/below").unwrap())?;
        Ok(())
    };
    writer.edit(go).await
}

struct Bench {
    session: Session,
    python: std::path::PathBuf,
    folder: tempfile::TempDir,
}

fn script() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hdf5_updates/peers.py")
}

impl Bench {
    fn new() -> Option<Self> {
        let session = Session::builder().threads(2).durable(false).build().unwrap();
        Some(Self { session, python: peers_python()?, folder: tempfile::tempdir().unwrap() })
    }

    fn python(&self, arguments: &[&str]) -> (bool, String) {
        let done = Command::new(&self.python).arg(script()).args(arguments).output().unwrap();
        let text = String::from_utf8_lossy(&done.stdout).into_owned();
        (done.status.success(), text + &String::from_utf8_lossy(&done.stderr))
    }

    fn folder(&self) -> &str {
        self.folder.path().to_str().unwrap()
    }

    /// The files of all makers.
    fn made(&self) -> Vec<(String, MemoryStore)> {
        let (fine, text) = self.python(&["make", self.folder()]);
        assert!(fine, "{text}");
        let named = text.lines().map(|name| {
            let bytes = std::fs::read(self.folder.path().join(format!("{name}.nc"))).unwrap();
            let memory = MemoryStore::new("memory://updates");
            LocalStore::put(&memory, &root(&memory), &bytes, &Precondition::None).unwrap();
            (name.to_owned(), memory)
        });
        let mut all: Vec<_> = named.collect();
        let ours = self.ours(&all[0].1);
        all.push(("ours".to_owned(), ours));
        all
    }

    /// The same as one of them, written here.
    fn ours(&self, of: &MemoryStore) -> MemoryStore {
        let memory = MemoryStore::new("memory://updates");
        let from = self.open(of.shared()).unwrap();
        let done: Result<()> = self.session.block_on(async {
            let writing: Arc<dyn Writing> = Arc::new(Hdf5Writer::default());
            let writer = self.session.create(memory.shared(), root(&memory), writing).await?;
            let nodes = from.model().nodes();
            let attributes = from.attributes(&nodes).await;
            let mut model = Model::clone(&from.model());
            for (node, attributes) in nodes.into_iter().zip(attributes) {
                *model.attributes_mut(node).unwrap().known_mut() = attributes?;
            }
            writer
                .edit(|to| {
                    *to = model;
                    Ok(())
                })
                .await?;
            for var in from.model().variables() {
                if from.model().variable_path(var) != "/empty" {
                    let all = Selection::all(&from.model().shape(var));
                    writer.write(var, &all, &from.read(var, &all).await?).await?;
                }
            }
            writer.close().await
        });
        done.unwrap();
        memory
    }

    fn open(&self, store: Arc<dyn Store>) -> Result<Dataset> {
        let drivers: [Arc<dyn Driver>; 1] = [Arc::new(Hdf5Driver)];
        let root = ObjectId::new(store.id().clone(), "data".to_owned());
        self.session.block_on(self.session.open(store, root, &drivers, &OpenOptions::default()))
    }

    fn update(&self, store: Arc<dyn Store>, edits: &[Edit], syncs: bool) -> Result<()> {
        let dataset = self.open(store)?;
        self.session.block_on(async {
            let writer = self.session.update(&dataset).await?;
            for edit in edits {
                apply(&writer, *edit, syncs).await?;
            }
            writer.close().await
        })
    }

    fn save(&self, memory: &MemoryStore, name: &str) -> String {
        let path = self.folder.path().join(name);
        std::fs::write(&path, bytes_of(memory)).unwrap();
        path.to_str().unwrap().to_owned()
    }
}

fn root(memory: &MemoryStore) -> ObjectId {
    memory.root().child("data")
}

fn bytes_of(memory: &MemoryStore) -> Vec<u8> {
    memory.read(&root(memory), &ncirrus_layout::Want::All).unwrap().unwrap().bytes.to_vec()
}

#[test]
fn files_of_every_maker_are_changed_and_other_programs_read_and_go_on() {
    let Some(bench) = Bench::new() else { return };
    for (maker, memory) in bench.made() {
        let mut sets: Vec<Vec<Edit>> = EDITS.iter().map(|edit| vec![*edit]).collect();
        sets.extend([EDITS.to_vec(), Vec::new(), vec![Edit::Remove, Edit::Add, Edit::Append]]);
        sets.push(vec![Edit::Ties, Edit::Add, Edit::Append]);
        sets.push(vec![Edit::Groups]);
        for edits in sets {
            let changed = copy_of(&memory);
            let names: Vec<&str> = edits.iter().map(|edit| edit.name()).collect();
            let name = format!("{maker}.{}.nc", names.join("+"));
            if let Err(error) = bench.update(changed.shared(), &edits, true) {
                panic!("{name}: {error:?}");
            }
            if edits.is_empty() {
                assert!(bytes_of(&changed) == bytes_of(&memory), "{name}: bytes changed");
            }
            bench.save(&changed, &name);
        }
    }
    let (fine, text) = bench.python(&["check", bench.folder()]);
    assert!(fine, "{text}");
}

/// What a reader sees: attributes by node, and shape and values of each variable.
#[derive(Debug, Clone, PartialEq)]
struct Seen {
    attributes: BTreeMap<String, BTreeMap<String, String>>,
    variables: BTreeMap<String, (Vec<u64>, Vec<String>)>,
}

impl Bench {
    fn seen(&self, memory: &MemoryStore) -> Result<Seen> {
        let dataset = self.open(memory.shared())?;
        let model = dataset.model();
        let mut seen = Seen { attributes: BTreeMap::new(), variables: BTreeMap::new() };
        self.session.block_on(async {
            let nodes = model.nodes();
            for (node, attributes) in nodes.iter().zip(dataset.attributes(&nodes).await) {
                let path = match node {
                    NodeId::Group(id) => model.group_path(*id),
                    NodeId::Variable(id) => model.variable_path(*id),
                };
                let attributes = attributes?;
                assert!(attributes.faults.is_empty(), "{path}: {:?}", attributes.faults);
                let texts = attributes.iter().map(|one| (one.name.clone(), format!("{:?}", one.values)));
                seen.attributes.insert(path, texts.collect());
            }
            for var in model.variables() {
                let (path, shape) = (model.variable_path(var), model.shape(var));
                let values = dataset.read(var, &Selection::all(&shape)).await?;
                seen.variables.insert(path, (shape, texts(&values)));
            }
            Ok(seen)
        })
    }
}

/// The elements as text.
fn texts(values: &Values) -> Vec<String> {
    fn all<T: std::fmt::Debug>(list: &[T]) -> Vec<String> {
        list.iter().map(|one| format!("{one:?}")).collect()
    }
    match values {
        Values::Byte(list) => all(list),
        Values::UByte(list) => all(list),
        Values::Compound { fields, .. } => fields.iter().map(|field| format!("{field:?}")).collect(),
        Values::Short(list) => all(list),
        Values::Int(list) => all(list),
        Values::Int64(list) => all(list),
        Values::Float(list) => all(list),
        Values::Double(list) => all(list),
        Values::String(list) => list.iter().map(|one| format!("{one:?}")).collect(),
        other => panic!("{other:?}"),
    }
}

/// The element of an array at the place that is number `at` in an array of another shape.
fn element<'a>((shape, texts): &'a (Vec<u64>, Vec<String>), of: &[u64], at: usize) -> Option<&'a String> {
    let (mut rest, mut index, mut stride) = (u64::try_from(at).unwrap(), 0, 1);
    for (len, other) in shape.iter().zip(of).rev() {
        let along = rest % other;
        rest /= other;
        if along >= *len {
            return None;
        }
        index += along * stride;
        stride *= len;
    }
    texts.get(usize::try_from(index).unwrap())
}

/// Every part of a state is that of the old or of the new one.
fn mixed(seen: &Seen, old: &Seen, new: &Seen) -> std::result::Result<(), String> {
    for (path, attributes) in &seen.attributes {
        let known = [old, new].into_iter().filter_map(|state| state.attributes.get(path));
        if !known.clone().any(|known| known == attributes) {
            return Err(format!("attributes of {path}: {attributes:?}"));
        }
    }
    let kept = old.variables.keys().filter(|path| new.variables.contains_key(*path));
    if let Some(lost) = kept.into_iter().find(|path| !seen.variables.contains_key(*path)) {
        return Err(format!("{lost} is lost"));
    }
    for (path, (shape, texts)) in &seen.variables {
        let known: Vec<_> = [old, new].into_iter().filter_map(|state| state.variables.get(path)).collect();
        if known.is_empty() {
            return Err(format!("{path} is neither old nor new"));
        }
        for (at, text) in texts.iter().enumerate() {
            let fine = known.iter().any(|known| element(known, shape, at) == Some(text));
            let is_fill = old.variables.get(path).is_none_or(|old| element(old, shape, at).is_none());
            let fills = ["-9", "-2147483647", "0", "0.0", "9.969209968386869e36"];
            if !(fine || is_fill && fills.contains(&text.as_str())) {
                return Err(format!("{path}: element {at} of {shape:?} is {text}"));
            }
        }
    }
    Ok(())
}

/// What is killed: of several edits at once, intermediate states would be right that are neither old nor new.
const SINGLY: [&[Edit]; 7] = [
    &[Edit::Attributes],
    &[Edit::Append],
    &[Edit::Overwrite],
    &[Edit::Add, Edit::Attributes],
    &[Edit::Remove],
    &[Edit::Ties, Edit::Types],
    &[Edit::Groups],
];

/// More writes than any of these updates makes.
const MOST: usize = 400;

#[test]
fn a_writer_that_is_killed_after_any_write_leaves_a_file_that_opens() {
    let Some(bench) = Bench::new() else { return };
    let mut paths = Vec::new();
    for (maker, base) in bench.made() {
        for edits in SINGLY {
            let name = format!("{maker} {edits:?}");
            let done = copy_of(&base);
            bench.update(done.shared(), edits, false).unwrap_or_else(|error| panic!("{name}: {error:?}"));
            let (old, new) = (bench.seen(&base).unwrap(), bench.seen(&done).unwrap());
            let mut killed = 0;
            loop {
                let memory = copy_of(&base);
                let dying: Arc<dyn Store> = Arc::new(Blocking(Unplugged::after(&memory, killed)));
                let outcome = bench.update(dying, edits, false);
                let at = format!("{name}: after {killed} writes");
                let seen = bench.seen(&memory).unwrap_or_else(|error| panic!("{at}: {error:?}"));
                mixed(&seen, &old, &new).unwrap_or_else(|reason| panic!("{at}: {reason}"));
                let kind: String = edits.iter().map(|edit| edit.name()).collect();
                paths.push(bench.save(&memory, &format!("{maker}-{kind}-{killed}.h5")));
                if outcome.is_ok() {
                    assert_eq!(seen, new, "{at}");
                    break;
                }
                killed += 1;
            }
            assert!((2..MOST).contains(&killed), "{name}: {killed} writes");
        }
    }
    for paths in paths.chunks(200) {
        let arguments: Vec<&str> = std::iter::once("open").chain(paths.iter().map(String::as_str)).collect();
        let (fine, text) = bench.python(&arguments);
        assert!(fine, "{text}");
    }
}

/// All that can be seen of a dataset, failures too.
async fn everything(dataset: &Dataset) -> BTreeMap<String, String> {
    let model = dataset.model();
    let mut seen = BTreeMap::new();
    let nodes = model.nodes();
    for (node, attributes) in nodes.iter().zip(dataset.attributes(&nodes).await) {
        let path = match node {
            NodeId::Group(id) => model.group_path(*id),
            NodeId::Variable(id) => model.variable_path(*id),
        };
        for attribute in attributes.iter().flat_map(|list| list.iter()) {
            seen.insert(format!("{path}@{}", attribute.name), format!("{:?}", attribute.values));
        }
    }
    for var in model.variables() {
        let shape = model.shape(var);
        if shape.iter().product::<u64>() < 1 << 20 {
            let values = dataset.read(var, &Selection::all(&shape)).await;
            let text =
                values.map_or_else(|error| format!("{:?}", error.kind()), |values| format!("{values:?}"));
            seen.insert(model.variable_path(var), format!("{shape:?} {text}"));
        }
    }
    seen
}

fn note(model: &mut Model) -> Result<()> {
    let root = model.root();
    let known = model.attributes_mut(NodeId::Group(root)).unwrap().known_mut();
    known.put(Attribute::text("a_note_of_ncirrus", &"note".repeat(50)));
    let dim = model.add_dimension(root, "a_dimension_of_ncirrus", DimensionLen::Fixed(3))?;
    model.add_variable(root, "a_variable_of_ncirrus", Atomic::Int.into(), &[dim])?;
    Ok(())
}

#[test]
fn a_file_that_another_program_has_open_is_refused_with_the_way_out() {
    let Some(bench) = Bench::new() else { return };
    let (_, memory) = bench.made().into_iter().find(|(maker, _)| maker == "latest").unwrap();
    let path = bench.save(&memory, "marked.h5");
    let (fine, text) = bench.python(&["leave-open", &path]);
    assert!(fine, "{text}");
    let bytes = std::fs::read(path).unwrap();
    LocalStore::put(&memory, &root(&memory), &bytes, &Precondition::None).unwrap();
    let error = bench.update(memory.shared(), &[Edit::Attributes], true).unwrap_err();
    assert!(error.to_string().contains("h5clear -s"), "{error}");
    assert!(bytes_of(&memory) == bytes);
}

#[test]
fn a_file_behind_a_user_block_is_changed() {
    let Some(bench) = Bench::new() else { return };
    for (maker, memory) in bench.made() {
        let bytes = [vec![b'#'; 1024], bytes_of(&memory)].concat();
        LocalStore::put(&memory, &root(&memory), &bytes, &Precondition::None).unwrap();
        let edits = [Edit::Attributes, Edit::Append, Edit::Add];
        bench.update(memory.shared(), &edits, true).unwrap_or_else(|error| panic!("{maker}: {error:?}"));
        bench.save(&memory, &format!("{maker}.attributes+append+add.nc"));
    }
    let (fine, text) = bench.python(&["check", bench.folder()]);
    assert!(fine, "{text}");
}

#[test]
fn late_records_cost_no_more_than_early_ones() {
    let Some(bench) = Bench::new() else { return };
    for (maker, memory) in bench.made() {
        let dataset = bench.open(memory.shared()).unwrap();
        let lens: Result<Vec<usize>> = bench.session.block_on(async {
            let writer = bench.session.update(&dataset).await?;
            let mut lens = vec![bytes_of(&memory).len()];
            for record in 3..603u64 {
                write(&writer, "time", &[record], &[1], Values::Double(vec![0.5])).await?;
                write(&writer, "packed", &[record, 0], &[1, 4], Values::Int(vec![1, 2, 3, 4])).await?;
                writer.sync().await?;
                if (record - 2).is_multiple_of(200) {
                    lens.push(bytes_of(&memory).len());
                }
            }
            writer.close().await?;
            Ok(lens)
        });
        let lens = lens.unwrap_or_else(|error| panic!("{maker}: {error:?}"));
        let grown: Vec<usize> = lens.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert!(grown[2] * 2 <= grown[0] * 3, "{maker}: {grown:?} bytes per 200 records");
        bench.save(&memory, &format!("{maker}-600.h5"));
        let (fine, text) = bench.python(&["open", &format!("{}/{maker}-600.h5", bench.folder())]);
        assert!(fine, "{text}");
    }
}

#[test]
fn every_file_of_the_corpus_takes_a_note_and_keeps_all_else() {
    let (Some(bench), Some(corpus)) = (Bench::new(), ncirrus_testkit::corpus::corpus("hdf5")) else { return };
    let objects = ncirrus_testkit::Objects::from_dir(&corpus).unwrap();
    let (mut changed, mut refused, mut before, mut after) = (0, Vec::new(), Vec::new(), Vec::new());
    for key in objects.keys().filter(|key| !key.starts_with("truth")) {
        let bytes = objects.find(key).unwrap();
        if bytes.len() > 1 << 20 {
            continue;
        }
        let memory = MemoryStore::new("memory://updates");
        LocalStore::put(&memory, &root(&memory), bytes, &Precondition::None).unwrap();
        let Ok(dataset) = bench.open(memory.shared()) else { continue };
        let old = bench.session.block_on(everything(&dataset));
        let outcome: Result<()> = bench.session.block_on(async {
            let writer = bench.session.update(&dataset).await?;
            writer.edit(note).await?;
            let number = Values::Int(vec![1, 2, 3]);
            write(&writer, "a_variable_of_ncirrus", &[0], &[3], number).await?;
            writer.close().await
        });
        if let Err(error) = outcome {
            assert!(bytes_of(&memory) == bytes[..], "{key}: {error}: bytes changed");
            refused.push(format!("{key}: {error}"));
            continue;
        }
        let new = bench.session.block_on(everything(&bench.open(memory.shared()).unwrap()));
        for (path, text) in &old {
            assert_eq!(new.get(path), Some(text), "{key}: {path}");
        }
        let added = "[3] Int([1, 2, 3])".to_owned();
        assert_eq!(new.get("/a_variable_of_ncirrus"), Some(&added), "{key}");
        assert!(new.contains_key("/@a_note_of_ncirrus"), "{key}");
        changed += 1;
        let name = key.replace('/', "-");
        after.push(bench.save(&memory, &format!("after-{name}")));
        let old_path = bench.folder.path().join(format!("before-{name}"));
        std::fs::write(&old_path, bytes).unwrap();
        before.push(old_path.to_str().unwrap().to_owned());
    }
    let failing = |paths: &[String]| -> Vec<String> {
        let arguments: Vec<&str> = std::iter::once("open").chain(paths.iter().map(String::as_str)).collect();
        let text = bench.python(&arguments).1;
        let names =
            text.lines().filter_map(|line| Some(line.split_once('-')?.1.split(": ").next()?.to_owned()));
        names.collect()
    };
    let (old, new) = (failing(&before), failing(&after));
    let worse: Vec<_> = new.iter().filter(|name| !old.contains(name)).collect();
    assert!(worse.is_empty(), "h5py cannot read {worse:?} any more");
    assert!(changed > 150, "{changed} files were changed; not: {refused:#?}");
}
