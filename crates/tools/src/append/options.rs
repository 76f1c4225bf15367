//! What is allowed in appending, and what it did.
use crate::compare::CompareOptions;
use crate::copy::Progress;

/// How records are appended.
#[derive(Clone)]
#[non_exhaustive]
pub struct AppendOptions<'a> {
    /// Name or path of the dimension that grows; by default the only unlimited one, or that of time.
    pub along: Option<String>,
    /// Bring other coordinates that are in another order in a source to the target's order, with their data.
    pub reorder: bool,
    /// Leave out records whose coordinate the target has already, instead of refusing them.
    pub skip_existing: bool,
    /// Keep the target's variables that do not lie along the dimension, without comparing them.
    pub keep: bool,
    /// Names of attributes that are not compared; the target's stay.
    pub ignore: Vec<String>,
    /// Only check.
    pub dry_run: bool,
    /// Called when values have been written.
    pub progress: Option<&'a (dyn Fn(Progress<'_>) + Sync)>,
}

impl Default for AppendOptions<'_> {
    fn default() -> Self {
        Self {
            along: None,
            reorder: false,
            skip_existing: false,
            keep: false,
            ignore: CompareOptions::default().ignore,
            dry_run: false,
            progress: None,
        }
    }
}

impl<'a> AppendOptions<'a> {
    /// The defaults: everything must fit, but for the attributes `history` and `_NCProperties`.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Name or path of the dimension that grows.
    #[must_use]
    pub fn along(mut self, along: impl Into<Option<String>>) -> Self {
        self.along = along.into();
        self
    }

    /// Bring other coordinates that are in another order to the target's order, with their data.
    #[must_use]
    pub fn reorder(mut self, reorder: bool) -> Self {
        self.reorder = reorder;
        self
    }

    /// Leave out records whose coordinate the target has already.
    #[must_use]
    pub fn skip_existing(mut self, skip_existing: bool) -> Self {
        self.skip_existing = skip_existing;
        self
    }

    /// Keep the target's variables that do not lie along the dimension, without comparing them.
    #[must_use]
    pub fn keep(mut self, keep: bool) -> Self {
        self.keep = keep;
        self
    }

    /// Names of attributes that are not compared.
    #[must_use]
    pub fn ignore(mut self, ignore: impl IntoIterator<Item = String>) -> Self {
        self.ignore = ignore.into_iter().collect();
        self
    }

    /// Only check.
    #[must_use]
    pub fn dry_run(mut self, dry_run: bool) -> Self {
        self.dry_run = dry_run;
        self
    }

    /// Called when values have been written.
    #[must_use]
    pub fn progress(mut self, progress: &'a (dyn Fn(Progress<'_>) + Sync)) -> Self {
        self.progress = Some(progress);
        self
    }
}

/// What was appended, or would be.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct AppendReport {
    /// Path of the dimension that grows.
    pub axis: String,
    /// Its length before.
    pub old_len: u64,
    /// Its length after.
    pub new_len: u64,
    /// Records that were left out, because the target has them.
    pub skipped: u64,
    /// Paths of the variables that grow.
    pub variables: Vec<String>,
    /// All that does not fit, each with the dataset and the member.
    pub findings: Vec<String>,
    /// What was done to values, and what could not be checked.
    pub notes: Vec<String>,
}
