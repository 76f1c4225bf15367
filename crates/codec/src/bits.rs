//! Streams of bits, the highest of each byte first.
use crate::codec::copy_prefix;

/// Reads bits; after the end there are zeros.
#[derive(Debug)]
pub(crate) struct BitReader<'a> {
    bytes: &'a [u8],
    at: usize,
    /// The bits from `at` on, the next one highest, and how many of them were loaded.
    window: u64,
    count: u32,
}

impl<'a> BitReader<'a> {
    /// Maximum number of bits of one look at the stream.
    pub(crate) const MOST: u32 = WINDOW;

    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0, window: 0, count: 0 }
    }

    /// The next up to 32 bits.
    #[inline(always)]
    pub(crate) fn take(&mut self, count: u32) -> u32 {
        u32::try_from(self.take_long(count)).unwrap_or(0)
    }

    /// The next up to 64 bits.
    #[inline(always)]
    pub(crate) fn take_long(&mut self, count: u32) -> u64 {
        if count > WINDOW {
            let high = self.take_long(count - 32);
            return (high << 32) | self.take_long(32);
        }
        if self.count < count {
            self.look_up();
        }
        // In two steps: a shift by 64 is not possible.
        let value = self.window >> 1 >> (63 - count);
        self.drop(count);
        value
    }

    /// The number of zeros before the next one bit, which is consumed too; the number of remaining bits if there is
    /// none.
    #[inline(always)]
    pub(crate) fn zeros(&mut self) -> u32 {
        let mut count = 0u32;
        loop {
            let zeros = self.window.leading_zeros();
            if zeros < self.count {
                self.drop(zeros + 1);
                return count.saturating_add(zeros);
            }
            count = count.saturating_add(self.count);
            self.drop(self.count);
            if self.is_over() {
                return count;
            }
            self.look_up();
        }
    }

    /// Whether more bits were consumed than there are.
    pub(crate) fn is_over(&self) -> bool {
        self.at > self.bytes.len().saturating_mul(8)
    }

    /// Number of remaining bits.
    pub(crate) fn left(&self) -> usize {
        self.bytes.len().saturating_mul(8).saturating_sub(self.at)
    }

    /// Fills the window, with zeros after the end of the stream.
    #[inline]
    fn look_up(&mut self) {
        let rest = self.bytes.get(self.at / 8..).unwrap_or_default();
        let word = rest.first_chunk::<8>().map_or_else(
            || {
                let mut padded = [0; 8];
                copy_prefix(rest, &mut padded);
                u64::from_be_bytes(padded)
            },
            |bytes| u64::from_be_bytes(*bytes),
        );
        self.window = word << (self.at % 8);
        self.count = WINDOW;
    }

    /// Consumes bits of the window.
    #[inline(always)]
    fn drop(&mut self, count: u32) {
        self.window = self.window.wrapping_shl(count);
        self.count -= count;
        self.at += count as usize;
    }
}

/// Bits that are loaded at once: all of a word except those of a partial byte.
const WINDOW: u32 = 57;

/// Writes bits; those that do not fit are discarded, but counted.
#[derive(Debug)]
pub(crate) struct BitWriter<'a> {
    out: &'a mut [u8],
    at: usize,
    /// Bits that are not written yet, fewer than 8, the last one lowest; above them are written ones.
    held: u64,
    count: u32,
}

impl<'a> BitWriter<'a> {
    /// Maximum number of bits that are written at once.
    pub(crate) const MOST: u32 = 56;

    pub(crate) fn new(out: &'a mut [u8]) -> Self {
        Self { out, at: 0, held: 0, count: 0 }
    }

    /// Writes the low `count` bits, up to 64.
    #[inline(always)]
    pub(crate) fn put(&mut self, value: u64, count: u32) {
        if count > Self::MOST {
            self.put_short(value >> 32, count - 32);
            self.put_short(value, 32);
        } else {
            self.put_short(value, count);
        }
    }

    /// Writes all whole bytes, which takes no branch that depends on how many there are.
    #[inline(always)]
    fn put_short(&mut self, value: u64, count: u32) {
        self.held = (self.held << count) | (value & ((1 << count) - 1));
        self.count += count;
        // In two steps: a shift by 64 is not possible.
        let bytes = (self.held << 1 << (63 - self.count)).to_be_bytes();
        let whole = (self.count / 8) as usize;
        self.count %= 8;
        if let Some(out) = self.out.get_mut(self.at..).and_then(|rest| rest.first_chunk_mut()) {
            *out = bytes;
            self.at += whole;
        } else {
            self.write(bytes.get(..whole).unwrap_or_default());
        }
    }

    /// Writes that many zeros and a one.
    #[inline(always)]
    pub(crate) fn put_zeros(&mut self, count: u32) {
        for _ in 0..count / 32 {
            self.put_short(0, 32);
        }
        self.put_short(1, count % 32 + 1);
    }

    /// Fills the last byte with zeros; returns the number of bytes.
    pub(crate) fn finish(mut self) -> usize {
        let last = (self.held << (64 - self.count).min(63)).to_be_bytes();
        let used = usize::try_from(self.count.div_ceil(8)).unwrap_or(0);
        if self.count > 0 {
            self.write(last.get(..used).unwrap_or_default());
        }
        self.at
    }

    fn write(&mut self, bytes: &[u8]) {
        copy_prefix(bytes, self.out.get_mut(self.at..).unwrap_or_default());
        self.at = self.at.saturating_add(bytes.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_written_is_read(numbers in proptest::collection::vec((any::<u64>(), 1u32..=64, 0u32..100), 0..50)) {
            let mut out = vec![0; 50 * 22];
            let mut writer = BitWriter::new(&mut out);
            for (value, count, zeros) in &numbers {
                writer.put(*value, *count);
                writer.put_zeros(*zeros);
            }
            let len = writer.finish();
            let mut bits = BitReader::new(&out[..len]);
            for (value, count, zeros) in &numbers {
                prop_assert_eq!(bits.take_long(*count), value & (u64::MAX >> (64 - count)));
                prop_assert_eq!(bits.zeros(), *zeros);
            }
            prop_assert!(bits.left() < 8 && !bits.is_over());
            bits.take(8);
            prop_assert!(bits.is_over());
        }
    }
}
