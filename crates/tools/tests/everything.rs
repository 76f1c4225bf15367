//! A dataset with everything that the data model has, written, closed, opened and compared value for value.
#![expect(clippy::panic, clippy::unwrap_used, reason = "helpers of tests may panic")]

use crate::support::{exact_cdl, session, temp};
use ncirrus::{
    Atomic, Attribute, CreateOptions, Dataset, DimensionLen, Endianness, EnumMember, Field, Kind, Model,
    NodeId, OpenOptions, Result, Selection, Storage, TypeRef, UserKind, UserType, Values,
};

/// What is written, and where.
type Written = Vec<(String, Selection, Values)>;

fn strings(list: &[Option<&str>]) -> Values {
    Values::String(list.iter().copied().collect())
}

fn field(name: &str, ty: TypeRef, dims: &[u64]) -> Field {
    Field { name: name.to_owned(), ty, dims: dims.to_vec() }
}

fn user(name: &str, kind: UserKind) -> UserType {
    UserType { name: name.to_owned(), kind }
}

fn members(list: &[(&str, i128)]) -> Vec<EnumMember> {
    list.iter().map(|(name, value)| EnumMember { name: (*name).to_owned(), value: *value }).collect()
}

fn vlen(ends: &[usize], elements: Values) -> Values {
    Values::Vlen { ends: ends.to_vec(), elements: Box::new(elements) }
}

fn opaque(bytes: &[u8]) -> Values {
    Values::Opaque { size: 5, bytes: bytes.to_vec() }
}

/// Observations: `count` compounds with a member of every type.
fn observations(count: usize) -> Values {
    let number = |at: usize| i32::try_from(at).unwrap();
    let texts = [Some("Zürich"), None, Some("")];
    let text = |at: usize| texts[at % 3];
    let row_ends: Vec<usize> = (0..count).map(|at| at * (at + 1) / 2 + at + 1).collect();
    let rows = Values::Int((0..row_ends.last().copied().map_or(0, number)).collect());
    let inner = Values::Compound {
        len: count,
        fields: vec![
            Values::Short((0..count).map(|at| i16::MIN + i16::try_from(at).unwrap()).collect()),
            strings(&(0..count).map(|at| text(at + 1)).collect::<Vec<_>>()),
        ],
    };
    Values::Compound {
        len: count,
        fields: vec![
            Values::Int((0..count).map(|at| i32::MAX - number(at)).collect()),
            Values::Byte((0..count).map(|at| if at % 2 == 0 { -1 } else { 7 }).collect()),
            Values::Float((0..6 * count).map(|at| f32::from(u8::try_from(at).unwrap()) / 3.0).collect()),
            strings(&(0..count).map(text).collect::<Vec<_>>()),
            vlen(&row_ends, rows),
            inner,
            opaque(&(0..5 * count).map(|at| u8::try_from(at).unwrap().wrapping_mul(77)).collect::<Vec<_>>()),
            Values::Char((0..4 * count).map(|at| b'a' + u8::try_from(at % 26).unwrap()).collect()),
        ],
    }
}

/// Extremes of an atomic type, three of them, and a fill value.
fn extremes(atomic: Atomic) -> (Values, Values) {
    match atomic {
        Atomic::Byte => (Values::Byte(vec![i8::MIN, 0, i8::MAX]), Values::Byte(vec![-1])),
        Atomic::Char => (Values::Char(vec![b'a', 0, 255]), Values::Char(vec![b'x'])),
        Atomic::Short => (Values::Short(vec![i16::MIN, -1, i16::MAX]), Values::Short(vec![-999])),
        Atomic::Int => (Values::Int(vec![i32::MIN, 0, i32::MAX]), Values::Int(vec![0])),
        Atomic::Float => {
            let values = vec![f32::NAN, f32::NEG_INFINITY, f32::MIN_POSITIVE / 2.0];
            (Values::Float(values), Values::Float(vec![f32::INFINITY]))
        }
        Atomic::Double => {
            let values = vec![-0.0, f64::INFINITY, 5e-324];
            (Values::Double(values), Values::Double(vec![f64::NAN]))
        }
        Atomic::UByte => (Values::UByte(vec![0, 128, 255]), Values::UByte(vec![254])),
        Atomic::UShort => (Values::UShort(vec![0, 1, u16::MAX]), Values::UShort(vec![3])),
        Atomic::UInt => (Values::UInt(vec![0, 1 << 31, u32::MAX]), Values::UInt(vec![u32::MAX - 1])),
        Atomic::Int64 => {
            (Values::Int64(vec![i64::MIN, (1 << 53) + 1, i64::MAX]), Values::Int64(vec![i64::MIN]))
        }
        Atomic::UInt64 => (Values::UInt64(vec![0, (1 << 53) + 1, u64::MAX]), Values::UInt64(vec![u64::MAX])),
        Atomic::String => (strings(&[None, Some(""), Some("µ \"q\" \n中")]), strings(&[Some("none")])),
    }
}

