//! CDL text read back: what [`print`](fn@crate::print) writes, and all that `ncgen` reads (docs/design/014-cdl.md).
//!
//! A text is read twice. [`definitions`] reads everything but the data sections, which it passes over; with what it found a
//! dataset can be created. [`data`] reads the data sections and gives typed blocks of the variables to a [`BlockSink`], in the
//! order of the text.
//!
//! ```
//! use ncirrus_cdl::parse::{self, BlockSink, DataBlock, ParseOptions};
//!
//! struct Shown(Vec<String>);
//! impl BlockSink for Shown {
//!     fn block(&mut self, block: &DataBlock<'_>) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
//!         self.0.push(format!("{:?} {:?} {:?}", block.start, block.shape, block.values));
//!         Ok(())
//!     }
//! }
//!
//! let text = "netcdf demo { dimensions: x = 3; variables: short v(x); v:units = \"m\"; data: v = 1, 2; }";
//! let text = text.as_bytes();
//! let options = ParseOptions::new();
//! let definitions = parse::definitions(&text, &options)?;
//! assert_eq!(definitions.name, "demo");
//! let mut shown = Shown(Vec::new());
//! parse::data(&text, &definitions, &options, &mut shown)?;
//! assert_eq!(shown.0, ["[0] [2] Short([1, 2])"]);
//! # Ok::<(), ncirrus_cdl::parse::ParseFailure>(())
//! ```
mod attribute;
mod cast;
mod data;
mod declare;
mod fault;
mod lexer;
mod limits;
mod number;
mod quick;
mod scope;
mod special;
mod text;
mod token;
mod types;
mod values;
mod words;

pub use fault::{CdlFault, ParseFailure, Place};
pub use limits::ParseLimits;
pub use text::CdlText;
pub use words::format_named;
pub(crate) use words::is_section_word;

use attribute::RangeNotes;
use ncirrus_model::{Format, GroupId, Model, Values, VarId};
use scope::NameTable;

/// What becomes of numbers that do not fit their type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum NumberRange {
    /// They are faults; so are fractions for integers, and more values than elements.
    #[default]
    Strict,
    /// They are what `ncgen` makes of them, and are noted.
    Reference,
}

/// Choices for reading a text.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ParseOptions {
    /// What becomes of numbers that do not fit.
    pub range: NumberRange,
    /// Limits on what a text may ask for.
    pub limits: ParseLimits,
    /// Bytes of a block, about.
    pub block_len: usize,
}

impl Default for ParseOptions {
    fn default() -> Self {
        Self { range: NumberRange::Strict, limits: ParseLimits::default(), block_len: 4 << 20 }
    }
}

impl ParseOptions {
    /// The defaults.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// What becomes of numbers that do not fit.
    #[must_use]
    pub fn range(mut self, range: NumberRange) -> Self {
        self.range = range;
        self
    }

    /// Limits on what a text may ask for.
    #[must_use]
    pub fn limits(mut self, limits: ParseLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Bytes of a block, about.
    #[must_use]
    pub fn block_len(mut self, block_len: usize) -> Self {
        self.block_len = block_len;
        self
    }
}

/// All that a text says but its data.
#[derive(Debug)]
#[non_exhaustive]
pub struct Definitions {
    /// The name behind `netcdf`.
    pub name: String,
    /// Groups, dimensions, types, variables, attributes, and how variables shall be stored. Unlimited dimensions have the
    /// length 0: they grow with the data.
    pub model: Model,
    /// What `_Format` says.
    pub format: Option<Format>,
    /// Whether special attributes other than `_Format` determine how variables are stored.
    pub chosen_storage: bool,
    /// Values of `_Filter` and `_Codecs`, which whoever knows codecs puts into the model.
    pub filters: Vec<FilterText>,
    names: NameTable,
    notes: RangeNotes,
    data: Vec<DataStatement>,
}

impl Definitions {
    /// Attributes with constants that do not fit their type ([`NumberRange::Reference`]).
    pub fn unfit(&self) -> &[RangeNote] {
        &self.notes.0
    }

    /// The variables of the data sections, in their order; one that is assigned twice is returned twice.
    pub fn assigned(&self) -> impl Iterator<Item = VarId> + '_ {
        self.data.iter().map(|statement| statement.variable)
    }
}

/// The text of a `_Filter` or `_Codecs` attribute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilterText {
    /// The variable.
    pub variable: VarId,
    /// Which of the two.
    pub words: FilterWords,
    /// The attribute's value.
    pub text: String,
    /// The position of the value.
    pub place: Place,
}

impl FilterText {
    /// The fault that the text is wrong, at its place.
    pub fn fault(&self, text: &dyn CdlText, message: impl Into<String>) -> CdlFault {
        CdlFault::find(text, self.place, message.into())
    }
}

/// The form in which filters are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FilterWords {
    /// `_Filter`: HDF5's numbers and parameters.
    Filter,
    /// `_Codecs`: Zarr's JSON.
    Codecs,
}

/// Where the values of a variable are in the text.
#[derive(Debug)]
struct DataStatement {
    variable: VarId,
    /// The group of the statement, in which names are looked for.
    group: GroupId,
    values: Place,
}

/// Constants that did not fit their type, of one variable or attribute.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RangeNote {
    /// Path of the variable (`/g/v`) or attribute (`/g/v:a`).
    pub name: String,
    /// Line of the first one.
    pub line: u64,
    /// The first one.
    pub constant: String,
    /// How many there are.
    pub count: u64,
}

/// What the data sections had.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct DataSummary {
    /// Elements of all blocks.
    pub elements: u64,
    /// Variables with constants that do not fit ([`NumberRange::Reference`]).
    pub unfit: Vec<RangeNote>,
    /// Variables, and lines, whose text or values were cut because there were more than elements.
    pub cut: Vec<(String, u64)>,
}

/// Values of a box of a variable, in row-major order and of the variable's own type.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct DataBlock<'a> {
    /// The variable.
    pub variable: VarId,
    /// Indices of the first element; empty for a scalar.
    pub start: &'a [u64],
    /// Elements along each axis.
    pub shape: &'a [u64],
    /// The values.
    pub values: &'a Values,
}

/// What takes the blocks of a text.
pub trait BlockSink {
    /// Takes one block. Blocks of a variable do not overlap unless the text gives it values twice; then the later ones count.
    ///
    /// # Errors
    /// Whatever keeps it from being stored; reading ends there.
    fn block(&mut self, block: &DataBlock<'_>) -> Result<(), Box<dyn std::error::Error + Send + Sync>>;
}

/// Reads the definitions of a text.
///
/// # Errors
/// What is wrong with the text, with places; or why it could not be read.
pub fn definitions(text: &dyn CdlText, options: &ParseOptions) -> Result<Definitions, ParseFailure> {
    declare::read(text, options)
}

/// Reads the data sections of a text whose definitions were read with the same options. A fault in one variable's values does
/// not keep others from being read: all faults are reported together, after blocks may have been given to the sink.
///
/// # Errors
/// As [`definitions`], and what the sink fails with.
pub fn data(
    text: &dyn CdlText,
    definitions: &Definitions,
    options: &ParseOptions,
    sink: &mut dyn BlockSink,
) -> Result<DataSummary, ParseFailure> {
    data::read(text, definitions, options, sink)
}
