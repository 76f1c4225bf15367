//! Datasets of their own that hold parts of an aggregated variable.
use ncirrus_model::Attributes;
use std::sync::Arc;

/// A variable of another dataset that fills a tile of an aggregated variable, as the aggregation describes it
/// (docs/spec/cfa.md 6). It is not opened before its values are wanted.
#[derive(Debug, Clone, PartialEq)]
pub struct Fragment {
    /// Its place in the array of fragments, for messages.
    pub index: Vec<u64>,
    /// Where its dataset may lie: URLs, or names relative to the dataset that aggregates; the first that opens is
    /// taken. Empty: in the dataset that aggregates.
    pub names: Vec<Arc<str>>,
    /// What it may be called there; the first that exists is taken.
    pub variables: Vec<FragmentVariable>,
    /// Whether each name has a variable of its own: the one at the same place in `variables`, and no other.
    pub is_paired: bool,
    /// Shape that it has in its dataset, where the aggregation says so.
    pub shape: Option<Vec<u64>>,
    /// How its axes lie in the tile; `None`: in order, where axes of one element may be lacking (docs/spec/cfa.md 6.4).
    pub axes: Option<Vec<FragmentAxis>>,
    /// Units and calendar of its values, where the aggregation says so; else its own attributes tell.
    pub units: Option<FragmentUnits>,
    /// What holds for all fragments of the variable.
    pub rules: Arc<FragmentRules>,
}

/// What an aggregated variable is made of, for those who want to look at it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Aggregation {
    /// The convention by which it is described, such as `CF-1.13`.
    pub convention: &'static str,
    /// Shape of the array of fragments, one length per dimension; `None` when they lie on no grid.
    pub shape: Option<Vec<u64>>,
    /// How many fragments are described.
    pub fragments: u64,
}

/// What the variable of a fragment is called.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum FragmentVariable {
    /// By its path; the leading slash may be left out.
    Path(Arc<str>),
    /// By a name that is looked for in the group at a path, then in those around it, then below them, as CF does.
    Search {
        /// Path of the group that is looked at first.
        group: Arc<str>,
        /// The name, or a relative path.
        name: Arc<str>,
    },
    /// By its number in the order of creation, from 0.
    Number(u64),
}

/// An axis of a stored fragment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FragmentAxis {
    /// The axis of the tile that it makes; `None` for an axis of one element that the tile does not have.
    pub axis: Option<usize>,
    /// Which of its elements are taken, in which order.
    pub part: FragmentPart,
    /// Whether what is taken is turned around.
    pub reversed: bool,
}

/// Elements along an axis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FragmentPart {
    /// All of them.
    All,
    /// From a first one up to and including a last one; a negative step goes downwards.
    Slice {
        /// The first one.
        first: u64,
        /// The last one, which is taken when the steps reach it.
        last: u64,
        /// Never 0.
        step: i64,
    },
    /// Those with these indices.
    Indices(Vec<u64>),
}

/// Units of stored values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FragmentUnits {
    /// As UDUNITS writes them.
    pub units: Option<Arc<str>>,
    /// Calendar, where the units are a time since a date.
    pub calendar: Option<Arc<str>>,
}

/// What holds for all fragments of an aggregated variable.
#[derive(Debug, Clone, PartialEq)]
pub struct FragmentRules {
    /// The aggregated variable's attributes: its units, calendar, missing values and packing are what fragments are
    /// brought to.
    pub attributes: Attributes,
    /// How packed fragments and a packed aggregated variable go together.
    pub packing: FragmentPacking,
    /// What a fragment does whose dataset is not there, unless the session says otherwise.
    pub absent: FragmentAbsence,
    /// Whether values that the aggregated variable's type cannot hold are errors; else they are missing.
    pub is_strict: bool,
}

/// How packed fragments and a packed aggregated variable go together (docs/spec/cfa.md 6.5).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FragmentPacking {
    /// Fragments are unpacked by their own attributes; the aggregated variable's packing applies to what comes out.
    Unpack,
    /// As `Unpack`, but where both have the same packing the packed values are taken as they are (CFA 0.4 and 0.5).
    Same,
}

/// What a fragment does whose dataset is not there (docs/spec/cfa.md 6.6).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FragmentAbsence {
    /// Its elements are missing, and that is reported.
    Fill,
    /// Reading it is an error.
    Error,
}
