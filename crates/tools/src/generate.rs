//! Datasets from CDL text, as `ncgen` makes them (docs/design/014-cdl.md).
mod input;
mod program;
mod target;

pub use input::TextInput;
pub use program::generate_program;
use target::FilterTarget;
pub use target::kind_of_format;

use crate::copy::make_attributes_classic;
use crate::overwrite;
use crate::whole::completed;
use crate::{ChunkRule, FilterRule};
use ncirrus::{CreateOptions, Dataset, Error, ErrorKind, Fill, Format, Model, Result, Selection, Session};
use ncirrus_cdl::parse::{
    self, BlockSink, CdlFault, CdlText, DataBlock, DataSummary, Definitions, NumberRange, ParseFailure,
    ParseOptions, RangeNote,
};
use ncirrus_model::{Endianness, Storage};

/// Options for [`generate`] and [`check_text`].
#[derive(Default)]
#[non_exhaustive]
pub struct GenerateOptions<'a> {
    /// Kind, dialect and layout of the dataset. Without a kind it is that of the target's mode or name; where these only say
    /// netCDF, the text's `_Format`, else the first that has what the text needs.
    pub create: CreateOptions,
    /// Without a kind: only a mode in the target's address and the text decide, not the target's name. With one, a mode
    /// comes first.
    pub kind_by_text: bool,
    /// What becomes of numbers that do not fit their type.
    pub range: NumberRange,
    /// Chunk shapes; they override the text's.
    pub chunks: Vec<ChunkRule>,
    /// Filters of single variables; they override the text's.
    pub filter_rules: Vec<FilterRule>,
    /// Leaves out all data.
    pub definitions_only: bool,
    /// Variables without `_FillValue` are not filled.
    pub no_fill: bool,
    /// With [`CreateOptions::overwrite`]: any dataset may be replaced.
    pub overwrite_any: bool,
    /// Called with each fault of the text, before the error is returned.
    pub faults: Option<&'a (dyn Fn(&CdlFault) + Sync)>,
}

impl<'a> GenerateOptions<'a> {
    /// The defaults.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Kind, dialect and layout of the dataset.
    #[must_use]
    pub fn create(mut self, create: CreateOptions) -> Self {
        self.create = create;
        self
    }

    /// Without a kind: only a mode in the target's address and the text decide, not the target's name. With one, a mode
    /// comes first.
    #[must_use]
    pub fn kind_by_text(mut self, kind_by_text: bool) -> Self {
        self.kind_by_text = kind_by_text;
        self
    }

    /// What becomes of numbers that do not fit their type.
    #[must_use]
    pub fn range(mut self, range: NumberRange) -> Self {
        self.range = range;
        self
    }

    /// Chunk shapes; they override the text's.
    #[must_use]
    pub fn chunks(mut self, chunks: impl Into<Vec<ChunkRule>>) -> Self {
        self.chunks = chunks.into();
        self
    }

    /// Filters of single variables; they override the text's.
    #[must_use]
    pub fn filter_rules(mut self, rules: impl Into<Vec<FilterRule>>) -> Self {
        self.filter_rules = rules.into();
        self
    }

    /// Leaves out all data.
    #[must_use]
    pub fn definitions_only(mut self, definitions_only: bool) -> Self {
        self.definitions_only = definitions_only;
        self
    }

    /// Variables without `_FillValue` are not filled.
    #[must_use]
    pub fn no_fill(mut self, no_fill: bool) -> Self {
        self.no_fill = no_fill;
        self
    }

    /// With [`CreateOptions::overwrite`]: any dataset may be replaced.
    #[must_use]
    pub fn overwrite_any(mut self, overwrite_any: bool) -> Self {
        self.overwrite_any = overwrite_any;
        self
    }

    /// Called with each fault of the text, before the error is returned.
    #[must_use]
    pub fn faults(mut self, faults: &'a (dyn Fn(&CdlFault) + Sync)) -> Self {
        self.faults = Some(faults);
        self
    }

    fn parsing(&self, memory: usize) -> ParseOptions {
        // A block is encoded while the next one is read into.
        ParseOptions::new().range(self.range).block_len((memory / 16).clamp(1 << 16, 32 << 20))
    }
}

/// What was generated, or checked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct GenerateReport {
    /// The name behind `netcdf`.
    pub name: String,
    /// What `_Format` says.
    pub format: Option<Format>,
    /// Variables of the text.
    pub variables: usize,
    /// Elements that the text has values for, with the fill that completes rows.
    pub elements: u64,
    /// Numbers that do not fit their type, by variable and attribute ([`NumberRange::Reference`]).
    pub unfit: Vec<RangeNote>,
    /// Variables, and lines, with more text or values than elements; what is left over was not stored.
    pub cut: Vec<(String, u64)>,
}

impl GenerateReport {
    fn new(definitions: &Definitions, data: DataSummary) -> Self {
        let mut unfit = definitions.unfit().to_vec();
        unfit.extend(data.unfit);
        Self {
            name: definitions.name.clone(),
            format: definitions.format,
            variables: definitions.model.variables().len(),
            elements: data.elements,
            unfit,
            cut: data.cut,
        }
    }
}

