//! How an aggregation is written, and its variables.
use super::super::master::MasterOptions;
use ncirrus::{Attributes, CodecSpec, Kind, TypeRef};
use ncirrus_layout::grid::AxisBlocks;

/// How an aggregation is written.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct WriterOptions {
    /// How the master is written.
    pub master: MasterOptions,
    /// Folder or prefix of the fragments; `None`: beside the master, named after it.
    pub fragments: Option<String>,
    /// Kind of the fragments; `None`: netCDF-4, or netCDF-3 for a netCDF-3 master.
    pub fragment_kind: Option<Kind>,
    /// Whether new fragments replace datasets that have their names; otherwise these are a conflict.
    pub replace_fragments: bool,
}

/// A variable to be stored in fragments.
#[derive(Debug, Clone)]
pub struct NewVariable {
    /// Its path.
    pub path: String,
    /// Its type.
    pub ty: TypeRef,
    /// Paths of its dimensions, which the master has.
    pub dimensions: Vec<String>,
    /// Lengths of the fragments along them.
    pub blocks: Vec<u64>,
    /// Its attributes; `_FillValue` is the value of elements that were never written.
    pub attributes: Attributes,
    /// Filters of the fragments.
    pub filters: Vec<CodecSpec>,
}

/// How a variable is divided into fragments, and how these are stored.
#[derive(Debug, Clone, Default)]
pub struct FragmentStorage {
    /// The fragments along each dimension.
    pub blocks: Vec<AxisBlocks>,
    /// Filters, unless the fragments are netCDF-3.
    pub filters: Vec<CodecSpec>,
    /// Shape of the chunks within fragments; `None`: the format's choice. Chunks are no longer than their fragment.
    pub chunks: Option<Vec<u64>>,
}

impl WriterOptions {
    /// The defaults.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// How the master is written.
    #[must_use]
    pub fn master(mut self, master: MasterOptions) -> Self {
        self.master = master;
        self
    }

    /// Folder or prefix of the fragments; `None`: beside the master, named after it.
    #[must_use]
    pub fn fragments(mut self, fragments: impl Into<Option<String>>) -> Self {
        self.fragments = fragments.into();
        self
    }

    /// Kind of the fragments; `None`: netCDF-4, or netCDF-3 for a netCDF-3 master.
    #[must_use]
    pub fn fragment_kind(mut self, fragment_kind: impl Into<Option<Kind>>) -> Self {
        self.fragment_kind = fragment_kind.into();
        self
    }

    /// Whether new fragments replace datasets that have their names; otherwise these are a conflict.
    #[must_use]
    pub fn replace_fragments(mut self, replace_fragments: bool) -> Self {
        self.replace_fragments = replace_fragments;
        self
    }
}
