//! Setters for options.
use super::{Kind, MasterOptions, WriterOptions};

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
}
