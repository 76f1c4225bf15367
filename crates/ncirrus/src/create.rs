//! Options for creating datasets, and the choice of the kind.
mod configured;
mod setters;

use crate::{Error, Result};
use ncirrus_classic::{ClassicWriter, FormatVersion};
use ncirrus_config::ConfigSettings;
pub use ncirrus_hdf5::FileStructures;
use ncirrus_hdf5::Hdf5Writer;
use ncirrus_layout::Writing;
use ncirrus_model::{
    Atomic, Attribute, DatasetKind, Format, Model, Stored, TypeRef, Values, VarId, ZarrForm,
};
pub use ncirrus_netcdf_view::DefaultChunks;
use ncirrus_store::{CloudProvider, DatasetShape, OverwritePolicy, Scheme, StoreContext, Url, ZipLayout};
use ncirrus_zarr::{self as zarr, FixedString, ZarrWriter};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The kinds of dataset that can be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// netCDF-3 classic (CDF-1).
    Nc3,
    /// netCDF-3 with 64-bit offsets (CDF-2).
    Nc6,
    /// netCDF-3 with 64-bit data (CDF-5).
    Nc5,
    /// netCDF-4: HDF5.
    Nc4,
    /// netCDF-4, restricted to the classic model.
    Nc4Classic,
    /// NCZarr, Zarr v2 underneath.
    NcZarr,
    /// Plain Zarr v2.
    Zarr2,
    /// Zarr v3, with NCZarr's information unless the dialect is plain.
    Zarr3,
}

/// Dialects of NCZarr, by the readers that a dataset is for (`docs/formats/zarr-writing.md`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// netCDF-C 4.9.3 and newer.
    Att,
    /// netCDF-C 4.9.1 and 4.9.2.
    Lc,
    /// netCDF-C 4.8.1 and 4.9.0.
    Uc,
    /// The draft of December 2018.
    D18,
    /// Without any NCZarr information.
    Plain,
}

impl Dialect {
    /// All dialects, with their names in commands and addresses (`#mode=nczarr&dialect=uc`).
    pub const NAMES: [(&str, Self); 5] =
        [("att", Self::Att), ("lc", Self::Lc), ("uc", Self::Uc), ("2018", Self::D18), ("plain", Self::Plain)];

    /// The dialect of a name: `att`, `lc`, `uc`, `2018` or `plain`.
    ///
    /// # Errors
    /// `Invalid` for anything else.
    pub fn parse(text: &str) -> Result<Self> {
        let found = Self::NAMES.iter().find(|(name, _)| *name == text);
        found.map(|(_, dialect)| *dialect).ok_or_else(|| {
            let names = Self::NAMES.map(|(name, _)| name).join(", ");
            Error::invalid(format!("dialect {text:?} is none of {names}"))
        })
    }
}

/// How strings (NC_STRING) are stored in Zarr.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum StringForm {
    /// As suits the readers that the dataset is for. Copies to NCZarr, where the longest string is known, store all
    /// strings in as many bytes as it has: netCDF-C lists only such variables. Otherwise strings have any length,
    /// unless an attribute `_nczarr_maxstrlen` limits it.
    #[default]
    Suited,
    /// With any length.
    Variable,
    /// In a fixed number of bytes: the given one, otherwise in copies the length of the longest, otherwise 128, as in
    /// netCDF-C. Longer strings are errors.
    Fixed(Option<u64>),
}

