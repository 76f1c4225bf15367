//! Which models fit, where their data go, and in which order they become visible.
use crate::support::file::Writing3;
use crate::support::sample::sample;
use crate::support::{KEY, done, open};
use ncirrus_classic::{ClassicDriver, ClassicWriter, FormatVersion};
use ncirrus_layout::{CellList, Error, ErrorKind, Location, PhaseForm, PreparedPlacement, StorePut, Writing};
use ncirrus_model::{
    Atomic, Attribute, Attributes, DimId, DimensionLen, EnumMember, Field, Model, NodeId, Strings, TypeRef,
    UserKind, UserType, Values, VarId,
};
use ncirrus_testkit::{MemoryView, ObjectView, law};

fn writer(version: FormatVersion) -> ClassicWriter {
    ClassicWriter::new(version)
}

fn dim(model: &mut Model, name: &str, len: u64) -> DimId {
    model.add_dimension(model.root(), name, DimensionLen::Fixed(len)).expect("a dimension")
}

fn time(model: &mut Model, len: u64) -> DimId {
    model.add_dimension(model.root(), "time", DimensionLen::Unlimited(len)).expect("a dimension")
}

fn var(model: &mut Model, name: &str, ty: Atomic, dims: &[DimId]) -> VarId {
    model.add_variable(model.root(), name, TypeRef::Atomic(ty), dims).expect("a variable")
}

/// The error for a refused model.
fn refused(version: FormatVersion, build: impl FnOnce(&mut Model)) -> Error {
    let mut file = Writing3::create(&writer(version));
    file.define(build).expect_err("a model that does not fit")
}

fn accepts(version: FormatVersion, build: impl FnOnce(&mut Model)) {
    Writing3::create(&writer(version)).define(build).expect("a model that fits");
}

#[test]
fn placers_keep_the_law() {
    for version in FormatVersion::ALL {
        for cell_bytes in [16, 4 << 20] {
            for records in [0, 5] {
                let mut model = Model::new();
                let (x, y, time) =
                    (dim(&mut model, "x", 3), dim(&mut model, "y", 5), time(&mut model, records));
                for (at, atomic) in
                    Atomic::ALL.into_iter().filter(|atomic| version.holds(*atomic)).enumerate()
                {
                    let (fixed, growing) = ([x, y], [time, y]);
                    var(&mut model, &format!("fixed{at}"), atomic, &fixed[..at % 3]);
                    var(&mut model, &format!("record{at}"), atomic, &growing[..1 + at % 2]);
                }
                let writer = ClassicWriter { cell_bytes, ..writer(version) };
                law::placer(&ClassicDriver, &writer, KEY, &model);
            }
        }
    }
}

#[test]
fn groups_types_and_second_unlimited_dimensions_are_refused_by_name() {
    for version in FormatVersion::ALL {
        let error = refused(version, |model| _ = model.add_group(model.root(), "g").expect("a group"));
        assert_eq!((error.kind(), error.place().path.as_deref()), (ErrorKind::Unsupported, Some("/g")));
        let error = refused(version, |model| {
            let members = vec![EnumMember { name: "a".to_owned(), value: 1 }];
            let kind = UserKind::Enum { base: Atomic::Byte, members };
            model.add_type(model.root(), UserType { name: "e".to_owned(), kind }).expect("a type");
        });
        assert_eq!((error.kind(), error.place().path.as_deref()), (ErrorKind::Unsupported, Some("/e")));
        let error = refused(version, |model| {
            let field =
                |name: &str| Field { name: name.to_owned(), ty: Atomic::Double.into(), dims: Vec::new() };
            let kind = UserKind::Compound(vec![field("r"), field("i")]);
            let ty = UserType { name: "_Complex128_t".to_owned(), kind };
            let ty = model.add_type(model.root(), ty).expect("a type");
            model.add_variable(model.root(), "z", TypeRef::User(ty), &[]).expect("a variable");
        });
        assert_eq!((error.kind(), error.place().path.as_deref()), (ErrorKind::Unsupported, Some("/z")));
        assert!(error.message().contains("complex numbers"), "{error}");
        let error = refused(version, |model| {
            time(model, 0);
            model.add_dimension(model.root(), "t2", DimensionLen::Unlimited(0)).expect("a dimension");
        });
        assert_eq!(error.place().path.as_deref(), Some("/t2"));
        assert!(error.message().contains("second unlimited dimension beside /time"), "{error}");
        let error = refused(version, |model| {
            let (x, time) = (dim(model, "x", 2), time(model, 0));
            var(model, "v", Atomic::Int, &[x, time]);
        });
        assert_eq!((error.kind(), error.place().path.as_deref()), (ErrorKind::Unsupported, Some("/v")));
        let error = refused(version, |model| _ = dim(model, "x", 0));
        assert_eq!((error.kind(), error.place().path.as_deref()), (ErrorKind::Unsupported, Some("/x")));
    }
}

