use super::{DimensionScale, FileDimension, FileDimensions, VariableAxes, assign};
use crate::address::FileAddress;
use crate::netcdf::ObjectKey;
use ncirrus_layout::{ObjectId, StoreId};
use proptest::prelude::*;

fn key(addr: u64) -> ObjectKey {
    ObjectKey { file: ObjectId::new(StoreId::new("memory:"), "f"), addr: FileAddress(addr) }
}

fn scale(group: usize, name: &str, len: u64, addr: u64) -> DimensionScale {
    DimensionScale { group, name: name.to_owned(), len, unlimited: false, id: None, object: key(addr) }
}

fn variable(group: usize, lens: &[u64]) -> VariableAxes {
    VariableAxes { group, lens: lens.to_vec(), unlimited: vec![false; lens.len()], ..VariableAxes::default() }
}

fn attached(group: usize, lens: &[u64], addrs: &[Option<u64>]) -> VariableAxes {
    VariableAxes { attached: addrs.iter().map(|addr| addr.map(key)).collect(), ..variable(group, lens) }
}

/// Names with groups, such as `0:x`, of the dimensions of each variable.
fn names(dims: &FileDimensions) -> Vec<Vec<String>> {
    let name = |dim: &usize| {
        let FileDimension { group, name, .. } = &dims.list[*dim];
        format!("{group}:{name}")
    };
    dims.axes.iter().map(|axes| axes.iter().map(name).collect()).collect()
}

#[test]
fn ids_in_the_file_order_dimensions_and_count_before_attached_scales() {
    let mut scales = [scale(0, "x", 3, 10), scale(0, "y", 3, 20)];
    (scales[0].id, scales[1].id) = (Some(1), Some(0));
    let both = VariableAxes { coordinates: Some(vec![0, 1]), ..attached(0, &[3, 3], &[Some(10), Some(10)]) };
    let dims = assign(&[None], &scales, &[both]);
    assert_eq!(names(&dims), [["0:y", "0:x"]]);
    assert_eq!(dims.list.iter().map(|dim| dim.id).collect::<Vec<_>>(), [1, 0]);
}

#[test]
fn a_scale_without_an_id_gets_the_next_one() {
    let mut scales = [scale(0, "a", 1, 1), scale(0, "b", 1, 2), scale(0, "c", 1, 3)];
    scales[1].id = Some(7);
    let dims = assign(&[None], &scales, &[]);
    assert_eq!(dims.list.iter().map(|dim| dim.id).collect::<Vec<_>>(), [0, 7, 8]);
}

#[test]
fn ids_that_do_not_exist_or_are_not_unique_fall_back_on_attached_scales() {
    let mut scales = [scale(0, "x", 3, 10), scale(0, "y", 3, 20)];
    (scales[0].id, scales[1].id) = (Some(4), Some(4));
    let unknown = VariableAxes { coordinates: Some(vec![9]), ..attached(0, &[3], &[Some(20)]) };
    let twice = VariableAxes { coordinates: Some(vec![4]), ..attached(0, &[3], &[Some(10)]) };
    let short = VariableAxes { coordinates: Some(vec![]), ..attached(0, &[3], &[Some(10)]) };
    let dims = assign(&[None], &scales, &[unknown, twice, short]);
    assert_eq!(names(&dims), [["0:y"], ["0:x"], ["0:x"]]);
}

#[test]
fn a_scale_is_its_own_dimension_and_a_wide_one_has_its_first_axis() {
    let scales = [scale(0, "x", 3, 10), scale(0, "y", 4, 20)];
    let x = VariableAxes { scale: Some(0), ..variable(0, &[3]) };
    let wide = VariableAxes { scale: Some(1), ..variable(0, &[4, 3]) };
    let known = VariableAxes { scale: Some(1), coordinates: Some(vec![0, 1]), ..variable(0, &[3, 4]) };
    let dims = assign(&[None], &scales, &[x, wide, known]);
    assert_eq!(names(&dims), [vec!["0:x"], vec!["0:y", "0:x"], vec!["0:x", "0:y"]]);
}

#[test]
fn the_nearest_dimension_of_an_object_in_scope_is_taken() {
    // Two links to one scale: in the root and in a group.
    let scales = [scale(0, "x", 3, 10), scale(1, "near", 3, 10), scale(2, "other", 5, 30)];
    let parents = [None, Some(0), Some(0)];
    let inner = attached(1, &[3], &[Some(10)]);
    let foreign = attached(1, &[5], &[Some(30)]);
    let dims = assign(&parents, &scales, &[inner, foreign]);
    assert_eq!(names(&dims), [["1:near"], ["1:phony_dim_3"]]);
}

#[test]
fn axes_without_a_scale_are_phony_and_all_are_when_the_first_has_none() {
    let scales = [scale(0, "x", 3, 10)];
    let second = attached(0, &[7, 3], &[None, Some(10)]);
    let first = attached(0, &[3, 7], &[Some(10), None]);
    let dims = assign(&[None], &scales, &[second, first]);
    assert_eq!(names(&dims), [["0:phony_dim_1", "0:x"], ["0:x", "0:phony_dim_1"]]);
}

