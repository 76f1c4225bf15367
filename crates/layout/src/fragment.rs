//! Datasets that hold parts of an aggregated variable.
use ncirrus_model::Attributes;
use std::sync::Arc;

/// A variable of another dataset that fills a tile of an aggregated variable, as the aggregation describes it
/// (docs/spec/cfa.md 6). It is not opened until its values are needed.
#[derive(Debug, Clone, PartialEq)]
pub struct Fragment {
    /// Its index in the array of fragments, for messages.
    pub index: Vec<u64>,
    /// Where its dataset may be: URLs, or names relative to the aggregating dataset; the first that opens is used.
    /// Empty: in the aggregating dataset.
    pub names: Vec<Arc<str>>,
    /// Its possible names there; the first that exists is used.
    pub variables: Vec<FragmentVariable>,
    /// Whether each dataset name has a variable of its own: the one at the same index in `variables`, and no other.
    pub is_paired: bool,
    /// Its shape in its dataset, if the aggregation states it.
    pub shape: Option<Vec<u64>>,
    /// How its axes correspond to the tile's; `None`: in order, where axes of one element may be absent
    /// (docs/spec/cfa.md 6.4).
    pub axes: Option<Vec<FragmentAxis>>,
    /// Units and calendar of its values, if the aggregation states them; otherwise its own attributes are used.
    pub units: Option<FragmentUnits>,
    /// What applies to all fragments of the variable.
    pub rules: Arc<FragmentRules>,
}

/// Summary of the parts of an aggregated variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Aggregation {
    /// The convention that describes it, such as `CF-1.13`.
    pub convention: &'static str,
    /// Shape of the array of fragments, one length per dimension; `None` if they do not lie on a grid.
    pub shape: Option<Vec<u64>>,
    /// How many fragments are described.
    pub fragments: u64,
}

/// The name of a fragment's variable.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum FragmentVariable {
    /// By its path; the leading slash may be omitted.
    Path(Arc<str>),
    /// By a name that is looked for in the group at a path, then in the enclosing ones, then below them, as in CF.
    Search {
        /// Path of the group that is searched first.
        group: Arc<str>,
        /// The name, or a relative path.
        name: Arc<str>,
    },
    /// By its index in the order of creation, from 0.
    Number(u64),
}

/// An axis of a stored fragment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FragmentAxis {
    /// The corresponding axis of the tile; `None` for an axis of one element that the tile does not have.
    pub axis: Option<usize>,
    /// Which of its elements are used, in which order.
    pub part: FragmentPart,
    /// Whether they are reversed.
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
        /// The last one, which is included if the steps reach it.
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
    /// Calendar, if the units are a time since a date.
    pub calendar: Option<Arc<str>>,
}

/// What applies to all fragments of an aggregated variable.
#[derive(Debug, Clone, PartialEq)]
pub struct FragmentRules {
    /// The aggregated variable's attributes: fragments are converted to its units, calendar, missing values and
    /// packing.
    pub attributes: Attributes,
    /// How packed fragments and a packed aggregated variable are combined.
    pub packing: FragmentPacking,
    /// What happens to a fragment whose dataset is absent, unless the session says otherwise.
    pub absent: FragmentAbsence,
    /// Whether values that the aggregated variable's type cannot represent are errors; otherwise they are missing.
    pub is_strict: bool,
}

/// How packed fragments and a packed aggregated variable are combined (docs/spec/cfa.md 6.5).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FragmentPacking {
    /// Fragments are unpacked by their own attributes; the aggregated variable's packing applies to the result.
    Unpack,
    /// As `Unpack`, but if both have the same packing the packed values are copied as they are (CFA 0.4 and 0.5).
    Same,
}

/// What happens to a fragment whose dataset is absent (docs/spec/cfa.md 6.6).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FragmentAbsence {
    /// Its elements are missing, and that is reported.
    Fill,
    /// Reading it is an error.
    Error,
}
