//! Coding of scanlines, each block with the option that takes the fewest bits.
use super::{SampleBlock, Szip};
use crate::bits::BitWriter;

impl Szip {
    /// Maximum number of encoded bytes of a chunk of `len` bytes, including its length field.
    pub(super) fn max_encoded(&self, len: usize) -> usize {
        let samples = len / self.samples.bytes;
        let padded = samples.div_ceil(self.scanline).saturating_mul(self.padded_scanline());
        // An uncompressed block takes a few more bits than its samples.
        padded.saturating_mul(self.samples.bytes).saturating_add(padded / self.block).saturating_add(64)
    }

    fn padded_scanline(&self) -> usize {
        self.scanline.next_multiple_of(self.block)
    }
}

/// Writes the stream to `out`, which has room for the maximum; returns its number of bytes.
pub(super) fn encode(codec: &Szip, input: &[u8], out: &mut [u8]) -> usize {
    let SampleBlock { bytes, .. } = codec.samples;
    let mut bits = BitWriter::new(out);
    let mut line: Vec<u32> = Vec::new();
    for input in input.chunks(codec.scanline.saturating_mul(bytes)) {
        line.clear();
        line.extend(input.chunks_exact(bytes).map(|sample| load(sample, codec.samples.big_endian)));
        // Scanlines that are not a multiple of the block are padded; the last one may end after any block.
        let end = line.len().next_multiple_of(codec.block);
        line.resize(end, line.last().copied().unwrap_or(0));
        if codec.samples.differences {
            to_differences(&mut line, codec.samples.bits);
        }
        encode_line(codec, &line, &mut bits);
    }
    bits.finish()
}

fn load(sample: &[u8], big_endian: bool) -> u32 {
    let push = |word: u32, byte: &u8| (word << 8) | u32::from(*byte);
    if big_endian { sample.iter().fold(0, push) } else { sample.iter().rev().fold(0, push) }
}

/// Every sample except the first becomes the code that the decoder reverses.
fn to_differences(line: &mut [u32], bits: u32) {
    let max = u32::MAX >> (32 - bits);
    let mut last = line.first().copied().unwrap_or(0);
    for sample in line.iter_mut().skip(1) {
        let this = *sample;
        let room = last.min(max - last);
        let distance = this.abs_diff(last);
        *sample = match (distance <= room, this >= last) {
            (true, true) => 2 * distance,
            (true, false) => 2 * distance - 1,
            (false, _) => room + distance,
        };
        last = this;
    }
}

fn encode_line(codec: &Szip, line: &[u32], bits: &mut BitWriter) {
    let blocks = line.len() / codec.block;
    let all = codec.scanline.div_ceil(codec.block);
    let mut number = 0;
    while number < blocks {
        let is_zero = |number: usize| {
            let reference = usize::from(codec.samples.differences && number == 0);
            let block = line.get(number * codec.block + reference..(number + 1) * codec.block);
            block.is_some_and(|block| block.iter().all(|sample| *sample == 0))
        };
        let segment = (number - number % 64 + 64).min(all);
        let run = (number..segment.min(blocks)).take_while(|number| is_zero(*number)).count();
        let block = line.get(number * codec.block..(number + 1) * codec.block).unwrap_or_default();
        let reference = block.first().filter(|_| codec.samples.differences && number == 0);
        if run > 0 {
            zeros(codec, reference.copied(), run, number + run == segment, bits);
            number += run;
        } else {
            encode_block(codec, reference.copied(), block, bits);
            number += 1;
        }
    }
}

fn option_bits(codec: &Szip) -> u32 {
    match codec.samples.bits {
        0..=8 => 3,
        9..=16 => 4,
        _ => 5,
    }
}

/// A run of blocks of zeros; `ends`: up to the end of the segment, which has its own code.
fn zeros(codec: &Szip, reference: Option<u32>, run: usize, ends: bool, bits: &mut BitWriter) {
    bits.put(0, option_bits(codec) + 1);
    if let Some(reference) = reference {
        bits.put(u64::from(reference), codec.samples.bits);
    }
    let run = u32::try_from(run).unwrap_or(1);
    bits.put_zeros(match run {
        1..=4 => run - 1,
        _ if ends => 4,
        _ => run,
    });
}

fn encode_block(codec: &Szip, reference: Option<u32>, block: &[u32], bits: &mut BitWriter) {
    let id_bits = option_bits(codec);
    let coded = block.get(usize::from(reference.is_some())..).unwrap_or_default();
    let max = (1 << id_bits) - 3;
    let (k, cost) = best_split(coded, max.min(codec.samples.bits));
    if cost >= coded.len() as u64 * u64::from(codec.samples.bits) {
        bits.put((1 << id_bits) - 1, id_bits);
        block.iter().for_each(|sample| bits.put(u64::from(*sample), codec.samples.bits));
        return;
    }
    bits.put(u64::from(k) + 1, id_bits);
    if let Some(reference) = reference {
        bits.put(u64::from(reference), codec.samples.bits);
    }
    coded.iter().for_each(|sample| bits.put_zeros(sample >> k));
    coded.iter().for_each(|sample| bits.put(u64::from(*sample), k));
}

/// The number of low bits, up to `max`, for which a block takes the fewest bits, and that number of bits.
fn best_split(samples: &[u32], max: u32) -> (u32, u64) {
    // Samples have at most 24 bits, and blocks at most 32 samples.
    let cost = |k: u32| {
        let high: u32 = samples.iter().map(|sample| sample >> k).sum();
        u64::from(high) + samples.len() as u64 * u64::from(k + 1)
    };
    // The cost has one minimum, near the logarithm of the mean.
    let sum = samples.iter().sum::<u32>();
    let mean = sum.checked_div(u32::try_from(samples.len()).unwrap_or(1)).unwrap_or(0);
    let near = mean.checked_ilog2().unwrap_or(0).min(max);
    let costs = (near.saturating_sub(1)..=(near + 1).min(max)).map(|k| (k, cost(k)));
    costs.min_by_key(|(_, cost)| *cost).unwrap_or((0, u64::MAX))
}
