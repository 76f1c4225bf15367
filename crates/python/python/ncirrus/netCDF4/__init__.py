"""netCDF4-python's API: `import ncirrus.netCDF4 as netCDF4`.

Names, results and exceptions are those of netCDF4-python 1.7.5.1 over netCDF-C 4.10.1; the differences are in
`docs/python/netcdf4.md`.
"""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Any

from ncirrus.netCDF4 import _netCDF4 as _netCDF4, utils as utils
from ncirrus.netCDF4._netCDF4 import (
    __ncirrus_version__ as __ncirrus_version__,
    CompoundType as CompoundType,
    Dataset as Dataset,
    Dimension as Dimension,
    EnumType as EnumType,
    Group as Group,
    MFDataset as MFDataset,
    MFTime as MFTime,
    NC_DISKLESS as NC_DISKLESS,
    NC_PERSIST as NC_PERSIST,
    NetCDF4MissingFeatureException as NetCDF4MissingFeatureException,
    VLType as VLType,
    Variable as Variable,
    __has_blosc_support__ as __has_blosc_support__,
    __has_bzip2_support__ as __has_bzip2_support__,
    __has_cdf5_format__ as __has_cdf5_format__,
    __has_nc_create_mem__ as __has_nc_create_mem__,
    __has_nc_inq_format_extended__ as __has_nc_inq_format_extended__,
    __has_nc_inq_path__ as __has_nc_inq_path__,
    __has_nc_open_mem__ as __has_nc_open_mem__,
    __has_nc_rc_set__ as __has_nc_rc_set__,
    __has_ncfilter__ as __has_ncfilter__,
    __has_parallel4_support__ as __has_parallel4_support__,
    __has_parallel_support__ as __has_parallel_support__,
    __has_pnetcdf_support__ as __has_pnetcdf_support__,
    __has_quantization_support__ as __has_quantization_support__,
    __has_rename_grp__ as __has_rename_grp__,
    __has_set_alignment__ as __has_set_alignment__,
    __has_szip_support__ as __has_szip_support__,
    __has_zstandard_support__ as __has_zstandard_support__,
    __hdf5libversion__ as __hdf5libversion__,
    __netcdf4libversion__ as __netcdf4libversion__,
    __version__ as __version__,
    _private_atts as _private_atts,
    chartostring as chartostring,
    default_encoding as default_encoding,
    default_fillvals as default_fillvals,
    dtype_is_complex as dtype_is_complex,
    get_alignment as get_alignment,
    get_chunk_cache as get_chunk_cache,
    getlibversion as getlibversion,
    is_native_big as is_native_big,
    is_native_little as is_native_little,
    rc_get as rc_get,
    rc_set as rc_set,
    set_alignment as set_alignment,
    set_chunk_cache as set_chunk_cache,
    stringtoarr as stringtoarr,
    stringtochar as stringtochar,
    unicode_error as unicode_error,
)

if TYPE_CHECKING:
    from cftime import date2index as date2index, date2num as date2num, num2date as num2date

__all__ = [
    "Dataset",
    "Variable",
    "Dimension",
    "Group",
    "MFDataset",
    "MFTime",
    "CompoundType",
    "VLType",
    "date2num",
    "num2date",
    "date2index",
    "stringtochar",
    "chartostring",
    "stringtoarr",
    "getlibversion",
    "EnumType",
    "get_chunk_cache",
    "set_chunk_cache",
    "set_alignment",
    "get_alignment",
    "rc_get",
    "rc_set",
]


def __getattr__(name: str) -> Any:
    return getattr(_netCDF4, name)


def __dir__() -> list[str]:
    return sorted({*globals(), "date2num", "num2date", "date2index"})


def install() -> None:
    """Answers `import netCDF4`, `netCDF4._netCDF4` and `netCDF4.utils` with this module from now on."""
    for name in ("", "._netCDF4", ".utils"):
        sys.modules[f"netCDF4{name}"] = importlib.import_module(f"ncirrus.netCDF4{name}")
