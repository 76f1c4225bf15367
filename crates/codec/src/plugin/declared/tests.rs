use super::*;
use crate::DecodedElement;
use proptest::prelude::*;

const ALL: &str = r#"{"hdf5":40000,"codec":"x","parameters":[
    {"name":"u","type":"u32"}, {"name":"i","type":"i32"}, {"name":"U","type":"u64"}, {"name":"I","type":"i64"},
    {"name":"d","type":"f64"}, {"name":"size","from":"element-size"}, {"name":"bytes","from":"chunk-bytes"},
    {"name":"count","from":"chunk-elements","type":"u64"}, {"name":"rank","from":"rank"},
    {"name":"f","type":"f32"}, {"name":"rest","type":"words","default":[]}]}"#;

fn declared(json: &str) -> DeclaredCodec {
    parse(json).unwrap().remove(0)
}

fn chunk(shape: &[u64]) -> ChunkInfo {
    ChunkInfo { shape: shape.to_vec(), element: DecodedElement::sized(Some(8)) }
}

fn members(json: &str) -> Map<String, Value> {
    serde_json::from_str(json).unwrap()
}

#[test]
fn numbers_take_one_word_or_two_with_the_lower_first() {
    let json = r#"{"u":7,"i":-2,"U":4294967298,"I":"-1","d":1.5,"f":0.5,"rest":[8,9]}"#;
    let words = declared(ALL).to_parameters(&members(json), &chunk(&[3, 5])).unwrap();
    let expected =
        [7, 0xffff_fffe, 2, 1, u32::MAX, u32::MAX, 0, 0x3ff8_0000, 8, 120, 15, 0, 2, 0x3f00_0000, 8, 9];
    assert_eq!(words, expected);
}

#[test]
fn the_shape_of_the_chunk_may_be_the_last_parameter() {
    let json = r#"{"hdf5":40000,"codec":"x","parameters":["a",{"name":"shape","from":"chunk-shape"}]}"#;
    let words = declared(json).to_parameters(&members(r#"{"a":1}"#), &chunk(&[3, 5])).unwrap();
    assert_eq!(words, [1, 3, 5]);
    assert_eq!(declared(json).to_members(&words).unwrap(), members(r#"{"a":1}"#));
}

#[test]
fn what_cannot_be_a_parameter_is_refused_with_its_name() {
    let simple =
        declared(r#"{"hdf5":40000,"codec":"x","parameters":["a",{"name":"n","from":"chunk-bytes"}]}"#);
    for (json, shape, part) in [
        ("{}", &[3][..], "\"a\" is missing"),
        (r#"{"a":-1}"#, &[3], "\"a\" cannot be -1"),
        (r#"{"a":4294967296}"#, &[3], "\"a\" cannot be 4294967296"),
        (r#"{"a":"x"}"#, &[3], "\"a\" cannot be \"x\""),
        (r#"{"a":1}"#, &[], "the shape of the chunks"),
        (r#"{"a":1}"#, &[u64::MAX, 2], "\"n\" cannot be"),
    ] {
        let error = simple.to_parameters(&members(json), &chunk(shape)).unwrap_err().to_string();
        assert!(error.contains(part), "{json}: {error}");
    }
    for words in [&[][..], &[1], &[1, 2, 3]] {
        assert!(simple.to_members(words).is_err(), "{words:?}");
    }
}

#[test]
fn every_prefix_of_a_declaration_is_an_error() {
    for len in (0..ALL.len()).filter(|len| ALL.is_char_boundary(*len)) {
        assert!(parse(&ALL[..len]).is_err(), "{len} bytes");
    }
}

proptest! {
    #[test]
    fn parameters_come_back_from_their_members(
        words in proptest::collection::vec(any::<u32>(), 5), long in any::<i64>(), double in -1e300..1e300f64,
        single in -1e30..1e30f32, rest in proptest::collection::vec(any::<u32>(), 0..5),
    ) {
        let mut given = vec![words[0], words[1], words[2], words[3]];
        given.extend(halves(long.cast_unsigned()));
        given.extend(halves(double.to_bits()));
        given.extend([8, 120, 15, 0, 2, single.to_bits()]);
        given.extend(rest);
        let declared = declared(ALL);
        let described = declared.to_members(&given).unwrap();
        prop_assert_eq!(declared.to_parameters(&described, &chunk(&[3, 5])).unwrap(), given);
    }

    #[test]
    fn no_words_and_no_json_do_harm(words in proptest::collection::vec(any::<u32>(), 0..30), json in ".{0,60}") {
        _ = declared(ALL).to_members(&words);
        _ = parse(&json);
    }
}
