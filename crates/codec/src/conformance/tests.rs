//! The codecs of this crate satisfy the contract.
use super::*;
use crate::{DecodedElement, NumberType, names};
use serde_json::{Value, json};

fn v2(value: &Value) -> CodecSpec {
    CodecSpec::V2(value.as_object().unwrap().clone())
}

/// Chunks of numbers of that type, in NumPy's notation.
fn chunk(ty: &str) -> ChunkInfo {
    ChunkInfo { shape: vec![6, 9], element: DecodedElement::of(NumberType::parse(ty).unwrap()) }
}

/// The description with the parameters that HDF5 would add.
fn complete(spec: &CodecSpec, chunk: &ChunkInfo) -> CodecSpec {
    names::complete(spec, chunk, None).unwrap()
}

#[test]
fn codecs_for_any_bytes_give_back_what_they_got() {
    let registry = CodecRegistry::builtin();
    let plain =
        ["zlib", "gzip", "zstd", "bz2", "lzma", "lz4", "shuffle", "fletcher32", "crc32", "crc32c", "adler32"];
    let mut specs: Vec<CodecSpec> = plain.iter().map(|id| v2(&json!({ "id": id }))).collect();
    for name in ["blosclz", "lz4", "lz4hc", "zlib", "zstd"] {
        specs.push(v2(&json!({"id": "blosc", "cname": name, "clevel": 5, "shuffle": 1})));
    }
    for id in [1, 2, 3, 307, 32_001, 32_004, 32_008, 32_015, 32_026] {
        specs.push(CodecSpec::Hdf5 { id, parameters: Vec::new(), optional: true });
    }
    // It skips chunks that would not become smaller.
    specs.push(CodecSpec::Hdf5 { id: 32_000, parameters: Vec::new(), optional: true });
    for ty in ["|i1", "<i2", "<f4", "<f8"] {
        for spec in &specs {
            lossless(&registry, &complete(spec, &chunk(ty)), &chunk(ty));
        }
    }
}

#[test]
fn codecs_for_numbers_give_back_what_they_got() {
    let registry = CodecRegistry::builtin();
    let order = json!({"order": [1, 0]}).as_object().unwrap().clone();
    let cases = [
        (CodecSpec::hdf5(4, &[4, 8]), "<i2"),
        (CodecSpec::hdf5(4, &[32, 16]), "<i4"),
        (CodecSpec::hdf5(5, &[]), "<i4"),
        (CodecSpec::hdf5(6, &[2, 0]), "<i2"),
        (v2(&json!({"id": "delta", "dtype": "<i4"})), "<i4"),
        (v2(&json!({"id": "zfpy", "mode": 5})), "<f8"),
        (CodecSpec::V3 { name: "transpose".to_owned(), configuration: order }, "<i4"),
    ];
    for (spec, ty) in cases {
        lossless(&registry, &complete(&spec, &chunk(ty)), &chunk(ty));
    }
}

#[test]
fn codecs_that_round_round_once() {
    let registry = CodecRegistry::builtin();
    let cases = [
        (v2(&json!({"id": "bitround", "keepbits": 5})), "<f4"),
        (v2(&json!({"id": "quantize", "digits": 2, "dtype": "<f8"})), "<f8"),
    ];
    for (spec, ty) in cases {
        rounding(&registry, &spec, &chunk(ty));
    }
}

#[test]
fn codecs_that_lose_more_each_time_come_to_no_harm() {
    let registry = CodecRegistry::builtin();
    let cases = [
        (v2(&json!({"id": "zfpy", "mode": 2, "rate": 8.0})), "<f4"),
        (v2(&json!({"id": "zfpy", "mode": 4, "tolerance": 0.01})), "<f8"),
        (CodecSpec::hdf5(6, &[0, 2]), "<f4"),
        (v2(&json!({"id": "packbits"})), "|u1"),
        (
            v2(&json!({"id": "fixedscaleoffset", "offset": 0, "scale": 10, "dtype": "<f8", "astype": "<i2"})),
            "<f8",
        ),
        (v2(&json!({"id": "astype", "decode_dtype": "<f8", "encode_dtype": "<f4"})), "<f8"),
    ];
    for (spec, ty) in cases {
        harmless(&registry, &complete(&spec, &chunk(ty)), &chunk(ty));
    }
}