/// Defines types, dimensions, groups, variables and attributes; returns what is to be written.
fn define(model: &mut Model) -> Result<Written> {
    let root = model.root();
    let time = model.add_dimension(root, "time", DimensionLen::Unlimited(0))?;
    let run = model.add_dimension(root, "run", DimensionLen::Unlimited(0))?;
    let x = model.add_dimension(root, "x", DimensionLen::Fixed(3))?;
    model.add_dimension(root, "unused", DimensionLen::Fixed(17))?;
    let level = UserKind::Enum { base: Atomic::Byte, members: members(&[("Low", -1), ("High", 7)]) };
    let level = TypeRef::User(model.add_type(root, user("level_t", level))?);
    let raw = TypeRef::User(model.add_type(root, user("raw_t", UserKind::Opaque(5)))?);
    let row = TypeRef::User(model.add_type(root, user("row_t", UserKind::Vlen(Atomic::Int.into())))?);
    let inner = vec![field("a", Atomic::Short.into(), &[]), field("s", Atomic::String.into(), &[])];
    let inner = TypeRef::User(model.add_type(root, user("inner_t", UserKind::Compound(inner)))?);
    let fields = vec![
        field("id", Atomic::Int.into(), &[]),
        field("level", level, &[]),
        field("u", Atomic::Float.into(), &[2, 3]),
        field("name", Atomic::String.into(), &[]),
        field("row", row, &[]),
        field("inner", inner, &[]),
        field("raw", raw, &[]),
        field("code", Atomic::Char.into(), &[4]),
    ];
    let obs = TypeRef::User(model.add_type(root, user("obs_t", UserKind::Compound(fields)))?);
    let flat = vec![field("n", Atomic::UShort.into(), &[]), field("d", Atomic::Double.into(), &[2])];
    let flat = TypeRef::User(model.add_type(root, user("flat_t", UserKind::Compound(flat)))?);
    let names = TypeRef::User(model.add_type(root, user("names_t", UserKind::Vlen(Atomic::String.into())))?);
    let rows = TypeRef::User(model.add_type(root, user("rows_t", UserKind::Vlen(row)))?);
    let group = model.add_group(root, "g")?;
    let deep = model.add_group(group, "deep")?;
    model.add_group(root, "empty")?;
    let y = model.add_dimension(deep, "y", DimensionLen::Fixed(2))?;
    let big = UserKind::Enum {
        base: Atomic::UInt64,
        members: members(&[("zero", 0), ("most", u64::MAX.into()), ("a name", 5)]),
    };
    let big = TypeRef::User(model.add_type(deep, user("big_t", big))?);

    let mut written = Written::new();
    for atomic in Atomic::ALL {
        let (values, fill) = extremes(atomic);
        for (suffix, endianness) in [("", Endianness::Native), ("_big", Endianness::Big)] {
            let name = format!("{}{suffix}", atomic.name());
            let var = model.add_variable(root, &name, atomic.into(), &[time, x])?;
            model.set_fill(var, fill.clone())?;
            let variable = model.variable_mut(var).unwrap();
            variable.storage = Storage::Chunked(vec![2, 2]);
            variable.endianness = endianness;
            variable.attributes.known_mut().put(Attribute::atomic("extremes", values.clone()));
            // The first and the last record; those between are never written.
            written.push((format!("/{name}"), Selection::slab(&[0, 0], &[1, 3]), values.clone()));
            written.push((format!("/{name}"), Selection::slab(&[6, 0], &[1, 3]), values.clone()));
        }
    }
    let row_values = vlen(&[0, 3, 4], Values::Int(vec![i32::MIN, 0, i32::MAX, 7]));
    let typed = [
        ("/levels", root, level, vec![x], Values::Byte(vec![-1, 7, -1])),
        ("/raws", root, raw, vec![x], opaque(b"abcde\0\x01\x02\xfe\xffvwxyz")),
        ("/rows", root, row, vec![x], row_values.clone()),
        (
            "/inners",
            root,
            inner,
            vec![x],
            match observations(3) {
                Values::Compound { mut fields, .. } => fields.remove(5),
                _ => unreachable!("observations are compounds"),
            },
        ),
        ("/observations", root, obs, vec![x], observations(3)),
        ("/observation", root, obs, vec![], observations(1)),
        (
            "/flats",
            root,
            flat,
            vec![x],
            Values::Compound {
                len: 3,
                fields: vec![
                    Values::UShort(vec![0, 1, 65535]),
                    Values::Double(vec![0.1, 0.2, -0.0, 1e300, 5e-324, 6.0]),
                ],
            },
        ),
        ("/names", root, names, vec![x], vlen(&[2, 2, 4], strings(&[Some("a"), None, Some(""), Some("é")]))),
        ("/lists", root, rows, vec![x], vlen(&[2, 2, 3], row_values)),
        ("/g/deep/bigs", deep, big, vec![x, y], Values::UInt64(vec![0, u64::MAX, 5, 0, 0, 6])),
        ("/g/deep/shared", deep, obs, vec![y], observations(2)),
        ("/g/deep/scalar", deep, Atomic::String.into(), vec![], strings(&[None])),
        (
            "/g/grid",
            group,
            Atomic::UInt64.into(),
            vec![time, run],
            Values::UInt64((0..14).map(|n| u64::MAX - n).collect()),
        ),
    ];
    for (path, home, ty, dims, values) in typed {
        let name = path.rsplit('/').next().unwrap_or_default();
        let var = model.add_variable(home, name, ty, &dims)?;
        let shape: Vec<u64> = dims
            .iter()
            .map(|dim| match *dim {
                dim if dim == x => 3,
                dim if dim == time => 7,
                _ => 2,
            })
            .collect();
        if ty != TypeRef::Atomic(Atomic::UInt64) {
            let attribute =
                Attribute { name: "example".to_owned(), ty, values: values.clone(), is_json: false };
            model.attributes_mut(NodeId::Variable(var)).unwrap().known_mut().put(attribute);
        }
        written.push((path.to_owned(), Selection::all(&shape), values));
    }
    let attributes = model.attributes_mut(NodeId::Group(group)).unwrap().known_mut();
    for attribute in [
        Attribute::text("text", "several words\nand lines"),
        Attribute::text("empty", ""),
        Attribute::atomic("not_utf8", Values::Char(vec![b'a', 0xff, 0, b'b'])),
        Attribute::atomic("texts", strings(&[Some("one"), None, Some("")])),
        Attribute::atomic("one_null", strings(&[None])),
        Attribute::atomic("nan", Values::Double(vec![f64::NAN])),
        Attribute::atomic("none_at_all", Values::Int(Vec::new())),
        Attribute { name: "worst".to_owned(), ty: level, values: Values::Byte(vec![7]), is_json: false },
        Attribute { name: "first".to_owned(), ty: obs, values: observations(1), is_json: false },
    ] {
        attributes.put(attribute);
    }
    Ok(written)
}

