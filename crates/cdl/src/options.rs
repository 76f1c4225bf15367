//! What is printed and how (docs/spec/nczarr.md 12.4).
mod setters;

/// Options of a print; the default prints everything as `ncdump` does without options.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PrintOptions {
    /// Name after `netcdf`; escaped when printed.
    pub name: String,
    /// Which variables' data are printed (`-h`, `-c`).
    pub data: DataChoice,
    /// Restricts data to these variables (`-v`): simple names match in every group, paths a single variable. Empty: no
    /// limit.
    pub variables: Vec<String>,
    /// Restricts data to these groups (`-g`): simple names or paths. Empty: no limit.
    pub groups: Vec<String>,
    /// Maximum length of a line of data (`-l`).
    pub line_len: usize,
    /// Significant digits of floats (`-p`); if set, `C_format` attributes of float variables are ignored.
    pub float_digits: Option<usize>,
    /// Significant digits of doubles (`-p`); if set, `C_format` attributes of double variables are ignored.
    pub double_digits: Option<usize>,
    /// Significant digits of floats and doubles that have no `C_format` (`-d`).
    pub unformatted_digits: [Option<usize>; 2],
    /// Storage properties as attributes (`-s`).
    pub special: bool,
    /// With `special`: all filters of a variable in one attribute (`-F`).
    pub all_filters: bool,
    /// Omits `_NCProperties` (`-Xp`).
    pub no_properties: bool,
    /// Always prints the type of `_FillValue` attributes (`-XF`).
    pub fill_types: bool,
    /// Shows time variables as dates (`-t`, `-i`).
    pub times: Option<TimeStyle>,
    /// Adds comments with indices to the data (`-b`, `-f`).
    pub annotation: Option<IndexAnnotation>,
    /// The dataset is of a classic kind or follows the classic model: newlines in text attributes break the string.
    pub classic: bool,
}

impl Default for PrintOptions {
    fn default() -> Self {
        Self {
            name: String::new(),
            data: DataChoice::All,
            variables: Vec::new(),
            groups: Vec::new(),
            line_len: 80,
            float_digits: None,
            double_digits: None,
            unformatted_digits: [None, None],
            special: false,
            all_filters: false,
            no_properties: false,
            fill_types: false,
            times: None,
            annotation: None,
            classic: false,
        }
    }
}

impl PrintOptions {
    /// Digits of a float: 7 unless set.
    pub(crate) fn float_precision(&self) -> usize {
        self.float_digits.or(self.unformatted_digits[0]).unwrap_or(7)
    }

    /// Digits of a double: 15 unless set.
    pub(crate) fn double_precision(&self) -> usize {
        self.double_digits.or(self.unformatted_digits[1]).unwrap_or(15)
    }
}

/// Which variables' data are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum DataChoice {
    /// All.
    #[default]
    All,
    /// None: the header only.
    HeaderOnly,
    /// Those of coordinate variables.
    Coordinates,
}

/// How dates are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TimeStyle {
    /// Date and time separated by a blank.
    Blank,
    /// Date and time separated by a `T` (ISO 8601).
    T,
}

/// Comments that say which elements follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct IndexAnnotation {
    /// One comment per row or one per value.
    pub style: AnnotationStyle,
    /// How indices are written.
    pub order: IndexOrder,
}

/// How much is annotated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AnnotationStyle {
    /// A comment before each row (`-b`).
    Brief,
    /// A comment after each value (`-f`).
    Full,
    /// Both (`-b` and `-f`).
    Both,
}

/// How indices are counted and ordered in annotations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum IndexOrder {
    /// From 0, slowest first.
    C,
    /// From 1, fastest first.
    Fortran,
}