/// Options for creating a dataset.
///
/// Built from the defaults, one option after the other:
///
/// ```
/// use ncirrus::{CreateOptions, Kind};
///
/// let options = CreateOptions::new().kind(Kind::Nc4).overwrite(true);
/// assert_eq!(options.kind, Some(Kind::Nc4));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct CreateOptions {
    /// Kind; `None`: determined by the URL's mode or the name's extension.
    pub kind: Option<Kind>,
    /// Dialect of NCZarr; `None`: the newest.
    pub dialect: Option<Dialect>,
    /// Write `_ARRAY_DIMENSIONS`, which xarray needs (Zarr v2).
    pub array_dimensions: bool,
    /// Write consolidated metadata, with which a dataset is opened by one request.
    pub consolidated: bool,
    /// Separator between the numbers in a chunk's key: `.` or `/`; `None`: the format's default.
    pub separator: Option<char>,
    /// Replace an existing dataset.
    pub overwrite: bool,
    /// Bytes kept free after the header of a netCDF-3 file for later definitions; `None`: a modest default.
    pub header_pad: Option<u64>,
    /// Whether a commit waits until everything is on disk; true by default. Without it, a power failure soon after the
    /// dataset was closed may leave less than was written, also of one that it replaces; a process that is killed does not.
    pub durable: bool,
    /// Put the entries of a zip below one top folder, as netCDF-C requires.
    pub zip_top_folder: bool,
    /// Which versions of HDF5 must be able to read a netCDF-4 file.
    pub structures: FileStructures,
    /// How chunk shapes are chosen for netCDF-4 if none is given.
    pub default_chunks: DefaultChunks,
    /// Chunks of a netCDF-4 file begin at multiples of this many bytes, a power of two; `None`: 8.
    pub align: Option<u64>,
    /// Bytes kept free at the start of a netCDF-4 file for its metadata; `None`: as many as the definitions need, plus
    /// a margin.
    pub reserve: Option<u64>,
    /// How strings are stored in Zarr.
    pub strings: StringForm,
    /// Whether char attributes whose text is a JSON dictionary are stored as JSON in Zarr; `None`: in NCZarr, as
    /// netCDF-C does, not in plain Zarr. What a copied dataset has as JSON is JSON in any case.
    pub json_attributes: Option<bool>,
    /// Whether the part after a `#` belongs to the name, if the address has no scheme, even if it reads like modes.
    pub exact_path: bool,
}

impl Default for CreateOptions {
    fn default() -> Self {
        Self {
            kind: None,
            dialect: None,
            array_dimensions: true,
            consolidated: true,
            separator: None,
            overwrite: false,
            header_pad: None,
            durable: true,
            zip_top_folder: false,
            structures: FileStructures::default(),
            default_chunks: DefaultChunks::default(),
            align: None,
            reserve: None,
            strings: StringForm::default(),
            json_attributes: None,
            exact_path: false,
        }
    }
}

/// Bytes of strings if nothing else determines them: netCDF-C's default (docs/spec/nczarr.md 3.12).
pub const DEFAULT_STRING_BYTES: u64 = 128;

/// How strings are stored, by the path of their variable; `None`: with any length.
#[derive(Debug, Clone, Default)]
pub struct StringLengths(pub BTreeMap<String, Option<FixedString>>);

impl StringLengths {
    fn applied_to(&self, writer: ZarrWriter) -> ZarrWriter {
        self.0.iter().fold(writer, |writer, (path, length)| match length {
            Some(length) => writer.string_length(path, *length),
            None => writer.string_of_any_length(path),
        })
    }
}

impl StringForm {
    /// `variable`, `fixed` or `fixed=BYTES`.
    ///
    /// # Errors
    /// `Invalid` for anything else.
    pub fn parse(text: &str) -> Result<Self> {
        let bad =
            || Error::invalid(format!("{text:?} is no form of strings: variable, fixed or fixed=BYTES"));
        match text.split_once('=') {
            None if text == "variable" => Ok(Self::Variable),
            None if text == "fixed" => Ok(Self::Fixed(None)),
            Some(("fixed", len)) => match len.parse() {
                Ok(len @ 1..=LONGEST_STRING) => Ok(Self::Fixed(Some(len))),
                _ => Err(bad()),
            },
            _ => Err(bad()),
        }
    }
}

/// Maximum number of bytes of a string, as when data types of Zarr are read.
const LONGEST_STRING: u64 = 1 << 31;

/// A target for which everything is decided.
pub struct CreateTarget {
    kind: DatasetKind,
    writing: Arc<dyn Writing>,
}

impl CreateTarget {
    /// Whether it is a tree of objects or one object.
    pub fn shape(&self) -> DatasetShape {
        if self.writing.is_single_object() { DatasetShape::Object } else { DatasetShape::Tree }
    }

    /// The format, configured with the options.
    pub fn writing(&self) -> Arc<dyn Writing> {
        Arc::clone(&self.writing)
    }

    /// What the dataset will be.
    pub fn kind(&self) -> DatasetKind {
        self.kind
    }
}

/// What a dataset of the kind is, in its usual dialect.
impl From<Kind> for DatasetKind {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Nc3 => Self::classic(Format::Classic),
            Kind::Nc6 => Self::classic(Format::Offset64),
            Kind::Nc5 => Self::classic(Format::Data64),
            Kind::Nc4 => Self::hdf5(false),
            Kind::Nc4Classic => Self::hdf5(true),
            Kind::NcZarr => Self::zarr(ZarrForm::NcZarr2),
            Kind::Zarr2 => Self::zarr(ZarrForm::Zarr2),
            Kind::Zarr3 => Self::zarr(ZarrForm::NcZarr3),
        }
    }
}

