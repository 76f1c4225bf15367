//! The setters of [`CreateOptions`].
use super::{CreateOptions, DefaultChunks, Dialect, FileStructures, Kind, StringForm};

impl CreateOptions {
    /// The defaults.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Kind; `None`: determined by the URL's mode or the name's extension.
    #[must_use]
    pub fn kind(mut self, kind: impl Into<Option<Kind>>) -> Self {
        self.kind = kind.into();
        self
    }

    /// Dialect of NCZarr; `None`: the newest.
    #[must_use]
    pub fn dialect(mut self, dialect: impl Into<Option<Dialect>>) -> Self {
        self.dialect = dialect.into();
        self
    }

    /// Write `_ARRAY_DIMENSIONS`, which xarray needs (Zarr v2).
    #[must_use]
    pub fn array_dimensions(mut self, array_dimensions: bool) -> Self {
        self.array_dimensions = array_dimensions;
        self
    }

    /// Write consolidated metadata, with which a dataset is opened by one request.
    #[must_use]
    pub fn consolidated(mut self, consolidated: bool) -> Self {
        self.consolidated = consolidated;
        self
    }

    /// Separator between the numbers in a chunk's key: `.` or `/`; `None`: the format's default.
    #[must_use]
    pub fn separator(mut self, separator: impl Into<Option<char>>) -> Self {
        self.separator = separator.into();
        self
    }

    /// Replace an existing dataset.
    #[must_use]
    pub fn overwrite(mut self, overwrite: bool) -> Self {
        self.overwrite = overwrite;
        self
    }

    /// Bytes kept free after the header of a netCDF-3 file for later definitions; `None`: a modest default.
    #[must_use]
    pub fn header_pad(mut self, header_pad: impl Into<Option<u64>>) -> Self {
        self.header_pad = header_pad.into();
        self
    }

    /// See [`exact_path`](Self::exact_path).
    #[must_use]
    pub fn exact_path(mut self, exact_path: bool) -> Self {
        self.exact_path = exact_path;
        self
    }

    /// See [`durable`](Self::durable).
    #[must_use]
    pub fn durable(mut self, durable: bool) -> Self {
        self.durable = durable;
        self
    }

    /// Put the entries of a zip below one top folder, as netCDF-C requires.
    #[must_use]
    pub fn zip_top_folder(mut self, zip_top_folder: bool) -> Self {
        self.zip_top_folder = zip_top_folder;
        self
    }

    /// Which versions of HDF5 must be able to read a netCDF-4 file.
    #[must_use]
    pub fn structures(mut self, structures: FileStructures) -> Self {
        self.structures = structures;
        self
    }

    /// How chunk shapes are chosen for netCDF-4 if none is given.
    #[must_use]
    pub fn default_chunks(mut self, default_chunks: DefaultChunks) -> Self {
        self.default_chunks = default_chunks;
        self
    }

    /// Chunks of a netCDF-4 file begin at multiples of this many bytes, a power of two; `None`: 8.
    #[must_use]
    pub fn align(mut self, align: impl Into<Option<u64>>) -> Self {
        self.align = align.into();
        self
    }

    /// Bytes kept free at the start of a netCDF-4 file for its metadata; `None`: as many as the definitions need, plus
    /// a margin.
    #[must_use]
    pub fn reserve(mut self, reserve: impl Into<Option<u64>>) -> Self {
        self.reserve = reserve.into();
        self
    }

    /// How strings are stored in Zarr.
    #[must_use]
    pub fn strings(mut self, strings: StringForm) -> Self {
        self.strings = strings;
        self
    }

    /// Whether char attributes whose text is a JSON dictionary are stored as JSON in Zarr; `None`: in NCZarr, not in
    /// plain Zarr.
    #[must_use]
    pub fn json_attributes(mut self, json_attributes: impl Into<Option<bool>>) -> Self {
        self.json_attributes = json_attributes.into();
        self
    }
}
