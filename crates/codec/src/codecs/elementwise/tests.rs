use super::*;
use crate::processor::tests::with_each;
use proptest::prelude::*;

fn number(text: &str) -> NumberType {
    NumberType::parse(text).unwrap()
}

const TYPES: [&str; 18] = [
    "|i1", "|u1", "<i2", "<u2", "<i4", "<u4", "<i8", "<u8", "<f2", "<f4", "<f8", ">i2", ">u4", ">i8", ">u8",
    ">f2", ">f4", ">f8",
];

fn any_type() -> impl Strategy<Value = NumberType> {
    prop::sample::select(TYPES.to_vec()).prop_map(number)
}

/// Bytes with numbers of every kind: small and large ones, ties, infinities, NaN, zeros of both signs, subnormal ones.
fn bytes_of(number: NumberType, seeds: &[(u64, u8)]) -> Vec<u8> {
    let mut out = Vec::new();
    for (seed, kind) in seeds {
        let small = i32::try_from(seed % 20_000).unwrap() - 10_000;
        let value = match kind % 6 {
            0 => f64::from(small) / 8.0,
            1 => f64::from(small) * 1e5,
            2 => f64::from(small) * 1e17,
            3 => [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -0.0, 1e-40]
                [usize::try_from(seed % 6).unwrap()],
            _ => f64::from(small) / 100.0,
        };
        let mut bytes = vec![0; number.size];
        if kind % 6 == 5 {
            bytes.copy_from_slice(&seed.to_le_bytes()[..number.size]);
        } else {
            number.store(crate::number::AnyNumber::Float(value), &mut bytes);
        }
        out.extend(bytes);
    }
    out
}

fn any_map() -> impl Strategy<Value = ElementMap> {
    let scale = prop::sample::select(vec![1.0, 100.0, 0.1, 8.0, 1e-30]);
    prop_oneof![
        (scale.clone(), prop::sample::select(vec![0.0, 280.0, -0.3]))
            .prop_map(|(scale, offset)| ElementMap::ScaleOffset { scale, offset }),
        scale.prop_map(|scale| ElementMap::Quantize { scale }),
        (0u32..10).prop_map(|dropped| ElementMap::BitRound { dropped }),
        Just(ElementMap::Cast),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1000) })]

    /// With all sets of instructions the results are those of the loops over tiles of 64-bit numbers with the first set.
    #[test]
    fn every_loop_gives_the_same_bits(
        map in any_map(),
        decoded in any_type(),
        encoded in any_type(),
        seeds in proptest::collection::vec(any::<(u64, u8)>(), 0..200),
    ) {
        let is_bits = matches!(map, ElementMap::BitRound { .. });
        let decoded = if is_bits && !decoded.is_float() { number("<f4") } else { decoded };
        let encoded = if is_bits { decoded } else { encoded };
        let codec = Elementwise { map, decoded, encoded };
        let mut tile = [0.0; TILE];

        let input = bytes_of(decoded, &seeds);
        let mut defined = vec![0; seeds.len() * encoded.size];
        codec.encode_tile(&input, &mut defined, &mut tile);
        for (set, out) in with_each(|| {
            let mut out = vec![0; defined.len()];
            codec.encode_elements(&input, &mut out);
            out
        }) {
            prop_assert_eq!(out, &defined[..], "{:?}", set);
        }

        let input = bytes_of(encoded, &seeds);
        let mut defined = vec![0; seeds.len() * decoded.size];
        codec.decode_tile(&input, &mut defined, &mut tile);
        for (set, out) in with_each(|| {
            let mut out = vec![0; defined.len()];
            codec.decode_elements(&input, &mut out);
            out
        }) {
            prop_assert_eq!(out, &defined[..], "{:?}", set);
        }
    }

    /// Numbers are truncated as single ones are.
    #[test]
    fn many_numbers_are_stored_as_single_ones(
        to in any_type(),
        seeds in proptest::collection::vec(any::<(u64, u8)>(), 1..50),
    ) {
        let input = bytes_of(number("<f8"), &seeds);
        let mut values = vec![0.0; seeds.len()];
        number("<f8").load_floats(&input, &mut values);
        // Between the greatest signed and unsigned integer, single numbers keep other bits.
        values.iter_mut().filter(|value| value.abs() > 9e18 && value.is_finite()).for_each(|value| *value = 0.0);
        let mut defined = vec![0; values.len() * to.size];
        for (value, out) in values.iter().zip(defined.chunks_exact_mut(to.size)) {
            to.store(crate::number::AnyNumber::Float(*value), out);
        }
        for (set, out) in with_each(|| {
            let mut out = vec![0; defined.len()];
            to.store_floats(&values, &mut out);
            out
        }) {
            prop_assert_eq!(out, &defined[..], "{:?}", set);
        }
    }
}
