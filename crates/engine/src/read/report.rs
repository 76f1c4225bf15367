//! What is found while a selection is read.
/// What was found while a selection was read.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ReadReport {
    /// Coordinates of chunks that were never written, in no particular order; only with [`MissingChunks::Report`](crate::MissingChunks::Report).
    pub missing: Vec<Vec<u64>>,
    /// How many chunks were never written.
    pub missing_count: u64,
    /// How many chunks have more bytes than their elements (docs/spec/nczarr.md 4.3); the surplus was ignored.
    pub surplus_count: u64,
    /// Fragments of aggregated variables that were not there and whose elements are missing values: the first few, or,
    /// with [`MissingChunks::Report`](crate::MissingChunks::Report) for absent fragments, all of them.
    pub absent: Vec<AbsentFragment>,
}

/// A fragment whose elements are missing because its dataset is not there.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct AbsentFragment {
    /// Path of the aggregated variable.
    pub variable: String,
    /// Place in its array of fragments.
    pub index: Vec<u64>,
    /// Where it was looked for.
    pub name: String,
}

impl std::fmt::Display for AbsentFragment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?} of {} ({})", self.index, self.variable, self.name)
    }
}
