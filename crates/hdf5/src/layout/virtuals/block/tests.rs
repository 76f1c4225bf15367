use super::*;
use crate::testing::build::words;
use proptest::prelude::*;

const SIZES: FieldSizes = FieldSizes { offsets: 8, lengths: 8 };

fn all() -> Vec<u8> {
    [3u32, 1, 0, 0].iter().flat_map(|number| number.to_le_bytes()).collect()
}

fn block(version: u8, entries: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = [&[version][..], &words(&[entries.len() as u64]), &entries.concat()].concat();
    bytes.extend(lookup3(&bytes).to_le_bytes());
    bytes
}

fn read(bytes: &[u8]) -> Result<Vec<(Option<String>, String)>> {
    let name = |mapping: &VirtualMapping| {
        (mapping.file.as_ref().map(|name| name.of_block(3)), mapping.dataset.of_block(3))
    };
    Ok(parse(bytes, SIZES, &Limits::default())?.iter().map(name).collect())
}

#[test]
fn the_name_of_the_own_file_is_a_dot() {
    let entries = [[&b".\0d\0"[..], &all(), &all()].concat(), [&b"a.h5\0/e\0"[..], &all(), &all()].concat()];
    let found = read(&block(0, &entries)).expect("mappings");
    assert_eq!(found, [(None, "d".to_owned()), (Some("a.h5".to_owned()), "/e".to_owned())]);
}

#[test]
fn names_may_be_those_of_an_earlier_mapping() {
    let entries = [
        [&b"\0a.h5\0d\0"[..], &all(), &all()].concat(),
        [&b"\x04e\0"[..], &all(), &all()].concat(),
        [&b"\x03"[..], &words(&[0, 1]), &all(), &all()].concat(),
    ];
    let found = read(&block(1, &entries)).expect("mappings");
    assert_eq!(found[1], (None, "e".to_owned()));
    assert_eq!(found[2], (Some("a.h5".to_owned()), "e".to_owned()));
    let later = [[&b"\x01"[..], &words(&[0]), b"d\0", &all(), &all()].concat()];
    assert!(read(&block(1, &later)).is_err(), "a name of itself");
}

#[test]
fn blocks_are_numbered_in_names() {
    let name = |text: &str| SourceName::parse(text).of_block(7);
    assert_eq!(name("part_%b.h5"), "part_7.h5");
    assert_eq!(name("%b/%3b"), "7/007");
    assert_eq!(name("100%%"), "100%");
    assert_eq!(name("50%-%d%"), "50%-%d%");
    assert_eq!(name("%99999999999999999999999b"), "7");
    assert_eq!(name(""), "");
}

#[test]
fn damage_is_found_by_the_checksum() {
    let good = block(0, &[[&b".\0d\0"[..], &all(), &all()].concat()]);
    assert!(read(&good).is_ok());
    for at in 0..good.len() {
        let mut bad = good.clone();
        bad[at] ^= 1;
        assert!(read(&bad).is_err(), "byte {at}");
    }
    assert!((0..good.len()).all(|len| read(&good[..len]).is_err()));
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic(version in 0u8..2, count in 0u64..4, rest in prop::collection::vec(any::<u8>(), 0..80)) {
        _ = read(&[&[version][..], &words(&[count]), &rest].concat());
    }
}
