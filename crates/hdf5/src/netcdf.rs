//! Groups, dimensions, types, variables and attributes as netCDF-4 has them (hdf5-netcdf4.md H); the driver.
mod driver;

pub use driver::Hdf5Driver;
