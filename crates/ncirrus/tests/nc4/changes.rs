//! A netCDF-4 file made by any program (`make.py`), changes of it, and the resulting states.
use ncirrus_engine::{Dataset, DatasetWriter};
use ncirrus_layout::{Error, Result};
use ncirrus_model::{
    Atomic, Attribute, CodecSpec, DimensionLen, Model, NodeId, Selection, Storage, Values, VarId,
};
use std::collections::BTreeMap;

/// Length of the variable `big`, one chunk.
pub(crate) const LEN: u64 = 2000;

/// The contents of a variable: shape, values and the attribute `title`.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Content {
    pub(crate) shape: Vec<u64>,
    pub(crate) values: Vec<i64>,
    pub(crate) title: String,
}

/// The contents of a file, by path; the root has only a title.
pub(crate) type State = BTreeMap<String, Content>;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Change {
    Attributes,
    /// A variable with an attribute and values.
    Addition,
    Append,
    /// A chunk that becomes longer, shorter and longer again, each time committed.
    Rewrite,
    Rename,
    Remove,
    /// A new group with a dimension and a variable.
    Group,
}

pub(crate) const CHANGES: [Change; 7] = [
    Change::Attributes,
    Change::Addition,
    Change::Append,
    Change::Rewrite,
    Change::Rename,
    Change::Remove,
    Change::Group,
];

fn find(writer: &DatasetWriter, path: &str) -> Result<VarId> {
    writer.model().variable_at(path).ok_or_else(|| Error::not_found(format!("no variable {path}")))
}

async fn write(writer: &DatasetWriter, path: &str, start: &[u64], count: &[u64], from: i32) -> Result<()> {
    let len = i32::try_from(count.iter().product::<u64>()).unwrap();
    let values = Values::Int((from..from + len).collect());
    writer.write(find(writer, path)?, &Selection::slab(start, count), &values).await
}

/// Adds variables `(name, dimensions, chunk shape, whether it is compressed)`.
type Definition<'a> = (&'a str, &'a [&'a str], &'a [u64], bool);

fn define(model: &mut Model, variables: &[Definition<'_>]) -> Result<()> {
    for (name, dims, chunks, compressed) in variables {
        let dims: Vec<_> = dims.iter().map(|dim| model.dimension_at(dim).unwrap()).collect();
        let var = model.add_variable(model.root(), name, Atomic::Int.into(), &dims)?;
        let variable = model.variable_mut(var).unwrap();
        variable.storage = Storage::Chunked(chunks.to_vec());
        variable.attributes.known_mut().put(Attribute::text("title", name));
        if *compressed {
            let spec = |id, parameters| CodecSpec::Hdf5 { id, parameters, optional: true };
            variable.filters = vec![spec(2, vec![4]), spec(1, vec![4])];
        }
    }
    Ok(())
}

/// The same file as `make.py` makes: without records, `a` is wide and not compressed.
pub(crate) async fn build(writer: &DatasetWriter, records: u64) -> Result<()> {
    let width = if records > 0 { 4 } else { 128 };
    let all: [Definition<'_>; 7] = [
        ("a", &["time", "x"], &[2, width], records > 0),
        ("b", &["time"], &[2], false),
        ("two", &["time", "u"], &[2, 2], false),
        ("fixed", &["x"], &[2], false),
        ("old", &["x"], &[2], false),
        ("gone", &["x"], &[2], false),
        ("big", &["y"], &[LEN], true),
    ];
    let definitions = |model: &mut Model| {
        let root = model.root();
        for name in ["time", "u"] {
            model.add_dimension(root, name, DimensionLen::Unlimited(0))?;
        }
        model.add_dimension(root, "x", DimensionLen::Fixed(width))?;
        model.add_dimension(root, "y", DimensionLen::Fixed(LEN))?;
        let top = model.attributes_mut(NodeId::Group(root)).unwrap();
        top.known_mut().put(Attribute::text("title", "before"));
        define(model, &all)
    };
    writer.edit(definitions).await?;
    if records > 0 {
        write(writer, "a", &[0, 0], &[records, width], 100).await?;
        write(writer, "b", &[0], &[records], 200).await?;
        write(writer, "two", &[0, 0], &[records, 2], 600).await?;
    }
    for (name, from) in [("fixed", 300), ("old", 400), ("gone", 500)] {
        write(writer, name, &[0], &[width], from).await?;
    }
    put_big(writer, false).await
}

/// Values that compress to little, or hardly at all.
async fn put_big(writer: &DatasetWriter, noise: bool) -> Result<()> {
    let mut state = 1u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        if noise { i32::from_ne_bytes(state.to_ne_bytes()) } else { 0 }
    };
    let values = Values::Int((0..LEN).map(|_| next()).collect());
    writer.write(find(writer, "big")?, &Selection::slab(&[0], &[LEN]), &values).await
}

