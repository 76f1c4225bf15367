//! Aggregations: one dataset out of many files, without copying their data.
//!
//! An aggregation is a small dataset, the master, that records which parts of its variables are in which other
//! datasets, the fragments. [`aggregate`] makes one from existing files; [`split`] makes one from a dataset;
//! [`relocate`] updates it when the fragments were moved.
mod adding;
mod arrange;
mod each;
mod existing;
mod fills;
mod list;
mod master;
mod names;
mod origin;
mod parts;
mod prepared;
mod rebuild;
mod relocate;
mod shape;
mod split;
mod units;
mod writer;

pub use each::WorkSteps;
pub(crate) use each::each;
pub use existing::master_options;
pub use list::list;
pub use master::MasterOptions;
pub use names::Naming;
pub use ncirrus_aggregate::write::Convention;
pub use prepared::PreparedAggregation;
pub use rebuild::{rebuild, recorded_options};
pub(crate) use relocate::single_file_kind;
pub use relocate::{Relocation, RenamedFragment, relocate};
pub(crate) use shape::{axis, is_time, known as known_attributes, likely_axis, named};
pub use split::{ArrayDivision, AxisKind, DEFAULT_SIZE, DividedAxis, SplitOptions, SplitReport, split};
pub use writer::{AggregationWriter, FragmentStorage, NewVariable, WriterOptions};

use ncirrus::{LeftOut, Result, Session};

/// How files are aggregated.
#[derive(Clone)]
#[non_exhaustive]
pub struct AggregateOptions<'a> {
    /// Dimensions along which the files are concatenated; empty: the one that is unlimited, or of time. With several,
    /// the files are tiles of a grid.
    pub axes: Vec<String>,
    /// A dimension that the files do not have: each is one step of it.
    pub new_axis: Option<String>,
    /// Order the files by their coordinates along the axis.
    pub sort: bool,
    /// Compare the values of variables that do not lie along an axis; otherwise those of the first file are used.
    pub compare: bool,
    /// Called when a file has been read.
    pub steps: Option<&'a WorkSteps<'a>>,
}

impl Default for AggregateOptions<'_> {
    fn default() -> Self {
        Self { axes: Vec::new(), new_axis: None, sort: false, compare: true, steps: None }
    }
}

impl<'a> AggregateOptions<'a> {
    /// The defaults.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Dimensions along which the files are concatenated; empty: the one that is unlimited, or of time. With several,
    /// the files are tiles of a grid.
    #[must_use]
    pub fn axes(mut self, axes: impl IntoIterator<Item = String>) -> Self {
        self.axes = axes.into_iter().collect();
        self
    }

    /// A dimension that the files do not have: each is one step of it.
    #[must_use]
    pub fn new_axis(mut self, new_axis: impl Into<Option<String>>) -> Self {
        self.new_axis = new_axis.into();
        self
    }

    /// Order the files by their coordinates along the axis.
    #[must_use]
    pub fn sort(mut self, sort: bool) -> Self {
        self.sort = sort;
        self
    }

    /// Compare the values of variables that do not lie along an axis; otherwise those of the first file are used.
    #[must_use]
    pub fn compare(mut self, compare: bool) -> Self {
        self.compare = compare;
        self
    }

    /// Called when a file has been read.
    #[must_use]
    pub fn steps(mut self, steps: &'a WorkSteps<'a>) -> Self {
        self.steps = Some(steps);
        self
    }
}

/// The actual or planned aggregation of files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Aggregation {
    /// Files that were read.
    pub files: usize,
    /// For each axis its name, the number of files along it, and their elements.
    pub axes: Vec<(String, usize, u64)>,
    /// Paths of the variables that stay in the files.
    pub aggregated: Vec<String>,
    /// Paths of the variables that the master stores.
    pub stored: Vec<String>,
    /// Why the files do not match, each with a file's name.
    pub problems: Vec<String>,
    /// What is unusual but not an error: gaps.
    pub notes: Vec<String>,
    /// What the aggregation lacks: what cannot be read, and variables that the first file lacks.
    pub left_out: Vec<LeftOut>,
}

/// Makes an aggregation of files. Nothing is written before all of them have been read and found to match.
///
/// # Errors
/// As [`PreparedAggregation::of`] and [`PreparedAggregation::write`].
pub fn aggregate(
    target: &str,
    files: &[String],
    options: &AggregateOptions<'_>,
    master: &MasterOptions,
    session: &Session,
) -> Result<Aggregation> {
    master.check(target)?;
    PreparedAggregation::of(files, options, session)?.write(target, master, session)
}
