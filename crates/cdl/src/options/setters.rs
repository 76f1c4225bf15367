//! The setters of [`PrintOptions`].
use super::{DataChoice, IndexAnnotation, PrintOptions, TimeStyle};

impl PrintOptions {
    /// The defaults.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Name after `netcdf`; escaped when printed.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Which variables' data are printed (`-h`, `-c`).
    #[must_use]
    pub fn data(mut self, data: DataChoice) -> Self {
        self.data = data;
        self
    }

    /// Restricts data to these variables (`-v`): simple names match in every group, paths a single variable. Empty: no
    /// limit.
    #[must_use]
    pub fn variables(mut self, variables: impl IntoIterator<Item = String>) -> Self {
        self.variables = variables.into_iter().collect();
        self
    }

    /// Restricts data to these groups (`-g`): simple names or paths. Empty: no limit.
    #[must_use]
    pub fn groups(mut self, groups: impl IntoIterator<Item = String>) -> Self {
        self.groups = groups.into_iter().collect();
        self
    }

    /// Maximum length of a line of data (`-l`).
    #[must_use]
    pub fn line_len(mut self, line_len: usize) -> Self {
        self.line_len = line_len;
        self
    }

    /// Significant digits of floats (`-p`); if set, `C_format` attributes of float variables are ignored.
    #[must_use]
    pub fn float_digits(mut self, float_digits: impl Into<Option<usize>>) -> Self {
        self.float_digits = float_digits.into();
        self
    }

    /// Significant digits of doubles (`-p`); if set, `C_format` attributes of double variables are ignored.
    #[must_use]
    pub fn double_digits(mut self, double_digits: impl Into<Option<usize>>) -> Self {
        self.double_digits = double_digits.into();
        self
    }

    /// Storage properties as attributes (`-s`).
    #[must_use]
    pub fn special(mut self, special: bool) -> Self {
        self.special = special;
        self
    }

    /// With [`special`](Self::special): all filters of a variable in one attribute (`-F`).
    #[must_use]
    pub fn all_filters(mut self, all_filters: bool) -> Self {
        self.all_filters = all_filters;
        self
    }

    /// Significant digits of floats and doubles that have no `C_format` (`-d`).
    #[must_use]
    pub fn unformatted_digits(mut self, digits: [Option<usize>; 2]) -> Self {
        self.unformatted_digits = digits;
        self
    }

    /// Omits `_NCProperties` (`-Xp`).
    #[must_use]
    pub fn no_properties(mut self, no_properties: bool) -> Self {
        self.no_properties = no_properties;
        self
    }

    /// Always prints the type of `_FillValue` attributes (`-XF`).
    #[must_use]
    pub fn fill_types(mut self, fill_types: bool) -> Self {
        self.fill_types = fill_types;
        self
    }

    /// Shows time variables as dates (`-t`, `-i`).
    #[must_use]
    pub fn times(mut self, times: impl Into<Option<TimeStyle>>) -> Self {
        self.times = times.into();
        self
    }

    /// Adds comments with indices to the data (`-b`, `-f`).
    #[must_use]
    pub fn annotation(mut self, annotation: impl Into<Option<IndexAnnotation>>) -> Self {
        self.annotation = annotation.into();
        self
    }

    /// The dataset is of a classic kind or follows the classic model: newlines in text attributes break the string.
    #[must_use]
    pub fn classic(mut self, classic: bool) -> Self {
        self.classic = classic;
        self
    }
}
