//! Writing datasets in any writable dialect.
//!
//! A [`ZarrWriter`] holds the options. Its placer derives two things from a model: how each variable's elements are
//! stored (`plan`), and the metadata documents (`compose`); a commit puts the documents that changed, in the order
//! that `docs/formats/zarr-writing.md` defines (`commit`).
use crate::Dialect;
use ncirrus_layout::{Error, ObjectId, OpenOptions, Placer, Result, Step, View, Writing};
use ncirrus_model::Model;
use std::collections::BTreeMap;

mod additions;
mod attributes;
mod cells;
mod chunking;
mod commit;
mod compose;
mod conventions;
mod definitions;
mod element;
mod extended;
mod extension;
mod json_text;
mod names;
mod placer;
mod plan;
mod present;
mod removed_trees;
mod shard_shape;
mod stored;
mod text;

pub use stored::FixedString;

/// Default maximum size of a chunk, approximately.
const CHUNK_BYTES: u64 = 4 << 20;

/// Zarr or NCZarr with its options.
///
/// ```
/// use ncirrus_zarr::{Dialect, ZarrWriter};
/// let writer = ZarrWriter::new(Dialect::Attributes).consolidated(false).storage_kind("file");
/// ```
#[derive(Debug, Clone)]
pub struct ZarrWriter {
    pub(crate) dialect: Dialect,
    pub(crate) array_dimensions: bool,
    pub(crate) consolidated: bool,
    pub(crate) slash: Option<bool>,
    pub(crate) provenance: Option<String>,
    pub(crate) storage_kind: Option<String>,
    pub(crate) chunk_bytes: u64,
    pub(crate) string_lengths: BTreeMap<String, Option<FixedString>>,
    pub(crate) fixed_strings: Option<FixedString>,
    pub(crate) json_text: Option<bool>,
    /// How a dataset that is updated was opened.
    pub(crate) reading: OpenOptions,
}

impl ZarrWriter {
    /// Writes that dialect: [`Dialect::Attributes`], [`Dialect::LowerCase`], [`Dialect::UpperCase`],
    /// [`Dialect::Draft2018`], [`Dialect::Xarray`], [`Dialect::Plain`] (without dimension names), [`Dialect::V3`] or
    /// [`Dialect::Nczarr3`]. Updates keep the dialect of the dataset whatever is set here.
    pub fn new(dialect: Dialect) -> Self {
        Self {
            dialect,
            array_dimensions: dialect != Dialect::Plain,
            consolidated: true,
            slash: None,
            provenance: None,
            storage_kind: None,
            chunk_bytes: CHUNK_BYTES,
            string_lengths: BTreeMap::new(),
            fixed_strings: None,
            json_text: None,
            reading: OpenOptions::default(),
        }
    }

    /// The dialect that new datasets are written in.
    pub fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// Whether xarray's `_ARRAY_DIMENSIONS` (v3: `dimension_names`) are written (docs/spec/nczarr.md 3.15); default:
    /// yes.
    #[must_use]
    pub fn array_dimensions(self, yes: bool) -> Self {
        Self { array_dimensions: yes, ..self }
    }

    /// Whether consolidated metadata are written (docs/spec/nczarr.md 3.16); default: yes. Updates keep what the
    /// dataset has.
    #[must_use]
    pub fn consolidated(self, yes: bool) -> Self {
        Self { consolidated: yes, ..self }
    }

    /// Whether indices in chunk names are separated by `/` instead of `.` (docs/spec/nczarr.md 4.1); default: v2 no, v3
    /// yes.
    #[must_use]
    pub fn slash_in_chunk_names(self, yes: bool) -> Self {
        Self { slash: Some(yes), ..self }
    }

    /// The whole text of `_NCProperties` (docs/spec/nczarr.md 3.14), instead of one that names this library.
    #[must_use]
    pub fn provenance(self, text: impl Into<String>) -> Self {
        Self { provenance: Some(text.into()), ..self }
    }

