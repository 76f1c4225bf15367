//! Streams of bits, the lowest of each byte first.
use crate::codec::copy_prefix;

/// Reads bits; behind the end there are zeros.
#[derive(Debug, Clone)]
pub(super) struct Bits<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Bits<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// The next up to 64 bits, the first one lowest.
    pub(super) fn take(&mut self, count: u32) -> u64 {
        if count > WINDOW {
            let low = self.take(32);
            return low | (self.take(count - 32) << 32);
        }
        let value = self.window() & ((1 << count) - 1);
        self.skip(count);
        value
    }

    pub(super) fn bit(&mut self) -> bool {
        let bit = self.bytes.get(self.at / 8).is_some_and(|byte| (byte >> (self.at % 8)) & 1 == 1);
        self.skip(1);
        bit
    }

    /// The number of zeros before a one, which is taken too; when there are `most` zeros, nothing behind them is taken.
    pub(super) fn zeros(&mut self, most: u32) -> u32 {
        let mut count = 0;
        while count < most {
            let zeros = self.window().trailing_zeros();
            let part = (most - count).min(WINDOW);
            if zeros < part {
                self.skip(zeros + 1);
                return count + zeros;
            }
            self.skip(part);
            count += part;
        }
        count
    }

    pub(super) fn skip(&mut self, count: u32) {
        self.at = self.at.saturating_add(usize::try_from(count).unwrap_or(usize::MAX));
    }

    /// Whether more was taken than there is.
    pub(super) fn is_over(&self) -> bool {
        self.at.div_ceil(8) > self.bytes.len()
    }

    fn window(&self) -> u64 {
        let rest = self.bytes.get(self.at / 8..).unwrap_or_default();
        let word = rest.first_chunk::<8>().map_or_else(
            || {
                let mut padded = [0; 8];
                copy_prefix(rest, &mut padded);
                u64::from_le_bytes(padded)
            },
            |bytes| u64::from_le_bytes(*bytes),
        );
        word >> (self.at % 8)
    }
}

/// Writes bits to the end of a vector.
#[derive(Debug)]
pub(super) struct BitWriter<'a> {
    out: &'a mut Vec<u8>,
    /// Bits that are not written yet, the first one lowest.
    held: u64,
    count: u32,
}

impl<'a> BitWriter<'a> {
    pub(super) fn new(out: &'a mut Vec<u8>) -> Self {
        Self { out, held: 0, count: 0 }
    }

    /// Writes the low `count` bits, up to 64.
    pub(super) fn put(&mut self, value: u64, count: u32) {
        let value = if count < 64 { value & ((1 << count) - 1) } else { value };
        self.held |= value << self.count;
        let room = 64 - self.count;
        if count < room {
            self.count += count;
            return;
        }
        self.out.extend_from_slice(&self.held.to_le_bytes());
        self.held = value.checked_shr(room).unwrap_or(0);
        self.count = count - room;
    }

    pub(super) fn put_zeros(&mut self, count: u32) {
        for _ in 0..count / 64 {
            self.put(0, 64);
        }
        self.put(0, count % 64);
    }

    /// Fills the last byte with zeros.
    pub(super) fn finish(&mut self) {
        let used = usize::try_from(self.count.div_ceil(8)).unwrap_or(0);
        self.out.extend(self.held.to_le_bytes().iter().take(used));
    }
}

/// Bits that a window has at least.
const WINDOW: u32 = 57;
