//! Setters for options.
use super::NccopyOptions;
use ncirrus::Kind;

impl NccopyOptions {
    /// The defaults.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Kind of the copy; `None`: that of the source, netCDF-4 if filters are named, or netCDF-4 of the classic model if
    /// the source is netCDF-3 and chunks, shuffling or a deflate level above 0 are requested. The mode of the target's
    /// URL takes precedence.
    #[must_use]
    pub fn kind(mut self, kind: impl Into<Option<Kind>>) -> Self {
        self.kind = kind.into();
        self
    }

    /// Deflate level, 0 to 9; 0 removes all filters but checksums.
    #[must_use]
    pub fn deflate(mut self, deflate: impl Into<Option<u32>>) -> Self {
        self.deflate = deflate.into();
        self
    }

    /// Shuffle bytes before deflate.
    #[must_use]
    pub fn shuffle(mut self, shuffle: bool) -> Self {
        self.shuffle = shuffle;
        self
    }

    /// Chunk shapes: `dim/len,...`, `var:len,...`, `var:`, `var:contiguous`, `var:compact`, `/` or `//`.
    #[must_use]
    pub fn chunks(mut self, chunks: impl IntoIterator<Item = String>) -> Self {
        self.chunks = chunks.into_iter().collect();
        self
    }

    /// Filters: `none`, `*,none`, `var&var,none`, `var&var,id,parameter,...|id,...` or `*,id,...`.
    #[must_use]
    pub fn filters(mut self, filters: impl IntoIterator<Item = String>) -> Self {
        self.filters = filters.into_iter().collect();
        self
    }

    /// Variables without unlimited dimension whose chunk has fewer bytes are not chunked.
    #[must_use]
    pub fn min_chunk_bytes(mut self, min_chunk_bytes: impl Into<Option<u64>>) -> Self {
        self.min_chunk_bytes = min_chunk_bytes.into();
        self
    }

    /// Make unlimited dimensions fixed.
    #[must_use]
    pub fn fix_unlimited(mut self, fix_unlimited: bool) -> Self {
        self.fix_unlimited = fix_unlimited;
        self
    }

    /// The variables whose data are copied (paths, or ends of paths); empty: all.
    #[must_use]
    pub fn variables(mut self, variables: impl IntoIterator<Item = String>) -> Self {
        self.variables = variables.into_iter().collect();
        self
    }

    /// Leave out the definitions of the other variables, too.
    #[must_use]
    pub fn variables_alone(mut self, variables_alone: bool) -> Self {
        self.variables_alone = variables_alone;
        self
    }

    /// The groups whose data are copied (paths, or ends of paths); empty: all.
    #[must_use]
    pub fn groups(mut self, groups: impl IntoIterator<Item = String>) -> Self {
        self.groups = groups.into_iter().collect();
        self
    }

    /// Leave out the definitions of the other groups, too, except for the root group.
    #[must_use]
    pub fn groups_alone(mut self, groups_alone: bool) -> Self {
        self.groups_alone = groups_alone;
        self
    }
}
