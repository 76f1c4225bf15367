//! Models to write.
use super::*;
use ncirrus_model::{EnumMember, Field, Strings, TypeRef, UserKind, UserType, Values};

/// The dataset of the specification's example (docs/spec/nczarr.md 3.2).
pub(super) fn basic() -> Model {
    let mut model = Model::new();
    let root = model.root();
    let lat = model.add_dimension(root, "lat", DimensionLen::Fixed(3)).unwrap();
    let lon = model.add_dimension(root, "lon", DimensionLen::Fixed(4)).unwrap();
    for (name, dim, units) in [("lat", lat, "degrees_north"), ("lon", lon, "degrees_east")] {
        let var = model.add_variable(root, name, Atomic::Float.into(), &[dim]).unwrap();
        put(&mut model, NodeId::Variable(var), Attribute::text("units", units));
    }
    let v = model.add_variable(root, "v", Atomic::Int.into(), &[lat, lon]).unwrap();
    model.set_fill(v, Values::Int(vec![-1])).unwrap();
    put(&mut model, NodeId::Variable(v), Attribute::atomic("valid_range", Values::Int(vec![0, 100])));
    put(&mut model, NodeId::Variable(v), Attribute::text("long_name", "value"));
    let global = NodeId::Group(root);
    put(&mut model, global, Attribute::text("title", "basic"));
    put(&mut model, global, Attribute::atomic("version", Values::Int(vec![2])));
    put(&mut model, global, Attribute::atomic("pi", Values::Double(vec![std::f64::consts::PI])));
    model
}

/// Everything that NCZarr can express: groups, unlimited dimensions, scalars, text, every atomic type.
pub(super) fn wide() -> Model {
    let mut model = basic();
    let root = model.root();
    let time = model.add_dimension(root, "time", DimensionLen::Unlimited(2)).unwrap();
    model.add_dimension(root, "unused", DimensionLen::Fixed(7)).unwrap();
    let lon = model.dimension_at("lon").unwrap();
    for atomic in Atomic::ALL {
        if atomic != Atomic::String {
            model.add_variable(root, &format!("v_{}", atomic.name()), atomic.into(), &[time, lon]).unwrap();
        }
    }
    let scalar = model.add_variable(root, "scalar", Atomic::Double.into(), &[]).unwrap();
    put(&mut model, NodeId::Variable(scalar), Attribute::atomic("f", Values::Float(vec![0.1, -1.0])));
    let g = model.add_group(root, "g").unwrap();
    let inner = model.add_group(g, "inner").unwrap();
    let y = model.add_dimension(inner, "y", DimensionLen::Unlimited(1)).unwrap();
    let w = model.add_variable(inner, "w w", Atomic::Short.into(), &[y, lon]).unwrap();
    model.variable_mut(w).unwrap().endianness = ncirrus_model::Endianness::Big;
    put(&mut model, NodeId::Group(inner), Attribute::text("µ", "日本"));
    let strings = Values::String(Strings::from_iter([Some("a"), Some("bcd")]));
    put(&mut model, NodeId::Group(g), Attribute::atomic("names", strings));
    model
}

/// What only the extension can represent.
pub(super) fn extended() -> Model {
    let mut model = basic();
    let root = model.root();
    let lat = model.dimension_at("lat").unwrap();
    let add = |model: &mut Model, name: &str, kind| {
        TypeRef::User(model.add_type(root, UserType { name: name.into(), kind }).unwrap())
    };
    let members =
        vec![EnumMember { name: "Low".into(), value: 0 }, EnumMember { name: "High".into(), value: 1 }];
    let level = add(&mut model, "level_t", UserKind::Enum { base: Atomic::Byte, members });
    let raw = add(&mut model, "raw_t", UserKind::Opaque(5));
    let row = add(&mut model, "row_t", UserKind::Vlen(Atomic::Int.into()));
    let words = add(&mut model, "words_t", UserKind::Vlen(Atomic::String.into()));
    let field = |name: &str, ty: TypeRef, dims: &[u64]| Field { name: name.into(), ty, dims: dims.to_vec() };
    let flat = vec![field("id", Atomic::Int.into(), &[]), field("level", level, &[])];
    let flat = add(&mut model, "flat_t", UserKind::Compound(flat));
    let deep = vec![field("flat", flat, &[]), field("u", Atomic::Float.into(), &[2]), field("raw", raw, &[])];
    let deep = add(&mut model, "deep_t", UserKind::Compound(deep));
    let mixed = vec![field("name", Atomic::String.into(), &[]), field("row", row, &[])];
    let mixed = add(&mut model, "mixed_t", UserKind::Compound(mixed));
    let types = [
        ("e", level),
        ("o", raw),
        ("r", row),
        ("ww", words),
        ("flat", flat),
        ("deep", deep),
        ("mixed", mixed),
    ];
    for (name, ty) in types {
        model.add_variable(root, name, ty, &[lat]).unwrap();
    }
    let s = model.add_variable(root, "s", Atomic::String.into(), &[lat]).unwrap();
    let missing = Values::String(Strings::from_iter([Some("none")]));
    model.set_fill(s, missing).unwrap();
    let worst =
        Attribute { name: "worst".into(), ty: level, values: Values::Byte(vec![1, 0]), is_json: false };
    put(&mut model, NodeId::Group(root), worst);
    let nulls = Values::String(Strings::from_iter([Some("x"), None, Some("")]));
    put(&mut model, NodeId::Group(root), Attribute::atomic("nulls", nulls));
    let latin = Attribute::atomic("latin", Values::Char(b"Jos\xe9\0".to_vec()));
    put(&mut model, NodeId::Variable(s), latin);
    put(&mut model, NodeId::Group(root), Attribute::text("last", "one"));
    model
}

/// Strings of fixed length, one by its attribute, one by the writer's option.
pub(super) fn strings() -> Model {
    let mut model = basic();
    let lat = model.dimension_at("lat").unwrap();
    for name in ["given", "sized"] {
        let var = model.add_variable(model.root(), name, Atomic::String.into(), &[lat]).unwrap();
        model.set_fill(var, Values::String(Strings::from_iter([Some("none")]))).unwrap();
        if name == "given" {
            put(
                &mut model,
                NodeId::Variable(var),
                Attribute::atomic("_nczarr_maxstrlen", Values::Int(vec![4])),
            );
        }
    }
    let char = model.add_variable(model.root(), "v_char", Atomic::Char.into(), &[lat]).unwrap();
    model.set_fill(char, Values::Char(b"x".to_vec())).unwrap();
    put(&mut model, NodeId::Variable(char), Attribute::atomic("empty", Values::Int(Vec::new())));
    put(&mut model, NodeId::Variable(char), Attribute::text("blank", ""));
    let none = Values::String(Strings::new());
    put(&mut model, NodeId::Variable(char), Attribute::atomic("no_names", none));
    model
}

pub(super) fn put(model: &mut Model, node: NodeId, attribute: Attribute) {
    model.attributes_mut(node).unwrap().known_mut().set(attribute).unwrap();
}

/// Makes all numbers little-endian.
pub(super) fn little(model: &mut Model) {
    for var in model.variables() {
        model.variable_mut(var).unwrap().endianness = ncirrus_model::Endianness::Native;
    }
}
