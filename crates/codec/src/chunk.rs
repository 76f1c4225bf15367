//! What codecs may know of the chunk they work on.

/// A decoded element.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Element {
    /// Bytes of one element; `None` for elements without a fixed size.
    pub byte_len: Option<usize>,
}

/// A decoded chunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChunkInfo {
    /// Elements along each dimension.
    pub shape: Vec<u64>,
    /// One element.
    pub element: Element,
}
