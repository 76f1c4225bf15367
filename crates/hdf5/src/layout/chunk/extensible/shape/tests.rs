use super::*;
use proptest::prelude::*;

/// The HDF5 library's own parameters.
const USUAL: [u8; 5] = [32, 4, 16, 4, 10];

fn shape(parameters: &[u8]) -> Result<ArrayShape> {
    ArrayShape::parse(&mut ByteCursor::new(parameters, "parameters"))
}

/// The positions of the first elements, by going through the blocks one by one.
fn homes(shape: ArrayShape, count: usize) -> Vec<(ElementHome, usize)> {
    let mut homes: Vec<_> =
        (0..shape.in_index()).map(|at| (ElementHome::Index, usize::try_from(at).expect("small"))).collect();
    let mut direct = 0;
    for number in 0.. {
        for block in 0..shape.blocks_of(number) {
            let elements = usize::try_from(shape.elements_of(number)).expect("small");
            let pages = usize::try_from(shape.pages_of(number)).expect("small");
            for at in 0..elements {
                let page_len = elements.checked_div(pages).unwrap_or(elements);
                homes.push(if direct < shape.direct_blocks() {
                    (ElementHome::Direct { block: direct, count: elements as u64 }, at)
                } else {
                    (ElementHome::Super { number, block, page: (at / page_len) as u64 }, at % page_len)
                });
            }
            direct += 1;
            if homes.len() >= count {
                homes.truncate(count);
                return homes;
            }
        }
    }
    homes
}

fn check(shape: ArrayShape, count: usize) {
    for (element, home) in (0..).zip(homes(shape, count)) {
        assert_eq!(shape.home(element), Some(home), "{shape:?}: element {element}");
    }
}

#[test]
fn elements_lie_block_after_block() {
    check(shape(&USUAL).expect("the usual parameters"), 600_000);
    let usual = shape(&USUAL).expect("the usual parameters");
    assert_eq!((usual.direct_blocks(), usual.super_blocks(), usual.offset_len()), (6, 25, 4));
    assert_eq!(usual.pages_of(12), 0);
    assert_eq!((usual.pages_of(13), usual.elements_of(13)), (2, 2048));
}

#[test]
fn other_parameters_spread_elements_otherwise() {
    for parameters in [[8, 0, 1, 1, 2], [10, 3, 4, 2, 3], [16, 255, 2, 8, 4], [12, 1, 128, 2, 8]] {
        check(shape(&parameters).expect("sound parameters"), 256);
    }
}

#[test]
fn elements_beyond_the_largest_have_no_home() {
    let small = shape(&[8, 4, 16, 4, 6]).expect("sound parameters");
    assert!(small.home(4 + 16 * 31 - 1).is_some());
    assert_eq!(small.home(4 + 16 * 31), None);
    assert_eq!(small.home(u64::MAX), None);
}

#[test]
fn unsound_parameters_are_errors() {
    let cases = [
        [65, 4, 16, 4, 10],
        [32, 4, 0, 4, 10],
        [32, 4, 16, 3, 10],
        [8, 4, 16, 4, 9],
        [32, 4, 16, 4, 2],
        [2, 4, 16, 4, 2],
    ];
    for parameters in cases {
        assert!(shape(&parameters).is_err(), "{parameters:?}");
    }
    assert!(shape(&USUAL[..4]).is_err());
}

proptest! {
    #[test]
    fn no_parameters_make_it_panic(parameters: [u8; 5], element: u64) {
        if let Ok(shape) = shape(&parameters) {
            for element in [element, element >> 32, u64::MAX] {
                _ = shape.home(element);
            }
        }
    }
}
