//! The examples in the heads of the codecs' modules.
mod registry;

use crate::names::{TABLE, complete};
use crate::number::NumberType;
use crate::{ChunkInfo, CodecRegistry, CodecScratch, DecodedElement};
use ncirrus_model::CodecSpec;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// The documentation at the beginning of each module.
fn heads() -> BTreeMap<String, Vec<String>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/codecs");
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let files = files.filter(|path| path.extension().is_some_and(|ending| ending == "rs"));
    let head = |path: &Path| -> Vec<String> {
        let text = fs::read_to_string(path).unwrap();
        text.lines().map_while(|line| line.strip_prefix("//!")).map(|line| line.trim().to_owned()).collect()
    };
    files.map(|path| (path.file_stem().unwrap().to_string_lossy().into_owned(), head(&path))).collect()
}

/// The examples of a head, one on each line between fences.
fn examples(head: &[String]) -> Vec<Value> {
    let lines = head.iter().skip_while(|line| *line != "```json").skip(1).take_while(|line| *line != "```");
    lines.map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{line}: {error}"))).collect()
}

fn spec(example: &Value) -> CodecSpec {
    let object = |value: &Value| value.as_object().unwrap().clone();
    if let Some(filter) = example.get("filter") {
        let values = example["values"].as_array().unwrap().iter();
        let values: Vec<u32> = values.map(|value| value.as_u64().unwrap().try_into().unwrap()).collect();
        return CodecSpec::hdf5(filter.as_u64().unwrap().try_into().unwrap(), &values);
    }
    match example.get("name") {
        Some(name) => CodecSpec::V3 {
            name: name.as_str().unwrap().to_owned(),
            configuration: object(&example["configuration"]),
        },
        None => CodecSpec::V2(object(example)),
    }
}

#[test]
fn examples_encode_and_decode() {
    let floats = DecodedElement::of(NumberType::parse("<f4").unwrap());
    let floats = ChunkInfo { shape: vec![4, 8], element: floats };
    let booleans = ChunkInfo { shape: vec![4, 32], element: DecodedElement::sized(Some(1)) };
    let mut count = 0;
    for (module, head) in heads() {
        for example in examples(&head) {
            // Small integers survive all rounding; packbits takes bytes of 0 and 1.
            let data: Vec<u8> = if module == "packbits" {
                (0..128).map(|at| u8::from(at % 3 == 0)).collect()
            } else {
                (0..32u8).flat_map(|at| f32::from(at % 11).to_le_bytes()).collect()
            };
            let chunk = if module == "packbits" { &booleans } else { &floats };
            // What users give of ZFP becomes a header when the variable is defined.
            let spec = if module == "zfp" {
                complete(&spec(&example), chunk, None).unwrap()
            } else {
                spec(&example)
            };
            let chain = CodecRegistry::builtin().bind(&[spec], chunk);
            let chain = chain.unwrap_or_else(|error| panic!("{module}: {example}: {error}"));
            let mut scratch = CodecScratch::default();
            let (encoded, skipped) = chain.encode(&data, &mut scratch).unwrap();
            let mut decoded = vec![0; data.len()];
            chain.decode_into(&encoded, skipped, &mut decoded, &mut scratch).unwrap();
            let number = |bytes: &[u8]| f32::from_le_bytes(bytes.try_into().unwrap());
            let pairs = data.chunks_exact(4).zip(decoded.chunks_exact(4));
            let is_near = |(one, other): (&[u8], &[u8])| (number(one) - number(other)).abs() <= 0.001;
            assert!(data == decoded || pairs.into_iter().all(is_near), "{module}: {example}");
            count += 1;
        }
    }
    assert!(count >= 40, "{count}");
}

#[test]
fn every_name_is_in_the_head_of_a_module() {
    // Codecs that change nothing, or are not in a module of their own.
    let others = ["bitgroom", "granularbitround", "endian", "bytes", "json2", "sharding_indexed"];
    let heads: String = heads().into_values().filter(|head| !examples(head).is_empty()).flatten().collect();
    for row in TABLE {
        for name in row.v2.iter().chain(row.v3) {
            let is_other = others.iter().any(|other| name.ends_with(other)) || name.starts_with("vlen-");
            assert!(is_other || heads.contains(&format!("`{name}`")), "{name}");
        }
    }
}

