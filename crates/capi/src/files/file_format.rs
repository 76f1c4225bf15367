//! What kind of file it is, and the codes of errors that depend on it.
use crate::c_types::codes::{self, Code, NC_EFILTER, NC_EHDFERR, NC_ENCZARR, NC_EVARSIZE, cause_of};
use ncirrus::{Dataset, ErrorKind, codec::CodecError};
use std::ffi::c_int;

/// What kind of file it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FileFormat {
    /// `NC_FORMAT_*`.
    pub(crate) number: c_int,
    /// Whether it is netCDF-4 as HDF5.
    pub(crate) is_hdf5: bool,
    /// `NC_FORMATX_DAP2` or `NC_FORMATX_DAP4`, if a server computes it.
    pub(crate) protocol: Option<c_int>,
}

const FORMATX_NC3: c_int = 1;
const FORMATX_HDF5: c_int = 2;
const FORMATX_DAP2: c_int = 5;
const FORMATX_DAP4: c_int = 6;
const FORMATX_ZARR: c_int = 10;

impl FileFormat {
    /// The format of a dataset.
    pub(crate) fn of(dataset: &Dataset) -> Self {
        Self::by_facts(dataset, &dataset.facts())
    }

    /// The format of a dataset that is opened.
    ///
    /// # Errors
    /// `Malformed` for an HDF5 file that is cut off, as in HDF5: what is left of it has other members than the file had.
    pub(crate) fn of_whole(dataset: &Dataset) -> ncirrus::Result<Self> {
        let facts = dataset.facts();
        match value_of(&facts, "missing_bytes") {
            Some(missing) => Err(ncirrus::Error::new(
                ErrorKind::Malformed,
                format!("the file is cut off: {missing} bytes are missing"),
            )),
            None => Ok(Self::by_facts(dataset, &facts)),
        }
    }

    fn by_facts(dataset: &Dataset, facts: &[(&str, String)]) -> Self {
        let number = match dataset.kind() {
            "classic" => 1,
            "64-bit offset" => 2,
            "cdf5" => 5,
            "netCDF-4 classic model" => 4,
            _ => 3,
        };
        let protocol = match value_of(facts, "protocol") {
            Some("DAP2") => Some(FORMATX_DAP2),
            Some("DAP4") => Some(FORMATX_DAP4),
            _ => None,
        };
        Self { number, is_hdf5: value_of(facts, "_IsNetcdf4").is_some(), protocol }
    }

    /// `NC_FORMATX_*`.
    pub(crate) fn extended(self) -> c_int {
        let stored = match () {
            () if self.is_classic() => FORMATX_NC3,
            () if self.is_hdf5 => FORMATX_HDF5,
            () => FORMATX_ZARR,
        };
        self.protocol.unwrap_or(stored)
    }

    /// Whether a server computes it by DAP2.
    pub(crate) fn is_dap2(self) -> bool {
        self.protocol == Some(FORMATX_DAP2)
    }

    /// Whether it is netCDF-3.
    pub(crate) fn is_classic(self) -> bool {
        matches!(self.number, 1 | 2 | 5)
    }

    /// Whether define and data mode are told apart: in netCDF-3, and in netCDF-4 of the classic model.
    pub(crate) fn is_strict(self) -> bool {
        self.number != 3
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
        if self.is_hdf5 && (is_refusal || is_of_system) { Code(NC_EHDFERR) } else { code }
    }

    /// The code of an error of reading values: what is damaged is told by the format.
    pub(crate) fn code_of_reading(self, error: ncirrus::Error) -> Code {
        let by_format = match self.extended() {
            FORMATX_HDF5 => is_refusal(&error).then_some(Code(NC_EHDFERR)),
            FORMATX_DAP2 | FORMATX_DAP4 => codes::of_values(&error),
            FORMATX_ZARR if matches!(error.kind(), ErrorKind::Malformed | ErrorKind::Missing) => {
                let is_of_codec = cause_of::<CodecError>(&error).is_some();
                Some(Code(if is_of_codec { NC_EFILTER } else { NC_ENCZARR }))
            }
            _ => None,
        };
        let code: Code = error.into();
        by_format.unwrap_or(code)
    }
}

/// Whether a format refuses what it cannot do: no part of the library is missing for that.
fn is_refusal(error: &ncirrus::Error) -> bool {
    error.kind() == ErrorKind::Unsupported && error.detail().is_none()
}

fn value_of<'a>(facts: &'a [(&str, String)], name: &str) -> Option<&'a str> {
    facts.iter().find(|(key, _)| *key == name).map(|(_, value)| value.as_str())
}
