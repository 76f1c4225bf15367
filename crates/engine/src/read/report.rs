//! Reports of reads.
/// What was found while a selection was read.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ReadReport {
    /// Coordinates of chunks that were never written, in no particular order; only with [`MissingChunks::Report`](crate::MissingChunks::Report).
    pub missing: Vec<Vec<u64>>,
    /// How many chunks were never written.
    pub missing_count: u64,
    /// How many chunks have more bytes than their elements need (docs/spec/nczarr.md 4.3); the surplus was ignored, as with
    /// [`ShortChunks::Fill`](crate::ShortChunks::Fill).
    pub surplus_count: u64,
    /// Fragments of aggregated variables that were absent and whose elements are missing values: the first few, or all
    /// of them with [`MissingChunks::Report`](crate::MissingChunks::Report) for absent fragments.
    pub absent: Vec<AbsentFragment>,
}

/// A fragment whose elements are missing because its dataset is absent.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct AbsentFragment {
    /// Path of the aggregated variable.
    pub variable: String,
    /// Its indices in the array of fragments.
    pub index: Vec<u64>,
    /// The name by which it was looked for.
    pub name: String,
}

impl std::fmt::Display for AbsentFragment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?} of {} ({})", self.index, self.variable, self.name)
    }
}
