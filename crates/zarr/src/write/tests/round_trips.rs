//! What is read is what was written.
use super::fixtures::{basic, extended, little, put, wide};
use super::*;
use ncirrus_model::{Field, Group, GroupId, Storage, TypeRef, UserKind, UserType, Variable};
use serde_json::{Value, json};

/// A description of a dataset's contents, with ids replaced by paths and the writer's choices left out.
pub(super) fn described(model: &Model) -> Vec<String> {
    let mut lines = Vec::new();
    for id in model.walk() {
        let group = model.group(id).unwrap();
        lines.push(format!(
            "group {} {:?} {:?}",
            model.group_path(id),
            group.fault,
            attributes_of_group(model, group)
        ));
        describe_members(model, id, group, &mut lines);
    }
    lines
}

fn describe_members(model: &Model, id: GroupId, group: &Group, lines: &mut Vec<String>) {
    for dim in &group.dims {
        let dimension = model.dimension(*dim).unwrap();
        lines.push(format!("  dimension {} {:?}", dimension.name, dimension.len));
    }
    for ty in &group.types {
        let path = model.type_path(*ty);
        let definition = extension::definition(model, model.user_type(*ty).unwrap());
        lines.push(format!("  type {path} {definition}"));
    }
    for var in &group.vars {
        lines.push(format!("  {}", describe_variable(model, model.variable(*var).unwrap())));
    }
    _ = id;
}

fn describe_variable(model: &Model, variable: &Variable) -> String {
    let dims: Vec<String> = variable.dims.iter().map(|dim| model.dimension_path(*dim)).collect();
    let ty = attributes::type_name(model, variable.ty);
    let order = variable.endianness.is_foreign();
    let list = describe_attributes(model, variable.attributes.known().unwrap());
    format!(
        "variable {} {ty} {dims:?} {:?} {:?} foreign order {order} {:?} {:?} {list:?}",
        variable.name,
        variable.is_filled(),
        variable.own_fill(),
        variable.filters,
        variable.fault
    )
}

fn attributes_of_group(model: &Model, group: &Group) -> Vec<String> {
    describe_attributes(model, group.attributes.known().unwrap())
}

fn describe_attributes(model: &Model, list: &ncirrus_model::Attributes) -> Vec<String> {
    let one = |attribute: &Attribute| {
        format!("{} {} = {:?}", attributes::type_name(model, attribute.ty), attribute.name, attribute.values)
    };
    list.iter().map(one).collect()
}

fn assert_same(dialect: Dialect, written: &Model, writer: &ZarrWriter) {
    let objects = created(writer, written);
    let read = opened(&objects).unwrap_or_else(|| panic!("{dialect} does not open"));
    let (expected, found) = (described(written), described(&read));
    for (expected, found) in expected.iter().zip(&found) {
        assert_eq!(found, expected, "{dialect}");
    }
    assert_eq!(found.len(), expected.len(), "{dialect}");
}

/// Dialects that lose nothing.
const FAITHFUL: [Dialect; 2] = [Dialect::Attributes, Dialect::Nczarr3];

#[test]
fn faithful_dialects_keep_everything() {
    for dialect in FAITHFUL {
        for model in [basic(), wide(), extended()] {
            for writer in [ZarrWriter::new(dialect), ZarrWriter::new(dialect).consolidated(false)] {
                assert_same(dialect, &model, &writer);
                assert_same(dialect, &model, &writer.array_dimensions(false).slash_in_chunk_names(true));
            }
        }
    }
}

#[test]
fn compounds_with_array_fields_have_the_form_of_numpy_except_for_zarr_python() {
    let mut model = basic();
    let field = |name: &str, ty: Atomic, dims: &[u64]| Field {
        name: name.into(),
        ty: ty.into(),
        dims: dims.to_vec(),
    };
    let kind = UserKind::Compound(vec![field("a", Atomic::Int, &[]), field("b", Atomic::Float, &[2, 3])]);
    let ty = model.add_type(model.root(), UserType { name: "t".into(), kind }).unwrap();
    let lat = model.dimension_at("lat").unwrap();
    model.add_variable(model.root(), "c", TypeRef::User(ty), &[lat]).unwrap();
    for dialect in [Dialect::Attributes, Dialect::UpperCase, Dialect::Xarray, Dialect::V3] {
        for consolidated in [true, false] {
            let objects = created(&ZarrWriter::new(dialect).consolidated(consolidated), &model);
            if dialect != Dialect::V3 {
                let json = |key: &str| serde_json::from_str::<Value>(text(&objects, key)).unwrap();
                assert_eq!(
                    json("c/.zarray")["dtype"],
                    json!([["a", "<i4"], ["b", "<f4", [2, 3]]]),
                    "{dialect}"
                );
                if consolidated {
                    assert_eq!(json(".zmetadata")["metadata"]["c/.zarray"]["dtype"], "|V28", "{dialect}");
                }
            }
            let read = opened(&objects).unwrap();
            let c = read.variable(read.variable_at("c").unwrap()).unwrap();
            assert!(c.fault.is_none(), "{dialect}: {:?}", c.fault);
            let TypeRef::User(found) = c.ty else { panic!("{dialect}") };
            assert_eq!(read.user_type(found).unwrap().kind, model.user_type(ty).unwrap().kind, "{dialect}");
        }
    }
}

