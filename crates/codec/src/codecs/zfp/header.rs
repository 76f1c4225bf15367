//! What is coded, and how.
use super::bits::Bits;

/// The header of a stream.
#[derive(Debug, Clone)]
pub(super) struct Header {
    pub(super) kind: Kind,
    /// Numbers along each axis, the fastest first; 1 to 4 axes.
    pub(super) shape: Vec<usize>,
    pub(super) coding: Coding,
}

/// The type of the numbers.
#[derive(Debug, Clone, Copy)]
pub(super) enum Kind {
    Int32,
    Int64,
    Float32,
    Float64,
}

/// The limits within which a block is coded.
#[derive(Debug, Clone, Copy)]
pub(super) struct Coding {
    /// Bits of a block, at least and at most.
    pub(super) least_bits: u32,
    pub(super) most_bits: u32,
    /// Bit planes of a block at most.
    pub(super) most_planes: u32,
    /// The lowest bit plane of floats, as an exponent of two.
    pub(super) least_exponent: i32,
}

const MOST_BITS: u32 = 16658;
const MOST_PLANES: u32 = 64;
const LEAST_EXPONENT: i32 = -1074;

impl Coding {
    const ALL: Self = Self {
        least_bits: 1,
        most_bits: MOST_BITS,
        most_planes: MOST_PLANES,
        least_exponent: LEAST_EXPONENT,
    };

    /// 12 bits, or 64 when all of these are ones but for the last.
    fn read(bits: &mut Bits) -> Option<Self> {
        let small = |bits: u64| u32::try_from(bits).unwrap_or(0);
        let mode = bits.take(12);
        Some(match mode {
            0..2048 => Self { least_bits: small(mode) + 1, most_bits: small(mode) + 1, ..Self::ALL },
            2048..2176 => Self { most_planes: small(mode) + 1 - 2048, ..Self::ALL },
            2176 => Self { least_exponent: LEAST_EXPONENT - 1, ..Self::ALL },
            2177..4095 => {
                Self { least_exponent: i32::try_from(mode).ok()? + LEAST_EXPONENT - 2177, ..Self::ALL }
            }
            _ => Self {
                least_bits: small(bits.take(15)) + 1,
                most_bits: small(bits.take(15)) + 1,
                most_planes: small(bits.take(7)) + 1,
                least_exponent: i32::try_from(bits.take(15)).ok()? - 16495,
            },
        })
    }

    /// Bit planes that a block of floats has, by its largest exponent.
    pub(super) fn planes(self, exponent: i32, rank: usize) -> u32 {
        let margin = 2 * (i64::try_from(rank).unwrap_or(4) + 1);
        let planes = i64::from(exponent) - i64::from(self.least_exponent) + margin;
        u32::try_from(planes.max(0)).unwrap_or(u32::MAX).min(self.most_planes)
    }

    /// Whether blocks come back exactly.
    pub(super) fn is_reversible(self) -> bool {
        self.least_exponent < LEAST_EXPONENT
    }
}

impl Header {
    /// Reads a whole header; `None` when it is not one.
    pub(super) fn read(bits: &mut Bits) -> Option<Self> {
        if bits.take(24) != 0x70_66_7a || bits.take(8) != 5 {
            return None;
        }
        let kind = match bits.take(2) {
            0 => Kind::Int32,
            1 => Kind::Int64,
            2 => Kind::Float32,
            _ => Kind::Float64,
        };
        let (rank, width) = [(1, 48), (2, 24), (3, 16), (4, 12)].get(usize::try_from(bits.take(2)).ok()?)?;
        let len = |_| usize::try_from(bits.take(*width)).ok()?.checked_add(1);
        let shape: Option<Vec<usize>> = (0..*rank).map(len).collect();
        let shape = shape?;
        let coding = Coding::read(bits)?;
        shape.iter().try_fold(kind.size(), |len, axis| len.checked_mul(*axis))?;
        (!bits.is_over() && coding.least_bits <= coding.most_bits).then_some(Self { kind, shape, coding })
    }

    /// Decoded bytes.
    pub(super) fn len(&self) -> usize {
        self.shape.iter().product::<usize>() * self.kind.size()
    }

    /// The first numbers of the blocks, in their order.
    pub(super) fn blocks(&self) -> impl Iterator<Item = Vec<usize>> {
        let counts: Vec<usize> = self.shape.iter().map(|len| len.div_ceil(4)).collect();
        (0..counts.iter().product()).map(move |mut number: usize| {
            let place = |count: &usize| {
                let place = number % count * 4;
                number /= count;
                place
            };
            counts.iter().map(place).collect()
        })
    }

    /// Numbers of a block that are in the array, along each axis.
    pub(super) fn inside(&self, origin: &[usize]) -> Vec<usize> {
        self.shape.iter().zip(origin).map(|(len, start)| (len - start).min(4)).collect()
    }

    /// Hands over the rows of a block that have numbers in the array: which row, where it begins in the array, how many
    /// numbers it has there.
    pub(super) fn rows(&self, origin: &[usize], mut visit: impl FnMut(usize, usize, usize)) {
        let left = |axis: usize| {
            let (len, start) =
                (self.shape.get(axis).copied().unwrap_or(1), origin.get(axis).copied().unwrap_or(0));
            (len, start, (len - start).min(4))
        };
        let [(len_x, start_x, count), (len_y, start_y, y), (len_z, start_z, z), (_, start_w, w)] =
            [left(0), left(1), left(2), left(3)];
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

impl Kind {
    fn size(self) -> usize {
        match self {
            Self::Int32 | Self::Float32 => 4,
            Self::Int64 | Self::Float64 => 8,
        }
    }
}
