//! The contract of every codec: call these functions from the tests of a new one, which is registered with a registry
//! ([`CodecRegistry::register`]), built in, or from a plugin.
//!
//! They fail by a failed assertion.
use crate::chain::CodecChain;
use crate::{ChunkInfo, CodecRegistry, CodecScratch};
use ncirrus_model::CodecSpec;

/// The memory that decoding of foreign bytes may keep: this much more than the chunk, and at most this many times as
/// much, as [`CodecChain::decode_into`] allows between two codecs, in each of the buffers.
const MEMORY: (usize, usize) = (1 << 20, 16);

/// Checks a codec against the contract of lossless ones: all of [`harmless`], and every chunk decodes to what was
/// encoded, whole and in parts, by several threads at once.
///
/// # Panics
/// If the codec breaks the contract, or does not encode chunks of that kind.
pub fn lossless(registry: &CodecRegistry, spec: &CodecSpec, chunk: &ChunkInfo) {
    let chain = bound(registry, spec, chunk);
    for data in samples(chunk) {
        let encoded = encoded(&chain, &data, spec);
        comes_back(&chain, &encoded, &data, spec);
        parts_come_back(&chain, &encoded, &data, spec);
        lengths_are_right(&chain, &encoded, &data, spec);
    }
    threads_agree(&chain, &samples(chunk), spec);
    harmless(registry, spec, chunk);
}

/// Checks a codec against the contract of those that round: all of [`harmless`], and what was decoded once is encoded
/// and decoded to the same again.
///
/// # Panics
/// If the codec breaks the contract, or does not encode chunks of that kind.
pub fn rounding(registry: &CodecRegistry, spec: &CodecSpec, chunk: &ChunkInfo) {
    let chain = bound(registry, spec, chunk);
    for data in samples(chunk) {
        let first = encoded(&chain, &data, spec);
        let rounded = decoded(&chain, &first, data.len(), spec);
        let again = encoded(&chain, &rounded, spec);
        comes_back(&chain, &again, &rounded, spec);
        parts_come_back(&chain, &first, &rounded, spec);
    }
    threads_agree(&chain, &samples(chunk), spec);
    harmless(registry, spec, chunk);
}

/// Checks a codec against the guarantees for bytes of any origin: truncated, changed, foreign, or of a chunk that is
/// larger, they decode to something or are an error; nothing panics, and memory stays in proportion to the chunk.
///
/// # Panics
/// If the codec breaks the contract, or cannot be bound to chunks of that kind.
pub fn harmless(registry: &CodecRegistry, spec: &CodecSpec, chunk: &ChunkInfo) {
    let chain = bound(registry, spec, chunk);
    let len = byte_len(chunk);
    let mut scratch = CodecScratch::default();
    for input in hostile(&chain, chunk) {
        let mut out = vec![0; len];
        _ = chain.decode_into(&input, 0, &mut out, &mut scratch);
        _ = chain.check(&input, 0, len, &mut scratch);
        let middle = len / 3..len - len / 3;
        _ = chain.decode_ranges(&input, 0, std::slice::from_ref(&middle), &mut out, &mut scratch);
        for limit in [0, len / 2, len] {
            if let Ok(decoded) = chain.decode(&input, 0, limit, &mut scratch) {
                assert!(decoded.len() <= limit, "{spec:?}: {} bytes, and {limit} are allowed", decoded.len());
            }
        }
    }
    let (more, times) = MEMORY;
    let max = more + times * len;
    assert!(scratch.byte_len() <= max, "{spec:?}: the buffers grew to {}", scratch.byte_len());
}

fn bound(registry: &CodecRegistry, spec: &CodecSpec, chunk: &ChunkInfo) -> CodecChain {
    match registry.bind(std::slice::from_ref(spec), chunk) {
        Ok(chain) => chain,
        Err(error) => fail(spec, &format!("cannot be bound to {chunk:?}: {error}")),
    }
}

#[expect(clippy::panic, reason = "a broken contract fails the test that checks it")]
fn fail<T>(spec: &CodecSpec, what: &str) -> T {
    panic!("{spec:?}: {what}")
}

/// An encoded chunk, and which codecs were skipped: optional ones may be.
#[derive(Debug, PartialEq)]
struct StoredForm {
    bytes: Vec<u8>,
    mask: u32,
}

fn encoded(chain: &CodecChain, data: &[u8], spec: &CodecSpec) -> StoredForm {
    let mut scratch = CodecScratch::default();
    let once = chain.encode(data, &mut scratch);
    assert_eq!(
        chain.encode(data, &mut scratch),
        once,
        "{spec:?}: the same chunk is encoded to the same bytes"
    );
    match once {
        Ok((bytes, mask)) => StoredForm { bytes, mask },
        Err(error) => fail(spec, &format!("does not encode {} bytes: {error}", data.len())),
    }
}

fn decoded(chain: &CodecChain, encoded: &StoredForm, len: usize, spec: &CodecSpec) -> Vec<u8> {
    let mut out = vec![0xee; len];
    match chain.decode_into(&encoded.bytes, encoded.mask, &mut out, &mut CodecScratch::default()) {
        Ok(0) => out,
        other => fail(spec, &format!("its own bytes decode to {other:?}")),
    }
}

