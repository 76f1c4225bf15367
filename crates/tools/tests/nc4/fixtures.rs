//! netCDF-4 files that together cover everything in the data model and the storage.
use crate::numbers::{NUMBERS, six};
use ncirrus::{
    Atomic, Attribute, CodecSpec, CreateOptions, Dataset, DimensionLen, Endianness, EnumMember, Field,
    FileStructures, Fill, Kind, Model, NodeId, OpenOptions, Result, Selection, Session, Storage, TypeRef,
    UserKind, UserType, Values,
};
use std::path::Path;

/// A file to be written.
#[derive(Clone)]
pub(crate) struct Fixture {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    /// Whether netCDF4-python, h5netcdf and xarray support all of its types.
    pub(crate) common: bool,
    build: fn(&mut Model) -> Result<Vec<Part>>,
}

/// Values for a part of a variable, starting at its first element.
pub(crate) struct Part {
    pub(crate) path: String,
    pub(crate) count: Vec<u64>,
    pub(crate) values: Values,
}

const fn fixture(name: &'static str, build: fn(&mut Model) -> Result<Vec<Part>>) -> Fixture {
    Fixture { name, kind: Kind::Nc4, common: true, build }
}

pub(crate) const FIXTURES: [Fixture; 9] = [
    fixture("numbers", numbers),
    fixture("storages", storages),
    fixture("unlimited", unlimited),
    fixture("fills", fills),
    fixture("strings", strings),
    fixture("many", many),
    fixture("filters", filters),
    Fixture { common: false, ..fixture("types", types) },
    Fixture { kind: Kind::Nc4Classic, ..fixture("classic", classic) },
];

impl Fixture {
    /// Writes the file, and opens it.
    pub(crate) fn write(&self, path: &Path, structures: FileStructures, session: &Session) -> Dataset {
        let align = (structures == FileStructures::V110).then_some(4096);
        let options = CreateOptions::new().kind(self.kind).structures(structures).align(align);
        let url = path.to_str().unwrap();
        let dataset = Dataset::create_with(url, &options, session).unwrap();
        let parts = dataset.edit(self.build).unwrap();
        for part in parts {
            let variable = dataset.variable(&part.path).unwrap();
            let selection = Selection::slab(&vec![0; part.count.len()], &part.count);
            variable.write_values(&selection, &part.values).unwrap();
        }
        dataset.close().unwrap();
        Dataset::open_with(url, &OpenOptions::default(), session).unwrap()
    }
}

/// A variable with values; the caller changes everything else.
fn add(
    model: &mut Model,
    name: &str,
    ty: impl Into<TypeRef>,
    dims: &[&str],
    count: &[u64],
    values: Values,
) -> Result<Part> {
    let (home, simple) = name.rsplit_once('/').unwrap_or(("/", name));
    let home = model.group_at(home).unwrap();
    let dims: Vec<_> = dims.iter().map(|dim| model.dimension_at(dim).unwrap()).collect();
    let var = model.add_variable(home, simple, ty.into(), &dims)?;
    Ok(Part { path: model.variable_path(var), count: count.to_vec(), values })
}

fn change(model: &mut Model, name: &str, change: impl FnOnce(&mut ncirrus_model::Variable)) {
    let var = model.variable_at(name).unwrap();
    change(model.variable_mut(var).unwrap());
}

fn put(model: &mut Model, node: NodeId, attribute: Attribute) {
    model.attributes_mut(node).unwrap().known_mut().put(attribute);
}

fn fixed(model: &mut Model, dims: &[(&str, u64)]) -> Result<()> {
    let root = model.root();
    dims.iter().try_for_each(|(name, len)| {
        model.add_dimension(root, name, DimensionLen::Fixed(*len))?;
        Ok(())
    })
}

fn ints(count: u64) -> Values {
    Values::Int((0..i32::try_from(count).unwrap()).map(|at| at * 7 - 20).collect())
}

/// All numbers in all byte orders, as data and as attributes.
fn numbers(model: &mut Model) -> Result<Vec<Part>> {
    fixed(model, &[("y", 2), ("x", 3)])?;
    let mut parts = Vec::new();
    for atomic in NUMBERS {
        for (order, endianness) in
            [("n", Endianness::Native), ("l", Endianness::Little), ("b", Endianness::Big)]
        {
            let name = format!("{}_{order}", atomic.name());
            parts.push(add(model, &name, atomic, &["y", "x"], &[2, 3], six(atomic))?);
            change(model, &name, |variable| variable.endianness = endianness);
            let node = NodeId::Variable(model.variable_at(&name).unwrap());
            put(model, node, Attribute::atomic("some", six(atomic).slice(1..4)));
        }
    }
    Ok(parts)
}

