//! References: chunks of a Zarr dataset are mapped to byte ranges of existing files, as kerchunk does it, in a JSON file or
//! a folder of Parquet files. [`write_references`] writes them; they are opened like any dataset.
mod add;
mod cut;
mod draft;
mod embed;
mod existing;
mod json;
mod names;
mod parquet;
mod pieces;
mod skeleton;
mod small;
mod virtual_chunks;

pub(crate) use cut::gcd;
pub use virtual_chunks::{PlannedArray, PlannedChunk, PlannedObject, VirtualChunkPlan, plan_virtual_chunks};

use crate::aggregate::each;
use crate::overwrite;
use add::ExistingReferences;
use draft::ReferenceDraft;
use embed::ValueSources;
use futures_util::stream::{self, StreamExt, TryStreamExt};
use json::ReferenceKeys;
use ncirrus::internals::DatasetInternals;
use ncirrus::{Dataset, Error, LeftOut, OpenOptions, Result, Session};
use ncirrus_store::{DatasetShape, OverwritePolicy, PutCondition, Scheme, UploadMode, Url};
use parquet::RecordFolder;
use skeleton::ZarrSkeleton;

/// The forms in which references are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ReferenceForm {
    /// A JSON file.
    Json,
    /// A folder of Parquet files.
    Parquet,
}

impl ReferenceForm {
    /// The form that a name says.
    fn of_name(target: &str) -> Self {
        let path =
            target.split(['#', '?']).next().unwrap_or(target).trim_end_matches('/').to_ascii_lowercase();
        if path.ends_with(".parq") || path.ends_with(".parquet") { Self::Parquet } else { Self::Json }
    }
}

/// How references are written.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ReferenceOptions {
    /// The form in which they are stored; `None` if the name of the target decides: Parquet for `.parq` and `.parquet`.
    pub form: Option<ReferenceForm>,
    /// Rows of each file with references in Parquet, 10,000 by default.
    pub record_size: u64,
    /// The dimension along which several files are concatenated.
    pub axis: Option<String>,
    /// Chunks of at most this many bytes are embedded in the file.
    pub inline_threshold: u64,
    /// Variables of at most this many bytes whose chunks cannot be referenced are embedded, too; larger ones are left
    /// out.
    pub inline_values: u64,
    /// Name local files relative to the reference file. Only this library reads them from any working directory.
    pub relative: bool,
    /// Add the files to the references that exist at the target. The others are not scanned again.
    pub add: bool,
    /// Replace an existing reference file.
    pub overwrite: bool,
    /// Replace any existing dataset, except those that are referenced.
    pub overwrite_any: bool,
}

impl Default for ReferenceOptions {
    fn default() -> Self {
        Self {
            form: None,
            record_size: 10_000,
            axis: None,
            inline_threshold: 500,
            inline_values: 4 << 20,
            relative: false,
            add: false,
            overwrite: false,
            overwrite_any: false,
        }
    }
}

impl ReferenceOptions {
    /// The defaults.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The form in which they are stored.
    #[must_use]
    pub fn form(mut self, form: impl Into<Option<ReferenceForm>>) -> Self {
        self.form = form.into();
        self
    }

    /// Rows of each file with references in Parquet.
    #[must_use]
    pub fn record_size(mut self, record_size: u64) -> Self {
        self.record_size = record_size;
        self
    }

    /// The dimension along which several files are concatenated.
    #[must_use]
    pub fn axis(mut self, axis: impl Into<Option<String>>) -> Self {
        self.axis = axis.into();
        self
    }

    /// Chunks of at most this many bytes are embedded in the file.
    #[must_use]
    pub fn inline_threshold(mut self, inline_threshold: u64) -> Self {
        self.inline_threshold = inline_threshold;
        self
    }

    /// Variables of at most this many bytes whose chunks cannot be referenced are embedded, too; larger ones are left
    /// out.
    #[must_use]
    pub fn inline_values(mut self, inline_values: u64) -> Self {
        self.inline_values = inline_values;
        self
    }

