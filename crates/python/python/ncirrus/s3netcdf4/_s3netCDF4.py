"""The names of S3netCDF4's module."""

from ncirrus.s3netcdf4.backends import register_backend as register_backend
from ncirrus.s3netcdf4.datasets import s3Dataset as s3Dataset, s3Group as s3Group
from ncirrus.s3netcdf4.exceptions import (
    APIException as APIException,
    CFADimensionError as CFADimensionError,
    CFAError as CFAError,
    CFAGroupError as CFAGroupError,
    CFAParserError as CFAParserError,
    CFAPartitionError as CFAPartitionError,
    CFAPartitionIndexError as CFAPartitionIndexError,
    CFASubArrayError as CFASubArrayError,
    CFAVariableError as CFAVariableError,
    CFAVariableIndexError as CFAVariableIndexError,
    IOException as IOException,
    MemoryException as MemoryException,
)
from ncirrus.s3netcdf4.flows import SubArrays as SubArrays
from ncirrus.s3netcdf4.variables import s3Dimension as s3Dimension, s3Variable as s3Variable
from ncirrus.s3netcdf4.views import Partition as Partition, Selected as Selected