#[test]
fn types_are_refused_with_the_kind_that_has_them() {
    for version in [FormatVersion::Classic, FormatVersion::Offset64] {
        let error = refused(version, |model| _ = var(model, "v", Atomic::UShort, &[]));
        assert_eq!((error.kind(), error.place().path.as_deref()), (ErrorKind::Unsupported, Some("/v")));
        assert!(
            error.message().contains("ushort") && error.message().contains("kind cdf5 has it"),
            "{error}"
        );
    }
    accepts(FormatVersion::Data64, |model| _ = var(model, "v", Atomic::UShort, &[]));
    let error = refused(FormatVersion::Data64, |model| _ = var(model, "v", Atomic::String, &[]));
    assert!(error.message().contains("no kind of netCDF-3"), "{error}");
    let error = refused(FormatVersion::Data64, |model| {
        let strings = Values::String(Strings::from_iter([Some("a")]));
        let attributes: Attributes = [Attribute::atomic("names", strings)].into_iter().collect();
        *model.attributes_mut(NodeId::Group(model.root())).expect("a root").known_mut() = attributes;
    });
    assert!(error.message().contains("attribute \"names\""), "{error}");
    let error = refused(FormatVersion::Data64, |model| {
        let fields = vec![Field { name: "f".to_owned(), ty: Atomic::Int.into(), dims: Vec::new() }];
        let ty = UserType { name: "c".to_owned(), kind: UserKind::Compound(fields) };
        let ty = model.insert_type(model.root(), ty).expect("a type");
        model
            .insert_variable(model.root(), ncirrus_model::Variable::new("v", TypeRef::User(ty), Vec::new()))
            .expect("a variable");
    });
    assert_eq!(error.kind(), ErrorKind::Unsupported);
}

