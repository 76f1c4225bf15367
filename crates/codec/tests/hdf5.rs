//! What HDF5 expects of filters: defaults for missing parameters, surplus bytes, missing filters; and that all filters
//! are reversible.
#![expect(clippy::unwrap_used, reason = "a test that fails may panic")]
use ncirrus_codec::{ChunkInfo, CodecChain, CodecError, CodecRegistry, CodecScratch, DecodedElement, names};
use ncirrus_model::CodecSpec;
use proptest::collection::vec;
use proptest::prelude::*;

fn chunk(shape: &[u64], size: usize) -> ChunkInfo {
    ChunkInfo { shape: shape.to_vec(), element: DecodedElement::sized(Some(size)) }
}

fn bind(specs: &[CodecSpec], info: &ChunkInfo) -> CodecChain {
    CodecRegistry::builtin().bind(specs, info).unwrap()
}

fn decode(chain: &CodecChain, bytes: &[u8], mask: u32, len: usize) -> Result<Vec<u8>, CodecError> {
    let mut out = vec![0x55; len];
    chain.decode_into(bytes, mask, &mut out, &mut CodecScratch::default()).map(|_| out)
}

#[test]
fn shuffle_without_a_size_takes_that_of_the_element() {
    let info = chunk(&[2], 4);
    let (stated, missing) =
        (bind(&[CodecSpec::hdf5(2, &[4])], &info), bind(&[CodecSpec::hdf5(2, &[])], &info));
    let bytes = [1, 5, 2, 6, 3, 7, 4, 8];
    assert_eq!(decode(&missing, &bytes, 0, 8), Ok(vec![1, 2, 3, 4, 5, 6, 7, 8]));
    assert_eq!(decode(&stated, &bytes, 0, 8), decode(&missing, &bytes, 0, 8));
}

#[test]
fn bytes_behind_a_deflate_stream_are_ignored() {
    let info = chunk(&[100], 1);
    let data: Vec<u8> = (0..100).collect();
    for specs in [vec![CodecSpec::hdf5(1, &[6])], vec![CodecSpec::hdf5(2, &[4]), CodecSpec::hdf5(1, &[6])]] {
        let chain = bind(&specs, &info);
        let (mut encoded, _) = chain.encode(&data, &mut CodecScratch::default()).unwrap();
        encoded.extend_from_slice(b"behind");
        assert_eq!(decode(&chain, &encoded, 0, 100).as_ref(), Ok(&data));
        assert_eq!(chain.decode(&encoded, 0, 100, &mut CodecScratch::default()).as_ref(), Ok(&data));
    }
}

#[test]
fn checksums_with_swapped_halves_are_accepted() {
    let chain = bind(&[CodecSpec::hdf5(3, &[])], &chunk(&[5], 1));
    let (encoded, _) = chain.encode(&[1, 2, 3, 4, 5], &mut CodecScratch::default()).unwrap();
    let [.., a, b, c, d] = encoded[..] else { panic!("{encoded:?}") };
    let old = [&encoded[..5], &[b, a, d, c]].concat();
    assert_eq!(decode(&chain, &old, 0, 5), Ok(vec![1, 2, 3, 4, 5]));
    let wrong = [&encoded[..5], &[a, b, d, c ^ 1]].concat();
    assert!(matches!(decode(&chain, &wrong, 0, 5), Err(CodecError::Malformed { .. })));
}

