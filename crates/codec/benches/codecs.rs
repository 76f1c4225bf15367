//! Speed of codecs on one thread: `cargo bench -p ncirrus-codec`, for the common chains, in bytes of decoded chunk.
//! With the argument `serve`, cases are read from standard input, for comparisons (`benches/codecs.py`).
#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a program for developers")]
use ncirrus_codec::{ChunkInfo, CodecRegistry, CodecScratch, DecodedElement};
use ncirrus_model::CodecSpec;
use serde_json::{Map, Value, json};
use std::io::BufRead;
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
    if std::env::args().any(|argument| argument == "serve") {
        let mut scratch = CodecScratch::default();
        std::io::stdin().lock().lines().for_each(|line| println!("{}", case(&line.unwrap(), &mut scratch)));
    } else {
        common();
    }
}

/// Seconds and bytes of one case: specs, shape, size of an element, and the files with the raw and the encoded chunk.
fn case(line: &str, scratch: &mut CodecScratch) -> Value {
    let case: Value = serde_json::from_str(line).unwrap();
    let list = |value: &Value| value.as_array().unwrap().iter().map(|len| len.as_u64().unwrap()).collect();
    let specs =
        case["specs"].as_array().unwrap().iter().map(|spec| self::spec(spec.as_object().unwrap().clone()));
    let size = usize::try_from(case["size"].as_u64().unwrap()).unwrap();
    let info = ChunkInfo { shape: list(&case["shape"]), element: DecodedElement::sized(Some(size)) };
    let chain = CodecRegistry::builtin().bind(&specs.collect::<Vec<_>>(), &info).unwrap();
    let read = |suffix: &str| std::fs::read(format!("{}.{suffix}", case["path"].as_str().unwrap())).unwrap();
    let (raw, encoded) = (read("raw"), read("encoded"));
    let mut out = vec![0; raw.len()];
    let decode = best(3, || {
        chain.decode_into(&encoded, 0, &mut out, scratch).unwrap();
    });
    let bytes = chain.encode(&raw, scratch).unwrap().0.len();
    let encode = best(3, || {
        chain.encode_in(&raw, scratch).unwrap();
    });
    json!({"decode": decode, "encode": encode, "bytes": bytes})
}

fn common() {
    let data: Vec<u8> =
        (0..1u32 << 20).flat_map(|i| ((f64::from(i) * 1e-3).sin() * 20.0 + 280.0).to_le_bytes()).collect();
    let floats: Vec<u8> = data.chunks_exact(8).flat_map(|bytes| narrow(bytes).to_le_bytes()).collect();
    let info = ChunkInfo { shape: vec![1 << 10, 1 << 10], element: DecodedElement::sized(Some(4)) };
    println!(
        "{:22} {:>9} {:>9} {:>9}  (MiB/s; ranges: 64 KiB of 4 MiB)",
        "chain", "encode", "decode", "ranges"
    );
    for (name, specs) in CHAINS {
        let specs: Vec<CodecSpec> =
            specs.iter().map(|text| spec(serde_json::from_str(text).unwrap())).collect();
        let chain = CodecRegistry::builtin().bind(&specs, &info).unwrap();
        let mut scratch = CodecScratch::default();
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
    if let Some(id) = map.get("hdf5") {
        let number = |value: &Value| u32::try_from(value.as_u64().unwrap()).unwrap();
        let parameters: Vec<u32> = map["parameters"].as_array().unwrap().iter().map(number).collect();
        return CodecSpec::hdf5(number(id), &parameters);
    }
    match map.get("name").and_then(Value::as_str) {
        Some(name) => CodecSpec::V3 { name: name.to_owned(), configuration: map },
        None => CodecSpec::V2(map),
    }
}

#[expect(clippy::cast_possible_truncation, reason = "rounding is meant")]
fn narrow(bytes: &[u8]) -> f32 {
    f64::from_le_bytes(bytes.try_into().unwrap()) as f32
}

/// Throughput in MiB per second, the best of several runs.
fn speed(len: usize, run: impl FnMut()) -> f64 {
    f64::from(u32::try_from(len).unwrap()) / best(9, run) / f64::from(1 << 20)
}

/// The smallest number of seconds in several runs.
fn best(runs: usize, mut run: impl FnMut()) -> f64 {
    let time = |_| {
        let start = Instant::now();
        run();
        start.elapsed().as_secs_f64()
    };
    (0..runs).map(time).fold(f64::INFINITY, f64::min)
}
