use super::*;
use crate::DecodedElement;
use crate::processor::tests::with_each;
use proptest::prelude::*;
use serde_json::json;

fn szip(mask: i64, block: usize, bits: usize, scanline: usize) -> Szip {
    let members = json!({
        "mask": mask, "pixels-per-block": block, "bits-per-pixel": bits, "pixels-per-scanline": scanline
    });
    let members = members.as_object().unwrap();
    let chunk = ChunkInfo { shape: vec![1], element: DecodedElement::sized(Some(1)) };
    Szip::new(&CodecParameters::new(NAME, members), &chunk).unwrap()
}

fn encoded(codec: &Szip, input: &[u8]) -> Vec<u8> {
    let mut out = ScratchBuffer::default();
    codec.encode(input, &mut out, &mut LibraryContexts::default()).unwrap();
    out.into_vec()
}

fn decoded(codec: &Szip, stream: &[u8], len: usize) -> Result<Vec<u8>, CodecError> {
    let mut out = vec![0; len];
    codec.decode_into(stream, &mut out, &mut LibraryContexts::default()).map(|_| out)
}

/// Samples near each other, near zero, or anywhere.
fn samples() -> impl Strategy<Value = Vec<u8>> {
    let steps = |max: u8| proptest::collection::vec(0..=max, 0..700);
    prop_oneof![steps(0), steps(1), steps(3), steps(30), steps(255)]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]

    #[test]
    fn every_set_of_instructions_gives_the_same_stream_and_samples(
        data in samples(),
        mask in prop::sample::select(vec![0i64, 16, 32, 48]),
        block in prop::sample::select(vec![2usize, 8, 16, 32]),
        bits in prop::sample::select(vec![3usize, 8, 11, 16, 20, 24, 32, 64]),
        scanline in 1usize..300,
        damage in any::<prop::sample::Index>(),
    ) {
        let codec = szip(mask, block, bits, scanline);
        let element = if codec.spread > 1 { codec.spread } else { codec.samples.bytes };
        let mut data = data;
        data.truncate(data.len() / element * element);
        let max = u32::MAX >> (32 - codec.samples.bits);
        for sample in data.chunks_exact_mut(codec.samples.bytes) {
            let mut word = [0; 4];
            if codec.samples.big_endian { sample.reverse(); }
            copy_prefix(sample, &mut word);
            let word = (u32::from_le_bytes(word) & max).to_le_bytes();
            copy_prefix(&word, sample);
            if codec.samples.big_endian { sample.reverse(); }
        }
        let streams = with_each(|| encoded(&codec, &data));
        for (set, stream) in &streams {
            prop_assert_eq!(stream, &streams[0].1, "{:?}", set);
        }
        let mut stream = streams[0].1.clone();
        for (set, samples) in with_each(|| decoded(&codec, &stream, data.len())) {
            prop_assert_eq!(&samples.unwrap(), &data, "{:?}", set);
        }
        if stream.len() > 4 {
            let place = 4 + damage.index(stream.len() - 4);
            stream[place] ^= 0x55;
            let results = with_each(|| decoded(&codec, &stream, data.len()));
            for (set, result) in &results {
                prop_assert_eq!(result, &results[0].1, "{:?}", set);
            }
        }
    }
}

#[test]
fn each_difference_is_undone() {
    let max = 255;
    for last in 0..=max {
        for this in 0..=max {
            let mut codes = [0; 2];
            encode::to_differences(&[last, this], max, &mut codes);
            assert!(codes[1] <= max);
            assert_eq!(undo(codes[1], last, max), this, "{last} {this}");
        }
    }
}

#[test]
fn pairs_are_used_where_they_take_fewer_bits() {
    // Two ones in a block of 16: 10 bits with pairs and their name, 18 with a split.
    let mut data = vec![0u8; 64];
    for block in data.chunks_exact_mut(16) {
        block[2] = 1;
        block[9] = 1;
    }
    let codec = szip(0, 16, 8, 64);
    let stream = encoded(&codec, &data);
    // A name of 3 bits and one more, 8 pairs; the first number is 1 for (1, 0), the other 2 for (0, 1).
    assert_eq!(stream.len(), 4 + (4 * (4 + 8 + 1 + 2usize)).div_ceil(8));
    assert_eq!(decoded(&codec, &stream, 64).unwrap(), data);
}

#[test]
fn a_number_of_pairs_that_no_encoder_writes_is_damage() {
    // A block of pairs whose first number is larger than any.
    let mut stream = vec![0u8; 4 + (1 << 18)];
    stream[0] = 16;
    stream[4] = 0b0001_0000;
    stream.push(1);
    assert_eq!(decoded(&szip(0, 16, 8, 16), &stream, 16), Err(damaged()));
}
