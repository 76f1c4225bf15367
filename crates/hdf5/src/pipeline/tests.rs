use super::*;
use proptest::prelude::*;

fn filter(id: u32, parameters: &[u32], optional: bool) -> CodecSpec {
    CodecSpec::Hdf5 { id, parameters: parameters.to_vec(), optional }
}

/// A pipeline of version 1: shuffle without values, then a named filter with three.
fn first_version() -> Vec<u8> {
    let head = [1, 3, 0, 0, 0, 0, 0, 0];
    let shuffle = [2, 0, 0, 0, 1, 0, 0, 0];
    let named =
        [&[0, 125, 8, 0, 0, 0, 3, 0][..], b"lzf\0\0\0\0\0", &[4, 0, 0, 0, 5, 0, 0, 0, 6, 0, 0, 0]].concat();
    let deflate = [1, 0, 0, 0, 0, 0, 1, 0, 9, 0, 0, 0];
    [&head[..], &shuffle, &named, &[0; 4], &deflate, &[0; 4]].concat()
}

#[test]
fn values_of_odd_number_are_padded_in_version_1() {
    let found = parse(&first_version(), 8).expect("a pipeline");
    let expected = [
        (filter(2, &[8], true), String::new()),
        (filter(32000, &[4, 5, 6], false), "lzf".to_owned()),
        (filter(1, &[9], false), String::new()),
    ];
    assert_eq!(found, expected);
}

#[test]
fn filters_of_hdf5_have_no_names_in_version_2() {
    let deflate = [1, 0, 1, 0, 1, 0, 6, 0, 0, 0];
    let named = [&[0, 125, 4, 0, 0, 0, 1, 0][..], b"lzf!", &[4, 0, 0, 0]].concat();
    let body = [&[2, 2][..], &deflate, &named].concat();
    let found = parse(&body, 8).expect("a pipeline");
    assert_eq!(
        found,
        [(filter(1, &[6], true), String::new()), (filter(32000, &[4], false), "lzf!".to_owned())]
    );
}

#[test]
fn filters_without_a_name_have_that_of_the_registry() {
    let body = [2, 2, 17, 125, 0, 0, 0, 0, 0, 0, 0xe7, 0xfd, 0, 0, 0, 0, 0, 0];
    let names: Vec<_> = parse(&body, 4).expect("a pipeline").into_iter().map(|(_, name)| name).collect();
    assert_eq!(names, ["SZ", ""]);
}

#[test]
fn more_filters_than_a_mask_has_bits_are_an_error() {
    let body = [&[2, 33][..], &[1, 0, 0, 0, 0, 0].repeat(33)].concat();
    assert!(parse(&body, 4).expect_err("33 filters").message().contains("33 filters"));
    let body = [&[2, 32][..], &[1, 0, 0, 0, 0, 0].repeat(32)].concat();
    assert_eq!(parse(&body, 4).expect("32 filters").len(), 32);
}

#[test]
fn cut_pipelines_are_errors() {
    let body = first_version();
    for len in 0..body.len() {
        // The padding behind the last filter may be lacking.
        assert_eq!(parse(&body[..len], 8).is_ok(), len >= body.len() - 4, "{len}");
    }
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic(version in 1u8..3, rest in prop::collection::vec(any::<u8>(), 0..120)) {
        _ = parse(&[&[version][..], &rest].concat(), 4);
    }
}