/// Makes a dataset of a text at `target`, where it appears whole or not at all. Memory is bounded by the session's budget,
/// whatever the length of the text.
///
/// ```
/// use ncirrus::{Dataset, Session};
/// use ncirrus_tools::{GenerateOptions, generate};
///
/// let text = "netcdf demo { dimensions: x = 3; variables: short v(x); v:units = \"m\"; data: v = 1, 2, 3; }";
/// let session = Session::new()?;
/// generate(&text.as_bytes(), "memory://demo/a.nc", &GenerateOptions::new(), &session)?;
/// let dataset = Dataset::open_with("memory://demo/a.nc", &Default::default(), &session)?;
/// assert_eq!(dataset.variable("v")?.read::<i16>()?, [1, 2, 3]);
/// # Ok::<(), ncirrus::Error>(())
/// ```
///
/// # Errors
/// `Malformed` for a text with faults, each of which is passed to [`GenerateOptions::faults`] first; errors of reading the text;
/// if the target's kind cannot represent what the text says, or the target exists and must not be replaced.
pub fn generate(
    text: &dyn CdlText,
    target: &str,
    options: &GenerateOptions<'_>,
    session: &Session,
) -> Result<GenerateReport> {
    let parsing = options.parsing(session.memory());
    let definitions = parse::definitions(text, &parsing).map_err(|failure| described(failure, options))?;
    let mut model = definitions.model.clone();
    let create = target::decide(&definitions, &model, target, options)?;
    let filtered = target::put_filters(text, &definitions, &mut model, FilterTarget::of(&create));
    filtered.map_err(|failure| described(failure, options))?;
    target::apply_rules(&mut model, options)?;
    if create.overwrite {
        let form = overwrite::WrittenForm::Dataset;
        overwrite::check(target, std::iter::empty(), form, options.overwrite_any, session)?;
        overwrite::check_around(target, session)?;
    }
    fit_kind(&mut model, &create, options);
    let dataset = Dataset::create_with(target, &create, session)?;
    let summary = completed(dataset, |dataset| {
        dataset.edit(|empty| {
            *empty = model;
            Ok(())
        })?;
        if options.definitions_only {
            return Ok(DataSummary::default());
        }
        let read = parse::data(text, &definitions, &parsing, &mut DatasetSink { dataset });
        read.map_err(|failure| described(failure, options))
    })?;
    Ok(GenerateReport::new(&definitions, summary))
}

/// Reads a text to its end and writes nothing.
///
/// # Errors
/// As [`generate`], but for those of the target.
pub fn check_text(
    text: &dyn CdlText,
    options: &GenerateOptions<'_>,
    session: &Session,
) -> Result<GenerateReport> {
    let parsing = options.parsing(session.memory());
    let definitions = parse::definitions(text, &parsing).map_err(|failure| described(failure, options))?;
    let mut model = definitions.model.clone();
    let filtered = target::put_filters(text, &definitions, &mut model, FilterTarget::Other);
    filtered.map_err(|failure| described(failure, options))?;
    let summary = parse::data(text, &definitions, &parsing, &mut NoSink);
    Ok(GenerateReport::new(&definitions, summary.map_err(|failure| described(failure, options))?))
}

/// What the kind does not have: in classic kinds texts instead of strings, and nothing of how variables are stored.
fn fit_kind(model: &mut Model, create: &CreateOptions, options: &GenerateOptions<'_>) {
    let Some(kind) = create.kind else { return };
    if kind.is_classic() || kind == ncirrus::Kind::Nc4Classic {
        make_attributes_classic(model);
    }
    for id in model.variables() {
        let Some(variable) = model.variable_mut(id) else { continue };
        if kind.is_classic() {
            variable.filters.clear();
            (variable.storage, variable.endianness) = (Storage::Default, Endianness::Native);
            variable.shards = None;
        }
        if options.no_fill && variable.own_fill().is_none() {
            variable.fill = Fill::None;
        }
    }
}

/// Writes blocks as they come.
struct DatasetSink<'a> {
    dataset: &'a Dataset,
}

impl BlockSink for DatasetSink<'_> {
    fn block(
        &mut self,
        block: &DataBlock<'_>,
    ) -> std::result::Result<(), Box<dyn std::error::Error + Send + Sync>> {
        let variable = self.dataset.variable_by_id(block.variable);
        variable.write_values(&Selection::slab(block.start, block.shape), block.values)?;
        Ok(())
    }
}

/// Forgets all blocks.
struct NoSink;

impl BlockSink for NoSink {
    fn block(
        &mut self,
        _: &DataBlock<'_>,
    ) -> std::result::Result<(), Box<dyn std::error::Error + Send + Sync>> {
        Ok(())
    }
}

/// The error of a text, after its faults were reported.
fn described(failure: ParseFailure, options: &GenerateOptions<'_>) -> Error {
    match failure {
        ParseFailure::Sink(error) => match error.downcast::<Error>() {
            Ok(error) => *error,
            Err(other) => Error::internal(other.to_string()),
        },
        ParseFailure::Faults(faults) => {
            let Some(report) = options.faults else {
                return Error::malformed(ParseFailure::Faults(faults).to_string());
            };
            faults.iter().for_each(report);
            let count = faults.len();
            Error::malformed(format!("the text has {count} {}", if count == 1 { "fault" } else { "faults" }))
        }
        other => Error::new(ErrorKind::Io { retryable: false }, other.to_string()).because(other),
    }
}

#[cfg(test)]
mod tests;
