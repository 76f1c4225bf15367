//! Setters for options.
use super::{
    ChunkRule, CopyOptions, CreateOptions, FilterRule, Filters, LongNames, PackingForm, Progress,
    QuantizeRule, ShardRule, VariableSelect,
};

impl<'a> CopyOptions<'a> {
    /// The defaults.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Kind, dialect and layout of the copy.
    #[must_use]
    pub fn create(mut self, create: CreateOptions) -> Self {
        self.create = create;
        self
    }

    /// Chunk shapes; rules for a variable override rules for dimensions.
    #[must_use]
    pub fn chunks(mut self, chunks: impl IntoIterator<Item = ChunkRule>) -> Self {
        self.chunks = chunks.into_iter().collect();
        self
    }

    /// Shards of the copy, in Zarr v3; rules for a variable override the others.
    #[must_use]
    pub fn shards(mut self, shards: impl IntoIterator<Item = ShardRule>) -> Self {
        self.shards = shards.into_iter().collect();
        self
    }

    /// Whether the index of each shard is at the start of its object; `None`: as in the source, otherwise at the end.
    #[must_use]
    pub fn index_first(mut self, index_first: Option<bool>) -> Self {
        self.index_first = index_first;
        self
    }

    /// Filters of the copy.
    #[must_use]
    pub fn filters(mut self, filters: Filters) -> Self {
        self.filters = filters;
        self
    }

    /// Filters of single variables; they override `filters`.
    #[must_use]
    pub fn filter_rules(mut self, filter_rules: impl IntoIterator<Item = FilterRule>) -> Self {
        self.filter_rules = filter_rules.into_iter().collect();
        self
    }

    /// Leave out filters that the copy's format cannot store, or that cannot be applied, instead of failing.
    #[must_use]
    pub fn drop_filters(mut self, drop_filters: bool) -> Self {
        self.drop_filters = drop_filters;
        self
    }

    /// How values are quantized; recorded in the attributes that netCDF-C writes.
    #[must_use]
    pub fn quantize(mut self, quantize: impl IntoIterator<Item = QuantizeRule>) -> Self {
        self.quantize = quantize.into_iter().collect();
        self
    }

    /// Also record quantization as CF 1.12 defines it (section 8.4, "Lossy Compression via Quantization").
    #[must_use]
    pub fn cf_quantization(mut self, cf_quantization: bool) -> Self {
        self.cf_quantization = cf_quantization;
        self
    }

    /// How packed variables are stored in Zarr v3.
    #[must_use]
    pub fn packing(mut self, packing: PackingForm) -> Self {
        self.packing = packing;
        self
    }

    /// Copy only these variables (paths or simple names) and what they need; empty: all.
    #[must_use]
    pub fn variables(mut self, variables: impl IntoIterator<Item = String>) -> Self {
        self.variables = variables.into_iter().collect();
        self
    }

    /// Copy only these groups (paths or simple names); empty: all.
    #[must_use]
    pub fn groups(mut self, groups: impl IntoIterator<Item = String>) -> Self {
        self.groups = groups.into_iter().collect();
        self
    }

    /// Copy only these boxes, with their coordinates.
    #[must_use]
    pub fn select(mut self, select: impl IntoIterator<Item = VariableSelect>) -> Self {
        self.select = select.into_iter().collect();
        self
    }

    /// Chunks that cannot be decoded become fill, and are reported; otherwise the copy fails at the first one.
    #[must_use]
    pub fn skip_damaged(mut self, skip_damaged: bool) -> Self {
        self.skip_damaged = skip_damaged;
        self
    }

    /// With [`CreateOptions::overwrite`]: any dataset may be replaced, also the source by its copy.
    #[must_use]
    pub fn overwrite_any(mut self, overwrite_any: bool) -> Self {
        self.overwrite_any = overwrite_any;
        self
    }

    /// Copy `variables` and `groups` alone, as nccopy does for `-V` and `-G`: without the variables that they need to be
    /// interpreted and without groups below the named ones, but with all dimensions, types and attributes of the groups.
    #[must_use]
    pub fn alone(mut self, alone: bool) -> Self {
        self.alone = alone;
        self
    }

    /// Copy the data of these variables only (paths, or ends of paths), and the definitions of all; empty: of all.
    #[must_use]
    pub fn data_of(mut self, variables: impl IntoIterator<Item = String>) -> Self {
        self.data_of = variables.into_iter().collect();
        self
    }

    /// Copy the data of variables in these groups only (paths, or ends of paths), and the definitions of all; empty:
    /// of all.
    #[must_use]
    pub fn data_of_groups(mut self, groups: impl IntoIterator<Item = String>) -> Self {
        self.data_of_groups = groups.into_iter().collect();
        self
    }

    /// Copy no data at all, only definitions.
    #[must_use]
    pub fn definitions_only(mut self, definitions_only: bool) -> Self {
        self.definitions_only = definitions_only;
        self
    }

    /// Make unlimited dimensions fixed.
    #[must_use]
    pub fn fix_unlimited(mut self, fix_unlimited: bool) -> Self {
        self.fix_unlimited = fix_unlimited;
        self
    }

    /// What to do about names that netCDF-C cannot read.
    #[must_use]
    pub fn long_names(mut self, long_names: LongNames) -> Self {
        self.long_names = long_names;
        self
    }

    /// Whether names that the copy's format keeps for itself, or would make another path of, are changed and reported.
    #[must_use]
    pub fn rename_reserved(mut self, rename_reserved: bool) -> Self {
        self.rename_reserved = rename_reserved;
        self
    }

    /// Decode every chunk that passes through in encoded form. Otherwise only its framing, lengths and checksums are
    /// checked.
    #[must_use]
    pub fn verify(mut self, verify: bool) -> Self {
        self.verify = verify;
        self
    }

    /// Called as elements are copied.
    #[must_use]
    pub fn progress(mut self, progress: &'a (dyn Fn(Progress<'_>) + Sync)) -> Self {
        self.progress = Some(progress);
        self
    }
}
