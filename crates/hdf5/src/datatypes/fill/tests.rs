use super::{parse, parse_old};
use crate::datatypes::FillMessage;
use bytes::Bytes;
use ncirrus_layout::Result;
use proptest::prelude::*;

fn read(bytes: &[u8]) -> Result<FillMessage> {
    parse(&Bytes::copy_from_slice(bytes))
}

fn old(bytes: &[u8]) -> Result<FillMessage> {
    parse_old(&Bytes::copy_from_slice(bytes))
}

fn of(value: &[u8]) -> FillMessage {
    FillMessage { value: Some(Bytes::copy_from_slice(value)), never: false }
}

#[test]
fn every_version_gives_its_value() {
    assert_eq!(read(&[1, 2, 0, 1, 2, 0, 0, 0, 8, 9]).unwrap(), of(&[8, 9]));
    assert_eq!(read(&[2, 2, 0, 1, 2, 0, 0, 0, 8, 9]).unwrap(), of(&[8, 9]));
    assert_eq!(read(&[3, 0x2a, 2, 0, 0, 0, 8, 9]).unwrap(), of(&[8, 9]));
    assert_eq!(old(&[2, 0, 0, 0, 8, 9]).unwrap(), of(&[8, 9]));
}

#[test]
fn no_value_stands_for_zeros() {
    assert_eq!(read(&[1, 2, 0, 0]).unwrap(), FillMessage::default());
    assert_eq!(read(&[2, 2, 2, 0]).unwrap(), FillMessage::default());
    assert_eq!(read(&[2, 2, 2, 1, 0, 0, 0, 0]).unwrap(), FillMessage::default());
    assert_eq!(read(&[1, 2, 2, 1, 0xff, 0xff, 0xff, 0xff]).unwrap(), FillMessage::default());
    assert_eq!(read(&[3, 0x0a]).unwrap(), FillMessage::default());
    assert_eq!(old(&[0, 0, 0, 0]).unwrap(), FillMessage::default());
}

#[test]
fn a_writer_that_never_fills_is_noticed() {
    assert_eq!(read(&[3, 0x16]).unwrap(), FillMessage { value: None, never: true });
    assert_eq!(read(&[2, 2, 1, 0]).unwrap(), FillMessage { value: None, never: true });
}

#[test]
fn a_value_both_present_and_undefined_is_refused() {
    assert!(read(&[3, 0x30, 1, 0, 0, 0, 7]).is_err());
}

#[test]
fn every_prefix_is_an_error() {
    let whole = [2, 2, 0, 1, 2, 0, 0, 0, 8, 9];
    assert!((0..whole.len()).all(|len| read(&whole[..len]).is_err()));
    let whole = [2, 0, 0, 0, 8, 9];
    assert!((0..whole.len()).all(|len| old(&whole[..len]).is_err()));
}

proptest! {
    #[test]
    fn any_bytes_are_a_fill_or_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
        for fill in [read(&bytes), old(&bytes)].into_iter().flatten() {
            prop_assert!(fill.value.is_none_or(|value| !value.is_empty() && value.len() < bytes.len()));
        }
    }
}
