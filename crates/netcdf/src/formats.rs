//! Numbers, names and limits of netCDF's formats: `nc_inq_format`, `nc_inq_format_extended`, the formats that
//! netCDF4-python names, and what `nc_def_dim`, `nc_enddef` and conversions take from the format.
use ncirrus_model::{DatasetKind, Format, Stored};

/// `NC_64BIT_DATA`.
pub const MODE_64BIT_DATA: i32 = 0x0020;
/// `NC_64BIT_OFFSET`.
pub const MODE_64BIT_OFFSET: i32 = 0x0200;
/// `NC_NETCDF4`.
pub const MODE_NETCDF4: i32 = 0x1000;

/// `NC_FORMAT_*`, as `nc_inq_format` returns it.
pub fn number(format: Format) -> i32 {
    match format {
        Format::Classic => 1,
        Format::Offset64 => 2,
        Format::NetCdf4 => 3,
        Format::NetCdf4Classic => 4,
        Format::Data64 => 5,
    }
}

/// `NC_FORMATX_*`, as `nc_inq_format_extended` returns it.
pub fn extended_number(stored: Stored) -> i32 {
    match stored {
        Stored::Classic => 1,
        Stored::Hdf5 => 2,
        Stored::Dap2 => 5,
        Stored::Dap4 => 6,
        Stored::Zarr(_) => 10,
    }
}

/// The bits of the mode of an open file that state its format.
pub fn mode_bits(format: Format) -> i32 {
    match format {
        Format::Classic => 0,
        Format::Offset64 => MODE_64BIT_OFFSET,
        Format::Data64 => MODE_64BIT_DATA,
        Format::NetCdf4 | Format::NetCdf4Classic => MODE_NETCDF4,
    }
}

/// The storage with the mode that `nc_open` reports for it, as `ncdump -K` prints it.
pub fn kind_with_mode(kind: DatasetKind) -> String {
    let stored = match (kind.format, kind.stored) {
        (Format::Data64, _) => "64-bit data",
        (Format::Classic | Format::Offset64, _) => kind.format.as_str(),
        (Format::NetCdf4 | Format::NetCdf4Classic, Stored::Hdf5) => "HDF5",
        (
            Format::NetCdf4 | Format::NetCdf4Classic,
            Stored::Classic | Stored::Zarr(_) | Stored::Dap2 | Stored::Dap4,
        ) => "NCZarr",
    };
    format!("{stored} mode={:08x}", mode_bits(kind.format))
}

/// The name of a format in netCDF4-python, xarray and S3netCDF4.
pub fn name(format: Format) -> &'static str {
    match format {
        Format::Classic => "NETCDF3_CLASSIC",
        Format::Offset64 => "NETCDF3_64BIT_OFFSET",
        Format::Data64 => "NETCDF3_64BIT_DATA",
        Format::NetCdf4Classic => "NETCDF4_CLASSIC",
        Format::NetCdf4 => "NETCDF4",
    }
}

/// The format that netCDF4-python, xarray and S3netCDF4 call so.
pub fn named(text: &str) -> Option<Format> {
    Format::ALL.into_iter().find(|format| name(*format) == text)
}

/// Maximum length of a dimension.
pub fn max_dimension_len(format: Format) -> u64 {
    match format {
        Format::Classic => 0x7fff_ffff - 3,
        Format::Offset64 => 0xffff_ffff - 3,
        Format::NetCdf4Classic => 0xffff_ffff,
        Format::Data64 => i64::MAX as u64,
        Format::NetCdf4 => u64::MAX,
    }
}

/// Maximum number of bytes of a variable of netCDF-3, or of one of its records, that another variable follows.
pub fn max_variable_len(format: Format) -> u64 {
    match format {
        Format::Classic => 0x7fff_ffff - 3,
        Format::Offset64 => 0xffff_ffff - 3,
        Format::Data64 | Format::NetCdf4 | Format::NetCdf4Classic => i64::MAX as u64 - 3,
    }
}

/// Whether calls are restricted by the mode: definitions change in define mode only, values in data mode only. In
/// netCDF-4 with its own model, calls change the mode as they need it.
pub fn has_modes(format: Format) -> bool {
    format.has_classic_model()
}

/// Whether the format has one type of bytes, with and without sign: they convert to `unsigned char` as their bits are.
pub fn has_one_type_of_bytes(format: Format) -> bool {
    match format {
        Format::Classic | Format::Offset64 | Format::NetCdf4Classic => true,
        Format::Data64 | Format::NetCdf4 => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ncirrus_model::ZarrForm;

    #[test]
    fn formats_have_the_numbers_of_netcdf_h() {
        assert_eq!(Format::ALL.map(number), [1, 2, 5, 3, 4]);
        let stored =
            [Stored::Classic, Stored::Hdf5, Stored::Dap2, Stored::Dap4, Stored::Zarr(ZarrForm::NcZarr2)];
        assert_eq!(stored.map(extended_number), [1, 2, 5, 6, 10]);
    }

    #[test]
    fn names_lead_back_to_formats() {
        for format in Format::ALL {
            assert_eq!(named(name(format)), Some(format));
        }
        assert_eq!(named("NETCDF3_64BIT"), None);
        assert_eq!(named("netCDF-4"), None);
    }

    #[test]
    fn ncdump_prints_kinds_with_modes() {
        let printed = |kind| kind_with_mode(kind);
        assert_eq!(printed(DatasetKind::classic(Format::Classic)), "classic mode=00000000");
        assert_eq!(printed(DatasetKind::classic(Format::Offset64)), "64-bit offset mode=00000200");
        assert_eq!(printed(DatasetKind::classic(Format::Data64)), "64-bit data mode=00000020");
        assert_eq!(printed(DatasetKind::hdf5(true)), "HDF5 mode=00001000");
        assert_eq!(printed(DatasetKind::zarr(ZarrForm::Zarr3)), "NCZarr mode=00001000");
        let computed = |format, stored| printed(DatasetKind { format, stored });
        assert_eq!(computed(Format::Classic, Stored::Dap2), "classic mode=00000000");
        assert_eq!(computed(Format::NetCdf4, Stored::Dap4), "NCZarr mode=00001000");
    }

    #[test]
    fn limits_grow_with_the_format() {
        let [cdf1, cdf2, cdf5, enhanced, classic_model] = Format::ALL.map(max_dimension_len);
        assert_eq!((cdf1, cdf2), (2_147_483_644, 4_294_967_292));
        assert!(cdf5 < enhanced && classic_model == u64::from(u32::MAX));
        assert_eq!(Format::ALL.map(max_variable_len)[..2], [cdf1, cdf2]);
    }

    #[test]
    fn only_the_model_of_netcdf4_changes_modes_by_itself() {
        assert_eq!(Format::ALL.map(has_modes), [true, true, true, false, true]);
        assert_eq!(Format::ALL.map(has_one_type_of_bytes), [true, true, false, false, true]);
    }
}
