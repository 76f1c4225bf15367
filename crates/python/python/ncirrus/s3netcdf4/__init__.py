"""S3netCDF4's API: ``from ncirrus.s3netcdf4 import s3Dataset``; its tools are ``python -m ncirrus.s3netcdf4.tools NAME ARGS``.

The classes are those of `ncirrus.netCDF4`, with variables that may be stored in sub-arrays (docs/python/s3netcdf4.md).
"""

from __future__ import annotations

import sys
from importlib import import_module

from ncirrus.s3netcdf4 import _s3netCDF4 as _s3netCDF4, exceptions as exceptions
from ncirrus.s3netcdf4._s3netCDF4 import (
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
    Partition as Partition,
    Selected as Selected,
    SubArrays as SubArrays,
    register_backend as register_backend,
    s3Dataset as s3Dataset,
    s3Dimension as s3Dimension,
    s3Group as s3Group,
    s3Variable as s3Variable,
)


def install() -> None:
    """Answers `import S3netCDF4` and its modules with this package from now on. `_cfa_var` is `None` then where a variable is not
    in sub-arrays."""
    exceptions._installed.append(True)
    sys.modules["S3netCDF4"] = sys.modules[__name__]
    for name in _MODULES:
        sys.modules[f"S3netCDF4.{name}"] = import_module(f"{__name__}.{name}")


_MODULES = (
    "_s3netCDF4",
    "_Exceptions",
    "CFA",
    "CFA._CFAClasses",
    "CFA._CFAExceptions",
    "Managers",
    "Managers._FileManager",
    "utils",
    "utils.agg",
    "utils.split",
)