#[test]
fn sizes_beyond_the_variant_are_limits_that_name_the_variable() {
    const GIB: u64 = 1 << 30;
    let two = |version: FormatVersion, first: u64, second: u64| {
        let mut file = Writing3::create(&writer(version));
        file.define(|model| {
            let (a, b) = (dim(model, "a", first), dim(model, "b", second));
            var(model, "first", Atomic::Byte, &[a]);
            var(model, "second", Atomic::Byte, &[b]);
        })
    };
    let limit = |result: Result<(), Error>| {
        let error = result.expect_err("a limit");
        assert_eq!(error.kind(), ErrorKind::Limit, "{error}");
        error.place().path.clone().unwrap_or_default()
    };
    assert!(two(FormatVersion::Classic, GIB, 2 * GIB - 4).is_ok());
    assert_eq!(limit(two(FormatVersion::Classic, 4, 2 * GIB - 3)), "/b", "the length of a dimension");
    assert_eq!(limit(two(FormatVersion::Classic, 2 * GIB - 4, 4)), "/second", "it would begin behind 2 GiB");
    assert!(two(FormatVersion::Offset64, 4 * GIB - 4, 4 * GIB - 4).is_ok());
    assert_eq!(limit(two(FormatVersion::Offset64, 4 * GIB - 3, 4)), "/a");
    assert!(two(FormatVersion::Data64, 1 << 60, 1 << 60).is_ok());
    assert_eq!(limit(two(FormatVersion::Data64, 1 << 62, 1 << 62)), "/second", "it would end behind 63 bits");

    let three = |version: FormatVersion, order: [u64; 2], records: bool| {
        let mut file = Writing3::create(&writer(version));
        file.define(|model| {
            let time = records.then(|| time(model, 0));
            let dims = [dim(model, "a", 1 << 20), dim(model, "b", 1 << 13)];
            for (at, len) in order.iter().enumerate() {
                let name = format!("v{at}");
                let all: Vec<DimId> = time.into_iter().chain(dims).collect();
                var(model, &name, Atomic::Byte, if *len == 0 { &all[..1] } else { &all });
            }
        })
    };
    // Only the last variable may exceed 4 GiB, and among fixed ones only without records.
    assert!(three(FormatVersion::Offset64, [0, 1], false).is_ok());
    assert_eq!(limit(three(FormatVersion::Offset64, [1, 0], false)), "/v0");
    assert!(three(FormatVersion::Offset64, [0, 1], true).is_ok());
    assert_eq!(limit(three(FormatVersion::Offset64, [1, 0], true)), "/v0");
    assert!(three(FormatVersion::Data64, [1, 1], true).is_ok());
    let error = refused(FormatVersion::Classic, |model| _ = time(model, 1 << 31));
    assert_eq!(error.kind(), ErrorKind::Limit);
    accepts(FormatVersion::Offset64, |model| _ = time(model, 1 << 31));
}

#[test]
fn variables_behind_4_gib_are_placed_and_read_there() {
    let mut file = Writing3::create(&writer(FormatVersion::Offset64));
    let id = file
        .define(|model| {
            let (big, small) = (dim(model, "big", (4 << 30) - 4), dim(model, "small", 2));
            var(model, "big", Atomic::Byte, &[big]);
            var(model, "small", Atomic::Int, &[small])
        })
        .expect("it fits");
    let puts =
        file.placer.place(&PreparedPlacement::nothing(), id, &[0], vec![1; 8].into(), 0).expect("placed");
    let [StorePut::Patch { offset, body, .. }] = puts.as_slice() else { panic!("{puts:?}") };
    assert!(*offset > (4 << 30) && body.len() == 8, "{offset}");
    let view = MemoryView::new(ObjectView::new());
    let phases = done(file.placer.plan_commit(&view, &file.model)).expect("a commit");
    let header = phases[0].puts.iter().find_map(|put| match put {
        StorePut::Patch { offset: 0, body, .. } => Some(body.clone()),
        _ => None,
    });
    let opened = open(&header.expect("a header")).expect("it opens");
    let source = opened.source(opened.var("small")).expect("a source");
    let ncirrus_layout::Layout::Affine { base, .. } = source.layout else { panic!("not affine") };
    assert_eq!(base, *offset);
}

#[test]
fn a_shape_of_10_to_the_18_costs_nothing_until_it_is_written() {
    let mut file = Writing3::create(&writer(FormatVersion::Data64));
    let id = file
        .define(|model| {
            let x = dim(model, "x", 1 << 20);
            var(model, "v", Atomic::Float, &[x, x, x])
        })
        .expect("it fits");
    let last = CellList::one(&[(1 << 20) - 1, (1 << 20) - 1, 0]);
    let view = MemoryView::new(ObjectView::new());
    let found = done(file.placer.locate(&view, id, &last)).expect("a location");
    assert_eq!(found[0].location, Location::Absent);
    let grid = &file.placer.encoding(id).expect("an encoding").grid;
    assert_eq!(grid.cell_shape(last.get(0)), Some(vec![1, 1, 1 << 20]), "4 MiB");
    let outside = file.placer.place(&PreparedPlacement::nothing(), id, &[0, 0, 1], vec![0; 8].into(), 0);
    assert_eq!(outside.expect_err("no such cell").kind(), ErrorKind::Invalid);
}