fn comes_back(chain: &CodecChain, encoded: &StoredForm, data: &[u8], spec: &CodecSpec) {
    let mut scratch = CodecScratch::default();
    assert!(decoded(chain, encoded, data.len(), spec) == data, "{spec:?}: the chunk does not come back");
    let whole = chain.decode(&encoded.bytes, encoded.mask, data.len(), &mut scratch);
    // Some codecs do not know the length of a chunk unless it is given.
    assert!(whole.is_err() || whole.is_ok_and(|whole| whole == data), "{spec:?}: of unknown length");
    assert_eq!(
        chain.check(&encoded.bytes, encoded.mask, data.len(), &mut scratch),
        Ok(()),
        "{spec:?}: it is whole"
    );
}

fn parts_come_back(chain: &CodecChain, encoded: &StoredForm, data: &[u8], spec: &CodecSpec) {
    let (len, mut scratch) = (data.len(), CodecScratch::default());
    for part in [0..1, len / 4..len / 2, len - 1..len, 0..len] {
        let mut out = vec![0xee; len];
        let ranges = std::slice::from_ref(&part);
        assert_eq!(
            chain.decode_ranges(&encoded.bytes, encoded.mask, ranges, &mut out, &mut scratch),
            Ok(()),
            "{spec:?}: {part:?}"
        );
        assert!(out.get(part.clone()) == data.get(part.clone()), "{spec:?}: bytes {part:?} do not come back");
    }
}

/// Checks that the lengths a codec states without decoding are right.
fn lengths_are_right(chain: &CodecChain, encoded: &StoredForm, data: &[u8], spec: &CodecSpec) {
    if encoded.mask != 0 {
        return;
    }
    let encoded = encoded.bytes.as_slice();
    for codec in chain.codecs() {
        if let Some(len) = codec.encoded_len(data.len()) {
            assert_eq!(len, encoded.len(), "{spec:?}: the encoded length");
        }
        for reported in [codec.decoded_len(encoded), codec.framed_len(encoded)] {
            assert!(
                matches!(reported, Ok(None)) || reported == Ok(Some(data.len())),
                "{spec:?}: {reported:?} bytes"
            );
        }
    }
}

fn threads_agree(chain: &CodecChain, samples: &[Vec<u8>], spec: &CodecSpec) {
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let mut scratch = CodecScratch::default();
                for data in samples {
                    let here = chain.encode(data, &mut scratch);
                    let here = here.map(|(bytes, mask)| StoredForm { bytes, mask });
                    assert!(
                        here.is_ok_and(|here| here == encoded(chain, data, spec)),
                        "{spec:?}: threads agree"
                    );
                }
            });
        }
    });
}

/// Chunks of that kind: zeros, all bits set, small steps, a few values, noise. No float in them is NaN.
fn samples(chunk: &ChunkInfo) -> Vec<Vec<u8>> {
    let len = byte_len(chunk);
    let width = chunk.element.byte_len.unwrap_or(1).max(1);
    let low = |at: usize, value: usize| if at.is_multiple_of(width) { value.to_le_bytes()[0] } else { 0 };
    let mut random = 0x9e37_79b9_u32;
    let mut noise = || {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        // No float has an exponent of all ones.
        random.to_be_bytes()[0] & 0x3f
    };
    vec![
        vec![0; len],
        vec![1; len],
        (0..len).map(|at| low(at, at / width)).collect(),
        (0..len).map(|at| low(at, at / 64 % 3)).collect(),
        (0..len).map(|_| noise()).collect(),
    ]
}

/// Bytes that must not harm any codec.
fn hostile(chain: &CodecChain, chunk: &ChunkInfo) -> Vec<Vec<u8>> {
    let len = byte_len(chunk);
    let mut scratch = CodecScratch::default();
    let mut inputs = vec![Vec::new(), vec![0; len], vec![0xff; len], vec![0xff; 7], vec![0x80; 4 * len + 9]];
    inputs.extend((0..=255).map(|byte| vec![byte]));
    inputs.extend(samples(chunk));
    for data in samples(chunk).into_iter().skip(2) {
        let Ok((encoded, _)) = chain.encode(&data, &mut scratch) else { continue };
        let step = (encoded.len() / 40).max(1);
        inputs
            .extend((0..encoded.len()).step_by(step).map(|cut| encoded.iter().take(cut).copied().collect()));
        for at in (0..encoded.len()).step_by(step) {
            for flip in [0x01, 0x80, 0xff] {
                let mut changed = encoded.clone();
                changed.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= flip);
                inputs.push(changed);
            }
        }
        inputs.push([encoded.as_slice(), &encoded].concat());
    }
    // A chunk that is far larger than it should be.
    let bomb = chain.encode(&vec![0; 64 * len], &mut CodecScratch::default());
    inputs.extend(bomb.map(|(encoded, _)| encoded));
    inputs
}

fn byte_len(chunk: &ChunkInfo) -> usize {
    let elements = chunk.shape.iter().copied().fold(1, u64::saturating_mul);
    let elements = usize::try_from(elements).unwrap_or(usize::MAX);
    elements.saturating_mul(chunk.element.byte_len.unwrap_or(1)).max(1)
}

#[cfg(test)]
mod tests;
