//! What belongs to no file: the functions that netCDF's own tools import, logs, plug-in paths, `ncirrus.h`.

pub(crate) mod log;
pub(crate) mod netcdf_tools;
pub(crate) mod own_interface;
pub(crate) mod plugin_paths;
