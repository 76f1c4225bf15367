//! The dialects of Zarr and NCZarr (docs/spec/nczarr.md 2.1).
use ncirrus_model::ZarrForm;
use std::fmt;

/// Which program's conventions a store follows. Consolidated metadata are possible with any of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// netcdf-c 4.8.0: objects `.nczarr`, `.nczgroup`, `.nczvar`, `.nczattr`.
    V1,
    /// The documented names of the same: `.nczarray`, `.nczattrs`.
    V1Documented,
    /// netcdf-c 4.8.1: upper-case members of `.zgroup`, `.zarray`, `.zattrs`.
    UpperCase,
    /// netcdf-c 4.9.0: as `UpperCase`, with `_ARRAY_DIMENSIONS`.
    UpperCaseXarray,
    /// netcdf-c 4.9.1 and 4.9.2: lower-case members of `.zgroup`, `.zarray`, `.zattrs`.
    LowerCase,
    /// netcdf-c 4.9.3 and later: everything in `.zattrs`.
    Attributes,
    /// Zarr v2 by netcdf-c, with `_ARRAY_DIMENSIONS`.
    PlainXarray,
    /// Zarr v2 without dimension names.
    Plain,
    /// Zarr v2 with `_ARRAY_DIMENSIONS`, by xarray and others.
    Xarray,
    /// Zarr v3.
    V3,
    /// Zarr v3 with the members of NCZarr's draft appendix (docs/spec/nczarr.md 6.3).
    Nczarr3,
    /// The draft of December 2018 (docs/spec/nczarr.md 7).
    Draft2018,
}

impl Dialect {
    /// The identifier in the table of docs/spec/nczarr.md 2.1.
    pub fn id(self) -> &'static str {
        match self {
            Self::V1 => "V1",
            Self::V1Documented => "V1d",
            Self::UpperCase => "UC",
            Self::UpperCaseXarray => "UCX",
            Self::LowerCase => "LC",
            Self::Attributes => "ATT",
            Self::PlainXarray => "PX",
            Self::Plain => "P",
            Self::Xarray => "XR",
            Self::V3 => "Z3",
            Self::Nczarr3 => "N3",
            Self::Draft2018 => "D18",
        }
    }

    /// Which form of Zarr it is.
    pub fn form(self) -> ZarrForm {
        match self {
            Self::Plain | Self::PlainXarray | Self::Xarray => ZarrForm::Zarr2,
            Self::V3 => ZarrForm::Zarr3,
            Self::V1
            | Self::V1Documented
            | Self::UpperCase
            | Self::UpperCaseXarray
            | Self::LowerCase
            | Self::Attributes
            | Self::Draft2018 => ZarrForm::NcZarr2,
            Self::Nczarr3 => ZarrForm::NcZarr3,
        }
    }

    /// Zarr's own format number: 2 or 3.
    pub fn zarr_format(self) -> u8 {
        self.form().version()
    }

    /// Whether the store carries NCZarr metadata.
    pub fn is_nczarr(self) -> bool {
        matches!(self.form(), ZarrForm::NcZarr2 | ZarrForm::NcZarr3)
    }

    /// Whether `<U1` means one byte of text (docs/spec/nczarr.md 3.12).
    pub fn has_one_byte_unicode(self) -> bool {
        matches!(self, Self::V1 | Self::V1Documented | Self::UpperCase | Self::UpperCaseXarray)
    }
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id())
    }
}