/// A committed file with a fixed variable `f`, and `a` and `b` with two records.
fn committed(pad: u64) -> Writing3 {
    committed_as(FormatVersion::Classic, pad)
}

fn committed_as(version: FormatVersion, pad: u64) -> Writing3 {
    let mut file = Writing3::create(&ClassicWriter { header_pad: pad, ..writer(version) });
    let ids = file
        .define(|model| {
            let (time, x) = (time(model, 2), dim(model, "x", 3));
            [
                var(model, "f", Atomic::Short, &[x]),
                var(model, "a", Atomic::Byte, &[time, x]),
                var(model, "b", Atomic::Int, &[time]),
            ]
        })
        .expect("it fits");
    for (id, size) in ids.into_iter().zip([2, 1, 4]) {
        let mut number = 0;
        file.write(id, &mut |_| {
            number += 1;
            vec![number; size]
        });
    }
    let phases = file.commit();
    assert_eq!(phases.len(), 1, "creation has one phase");
    Writing3::update(&writer(version), &file.bytes).expect("it can be changed")
}

fn values(file: &Writing3, name: &str) -> Vec<u8> {
    let opened = open(&file.bytes).expect("it opens");
    opened.stored_bytes(opened.var(name)).expect("all elements")
}

#[test]
fn appended_records_become_true_with_the_last_phase() {
    let mut file = committed(64);
    let header = file.bytes[..200].to_vec();
    file.define(|model| model.grow(model.dimension_at("time").expect("time"), 4))
        .expect("it fits")
        .expect("it grows");
    let b = file.model.variable_at("b").expect("b");
    file.write_cell(b, &[3], &mut |_| vec![9; 4]);
    assert_eq!(file.bytes[..200], header, "placing touches nothing that is true");
    let phases = file.commit();
    let [phase] = phases.as_slice() else { panic!("{phases:?}") };
    let [StorePut::Patch { offset: 4, body, .. }] = phase.puts.as_slice() else { panic!("{phase:?}") };
    assert_eq!(body.as_ref(), [0, 0, 0, 4], "only the number of records");
    assert_eq!(values(&file, "b"), [[1; 4], [2; 4], [0x80, 0, 0, 1], [9; 4]].concat());
    assert_eq!(values(&file, "a")[6..], [0x81; 6], "records of the other variable are filled");
}

#[test]
fn definitions_that_fit_the_room_become_true_together_with_the_records() {
    let mut file = committed(512);
    let begin = file.bytes.len();
    file.define(|model| {
        let time = model.dimension_at("time").expect("time");
        model.grow(time, 3).expect("it grows");
        let global = model.attributes_mut(NodeId::Group(model.root())).expect("a root").known_mut();
        global.put(Attribute::text("history", "changed"));
    })
    .expect("it fits");
    let phases = file.commit();
    assert!(phases.iter().all(|phase| phase.form == PhaseForm::Separate));
    let [phase] = phases.as_slice() else { panic!("{phases:?}") };
    let [StorePut::Patch { offset: 0, body, .. }] = phase.puts.as_slice() else { panic!("{phase:?}") };
    assert_eq!(body[4..8], [0, 0, 0, 3], "the header comes with the new number of records");
    assert_eq!(file.bytes.len(), begin + 8);
    assert_eq!(values(&file, "f"), [1, 1, 2, 2, 3, 3]);
}