impl Kind {
    /// The kind that a dataset like this one is created as: it has the format and the storage, or, where a server
    /// computes it, the format.
    pub fn like(kind: DatasetKind) -> Self {
        match (kind.stored, kind.format) {
            (Stored::Zarr(ZarrForm::NcZarr2), _) => Self::NcZarr,
            (Stored::Zarr(ZarrForm::Zarr2), _) => Self::Zarr2,
            (Stored::Zarr(ZarrForm::Zarr3 | ZarrForm::NcZarr3), _) => Self::Zarr3,
            (Stored::Classic | Stored::Hdf5 | Stored::Dap2 | Stored::Dap4, format) => match format {
                Format::Classic => Self::Nc3,
                Format::Offset64 => Self::Nc6,
                Format::Data64 => Self::Nc5,
                Format::NetCdf4 => Self::Nc4,
                Format::NetCdf4Classic => Self::Nc4Classic,
            },
        }
    }

    /// Whether it is netCDF-3.
    pub fn is_classic(self) -> bool {
        DatasetKind::from(self).is_classic()
    }

    /// Whether it is netCDF-4: HDF5.
    pub fn is_hdf5(self) -> bool {
        DatasetKind::from(self).is_hdf5()
    }

    /// Whether it is Zarr of any kind.
    pub fn is_zarr(self) -> bool {
        DatasetKind::from(self).is_zarr()
    }
}

impl CreateOptions {
    /// The kind that netCDF-C's programs and library give a new dataset at an address whose mode names none: NCZarr in
    /// buckets of Amazon's protocol. `None` elsewhere.
    pub fn netcdf_c_kind(url: &str) -> Option<Kind> {
        let url = Url::parse(url).ok()?;
        let modes = url.fragment().modes();
        let is_named =
            modes.implementation().is_some() || ["zarr3", "hdf5"].iter().any(|mode| modes.contains(mode));
        let is_amazon = match url.scheme() {
            Scheme::S3 => true,
            _ if url.is_http() && modes.contains("s3") => true,
            _ if url.is_http() => {
                url.bucket().ok()?.is_some_and(|bucket| bucket.provider == CloudProvider::S3)
            }
            _ => false,
        };
        (is_amazon && !is_named).then_some(Kind::NcZarr)
    }

    pub(crate) fn clobber(&self) -> OverwritePolicy {
        if self.overwrite { OverwritePolicy::Replace } else { OverwritePolicy::Never }
    }

    /// The context with which stores are opened, including the options of this creation.
    pub(crate) fn stores(&self, stores: &StoreContext) -> StoreContext {
        let mut stores = stores.clone();
        if self.zip_top_folder {
            stores.options.zip_layout = ZipLayout::TopFolder;
        }
        stores.options.durable &= self.durable;
        stores.options.exact_paths = self.exact_path;
        stores
    }

    /// Decides the kind from the URL; if it only says netCDF, the first kind that can hold the model: one of netCDF-3,
    /// otherwise netCDF-4. `fixed`: no dimension will be unlimited.
    ///
    /// # Errors
    /// `Invalid` for an invalid address, and if the kind cannot be determined.
    pub fn for_model(mut self, url: &str, model: &Model, fixed: bool) -> Result<Self> {
        let named = self.kind.is_some();
        let url = Url::parse(url)?;
        self = self.with_fragment(&url)?;
        self.kind = Some(match self.kind_for(&url)? {
            Kind::Nc3 if named => Kind::Nc3,
            Kind::Nc3 if !asks_for_classic(&url) && needs_netcdf4(model, fixed) => Kind::Nc4,
            Kind::Nc3 => smallest_classic(model),
            other => other,
        });
        Ok(self)
    }

