//! Programs that make a dataset, of CDL text.
use super::target::{self, FilterTarget};
use super::{GenerateOptions, GenerateReport, described, fit_kind};
use ncirrus::internals::DatasetInternals;
use ncirrus::{Dataset, Error, ErrorKind, Format, Kind, Model, Result, Selection, Session, Values};
use ncirrus_cdl::parse::{self, BlockSink, CdlText, DataBlock, DataSummary};
use ncirrus_cdl::{CdlError, DataSource, ProgramOptions, ReadError};
use ncirrus_model::{Fill, Storage, VarId};
use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering};

/// A store in memory of one call, where the values wait until the program is written: rows may come in any order, and fill
/// completes them.
struct WaitingValues<'a> {
    session: &'a Session,
    name: String,
}

impl<'a> WaitingValues<'a> {
    fn new(session: &'a Session) -> Self {
        static CALLS: AtomicU64 = AtomicU64::new(0);
        let name = format!("ncirrus-program-{}", CALLS.fetch_add(1, Ordering::Relaxed));
        Self { session, name }
    }

    fn url(&self) -> String {
        format!("memory://{}/values.nc", self.name)
    }
}

impl Drop for WaitingValues<'_> {
    fn drop(&mut self) {
        self.session.store_context().memory.remove(&self.name);
    }
}

/// Writes the text of a program that makes the dataset of a text. Language, target and the name of the main function are those
/// of `program`; the rest comes from the text. The values are held in memory.
///
/// # Errors
/// As [`generate`](fn@super::generate); `Unsupported` for what the language cannot make.
pub fn generate_program(
    text: &dyn CdlText,
    out: &mut dyn Write,
    mut program: ProgramOptions,
    options: &GenerateOptions<'_>,
    session: &Session,
) -> Result<GenerateReport> {
    let parsing = options.parsing(session.memory());
    let definitions = parse::definitions(text, &parsing).map_err(|failure| described(failure, options))?;
    let mut model = definitions.model.clone();
    let create = target::decide(&definitions, &model, &program.target, options)?;
    let filtered = target::put_filters(text, &definitions, &mut model, FilterTarget::of(&create));
    filtered.map_err(|failure| described(failure, options))?;
    target::apply_rules(&mut model, options)?;
    fit_kind(&mut model, &create, options);
    let waiting = WaitingValues::new(session);
    let dataset = Dataset::create_with(&waiting.url(), &create, session)?;
    dataset.edit(|empty| {
        *empty = plainly_stored(&model);
        Ok(())
    })?;
    let mut sink = ValuesSink { dataset: &dataset };
    let mut summary = DataSummary::default();
    if !options.definitions_only {
        let read = parse::data(text, &definitions, &parsing, &mut sink);
        summary = read.map_err(|failure| described(failure, options))?;
        program.filled = definitions.assigned().collect();
    }
    dataset.close()?;
    let dataset = Dataset::open_with(&waiting.url(), &Default::default(), session)?;
    copy_lengths(&mut model, &*dataset.model()?);
    program.definitions_only = options.definitions_only;
    program.name.clone_from(&definitions.name);
    program.format = create.kind.map(format_of_kind);
    let mut source = ValuesByPath { dataset: &dataset, model: &model };
    ncirrus_cdl::program(out, &model, &mut source, &program).map_err(program_error)?;
    Ok(GenerateReport::new(&definitions, summary))
}

fn program_error(error: CdlError) -> Error {
    match error {
        CdlError::Io(error) => {
            Error::new(ErrorKind::Io { retryable: false }, error.to_string()).because(error)
        }
        other => Error::unsupported(other.to_string()),
    }
}

/// The model without filters and layouts, which the program alone needs.
fn plainly_stored(model: &Model) -> Model {
    let mut plain = model.clone();
    for id in model.variables() {
        if let Some(variable) = plain.variable_mut(id) {
            variable.filters.clear();
            variable.storage = Storage::Default;
            variable.shards = None;
            if !variable.is_filled() {
                variable.fill = Fill::Attribute;
            }
        }
    }
    plain
}

/// Unlimited dimensions have the lengths that the values gave them.
fn copy_lengths(model: &mut Model, grown: &Model) {
    let groups = model.walk();
    let dims: Vec<_> =
        groups.iter().filter_map(|group| model.group(*group)).flat_map(|group| group.dims.clone()).collect();
    for id in dims {
        let path = model.dimension_path(id);
        let len = grown.dimension_at(&path).and_then(|found| grown.dimension(found)).map(|dim| dim.len);
        if let Some(len) = len {
            // It is the same dimension: unlimited in both.
            let _ = model.set_dimension_len(id, len);
        }
    }
}

/// The format that a kind of dataset has in CDL; those of other libraries have the whole model, as netCDF-4 has.
fn format_of_kind(kind: Kind) -> Format {
    match kind {
        Kind::Nc3 => Format::Classic,
        Kind::Nc6 => Format::Offset64,
        Kind::Nc5 => Format::Data64,
        Kind::Nc4Classic => Format::NetCdf4Classic,
        _ => Format::NetCdf4,
    }
}

/// Writes blocks as they come.
struct ValuesSink<'a> {
    dataset: &'a Dataset,
}

impl BlockSink for ValuesSink<'_> {
    fn block(
        &mut self,
        block: &DataBlock<'_>,
    ) -> std::result::Result<(), Box<dyn std::error::Error + Send + Sync>> {
        let variable = self.dataset.variable_by_id(block.variable);
        variable.write_values(&Selection::slab(block.start, block.shape), block.values)?;
        Ok(())
    }
}

/// Values of the variables of the text's model.
struct ValuesByPath<'a> {
    dataset: &'a Dataset,
    model: &'a Model,
}

impl DataSource for ValuesByPath<'_> {
    fn read(&mut self, variable: VarId, selection: &Selection) -> std::result::Result<Values, ReadError> {
        let found = self.dataset.variable(&self.model.variable_path(variable))?;
        Ok(self.dataset.read_values(found.id(), selection)?)
    }
}

#[cfg(test)]
mod tests;