#[test]
fn a_filter_that_is_not_there_is_named() {
    let error = CodecRegistry::builtin().bind(&[CodecSpec::hdf5(32028, &[])], &chunk(&[5], 4)).unwrap_err();
    assert_eq!(error.to_string(), r#"codec "HDF5 filter 32028 (SPERR)" is not known"#);
    let error = CodecRegistry::builtin().bind(&[CodecSpec::hdf5(4711, &[])], &chunk(&[5], 4)).unwrap_err();
    assert_eq!(error.to_string(), r#"codec "HDF5 filter 4711" is not known"#);
}

#[test]
fn a_mask_leaves_filters_out_and_rounded_values_are_as_they_are() {
    let info = chunk(&[8], 4);
    let chain = bind(
        &[CodecSpec::hdf5(32023, &[3, 1, 4]), CodecSpec::hdf5(32008, &[]), CodecSpec::hdf5(32000, &[])],
        &info,
    );
    let data: Vec<u8> = (0..32).collect();
    assert_eq!(decode(&chain, &data, 0b110, 32).as_ref(), Ok(&data));
    let (encoded, skipped) = chain.encode(&data, &mut CodecScratch::default()).unwrap();
    assert_eq!((skipped, decode(&chain, &encoded, 0, 32)), (0, Ok(data)));
}

#[test]
fn parameters_that_describe_nothing_are_refused() {
    let info = chunk(&[8], 4);
    for (id, parameters) in [
        (5, &[][..]),
        (5, &[5, 0, 8, 1, 4, 0, 33, 0]),
        (5, &[5, 0, 8, 1, 4, 0, 30, 3]),
        (5, &[5, 0, 8, 2, 7, 1, 4, 0, 32, 0]),
        (5, &[5, 0, 8, 3, 8, 2, 0, 1, 4, 0, 32, 0, 6, 1, 4, 0, 32, 0]),
        (6, &[2, 0, 8, 0, 3, 0, 0, 0]),
        (6, &[0, 2, 8, 1, 2, 0, 0, 0]),
        (6, &[2, 0]),
        (32008, &[0, 4, 4, 7, 2]),
        (32008, &[0, 4, 4, 8, 9]),
        (32013, &[]),
        (32013, &[1, 2, 3, 4]),
        (32026, &[1, 0, 4, 32, 5, 1, 17]),
    ] {
        let bound = CodecRegistry::builtin().bind(&[CodecSpec::hdf5(id, parameters)], &info);
        assert!(matches!(bound, Err(CodecError::Malformed { .. })), "{id} {parameters:?}: {bound:?}");
    }
    // Deeply nested arrays.
    let deep: Vec<u32> = [9, 0, 8].into_iter().chain([2, 4].repeat(500)).chain([1, 4, 0, 9, 0]).collect();
    assert!(CodecRegistry::builtin().bind(&[CodecSpec::hdf5(5, &deep)], &info).is_err());
}

#[test]
fn filters_get_the_numbers_of_the_chunk() {
    let info = chunk(&[6, 50], 4);
    let complete = |id: u32, parameters: &[u32]| {
        let Ok(CodecSpec::Hdf5 { parameters, .. }) =
            names::complete(&CodecSpec::hdf5(id, parameters), &info, None)
        else {
            panic!("{id}")
        };
        parameters
    };
    assert_eq!(complete(1, &[4]), [4]);
    assert_eq!(complete(2, &[]), [4]);
    assert_eq!(complete(4, &[32, 16]), [32 | 128 | 8 | 1, 16, 32, 50]);
    assert_eq!(complete(32000, &[]), [4, 0x105, 1200]);
    assert_eq!(complete(32001, &[0, 0, 0, 0, 9, 2, 5]), [2, 2, 4, 1200, 9, 2, 5]);
    assert_eq!(complete(32026, &[]), [1, 0, 4, 1200, 5, 1, 0, 2, 6, 50]);
    let zfp = zfp(&[64], 0, 2176);
    assert_eq!(complete(32013, &zfp), self::zfp(&[6, 50], 0, 2176));
}

/// The parameters of ZFP: shape with the slowest axis first, type, mode.
fn zfp(shape: &[u64], kind: u32, mode: u32) -> Vec<u32> {
    let width = [48, 24, 16, 12][shape.len() - 1];
    let mut bits = u128::from(kind) << 32 | (shape.len() as u128 - 1) << 34 | 0x0570_667a;
    for (place, len) in shape.iter().rev().enumerate() {
        bits |= u128::from(len - 1) << (36 + place * width);
    }
    bits |= u128::from(mode) << 84;
    let words = bits.to_le_bytes();
    let words = words.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word));
    [0x1010_5110].into_iter().chain(words).take(4).collect()
}

#[test]
fn a_zarr_chunk_of_zfp_has_the_header_before_the_stream() {
    let info = chunk(&[6, 5], 4);
    let parameters = zfp(&[6, 5], 2, 2176);
    let data: Vec<u8> = (0u8..30).flat_map(|i| f32::from(i).to_le_bytes()).collect();
    let chain = bind(&[CodecSpec::hdf5(32013, &parameters)], &info);
    let (stream, _) = chain.encode(&data, &mut CodecScratch::default()).unwrap();
    let header: Vec<u8> = parameters[1..].iter().flat_map(|word| word.to_le_bytes()).collect();
    let zarr = CodecSpec::V2([("id".to_owned(), "zfpy".into())].into_iter().collect());
    assert_eq!(decode(&bind(&[zarr], &info), &[header, stream].concat(), 0, 120), Ok(data));
}