    /// Name local files relative to the reference file. Only this library reads them from any working directory.
    #[must_use]
    pub fn relative(mut self, relative: bool) -> Self {
        self.relative = relative;
        self
    }

    /// Add the files to the references that exist at the target.
    #[must_use]
    pub fn add_files(mut self, add: bool) -> Self {
        self.add = add;
        self
    }

    /// Replace an existing reference file.
    #[must_use]
    pub fn overwrite(mut self, overwrite: bool) -> Self {
        self.overwrite = overwrite;
        self
    }

    /// Replace any existing dataset, except those that are referenced.
    #[must_use]
    pub fn overwrite_any(mut self, overwrite_any: bool) -> Self {
        self.overwrite_any = overwrite_any;
        self
    }
}

/// What was written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReferenceReport {
    /// Variables.
    pub variables: usize,
    /// Chunks that are referenced.
    pub references: u64,
    /// Chunks that are embedded.
    pub inline: u64,
    /// What could not be referenced, and why.
    pub left_out: Vec<LeftOut>,
}

/// A file whose chunks are referenced.
pub(crate) struct ReferenceInput {
    pub(crate) dataset: Dataset,
    /// Its name in the references.
    pub(crate) name: String,
}

/// Writes references (version 1 of the format in JSON, or Parquet) for existing datasets: netCDF-3, HDF5, Zarr. Several are
/// concatenated along an axis, in the order given; variables without the axis are taken from the first.
///
/// # Errors
/// If a file cannot be read; `Invalid` naming the file and the variable if several do not match; `Conflict` if the
/// target exists already, is one of the files, or is not a reference file.
pub fn write_references(
    sources: &[String],
    target: &str,
    options: &ReferenceOptions,
    session: &Session,
) -> Result<ReferenceReport> {
    check_axis(sources, options)?;
    let any = options.overwrite_any;
    // Before the sources are opened: what must not be overwritten is known without reading them.
    overwrite::check(
        target,
        sources.iter().map(String::as_str),
        overwrite::WrittenForm::References,
        any,
        session,
    )?;
    let existing = options.add.then(|| ExistingReferences::read(target, session)).transpose()?;
    let inputs = open_all(sources, session, |url| names::name(url, target, options.relative))?;
    let (mut references, report) = scan(&inputs, options, ZarrFormat::V2, session)?;
    let mut form = options.form.unwrap_or_else(|| ReferenceForm::of_name(target));
    let mut record_size = options.record_size;
    if let (Some(existing), Some(axis)) = (existing, &options.axis) {
        form = existing.record_size.map_or(ReferenceForm::Json, |_| ReferenceForm::Parquet);
        record_size = existing.record_size.unwrap_or(record_size);
        let sources = ValueSources { target, inputs: &inputs, session };
        references = existing.extended(references, axis, &sources)?;
    }
    match form {
        ReferenceForm::Json => put(target, references.finish(), options, session)?,
        ReferenceForm::Parquet => {
            let folder = RecordFolder::new(references, record_size)?;
            put_folder(target, folder, options, session)?;
        }
    }
    Ok(report)
}

/// The format of the Zarr dataset that references describe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ZarrFormat {
    /// What kerchunk's files describe.
    V2,
    /// What Icechunk has: also chunks of different lengths.
    V3,
}

fn check_axis(sources: &[String], options: &ReferenceOptions) -> Result<()> {
    if sources.is_empty() {
        return Err(Error::invalid("there are no files to refer to"));
    }
    if options.add && options.axis.is_none() {
        return Err(Error::invalid("adding files requires the axis along which they are joined"));
    }
    if sources.len() > 1 && options.axis.is_none() {
        return Err(Error::invalid("several files require an axis along which they are joined"));
    }
    Ok(())
}

