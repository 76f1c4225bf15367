"""The constants of netCDF4-python 1.7.5.1 over netCDF-C 4.10.1, which programs compare."""

from __future__ import annotations

import sys

from ncirrus.casts import DEFAULT_FILLS

# The reference's versions: programs decide by them what they may call.
__version__ = "1.7.5.1.post1"
__netcdf4libversion__ = "4.10.1"
__hdf5libversion__ = "2.2.0"

__has_rename_grp__ = 1
__has_nc_inq_path__ = 1
__has_nc_inq_format_extended__ = 1
__has_nc_open_mem__ = 1
__has_nc_create_mem__ = 1
__has_cdf5_format__ = 1
__has_parallel4_support__ = 0
__has_pnetcdf_support__ = 0
__has_parallel_support__ = 0
__has_quantization_support__ = 1
__has_zstandard_support__ = 1
__has_bzip2_support__ = 1
__has_blosc_support__ = 1
__has_szip_support__ = 1
__has_set_alignment__ = 1
__has_ncfilter__ = 1
__has_nc_rc_set__ = 1

# The types of netCDF's own but strings, by numpy's codes.
PRIMITIVE = ("S1", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8")

NC_DISKLESS = 0x0008
NC_PERSIST = 0x4000

default_encoding = "utf-8"
unicode_error = "replace"
is_native_little: bool = sys.byteorder == "little"
is_native_big: bool = sys.byteorder == "big"

default_fillvals: dict[str, int | float | str] = {
    **DEFAULT_FILLS,
    "S1": "\0",
    "c8": DEFAULT_FILLS["f4"],
    "c16": DEFAULT_FILLS["f8"],
}

# Attributes of Python objects that are not attributes of the file.
_private_atts = (
    "_grpid",
    "_grp",
    "_varid",
    "groups",
    "dimensions",
    "variables",
    "dtype",
    "data_model",
    "disk_format",
    "_nunlimdim",
    "path",
    "parent",
    "ndim",
    "mask",
    "scale",
    "cmptypes",
    "vltypes",
    "enumtypes",
    "_isprimitive",
    "file_format",
    "_isvlen",
    "_isenum",
    "_iscompound",
    "_cmptype",
    "_vltype",
    "_enumtype",
    "name",
    # Spelled so in the reference.
    "__orthogoral_indexing__",
    "keepweakref",
    "_has_lsd",
    "always_mask",
    "_buffer",
    "chartostring",
    "_use_get_vars",
    "_ncstring_attrs__",
    "auto_complex",
)


class NetCDF4MissingFeatureException(Exception):
    """A feature that the library beneath lacks."""

    def __init__(self, feature: str, version: str) -> None:
        super().__init__(
            f"{feature} requires netCDF lib >= {version} (using {__netcdf4libversion__}). To enable, rebuild "
            f"netcdf4-python using netCDF {version} or higher (and possibly enable {feature})"
        )


def class_of(thing: object) -> str:
    """How the reference shows the class of an object."""
    return f"<class 'netCDF4.{type(thing).__name__}'>"


def getlibversion() -> str:
    """The version of netCDF-C that is answered for, as the reference words it."""
    return f"{__netcdf4libversion__} of Oct 22 2026 23:17:00 $"


def dtype_is_complex(dtype: str) -> bool:
    """Whether it is the code of a type of complex numbers, `c8` or `c16`."""
    return dtype in ("c8", "c16")