/// All storage layouts; chunks that do not divide the shape.
fn storages(model: &mut Model) -> Result<Vec<Part>> {
    fixed(model, &[("y", 7), ("x", 11), ("none", 0)])?;
    let all = [
        ("compact", Storage::Compact),
        ("contiguous", Storage::Contiguous),
        ("default", Storage::Default),
        ("small", Storage::Chunked(vec![2, 3])),
        ("rows", Storage::Chunked(vec![1, 11])),
        ("whole", Storage::Chunked(vec![7, 11])),
        ("single", Storage::Chunked(vec![1, 1])),
    ];
    let mut parts = Vec::new();
    for (name, storage) in all {
        parts.push(add(model, name, Atomic::Int, &["y", "x"], &[7, 11], ints(77))?);
        change(model, name, |variable| variable.storage = storage);
    }
    parts.push(add(model, "scalar", Atomic::Double, &[], &[], Values::Double(vec![2.5]))?);
    parts.push(add(model, "little", Atomic::Double, &[], &[], Values::Double(vec![-2.5]))?);
    change(model, "little", |variable| variable.storage = Storage::Compact);
    parts.push(add(model, "x", Atomic::Float, &["x"], &[11], Values::Float(vec![0.5; 11]))?);
    add(model, "empty", Atomic::Int, &["none", "x"], &[], ints(0))?;
    Ok(parts)
}

/// Several unlimited dimensions per group; variables that are shorter than their dimensions.
fn unlimited(model: &mut Model) -> Result<Vec<Part>> {
    fixed(model, &[("x", 3)])?;
    let (root, free) = (model.root(), DimensionLen::Unlimited(0));
    let g = model.add_group(root, "g")?;
    let h = model.add_group(g, "h")?;
    for (home, names) in [(root, ["t", "u"]), (g, ["v", "w"]), (h, ["t", "never"])] {
        for name in names {
            model.add_dimension(home, name, free)?;
        }
    }
    add(model, "/g/h/nothing", Atomic::Int, &["/g/h/never", "x"], &[], ints(0))?;
    Ok(vec![
        add(model, "t", Atomic::Int, &["t"], &[5], ints(5))?,
        add(model, "short", Atomic::Int, &["t"], &[2], ints(2))?,
        add(model, "both", Atomic::Int, &["t", "u"], &[3, 4], ints(12))?,
        add(model, "inner", Atomic::Int, &["x", "u"], &[3, 2], ints(6))?,
        add(model, "/g/v", Atomic::Int, &["/g/v"], &[6], ints(6))?,
        add(model, "/g/mixed", Atomic::Int, &["t", "/g/v", "x"], &[1, 2, 3], ints(6))?,
        add(model, "/g/three", Atomic::Int, &["t", "/g/v", "/g/w"], &[2, 3, 4], ints(24))?,
        add(model, "/g/h/own", Atomic::Int, &["/g/h/t", "u"], &[9, 1], ints(9))?,
    ])
}

/// Elements that were never written: with the default fill value, with a fill value of their own, without one.
fn fills(model: &mut Model) -> Result<Vec<Part>> {
    fixed(model, &[("x", 8)])?;
    let mut parts = Vec::new();
    for atomic in NUMBERS {
        for (how, own) in [("default", false), ("own", true)] {
            let name = format!("{}_{how}", atomic.name());
            parts.push(add(model, &name, atomic, &["x"], &[2], six(atomic).slice(3..5))?);
            change(model, &name, |variable| variable.storage = Storage::Chunked(vec![3]));
            if own {
                let var = model.variable_at(&name).unwrap();
                model.set_fill(var, six(atomic).slice(5..6))?;
            }
        }
    }
    for (name, storage) in
        [("part", Storage::Contiguous), ("little", Storage::Compact), ("cut", Storage::Chunked(vec![8]))]
    {
        parts.push(add(model, name, Atomic::Short, &["x"], &[2], Values::Short(vec![1, 2]))?);
        let var = model.variable_at(name).unwrap();
        model.set_fill(var, Values::Short(vec![-5]))?;
        change(model, name, |variable| variable.storage = storage);
    }
    parts.push(add(model, "none", Atomic::Int, &["x"], &[8], ints(8))?);
    change(model, "none", |variable| variable.fill = Fill::None);
    Ok(parts)
}

