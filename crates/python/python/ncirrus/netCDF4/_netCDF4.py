"""The names of netCDF4-python's extension module."""

from __future__ import annotations

from typing import Any

import ncirrus
from ncirrus.netCDF4.aggregated import MFDataset as MFDataset
from ncirrus.netCDF4.constants import (
    NC_DISKLESS as NC_DISKLESS,
    NC_PERSIST as NC_PERSIST,
    NetCDF4MissingFeatureException as NetCDF4MissingFeatureException,
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
    default_encoding as default_encoding,
    default_fillvals as default_fillvals,
    dtype_is_complex as dtype_is_complex,
    getlibversion as getlibversion,
    is_native_big as is_native_big,
    is_native_little as is_native_little,
    unicode_error as unicode_error,
)
from ncirrus.netCDF4.dimension import Dimension as Dimension
from ncirrus.netCDF4.groups import Dataset as Dataset, Group as Group
from ncirrus.netCDF4.settings import (
    get_alignment as get_alignment,
    get_chunk_cache as get_chunk_cache,
    rc_get as rc_get,
    rc_set as rc_set,
    set_alignment as set_alignment,
    set_chunk_cache as set_chunk_cache,
)
from ncirrus.netCDF4.several_files import MFTime as MFTime
from ncirrus.netCDF4.text import (
    chartostring as chartostring,
    stringtoarr as stringtoarr,
    stringtochar as stringtochar,
)
from ncirrus.netCDF4.user_types import CompoundType as CompoundType, EnumType as EnumType, VLType as VLType
from ncirrus.netCDF4.variables import Variable as Variable

__ncirrus_version__: str = ncirrus.__version__
_DATES = ("date2num", "num2date", "date2index")


def __getattr__(name: str) -> Any:
    # cftime is imported where it is needed.
    if name in _DATES:
        import cftime

        return getattr(cftime, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
