//! The coding parameters.
use super::bits::{BitWriter, ZfpBits};

/// The header of a stream.
#[derive(Debug, Clone)]
pub(super) struct ZfpHeader {
    pub(super) kind: ZfpKind,
    /// Numbers along each axis, the fastest first; 1 to 4 axes.
    pub(super) shape: Vec<usize>,
    pub(super) coding: CodingLimits,
}

/// The type of the numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum ZfpKind {
    Int32,
    Int64,
    Float32,
    Float64,
}

/// The limits within which a block is coded.
#[derive(Debug, Clone, Copy)]
pub(super) struct CodingLimits {
    /// The mode as the header states it; 4095 if all limits follow.
    pub(super) mode: u64,
    /// Minimum and maximum number of bits of a block.
    pub(super) min_bits: u32,
    pub(super) max_bits: u32,
    /// Maximum number of bit planes of a block.
    pub(super) max_planes: u32,
    /// The lowest bit plane of floats, as an exponent of two.
    pub(super) min_exponent: i32,
}

/// Three letters and a version.
const MAGIC: u64 = 0x0570_667a;
/// Bits of a length, by the number of axes.
const WIDTHS: [u32; 4] = [48, 24, 16, 12];
/// The limits of a block in zfp (`ZFP_MAX_BITS`, `ZFP_MAX_PREC`, `ZFP_MIN_EXP`), to which headers are relative.
pub(super) const MAX_BITS: u32 = 16658;
const MAX_PLANES: u32 = 64;
pub(super) const MIN_EXPONENT: i32 = -1074;

impl CodingLimits {
    /// No limits.
    pub(super) const ALL: Self =
        Self { mode: 0, min_bits: 1, max_bits: MAX_BITS, max_planes: MAX_PLANES, min_exponent: MIN_EXPONENT };

    /// 12 bits, or 64 if all of these except the last are ones.
    fn read(bits: &mut ZfpBits) -> Option<Self> {
        let small = |bits: u64| u32::try_from(bits).unwrap_or(0);
        let mode = bits.take(12);
        let coding = match mode {
            0..2048 => Self { min_bits: small(mode) + 1, max_bits: small(mode) + 1, ..Self::ALL },
            2048..2176 => Self { max_planes: small(mode) + 1 - 2048, ..Self::ALL },
            2176 => Self { min_exponent: MIN_EXPONENT - 1, ..Self::ALL },
            2177..4095 => Self { min_exponent: i32::try_from(mode).ok()? + MIN_EXPONENT - 2177, ..Self::ALL },
            _ => Self {
                mode: 0,
                min_bits: small(bits.take(15)) + 1,
                max_bits: small(bits.take(15)) + 1,
                max_planes: small(bits.take(7)) + 1,
                min_exponent: i32::try_from(bits.take(15)).ok()? - 16495,
            },
        };
        Some(Self { mode, ..coding })
    }

    /// The same limits in the form that headers have: the short one if possible.
    pub(super) fn named(self) -> Self {
        let all = Self::ALL;
        let any_bits = self.min_bits == all.min_bits && self.max_bits == all.max_bits;
        let any_exponent = self.min_exponent == all.min_exponent;
        let mode = if any_bits && self.max_planes == all.max_planes {
            u64::try_from(2177 + self.min_exponent - MIN_EXPONENT).ok().filter(|mode| *mode < 4095)
        } else if any_bits && any_exponent {
            Some(2047 + u64::from(self.max_planes))
        } else if any_exponent && self.min_bits == self.max_bits && self.max_planes == all.max_planes {
            Some(u64::from(self.max_bits) - 1).filter(|mode| *mode < 2048)
        } else {
            None
        };
        Self { mode: mode.unwrap_or(4095), ..self }
    }

    fn write(self, bits: &mut BitWriter) {
        bits.put(self.mode, 12);
        if self.mode == 4095 {
            bits.put(u64::from(self.min_bits) - 1, 15);
            bits.put(u64::from(self.max_bits) - 1, 15);
            bits.put(u64::from(self.max_planes) - 1, 7);
            bits.put(u64::from((self.min_exponent + 16495).unsigned_abs()), 15);
        }
    }

    /// Bit planes of a block of floats, from its largest exponent.
    pub(super) fn planes(self, exponent: i32, rank: usize) -> u32 {
        let margin = 2 * (i64::try_from(rank).unwrap_or(4) + 1);
        let planes = i64::from(exponent) - i64::from(self.min_exponent) + margin;
        u32::try_from(planes.max(0)).unwrap_or(u32::MAX).min(self.max_planes)
    }

