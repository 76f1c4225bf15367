//! What kind of file it is, and the codes of errors that depend on it.
use crate::c_types::codes::{self, Code, NC_EFILTER, NC_EHDFERR, NC_ENCZARR, NC_EVARSIZE, cause_of};
use ncirrus::netcdf::formats;
use ncirrus::{Dataset, DatasetKind, ErrorKind, Format, Stored, codec::CodecError};

/// What kind of file it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FileFormat {
    pub(crate) kind: DatasetKind,
}

impl FileFormat {
    /// The format of a dataset.
    pub(crate) fn of(dataset: &Dataset) -> Self {
        Self { kind: dataset.kind() }
    }

    /// The format of a dataset that is opened.
    ///
    /// # Errors
    /// `Malformed` for an HDF5 file that is cut off, as in HDF5: what is left of it has other members than the file had.
    pub(crate) fn of_whole(dataset: &Dataset) -> ncirrus::Result<Self> {
        match dataset.facts().missing_bytes {
            Some(missing) => Err(ncirrus::Error::new(
                ErrorKind::Malformed,
                format!("the file is cut off: {missing} bytes are missing"),
            )),
            None => Ok(Self::of(dataset)),
        }
    }

    /// The format of netCDF.
    pub(crate) fn netcdf(self) -> Format {
        self.kind.format
    }

    /// Whether it is stored as HDF5.
    pub(crate) fn is_hdf5(self) -> bool {
        self.kind.is_hdf5()
    }

    /// Whether a server computes it by DAP2.
    pub(crate) fn is_dap2(self) -> bool {
        self.kind.stored == Stored::Dap2
    }

    /// Whether it is netCDF-3.
    pub(crate) fn is_classic(self) -> bool {
        self.kind.is_classic()
    }

    /// Whether define and data mode are told apart: in netCDF-3, and in netCDF-4 of the classic model.
    pub(crate) fn is_strict(self) -> bool {
        formats::has_modes(self.kind.format)
    }

    /// The code of an error of writing: what HDF5 has no place for is its error.
    pub(crate) fn code_of(self, error: ncirrus::Error) -> Code {
        let is_refusal = is_refusal(&error);
        let is_too_large = error.kind() == ErrorKind::Limit;
        let is_of_system = matches!(error.kind(), ErrorKind::Io { .. });
        let code = error.into();
        if self.is_classic() && is_too_large {
            // What a classic file has no offsets for.
            return Code(NC_EVARSIZE);
        }
        if self.is_hdf5() && (is_refusal || is_of_system) { Code(NC_EHDFERR) } else { code }
    }

    /// The code of an error of reading values, which depends on the format for damaged data.
    pub(crate) fn code_of_reading(self, error: ncirrus::Error) -> Code {
        let by_format = match self.kind.stored {
            Stored::Hdf5 => is_refusal(&error).then_some(Code(NC_EHDFERR)),
            Stored::Dap2 | Stored::Dap4 => codes::of_values(&error),
            Stored::Zarr(_) if matches!(error.kind(), ErrorKind::Malformed | ErrorKind::Missing) => {
                let is_of_codec = cause_of::<CodecError>(&error).is_some();
                Some(Code(if is_of_codec { NC_EFILTER } else { NC_ENCZARR }))
            }
            Stored::Classic | Stored::Zarr(_) => None,
        };
        let code: Code = error.into();
        by_format.unwrap_or(code)
    }
}

/// Whether a format refuses what it cannot do: no part of the library is missing for that.
fn is_refusal(error: &ncirrus::Error) -> bool {
    error.kind() == ErrorKind::Unsupported && error.detail().is_none()
}