/// Strings of every length, in variables and in attributes.
fn strings(model: &mut Model) -> Result<Vec<Part>> {
    fixed(model, &[("x", 4), ("len", 5)])?;
    let root = model.root();
    let t = model.add_dimension(root, "t", DimensionLen::Unlimited(0))?;
    let long = "long ".repeat(2000);
    let texts = || -> Values {
        Values::String(["one", "", "µ ü 水", long.as_str()].into_iter().map(Some).collect())
    };
    let mut parts = vec![
        add(model, "words", Atomic::String, &["x"], &[4], texts())?,
        add(model, "chunked", Atomic::String, &["t", "x"], &[1, 4], texts())?,
        add(model, "one", Atomic::String, &[], &[], texts().slice(2..3))?,
        add(model, "letters", Atomic::Char, &["x", "len"], &[4, 5], Values::Char(b"abcde".repeat(4)))?,
        add(model, "temperature °C", Atomic::Int, &["x"], &[4], ints(4))?,
    ];
    parts.push(add(model, "partly", Atomic::String, &["x"], &[2], texts().slice(0..2))?);
    // Without write access, the HDF5 library cannot read strings where it has to fill in a chunk.
    change(model, "partly", |variable| variable.storage = Storage::Chunked(vec![4]));
    assert!(model.dimension(t).is_some());
    let top = NodeId::Group(root);
    put(model, top, Attribute::atomic("several", texts()));
    put(model, top, Attribute::atomic("single", texts().slice(0..1)));
    put(model, top, Attribute::text("text", "plain"));
    put(model, top, Attribute::text("empty", ""));
    Ok(parts)
}

/// More members and attributes than compact storage can hold in the C library, long names, and large attributes.
fn many(model: &mut Model) -> Result<Vec<Part>> {
    fixed(model, &[("x", 2)])?;
    let root = model.root();
    let mut parts = Vec::new();
    for number in 0..120 {
        parts.push(add(model, &format!("v{number:03}"), Atomic::Int, &["x"], &[2], ints(2))?);
    }
    let group = model.add_group(root, &"name".repeat(60))?;
    for number in 0..40 {
        let inner = model.add_group(group, &format!("g{number}"))?;
        model.add_dimension(inner, "d", DimensionLen::Fixed(number + 1))?;
    }
    let node = NodeId::Variable(model.variable_at("v007").unwrap());
    for number in 0..100 {
        put(model, node, Attribute::atomic(format!("a{number}"), Values::Double(vec![f64::from(number)])));
    }
    put(model, NodeId::Group(root), Attribute::atomic("large", Values::Int((0..12_000).collect())));
    Ok(parts)
}

/// Filters of the HDF5 library itself, on chunks that do not divide the shape.
fn filters(model: &mut Model) -> Result<Vec<Part>> {
    fixed(model, &[("y", 30), ("x", 50)])?;
    let mut parts = Vec::new();
    for (name, filters) in OWN_FILTERS {
        parts.push(filtered(model, name, filters)?);
    }
    Ok(parts)
}