    /// Whether blocks are preserved exactly.
    pub(super) fn is_reversible(self) -> bool {
        self.min_exponent < MIN_EXPONENT
    }
}

impl ZfpHeader {
    /// Reads a whole header; `None` if it is not one.
    pub(super) fn read(bits: &mut ZfpBits) -> Option<Self> {
        if bits.take(32) != MAGIC {
            return None;
        }
        let kind = match bits.take(2) {
            0 => ZfpKind::Int32,
            1 => ZfpKind::Int64,
            2 => ZfpKind::Float32,
            _ => ZfpKind::Float64,
        };
        let rank = usize::try_from(bits.take(2)).ok()? + 1;
        let width = WIDTHS.get(rank - 1)?;
        let len = |_| usize::try_from(bits.take(*width)).ok()?.checked_add(1);
        let shape: Option<Vec<usize>> = (0..rank).map(len).collect();
        let shape = shape?;
        let coding = CodingLimits::read(bits)?;
        shape.iter().try_fold(kind.size(), |len, axis| len.checked_mul(*axis))?;
        (!bits.is_over() && coding.min_bits <= coding.max_bits).then_some(Self { kind, shape, coding })
    }

    /// Writes a whole header; `None` if it cannot represent the shape. What follows begins with the next bit.
    pub(super) fn write(&self, bits: &mut BitWriter) -> Option<()> {
        bits.put(MAGIC, 32);
        bits.put(self.kind as u64, 2);
        let last = self.shape.len().checked_sub(1)?;
        let width = WIDTHS.get(last)?;
        bits.put(u64::try_from(last).ok()?, 2);
        for len in &self.shape {
            let last = u64::try_from(*len).ok()?.checked_sub(1)?;
            bits.put(last, *width);
            (last >> width == 0).then_some(())?;
        }
        self.coding.write(bits);
        Some(())
    }

    /// Decoded bytes.
    pub(super) fn len(&self) -> usize {
        self.shape.iter().product::<usize>() * self.kind.size()
    }

    /// Numbers along four axes, the fastest first.
    fn lens(&self) -> [usize; 4] {
        std::array::from_fn(|axis| self.shape.get(axis).copied().unwrap_or(1))
    }

    /// The first numbers of the blocks, in their order.
    pub(super) fn blocks(&self) -> impl Iterator<Item = [usize; 4]> {
        let lens = self.lens();
        let count: usize = lens.iter().map(|len| len.div_ceil(4)).product();
        let mut next = [0; 4];
        (0..count).map(move |_| {
            let origin = next;
            for (place, len) in next.iter_mut().zip(lens) {
                *place += 4;
                if *place < len {
                    break;
                }
                *place = 0;
            }
            origin
        })
    }

    /// How many numbers of a block are inside the array, along each axis.
    #[inline]
    pub(super) fn inside(&self, origin: &[usize; 4]) -> [usize; 4] {
        let lens = self.lens();
        std::array::from_fn(|axis| (lens[axis] - origin[axis]).min(4))
    }

    /// Passes on the rows of a block that have numbers in the array: index of the row, its offset in the array, and how
    /// many numbers it has there.
    #[inline]
    pub(super) fn rows(&self, origin: &[usize; 4], mut visit: impl FnMut(usize, usize, usize)) {
        let [len_x, len_y, len_z, _] = self.lens();
        let [start_x, start_y, start_z, start_w] = *origin;
        let [count, y, z, w] = self.inside(origin);
        for w in 0..w {
            for z in 0..z {
                for y in 0..y {
                    let plane = (start_w + w) * len_z + start_z + z;
                    let start = (plane * len_y + start_y + y) * len_x + start_x;
                    visit((w * 4 + z) * 4 + y, start, count);
                }
            }
        }
    }
}

impl ZfpKind {
    /// Minimum number of bits of a block if all have the same number: room for an exponent.
    pub(super) fn min_rate_bits(self) -> u32 {
        match self {
            Self::Int32 | Self::Int64 => 1,
            Self::Float32 => 1 + 8,
            Self::Float64 => 1 + 11,
        }
    }

    fn size(self) -> usize {
        match self {
            Self::Int32 | Self::Float32 => 4,
            Self::Int64 | Self::Float64 => 8,
        }
    }
}