    /// Decides everything, including what a configuration says, if lengths of strings are known.
    ///
    /// # Errors
    /// `Invalid` for an invalid address or separator, and if the kind cannot be determined.
    pub(crate) fn resolve(
        &self,
        url: &str,
        lengths: &StringLengths,
        settings: &ConfigSettings,
    ) -> Result<CreateTarget> {
        let url = Url::parse(url)?;
        let options = self.clone().configured(&url, settings)?;
        let kind = options.kind_for(&url)?;
        let (kind, writing): (DatasetKind, Arc<dyn Writing>) = match kind {
            Kind::Nc3 => (kind.into(), Arc::new(self.classic(FormatVersion::Classic))),
            Kind::Nc6 => (kind.into(), Arc::new(self.classic(FormatVersion::Offset64))),
            Kind::Nc5 => (kind.into(), Arc::new(self.classic(FormatVersion::Data64))),
            Kind::Nc4 | Kind::Nc4Classic => (kind.into(), Arc::new(self.hdf5(kind == Kind::Nc4Classic))),
            Kind::NcZarr | Kind::Zarr2 | Kind::Zarr3 => {
                let writer = lengths.applied_to(options.zarr(kind, &url)?);
                (DatasetKind::zarr(writer.dialect().form()), Arc::new(writer))
            }
        };
        Ok(CreateTarget { kind, writing })
    }

    fn classic(&self, version: FormatVersion) -> ClassicWriter {
        let writer = ClassicWriter::new(version);
        ClassicWriter { header_pad: self.header_pad.unwrap_or(writer.header_pad), ..writer }
    }

    fn hdf5(&self, classic_model: bool) -> Hdf5Writer {
        let writer = Hdf5Writer::default();
        Hdf5Writer {
            classic_model,
            structures: self.structures,
            chunks: self.default_chunks,
            reserve: self.reserve,
            align: self.align.unwrap_or(writer.align),
            ..writer
        }
    }

    fn zarr(&self, kind: Kind, url: &Url) -> Result<ZarrWriter> {
        let modes = url.fragment().modes();
        let array_dimensions = self.array_dimensions && !modes.contains("noxarray");
        let dialect = match (kind, self.dialect) {
            (Kind::Zarr3, Some(Dialect::Plain)) => zarr::Dialect::V3,
            (Kind::Zarr3, None) if modes.contains("zarr") => zarr::Dialect::V3,
            (Kind::Zarr3, None | Some(Dialect::Att)) => zarr::Dialect::Nczarr3,
            (Kind::Zarr3, Some(other)) => {
                return Err(Error::invalid(format!("Zarr v3 has no dialect {other:?}")));
            }
            (Kind::Zarr2, None) | (_, Some(Dialect::Plain)) if array_dimensions => zarr::Dialect::Xarray,
            (Kind::Zarr2, None) | (_, Some(Dialect::Plain)) => zarr::Dialect::Plain,
            (_, None | Some(Dialect::Att)) => zarr::Dialect::Attributes,
            (_, Some(Dialect::Lc)) => zarr::Dialect::LowerCase,
            (_, Some(Dialect::Uc)) => zarr::Dialect::UpperCase,
            (_, Some(Dialect::D18)) => zarr::Dialect::Draft2018,
        };
        let writer = ZarrWriter::new(dialect)
            .array_dimensions(array_dimensions)
            .consolidated(self.consolidated && dialect != zarr::Dialect::Draft2018)
            .storage_kind(storage_kind(url))
            .json_text(self.json_attributes);
        let writer = match self.strings {
            StringForm::Fixed(byte_len) => writer.fixed_strings(byte_len.unwrap_or(DEFAULT_STRING_BYTES)),
            StringForm::Suited | StringForm::Variable => writer,
        };
        Ok(match self.separator {
            Some(separator) => writer.slash_in_chunk_names(separator == '/'),
            None => writer,
        })
    }

    /// The kind, from the option, otherwise the URL's mode, otherwise the name's extension (docs/spec/nczarr.md 8.4,
    /// 8.5).
    fn kind_for(&self, url: &Url) -> Result<Kind> {
        if let Some(kind) = self.kind {
            return Ok(kind);
        }
        let modes = url.fragment().modes();
        if modes.contains("zarr3") {
            return Ok(Kind::Zarr3);
        }
        if modes.contains("zarr") {
            return Ok(Kind::Zarr2);
        }
        if modes.contains("nczarr") {
            return Ok(Kind::NcZarr);
        }
        if modes.contains("netcdf-4") || modes.contains("hdf5") {
            return Ok(if modes.contains("classic") { Kind::Nc4Classic } else { Kind::Nc4 });
        }
        if asks_for_classic(url) {
            return Ok(Kind::Nc3);
        }
        let name = url.path().trim_end_matches('/').rsplit(['/', '\\']).next().unwrap_or_default();
        match name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase()).as_deref() {
            Some("nc" | "nc3" | "cdf" | "netcdf") => Ok(Kind::Nc3),
            Some("nc5") => Ok(Kind::Nc5),
            Some("nc6") => Ok(Kind::Nc6),
            Some("zarr" | "nczarr" | "zip") => Ok(Kind::NcZarr),
            Some("nc4" | "h5" | "hdf5" | "he5") => Ok(Kind::Nc4),
            _ if self.dialect.is_some() => Ok(Kind::NcZarr),
            _ => {
                let message = "the kind of the target cannot be told from its name: end it in .nc or .zarr, or choose a kind";
                Err(Error::invalid(message).at_object(url))
            }
        }
    }
}