/// Opens the files whose chunks are referenced; `name` makes their names in the references.
fn open_all(
    sources: &[String],
    session: &Session,
    name: impl Fn(&str) -> Result<String> + Sync,
) -> Result<Vec<ReferenceInput>> {
    let open = |url: &String| -> Result<ReferenceInput> {
        let dataset = Dataset::open_with(url, &OpenOptions::default(), session)?;
        refuse_containers(&dataset)?;
        // The chunks of a repository are in it whatever the state that the address names.
        let is_repository = dataset.reader()?.driver().name() == "icechunk";
        let place = if is_repository { url.split('#').next().unwrap_or(url) } else { url };
        Ok(ReferenceInput { name: name(place)?, dataset })
    };
    each(sources, AT_ONCE, None, |_, url| open(url))
}

/// The references of all chunks, and what was found.
fn scan(
    inputs: &[ReferenceInput],
    options: &ReferenceOptions,
    format: ZarrFormat,
    session: &Session,
) -> Result<(ReferenceKeys, ReferenceReport)> {
    let mut draft = ReferenceDraft::draw(inputs, options, format, session)?;
    let skeleton = ZarrSkeleton::build(&mut draft, inputs, options, format, session)?;
    let mut references = ReferenceKeys::new(skeleton.keys, format);
    for variable in draft.variables.iter().filter(|variable| variable.chunk.is_some()) {
        references.take(variable, inputs, options, session)?;
    }
    let report = ReferenceReport {
        variables: draft.variables.len(),
        references: references.referred,
        inline: references.inline + skeleton.inline,
        left_out: draft.left_out,
    };
    Ok((references, report))
}

/// Objects in a zip file, or in a reference file, have no address of their own.
fn refuse_containers(dataset: &Dataset) -> Result<()> {
    let url = Url::parse(dataset.url())?;
    let path = url.path().trim_end_matches('/').to_ascii_lowercase();
    let is_file = url.scheme() == Scheme::File && std::path::Path::new(url.path()).is_file();
    let is_tree = dataset.kind().is_zarr();
    let is_container = [".zip", ".json", ".gz", ".zst", ".parq", ".parquet", ".dmrpp"];
    let is_container = is_container.iter().any(|ending| path.ends_with(ending));
    if is_tree && (is_file || is_container || overwrite::has_records(dataset)?) {
        let message = "references into a zip file, or into other references";
        return Err(Error::unsupported(message).at_object(dataset.url()));
    }
    Ok(())
}

/// Files that are opened and scanned at the same time.
const AT_ONCE: usize = 16;

/// Writes the objects of a folder to their location; the one that makes them visible is the last.
fn put_folder(
    target: &str,
    folder: RecordFolder,
    options: &ReferenceOptions,
    session: &Session,
) -> Result<()> {
    session.wait_for_store(target, async {
        let stores = session.store_context();
        let staged = ncirrus_store::create(target, DatasetShape::Tree, clobber(options), stores).await?;
        let mut objects = folder.objects;
        let last = objects.pop();
        let put = |(key, body): (String, Vec<u8>)| {
            let (store, object) = (&staged.store, staged.root.child(&key));
            async move { store.put(&object, body.into(), PutCondition::None).await.map(|_| ()) }
        };
        let at_once = staged.store.facts().concurrency.clamp(1, AT_ONCE);
        let puts: Vec<_> = objects.into_iter().map(put).collect();
        stream::iter(puts).buffer_unordered(at_once).try_collect::<()>().await?;
        if let Some(last) = last {
            put(last).await?;
        }
        staged.commit().await
    })
}

fn clobber(options: &ReferenceOptions) -> OverwritePolicy {
    if options.overwrite || options.overwrite_any || options.add {
        OverwritePolicy::Replace
    } else {
        OverwritePolicy::Never
    }
}

/// Writes the file to its location.
fn put(target: &str, body: Vec<u8>, options: &ReferenceOptions, session: &Session) -> Result<()> {
    let mut stores = session.store_context().clone();
    stores.options.uploads = UploadMode::Scratch;
    session.wait_for_store(target, async {
        let staged = ncirrus_store::create(target, DatasetShape::Object, clobber(options), &stores).await?;
        staged.store.put(&staged.root, body.into(), PutCondition::None).await?;
        staged.commit().await
    })
}
