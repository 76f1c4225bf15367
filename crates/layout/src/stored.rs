//! The stored form of one element.
use std::sync::Arc;

/// Order of the bytes of a stored number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ByteOrder {
    /// Least significant byte first.
    Little,
    /// Most significant byte first.
    Big,
}

impl ByteOrder {
    /// This machine's.
    pub const NATIVE: Self = if cfg!(target_endian = "big") { Self::Big } else { Self::Little };
}

/// The stored form of one element; the model's type determines how it is read.
#[expect(missing_docs, reason = "the fields of the variants are named by what they hold")]
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum StoredType {
    /// An integer of 1, 2, 4 or 8 bytes (read as the model's integer type of that size, or as enum base).
    Integer { size: u8, signed: bool, order: ByteOrder },
    /// IEEE 754 of 2 (read as float), 4 or 8 bytes.
    Float { size: u8, order: ByteOrder },
    /// The upper half of a binary32 (read as float).
    BFloat16 { order: ByteOrder },
    /// One byte per element: char.
    Char,
    /// Text in a fixed number of bytes (read as string).
    Text { byte_len: u64, encoding: TextEncoding },
    /// Uninterpreted bytes (read as opaque).
    Opaque { byte_len: u64 },
    /// Fields at offsets, perhaps with padding (read as compound; complex numbers are two floats).
    Compound { byte_len: u64, fields: Arc<[StoredField]> },
    /// A reference of fixed size to variable-length data elsewhere; the source's resolver follows it.
    Reference { byte_len: u64 },
    /// Elements have no fixed size: a chunk is a 4-byte little-endian count, then per element a 4-byte little-endian
    /// byte length and its bytes (numcodecs `vlen-*`).
    Sequence(SequenceItem),
    /// A chunk is one JSON document holding a list: elements in order, then dtype and shape (numcodecs `json2`).
    Json,
}

/// How text is padded to its fixed number of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TextEncoding {
    /// Padded with NUL; an element of only NULs is a null string.
    NulPadded,
    /// As `NulPadded`, but an element of only NULs is an empty string.
    NulPaddedEmpty,
    /// Padded with blanks.
    SpacePadded,
    /// Four bytes per character, padded with NUL (NumPy `U`).
    Utf32(ByteOrder),
}

/// The elements of a [`StoredType::Sequence`].
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum SequenceItem {
    /// UTF-8 text (read as string); an element of one NUL byte is a null string: netCDF strings cannot contain NUL
    /// otherwise.
    Text,
    /// Bytes (read as vlen of ubyte).
    Bytes,
    /// Elements of a fixed type (read as vlen of it).
    Array(Box<StoredType>),
    /// One value of the model's type in the packed form of `docs/formats/zarr-writing.md`: numbers little-endian,
    /// fields without padding, a string as 4-byte length and bytes (length `u32::MAX` alone: null), a vlen as 4-byte
    /// count and elements (all little-endian). The variable's type says what to expect.
    Packed,
}

/// A field of a stored compound.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct StoredField {
    /// Offset from the start of the compound in bytes.
    pub offset: u64,
    /// Its type.
    pub stored: StoredType,
    /// Number of consecutive elements of that type.
    pub count: u64,
}

impl StoredType {
    /// Size of one element; `None` if elements have no fixed size.
    pub fn byte_len(&self) -> Option<u64> {
        match self {
            Self::Integer { size, .. } | Self::Float { size, .. } => Some(u64::from(*size)),
            Self::BFloat16 { .. } => Some(2),
            Self::Char => Some(1),
            Self::Text { byte_len, .. }
            | Self::Opaque { byte_len }
            | Self::Compound { byte_len, .. }
            | Self::Reference { byte_len } => Some(*byte_len),
            Self::Sequence(_) | Self::Json => None,
        }
    }
}