#[test]
fn definitions_that_do_not_fit_rewrite_the_file_and_reserve_room_again() {
    let mut file = committed(0);
    let attribute = |name: &str, len: usize| Attribute::text(name, &"x".repeat(len));
    let put = |model: &mut Model, attribute: Attribute| {
        model.attributes_mut(NodeId::Group(model.root())).expect("a root").known_mut().put(attribute);
    };
    file.define(|model| put(model, attribute("one", 100))).expect("it fits");
    let phases = file.commit();
    let [phase] = phases.as_slice() else { panic!("{phases:?}") };
    assert_eq!(phase.form, PhaseForm::Rewritten);
    let moves: Vec<_> = phase.puts.iter().filter(|put| matches!(put, StorePut::Move { .. })).collect();
    assert_eq!(moves.len(), 2, "fixed data and records, records first: {moves:?}");
    assert_eq!(values(&file, "f"), [1, 1, 2, 2, 3, 3]);
    assert_eq!(values(&file, "a"), [1, 2, 3, 4, 5, 6]);
    file.define(|model| put(model, attribute("two", 100))).expect("it fits");
    assert!(file.commit().iter().all(|phase| phase.form == PhaseForm::Separate), "the new room is used");
}

#[test]
fn a_new_record_variable_moves_the_records_apart() {
    let mut file = committed(512);
    let c = file
        .define(|model| {
            let time = model.dimension_at("time").expect("time");
            var(model, "c", Atomic::Double, &[time])
        })
        .expect("it fits");
    file.write_cell(c, &[1], &mut |_| vec![5; 8]);
    assert_eq!(file.read_cell(c, &[1]), Some(vec![5; 8]), "it is read before it has its place");
    assert_eq!(file.read_cell(c, &[0]), None);
    let before = open(&file.bytes).expect("it opens");
    assert!(before.model.variable_at("c").is_none(), "readers see the old file");
    let phases = file.commit();
    assert!(phases.len() == 1 && phases[0].form == PhaseForm::Rewritten);
    assert_eq!(values(&file, "b"), [[1; 4], [2; 4]].concat());
    assert_eq!(values(&file, "c")[8..], [5; 8]);
    assert_eq!(values(&file, "c")[..4], [0x47, 0x9e, 0, 0], "the default fill value");
}

#[test]
fn records_that_lie_behind_the_end_of_the_file_are_not_moved_one_by_one() {
    let mut bytes = committed_as(FormatVersion::Data64, 512).bytes;
    bytes[4..12].copy_from_slice(&(1u64 << 50).to_be_bytes());
    let mut file = Writing3::update(&writer(FormatVersion::Data64), &bytes).expect("it can be changed");
    file.define(|model| {
        let time = model.dimension_at("time").expect("time");
        var(model, "c", Atomic::Double, &[time])
    })
    .expect("it fits");
    let phases =
        done(file.placer.plan_commit(&MemoryView::new(ObjectView::new()), &file.model)).expect("a plan");
    let [phase] = phases.as_slice() else { panic!("{phases:?}") };
    let moves = phase.puts.iter().filter(|put| matches!(put, StorePut::Move { .. }));
    assert_eq!(moves.count(), 1, "the first of two records stays: {phase:?}");
}

#[test]
fn records_of_the_only_record_variable_lie_together_until_there_is_another() {
    let mut file = Writing3::create(&writer(FormatVersion::Classic));
    let a = file
        .define(|model| {
            let time = time(model, 3);
            var(model, "a", Atomic::Byte, &[time])
        })
        .expect("it fits");
    let grid = file.placer.encoding(a).expect("an encoding").grid.clone();
    assert_eq!(grid.cell_shape(&[0]), Some(vec![256 << 10]));
    file.write(a, &mut |index| vec![u8::try_from(index[0]).expect("small") + 1]);
    file.define(|model| model.grow(model.dimension_at("time").expect("time"), 5))
        .expect("it fits")
        .expect("it grows");
    assert_eq!(file.read_cell(a, &[0]), Some(vec![1, 2, 3]), "a cell of the shorter variable");
    file.commit();
    assert_eq!(values(&file, "a"), [1, 2, 3, 0x81, 0x81], "the rest of the cell is filled");
    let b = file
        .define(|model| {
            let time = model.dimension_at("time").expect("time");
            var(model, "b", Atomic::Short, &[time])
        })
        .expect("it fits");
    assert_eq!(file.placer.encoding(a).expect("an encoding").grid.cell_shape(&[0]), Some(vec![1]));
    file.write(b, &mut |_| vec![7, 7]);
    file.commit();
    assert_eq!(values(&file, "a"), [1, 2, 3, 0x81, 0x81]);
    assert_eq!(values(&file, "b"), [7; 10]);
}