pub(crate) async fn apply(writer: &DatasetWriter, change: Change) -> Result<()> {
    match change {
        Change::Attributes => writer.edit(retitle).await,
        Change::Addition => {
            writer.edit(|model| define(model, &[("added", &["time", "x"], &[2, 4], true)])).await?;
            write(writer, "added", &[0, 0], &[3, 4], 700).await
        }
        Change::Append => {
            write(writer, "a", &[3, 0], &[3, 4], 112).await?;
            write(writer, "b", &[3], &[3], 203).await?;
            write(writer, "two", &[3, 0], &[2, 2], 606).await
        }
        Change::Rewrite => {
            for noise in [true, false, true, true] {
                put_big(writer, noise).await?;
                write(writer, "fixed", &[0], &[2], 300).await?;
                writer.sync().await?;
            }
            Ok(())
        }
        Change::Rename => {
            let old = find(writer, "old")?;
            writer.edit(|model| Ok(model.rename_variable(old, "a_new_name_that_is_longer")?)).await
        }
        Change::Remove => {
            let gone = find(writer, "gone")?;
            writer.edit(|model| Ok(model.remove_variable(gone).map(|_| ())?)).await
        }
        Change::Group => {
            let add = |model: &mut Model| {
                let group = model.add_group(model.root(), "inner")?;
                let z = model.add_dimension(group, "z", DimensionLen::Fixed(4))?;
                Ok(model.add_variable(group, "deep", Atomic::Int.into(), &[z])?)
            };
            writer.edit(add).await?;
            write(writer, "/inner/deep", &[0], &[4], 800).await
        }
    }
}

fn retitle(model: &mut Model) -> Result<()> {
    let of_a = model.variable_at("a").map(NodeId::Variable);
    for node in [Some(NodeId::Group(model.root())), of_a].into_iter().flatten() {
        let attributes = model.attributes_mut(node).unwrap().known_mut();
        attributes.put(Attribute::text("title", "after, and rather longer than before: ".repeat(4).trim()));
    }
    Ok(())
}

/// Everything that can be read.
pub(crate) async fn state_of(dataset: &Dataset) -> Result<State> {
    let model = dataset.model();
    let mut nodes = vec![NodeId::Group(model.root())];
    nodes.extend(model.variables().into_iter().map(NodeId::Variable));
    let mut state = State::new();
    for (node, attributes) in nodes.iter().zip(dataset.attributes(&nodes).await) {
        let title = attributes?.find("title").and_then(Attribute::as_text).unwrap_or_default();
        let (path, mut content) = ("/".to_owned(), Content { title, ..Content::default() });
        let NodeId::Variable(var) = *node else {
            state.insert(path, content);
            continue;
        };
        content.shape = model.shape(var);
        let read = dataset.read(var, &Selection::all(&content.shape)).await?;
        content.values =
            (0..read.len()).map(|at| i64::try_from(read.integer(at).unwrap()).unwrap()).collect();
        state.insert(model.variable_path(var), content);
    }
    Ok(state)
}

/// The contents of records that are not yet written: netCDF's fill value, and h5py's.
const FILLS: [i64; 2] = [-2_147_483_647, 0];

/// Whether each object is as before or as after the change; what was appended may still be missing.
pub(crate) fn is_between(state: &State, old: &State, new: &State) -> std::result::Result<(), String> {
    for path in old.keys().filter(|path| new.contains_key(*path)) {
        if !state.contains_key(path) {
            return Err(format!("{path} is missing"));
        }
    }
    for (path, content) in state {
        let (before, after) = (old.get(path), new.get(path));
        let known: Vec<&Content> = [before, after].into_iter().flatten().collect();
        if !known.iter().any(|one| one.title == content.title) {
            return Err(format!("{path}: title {:?}", content.title));
        }
        if path == "/big" {
            if !known.iter().any(|one| one.values == content.values) {
                return Err("/big is neither old nor new".to_owned());
            }
            continue;
        }
        for (at, value) in content.values.iter().enumerate() {
            let was = before.and_then(|one| element(one, content, at));
            let becomes = after.and_then(|one| element(one, content, at));
            let fine = [was, becomes].contains(&Some(*value)) || was.is_none() && FILLS.contains(value);
            if !fine {
                return Err(format!("{path}: element {at} is {value}, not {was:?} or {becomes:?}"));
            }
        }
    }
    Ok(())
}

/// The element of `one` at position `at` of `content`: shapes differ in the first axis and, for two axes, possibly in
/// the second.
fn element(one: &Content, content: &Content, at: usize) -> Option<i64> {
    let columns = |content: &Content| content.shape.get(1).map_or(1, |len| usize::try_from(*len).unwrap());
    let (width, other) = (columns(content), columns(one));
    let (row, column) = (at / width, at % width);
    (column < other).then(|| one.values.get(row * other + column).copied()).flatten()
}
