//! Whose view of a dataset is shown.

/// Whose view of a dataset is shown: where a format has one of its own, netCDF-C may show something else, or nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum DatasetView {
    /// The format's own: all that can be shown.
    #[default]
    Own,
    /// What netCDF-C shows: datasets of OPeNDAP as its classic view has them, HDF5 without references, which are not
    /// part of netCDF. An address that names a view overrides it.
    NetcdfC,
    /// What netCDF-C shows, and nothing of files that it does not open: netCDF-3 whose variables are not one behind the
    /// other, each padded; HDF5 with groups that contain themselves, or links that lead nowhere; for changes, HDF5 that
    /// does not track in which order the members of its groups were created.
    NetcdfCStrict,
}

impl DatasetView {
    /// Whether netCDF-C's view is shown.
    pub fn is_netcdf_c(self) -> bool {
        match self {
            Self::Own => false,
            Self::NetcdfC | Self::NetcdfCStrict => true,
        }
    }

    /// Whether files that netCDF-C does not open are rejected.
    pub fn is_strict(self) -> bool {
        self == Self::NetcdfCStrict
    }
}
