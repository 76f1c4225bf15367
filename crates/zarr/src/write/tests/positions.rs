//! A writer that is killed after any single put leaves the old state, the new one, or nothing.
use super::fixtures::{basic, extended, put, wide};
use super::round_trips::described;
use super::*;
use ncirrus_model::Values;
use std::sync::Arc;

const ALL: [Dialect; 8] = [
    Dialect::Attributes,
    Dialect::LowerCase,
    Dialect::UpperCase,
    Dialect::Draft2018,
    Dialect::Xarray,
    Dialect::Plain,
    Dialect::V3,
    Dialect::Nczarr3,
];

#[test]
fn a_creation_is_there_whole_or_not_at_all() {
    for (dialect, consolidated) in ALL.into_iter().flat_map(|dialect| [(dialect, true), (dialect, false)]) {
        for model in [basic(), wide(), extended()] {
            let mut hand = HandPlacer::create(&ZarrWriter::new(dialect).consolidated(consolidated));
            hand.define(&model);
            hand.place(model.variable_at("v").unwrap(), &[0, 0], &[0; 48]);
            hand.commit(&model);
            let whole = opened(&hand.objects).unwrap();
            for (at, state) in hand.history.iter().enumerate() {
                if let Some(found) = opened(state) {
                    let same = same(dialect, &found, &whole);
                    assert!(same, "{dialect} consolidated {consolidated}, put {at}: {found:#?}");
                }
            }
            let has_copy = hand.objects.find(".zmetadata").is_some();
            let is_v3 = dialect.zarr_format() == 3;
            assert_eq!(has_copy, consolidated && !is_v3 && dialect != Dialect::Draft2018, "{dialect}");
        }
    }
}

#[test]
fn an_update_is_the_old_state_or_the_new_one() {
    for (dialect, consolidated) in ALL.into_iter().flat_map(|dialect| [(dialect, true), (dialect, false)]) {
        if dialect == Dialect::Draft2018 {
            continue;
        }
        for model in [basic(), wide(), extended()] {
            let objects = created(&ZarrWriter::new(dialect).consolidated(consolidated), &model);
            let old = opened(&objects).unwrap();
            let mut hand = updating(objects, &old);
            let mut model = (*old).clone();
            change(&mut model);
            hand.define(&model);
            hand.commit(&model);
            let new = opened(&hand.objects).unwrap();
            assert_ne!(new, old, "{dialect}");
            for (at, state) in hand.history.iter().enumerate() {
                let found = opened(state).unwrap_or_else(|| panic!("{dialect}, put {at}: nothing opens"));
                let known = same(dialect, &found, &old) || same(dialect, &found, &new);
                assert!(known, "{dialect} consolidated {consolidated}, put {at}: {found:#?}");
            }
        }
    }
}

/// Whether two models are equal; including their order only if the dialect keeps it.
fn same(dialect: Dialect, a: &Model, b: &Model) -> bool {
    let ordered = dialect.is_nczarr() && dialect != Dialect::Draft2018;
    let (mut a_lines, mut b_lines) = (described(a), described(b));
    if !ordered {
        a_lines.sort();
        b_lines.sort();
    }
    a_lines == b_lines && (!ordered || a == b)
}

/// A function that changes a dataset.
pub(super) fn updating(objects: ObjectView, model: &Arc<Model>) -> HandPlacer {
    let view = MemoryView::new(objects.clone());
    let placer = ZarrWriter::default().update(&view, &ObjectView::id(""), model).unwrap();
    HandPlacer { placer, objects, history: Vec::new() }
}

/// Changes of every kind: attributes, groups, dimensions, variables added, renamed and removed.
fn change(model: &mut Model) {
    let root = model.root();
    put(model, NodeId::Group(root), Attribute::text("title", "changed"));
    let group = model.add_group(root, "added").unwrap();
    let z = model.add_dimension(group, "z", DimensionLen::Fixed(2)).unwrap();
    let extra = model.add_variable(group, "extra", Atomic::Double.into(), &[z]).unwrap();
    put(model, NodeId::Variable(extra), Attribute::atomic("n", Values::Int(vec![1])));
    let lat = model.variable_at("lat").unwrap();
    model.rename_variable(lat, "latitude").unwrap();
    let lon = model.variable_at("lon").unwrap();
    model.remove_variable(lon).unwrap();
}