#[test]
fn bitround_keeps_what_is_not_finite() {
    let odd: [u64; 4] =
        [0x7ff0_0000_0000_0000, 0xfff0_0000_0000_0000, 0x7fff_ffff_ffff_ffff, 0x7ff0_0000_0000_0001];
    let singles: [u32; 4] = [0x7f80_0000, 0xff80_0000, 0x7fff_ffff, 0x7f80_0001];
    let halves: [u16; 4] = [0x7c00, 0xfc00, 0x7fff, 0x7c01];
    for (dtype, size, data) in [
        ("<f8", 8, odd.iter().flat_map(|bits| bits.to_le_bytes()).collect::<Vec<u8>>()),
        ("<f4", 4, singles.iter().flat_map(|bits| bits.to_le_bytes()).collect()),
        ("<f2", 2, halves.iter().flat_map(|bits| bits.to_le_bytes()).collect()),
    ] {
        let chunk =
            ChunkInfo { shape: vec![4], element: DecodedElement::of(NumberType::parse(dtype).unwrap()) };
        let spec = spec(&serde_json::json!({"id": "bitround", "keepbits": 3}));
        let chain = CodecRegistry::builtin().bind(&[spec], &chunk).unwrap();
        let mut scratch = CodecScratch::default();
        let (encoded, _) = chain.encode(&data, &mut scratch).unwrap();
        assert_eq!(encoded, &data[..4 * size], "{dtype}");
    }
}

