//! numcodecs decodes what is encoded here. (What numcodecs encodes is in `golden.rs`.)
#![expect(clippy::unwrap_used, reason = "a test that fails may panic")]
use ncirrus_codec::{ChunkInfo, CodecRegistry, CodecScratch, DecodedElement};
use ncirrus_model::CodecSpec;
use serde_json::{Value, json};
use std::io::Write;
use std::process::{Command, Stdio};

fn configurations() -> Vec<Value> {
    let mut all = vec![
        json!({"id": "zlib", "level": 4}),
        json!({"id": "gzip", "level": 9}),
        json!({"id": "zstd", "level": 3}),
        json!({"id": "zstd", "level": -5, "checksum": true}),
        json!({"id": "bz2", "level": 1}),
        json!({"id": "lzma", "format": 1, "check": -1, "preset": 1, "filters": null}),
        json!({"id": "lz4", "acceleration": 1}),
        json!({"id": "shuffle", "elementsize": 4}),
        json!({"id": "fletcher32"}),
        json!({"id": "crc32"}),
        json!({"id": "crc32c"}),
        json!({"id": "adler32"}),
        json!({"id": "delta", "dtype": "<i4"}),
        json!({"id": "fixedscaleoffset", "dtype": "<f4", "astype": "<i4", "scale": 10, "offset": 1}),
        json!({"id": "quantize", "dtype": "<f4", "astype": "<f4", "digits": 2}),
        json!({"id": "bitround", "keepbits": 10}),
        json!({"id": "astype", "encode_dtype": "<i2", "decode_dtype": "<i4"}),
    ];
    for cname in ["blosclz", "lz4", "lz4hc", "zlib", "zstd"] {
        for shuffle in [0, 1, 2, -1] {
            all.push(json!({"id": "blosc", "cname": cname, "clevel": 5, "shuffle": shuffle, "blocksize": 0}));
        }
    }
    all
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A chunk encoded here, and the result of decoding it here.
fn case(config: &Value, values: &[u8], scratch: &mut CodecScratch) -> Value {
    let spec = CodecSpec::V2(config.as_object().unwrap().clone());
    let info = ChunkInfo { shape: vec![values.len() as u64 / 4], element: DecodedElement::sized(Some(4)) };
    let chain = CodecRegistry::builtin().bind(&[spec], &info).unwrap();
    let (encoded, _) = chain.encode(values, scratch).unwrap();
    let decoded = chain.decode(&encoded, 0, values.len(), scratch).unwrap();
    json!({"config": config, "encoded": hex(&encoded), "decoded": hex(&decoded)})
}

#[test]
fn numcodecs_decodes_what_is_encoded_here() {
    let Some(python) = ncirrus_testkit::corpus::peers_python() else { return };
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/numcodecs_decode.py");
    let mut process =
        Command::new(python).arg(script).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let floats: Vec<u8> = (0..700u16).flat_map(|i| (f32::from(i).sin() * 9.0).to_le_bytes()).collect();
    let integers: Vec<u8> = (0..700i32).flat_map(|i| (i * i / 50 - 3000).to_le_bytes()).collect();
    let mut input = process.stdin.take().unwrap();
    let mut scratch = CodecScratch::default();
    for config in configurations() {
        let values = if config["dtype"] == "<f4" || config["id"] == "bitround" { &floats } else { &integers };
        writeln!(input, "{}", case(&config, values, &mut scratch)).unwrap();
    }
    drop(input);
    let output = process.wait_with_output().unwrap();
    assert!(output.status.success());
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "");
}
