//! Streams of bits, the highest of each byte first.
use crate::codec::copy_prefix;

/// Reads bits.
#[derive(Debug)]
pub(crate) struct Bits<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Bits<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// The next up to 32 bits.
    pub(crate) fn take(&mut self, count: u32) -> Option<u32> {
        let value = self.window().checked_shr(64 - count).unwrap_or(0);
        self.skip(count)?;
        u32::try_from(value).ok()
    }

    /// The next up to 64 bits.
    pub(crate) fn take_long(&mut self, count: u32) -> Option<u64> {
        if count <= WINDOW {
            let value = self.window().checked_shr(64 - count).unwrap_or(0);
            self.skip(count)?;
            return Some(value);
        }
        let high = self.take_long(count.checked_sub(32)?)?;
        Some((high << 32) | u64::from(self.take(32)?))
    }

    /// The number of zeros before the next one, which is taken too.
    pub(crate) fn zeros(&mut self) -> Option<u32> {
        let mut count = 0u32;
        loop {
            let window = self.window();
            if window != 0 {
                let zeros = window.leading_zeros();
                self.skip(zeros + 1)?;
                return count.checked_add(zeros);
            }
            self.skip(WINDOW)?;
            count = count.checked_add(WINDOW)?;
        }
    }

    /// Bits that are left.
    pub(crate) fn left(&self) -> usize {
        self.bytes.len().saturating_mul(8).saturating_sub(self.at)
    }

    /// The bits from here on, the next one highest, with zeros behind the end of the stream.
    fn window(&self) -> u64 {
        let rest = self.bytes.get(self.at / 8..).unwrap_or_default();
        let word = rest.first_chunk::<8>().map_or_else(
            || {
                let mut padded = [0; 8];
                copy_prefix(rest, &mut padded);
                u64::from_be_bytes(padded)
            },
            |bytes| u64::from_be_bytes(*bytes),
        );
        word << (self.at % 8)
    }

    fn skip(&mut self, count: u32) -> Option<()> {
        self.at = self.at.checked_add(usize::try_from(count).ok()?)?;
        (self.at <= self.bytes.len().saturating_mul(8)).then_some(())
    }
}

/// Bits that a window has at least.
const WINDOW: u32 = 57;

/// Writes bits; what does not fit is lost, but counted.
#[derive(Debug)]
pub(crate) struct BitWriter<'a> {
    out: &'a mut [u8],
    at: usize,
    /// Bits that are not written yet, fewer than 32, the last one lowest.
    held: u64,
    count: u32,
}

impl<'a> BitWriter<'a> {
    pub(crate) fn new(out: &'a mut [u8]) -> Self {
        Self { out, at: 0, held: 0, count: 0 }
    }

    /// Writes the low `count` bits, up to 64.
    pub(crate) fn put(&mut self, value: u64, count: u32) {
        if count > 32 {
            self.put_short(value >> 32, count - 32);
            self.put_short(value, 32);
        } else {
            self.put_short(value, count);
        }
    }

    fn put_short(&mut self, value: u64, count: u32) {
        self.held = (self.held << count) | (value & ((1 << count) - 1));
        self.count += count;
        if self.count >= 32 {
            self.count -= 32;
            let [.., a, b, c, d] = (self.held >> self.count).to_be_bytes();
            self.write(&[a, b, c, d]);
        }
    }

    /// Writes that many zeros and a one.
    pub(crate) fn put_zeros(&mut self, count: u32) {
        for _ in 0..count / 32 {
            self.put_short(0, 32);
        }
        self.put(1, count % 32 + 1);
    }

    /// Fills the last byte with zeros; returns how many bytes there are.
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
            let mut bits = Bits::new(&out[..len]);
            for (value, count, zeros) in &numbers {
                prop_assert_eq!(bits.take_long(*count), Some(value & (u64::MAX >> (64 - count))));
                prop_assert_eq!(bits.zeros(), Some(*zeros));
            }
            prop_assert!(bits.left() < 8);
        }
    }
}
