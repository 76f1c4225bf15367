#![expect(clippy::cast_possible_truncation, reason = "small numbers of the tests")]
use super::*;
use crate::{Atomic, AxisSelection, CreateOptions, Dataset, DimensionLen, Kind, Session, slice_by_steps};
use proptest::prelude::*;
use std::sync::LazyLock;

const SHAPE: [u64; 3] = [5, 7, 6];

/// `v(5, 7, 6)` of `0, 1, 2, ...` in a session with so little memory that every read is cut.
static DATASET: LazyLock<Dataset> = LazyLock::new(|| {
    let session = Session::builder().threads(2).memory(64).durable(false).build().unwrap();
    let options = CreateOptions::new().kind(Kind::NcZarr);
    let dataset = Dataset::create_with("memory://strided/a.zarr", &options, &session).unwrap();
    let edited = dataset.edit(|model| {
        let root = model.root();
        let mut dims = Vec::new();
        for (name, len) in ["i", "j", "k"].iter().zip(SHAPE) {
            dims.push(model.add_dimension(root, name, DimensionLen::Fixed(len))?);
        }
        let var = model.add_variable(root, "v", Atomic::Short.into(), &dims)?;
        if let Some(variable) = model.variable_mut(var) {
            variable.storage = Storage::Chunked(vec![2, 3, 4]);
        }
        Ok(())
    });
    edited.unwrap();
    let numbers: Vec<i16> = (0..210).collect();
    dataset.variable("v").unwrap().write_all(&numbers).unwrap();
    dataset.close().unwrap();
    Dataset::open_with("memory://strided/a.zarr", &crate::OpenOptions::new(), &session).unwrap()
});

prop_compose! {
    fn any_axis(len: u64)(start in 0..len, count in 0..len, step in -3i64..4) -> (u64, u64, i64) {
        let step = if step == 0 { 1 } else { step };
        let room = if step > 0 { len - start } else { start + 1 };
        (start, count.min(room.div_ceil(step.unsigned_abs())), step)
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Every element is where numpy would put it, and nothing else is changed.
    #[test]
    fn elements_lie_by_their_strides(
        axes in (any_axis(5), any_axis(7), any_axis(6)),
        gap in 0usize..5,
        is_turned in any::<bool>(),
    ) {
        let axes = [axes.0, axes.1, axes.2];
        let slices: Vec<(AxisSelection, bool)> =
            axes.iter().map(|(start, count, step)| slice_by_steps(*start, *count, *step).unwrap()).collect();
        let selection = Selection::new(slices.iter().map(|(slice, _)| slice.clone()).collect());
        let shape = selection.shape();
        // The result in memory in the order of the axes or reversed, with gaps.
        let order = if is_turned { [0, 1, 2] } else { [2, 1, 0] };
        let (mut strides, mut step) = (vec![0isize; 3], 2 + gap);
        for axis in order {
            strides[axis] = isize::try_from(step).unwrap();
            step = step * usize::try_from(shape[axis].max(1)).unwrap() + gap;
        }
        let mut origin = 0;
        for (axis, (_, backwards)) in slices.iter().enumerate() {
            if *backwards && shape[axis] > 0 {
                origin += usize::try_from((shape[axis] as i64 - 1) * strides[axis] as i64).unwrap();
                strides[axis] = -strides[axis];
            }
        }
        let mut bytes = vec![0xeeu8; step];
        let mut expected = bytes.clone();
        for i in 0..shape[0] {
            for j in 0..shape[1] {
                for k in 0..shape[2] {
                    let index = |axis: usize, at: u64| slices[axis].0.index(at).unwrap() as i64;
                    let value = i16::try_from((index(0, i) * 7 + index(1, j)) * 6 + index(2, k)).unwrap();
                    let at = i as isize * strides[0] + j as isize * strides[1] + k as isize * strides[2];
                    let at = origin.checked_add_signed(at).unwrap();
                    expected[at..at + 2].copy_from_slice(&value.to_ne_bytes());
                }
            }
        }
        let out = StridedBytes::new(&mut bytes, origin, strides);
        DATASET.variable("v").unwrap().read_strided(&selection, out).unwrap();
        prop_assert_eq!(bytes, expected);
    }
}

#[test]
fn backwards_is_what_negative_steps_want() {
    let variable = DATASET.variable("v").unwrap();
    let axes = [
        slice_by_steps(4, 3, -2).unwrap(),
        slice_by_steps(0, 7, 1).unwrap(),
        slice_by_steps(5, 6, -1).unwrap(),
    ];
    let selection = Selection::new(axes.iter().map(|axis| axis.0.clone()).collect());
    let backwards: Vec<bool> = axes.iter().map(|axis| axis.1).collect();
    let mut bytes = vec![0; 3 * 7 * 6 * 2];
    let out = StridedBytes::backwards(&mut bytes, &[3, 7, 6], 2, &backwards).unwrap();
    variable.read_strided(&selection, out).unwrap();
    let numbers: Vec<i16> = bytes.as_chunks().0.iter().map(|bytes| i16::from_ne_bytes(*bytes)).collect();
    let expected: Vec<i16> = [4, 2, 0]
        .iter()
        .flat_map(|i| (0..7).flat_map(move |j| (0..6).rev().map(move |k| (i * 7 + j) * 6 + k)))
        .collect();
    assert_eq!(numbers, expected);
    // Contiguous results are read in place.
    let mut bytes = vec![0; 420];
    let out = StridedBytes::backwards(&mut bytes, &SHAPE, 2, &[]).unwrap();
    assert!(out.is_row_major(&SHAPE, 2));
    variable.read_strided(&Selection::all(&SHAPE), out).unwrap();
    assert!(bytes.as_chunks().0.iter().map(|bytes| i16::from_ne_bytes(*bytes)).eq(0..210));
}

#[test]
fn memory_that_does_not_fit_is_refused_and_left_alone() {
    let variable = DATASET.variable("v").unwrap();
    let all = Selection::all(&SHAPE);
    for (len, origin, strides, reason) in [
        (419, 0, vec![84, 12, 2], "reaches out of 419 bytes"),
        (420, 1, vec![84, 12, 2], "reaches out of 420 bytes"),
        (420, 0, vec![84, -12, 2], "reaches out of 420 bytes"),
        (420, 0, vec![84, 12, 1], "1 bytes apart along axis 2"),
        (420, 0, vec![84, 0, 2], "0 bytes apart along axis 1"),
        (420, 0, vec![12, 2], "2 strides"),
    ] {
        let mut bytes = vec![7; len];
        let error = variable.read_strided(&all, StridedBytes::new(&mut bytes, origin, strides)).unwrap_err();
        assert!(error.to_string().contains(reason), "{error}");
        assert_eq!(error.place().path.as_deref(), Some("/v"));
        assert!(bytes.iter().all(|byte| *byte == 7));
    }
}