#[test]
fn phony_dimensions_are_numbered_children_first_and_matched_within_their_group() {
    let parents = [None, Some(0), Some(1), Some(0)];
    let variables =
        [variable(0, &[3, 3]), variable(0, &[3]), variable(1, &[3]), variable(2, &[3]), variable(3, &[4])];
    let dims = assign(&parents, &[], &variables);
    assert_eq!(
        names(&dims),
        [
            vec!["0:phony_dim_3", "0:phony_dim_4"],
            vec!["0:phony_dim_3"],
            vec!["1:phony_dim_1"],
            vec!["2:phony_dim_0"],
            vec!["3:phony_dim_2"],
        ]
    );
}

#[test]
fn a_phony_dimension_grows_or_does_not() {
    let growing = VariableAxes { unlimited: vec![true], ..variable(0, &[3]) };
    let dims = assign(&[None], &[], &[variable(0, &[3]), growing.clone(), growing]);
    assert_eq!(names(&dims), [["0:phony_dim_0"], ["0:phony_dim_1"], ["0:phony_dim_1"]]);
    assert_eq!(dims.list.iter().map(|dim| dim.unlimited).collect::<Vec<_>>(), [false, true]);
}

#[test]
fn variables_that_the_reference_does_not_list_are_numbered_last() {
    let late = VariableAxes { late: true, ..variable(0, &[9]) };
    let dims = assign(&[None], &[], &[late, variable(0, &[3])]);
    assert_eq!(names(&dims), [["0:phony_dim_1"], ["0:phony_dim_0"]]);
}

#[test]
fn an_unlimited_dimension_is_as_long_as_its_longest_user_in_scope() {
    let mut scales = [scale(0, "t", 0, 10), scale(1, "u", 2, 20)];
    (scales[0].unlimited, scales[1].unlimited) = (true, true);
    let user = |group, len| VariableAxes { coordinates: Some(vec![0]), ..variable(group, &[len]) };
    let outside = VariableAxes { coordinates: Some(vec![1]), ..variable(0, &[50]) };
    let dims = assign(&[None, Some(0)], &scales, &[user(0, 1), user(1, 4), user(1, 3), outside]);
    // The one outside of the dimension's scope is shown whole, too.
    assert_eq!(dims.list.iter().map(|dim| dim.len).collect::<Vec<_>>(), [4, 2, 50]);
    assert_eq!((dims.axes[3].as_slice(), dims.contradicted.len()), (&[2][..], 1));
}

proptest! {
    #[test]
    fn every_axis_has_a_dimension_of_its_own(
        parents in prop::collection::vec(0usize..4, 0..5),
        shapes in prop::collection::vec((0usize..6, prop::collection::vec(0u64..3, 0..4), any::<bool>()), 0..8),
        ids in prop::collection::vec(-2i64..4, 0..4),
    ) {
        let parents: Vec<Option<usize>> = std::iter::once(None)
            .chain(parents.iter().enumerate().map(|(at, parent)| Some(parent % (at + 1))))
            .collect();
        let scales: Vec<DimensionScale> = ids
            .iter()
            .enumerate()
            .map(|(at, id)| DimensionScale { id: Some(*id), ..scale(at % parents.len(), "s", 2, at as u64) })
            .collect();
        let variables: Vec<VariableAxes> = shapes
            .iter()
            .map(|(group, lens, late)| VariableAxes {
                late: *late,
                attached: lens.iter().map(|len| Some(key(*len))).collect(),
                ..variable(group % parents.len(), lens)
            })
            .collect();
        let dims = assign(&parents, &scales, &variables);
        for (variable, axes) in variables.iter().zip(&dims.axes) {
            prop_assert_eq!(axes.len(), variable.lens.len());
            for dim in axes {
                prop_assert!(*dim < dims.list.len());
            }
        }
    }
}

#[test]
fn axes_that_are_not_as_long_as_their_dimension_have_one_of_their_own() {
    let scales = [scale(0, "x", 5, 10), scale(0, "y", 7, 20), scale(1, "z", 4, 30)];
    let unlimited = DimensionScale { unlimited: true, ..scale(0, "t", 5, 40) };
    let scales: Vec<DimensionScale> = scales.into_iter().chain([unlimited]).collect();
    let by_id = VariableAxes { coordinates: Some(vec![0, 1]), ..variable(0, &[5, 8]) };
    let variables = [
        attached(0, &[5], &[Some(10)]),
        attached(0, &[7], &[Some(10)]),
        attached(0, &[3], &[Some(10)]),
        attached(0, &[7, 5], &[Some(10), Some(10)]),
        by_id,
        // Unlimited dimensions grow with the variables in their scope, and may be longer.
        attached(0, &[9], &[Some(40)]),
        attached(1, &[2], &[Some(40)]),
    ];
    let dims = assign(&[None, Some(0)], &scales, &variables);
    let lens = |axes: &Vec<usize>| axes.iter().map(|dim| dims.list[*dim].len).collect::<Vec<_>>();
    assert_eq!(names(&dims)[0], ["0:x"]);
    assert_eq!(
        dims.axes[..5].iter().map(lens).collect::<Vec<_>>(),
        [vec![5], vec![7], vec![3], vec![7, 5], vec![5, 8]]
    );
    for (variable, axis) in [(1, 0), (2, 0), (3, 0), (4, 1)] {
        assert!(names(&dims)[variable][axis].starts_with("0:phony_dim_"), "{:?}", names(&dims));
    }
    assert_eq!(names(&dims)[5..], [["0:t"], ["0:t"]]);
    let found: Vec<_> =
        dims.contradicted.iter().map(|found| (found.variable, found.axis, found.len)).collect();
    assert_eq!(found, [(1, 0, 7), (2, 0, 3), (3, 0, 7), (4, 1, 8)]);
}
