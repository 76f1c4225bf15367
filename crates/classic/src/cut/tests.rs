use super::CellCut;
use crate::FormatVersion;
use crate::definition::FittedModel;
use crate::encode::fitted;
use ncirrus_model::{Atomic, DimensionLen, Model, TypeRef};
use proptest::prelude::*;

/// A variable of doubles of that shape, with or without a record axis.
fn definition(shape: &[u64], is_record: bool) -> FittedModel {
    let mut model = Model::new();
    let root = model.root();
    let time = model.add_dimension(root, "time", DimensionLen::Unlimited(4)).expect("a dimension");
    let mut dims = if is_record { vec![time] } else { Vec::new() };
    for (axis, len) in shape.iter().enumerate() {
        let dim = model.add_dimension(root, &format!("d{axis}"), DimensionLen::Fixed(*len));
        dims.push(dim.expect("a dimension"));
    }
    model.add_variable(root, "v", TypeRef::Atomic(Atomic::Double), &dims).expect("a variable");
    fitted(FormatVersion::Data64, &model).expect("it fits")
}

/// Every index of an array of that shape, in row-major order.
fn indices(shape: &[u64]) -> Vec<Vec<u64>> {
    shape.iter().fold(vec![Vec::new()], |all, len| {
        let extend = |index: Vec<u64>| (0..*len).map(move |at| [index.clone(), vec![at]].concat());
        all.into_iter().flat_map(extend).collect()
    })
}

proptest! {
    #[test]
    fn cells_are_runs_of_bytes_that_follow_each_other(
        shape in prop::collection::vec(1..6u64, 0..4),
        is_record in any::<bool>(),
        cell_bytes in 1..700u64,
    ) {
        let definition = definition(&shape, is_record);
        let var = definition.vars.first().expect("a variable");
        let cut = CellCut::new(var, cell_bytes, false);
        let grid = cut.grid().expect("a grid");
        let whole: Vec<u64> = is_record.then_some(4).into_iter().chain(shape.iter().copied()).collect();
        let counts: Vec<u64> =
            whole.iter().enumerate().map(|(axis, len)| grid.cells_along(axis, *len)).collect();
        let mut end = 0;
        for cell in indices(&counts) {
            let span = cut.span(&cell).expect("a cell");
            let at = span.row * var.slab.byte_len + span.offset;
            prop_assert_eq!(at, end, "cell {:?}", cell);
            prop_assert_eq!(cut.offset_of(span.cell), Some(span.offset));
            prop_assert!(span.len <= cell_bytes.max(8));
            let region = grid.clipped_region(&cell, &whole).expect("a cell");
            prop_assert_eq!(span.len, region.count.iter().product::<u64>() * 8);
            end = at + span.len;
        }
        prop_assert_eq!(end, whole.iter().product::<u64>() * 8);
        prop_assert_eq!(cut.cells(), counts[usize::from(is_record)..].iter().product::<u64>());
    }
}

#[test]
fn cells_outside_a_variable_do_not_exist() {
    let definition = definition(&[3, 4], false);
    let cut = CellCut::new(definition.vars.first().expect("a variable"), 64, false);
    assert!(cut.span(&[1, 0]).is_ok(), "two rows per cell");
    for cell in [&[2, 0][..], &[0, 1], &[0], &[0, 0, 0], &[u64::MAX, 0]] {
        assert!(cut.span(cell).is_err(), "{cell:?}");
    }
}
