//! Coding of scanlines, each block with the option that takes the fewest bits.
use super::{SampleBlock, Szip};
use crate::bits::BitWriter;

impl Szip {
    /// Maximum number of encoded bytes of a chunk of `len` bytes, including its length field.
    pub(super) fn max_encoded(&self, len: usize) -> usize {
        let samples = len / self.samples.bytes;
        // The last scanline ends after any block. Where there is a whole one, it is no longer than the samples.
        let (lines, rest) = (samples / self.scanline, samples % self.scanline);
        let padded =
            lines.saturating_mul(self.padded_scanline()).saturating_add(rest.next_multiple_of(self.block));
        // An uncompressed block takes a few more bits than its samples.
        padded.saturating_mul(self.samples.bytes).saturating_add(padded / self.block).saturating_add(64)
    }

    fn padded_scanline(&self) -> usize {
        self.scanline.checked_next_multiple_of(self.block).unwrap_or(usize::MAX)
    }
}

/// Writes the stream to `out`, which has room for the maximum; returns its number of bytes. Compiled for the baseline only: with
/// more instructions, compilers make vectors of the few samples of a block, which takes longer.
pub(super) fn encode(codec: &Szip, input: &[u8], out: &mut [u8]) -> usize {
    let SampleBlock { bytes, bits, differences, .. } = codec.samples;
    let mut writer = BitWriter::new(out);
    let (mut line, mut codes) = (Vec::new(), Vec::new());
    for input in input.chunks(codec.scanline.saturating_mul(bytes)) {
        line.clear();
        load(codec.samples, input, &mut line);
        // Scanlines that are not a multiple of the block are padded; the last one may end after any block.
        let end = line.len().next_multiple_of(codec.block);
        line.resize(end, line.last().copied().unwrap_or(0));
        if differences {
            codes.resize(end, 0);
            to_differences(&line, u32::MAX >> (32 - bits), &mut codes);
            encode_line(codec, &codes, &mut writer);
        } else {
            encode_line(codec, &line, &mut writer);
        }
    }
    writer.finish()
}

/// Appends the samples of some bytes; bits that samples do not have are left out.
#[inline(always)]
fn load(samples: SampleBlock, input: &[u8], line: &mut Vec<u32>) {
    let max = u32::MAX >> (32 - samples.bits);
    match (samples.bytes, samples.big_endian) {
        (1, _) => line.extend(input.iter().map(|byte| u32::from(*byte) & max)),
        (2, false) => load_words(input, line, |word| u32::from(u16::from_le_bytes(word)) & max),
        (2, true) => load_words(input, line, |word| u32::from(u16::from_be_bytes(word)) & max),
        (_, false) => load_words(input, line, |word| u32::from_le_bytes(word) & max),
        (_, true) => load_words(input, line, |word| u32::from_be_bytes(word) & max),
    }
}

#[inline(always)]
fn load_words<const N: usize>(input: &[u8], line: &mut Vec<u32>, load: impl Fn([u8; N]) -> u32) {
    line.extend(input.as_chunks().0.iter().map(|word| load(*word)));
}

/// Every sample except the first as the code that the decoder reverses.
#[inline(always)]
pub(super) fn to_differences(line: &[u32], max: u32, codes: &mut [u32]) {
    let Some((first, rest)) = line.split_first() else { return };
    let Some((reference, codes)) = codes.split_first_mut() else { return };
    *reference = *first;
    for ((code, this), last) in codes.iter_mut().zip(rest).zip(line) {
        let room = (*last).min(max - *last);
        let distance = this.abs_diff(*last);
        let near = (2 * distance).wrapping_sub(u32::from(this < last));
        *code = if distance <= room { near } else { room + distance };
    }
}

#[inline(always)]
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

/// A run of blocks of zeros; `ends`: up to the end of the segment, which has its own code.
fn zeros(codec: &Szip, reference: Option<u32>, run: usize, ends: bool, bits: &mut BitWriter) {
    bits.put(0, codec.samples.option_bits() + 1);
    put_reference(codec, reference, bits);
    let run = u32::try_from(run).unwrap_or(1);
    bits.put_zeros(match run {
        1..=4 => run - 1,
        _ if ends => 4,
        _ => run,
    });
}

