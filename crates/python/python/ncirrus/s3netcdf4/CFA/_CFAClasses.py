"""The names of S3netCDF4's module of views."""

from ncirrus.s3netcdf4.CFA._CFAExceptions import *  # noqa: F403
from ncirrus.s3netcdf4.views import (
    CFADataset as CFADataset,
    CFADimension as CFADimension,
    CFAGroup as CFAGroup,
    CFAVariable as CFAVariable,
    Partition as CFAPartition,
)

__all__ = ["CFADataset", "CFADimension", "CFAGroup", "CFAPartition", "CFAVariable"]
