"""What programs of S3netCDF4 need: its tools, as ``python -m ncirrus.s3netcdf4.tools NAME ARGS``."""
