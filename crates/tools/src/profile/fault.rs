//! What does not fit a profile.

/// Something that does not fit a profile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ProfileFault {
    pub(crate) kind: ProfileFaultKind,
    /// Path of the variable, or of the root group.
    pub(crate) path: String,
    /// The fact and the offending value.
    pub(crate) message: String,
}

/// What does not fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProfileFaultKind {
    /// Metadata are behind the first chunk.
    ScatteredMetadata,
    /// A variable has several chunks where one is required.
    NotOneChunk,
    SmallChunks,
    LargeChunks,
    /// The storage is not that of a rule.
    OtherChunks,
    /// The filters are not those of a rule.
    OtherFilters,
}

impl ProfileFault {
    pub(super) fn new(kind: ProfileFaultKind, path: impl Into<String>, message: impl Into<String>) -> Self {
        Self { kind, path: path.into(), message: message.into() }
    }
}
