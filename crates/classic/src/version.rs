//! The three variants of the format and their limits.
use ncirrus_model::{Atomic, Format};

/// A variant of the format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FormatVersion {
    /// CDF-1: offsets of 32 bits (`nc3`, "classic").
    Classic,
    /// CDF-2: offsets of 64 bits (`nc6`, "64-bit offset").
    Offset64,
    /// CDF-5: offsets, sizes and counts of 64 bits, and five more types (`nc5`, "64-bit data").
    Data64,
}

impl FormatVersion {
    /// All variants.
    pub const ALL: [Self; 3] = [Self::Classic, Self::Offset64, Self::Data64];

    /// The variant with that version byte, the fourth of the file.
    pub fn from_byte(byte: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|version| version.byte() == byte)
    }

    /// The fourth byte of the file.
    pub fn byte(self) -> u8 {
        match self {
            Self::Classic => 1,
            Self::Offset64 => 2,
            Self::Data64 => 5,
        }
    }

    /// The variant among the formats of netCDF.
    pub fn format(self) -> Format {
        match self {
            Self::Classic => Format::Classic,
            Self::Offset64 => Format::Offset64,
            Self::Data64 => Format::Data64,
        }
    }

    /// The name in the specification.
    pub fn name(self) -> &'static str {
        match self {
            Self::Classic => "CDF-1",
            Self::Offset64 => "CDF-2",
            Self::Data64 => "CDF-5",
        }
    }

    /// Whether the variant has the type.
    pub fn holds(self, atomic: Atomic) -> bool {
        self.format().holds(atomic)
    }

    /// Bytes of a count, length or dimension number in the header.
    pub(crate) fn count_width(self) -> u64 {
        if self == Self::Data64 { 8 } else { 4 }
    }

    /// Bytes of an offset in the header.
    pub(crate) fn offset_width(self) -> u64 {
        if self == Self::Classic { 4 } else { 8 }
    }

    /// The number that means "determined by the size of the file".
    pub(crate) fn streaming(self) -> u64 {
        if self == Self::Data64 { u64::MAX } else { u64::from(u32::MAX) }
    }

    /// Maximum length of a fixed dimension, and maximum size in bytes of a variable (of one record of it) that
    /// another one follows.
    pub(crate) fn max_size(self) -> u64 {
        match self {
            Self::Classic => I32_MAX - 3,
            Self::Offset64 => U32_MAX - 3,
            Self::Data64 => I64_MAX - 3,
        }
    }

    /// Maximum offset at which a variable may begin.
    pub(crate) fn max_begin(self) -> u64 {
        if self == Self::Classic { I32_MAX } else { I64_MAX }
    }

    /// Maximum number of records.
    pub(crate) fn max_records(self) -> u64 {
        match self {
            Self::Classic => I32_MAX,
            Self::Offset64 => U32_MAX - 1,
            Self::Data64 => I64_MAX,
        }
    }

    /// Maximum number of values of an attribute, of members of a list.
    pub(crate) fn max_count(self) -> u64 {
        if self == Self::Data64 { I64_MAX } else { I32_MAX }
    }
}

const I32_MAX: u64 = i32::MAX as u64;
const U32_MAX: u64 = u32::MAX as u64;
const I64_MAX: u64 = i64::MAX as u64;
