//! Streams of bits, the lowest of each byte first.
use crate::codec::copy_prefix;

/// Reads bits; after the end there are zeros.
#[derive(Debug, Clone)]
pub(super) struct ZfpBits<'a> {
    bytes: &'a [u8],
    at: usize,
    /// The bits from `at` on, the next one lowest, and how many of them are from the stream.
    window: u64,
    count: u32,
}

impl<'a> ZfpBits<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0, window: 0, count: 0 }
    }

    /// The next up to 64 bits, the first one lowest.
    #[inline]
    pub(super) fn take(&mut self, count: u32) -> u64 {
        if count > WINDOW {
            let low = self.take(32);
            return low | (self.take(count - 32) << 32);
        }
        self.need(count);
        let value = self.window & ((1 << count) - 1);
        self.drop(count);
        value
    }

    #[inline]
    pub(super) fn bit(&mut self) -> bool {
        self.need(1);
        let bit = self.window & 1 == 1;
        self.drop(1);
        bit
    }

    /// The number of zeros before a one, which is consumed too; after `max` zeros nothing more is consumed.
    #[inline]
    pub(super) fn zeros(&mut self, max: u32) -> u32 {
        let mut count = 0;
        while count < max {
            self.need(1);
            let zeros = self.window.trailing_zeros();
            let part = (max - count).min(self.count);
            if zeros < part {
                self.drop(zeros + 1);
                return count + zeros;
            }
            self.drop(part);
            count += part;
        }
        count
    }

    /// The next bits, at least `count` of them (up to 57), which are not consumed.
    #[inline]
    pub(super) fn peek(&mut self, count: u32) -> u64 {
        self.need(count);
        self.window
    }

    /// Consumes bits that were just looked at.
    #[inline]
    pub(super) fn consume(&mut self, count: u32) {
        self.drop(count);
    }

    pub(super) fn skip(&mut self, count: u32) {
        self.at = self.at.saturating_add(usize::try_from(count).unwrap_or(usize::MAX));
        self.count = 0;
    }

    /// Whether more bits were consumed than there are.
    pub(super) fn is_over(&self) -> bool {
        self.at.div_ceil(8) > self.bytes.len()
    }

    /// Consumes bits of the window.
    #[inline]
    fn drop(&mut self, count: u32) {
        self.window = self.window.checked_shr(count).unwrap_or(0);
        self.count -= count;
        self.at += count as usize;
    }

    /// Fills the window, unless it has enough bits.
    #[inline]
    fn need(&mut self, count: u32) {
        if self.count >= count {
            return;
        }
        let rest = self.bytes.get(self.at / 8..).unwrap_or_default();
        let word = rest.first_chunk::<8>().map_or_else(
            || {
                let mut padded = [0; 8];
                copy_prefix(rest, &mut padded);
                u64::from_le_bytes(padded)
            },
            |bytes| u64::from_le_bytes(*bytes),
        );
        self.window = word >> (self.at % 8);
        self.count = WINDOW;
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
    #[inline]
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

/// Minimum number of bits in a window.
const WINDOW: u32 = 57;
