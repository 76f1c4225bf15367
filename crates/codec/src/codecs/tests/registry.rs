//! The codecs of the registry of Zarr v3.
use crate::number::NumberType;
use crate::{ChunkInfo, CodecChain, CodecError, CodecRegistry, CodecScratch, DecodedElement};
use ncirrus_model::CodecSpec;
use serde_json::{Value, json};

fn spec(name: &str, configuration: &Value) -> CodecSpec {
    CodecSpec::V3 { name: name.to_owned(), configuration: configuration.as_object().unwrap().clone() }
}

fn chunk(dtype: &str, shape: &[u64]) -> ChunkInfo {
    ChunkInfo { shape: shape.to_vec(), element: DecodedElement::of(NumberType::parse(dtype).unwrap()) }
}

fn bind(name: &str, configuration: &Value, chunk: &ChunkInfo) -> Result<CodecChain, CodecError> {
    CodecRegistry::builtin().bind(&[spec(name, configuration)], chunk)
}

fn encoded(chain: &CodecChain, data: &[u8]) -> Result<Vec<u8>, CodecError> {
    chain.encode(data, &mut CodecScratch::default()).map(|(bytes, _)| bytes)
}

fn decoded(chain: &CodecChain, bytes: &[u8], len: usize) -> Result<Vec<u8>, CodecError> {
    let mut out = vec![0; len];
    chain.decode_into(bytes, 0, &mut out, &mut CodecScratch::default()).map(|_| out)
}