#[test]
fn older_nczarr_keeps_everything_but_unlimited_dimensions() {
    for dialect in [Dialect::LowerCase, Dialect::UpperCase] {
        for mut model in [basic(), fixed(wide()), extended()] {
            // Their readers swap numbers that are big-endian.
            little(&mut model);
            assert_same(dialect, &model, &ZarrWriter::new(dialect));
            assert_same(dialect, &model, &ZarrWriter::new(dialect).consolidated(false));
        }
    }
}

/// The model without unlimited dimensions.
fn fixed(mut model: Model) -> Model {
    for group in model.walk() {
        for dim in model.group(group).unwrap().dims.clone() {
            let len = model.dimension(dim).unwrap().len.current();
            model.set_dimension_len(dim, DimensionLen::Fixed(len)).unwrap();
        }
    }
    model
}

#[test]
fn other_dialects_keep_types_shapes_names_and_fill() {
    for dialect in [Dialect::Draft2018, Dialect::Xarray, Dialect::Plain, Dialect::V3] {
        for model in [basic(), wide(), extended()] {
            let read = opened(&created(&ZarrWriter::new(dialect), &model)).unwrap();
            for var in model.variables() {
                let path = model.variable_path(var);
                let there = read.variable_at(&path).unwrap_or_else(|| panic!("{dialect}: no {path}"));
                let (old, new) = (model.variable(var).unwrap(), read.variable(there).unwrap());
                assert_eq!(new.fault, None, "{dialect} {path}");
                assert_eq!(read.shape(there), model.shape(var), "{dialect} {path}");
                let names = |model: &Model, ty: TypeRef| attributes::type_name(model, ty);
                assert_eq!(names(&read, new.ty), names(&model, old.ty), "{dialect} {path}");
                assert!(new.is_filled_as(old), "{dialect} {path}");
            }
        }
    }
}

#[test]
fn what_was_chosen_is_what_is_stored() {
    let read = opened(&created(&ZarrWriter::default(), &basic())).unwrap();
    let v = read.variable_at("v").unwrap();
    assert_eq!(read.variable(v).unwrap().storage, Storage::Chunked(vec![3, 4]));
}

mod any_attribute {
    use super::*;
    use ncirrus_model::{Strings, Values};
    use proptest::prelude::*;

    fn values() -> impl Strategy<Value = Values> {
        let many = 0..4usize;
        prop_oneof![
            prop::collection::vec(any::<u8>(), many.clone()).prop_map(Values::Char),
            "[a-z\\u{1}-\\u{20}é日\"\\\\]{0,6}".prop_map(|text| Values::Char(text.into_bytes())),
            prop::collection::vec(any::<i8>(), many.clone()).prop_map(Values::Byte),
            prop::collection::vec(any::<u16>(), many.clone()).prop_map(Values::UShort),
            prop::collection::vec(any::<i64>(), many.clone()).prop_map(Values::Int64),
            prop::collection::vec(any::<u64>(), many.clone()).prop_map(Values::UInt64),
            prop::collection::vec(any::<u32>().prop_map(f32::from_bits), many.clone())
                .prop_map(Values::Float),
            prop::collection::vec(any::<u64>().prop_map(f64::from_bits), many.clone())
                .prop_map(Values::Double),
            prop::collection::vec(prop::option::of(prop::collection::vec(1..=255u8, 0..4)), many).prop_map(
                |list| {
                    let mut strings = Strings::new();
                    list.iter().for_each(|text| strings.push(text.as_deref()));
                    Values::String(strings)
                }
            ),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn reads_back(list in prop::collection::vec(values(), 0..6)) {
            let mut model = basic();
            let global = NodeId::Group(model.root());
            for (at, values) in list.into_iter().enumerate() {
                put(&mut model, global, Attribute::atomic(format!("a{at}"), values));
            }
            for dialect in [Dialect::Attributes, Dialect::LowerCase, Dialect::UpperCase, Dialect::Draft2018, Dialect::Nczarr3] {
                let read = opened(&created(&ZarrWriter::new(dialect), &model)).unwrap();
                let lines = |model: &Model| attributes_of_group(model, model.group(model.root()).unwrap());
                prop_assert_eq!(lines(&read), lines(&model), "{}", dialect);
            }
        }
    }
}
