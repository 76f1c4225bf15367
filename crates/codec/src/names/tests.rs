use super::*;

fn v2(text: &str) -> CodecSpec {
    CodecSpec::V2(serde_json::from_str(text).unwrap())
}

fn v3(name: &str, configuration: &str) -> CodecSpec {
    CodecSpec::V3 { name: name.to_owned(), configuration: serde_json::from_str(configuration).unwrap() }
}

const FLOAT: DecodedElement = DecodedElement::sized(Some(4));

#[test]
fn numeric_strings_and_missing_members_become_numbers() {
    let zlib = translate(&v2(r#"{"id":"zlib","level":"4"}"#), CodecSpace::Hdf5, &FLOAT).unwrap();
    assert_eq!(zlib, CodecSpec::Hdf5 { id: 1, parameters: vec![4], optional: true });
    let zlib = translate(&v2(r#"{"id":"zlib"}"#), CodecSpace::V3, &FLOAT).unwrap();
    assert_eq!(zlib, v3("numcodecs.zlib", r#"{"level":1}"#));
}

#[test]
fn shuffle_takes_the_size_of_the_element() {
    for stored in [r#"{"id":"shuffle"}"#, r#"{"id":"shuffle","elementsize":"0"}"#] {
        let shuffle = translate(&v2(stored), CodecSpace::V3, &FLOAT).unwrap();
        assert_eq!(shuffle, v3("numcodecs.shuffle", r#"{"elementsize":4}"#));
    }
    let shuffle = translate(&CodecSpec::hdf5(2, &[]), CodecSpace::V2, &FLOAT).unwrap();
    assert_eq!(shuffle, v2(r#"{"id":"shuffle","elementsize":4}"#));
}

#[test]
fn blosc_goes_through_all_three_spaces() {
    let json = r#"{"id":"blosc","cname":"zstd","clevel":7,"shuffle":2,"blocksize":0}"#;
    let number = translate(&v2(json), CodecSpace::Hdf5, &FLOAT).unwrap();
    assert_eq!(number, CodecSpec::Hdf5 { id: 32001, parameters: vec![0, 0, 0, 0, 7, 2, 5], optional: true });
    let third = translate(&number, CodecSpace::V3, &FLOAT).unwrap();
    let expected = r#"{"typesize":4,"cname":"zstd","clevel":7,"shuffle":"bitshuffle","blocksize":0}"#;
    assert_eq!(third, v3("blosc", expected));
    let back = translate(&third, CodecSpace::Hdf5, &FLOAT).unwrap();
    assert_eq!(back, number);
}

#[test]
fn zstd_levels_are_signed() {
    let spec = translate(&v2(r#"{"id":"zstd","level":-3}"#), CodecSpace::Hdf5, &FLOAT).unwrap();
    let CodecSpec::Hdf5 { parameters, .. } = &spec else { panic!("{spec:?}") };
    assert_eq!(parameters, &[u32::MAX - 2]);
    let back = translate(&spec, CodecSpace::V3, &FLOAT).unwrap();
    assert_eq!(back, v3("zstd", r#"{"level":-3,"checksum":false}"#));
}

#[test]
fn what_has_no_name_there_is_an_error() {
    let delta = v2(r#"{"id":"delta","dtype":"<i4"}"#);
    assert!(matches!(translate(&delta, CodecSpace::Hdf5, &FLOAT), Err(CodecError::Unsupported { .. })));
    assert!(matches!(
        translate(&v2(r#"{"id":"nonsense"}"#), CodecSpace::Hdf5, &FLOAT),
        Err(CodecError::Unknown { .. })
    ));
}

#[test]
fn every_first_name_is_unique_in_its_space() {
    for (i, one) in TABLE.iter().enumerate() {
        for other in TABLE.iter().skip(i + 1) {
            assert!(one.v2.iter().all(|name| !other.v2.contains(name)), "{:?} {:?}", one.kind, other.kind);
            assert!(one.v3.iter().all(|name| !other.v3.contains(name)), "{:?} {:?}", one.kind, other.kind);
        }
    }
}

#[test]
fn the_table_in_the_documentation_has_every_codec() {
    let documentation = include_str!("../lib.rs");
    for entry in TABLE {
        let number = entry.hdf5.map_or(String::new(), |id| format!(" {id}"));
        let quoted = |names: &[&str]| names.first().map_or(String::new(), |name| format!(" `{name}`"));
        let able = if entry.decodes { " yes" } else { " no" };
        let encodes = if entry.encodes { " yes" } else { " no" };
        let row = format!("|{number} |{} |{} |{able} |{encodes} |", quoted(entry.v2), quoted(entry.v3));
        assert!(documentation.contains(&row), "{row} is not in the table");
    }
}

#[test]
fn what_an_hdf5_file_keeps_of_its_chunk_stays_out_of_zarr() {
    let working = CodecSpec::hdf5(32001, &[2, 2, 4, 4096, 9, 2, 0]);
    let blosc = translate(&working, CodecSpace::V2, &FLOAT).unwrap();
    assert_eq!(blosc, v2(r#"{"id":"blosc","cname":"blosclz","clevel":9,"shuffle":2,"blocksize":0}"#));
    let lz4 = translate(&CodecSpec::hdf5(32004, &[65536]), CodecSpace::V2, &FLOAT).unwrap();
    assert_eq!(lz4, v2(r#"{"id":"lz4","acceleration":1}"#));
}

#[test]
fn codecs_of_variable_length_elements_keep_their_names() {
    let text = translate(&v2(r#"{"id":"vlen-utf8"}"#), CodecSpace::V3, &DecodedElement::sized(None)).unwrap();
    assert_eq!(text, v3("vlen-utf8", "{}"));
}