fn doubles(values: &[f64]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

fn shorts(values: &[i16]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

#[test]
fn casts_round_and_refuse_what_the_type_does_not_have() {
    let cast = |configuration: Value, values: &[f64]| {
        let chain = bind("cast_value", &configuration, &chunk("<f8", &[values.len() as u64])).unwrap();
        encoded(&chain, &doubles(values))
    };
    for (rounding, expected) in [
        ("nearest-even", [2, 4, 254, 3]),
        ("nearest-away", [3, 4, 253, 3]),
        ("towards-zero", [2, 3, 254, 2]),
        ("towards-positive", [3, 4, 254, 3]),
        ("towards-negative", [2, 3, 253, 2]),
    ] {
        let got = cast(json!({"data_type": "int8", "rounding": rounding}), &[2.5, 3.5, -2.5, 2.75]);
        assert_eq!(got, Ok(expected.to_vec()), "{rounding}");
    }
    let uint8 = |out_of_range: &str| json!({"data_type": "uint8", "out_of_range": out_of_range});
    assert_eq!(cast(uint8("clamp"), &[-1.0, 300.0, f64::INFINITY]), Ok(vec![0, 255, 255]));
    assert_eq!(cast(uint8("wrap"), &[-1.0, 257.0]), Ok(vec![255, 1]));
    assert!(cast(json!({"data_type": "uint8"}), &[256.0]).is_err());
    assert!(cast(uint8("clamp"), &[f64::NAN]).is_err(), "NaN is not out of range but no number");
    assert!(cast(uint8("wrap"), &[f64::NEG_INFINITY]).is_err());
    assert!(cast(json!({"data_type": "float32"}), &[1e300]).is_err());
    let mapped =
        json!({"data_type": "int8", "scalar_map": {"encode": [["NaN", -1]], "decode": [[-1, "NaN"]]}});
    assert_eq!(cast(mapped.clone(), &[f64::NAN, 7.0]), Ok(vec![255, 7]));
    let chain = bind("cast_value", &mapped, &chunk("<f8", &[2])).unwrap();
    let back = decoded(&chain, &[255, 7], 16).unwrap();
    assert!(f64::from_le_bytes(back[..8].try_into().unwrap()).is_nan());
    for wrong in [
        json!({}),
        json!({"data_type": "bool"}),
        json!({"data_type": "int8", "rounding": "up"}),
        json!({"data_type": "float32", "out_of_range": "wrap"}),
        json!({"data_type": "int8", "scalar_map": {"encode": [[0, 999]]}}),
    ] {
        assert!(bind("cast_value", &wrong, &chunk("<f8", &[1])).is_err(), "{wrong}");
    }
    let text = ChunkInfo { shape: vec![1], element: DecodedElement::sized(Some(8)) };
    assert!(bind("cast_value", &json!({"data_type": "int8"}), &text).is_err());
}

#[test]
fn types_of_casts_have_the_byte_order_of_the_stored_bytes() {
    let big = spec("bytes", &json!({"endian": "big"}));
    let cast = spec("cast_value", &json!({"data_type": "int16"}));
    let chain = CodecRegistry::builtin().bind(&[cast, big], &chunk(">f8", &[1])).unwrap();
    assert_eq!(encoded(&chain, &258f64.to_be_bytes()), Ok(vec![1, 2]));
}

#[test]
fn integers_are_divided_downwards() {
    let of = |scale: i64| {
        bind("scale_offset", &json!({"offset": 5, "scale": scale}), &chunk("<i2", &[4])).unwrap()
    };
    assert_eq!(encoded(&of(2), &shorts(&[5, 6, 4, 105])), Ok(shorts(&[0, 2, -2, 200])));
    assert_eq!(decoded(&of(2), &shorts(&[0, 3, -3, 200]), 8), Ok(shorts(&[5, 6, 3, 105])));
    assert_eq!(decoded(&of(-2), &shorts(&[0, 3, -3, 200]), 8), Ok(shorts(&[5, 3, 6, -95])));
    assert!(encoded(&of(2), &shorts(&[i16::MAX])).is_err(), "it does not fit");
    for wrong in [json!({"scale": 0}), json!({"scale": 0.5}), json!({"offset": 40000}), json!({"scale": "x"})]
    {
        assert!(bind("scale_offset", &wrong, &chunk("<i2", &[1])).is_err(), "{wrong}");
    }
    let floats = bind("scale_offset", &json!({"offset": -3.0, "scale": 4.0}), &chunk("<f8", &[2])).unwrap();
    assert_eq!(encoded(&floats, &doubles(&[1.0, -3.0])), Ok(doubles(&[16.0, 0.0])));
    assert_eq!(decoded(&floats, &doubles(&[16.0, 0.0]), 16), Ok(doubles(&[1.0, -3.0])));
}

#[test]
fn bits_of_numbers_are_packed_from_the_lowest() {
    // As zarrs 0.2.3 writes them.
    let nine = bind("packbits", &json!({"first_bit": 0, "last_bit": 8}), &chunk("<i2", &[6])).unwrap();
    let values = shorts(&[0, 4, 8, 12, 16, 20]);
    let packed = [0x00, 0x08, 0x20, 0x60, 0x00, 0x81, 0x02];
    assert_eq!(encoded(&nine, &values), Ok(packed.to_vec()));
    assert_eq!(decoded(&nine, &packed, 12), Ok(values));
    assert_eq!(
        encoded(&nine, &shorts(&[-1, -256, 255])).map(|bytes| decoded(&nine, &bytes, 6)),
        Ok(Ok(shorts(&[-1, -256, 255])))
    );
    assert!(encoded(&nine, &shorts(&[256])).is_err());
    let middle = bind("packbits", &json!({"first_bit": 4, "last_bit": 11}), &chunk("<u2", &[2])).unwrap();
    assert_eq!(encoded(&middle, &[0x50, 0x01, 0xf0, 0x0f]), Ok(vec![0x15, 0xff]));
    assert_eq!(decoded(&middle, &[0x15, 0xff], 4), Ok(vec![0x50, 0x01, 0xf0, 0x0f]));
    for wrong in [json!({"first_bit": 4, "last_bit": 3}), json!({"last_bit": 16})] {
        assert!(bind("packbits", &wrong, &chunk("<u2", &[2])).is_err(), "{wrong}");
    }
}

#[test]
fn compressors_are_skipped_for_chunks_that_they_do_not_make_smaller() {
    let configuration = json!({"codecs": ["crc32c", {"name": "zstd", "configuration": {"level": 3}}]});
    let chain = bind("conditional", &configuration, &chunk("<i2", &[1000])).unwrap();
    let flat = encoded(&chain, &[7; 2000]).unwrap();
    assert_eq!((flat[0], flat.len() < 100), (0b11, true));
    let mut state = 1u32;
    let mut random = || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state.to_le_bytes()[1]
    };
    let noise: Vec<u8> = (0..2000).map(|_| random()).collect();
    let noisy = encoded(&chain, &noise).unwrap();
    assert_eq!((noisy[0], noisy.len()), (0b01, 2005));
    assert_eq!(decoded(&chain, &flat, 2000), Ok(vec![7; 2000]));
    assert_eq!(decoded(&chain, &noisy, 2000), Ok(noise));
    assert!(decoded(&chain, &[0b100; 2001], 2000).is_err(), "a codec that does not exist");
    assert!(decoded(&chain, &[], 2000).is_err());
    for wrong in [json!({}), json!({"codecs": ["zstd"], "header_bits": 4}), json!({"codecs": [3]})] {
        assert!(bind("conditional", &wrong, &chunk("<i2", &[4])).is_err(), "{wrong}");
    }
}

#[test]
fn blocks_of_n5_may_be_shorter_or_longer_than_chunks() {
    let codecs = json!([{"name": "transpose", "configuration": {"order": [1, 0]}}, {"name": "bytes", "configuration": {"endian": "big"}}]);
    let chain = bind("n5_default", &json!({"codecs": codecs}), &chunk("|u1", &[2, 3])).unwrap();
    let header = |lens: [u8; 2]| vec![0, 0, 0, 2, 0, 0, 0, lens[0], 0, 0, 0, lens[1]];
    let block = [header([2, 3]), vec![1, 4, 2, 5, 3, 6]].concat();
    assert_eq!(encoded(&chain, &[1, 2, 3, 4, 5, 6]), Ok(block.clone()));
    assert_eq!(decoded(&chain, &block, 6), Ok(vec![1, 2, 3, 4, 5, 6]));
    let short = [header([1, 2]), vec![1, 2]].concat();
    assert_eq!(decoded(&chain, &short, 6), Ok(vec![1, 2, 0, 0, 0, 0]));
    let long = [header([3, 3]), vec![1, 4, 9, 2, 5, 9, 3, 6, 9]].concat();
    assert_eq!(decoded(&chain, &long, 6), Ok(vec![1, 2, 3, 4, 5, 6]));
    for wrong in
        [vec![], block[..9].to_vec(), block[..14].to_vec(), [vec![0, 1], block[2..].to_vec()].concat()]
    {
        assert!(decoded(&chain, &wrong, 6).is_err(), "{wrong:?}");
    }
    let huge = [vec![0, 0, 0, 2], vec![255; 8], vec![1]].concat();
    assert!(decoded(&chain, &huge, 6).is_err());
    assert!(bind("n5_default", &json!({"codecs": ["bytes"]}), &chunk("|u1", &[2, 3])).is_err());
}

#[test]
fn small_numbers_are_widened_and_narrowed_again() {
    let widen =
        |name: &str, dtype: &str| bind("ncirrus.widen", &json!({"data_type": name}), &chunk(dtype, &[2]));
    let nibbles = widen("int4", "|i1").unwrap();
    assert_eq!(decoded(&nibbles, &[0x08, 0xf7], 2), Ok(vec![0xf8, 0x07]), "upper bits are arbitrary");
    assert!(encoded(&nibbles, &[8]).is_err() && encoded(&nibbles, &[0xf8]).is_ok());
    let floats = widen("float8_e5m2", "<f4").unwrap();
    let wide: Vec<u8> = [1.5f32, -57344.0].iter().flat_map(|value| value.to_le_bytes()).collect();
    assert_eq!(encoded(&floats, &wide), Ok(vec![0x3e, 0xfb]));
    assert_eq!(decoded(&floats, &[0x3e, 0xfb], 8), Ok(wide));
    assert!(encoded(&floats, &1e9f32.to_le_bytes()).is_err());
    assert!(widen("float7", "<f4").is_err());
}

#[test]
fn every_type_goes_through_pcodec() {
    for dtype in ["|i1", "|u1", "<i2", ">u2", "<i4", ">u4", "<i8", "<u8", "<f2", "<f4", ">f8"] {
        let chunk = chunk(dtype, &[300]);
        let len = 300 * chunk.element.byte_len.unwrap();
        let data: Vec<u8> = (0..len).map(|at| (at * at / 7 % 60).to_le_bytes()[0]).collect();
        let chain = bind("numcodecs.pcodec", &json!({"level": 4}), &chunk).unwrap();
        let bytes = encoded(&chain, &data).unwrap();
        assert_eq!(decoded(&chain, &bytes, len), Ok(data), "{dtype}");
    }
    let unknown = ChunkInfo { shape: vec![4], element: DecodedElement::sized(Some(4)) };
    assert!(encoded(&bind("pcodec", &json!({}), &unknown).unwrap(), &[0; 16]).is_err());
    for wrong in [json!({"level": 13}), json!({"delta_spec": "x"}), json!({"equal_pages_up_to": 0})] {
        assert!(bind("pcodec", &wrong, &chunk("<i4", &[4])).is_err(), "{wrong}");
    }
}

#[test]
fn damaged_chunks_are_errors_or_other_values_and_nothing_else() {
    let n5 = json!({"codecs": [{"name": "transpose", "configuration": {"order": [1, 0]}}, "bytes", "zstd"]});
    for (name, configuration) in [
        ("numcodecs.pcodec", json!({})),
        ("packbits", json!({"padding_encoding": "last_byte", "last_bit": 20})),
        ("conditional", json!({"codecs": ["zstd", "crc32c"]})),
        ("n5_default", n5),
        ("cast_value", json!({"data_type": "float64"})),
        ("scale_offset", json!({"scale": 3})),
        ("jenkins_lookup3", json!({"initval": 3})),
    ] {
        let chain = bind(name, &configuration, &chunk("<i4", &[20, 15])).unwrap();
        let data: Vec<u8> = (0..300i32).flat_map(|at| (at * at % 1000).to_le_bytes()).collect();
        let whole = encoded(&chain, &data).unwrap();
        assert_eq!(decoded(&chain, &whole, data.len()).as_ref(), Ok(&data), "{name}");
        for end in 0..whole.len() {
            let _ = decoded(&chain, &whole[..end], data.len());
        }
        for at in 0..whole.len().min(400) {
            for bit in 0..8 {
                let mut damaged = whole.clone();
                damaged[at] ^= 1 << bit;
                let _ = decoded(&chain, &damaged, data.len());
            }
        }
    }
}
