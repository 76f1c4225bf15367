//! Edits of the files that `peers.py` makes.
use ncirrus_engine::DatasetWriter;
use ncirrus_layout::Result;
use ncirrus_model::{
    Atomic, Attribute, CodecSpec, DimensionLen, Endianness, EnumMember, Field, Model, NodeId, Selection,
    Storage, TypeId, TypeRef, UserKind, UserType, Values, VarId,
};

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Edit {
    Attributes,
    Append,
    Overwrite,
    Add,
    Remove,
    Types,
    Ties,
    Groups,
}

pub(crate) const EDITS: [Edit; 7] =
    [Edit::Attributes, Edit::Append, Edit::Overwrite, Edit::Add, Edit::Types, Edit::Remove, Edit::Ties];

impl Edit {
    pub(crate) fn name(self) -> &'static str {
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

fn find(writer: &DatasetWriter, name: &str) -> VarId {
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

pub(crate) async fn write(
    writer: &DatasetWriter,
    name: &str,
    start: &[u64],
    count: &[u64],
    values: Values,
) -> Result<()> {
    writer.write(find(writer, name), &Selection::slab(start, count), &values).await
}

/// Applies an edit; with `syncs` in several commits, if the edit has several steps.
pub(crate) async fn apply(writer: &DatasetWriter, edit: Edit, syncs: bool) -> Result<()> {
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
async fn append(writer: &DatasetWriter, syncs: bool) -> Result<()> {
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

async fn overwrite(writer: &DatasetWriter, syncs: bool) -> Result<()> {
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

async fn add(writer: &DatasetWriter) -> Result<()> {
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

/// New types, used by attributes and variables, and reused once they exist.
async fn types(writer: &DatasetWriter, syncs: bool) -> Result<()> {
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
    let attribute = Attribute {
        name: "flag".to_owned(),
        ty: TypeRef::User(color),
        values: Values::UByte(vec![2]),
        is_json: false,
    };
    model.attributes_mut(NodeId::Variable(var)).unwrap().known_mut().put(attribute);
    Ok(())
}

/// A dimension gets a variable with its name, and another one loses it.
async fn ties(writer: &DatasetWriter) -> Result<()> {
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

/// A group is renamed, another one is added and removed with a dimension, and elements that were never written get a
/// value.
async fn groups(writer: &DatasetWriter, syncs: bool) -> Result<()> {
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
