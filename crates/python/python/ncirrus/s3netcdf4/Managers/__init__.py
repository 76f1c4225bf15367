"""The names of S3netCDF4's package of managers."""