fn identical(a: &Values, b: &Values) -> bool {
    match (a.as_bytes(), b.as_bytes()) {
        (Some(x), Some(y)) => a.atomic() == b.atomic() && x == y,
        _ => a == b,
    }
}

/// Writes everything and opens it again.
fn made(url: &str, kind: Kind, session: &ncirrus::Session) -> (Model, Written, Dataset) {
    let options = CreateOptions::new().kind(kind);
    let dataset = Dataset::create_with(url, &options, session).unwrap();
    let written = dataset.edit(define).unwrap();
    for (path, selection, values) in &written {
        let variable = dataset.variable(path).unwrap();
        variable.write_values(selection, values).unwrap_or_else(|error| panic!("{kind:?} {path}: {error:?}"));
    }
    let model = Model::clone(&dataset.model().unwrap());
    dataset.close().unwrap_or_else(|error| panic!("{kind:?}: {error:?}"));
    (model, written, Dataset::open_with(url, &OpenOptions::default(), session).unwrap())
}

#[test]
fn everything_comes_back_value_for_value() {
    let session = session();
    let (_folder, temp) = temp();
    for (name, kind) in
        [("d.nc4", Kind::Nc4), ("a.zarr", Kind::NcZarr), ("b.zarr", Kind::Zarr3), ("c.zip", Kind::NcZarr)]
    {
        let url = temp.join(name).to_str().unwrap().to_owned();
        let (model, written, dataset) = made(&url, kind, &session);
        for (path, selection, values) in &written {
            let got = dataset.variable(path).unwrap().values(selection);
            let got = got.unwrap_or_else(|error| panic!("{kind:?} {path}: {error:?}"));
            assert!(identical(&got, values), "{kind:?} {path}: {got:?} where {values:?} was written");
        }
        same_definitions(&model, &dataset, kind);
        gaps_are_filled(&dataset, kind);
    }
}