/// Lossless filters, and the chunk that they process.
fn lossless() -> impl Strategy<Value = (CodecSpec, ChunkInfo)> {
    (vec(1u64..20, 1..4), prop::sample::select(vec![4usize, 8]), 0usize..10, 0u32..4).prop_map(
        |(shape, size, filter, choice)| {
            let count = u32::try_from(shape.iter().product::<u64>()).unwrap();
            let (bytes, kind) = (u32::try_from(size).unwrap(), u32::from(size == 8));
            let spec = match filter {
                0 => CodecSpec::hdf5(5, &[8, 0, count, 1, bytes, choice % 2, 8 * bytes, 0]),
                1 => CodecSpec::hdf5(5, &[8, 0, count, 2, bytes, 1, 2, choice % 2, 16, 0]),
                2 => CodecSpec::hdf5(6, &[2, 0, count, 0, bytes, choice % 2, choice / 2, choice % 2, 1, 0]),
                3 => CodecSpec::hdf5(32008, &[0, 4, bytes, 8 * choice, 0]),
                4 => CodecSpec::hdf5(32008, &[0, 4, bytes, 8 * choice, 2 + choice % 2, 1]),
                5 => CodecSpec::hdf5(32000, &[]),
                6 => CodecSpec::hdf5(4, &[[4, 32, 16, 48][choice as usize], 8]),
                7 => CodecSpec::hdf5(32026, &[1, 0, bytes, 0, 5, choice % 3, [1, 4, 5, 0][choice as usize]]),
                8 => CodecSpec::hdf5(32013, &zfp(&shape, kind + choice / 2 * 2, 2176)),
                _ => CodecSpec::hdf5(32004, &[choice * 100]),
            };
            (spec, chunk(&shape, size))
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

    #[test]
    fn filters_give_back_what_they_got(
        (spec, info) in lossless(),
        seed in vec(any::<u8>(), 1..50),
        smooth in any::<bool>(),
        cuts in any::<[prop::sample::Index; 2]>(),
    ) {
        let len = usize::try_from(info.shape.iter().product::<u64>()).unwrap() * info.element.byte_len.unwrap();
        let data: Vec<u8> = if smooth {
            (0..len).map(|at| seed[at % 4 % seed.len()] / 16).collect()
        } else {
            (0..len).map(|at| seed[at % seed.len()].wrapping_mul((at / 7).to_le_bytes()[0])).collect()
        };
        let chain = bind(std::slice::from_ref(&spec), &info);
        let mut scratch = CodecScratch::default();
        let (encoded, skipped) = chain.encode(&data, &mut scratch).unwrap();
        prop_assert_eq!(skipped, 0);
        prop_assert_eq!(&decode(&chain, &encoded, 0, len).unwrap(), &data, "{:?}", spec);
        prop_assert_eq!(&chain.decode(&encoded, 0, len, &mut scratch).unwrap(), &data, "{:?}", spec);
        let (from, to) = (cuts[0].index(len + 1), cuts[1].index(len + 1));
        let range = from.min(to)..from.max(to);
        let mut out = vec![0xee; len];
        chain.decode_ranges(&encoded, 0, std::slice::from_ref(&range), &mut out, &mut scratch).unwrap();
        prop_assert_eq!(&out[range.clone()], &data[range]);
    }

    #[test]
    fn foreign_bytes_do_no_harm(
        (spec, info) in lossless(),
        outer in prop::sample::select(vec![1, 2, 32015, 32000]),
        bytes in vec(any::<u8>(), 0..300),
        changes in vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
    ) {
        let len = usize::try_from(info.shape.iter().product::<u64>()).unwrap() * info.element.byte_len.unwrap();
        let chain = bind(&[spec.clone(), CodecSpec::hdf5(outer, &[1])], &info);
        let mut scratch = CodecScratch::default();
        let (mut valid, _) = bind(&[spec], &info).encode(&vec![7; len], &mut scratch).unwrap();
        for (at, value) in changes {
            let at = at.index(valid.len());
            valid[at] = value;
        }
        for bytes in [bytes, valid] {
            let mut out = vec![0; len];
            for mask in 0..3 {
                let _ = chain.decode_into(&bytes, mask, &mut out, &mut scratch);
                let _ = chain.decode(&bytes, mask, len, &mut scratch);
                let _ = chain.decode_ranges(&bytes, mask, std::slice::from_ref(&(0..1)), &mut out, &mut scratch);
            }
        }
        prop_assert!(scratch.byte_len() < 1 << 21, "the buffers grew to {}", scratch.byte_len());
    }
}
