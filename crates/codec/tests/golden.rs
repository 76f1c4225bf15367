//! Chunks encoded by numcodecs and zarr-python (`fixtures/make.py`) are decoded to the same bytes, re-encoded, and
//! decoding survives truncation and changes anywhere in them.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that fails may panic")]
use ncirrus_codec::{ChunkInfo, CodecChain, CodecError, CodecRegistry, CodecScratch, DecodedElement};
use ncirrus_model::CodecSpec;
use serde_json::{Map, Value};

struct Case {
    name: String,
    chain: CodecChain,
    decoded: Vec<u8>,
    /// What was encoded; differs from what it decodes to if the codec is lossy.
    source: Vec<u8>,
    encoded: Vec<u8>,
    /// Filters that were skipped for the chunk.
    mask: u32,
    exact: bool,
}

fn hex(text: &str) -> Vec<u8> {
    (0..text.len()).step_by(2).map(|i| u8::from_str_radix(&text[i..i + 2], 16).unwrap()).collect()
}

fn spec(value: &Value) -> CodecSpec {
    let map = value.as_object().unwrap();
    if let Some(id) = map.get("hdf5") {
        let number = |value: &Value| u32::try_from(value.as_u64().unwrap()).unwrap();
        return CodecSpec::Hdf5 {
            id: number(id),
            parameters: map["parameters"].as_array().unwrap().iter().map(number).collect(),
            optional: map["optional"].as_bool().unwrap(),
        };
    }
    match map.get("name") {
        Some(name) => CodecSpec::V3 {
            name: name.as_str().unwrap().to_owned(),
            configuration: map.get("configuration").map_or_else(Map::new, |c| c.as_object().unwrap().clone()),
        },
        None => CodecSpec::V2(map.clone()),
    }
}

fn cases() -> Vec<Case> {
    let golden: Value = serde_json::from_str(include_str!("fixtures/golden.json")).unwrap();
    let arrays: Vec<Vec<u8>> =
        golden["arrays"].as_array().unwrap().iter().map(|array| hex(array.as_str().unwrap())).collect();
    golden["cases"].as_array().unwrap().iter().map(|case| read(case, &arrays)).collect()
}

fn read(case: &Value, arrays: &[Vec<u8>]) -> Case {
    let number = |value: &Value| usize::try_from(value.as_u64().unwrap()).unwrap();
    let specs: Vec<CodecSpec> = case["specs"].as_array().unwrap().iter().map(spec).collect();
    let shape = case["shape"].as_array().unwrap().iter().map(|len| len.as_u64().unwrap()).collect();
    let element = DecodedElement::sized(Some(number(&case["size"])));
    let name = case["name"].as_str().unwrap().to_owned();
    let chain = CodecRegistry::builtin().bind(&specs, &ChunkInfo { shape, element });
    let decoded = arrays[number(&case["decoded"])].clone();
    let source = case.get("source").map_or_else(|| decoded.clone(), |source| arrays[number(source)].clone());
    Case {
        chain: chain.unwrap_or_else(|error| panic!("{name}: {error}")),
        name,
        decoded,
        source,
        encoded: hex(case["encoded"].as_str().unwrap()),
        mask: case.get("mask").map_or(0, |mask| u32::try_from(mask.as_u64().unwrap()).unwrap()),
        exact: case["exact"].as_bool().unwrap(),
    }
}

#[test]
fn every_chunk_decodes_to_the_same_bytes() {
    let mut scratch = CodecScratch::default();
    for case in cases() {
        let mut out = vec![0x55; case.decoded.len()];
        let surplus = case.chain.decode_into(&case.encoded, case.mask, &mut out, &mut scratch);
        assert_eq!(surplus, Ok(0), "{}", case.name);
        assert_eq!(out, case.decoded, "{}", case.name);
        let whole = case.chain.decode(&case.encoded, case.mask, case.decoded.len(), &mut scratch);
        assert_eq!(whole.as_ref(), Ok(&case.decoded), "{}", case.name);
    }
}

#[test]
fn what_is_encoded_here_is_the_same_or_decodes_to_the_same() {
    let mut scratch = CodecScratch::default();
    for case in cases() {
        let (encoded, skipped) = match case.chain.encode(&case.source, &mut scratch) {
            Ok(encoded) => encoded,
            Err(CodecError::Unsupported { codec, .. }) if codec == "lzma" => continue,
            Err(error) => panic!("{}: {error}", case.name),
        };
        if case.exact {
            assert_eq!(encoded, case.encoded, "{}", case.name);
        }
        let mut out = vec![0x55; case.decoded.len()];
        let surplus = case.chain.decode_into(&encoded, skipped, &mut out, &mut scratch);
        assert_eq!(surplus, Ok(0), "{}", case.name);
        assert_eq!(out, case.decoded, "{}", case.name);
    }
}

#[test]
fn ranges_have_the_same_bytes() {
    let mut scratch = CodecScratch::default();
    for case in cases() {
        let len = case.decoded.len();
        for cuts in [[0, 1, 1, 1], [len / 3, len / 2, len / 2, len], [len - 1, len, len, len], [0; 4]] {
            let ranges = [cuts[0]..cuts[1], cuts[2]..cuts[3]];
            let mut out = vec![0; len];
            case.chain.decode_ranges(&case.encoded, case.mask, &ranges, &mut out, &mut scratch).unwrap();
            for range in ranges {
                assert_eq!(out[range.clone()], case.decoded[range.clone()], "{} {range:?}", case.name);
            }
        }
    }
}

#[test]
fn cut_chunks_are_errors_or_short() {
    let mut scratch = CodecScratch::default();
    for case in cases() {
        let mut out = vec![0; case.decoded.len()];
        let step = (case.encoded.len() / 60).max(1);
        for len in (0..case.encoded.len()).step_by(step) {
            let cut = &case.encoded[..len];
            if let Ok(surplus) = case.chain.decode_into(cut, case.mask, &mut out, &mut scratch) {
                // Only a trailer that says nothing about the bytes may be missing.
                assert_eq!((surplus, &out), (0, &case.decoded), "{} cut to {len}", case.name);
            }
            let _ = case.chain.decode(cut, 0, case.decoded.len(), &mut scratch);
            let _ = case.chain.decode_ranges(cut, 0, std::slice::from_ref(&(3..5)), &mut out, &mut scratch);
        }
    }
}

#[test]
fn changed_chunks_do_no_harm() {
    let mut scratch = CodecScratch::default();
    for case in cases() {
        let step = (case.encoded.len() / 40).max(1);
        let mut out = vec![0; case.decoded.len()];
        for at in (0..case.encoded.len()).step_by(step) {
            for flip in [0x01, 0x80, 0xff] {
                let mut bytes = case.encoded.clone();
                bytes[at] ^= flip;
                let _ = case.chain.decode_into(&bytes, 0, &mut out, &mut scratch);
                let _ = case.chain.decode(&bytes, 0, case.decoded.len(), &mut scratch);
                let _ = case.chain.decode_ranges(
                    &bytes,
                    0,
                    std::slice::from_ref(&(1..2)),
                    &mut out,
                    &mut scratch,
                );
            }
        }
    }
    assert!(scratch.byte_len() < 1 << 22, "damaged chunks made the buffers grow to {}", scratch.byte_len());
}
