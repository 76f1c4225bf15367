//! Reference files: JSON that maps chunks of a Zarr dataset to byte ranges of existing files, as kerchunk writes
//! them. [`write_references`] writes one; it is opened like any dataset.
mod cut;
mod draft;
mod existing;
mod json;
mod names;
mod pieces;
mod skeleton;

pub(crate) use cut::gcd;

use crate::overwrite;
use draft::ReferenceDraft;
use json::ReferenceKeys;
use ncirrus::internals::DatasetInternals;
use ncirrus::{Dataset, Error, LeftOut, OpenOptions, Result, Session};
use ncirrus_store::{DatasetShape, OverwritePolicy, PutCondition, Scheme, UploadMode, Url};
use skeleton::ZarrSkeleton;

/// How references are written.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ReferenceOptions {
    /// The dimension along which several files are concatenated.
    pub axis: Option<String>,
    /// Chunks of at most this many bytes are embedded in the file.
    pub inline_threshold: u64,
    /// Variables of at most this many bytes whose chunks cannot be referenced are embedded, too; larger ones are left
    /// out.
    pub inline_values: u64,
    /// Name local files relative to the reference file. Only this library reads them from any working directory.
    pub relative: bool,
    /// Replace an existing reference file.
    pub overwrite: bool,
    /// Replace any existing dataset, except those that are referenced.
    pub overwrite_any: bool,
}

impl Default for ReferenceOptions {
    fn default() -> Self {
        Self {
            axis: None,
            inline_threshold: 500,
            inline_values: 4 << 20,
            relative: false,
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

/// Writes a reference file (version 1 of the format) for existing datasets: netCDF-3, HDF5, Zarr. Several are
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
    if sources.is_empty() {
        return Err(Error::invalid("there are no files to refer to"));
    }
    if sources.len() > 1 && options.axis.is_none() {
        return Err(Error::invalid("several files require an axis along which they are joined"));
    }
    let any = options.overwrite_any;
    // Before the sources are opened: what must not be overwritten is known without reading them.
    overwrite::check(
        target,
        sources.iter().map(String::as_str),
        overwrite::WrittenForm::References,
        any,
        session,
    )?;
    let open = |url: &String| -> Result<ReferenceInput> {
        let dataset = Dataset::open_with(url, &OpenOptions::default(), session)?;
        refuse_containers(&dataset)?;
        // The chunks of a repository are in it whatever the state that the address names.
        let is_repository = dataset.reader()?.driver().name() == "icechunk";
        let place = if is_repository { url.split('#').next().unwrap_or(url) } else { url };
        Ok(ReferenceInput { name: names::name(place, target, options.relative)?, dataset })
    };
    let inputs = sources.iter().map(open).collect::<Result<Vec<_>>>()?;
    let mut draft = ReferenceDraft::draw(&inputs, options, session)?;
    let skeleton = ZarrSkeleton::build(&mut draft, &inputs, options, session)?;
    let mut references = ReferenceKeys::new(skeleton.keys);
    for variable in draft.variables.iter().filter(|variable| variable.chunk.is_some()) {
        references.take(variable, &inputs, options, session)?;
    }
    let report = ReferenceReport {
        variables: draft.variables.len(),
        references: references.referred,
        inline: references.inline + skeleton.inline,
        left_out: draft.left_out,
    };
    put(target, references.finish(), options, session)?;
    Ok(report)
}

/// Objects in a zip file, or in a reference file, have no address of their own.
fn refuse_containers(dataset: &Dataset) -> Result<()> {
    let url = Url::parse(dataset.url())?;
    let path = url.path().trim_end_matches('/').to_ascii_lowercase();
    let is_file = url.scheme() == Scheme::File && std::path::Path::new(url.path()).is_file();
    let is_tree = dataset.kind().is_zarr();
    if is_tree && (is_file || path.ends_with(".zip") || path.ends_with(".json")) {
        let message = "references into a zip file, or into another reference file";
        return Err(Error::unsupported(message).at_object(dataset.url()));
    }
    Ok(())
}

/// Writes the file to its location.
fn put(target: &str, body: Vec<u8>, options: &ReferenceOptions, session: &Session) -> Result<()> {
    let mut stores = session.store_context().clone();
    stores.options.uploads = UploadMode::Scratch;
    let clobber = if options.overwrite || options.overwrite_any {
        OverwritePolicy::Replace
    } else {
        OverwritePolicy::Never
    };
    session.wait_for_store(target, async {
        let staged = ncirrus_store::create(target, DatasetShape::Object, clobber, &stores).await?;
        staged.store.put(&staged.root, body.into(), PutCondition::None).await?;
        staged.commit().await
    })
}
