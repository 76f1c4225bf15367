//! The dataset that is changed, the changes, and the states afterwards.
use ncirrus_engine::{Dataset, DatasetWriter};
use ncirrus_layout::{Error, Result};
use ncirrus_model::{
    Atomic, Attribute, DimensionLen, Model, NodeId, Selection, Shards, Storage, Values, VarId,
};
use std::collections::BTreeMap;

/// All definitions as text, and the values of each variable.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct State {
    pub(crate) definitions: String,
    values: BTreeMap<String, Vec<i64>>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Change {
    Attributes,
    Overwrite,
    Append,
    Rename,
    Remove,
    /// An attribute that no other change affects.
    Note,
}

/// Elements of a chunk of `fixed`, along its only axis.
const CHUNK: usize = 2;

/// Two variables along `time`, one to overwrite, one to rename and one to remove.
pub(crate) async fn build(writer: &DatasetWriter, grows: bool, shards: bool) -> Result<()> {
    writer.edit(|model| define(model, grows, shards)).await?;
    let write = async |name: &str, start: &[u64], count: &[u64], from: i32| {
        let len = i32::try_from(count.iter().product::<u64>()).unwrap_or_default();
        let values = Values::Int((from..from + len).collect());
        writer.write(find(writer, name)?, &Selection::slab(start, count), &values).await
    };
    write("a", &[0, 0], &[3, 4], 100).await?;
    write("b", &[0], &[3], 200).await?;
    for (name, from) in [("fixed", 300), ("old", 400), ("gone", 500)] {
        write(name, &[0], &[4], from).await?;
    }
    Ok(())
}

fn define(model: &mut Model, grows: bool, shards: bool) -> Result<()> {
    let root = model.root();
    let len = if grows { DimensionLen::Unlimited(0) } else { DimensionLen::Fixed(3) };
    let time = model.add_dimension(root, "time", len)?;
    let x = model.add_dimension(root, "x", DimensionLen::Fixed(4))?;
    let known = |attributes: &mut ncirrus_model::AttributeState, text: &str| {
        attributes.known_mut().put(Attribute::text("title", text));
    };
    if let Some(attributes) = model.attributes_mut(NodeId::Group(root)) {
        known(attributes, "before");
    }
    for (name, dims, chunks) in [
        ("a", vec![time, x], vec![2, 4]),
        ("b", vec![time], vec![2]),
        ("fixed", vec![x], vec![CHUNK as u64]),
        ("old", vec![x], vec![2]),
        ("gone", vec![x], vec![2]),
    ] {
        let var = model.add_variable(root, name, Atomic::Int.into(), &dims)?;
        if let Some(variable) = model.variable_mut(var) {
            // Two chunks of each shard along every axis.
            variable.shards = shards.then(|| Shards::new(chunks.iter().map(|len| len * 2).collect()));
            variable.storage = Storage::Chunked(chunks);
            known(&mut variable.attributes, name);
        }
    }
    Ok(())
}

fn find(writer: &DatasetWriter, name: &str) -> Result<VarId> {
    writer.model().variable_at(name).ok_or_else(|| Error::not_found(format!("no variable {name}")))
}

pub(crate) async fn apply(writer: &DatasetWriter, change: Change) -> Result<()> {
    match change {
        Change::Attributes => {
            let set = |model: &mut Model| {
                let of_a = model.variable_at("a").map(NodeId::Variable);
                for node in [Some(NodeId::Group(model.root())), of_a].into_iter().flatten() {
                    if let Some(attributes) = model.attributes_mut(node) {
                        attributes
                            .known_mut()
                            .put(Attribute::text("title", "after, and rather longer than before"));
                    }
                }
                Ok(())
            };
            writer.edit(set).await
        }
        Change::Overwrite => {
            let values = Values::Int(vec![-1, -2, -3]);
            writer.write(find(writer, "fixed")?, &Selection::slab(&[0], &[3]), &values).await
        }
        Change::Append => {
            let a = Values::Int((112..124).collect());
            writer.write(find(writer, "a")?, &Selection::slab(&[3, 0], &[3, 4]), &a).await?;
            let b = Values::Int((203..206).collect());
            writer.write(find(writer, "b")?, &Selection::slab(&[3], &[3]), &b).await
        }
        Change::Rename => {
            let old = find(writer, "old")?;
            writer.edit(|model| Ok(model.rename_variable(old, "a_new_name_that_is_longer")?)).await
        }
        Change::Note => {
            let note = |model: &mut Model| {
                let top = NodeId::Group(model.root());
                let attributes = model.attributes_mut(top).map(|attributes| attributes.known_mut());
                attributes.into_iter().for_each(|known| known.put(Attribute::text("note", "here")));
                Ok(())
            };
            writer.edit(note).await
        }
        Change::Remove => {
            let gone = find(writer, "gone")?;
            writer.edit(|model| Ok(model.remove_variable(gone).map(|_| ())?)).await
        }
    }
}

/// Everything that can be read.
pub(crate) async fn state_of(dataset: &Dataset) -> Result<State> {
    let model = dataset.model();
    let mut nodes: Vec<NodeId> = model.walk().into_iter().map(NodeId::Group).collect();
    nodes.extend(model.variables().into_iter().map(NodeId::Variable));
    let mut lines: Vec<String> = Vec::new();
    for (node, attributes) in nodes.iter().zip(dataset.attributes(&nodes).await) {
        let attributes = attributes?;
        let texts: Vec<_> = attributes.iter().map(|one| (one.name.clone(), one.as_text())).collect();
        lines.push(format!("{} {texts:?}", describe(&model, *node)));
    }
    // Without consolidated metadata the order may be the store's.
    lines.sort();
    let mut values = BTreeMap::new();
    for var in model.variables() {
        let read = dataset.read(var, &Selection::all(&model.shape(var))).await?;
        let list = (0..read.len()).filter_map(|at| i64::try_from(read.integer(at)?).ok()).collect();
        values.insert(model.variable_path(var), list);
    }
    Ok(State { definitions: lines.join("\n"), values })
}

fn describe(model: &Model, node: NodeId) -> String {
    match node {
        NodeId::Group(group) => model.group_path(group),
        NodeId::Variable(var) => {
            let variable = model.variable(var);
            let dims = variable.map(|variable| variable.dims.as_slice()).unwrap_or_default();
            let dims: Vec<_> = dims.iter().map(|dim| model.dimension(*dim)).collect();
            format!("{} {:?} {dims:?}", model.variable_path(var), variable.map(|variable| variable.ty))
        }
    }
}

/// Whether every chunk is old or new, and everything outside the writes is unchanged.
pub(crate) fn same_cells(
    state: &State,
    old: &State,
    new: &State,
    is_new: bool,
) -> std::result::Result<(), String> {
    let reported = if is_new { new } else { old };
    for (path, values) in &state.values {
        let (Some(before), Some(after)) =
            (old.values.get(path).or(new.values.get(path)), new.values.get(path).or(old.values.get(path)))
        else {
            return Err(format!("{path} is in neither"));
        };
        let fine = match path.as_str() {
            "/fixed" => values.chunks(CHUNK).enumerate().all(|(cell, chunk)| {
                let at = cell * CHUNK..cell * CHUNK + CHUNK;
                before.get(at.clone()) == Some(chunk) || after.get(at) == Some(chunk)
            }),
            _ => reported.values.get(path) == Some(values),
        };
        if !fine {
            return Err(format!("{path}: {values:?} where {before:?} or {after:?} were expected"));
        }
    }
    Ok(())
}