#[inline(always)]
fn encode_block(codec: &Szip, reference: Option<u32>, block: &[u32], bits: &mut BitWriter) {
    let id_bits = codec.samples.option_bits();
    let coded = block.get(usize::from(reference.is_some())..).unwrap_or_default();
    let max = (1 << id_bits) - 3;
    let (k, cost) = best_split(coded, max.min(codec.samples.bits));
    let plain = coded.len() as u64 * u64::from(codec.samples.bits);
    // For larger samples, pairs always take more bits than a split.
    if k == 0 && pairs_cost(reference.is_some(), coded) <= cost.min(plain) {
        bits.put(1, id_bits + 1);
        put_reference(codec, reference, bits);
        pairs(reference.is_some(), coded).for_each(|number| bits.put_zeros(number));
    } else if cost >= plain {
        bits.put((1 << id_bits) - 1, id_bits);
        block.iter().for_each(|sample| bits.put(u64::from(*sample), codec.samples.bits));
    } else {
        bits.put(u64::from(k) + 1, id_bits);
        put_reference(codec, reference, bits);
        put_split(coded, k, bits);
    }
}

fn put_reference(codec: &Szip, reference: Option<u32>, bits: &mut BitWriter) {
    if let Some(reference) = reference {
        bits.put(u64::from(reference), codec.samples.bits);
    }
}

/// The high parts as runs of zeros, then the low `k` bits.
#[inline(always)]
fn put_split(coded: &[u32], k: u32, bits: &mut BitWriter) {
    let (groups, rest) = coded.as_chunks::<4>();
    for samples in groups {
        let high = samples.map(|sample| sample >> k);
        // Samples have at most 24 bits.
        let count = 4 + high.iter().sum::<u32>();
        if count <= BitWriter::MOST {
            bits.put(high.iter().fold(0, |word, high| (word << (high + 1)) | 1), count);
        } else {
            high.iter().for_each(|high| bits.put_zeros(*high));
        }
    }
    rest.iter().for_each(|sample| bits.put_zeros(sample >> k));
    match k {
        0 => {}
        1..=14 => put_low::<4>(coded, k, bits),
        15..=28 => put_low::<2>(coded, k, bits),
        _ => put_low::<1>(coded, k, bits),
    }
}

/// The low `k` bits, of `N` samples at a time.
#[inline(always)]
fn put_low<const N: usize>(coded: &[u32], k: u32, bits: &mut BitWriter) {
    let mask = (1 << k) - 1;
    let (groups, rest) = coded.as_chunks::<N>();
    let total = k * u32::try_from(N).unwrap_or(1);
    for samples in groups {
        bits.put(samples.iter().fold(0, |word, sample| (word << k) | u64::from(sample & mask)), total);
    }
    rest.iter().for_each(|sample| bits.put(u64::from(sample & mask), k));
}

/// The number of low bits, up to `max`, for which a block takes the fewest bits, and that number of bits.
#[inline(always)]
fn best_split(samples: &[u32], max: u32) -> (u32, u64) {
    // Samples have at most 24 bits, and blocks at most 32 samples.
    let cost = |k: u32| u64::from(high_sum(samples, k)) + samples.len() as u64 * u64::from(k + 1);
    // The cost has one minimum, near the logarithm of the mean.
    let mean = high_sum(samples, 0).checked_div(u32::try_from(samples.len()).unwrap_or(1)).unwrap_or(0);
    let near = mean.checked_ilog2().unwrap_or(0).min(max);
    let costs = (near.saturating_sub(1)..=(near + 1).min(max)).map(|k| (k, cost(k)));
    costs.min_by_key(|(_, cost)| *cost).unwrap_or((0, u64::MAX))
}

/// The sum of the high parts, eight at a time: compilers would leave so few samples to a loop over single ones.
#[inline(always)]
fn high_sum(samples: &[u32], k: u32) -> u32 {
    let (groups, rest) = samples.as_chunks::<8>();
    let mut sums = [0; 8];
    for group in groups {
        for (sum, sample) in sums.iter_mut().zip(group) {
            *sum += sample >> k;
        }
    }
    sums.iter().sum::<u32>() + rest.iter().map(|sample| sample >> k).sum::<u32>()
}

/// Bits of the second extension, including the one that names it.
#[inline(always)]
fn pairs_cost(has_reference: bool, coded: &[u32]) -> u64 {
    1 + pairs(has_reference, coded).map(|number| u64::from(number) + 1).sum::<u64>()
}

/// The numbers of the pairs. Before the first sample of a block with a reference, which has no partner, there is a zero.
#[inline(always)]
fn pairs(has_reference: bool, coded: &[u32]) -> impl Iterator<Item = u32> {
    let number = |first: u32, second: u32| {
        let sum = first.saturating_add(second).min(1 << 15);
        sum * (sum + 1) / 2 + second.min(1 << 24)
    };
    let (single, pairs) = coded.split_at(usize::from(has_reference).min(coded.len()));
    let singles = single.iter().map(move |second| number(0, *second));
    singles.chain(pairs.as_chunks::<2>().0.iter().map(move |[first, second]| number(*first, *second)))
}