/// Names of variables and their filters: number and parameters.
type Filtered = (&'static str, &'static [(u32, &'static [u32])]);

/// Filters that every build of the HDF5 library has.
const OWN_FILTERS: [Filtered; 6] = [
    ("deflate", &[(1, &[4])]),
    ("shuffled", &[(2, &[]), (1, &[9])]),
    ("checked", &[(3, &[])]),
    ("all", &[(2, &[]), (1, &[1]), (3, &[])]),
    ("nbit", &[(5, &[8, 1, 0, 1, 4, 0, 32, 0])]),
    ("scaleoffset", &[(6, &[2, 0, 0, 0, 4, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0])]),
];

/// Filters that plugins provide.
pub(crate) const PLUGIN_FILTERS: [Filtered; 9] = [
    ("szip", &[(4, &[32, 16])]),
    ("bzip2", &[(307, &[5])]),
    ("lzf", &[(32000, &[])]),
    ("blosc", &[(32001, &[0, 0, 0, 0, 5, 1, 1])]),
    ("lz4", &[(32004, &[0])]),
    ("bitshuffle", &[(32008, &[0, 0, 0, 0, 2])]),
    ("zstd", &[(2, &[]), (32015, &[3])]),
    ("blosc2", &[(32026, &[0, 0, 0, 0, 5, 1, 1])]),
    ("zstd_checked", &[(32015, &[3]), (3, &[])]),
];

/// A file with every filter that plugins provide.
pub(crate) const PLUGINS: Fixture = fixture("plugins", plugins);

fn plugins(model: &mut Model) -> Result<Vec<Part>> {
    fixed(model, &[("y", 30), ("x", 50)])?;
    PLUGIN_FILTERS.into_iter().map(|(name, filters)| filtered(model, name, filters)).collect()
}

fn filtered(model: &mut Model, name: &str, filters: &[(u32, &[u32])]) -> Result<Part> {
    let part = add(model, name, Atomic::Int, &["y", "x"], &[30, 50], ints(1500))?;
    let spec = |(id, parameters): &(u32, &[u32])| CodecSpec::Hdf5 {
        id: *id,
        parameters: parameters.to_vec(),
        optional: *id != 3,
    };
    change(model, name, |variable| {
        variable.storage = Storage::Chunked(vec![16, 32]);
        variable.filters = filters.iter().map(spec).collect();
    });
    Ok(part)
}

fn field(name: &str, ty: impl Into<TypeRef>, dims: &[u64]) -> Field {
    Field { name: name.to_owned(), ty: ty.into(), dims: dims.to_vec() }
}

/// All user-defined types, nested and in groups, in variables and in attributes.
fn types(model: &mut Model) -> Result<Vec<Part>> {
    fixed(model, &[("x", 3)])?;
    let root = model.root();
    let t = model.add_dimension(root, "t", DimensionLen::Unlimited(0))?;
    let group = model.add_group(root, "g")?;
    let define = |model: &mut Model, home, name: &str, kind| -> Result<TypeRef> {
        Ok(TypeRef::User(model.add_type(home, UserType { name: name.to_owned(), kind })?))
    };
    let member = |name: &str, value| EnumMember { name: name.to_owned(), value };
    let members = vec![member("Low", -1), member("Middle", 0), member("High", 300)];
    let level = define(model, root, "level_t", UserKind::Enum { base: Atomic::Short, members })?;
    let raw = define(model, root, "raw_t", UserKind::Opaque(5))?;
    let row = define(model, root, "row_t", UserKind::Vlen(Atomic::Int.into()))?;
    let point = vec![field("n", Atomic::Byte, &[]), field("d", Atomic::Double, &[2])];
    let point = define(model, root, "point_t", UserKind::Compound(point))?;
    let words = define(model, group, "words_t", UserKind::Vlen(Atomic::String.into()))?;
    let points = define(model, group, "points_t", UserKind::Vlen(point))?;
    let whole = vec![
        field("p", point, &[]),
        field("s", Atomic::String, &[]),
        field("r", row, &[]),
        field("l", level, &[2]),
    ];
    let whole = define(model, group, "whole_t", UserKind::Compound(whole))?;
    let levels = Values::Short(vec![-1, 300, 0]);
    let rows = || Values::Vlen { ends: vec![0, 2, 3], elements: Box::new(Values::Int(vec![1, 2, 3])) };
    let some = |len: usize| {
        let tenths = (0..2 * len).map(|at| f64::from(u32::try_from(at).unwrap()) / 10.0).collect();
        Values::Compound { len, fields: vec![Values::Byte(vec![7; len]), Values::Double(tenths)] }
    };
    let texts = || Values::String([Some("a"), Some(""), Some("ccc")].into_iter().collect());
    let twice = Values::Short(vec![0, -1, 300, 300, 0, 0]);
    let top = NodeId::Group(root);
    for (name, ty, values) in
        [("level", level, levels.clone()), ("row", row, rows()), ("point", point, some(2))]
    {
        put(model, top, Attribute { name: name.to_owned(), ty, values, is_json: false });
    }
    assert!(model.dimension(t).is_some());
    let opaque = Values::Opaque { size: 5, bytes: b"abcdefghijklmno".to_vec() };
    let lists = |elements| Values::Vlen { ends: vec![1, 1, 3], elements: Box::new(elements) };
    let all = Values::Compound { len: 3, fields: vec![some(3), texts(), rows(), twice] };
    Ok(vec![
        add(model, "level", level, &["x"], &[3], levels)?,
        add(model, "raw", raw, &["x"], &[3], opaque)?,
        add(model, "row", row, &["x"], &[3], rows())?,
        add(model, "rows", row, &["t"], &[3], rows())?,
        add(model, "point", point, &["x"], &[3], some(3))?,
        add(model, "points", point, &["t", "x"], &[1, 3], some(3))?,
        add(model, "/g/words", words, &["x"], &[3], lists(texts()))?,
        add(model, "/g/points", points, &["x"], &[3], lists(some(3)))?,
        add(model, "/g/whole", whole, &["t"], &[3], all)?,
    ])
}

/// A file of the classic model.
fn classic(model: &mut Model) -> Result<Vec<Part>> {
    fixed(model, &[("x", 3)])?;
    let root = model.root();
    model.add_dimension(root, "t", DimensionLen::Unlimited(0))?;
    put(model, NodeId::Group(root), Attribute::text("title", "classic"));
    let mut parts = vec![add(model, "t", Atomic::Double, &["t"], &[2], Values::Double(vec![0.5, 1.5]))?];
    for atomic in NUMBERS.into_iter().take(5) {
        parts.push(add(model, &format!("v_{}", atomic.name()), atomic, &["t", "x"], &[2, 3], six(atomic))?);
    }
    parts.push(add(model, "letters", Atomic::Char, &["x"], &[3], Values::Char(b"abc".to_vec()))?);
    Ok(parts)
}
