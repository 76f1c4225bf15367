"""The names of S3netCDF4's module of exceptions."""

from ncirrus.s3netcdf4.exceptions import (
    APIException as APIException,
    IOException as IOException,
    MemoryException as MemoryException,
)
