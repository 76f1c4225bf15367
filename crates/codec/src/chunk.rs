//! What codecs may know about the chunk that they process.
use crate::number::NumberType;

/// A decoded element.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecodedElement {
    /// Bytes of one element; `None` for elements without a fixed size.
    pub byte_len: Option<usize>,
    /// Its number type, if it is a single number of a known type.
    pub number: Option<NumberType>,
}

impl DecodedElement {
    /// An element of that many bytes, of which nothing else is known.
    pub const fn sized(byte_len: Option<usize>) -> Self {
        Self { byte_len, number: None }
    }

    /// One number.
    pub const fn of(number: NumberType) -> Self {
        Self { byte_len: Some(number.size), number: Some(number) }
    }
}

/// A decoded chunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChunkInfo {
    /// Elements along each dimension.
    pub shape: Vec<u64>,
    /// One element.
    pub element: DecodedElement,
}
