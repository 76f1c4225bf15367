"""The names of S3netCDF4's module of exceptions of aggregations."""

from ncirrus.s3netcdf4.exceptions import (
    CFADimensionError as CFADimensionError,
    CFAError as CFAError,
    CFAGroupError as CFAGroupError,
    CFAParserError as CFAParserError,
    CFAPartitionError as CFAPartitionError,
    CFAPartitionIndexError as CFAPartitionIndexError,
    CFASubArrayError as CFASubArrayError,
    CFAVariableError as CFAVariableError,
    CFAVariableIndexError as CFAVariableIndexError,
)

CFASubarrayError = CFASubArrayError