fn same_definitions(model: &Model, dataset: &Dataset, kind: Kind) {
    let got = dataset.model().unwrap();
    let groups = |model: &Model| model.walk().into_iter().map(|id| model.group_path(id)).collect::<Vec<_>>();
    assert_eq!(groups(model), groups(&got), "{kind:?}");
    let variables =
        |model: &Model| model.variables().into_iter().map(|var| model.variable_path(var)).collect::<Vec<_>>();
    assert_eq!(variables(model), variables(&got), "{kind:?}");
    for (id, other) in model.walk().into_iter().zip(got.walk()) {
        let (a, b) = (model.group(id).unwrap(), got.group(other).unwrap());
        let dimensions = |model: &Model, list: &[_]| {
            list.iter().map(|dim| model.dimension(*dim).cloned()).collect::<Vec<_>>()
        };
        assert_eq!(dimensions(model, &a.dims), dimensions(&got, &b.dims), "{kind:?} {}", a.name);
        let types = |model: &Model, list: &[_]| {
            list.iter().map(|ty| model.user_type(*ty).cloned()).collect::<Vec<_>>()
        };
        assert_eq!(types(model, &a.types), types(&got, &b.types), "{kind:?} {}", a.name);
        same_attributes(
            model,
            &got,
            (NodeId::Group(id), NodeId::Group(other)),
            &format!("{kind:?} {}", a.name),
        );
    }
    for (var, other) in model.variables().into_iter().zip(got.variables()) {
        let place = format!("{kind:?} {}", model.variable_path(var));
        let (a, b) = (model.variable(var).unwrap(), got.variable(other).unwrap());
        assert_eq!(a.ty, b.ty, "{place}");
        let dims =
            |model: &Model, list: &[_]| list.iter().map(|dim| model.dimension_path(*dim)).collect::<Vec<_>>();
        assert_eq!(dims(model, &a.dims), dims(&got, &b.dims), "{place}");
        if matches!(a.ty, TypeRef::Atomic(atomic) if atomic.byte_len().is_some_and(|len| len > 1)) {
            assert_eq!(a.endianness == Endianness::Big, b.endianness == Endianness::Big, "{place}");
        }
        same_attributes(model, &got, (NodeId::Variable(var), NodeId::Variable(other)), &place);
    }
}

fn same_attributes(a: &Model, b: &Model, nodes: (NodeId, NodeId), place: &str) {
    let list = |model: &Model, node| model.attributes(node).unwrap().known().unwrap().clone();
    let (a, b) = (list(a, nodes.0), list(b, nodes.1));
    let names = |list: &ncirrus::Attributes| list.iter().map(|one| one.name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&a), names(&b), "{place}");
    for (one, other) in a.iter().zip(b.iter()) {
        let same = one.ty == other.ty && identical(&one.values, &other.values);
        assert!(same, "{place}:{}: {other:?} where {one:?} was written", one.name);
    }
}

/// Records that were never written hold the fill value.
fn gaps_are_filled(dataset: &Dataset, kind: Kind) {
    for atomic in Atomic::ALL {
        let (_, fill) = extremes(atomic);
        for suffix in ["", "_big"] {
            let variable = dataset.variable(&format!("/{}{suffix}", atomic.name())).unwrap();
            assert_eq!(variable.shape(), [7, 3], "{kind:?} {}", variable.path());
            let gap = variable.values(&Selection::slab(&[1, 0], &[5, 3])).unwrap();
            assert!(identical(&gap, &fill.repeat(15)), "{kind:?} {}: {gap:?}", variable.path());
        }
    }
}

#[test]
fn everything_is_dumped_alike_from_every_kind() {
    let session = session();
    let (_folder, temp) = temp();
    let text = |name: &str, kind| {
        let url = temp.join(name).to_str().unwrap().to_owned();
        let (_, _, dataset) = made(&url, kind, &session);
        exact_cdl(&dataset, "everything")
    };
    let (v2, v3) = (text("a.zarr", Kind::NcZarr), text("b.zarr", Kind::Zarr3));
    crate::support::difference(&v2, &v3).unwrap();
    for line in [
        "byte enum level_t {Low = -1, High = 7} ;",
        "opaque(5) raw_t ;",
        "int(*) row_t ;",
        "compound obs_t {",
        "uint64 enum big_t {zero = 0, most = 18446744073709551615, a\\ name = 5} ;",
        "time = UNLIMITED ; // (7 currently)",
        "run = UNLIMITED ; // (2 currently)",
        "group: deep {",
        "NIL",
    ] {
        assert!(v2.contains(line), "no {line:?} in\n{v2}");
    }
}
