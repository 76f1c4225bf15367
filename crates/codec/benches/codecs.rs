//! Speed of the common chains on one thread, in bytes of decoded chunk: `cargo bench -p ncirrus-codec`.
#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a program for developers")]
use ncirrus_codec::{ChunkInfo, Element, Registry, Scratch};
use ncirrus_model::CodecSpec;
use serde_json::{Map, Value};
use std::time::Instant;

const CHAINS: [(&str, &[&str]); 9] = [
    ("shuffle", &[r#"{"id":"shuffle"}"#]),
    ("zlib", &[r#"{"id":"zlib","level":4}"#]),
    ("shuffle + zlib", &[r#"{"id":"shuffle"}"#, r#"{"id":"zlib","level":4}"#]),
    ("zstd", &[r#"{"id":"zstd","level":3}"#]),
    ("blosc lz4 + shuffle", &[r#"{"id":"blosc","cname":"lz4"}"#]),
    ("lz4", &[r#"{"id":"lz4"}"#]),
    ("fletcher32", &[r#"{"id":"fletcher32"}"#]),
    ("transpose", &[r#"{"name":"transpose","order":"F"}"#]),
    ("delta", &[r#"{"id":"delta","dtype":"<i4"}"#]),
];

fn main() {
    let data: Vec<u8> =
        (0..1u32 << 20).flat_map(|i| ((f64::from(i) * 1e-3).sin() * 20.0 + 280.0).to_le_bytes()).collect();
    let floats: Vec<u8> = data.chunks_exact(8).flat_map(|bytes| narrow(bytes).to_le_bytes()).collect();
    let info = ChunkInfo { shape: vec![1 << 10, 1 << 10], element: Element { byte_len: Some(4) } };
    println!(
        "{:22} {:>9} {:>9} {:>9}  (MiB/s; ranges: 64 KiB of 4 MiB)",
        "chain", "encode", "decode", "ranges"
    );
    for (name, specs) in CHAINS {
        let specs: Vec<CodecSpec> =
            specs.iter().map(|text| spec(serde_json::from_str(text).unwrap())).collect();
        let chain = Registry::builtin().bind(&specs, &info).unwrap();
        let mut scratch = Scratch::default();
        let (encoded, _) = chain.encode(&floats, &mut scratch).unwrap();
        let len = floats.len();
        let encode = speed(len, || {
            chain.encode(&floats, &mut scratch).unwrap();
        });
        let mut out = vec![0; len];
        let decode = speed(len, || {
            chain.decode_into(&encoded, 0, &mut out, &mut scratch).unwrap();
        });
        let range = std::slice::from_ref(&(1 << 20..(1 << 20) + (1 << 16)));
        let ranges = speed(len, || chain.decode_ranges(&encoded, 0, range, &mut out, &mut scratch).unwrap());
        println!("{name:22} {encode:9.0} {decode:9.0} {ranges:9.0}");
    }
}

fn spec(map: Map<String, Value>) -> CodecSpec {
    match map.get("name").and_then(Value::as_str) {
        Some(name) => CodecSpec::V3 { name: name.to_owned(), configuration: map },
        None => CodecSpec::V2(map),
    }
}

#[expect(clippy::cast_possible_truncation, reason = "rounding is meant")]
fn narrow(bytes: &[u8]) -> f32 {
    f64::from_le_bytes(bytes.try_into().unwrap()) as f32
}

/// The best of several runs.
fn speed(len: usize, mut run: impl FnMut()) -> f64 {
    let mut best = f64::INFINITY;
    for _ in 0..9 {
        let start = Instant::now();
        run();
        best = best.min(start.elapsed().as_secs_f64());
    }
    f64::from(u32::try_from(len).unwrap()) / best / f64::from(1 << 20)
}
