//! The history of a repository that keeps earlier states of a dataset.

/// The history of a repository.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RepositoryHistory {
    /// Branches by name.
    pub branches: Vec<RefEntry>,
    /// Tags by name, without those that were deleted.
    pub tags: Vec<RefEntry>,
    /// Snapshots, the latest first: all of them if the repository lists them, otherwise those that lead to the one shown
    /// and to the branches.
    pub snapshots: Vec<SnapshotEntry>,
    /// The id of the snapshot that is shown.
    pub shown: String,
    /// What could not be read, for the user's information.
    pub warnings: Vec<String>,
}

/// A branch or a tag.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefEntry {
    /// Its name.
    pub name: String,
    /// The id of its snapshot.
    pub snapshot: String,
}

/// A snapshot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SnapshotEntry {
    /// Its id.
    pub id: String,
    /// When it was made, such as `2026-05-01T10:20:30.123456Z`.
    pub time: String,
    /// The message of its commit.
    pub message: String,
    /// The id of the snapshot before it.
    pub parent: Option<String>,
    /// What it changed, if that was requested and is recorded.
    pub changes: Option<SnapshotChanges>,
}

/// Numbers of what a snapshot changed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SnapshotChanges {
    /// New groups.
    pub new_groups: u64,
    /// New arrays.
    pub new_arrays: u64,
    /// Deleted groups.
    pub deleted_groups: u64,
    /// Deleted arrays.
    pub deleted_arrays: u64,
    /// Groups whose metadata changed.
    pub updated_groups: u64,
    /// Arrays whose metadata changed.
    pub updated_arrays: u64,
    /// Arrays with chunks that were written or deleted.
    pub arrays_with_chunks: u64,
    /// Chunks that were written or deleted.
    pub chunks: u64,
    /// Renamed groups and arrays.
    pub moved: u64,
}
