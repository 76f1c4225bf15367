use super::dataspace;
use crate::address::FieldSizes;
use crate::datatypes::Dataspace;
use proptest::prelude::*;

const WIDE: FieldSizes = FieldSizes { offsets: 8, lengths: 8 };
const NARROW: FieldSizes = FieldSizes { offsets: 4, lengths: 4 };

fn simple(dims: &[u64], max: &[Option<u64>]) -> Dataspace {
    Dataspace::Simple { dims: dims.to_vec(), max: max.to_vec() }
}

#[test]
fn version_1_has_no_type_byte_and_no_null() {
    let mut bytes = vec![1, 2, 1, 9, 0, 0, 0, 0];
    bytes.extend([3, 0, 0, 0, 4, 0, 0, 0]);
    bytes.extend([3, 0, 0, 0, 0xff, 0xff, 0xff, 0xff]);
    assert_eq!(dataspace(&bytes, NARROW).unwrap(), simple(&[3, 4], &[Some(3), None]));
    assert_eq!(dataspace(&[1, 0, 0, 2, 0, 0, 0, 0], WIDE).unwrap(), Dataspace::Scalar);
}

#[test]
fn version_2_distinguishes_scalar_simple_and_null() {
    assert_eq!(dataspace(&[2, 0, 0, 0], WIDE).unwrap(), Dataspace::Scalar);
    assert_eq!(dataspace(&[2, 0, 0, 1], WIDE).unwrap(), Dataspace::Scalar);
    assert_eq!(dataspace(&[2, 0, 0, 2], WIDE).unwrap(), Dataspace::Null);
    let one = [2, 1, 0, 1, 7, 0, 0, 0, 0, 0, 0, 0];
    assert_eq!(dataspace(&one, WIDE).unwrap(), simple(&[7], &[Some(7)]));
}

#[test]
fn lengths_of_zero_are_fine_beside_any_others() {
    let space = dataspace(&[2, 3, 0, 1, 0xfe, 0xff, 0xfe, 0xff, 0, 0], FieldSizes { offsets: 2, lengths: 2 })
        .unwrap();
    assert_eq!((space.dims(), space.count()), ([0xfffe, 0xfffe, 0].as_slice(), 0));
}

#[test]
fn impossible_spaces_are_refused() {
    let message = |bytes: &[u8]| dataspace(bytes, NARROW).unwrap_err().message().to_owned();
    assert_eq!(message(&[2, 33, 0, 1]), "a dataspace of 33 dimensions");
    assert_eq!(message(&[2, 1, 0, 2]), "a dataspace of type 2 with 1 dimensions");
    assert_eq!(message(&[2, 0, 0, 3]), "a dataspace of type 3");
    assert_eq!(message(&[3, 0, 0, 0]), "dataspace of version 3");
    let above = [2, 1, 1, 1, 5, 0, 0, 0, 4, 0, 0, 0];
    assert_eq!(message(&above), "a dimension of length 5 that may have at most 4");
    let huge = [[2, 3, 0, 1].as_slice(), &[0xfe; 12]].concat();
    assert!(message(&huge).ends_with("has too many elements"));
}

#[test]
fn every_prefix_is_an_error() {
    let whole = [2, 1, 1, 1, 5, 0, 0, 0, 6, 0, 0, 0];
    assert!(dataspace(&whole, NARROW).is_ok());
    assert!((0..whole.len()).all(|len| dataspace(&whole[..len], NARROW).is_err()));
}

proptest! {
    #[test]
    fn any_bytes_are_a_space_or_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..64), lengths in 1u8..=8) {
        if let Ok(space) = dataspace(&bytes, FieldSizes { offsets: 8, lengths }) {
            prop_assert!(space.dims().len() <= 32);
        }
    }
}
