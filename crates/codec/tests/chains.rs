//! Chains of codecs: round trips, lengths, masks, ranges.
#![expect(clippy::unwrap_used, reason = "a test that fails may panic")]
use ncirrus_codec::{ChunkInfo, CodecChain, CodecError, CodecRegistry, CodecScratch, DecodedElement};
use ncirrus_model::CodecSpec;

fn v2(text: &str) -> CodecSpec {
    CodecSpec::V2(serde_json::from_str(text).unwrap())
}

fn v3(name: &str, configuration: &str) -> CodecSpec {
    CodecSpec::V3 { name: name.to_owned(), configuration: serde_json::from_str(configuration).unwrap() }
}

fn chunk(shape: &[u64], size: usize) -> ChunkInfo {
    ChunkInfo { shape: shape.to_vec(), element: DecodedElement::sized(Some(size)) }
}

fn bind(specs: &[CodecSpec], info: &ChunkInfo) -> CodecChain {
    CodecRegistry::builtin().bind(specs, info).unwrap()
}

fn sample(len: usize) -> Vec<u8> {
    (0..len).map(|i| ((i / 7) * 31 % 251).to_le_bytes()[0]).collect()
}

fn compressors() -> Vec<CodecSpec> {
    let mut specs = vec![
        v2(r#"{"id":"zlib","level":4}"#),
        v2(r#"{"id":"gzip","level":9}"#),
        v2(r#"{"id":"zstd","level":3,"checksum":true}"#),
    ];
    for cname in ["blosclz", "lz4", "lz4hc", "zlib", "zstd"] {
        for shuffle in [-1, 0, 1, 2] {
            specs.push(v2(&format!(r#"{{"id":"blosc","cname":"{cname}","clevel":5,"shuffle":{shuffle}}}"#)));
        }
    }
    specs
}

#[test]
fn every_compressor_gives_back_what_it_got() {
    let mut scratch = CodecScratch::default();
    for len in [0, 1, 4, 1000, 100_000] {
        let data = sample(len * 4);
        for spec in compressors() {
            let chain = bind(std::slice::from_ref(&spec), &chunk(&[len as u64], 4));
            let (encoded, skipped) = chain.encode(&data, &mut scratch).unwrap();
            let mut out = vec![0xaa; data.len()];
            assert_eq!(chain.decode_into(&encoded, skipped, &mut out, &mut scratch), Ok(0), "{spec:?} {len}");
            assert_eq!(out, data, "{spec:?}");
            assert_eq!(
                chain.decode(&encoded, 0, data.len(), &mut scratch).as_ref(),
                Ok(&data),
                "{spec:?} {len}"
            );
        }
    }
}

#[test]
fn a_longer_buffer_is_short_and_a_shorter_one_has_a_surplus() {
    let mut scratch = CodecScratch::default();
    let data = sample(4000);
    for spec in compressors() {
        let chain = bind(std::slice::from_ref(&spec), &chunk(&[1000], 4));
        let (encoded, _) = chain.encode(&data, &mut scratch).unwrap();
        let mut long = vec![0; 4004];
        let short = chain.decode_into(&encoded, 0, &mut long, &mut scratch);
        assert_eq!(short, Err(CodecError::Short { have: 4000, want: 4004 }), "{spec:?}");
        assert_eq!(long[..4000], data, "{spec:?}");
        let mut less = vec![0; 3996];
        assert_eq!(chain.decode_into(&encoded, 0, &mut less, &mut scratch), Ok(4), "{spec:?}");
        assert_eq!(less, data[..3996], "{spec:?}");
        let limit = chain.decode(&encoded, 0, 3999, &mut scratch);
        assert!(matches!(limit, Err(CodecError::Limit { .. })), "{spec:?}: {limit:?}");
    }
}

#[test]
fn ranges_are_decoded_to_their_places() {
    let mut scratch = CodecScratch::default();
    let data = sample(400_000);
    let ranges = [0..3, 5..9, 120_000..120_017, 130_001..130_002];
    for mut spec in compressors().into_iter().map(|spec| vec![spec]) {
        for _ in 0..2 {
            let chain = bind(&spec, &chunk(&[100_000], 4));
            let (encoded, _) = chain.encode(&data, &mut scratch).unwrap();
            let mut out = vec![0; data.len()];
            chain.decode_ranges(&encoded, 0, &ranges, &mut out, &mut scratch).unwrap();
            for range in &ranges {
                assert_eq!(out[range.clone()], data[range.clone()], "{spec:?} {range:?}");
            }
            spec.insert(0, v2(r#"{"id":"shuffle"}"#));
        }
    }
}

#[test]
fn blosc_decodes_only_the_blocks_that_are_needed() {
    let mut scratch = CodecScratch::default();
    let data: Vec<u8> = (0..1_000_000u32).flat_map(|i| i.wrapping_mul(i).to_le_bytes()).collect();
    let spec = v2(r#"{"id":"blosc","cname":"lz4","shuffle":1,"blocksize":16384}"#);
    let chain = bind(&[spec], &chunk(&[1_000_000], 4));
    let (encoded, _) = chain.encode(&data, &mut scratch).unwrap();
    let mut out = vec![0; data.len()];
    let range = 2_000_000..2_000_004;
    chain.decode_ranges(&encoded, 0, std::slice::from_ref(&range), &mut out, &mut scratch).unwrap();
    assert_eq!(out[range.clone()], data[range]);
    assert!(out.iter().filter(|&&byte| byte != 0).count() <= 16384);
}

#[test]
fn shuffle_leaves_the_remainder_in_its_place() {
    let mut scratch = CodecScratch::default();
    let chain = bind(&[v2(r#"{"id":"shuffle","elementsize":4}"#)], &chunk(&[10], 1));
    let (encoded, _) = chain.encode(&[0, 1, 2, 3, 4, 5, 6, 7, 8, 9], &mut scratch).unwrap();
    assert_eq!(encoded, [0, 4, 1, 5, 2, 6, 3, 7, 8, 9]);
    assert_eq!(chain.decode(&encoded, 0, 10, &mut scratch).unwrap(), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
}

#[test]
fn shuffle_of_every_size_is_undone() {
    let mut scratch = CodecScratch::default();
    for size in 1..=17 {
        for count in [0, 1, 2, 511, 512, 513, 1500] {
            let data = sample(size * count + size / 2);
            let spec = v2(&format!(r#"{{"id":"shuffle","elementsize":{size}}}"#));
            let chain = bind(&[spec], &chunk(&[data.len() as u64], 1));
            let (encoded, _) = chain.encode(&data, &mut scratch).unwrap();
            let mut out = vec![0; data.len()];
            assert_eq!(chain.decode_into(&encoded, 0, &mut out, &mut scratch), Ok(0));
            assert_eq!(out, data, "size {size}, {count} elements");
        }
    }
}

#[test]
fn fletcher32_before_shuffle_and_deflate_is_understood() {
    let mut scratch = CodecScratch::default();
    let data = sample(400);
    let specs = [CodecSpec::hdf5(3, &[]), CodecSpec::hdf5(2, &[4]), CodecSpec::hdf5(1, &[6])];
    let chain = bind(&specs, &chunk(&[100], 4));
    let (encoded, _) = chain.encode(&data, &mut scratch).unwrap();
    let mut out = vec![0; 400];
    assert_eq!(chain.decode_into(&encoded, 0, &mut out, &mut scratch), Ok(0));
    assert_eq!(out, data);
}

#[test]
fn a_changed_byte_breaks_every_checksum() {
    let mut scratch = CodecScratch::default();
    let data = sample(403);
    for id in ["fletcher32", "crc32", "crc32c", "adler32"] {
        for location in ["start", "end"] {
            let spec = v2(&format!(r#"{{"id":"{id}","location":"{location}"}}"#));
            let chain = bind(&[spec], &chunk(&[403], 1));
            let (mut encoded, _) = chain.encode(&data, &mut scratch).unwrap();
            assert_eq!(encoded.len(), 407);
            let mut out = vec![0; 403];
            assert_eq!(chain.decode_into(&encoded, 0, &mut out, &mut scratch), Ok(0), "{id}");
            assert_eq!(out, data);
            encoded[200] ^= 1;
            let broken = chain.decode_into(&encoded, 0, &mut out, &mut scratch);
            assert!(matches!(broken, Err(CodecError::Malformed { .. })), "{id} {broken:?}");
        }
    }
}

#[test]
fn a_mask_leaves_codecs_out() {
    let mut scratch = CodecScratch::default();
    let specs = [CodecSpec::hdf5(2, &[4]), CodecSpec::hdf5(1, &[6])];
    let chain = bind(&specs, &chunk(&[100], 4));
    let data = sample(400);
    let mut out = vec![0; 400];
    assert_eq!(chain.decode_into(&data, 0b11, &mut out, &mut scratch), Ok(0));
    assert_eq!(out, data);
    let shuffled = bind(&specs[..1], &chunk(&[100], 4)).encode(&data, &mut scratch).unwrap().0;
    assert_eq!(chain.decode_into(&shuffled, 0b10, &mut out, &mut scratch), Ok(0));
    assert_eq!(out, data);
}

#[test]
fn transpose_stores_the_dimensions_in_that_order() {
    let mut scratch = CodecScratch::default();
    let data: Vec<u8> = (0..24).collect();
    let fortran = bind(&[v3("transpose", r#"{"order":"F"}"#)], &chunk(&[2, 3], 4));
    let (encoded, _) = fortran.encode(&data, &mut scratch).unwrap();
    let rows: Vec<u8> = encoded.chunks(4).map(|element| element[0] / 4).collect();
    assert_eq!(rows, [0, 3, 1, 4, 2, 5]);
    let three = [v3("transpose", r#"{"order":[1,2,0]}"#), v3("bytes", r#"{"endian":"little"}"#)];
    let chain = bind(&three, &chunk(&[2, 3, 4], 1));
    let (encoded, _) = chain.encode(&data, &mut scratch).unwrap();
    assert_eq!(encoded[..4], [0, 12, 1, 13]);
    assert_eq!(chain.decode(&encoded, 0, 24, &mut scratch).unwrap(), data);
}

#[test]
fn codecs_that_the_type_of_the_elements_handles_change_nothing() {
    let info = ChunkInfo { shape: vec![3], element: DecodedElement::sized(None) };
    for spec in [v2(r#"{"id":"vlen-utf8"}"#), v2(r#"{"id":"json2"}"#), v3("bytes", "{}")] {
        assert!(bind(&[spec], &info).is_identity());
    }
}

#[test]
fn unknown_codecs_and_wrong_parameters_are_errors() {
    let bind = |spec: CodecSpec| CodecRegistry::builtin().bind(&[spec], &chunk(&[4, 5], 4)).unwrap_err();
    assert!(matches!(bind(v2(r#"{"id":"nonsense"}"#)), CodecError::Unknown { .. }));
    assert!(matches!(bind(v2("{}")), CodecError::Unknown { .. }));
    assert!(matches!(bind(CodecSpec::hdf5(4711, &[])), CodecError::Unknown { .. }));
    for text in [
        r#"{"id":"zlib","level":10}"#,
        r#"{"id":"zlib","level":"many"}"#,
        r#"{"id":"zlib","level":[]}"#,
        r#"{"id":"blosc","shuffle":7}"#,
        r#"{"id":"shuffle","elementsize":-1}"#,
        r#"{"id":"crc32","location":"middle"}"#,
    ] {
        assert!(matches!(bind(v2(text)), CodecError::Malformed { .. }), "{text}");
    }
    for order in [r#"{"order":[0,0]}"#, r#"{"order":[0]}"#, r#"{"order":"X"}"#, "{}"] {
        assert!(matches!(bind(v3("transpose", order)), CodecError::Malformed { .. }), "{order}");
    }
}

#[test]
fn streams_in_several_parts_are_one_chunk() {
    let mut scratch = CodecScratch::default();
    let data = sample(4000);
    for id in ["gzip", "zstd", "bz2", "lzma"] {
        let chain = bind(&[v2(&format!(r#"{{"id":"{id}"}}"#))], &chunk(&[1000], 4));
        let part = |bytes: &[u8], scratch: &mut CodecScratch| chain.encode(bytes, scratch).unwrap().0;
        let encoded = [part(&data[..1000], &mut scratch), part(&data[1000..], &mut scratch)].concat();
        let mut out = vec![0; 4000];
        assert_eq!(chain.decode_into(&encoded, 0, &mut out, &mut scratch), Ok(0), "{id}");
        assert_eq!(out, data, "{id}");
        assert_eq!(chain.decode(&encoded, 0, 4000, &mut scratch).unwrap(), data, "{id}");
        let mut less = vec![0; 3000];
        assert_eq!(chain.decode_into(&encoded, 0, &mut less, &mut scratch), Ok(1000), "{id}");
        assert_eq!(less, data[..3000], "{id}");
    }
}

#[test]
fn an_optional_filter_that_is_not_there_is_left_out() {
    let mut scratch = CodecScratch::default();
    let unknown = CodecSpec::Hdf5 { id: 4711, parameters: vec![], optional: true };
    let chain = bind(&[CodecSpec::hdf5(2, &[4]), unknown], &chunk(&[100], 4));
    let data = sample(400);
    let (encoded, skipped) = chain.encode(&data, &mut scratch).unwrap();
    assert_eq!(skipped, 0b10);
    let mut out = vec![0; 400];
    assert_eq!(chain.decode_into(&encoded, skipped, &mut out, &mut scratch), Ok(0));
    assert_eq!(out, data);
    let error = chain.decode_into(&encoded, 0, &mut out, &mut scratch);
    assert_eq!(error, Err(CodecError::Unknown { codec: "HDF5 filter 4711".to_owned() }));
}

#[test]
fn the_lz4_filter_of_hdf5_has_a_framing_of_its_own() {
    let mut scratch = CodecScratch::default();
    let chain = bind(&[CodecSpec::hdf5(32004, &[8])], &chunk(&[10], 1));
    let data = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];
    let (encoded, _) = chain.encode(&data, &mut scratch).unwrap();
    // Blocks that do not get shorter are stored uncompressed.
    let expected =
        [&[0, 0, 0, 0, 0, 0, 0, 10, 0, 0, 0, 8, 0, 0, 0, 8][..], &data[..8], &[0, 0, 0, 2], &data[8..]]
            .concat();
    assert_eq!(encoded, expected);
    let zeros = vec![0; 5000];
    let chain = bind(&[CodecSpec::hdf5(32004, &[1024])], &chunk(&[5000], 1));
    let (encoded, _) = chain.encode(&zeros, &mut scratch).unwrap();
    assert!(encoded.len() < 200);
    assert_eq!(chain.decode(&encoded, 0, 5000, &mut scratch).unwrap(), zeros);
}

#[test]
fn parameters_may_be_text_or_missing_or_too_many() {
    let info = chunk(&[4, 8], 4);
    for text in [
        r#"{"id":"zlib"}"#,
        r#"{"id":"zlib","level":"4"}"#,
        r#"{"id":"zlib","level":null}"#,
        r#"{"id":"zlib","level":4.0,"unknown":[1]}"#,
        r#"{"id":"bz2"}"#,
        r#"{"id":"bz2","level":" 9"}"#,
        r#"{"id":"zstd"}"#,
        r#"{"id":"zstd","level":"-5","checksum":"true"}"#,
        r#"{"id":"zstd","level":100}"#,
        r#"{"id":"blosc"}"#,
        r#"{"id":"blosc","cname":"zstd","clevel":"5","shuffle":"2","blocksize":"0","typesize":"4"}"#,
        r#"{"id":"shuffle","elementsize":""}"#,
        r#"{"id":"szip","mask":"32","pixels-per-block":"16"}"#,
        r#"{"id":"szip"}"#,
        r#"{"id":"lzma","format":1,"check":-1,"preset":null,"filters":null}"#,
        r#"{"id":"delta","dtype":"<M8[s]"}"#,
        r#"{"id":"fixedscaleoffset","scale":"10","offset":0.5,"dtype":"float64","astype":"|u1"}"#,
    ] {
        let bound = CodecRegistry::builtin().bind(&[v2(text)], &info);
        // Only text that is not a number is refused.
        assert_eq!(bound.is_err(), text.contains(r#":"""#), "{text}: {bound:?}");
    }
    for (name, configuration) in [
        ("zlib", r#"{"level":"1"}"#),
        ("numcodecs.zlib", "{}"),
        ("gzip", r#"{"level":5}"#),
        ("zstd", "{}"),
        ("numcodecs.shuffle", r#"{"elementsize":4}"#),
        ("blosc", r#"{"cname":"lz4","clevel":5,"shuffle":"bitshuffle","typesize":4,"blocksize":0}"#),
        ("numcodecs.blosc", r#"{"shuffle":-1}"#),
        ("numcodecs.bitround", r#"{"keepbits":3}"#),
        ("numcodecs.astype", r#"{"encode_dtype":"float32","decode_dtype":"int32"}"#),
        ("crc32c", "{}"),
        ("numcodecs.crc32c", r#"{"location":"end"}"#),
    ] {
        let bound = CodecRegistry::builtin().bind(&[v3(name, configuration)], &info);
        assert!(bound.is_ok(), "{name}: {bound:?}");
    }
}

#[test]
fn bytes_are_encoded_where_they_are_without_a_copy() {
    let (mut scratch, data) = (CodecScratch::default(), sample(4000));
    let identity = bind(&[], &chunk(&[1000], 4));
    let (encoded, skipped) = identity.encode_in(&data, &mut scratch).unwrap();
    assert_eq!((encoded.as_ptr(), encoded.len(), skipped), (data.as_ptr(), data.len(), 0));
    for spec in compressors() {
        let chain = bind(std::slice::from_ref(&spec), &chunk(&[1000], 4));
        let copied = chain.encode(&data, &mut scratch).unwrap();
        let (encoded, skipped) = chain.encode_in(&data, &mut scratch).unwrap();
        assert_eq!((encoded, skipped), (copied.0.as_slice(), copied.1), "{spec:?}");
        let first = encoded.as_ptr();
        assert_eq!(chain.encode_in(&data, &mut scratch).unwrap().0.as_ptr(), first, "{spec:?}");
    }
}