#[test]
fn what_cannot_be_changed_is_refused_and_nothing_changes() {
    let mut file = committed(512);
    let x = file.model.dimension_at("x").expect("x");
    let longer =
        file.define(|model| model.set_dimension_len(x, DimensionLen::Fixed(4)).expect("a dimension"));
    assert_eq!(longer.expect_err("data are there").place().path.as_deref(), Some("/f"));
    let time = file.model.dimension_at("time").expect("time");
    file.define(|model| model.set_dimension_len(time, DimensionLen::Unlimited(1)).expect("a dimension"))
        .expect("it fits");
    assert_eq!(file.plan().expect_err("records are not removed").kind(), ErrorKind::Unsupported);
    file.define(|model| model.set_dimension_len(time, DimensionLen::Unlimited(2)).expect("a dimension"))
        .expect("it fits");
    assert!(file.commit().is_empty(), "nothing was changed");
}

#[test]
fn an_opened_file_that_is_not_changed_stays_as_it_is() {
    for version in FormatVersion::ALL {
        let bytes = sample(version);
        let mut file = Writing3::update(&writer(version), &bytes).expect("it can be changed");
        assert!(file.commit().is_empty());
        assert_eq!(file.bytes, bytes);
    }
}

#[test]
fn records_are_appended_to_a_file_that_left_their_number_open() {
    let mut bytes = committed(0).bytes;
    bytes[4..8].fill(0xff);
    let mut file = Writing3::update(&writer(FormatVersion::Classic), &bytes).expect("it can be changed");
    assert!(file.commit().is_empty());
    let time = file.model.dimension_at("time").expect("time");
    file.define(|model| model.grow(time, 3)).expect("it fits").expect("it grows");
    file.commit();
    assert_eq!(file.bytes[4..8], [0, 0, 0, 3]);
    assert_eq!(values(&file, "b").len(), 12);
}

#[test]
fn a_file_that_changed_since_it_was_read_is_not_updated() {
    let old = open(&sample(FormatVersion::Classic)).expect("it opens");
    let new = committed(0).bytes;
    let view = MemoryView::new(ObjectView::one(KEY, new));
    let result = done(writer(FormatVersion::Classic).update(&view, &ObjectView::id(KEY), &old.model));
    assert_eq!(result.expect_err("another file").kind(), ErrorKind::Changed);
}

#[test]
fn empty_files_and_files_without_records_are_written_and_extended() {
    let mut file = Writing3::create(&writer(FormatVersion::Data64));
    file.commit();
    assert_eq!(open(&file.bytes).expect("it opens").model, Model::new().into());
    let mut file = Writing3::update(&writer(FormatVersion::Data64), &file.bytes).expect("it can be changed");
    let v = file
        .define(|model| {
            let time = time(model, 0);
            var(model, "v", Atomic::UInt64, &[time])
        })
        .expect("it fits");
    file.commit();
    assert!(values(&file, "v").is_empty());
    file.define(|model| model.grow(model.dimension_at("time").expect("time"), 1))
        .expect("it fits")
        .expect("it grows");
    file.write(v, &mut |_| vec![3; 8]);
    file.commit();
    assert_eq!(values(&file, "v"), [3; 8]);
}