#[test]
fn packbits_of_the_registry_and_of_numcodecs_differ() {
    let values: Vec<u8> = (0..11).map(|at| u8::from(at % 3 == 0)).collect();
    let chunk = ChunkInfo { shape: vec![11], element: DecodedElement::sized(Some(1)) };
    let decoded = |name: &str, configuration: &str, bytes: &[u8], len: usize| {
        let configuration = serde_json::from_str(configuration).unwrap();
        let spec = CodecSpec::V3 { name: name.to_owned(), configuration };
        let chain = CodecRegistry::builtin().bind(&[spec], &chunk)?;
        let mut out = vec![9; len];
        chain.decode_into(bytes, 0, &mut out, &mut CodecScratch::default()).map(|surplus| (out, surplus))
    };
    // Values 0, 3, 6 and 9 of 11 are set.
    let all = Ok((values.clone(), 0));
    assert_eq!(decoded("numcodecs.packbits", "{}", &[5, 0b1001_0010, 0b0100_0000], 11), all);
    for (configuration, bytes) in [
        ("{}", vec![0b0100_1001, 0b010]),
        (r#"{"padding_encoding": "none", "first_bit": null, "last_bit": 0}"#, vec![0b0100_1001, 0b010]),
        (r#"{"padding_encoding": "first_byte"}"#, vec![5, 0b0100_1001, 0b010]),
        (r#"{"padding_encoding": "last_byte"}"#, vec![0b0100_1001, 0b010, 5]),
    ] {
        assert_eq!(decoded("packbits", configuration, &bytes, 11), all, "{configuration}");
        let cut = &bytes[..bytes.len() - 1];
        assert!(decoded("packbits", configuration, cut, 11).is_err(), "{configuration}");
    }
    let longer = decoded("packbits", "{}", &[0; 3], 11).unwrap();
    assert!(longer.1 > 0, "a byte too many");
    assert!(decoded("packbits", r#"{"padding_encoding": "first_byte"}"#, &[9, 0, 0], 11).is_err());
    assert!(decoded("packbits", r#"{"padding_encoding": "other"}"#, &[0, 0], 11).is_err());
    assert!(decoded("packbits", r#"{"last_bit": 3}"#, &[0, 0], 11).is_err());
}

#[test]
fn zfp_of_the_registry_has_no_header_in_its_chunks() {
    let values: Vec<f32> = (0..60).map(|at| (at as f32 / 7.0).sin()).collect();
    let data: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    let number = NumberType::parse("<f4").unwrap();
    let chunk = |shape: &[u64]| ChunkInfo { shape: shape.to_vec(), element: DecodedElement::of(number) };
    let bind = |name: &str, configuration: Value, shape: &[u64]| {
        let configuration = configuration.as_object().unwrap().clone();
        CodecRegistry::builtin()
            .bind(&[CodecSpec::V3 { name: name.to_owned(), configuration }], &chunk(shape))
    };
    let mut scratch = CodecScratch::default();
    for (words, numbers, max) in [
        (serde_json::json!({"mode": "reversible"}), serde_json::json!({"mode": 5}), 0.0),
        (
            serde_json::json!({"mode": "fixed_accuracy", "tolerance": 0.01}),
            serde_json::json!({"mode": 4, "tolerance": 0.01}),
            0.01,
        ),
        (
            serde_json::json!({"mode": "fixed_precision", "precision": 20}),
            serde_json::json!({"mode": 3, "precision": 20}),
            0.01,
        ),
        (
            serde_json::json!({"mode": "fixed_rate", "rate": 16}),
            serde_json::json!({"mode": 2, "rate": 16}),
            0.01,
        ),
    ] {
        let plain = bind("zfp", words.clone(), &[5, 12]).unwrap();
        let stream = plain.encode(&data, &mut scratch).unwrap().0.to_vec();
        let headed = bind("numcodecs.zfpy", numbers, &[5, 12]).unwrap();
        let with_header = headed.encode(&data, &mut scratch).unwrap().0.to_vec();
        assert!(with_header.starts_with(b"zfp") && !stream.starts_with(b"zfp"), "{words}");
        assert!(stream.len() < with_header.len(), "{words}");
        let mut out = vec![0; data.len()];
        plain.decode_into(&stream, 0, &mut out, &mut scratch).unwrap();
        for (value, bytes) in values.iter().zip(out.as_chunks::<4>().0) {
            assert!((value - f32::from_le_bytes(*bytes)).abs() <= max, "{words}");
        }
        // As the filter of HDF5, which has no headers in chunks either.
        if words["mode"] == "reversible" {
            let hdf5 = complete(&CodecSpec::hdf5(32013, &[5]), &chunk(&[5, 12]), None).unwrap();
            let hdf5 = CodecRegistry::builtin().bind(&[hdf5], &chunk(&[5, 12])).unwrap();
            assert_eq!(hdf5.encode(&data, &mut scratch).unwrap().0, stream);
        }
    }
    // An axis of length 1 is an axis.
    let flat = bind("zfp", serde_json::json!({"mode": "reversible"}), &[1, 60]).unwrap();
    let line = bind("zfp", serde_json::json!({"mode": "reversible"}), &[60]).unwrap();
    let stream = flat.encode(&data, &mut scratch).unwrap().0.to_vec();
    assert_ne!(line.encode(&data, &mut scratch).unwrap().0, stream);
    let mut out = vec![0; data.len()];
    flat.decode_into(&stream, 0, &mut out, &mut scratch).unwrap();
    assert_eq!(out, data);
    for wrong in [
        serde_json::json!({}),
        serde_json::json!({"mode": 4, "tolerance": 1}),
        serde_json::json!({"mode": "fixed_rate"}),
        serde_json::json!({"mode": "expert", "minbits": 1}),
    ] {
        assert!(bind("zfp", wrong.clone(), &[60]).is_err(), "{wrong}");
    }
}

#[test]
fn bitround_of_the_registry_rounds_integers() {
    let bind = |name: &str, dtype: &str, keepbits: i64| {
        let chunk =
            ChunkInfo { shape: vec![6], element: DecodedElement::of(NumberType::parse(dtype).unwrap()) };
        let configuration = serde_json::json!({"keepbits": keepbits}).as_object().unwrap().clone();
        CodecRegistry::builtin().bind(&[CodecSpec::V3 { name: name.to_owned(), configuration }], &chunk)
    };
    let mut scratch = CodecScratch::default();
    let values: [i16; 6] = [0, 5, 1000, -1000, i16::MAX, i16::MIN];
    let data: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    for name in ["bitround", "numcodecs.bitround"] {
        let chain = bind(name, "<i2", 3).unwrap();
        let encoded = chain.encode(&data, &mut scratch).unwrap().0.to_vec();
        let rounded: Vec<i16> =
            encoded.as_chunks::<2>().0.iter().map(|pair| i16::from_le_bytes(*pair)).collect();
        assert_eq!(rounded, [0, 5, 1024, -1024, 28672, i16::MIN]);
        let mut out = vec![0; data.len()];
        chain.decode_into(&data, 0, &mut out, &mut scratch).unwrap();
        assert_eq!(out, data, "what is stored are the values");
    }
    let bytes = bind("bitround", "|u1", 1).unwrap();
    assert_eq!(bytes.encode(&[0, 1, 5, 7, 255, 96], &mut scratch).unwrap().0, [0, 1, 4, 8, 128, 128]);
    assert!(bind("bitround", "<i2", 0).is_err());
}
