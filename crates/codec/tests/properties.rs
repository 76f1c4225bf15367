//! Laws of codecs and chains: what is encoded comes back, ranges agree with the whole, foreign bytes do no harm.
#![expect(clippy::unwrap_used, reason = "a test that fails may panic")]
use ncirrus_codec::{ChunkInfo, CodecChain, CodecRegistry, CodecScratch, DecodedElement};
use ncirrus_model::CodecSpec;
use proptest::collection::vec;
use proptest::prelude::*;
use std::ops::Range;

fn v2(text: impl AsRef<str>) -> CodecSpec {
    CodecSpec::V2(serde_json::from_str(text.as_ref()).unwrap())
}

/// Lossless codecs that accept any bytes.
fn lossless() -> impl Strategy<Value = CodecSpec> {
    let cname = prop::sample::select(vec!["blosclz", "lz4", "lz4hc", "zlib", "zstd"]);
    let checksum = prop::sample::select(vec!["fletcher32", "crc32", "crc32c", "adler32"]);
    let location = prop::sample::select(vec!["start", "end"]);
    prop_oneof![
        (0..10).prop_map(|level| v2(format!(r#"{{"id":"zlib","level":{level}}}"#))),
        (0..10).prop_map(|level| v2(format!(r#"{{"id":"gzip","level":"{level}"}}"#))),
        (-7..12, any::<bool>())
            .prop_map(|(level, sum)| v2(format!(r#"{{"id":"zstd","level":{level},"checksum":{sum}}}"#))),
        (1..10).prop_map(|level| v2(format!(r#"{{"id":"bz2","level":{level}}}"#))),
        (0..2).prop_map(|preset| v2(format!(r#"{{"id":"lzma","preset":{preset}}}"#))),
        Just(v2(r#"{"id":"lz4"}"#)),
        (0u32..300).prop_map(|block| CodecSpec::hdf5(32004, &[block])),
        (cname, 0..10, -1..3, 0..3000).prop_map(|(cname, level, shuffle, block)| v2(format!(
            r#"{{"id":"blosc","cname":"{cname}","clevel":{level},"shuffle":{shuffle},"blocksize":{block}}}"#
        ))),
        (0..20).prop_map(|size| v2(format!(r#"{{"id":"shuffle","elementsize":{size}}}"#))),
        (checksum, location)
            .prop_map(|(id, location)| v2(format!(r#"{{"id":"{id}","location":"{location}"}}"#))),
    ]
}

/// Chunks of a few dimensions: shape, bytes of an element, bytes.
fn chunks() -> impl Strategy<Value = (ChunkInfo, Vec<u8>)> {
    let size = prop::sample::select(vec![1usize, 2, 3, 4, 8, 12]);
    (vec(1u64..12, 0..4), size, any::<bool>()).prop_flat_map(|(shape, size, smooth)| {
        let len = usize::try_from(shape.iter().product::<u64>()).unwrap() * size;
        let bytes = if smooth { vec(0u8..3, len) } else { vec(0u8..255, len) };
        (Just(ChunkInfo { shape, element: DecodedElement::sized(Some(size)) }), bytes)
    })
}

/// Filters that depend on the elements, with an order of the dimensions for any rank.
fn array_filters(info: &ChunkInfo, turn: usize, delta: bool) -> Vec<CodecSpec> {
    let rank = info.shape.len();
    let order: Vec<usize> = (0..rank).map(|axis| (axis + turn) % rank.max(1)).collect();
    let configuration = serde_json::json!({ "order": order });
    let mut specs = vec![CodecSpec::V3 {
        name: "transpose".to_owned(),
        configuration: configuration.as_object().unwrap().clone(),
    }];
    let size = info.element.byte_len.unwrap();
    if delta && size.is_power_of_two() {
        specs.push(v2(format!(r#"{{"id":"delta","dtype":">i{size}"}}"#)));
    }
    specs
}

fn decode(chain: &CodecChain, bytes: &[u8], mask: u32, len: usize, scratch: &mut CodecScratch) -> Vec<u8> {
    let mut out = vec![0xee; len];
    assert_eq!(chain.decode_into(bytes, mask, &mut out, scratch), Ok(0));
    out
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(100) })]

    #[test]
    fn what_is_encoded_comes_back(
        (info, data) in chunks(),
        turn in 0usize..3,
        delta in any::<bool>(),
        tail in vec(lossless(), 0..4),
        cuts in any::<[prop::sample::Index; 4]>(),
    ) {
        let mut specs = array_filters(&info, turn, delta);
        specs.extend(tail);
        let chain = CodecRegistry::builtin().bind(&specs, &info).unwrap();
        let mut scratch = CodecScratch::default();
        let (encoded, skipped) = chain.encode(&data, &mut scratch).unwrap();
        prop_assert_eq!(skipped, 0);
        prop_assert_eq!(&decode(&chain, &encoded, 0, data.len(), &mut scratch), &data);
        prop_assert_eq!(&chain.decode(&encoded, 0, data.len(), &mut scratch).unwrap(), &data);

        let mut at: Vec<usize> = cuts.iter().map(|cut| cut.index(data.len() + 1)).collect();
        at.sort_unstable();
        let ranges: [Range<usize>; 2] = [at[0]..at[1], at[2]..at[3]];
        let mut out = vec![0xee; data.len()];
        chain.decode_ranges(&encoded, 0, &ranges, &mut out, &mut scratch).unwrap();
        for range in ranges {
            prop_assert_eq!(&out[range.clone()], &data[range]);
        }
    }

    #[test]
    fn foreign_bytes_do_no_harm(
        spec in prop_oneof![
            lossless(),
            Just(CodecSpec::hdf5(32000, &[])),
            Just(CodecSpec::hdf5(4, &[32, 16, 32, 50])),
            Just(CodecSpec::hdf5(4, &[0, 8, 16, 50])),
            Just(v2(r#"{"id":"packbits"}"#)),
            Just(v2(r#"{"id":"lzma","format":2}"#)),
            Just(v2(r#"{"id":"delta","dtype":"<f2"}"#)),
        ],
        inner in lossless(),
        head in vec(any::<u8>(), 0..40),
        body in vec(any::<u8>(), 0..200),
    ) {
        let info = ChunkInfo { shape: vec![50], element: DecodedElement::sized(Some(4)) };
        let chain = CodecRegistry::builtin().bind(&[inner, spec], &info).unwrap();
        let mut scratch = CodecScratch::default();
        let mut out = [0; 200];
        for bytes in [head.clone(), body.clone(), [head, body].concat()] {
            let _ = chain.decode_into(&bytes, 0, &mut out, &mut scratch);
            let _ = chain.decode_into(&bytes, 1, &mut out, &mut scratch);
            let _ = chain.decode(&bytes, 0, 200, &mut scratch);
            let _ = chain.decode_ranges(&bytes, 0, std::slice::from_ref(&(3..9)), &mut out, &mut scratch);
        }
        prop_assert!(scratch.byte_len() < 1 << 21, "the buffers grew to {}", scratch.byte_len());
    }

    #[test]
    fn every_translation_there_and_back_binds_to_the_same(spec in lossless(), data in vec(any::<u8>(), 64)) {
        use ncirrus_codec::names::translate;
        use ncirrus_model::CodecSpace;
        let element = DecodedElement::sized(Some(4));
        let info = ChunkInfo { shape: vec![16], element: element.clone() };
        let mut scratch = CodecScratch::default();
        for space in [CodecSpace::Hdf5, CodecSpace::V2, CodecSpace::V3] {
            // HDF5 has no gzip envelope: its deflate filter replaces it, for chunks to be written. Its shuffle always
            // uses the size of the element.
            if ["gzip", "shuffle"].contains(&spec.identifier().as_str()) && space == CodecSpace::Hdf5 {
                continue;
            }
            let Ok(translated) = translate(&spec, space, &element) else { continue };
            prop_assert_eq!(translated.space(), space);
            let back = translate(&translated, spec.space(), &element).unwrap();
            let chain = |spec: &CodecSpec| CodecRegistry::builtin().bind(std::slice::from_ref(spec), &info).unwrap();
            let (encoded, _) = chain(&back).encode(&data, &mut scratch).unwrap();
            prop_assert_eq!(&decode(&chain(&spec), &encoded, 0, 64, &mut scratch), &data, "{:?}", translated);
        }
    }
}

#[test]
fn a_bomb_is_refused_before_it_takes_memory() {
    let info = ChunkInfo { shape: vec![1 << 20], element: DecodedElement::sized(Some(4)) };
    let mut scratch = CodecScratch::default();
    let zeros = vec![0; 1 << 22];
    for id in ["zlib", "gzip", "zstd", "bz2", "blosc", "lzma"] {
        let bomb = v2(format!(r#"{{"id":"{id}"}}"#));
        let chain = CodecRegistry::builtin().bind(std::slice::from_ref(&bomb), &info).unwrap();
        let (encoded, _) = chain.encode(&zeros, &mut scratch).unwrap();
        let shuffle = v2(r#"{"id":"shuffle","elementsize":4}"#);
        let chain = CodecRegistry::builtin().bind(&[shuffle, bomb], &info).unwrap();
        let mut fresh = CodecScratch::default();
        let refused = chain.decode_into(&encoded, 0, &mut [0; 1000], &mut fresh);
        assert!(matches!(refused, Err(ncirrus_codec::CodecError::Limit { .. })), "{id}: {refused:?}");
        assert!(fresh.byte_len() < 1 << 20, "{id} took {}", fresh.byte_len());
    }
}
