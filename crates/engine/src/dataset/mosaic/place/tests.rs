use super::*;
use proptest::prelude::*;

fn region(start: &[u64], count: &[u64]) -> Region {
    Region { start: start.to_vec(), count: count.to_vec() }
}

#[test]
fn axes_of_one_element_come_and_go() {
    assert_eq!(axes(&[1, 4, 5], &[4, 1, 5]), Some(vec![Some(1), None, Some(2)]));
    assert_eq!(axes(&[], &[1, 1]), Some(vec![None, None]));
    assert_eq!(axes(&[4, 5], &[5, 4]), None);
    assert_eq!(axes(&[4, 5], &[20]), None);
    assert_eq!(axes(&[4, 5], &[4]), None);
}

#[test]
fn tiles_and_sources_have_as_many_elements() {
    assert!(TileRegion::new(region(&[0, 0], &[2, 3]), region(&[5], &[6])).is_ok());
    assert!(TileRegion::new(region(&[0, 0], &[2, 3]), region(&[5], &[7])).is_err());
    assert!(TileRegion::new(region(&[0], &[u64::MAX]), region(&[0, 0], &[u64::MAX, 1])).is_ok());
    assert!(TileRegion::new(region(&[0, 0], &[u64::MAX, 2]), region(&[0, 0], &[2, u64::MAX])).is_err());
}

proptest! {
    #[test]
    fn boxes_hold_the_numbered_elements_in_order(
        shape in prop::collection::vec(1u64..5, 0..4),
        at in (0u64..1000, 0u64..1000),
    ) {
        let count = shape.iter().product::<u64>();
        let number = |part: u64| part * (count + 1) / 1000;
        let (first, end) = (number(at.0).min(number(at.1)), number(at.0).max(number(at.1)));
        let source = region(&vec![3; shape.len()], &shape);
        let place = TileRegion::new(region(&[0], &[count]), source).unwrap();
        let mut numbers = Vec::new();
        for part in place.boxes(first, end) {
            for number in 0..part.element_count().unwrap() {
                let (mut rest, mut index) = (number, vec![0; shape.len()]);
                for (at, len) in index.iter_mut().zip(&part.count).rev() {
                    *at = rest % len;
                    rest /= len;
                }
                let offset = index.iter().zip(&part.start).map(|(a, b)| a + b - 3);
                numbers.push(offset.zip(&shape).fold(0, |number, (at, len)| number * len + at));
            }
        }
        prop_assert_eq!(numbers, (first..end).collect::<Vec<_>>());
    }
}
