//! What a dataset is, in words for Python.
use ncirrus::netcdf::formats;
use ncirrus::{Atomic, Format, Stored};
use pyo3::prelude::*;

/// What a dataset is: its format for netCDF, and how it is stored.
#[pyclass(frozen, module = "ncirrus._ncirrus")]
pub(crate) struct DatasetKind(ncirrus::DatasetKind);

impl From<ncirrus::DatasetKind> for DatasetKind {
    fn from(kind: ncirrus::DatasetKind) -> Self {
        Self(kind)
    }
}

#[pymethods]
impl DatasetKind {
    /// The format as `ncdump -k` names it.
    #[getter]
    fn name(&self) -> &'static str {
        self.0.format.as_str()
    }

    /// The format as netCDF4-python names it.
    #[getter]
    fn data_model(&self) -> &'static str {
        formats::name(self.0.format)
    }

    /// The storage in one word.
    #[getter]
    fn stored(&self) -> &'static str {
        self.0.stored.as_str()
    }

    /// The storage as netCDF4-python names it.
    #[getter]
    fn disk_format(&self) -> &'static str {
        match self.0.stored {
            Stored::Classic => "NETCDF3",
            Stored::Hdf5 => "HDF5",
            Stored::Zarr(_) => "NCZARR",
            Stored::Dap2 => "DAP2",
            Stored::Dap4 => "DAP4",
        }
    }

    /// The version of Zarr that it is stored as.
    #[getter]
    fn zarr_version(&self) -> Option<u8> {
        match self.0.stored {
            Stored::Zarr(form) => Some(form.version()),
            Stored::Classic | Stored::Hdf5 | Stored::Dap2 | Stored::Dap4 => None,
        }
    }

    #[getter]
    fn has_classic_model(&self) -> bool {
        self.0.format.has_classic_model()
    }

    #[getter]
    fn is_hdf5(&self) -> bool {
        self.0.is_hdf5()
    }

    /// Whether netCDF-3 with 64-bit data has the type of that name.
    #[staticmethod]
    fn data64_holds(type_name: &str) -> bool {
        holds(Format::Data64, type_name)
    }

    /// Whether the format has the type of that name; the classic ones have no types of users.
    fn holds(&self, type_name: &str) -> bool {
        holds(self.0.format, type_name)
    }
}

fn holds(format: Format, type_name: &str) -> bool {
    match Atomic::from_name(type_name) {
        Some(atomic) => format.holds(atomic),
        None => !format.has_classic_model(),
    }
}
