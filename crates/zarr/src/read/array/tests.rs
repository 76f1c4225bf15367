use super::*;
use crate::json::parse;
use bytes::Bytes;
use ncirrus_layout::{ErrorKind, StoredType};
use ncirrus_model::Atomic;

fn json(text: &str) -> JsonValue {
    parse(&Bytes::copy_from_slice(text.as_bytes()), &Limits::default()).unwrap()
}

fn read(text: &str) -> Result<ArrayMetadata> {
    let (json, limits) = (json(text), Limits::default());
    let rules = rules(crate::Dialect::Attributes, &crate::read::provenance::DatasetProvenance::default());
    describe(&json, &shape(&json, &limits)?, rules, PackedArrays::Decoded, &limits)
}

fn v2(members: &str) -> Result<ArrayMetadata> {
    read(&format!(r#"{{"zarr_format": 2, "shape": [5, 7], "chunks": [2, 3], "dtype": "<i4", {members}}}"#))
}

fn v3(codecs: &str, rest: &str) -> Result<ArrayMetadata> {
    let grid = r#"{"name": "regular", "configuration": {"chunk_shape": [6, 4]}}"#;
    let rest =
        if rest.contains("chunk_grid") { rest.to_owned() } else { format!(r#""chunk_grid": {grid}{rest}"#) };
    read(&format!(
        r#"{{"zarr_format": 3, "node_type": "array", "shape": [12, 8], "data_type": "int16", "codecs": {codecs}, {rest}}}"#
    ))
}

fn names(codecs: &[CodecSpec]) -> Vec<String> {
    codecs.iter().map(CodecSpec::identifier).collect()
}

#[test]
fn filters_come_before_the_compressor_and_order_f_before_both() {
    let array = v2(r#""order": "F", "filters": [{"id": "shuffle", "elementsize": "0"}, null], "compressor": {"id": "zlib"}"#).unwrap();
    assert_eq!(names(&array.codecs), ["transpose", "shuffle", "zlib"]);
    assert_eq!(names(&array.filters), ["shuffle", "zlib"]);
    let CodecSpec::V3 { configuration, .. } = &array.codecs[0] else { panic!("transpose is of version 3") };
    assert_eq!(configuration["order"], serde_json::json!([1, 0]));
}

#[test]
fn damage_of_version_2_is_named() {
    let cases = [
        (r#""order": "X""#, ErrorKind::Malformed),
        (r#""filters": 3"#, ErrorKind::Malformed),
        (r#""compressor": {"level": 3}"#, ErrorKind::Malformed),
        (r#""dimension_separator": "-""#, ErrorKind::Malformed),
        (r#""chunks": [2]"#, ErrorKind::Malformed),
        (r#""chunks": [2, -1]"#, ErrorKind::Malformed),
        (r#""dtype": "<q9""#, ErrorKind::Unsupported),
        (r#""shape": [1.5]"#, ErrorKind::Malformed),
        (r#""dtype": "|O", "filters": [{"id": "delta"}, {"id": "vlen-utf8"}]"#, ErrorKind::Unsupported),
    ];
    for (members, kind) in cases {
        assert_eq!(v2(members).unwrap_err().kind(), kind, "{members}");
    }
}

#[test]
fn scalars_need_no_chunks() {
    let scalar = read(r#"{"shape": [], "dtype": "<i4", "fill_value": 3}"#).unwrap();
    assert_eq!(scalar.grid, ChunkGrid::Regular(Vec::new()));
    let empty = read(r#"{"shape": [0], "chunks": [0], "dtype": "<i4"}"#).unwrap();
    assert_eq!(empty.grid, ChunkGrid::Regular(vec![1]));
}

#[test]
fn the_serializer_becomes_the_byte_order() {
    let array = v3(r#"[{"name": "transpose", "configuration": {"order": [1, 0]}}, {"name": "bytes", "configuration": {"endian": "big"}}, "crc32c"]"#, "").unwrap();
    assert_eq!(array.data_type.stored, StoredType::Integer { size: 2, signed: true, order: ByteOrder::Big });
    // Codecs of elements would have to know the order; without them `bytes` changes nothing.
    assert_eq!(names(&array.codecs), ["transpose", "bytes", "crc32c"]);
    assert_eq!(names(&array.filters), ["crc32c"]);
    assert_eq!(array.data_type.shown, crate::dtype::ReaderType::Atomic(Atomic::Short));
}

#[test]
fn key_encodings_have_their_usual_separators() {
    let bytes = r#"[{"name": "bytes"}]"#;
    let key = |encoding: &str| {
        let rest = format!(r#", "chunk_key_encoding": {encoding}"#);
        v3(bytes, &rest).map(|array| array.keys.key(&[1, 0]))
    };
    assert_eq!(key(r#"{"name": "default"}"#).unwrap(), "c/1/0");
    assert_eq!(key(r#"{"name": "default", "configuration": {"separator": "."}}"#).unwrap(), "c.1.0");
    assert_eq!(key(r#"{"name": "v2"}"#).unwrap(), "1.0");
    assert_eq!(key(r#"{"name": "other"}"#).unwrap_err().kind(), ErrorKind::Unsupported);
    assert_eq!(v3(bytes, "").unwrap().keys.key(&[1, 0]), "c/1/0");
}

#[test]
fn shards_show_their_inner_chunks() {
    let inner = r#"{"chunk_shape": [2, 3], "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "zstd"}], "index_codecs": [{"name": "bytes"}, {"name": "crc32c"}]}"#;
    let codecs = format!(
        r#"[{{"name": "transpose", "configuration": {{"order": [1, 0]}}}}, {{"name": "sharding_indexed", "configuration": {inner}}}]"#
    );
    let array = v3(&codecs, "").unwrap();
    assert_eq!(array.grid, ChunkGrid::Regular(vec![3, 2]), "in the axes of the array");
    assert_eq!(names(&array.codecs), ["transpose", "zstd"]);
    let shards = array.shards.unwrap();
    assert_eq!((shards.shards, shards.axes), (ChunkGrid::Regular(vec![2, 2]), vec![1, 0]));
    assert!(shards.index_at_end && shards.has_checksum);
}

#[test]
fn shards_may_be_nested_encoded_and_of_different_sizes() {
    let shard = |shape: &str, codecs: &str| {
        format!(
            r#"{{"name": "sharding_indexed", "configuration": {{"chunk_shape": {shape}, "codecs": {codecs}, "index_codecs": ["bytes", "crc32c"]}}}}"#
        )
    };
    let inner = shard("[3, 2]", r#"["bytes", "zstd"]"#);
    let outer = shard("[6, 2]", &format!("[{inner}]"));
    let array = v3(
        &format!(r#"[{{"name": "scale_offset", "configuration": {{"scale": 2}}}}, {outer}, "crc32c"]"#),
        r#""chunk_grid": {"name": "rectilinear", "configuration": {"kind": "inline", "chunk_shapes": [[6, 12], [8]]}}"#,
    )
    .unwrap();
    assert_eq!(array.grid, ChunkGrid::Regular(vec![3, 2]));
    assert_eq!(names(&array.codecs), ["scale_offset", "zstd"], "codecs of elements are those of chunks");
    let shards = array.shards.unwrap();
    assert_eq!(shards.shards, ChunkGrid::rectilinear(&[vec![1, 2], vec![4]]).unwrap());
    assert_eq!(names(&shards.outer), ["crc32c"]);
    assert_eq!(shards.last().shards, ChunkGrid::Regular(vec![2, 1]));
    let delta = format!(r#"[{{"name": "numcodecs.delta"}}, {outer}]"#);
    assert_eq!(v3(&delta, "").unwrap_err().kind(), ErrorKind::Unsupported);
}

#[test]
fn small_numbers_are_widened_and_so_is_their_fill_value() {
    let array = |data_type: &str, fill: &str| {
        v3(r#"["bytes"]"#, &format!(r#", "data_type": {data_type}, "fill_value": {fill}"#)).unwrap()
    };
    let small = array(r#""float8_e4m3fn""#, r#""0x7e""#);
    assert_eq!(names(&small.codecs), ["ncirrus.widen"]);
    assert!(small.filters.is_empty());
    assert_eq!(small.fill.as_str(), Some("0x43e00000"), "448");
    assert_eq!(array(r#""complex_float8_e5m2""#, r#"["NaN", 1.0]"#).data_type.stored.byte_len(), Some(8));
    assert_eq!(array(r#""int4""#, "-3").data_type.stored.byte_len(), Some(1));
}

#[test]
fn what_is_not_understood_of_version_3_is_unsupported_or_malformed() {
    let shard = |configuration: &str| {
        format!(r#"[{{"name": "sharding_indexed", "configuration": {configuration}}}]"#)
    };
    let nested = shard(
        r#"{"chunk_shape": [3, 2], "codecs": [{"name": "sharding_indexed"}], "index_codecs": ["bytes"]}"#,
    );
    let uneven = shard(r#"{"chunk_shape": [4, 2], "codecs": ["bytes"], "index_codecs": ["bytes"]}"#);
    let packed = shard(r#"{"chunk_shape": [3, 2], "codecs": ["bytes"], "index_codecs": ["bytes", "gzip"]}"#);
    let cases = [
        (nested.as_str(), "", ErrorKind::Malformed),
        (&uneven, "", ErrorKind::Malformed),
        (&packed, "", ErrorKind::Unsupported),
        ("[]", "", ErrorKind::Unsupported),
        ("[3]", "", ErrorKind::Malformed),
        ("null", "", ErrorKind::Malformed),
        (r#"["vlen-utf8"]"#, "", ErrorKind::Malformed),
        (r#"[{"name": "transpose", "configuration": {"order": [0, 0]}}, "bytes"]"#, "", ErrorKind::Malformed),
        (r#"["bytes"]"#, r#", "storage_transformers": [{"name": "x"}]"#, ErrorKind::Unsupported),
        (r#"["bytes"]"#, r#""chunk_grid": {"name": "hexagonal"}"#, ErrorKind::Unsupported),
    ];
    for (codecs, rest, kind) in cases {
        assert_eq!(v3(codecs, rest).unwrap_err().kind(), kind, "{codecs} {rest}");
    }
    // A program may lend the codec: that it is unknown is an error when chunks are read.
    assert_eq!(names(&v3(r#"[{"name": "flac"}]"#, "").unwrap().codecs), ["flac"]);
}

#[test]
fn rectilinear_grids_have_runs_and_single_lengths() {
    let grid = |shapes: &str| {
        let rest = format!(
            r#""chunk_grid": {{"name": "rectilinear", "configuration": {{"kind": "inline", "chunk_shapes": {shapes}}}}}"#
        );
        v3(r#"["bytes"]"#, &rest).map(|array| array.grid)
    };
    let expected = ChunkGrid::rectilinear(&[vec![2, 2, 8], vec![4, 4]]).unwrap();
    assert_eq!(grid("[[[2, 2], 8], 4]").unwrap(), expected);
    assert!(grid("[[[2, 2], 9], [8, 3]]").is_ok(), "chunks may reach beyond the end");
    for short in ["[[[2, 2], 7], 4]", "[[11], 4]", "[12, [4, 3]]", "[12, [[1, 7]]]"] {
        let error = grid(short).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Malformed, "{short}");
        assert!(error.message().starts_with("chunk lengths add up to"), "{error}");
    }
    for bad in ["[[2, 10]]", "[[0, 12], 4]", "[\"x\", 4]", "[[[2]], 4]", "[[[1, 99999999999]], 4]"] {
        assert!(grid(bad).is_err(), "{bad}");
    }
}

#[test]
fn zfp_is_a_codec_from_elements_to_bytes() {
    let codecs = [
        r#"{"name": "zfp", "configuration": {"mode": "reversible"}}"#,
        r#"{"name": "numcodecs.zfpy", "configuration": {"mode": 5}}"#,
    ];
    for codec in codecs {
        let alone = v3(&format!("[{codec}, {{\"name\": \"crc32c\"}}]"), "").unwrap();
        assert_eq!(names(&alone.codecs).len(), 2, "{codec}");
        let behind = v3(&format!("[\"bytes\", {codec}]"), "").unwrap();
        assert_eq!(names(&behind.codecs).len(), 1, "as earlier versions of ncirrus wrote it");
    }
}