/// Whether the URL itself requests netCDF-3.
fn asks_for_classic(url: &Url) -> bool {
    let modes = url.fragment().modes();
    modes.contains("netcdf-3") || modes.contains("classic")
}

/// The storage that `_NCProperties` names.
fn storage_kind(url: &Url) -> &'static str {
    let zipped = url.fragment().modes().contains("zip") || url.path().to_ascii_lowercase().ends_with(".zip");
    match url.scheme() {
        _ if zipped => "zip",
        Scheme::File => "file",
        Scheme::Memory => "memory",
        Scheme::S3 => "s3",
        other => other.as_str(),
    }
}

/// The first of CDF-1, CDF-2 and CDF-5 that has the size limits and types that the model needs.
fn smallest_classic(model: &Model) -> Kind {
    const CDF1_BYTES: u64 = (1 << 31) - 4;
    const CDF2_BYTES: u64 = (1 << 32) - 4;
    let sizes: Vec<u64> = model.variables().into_iter().map(|var| byte_len(model, var)).collect();
    let largest = sizes.iter().copied().max().unwrap_or(0);
    let total = sizes.iter().fold(0u64, |sum, size| sum.saturating_add(*size));
    if !all_types_classic(model) || largest > CDF2_BYTES {
        Kind::Nc5
    } else if total > CDF1_BYTES / 2 {
        Kind::Nc6
    } else {
        Kind::Nc3
    }
}

/// Whether no netCDF-3 kind can hold a model.
fn needs_netcdf4(model: &Model, fixed: bool) -> bool {
    let classic = |ty: TypeRef| matches!(ty, TypeRef::Atomic(atomic) if atomic != Atomic::String);
    let variables = model.variables();
    let is_record = |grows: &[bool]| !grows.iter().skip(1).any(|grows| *grows);
    let groups = model.walk();
    let members = groups.iter().filter_map(|id| model.group(*id));
    let dims = members.clone().flat_map(|group| &group.dims).filter_map(|dim| model.dimension(*dim));
    let records = dims.filter(|dimension| dimension.len.is_unlimited()).count();
    // A single string becomes text.
    let attributes = model.nodes().into_iter().filter_map(|node| model.attributes(node)?.known());
    let fits = |attribute: &Attribute| match &attribute.values {
        Values::String(strings) => strings.len() == 1,
        _ => classic(attribute.ty),
    };
    groups.len() > 1
        || members.clone().any(|group| !group.types.is_empty())
        || !fixed && (records > 1 || !variables.iter().all(|var| is_record(&model.growing(*var))))
        || !variables.iter().filter_map(|var| model.variable(*var)).all(|variable| classic(variable.ty))
        || !attributes.flat_map(|list| list.iter()).all(fits)
}

fn byte_len(model: &Model, var: VarId) -> u64 {
    let element = model.variable(var).and_then(|variable| model.packed_len(variable.ty)).unwrap_or(1);
    model.shape(var).iter().fold(element, |product, len| product.saturating_mul(*len))
}

fn all_types_classic(model: &Model) -> bool {
    let classic = |ty: TypeRef| match ty {
        // A string may become text; one that cannot is refused later, by name.
        TypeRef::Atomic(atomic) => atomic.is_classic() || atomic == Atomic::String,
        TypeRef::User(_) => true,
    };
    let nodes = model.nodes();
    let attributes =
        nodes.iter().filter_map(|node| model.attributes(*node)?.known()).flat_map(|list| list.iter());
    let variables = model.variables();
    variables.iter().filter_map(|var| model.variable(*var)).all(|variable| classic(variable.ty))
        && attributes.map(|attribute| attribute.ty).all(classic)
}

#[cfg(test)]
mod tests;
