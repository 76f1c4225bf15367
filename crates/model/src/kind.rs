//! What a dataset is: its format for netCDF, and how it is stored.
use crate::Atomic;
use std::fmt;
use std::str::FromStr;

/// What a dataset is. The two are apart: a server of OPeNDAP computes what looks like netCDF-3, and Zarr holds what
/// looks like netCDF-4.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct DatasetKind {
    /// The format for netCDF, which decides what definitions it can have.
    pub format: Format,
    /// How it is stored.
    pub stored: Stored,
}

/// The formats of netCDF.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Format {
    /// netCDF-3, CDF-1.
    Classic,
    /// netCDF-3 with offsets of 64 bits, CDF-2.
    Offset64,
    /// netCDF-3 with sizes of 64 bits and five more types, CDF-5.
    Data64,
    /// netCDF-4.
    NetCdf4,
    /// netCDF-4, restricted to the classic model.
    NetCdf4Classic,
}

/// How a dataset is stored, or who computes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Stored {
    /// As a file of netCDF-3.
    Classic,
    /// As a file of HDF5.
    Hdf5,
    /// As Zarr.
    Zarr(ZarrForm),
    /// A server computes it, and sends it by DAP2.
    Dap2,
    /// A server computes it, and sends it by DAP4.
    Dap4,
}

/// Forms of Zarr: its version, with and without the metadata of NCZarr.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ZarrForm {
    /// Zarr v2.
    Zarr2,
    /// Zarr v3.
    Zarr3,
    /// NCZarr upon Zarr v2.
    NcZarr2,
    /// NCZarr upon Zarr v3.
    NcZarr3,
}

impl DatasetKind {
    /// netCDF-3 as a file.
    #[must_use]
    pub fn classic(format: Format) -> Self {
        Self { format, stored: Stored::Classic }
    }

    /// netCDF-4 as a file of HDF5.
    #[must_use]
    pub fn hdf5(classic_model: bool) -> Self {
        let format = if classic_model { Format::NetCdf4Classic } else { Format::NetCdf4 };
        Self { format, stored: Stored::Hdf5 }
    }

    /// netCDF-4 as Zarr.
    #[must_use]
    pub fn zarr(form: ZarrForm) -> Self {
        Self { format: Format::NetCdf4, stored: Stored::Zarr(form) }
    }

    /// Whether it is netCDF-3 for programs: stored so, or sent by a server as if it were.
    #[must_use]
    pub fn is_classic(self) -> bool {
        self.format.is_classic()
    }

    /// Whether it is stored as a file of HDF5.
    #[must_use]
    pub fn is_hdf5(self) -> bool {
        self.stored == Stored::Hdf5
    }

    /// Whether it is stored as Zarr of any form.
    #[must_use]
    pub fn is_zarr(self) -> bool {
        matches!(self.stored, Stored::Zarr(_))
    }
}

/// The format as `ncdump -k` names it.
impl fmt::Display for DatasetKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.format.fmt(f)
    }
}

impl Format {
    /// All formats.
    pub const ALL: [Self; 5] =
        [Self::Classic, Self::Offset64, Self::Data64, Self::NetCdf4, Self::NetCdf4Classic];

    /// The name as `ncdump -k` prints it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Classic => "classic",
            Self::Offset64 => "64-bit offset",
            Self::Data64 => "cdf5",
            Self::NetCdf4 => "netCDF-4",
            Self::NetCdf4Classic => "netCDF-4 classic model",
        }
    }

    /// Whether it is netCDF-3.
    #[must_use]
    pub fn is_classic(self) -> bool {
        match self {
            Self::Classic | Self::Offset64 | Self::Data64 => true,
            Self::NetCdf4 | Self::NetCdf4Classic => false,
        }
    }

    /// Whether it has the classic model: one group, one unlimited dimension, no types of its own, no strings.
    #[must_use]
    pub fn has_classic_model(self) -> bool {
        match self {
            Self::Classic | Self::Offset64 | Self::Data64 | Self::NetCdf4Classic => true,
            Self::NetCdf4 => false,
        }
    }

    /// Whether it has the type.
    #[must_use]
    pub fn holds(self, atomic: Atomic) -> bool {
        match self {
            Self::Classic | Self::Offset64 | Self::NetCdf4Classic => atomic.is_classic(),
            Self::Data64 => atomic != Atomic::String,
            Self::NetCdf4 => true,
        }
    }
}

/// The name as `ncdump -k` prints it.
impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A text that names no format.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownFormat(pub String);

impl fmt::Display for UnknownFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} names no format of netCDF", self.0)
    }
}

impl std::error::Error for UnknownFormat {}

/// From the name as `ncdump -k` prints it.
impl FromStr for Format {
    type Err = UnknownFormat;

    fn from_str(name: &str) -> Result<Self, UnknownFormat> {
        let found = Self::ALL.into_iter().find(|format| format.as_str() == name);
        found.ok_or_else(|| UnknownFormat(name.to_owned()))
    }
}

impl Stored {
    /// The storage in one word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Classic => "netcdf3",
            Self::Hdf5 => "netcdf4",
            Self::Zarr(form) => form.as_str(),
            Self::Dap2 => "dap2",
            Self::Dap4 => "dap4",
        }
    }

    /// Whether a server computes it.
    #[must_use]
    pub fn is_computed(self) -> bool {
        match self {
            Self::Dap2 | Self::Dap4 => true,
            Self::Classic | Self::Hdf5 | Self::Zarr(_) => false,
        }
    }
}

/// The storage in one word.
impl fmt::Display for Stored {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl ZarrForm {
    /// The form in one word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Zarr2 => "zarr2",
            Self::Zarr3 => "zarr3",
            Self::NcZarr2 => "nczarr2",
            Self::NcZarr3 => "nczarr3",
        }
    }

    /// The version of Zarr.
    #[must_use]
    pub fn version(self) -> u8 {
        match self {
            Self::Zarr2 | Self::NcZarr2 => 2,
            Self::Zarr3 | Self::NcZarr3 => 3,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_formats_lead_back_to_them() {
        for format in Format::ALL {
            assert_eq!(format.to_string().parse(), Ok(format));
        }
        assert_eq!("".parse::<Format>(), Err(UnknownFormat(String::new())));
        assert_eq!(DatasetKind::zarr(ZarrForm::Zarr3).to_string(), "netCDF-4");
        assert_eq!(DatasetKind::hdf5(true).to_string(), "netCDF-4 classic model");
    }

    #[test]
    fn each_format_has_its_types() {
        let with = |atomic| Format::ALL.into_iter().filter(move |format| format.holds(atomic));
        assert_eq!(with(Atomic::Int).count(), 5);
        assert_eq!(with(Atomic::UInt64).collect::<Vec<_>>(), [Format::Data64, Format::NetCdf4]);
        assert_eq!(with(Atomic::String).collect::<Vec<_>>(), [Format::NetCdf4]);
    }
}
