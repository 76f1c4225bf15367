//! What reads do about missing and incomplete chunks.
/// What reading a chunk that was never written does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MissingChunks {
    /// Its elements are fill.
    #[default]
    Fill,
    /// The read fails with [`ErrorKind::Missing`](ncirrus_layout::ErrorKind::Missing).
    Error,
    /// Its elements are fill, and the read's report lists it.
    Report,
}

/// What reading a chunk that decodes to fewer or more bytes than its elements need does (docs/spec/nczarr.md 4.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ShortChunks {
    /// The read fails.
    #[default]
    Error,
    /// The elements that are lacking are fill, and surplus bytes are ignored.
    Fill,
}