    /// The kind of storage (`file`, `zip`, `s3`) that `_NCProperties` states.
    #[must_use]
    pub fn storage_kind(self, kind: impl Into<String>) -> Self {
        Self { storage_kind: Some(kind.into()), ..self }
    }

    /// The maximum size of a chunk for variables without a chunk shape, in bytes; default: 4 MiB.
    #[must_use]
    pub fn chunk_bytes(self, bytes: u64) -> Self {
        Self { chunk_bytes: bytes.max(1), ..self }
    }

    /// Stores the strings of the variable at that path in a fixed number of bytes, so that netCDF-C can read them.
    /// Without it they have any length, unless `_nczarr_maxstrlen` says otherwise (docs/spec/nczarr.md 3.12).
    #[must_use]
    pub fn string_length(mut self, path: impl Into<String>, length: FixedString) -> Self {
        self.string_lengths.insert(path.into(), Some(length));
        self
    }

    /// Stores the strings of the variable at that path with any length, whatever its attributes.
    #[must_use]
    pub fn string_of_any_length(mut self, path: impl Into<String>) -> Self {
        self.string_lengths.insert(path.into(), None);
        self
    }

    /// Stores the strings of all other variables in that many bytes, so that netCDF-C can read them. None may be
    /// null.
    #[must_use]
    pub fn fixed_strings(self, byte_len: u64) -> Self {
        let fixed = FixedString { byte_len, has_nulls: false, is_utf8: true };
        Self { fixed_strings: Some(fixed), ..self }
    }

    /// Whether char attributes whose text is a JSON dictionary are stored as JSON (docs/spec/nczarr.md 3.10); default:
    /// in NCZarr, as netCDF-C does, but not in plain Zarr, where the text would not come back. What the source stores as
    /// JSON is stored as JSON in any case.
    #[must_use]
    pub fn json_text(self, yes: impl Into<Option<bool>>) -> Self {
        Self { json_text: yes.into(), ..self }
    }

    /// For updates of a dataset that was opened with these options: names of dimensions depend on its address and view.
    pub(crate) fn of_opened(self, options: &OpenOptions) -> Self {
        let mut reading = OpenOptions::default().view(options.view).address(options.address.clone());
        // What decides which variables there are, and their names and types.
        (reading.raw, reading.packed) = (options.raw, options.packed);
        reading.name.clone_from(&options.name);
        Self { reading, ..self }
    }

    /// The text of `_NCProperties` for a new dataset.
    pub(crate) fn properties(&self) -> String {
        if let Some(text) = &self.provenance {
            return text.clone();
        }
        let format = match self.dialect {
            Dialect::Nczarr3 => "nczarr=3.0.0",
            Dialect::V3 => "zarr=3",
            Dialect::Draft2018 => "nczarr=1.0.0",
            dialect if dialect.is_nczarr() => "nczarr=2.0.0",
            _ => "zarr=2",
        };
        let storage = self.storage_kind.as_ref().map(|kind| format!(",storage={kind}")).unwrap_or_default();
        format!("version=2,ncirrus={},{format}{storage}", env!("CARGO_PKG_VERSION"))
    }
}

impl Default for ZarrWriter {
    fn default() -> Self {
        Self::new(Dialect::Attributes)
    }
}

impl Writing for ZarrWriter {
    fn create(&self, root: &ObjectId) -> Result<Box<dyn Placer>> {
        if matches!(self.dialect, Dialect::V1 | Dialect::V1Documented) {
            return Err(Error::unsupported(format!("dialect {} cannot be written; use att", self.dialect)));
        }
        Ok(Box::new(placer::ZarrPlacer::create(self.clone(), root.clone())))
    }

    fn update(&self, view: &dyn View, root: &ObjectId, model: &Model) -> Step<Box<dyn Placer>> {
        Ok(Box::new(present::open(self, view, root, model)?))
    }

    fn is_single_object(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests;
