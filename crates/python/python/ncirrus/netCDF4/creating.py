"""What `createVariable` is asked for, in the library's words; refusals in the order and the words of netCDF4-python."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ncirrus._ncirrus import default_chunks
from ncirrus.netCDF4 import failures, storage
from ncirrus.netCDF4.constants import PRIMITIVE, default_fillvals
from ncirrus.netCDF4.user_types import CompoundType, EnumType, VLType, scopes

# How a variable is stored, and what it is filled with: the keywords of `createVariable`.
KEYWORDS = (
    *("compression", "zlib", "complevel", "shuffle", "szip_coding", "szip_pixels_per_block", "blosc_shuffle"),
    *("fletcher32", "contiguous", "chunksizes", "endian", "least_significant_digit", "significant_digits"),
    *("quantize_mode", "fill_value", "chunk_cache", "shards"),
)
_CLASSIC = ("S1", "i1", "i2", "i4", "f4", "f8")
_BYTE_ORDERS = {"=": "native", ">": "big", "<": "little"}
_COMPLEX = {"c8": "_PFNC_FLOAT_COMPLEX_TYPE", "c16": "_PFNC_DOUBLE_COMPLEX_TYPE"}


@dataclass(frozen=True)
class Asked:
    """A variable that is asked for: its type is one of the dataset, `str`, or a dtype."""

    grp: Any
    name: str
    user_type: Any
    dtype: Any
    dimensions: Sequence[Any]
    words: Mapping[str, Any]

    @property
    def place(self) -> str:
        """What errors say about where."""
        return _place(self.grp, self.name)

    @property
    def is_primitive(self) -> bool:
        """Whether it is of one of netCDF's own types but strings."""
        return self.user_type is None and self.dtype is not str

    @property
    def itemsize(self) -> int:
        """Bytes of an element; of strings, of the reference to one."""
        return 8 if self.dtype is str or isinstance(self.user_type, VLType) else int(self.dtype.itemsize)

    def refusal(self, words: str) -> failures.LibraryError:
        """An error of netCDF's library."""
        return failures.LibraryError(f"{words}: {self.place}")


def _place(grp: Any, name: str) -> str:
    return f"(variable '{name}', group '{grp.name}')"


def asked(grp: Any, name: str, datatype: Any, dimensions: Sequence[Any], words: Mapping[str, Any]) -> Asked:
    """Checks the arguments without reading the dataset. Raises `ValueError`, `TypeError` and `RuntimeError`."""
    place, model, endian = _place(grp, name), grp._place.model, words["endian"]
    storage.check_compression(words, place)
    if model.startswith("NETCDF3") and endian != "native":
        raise failures.LibraryError(f"only endian='native' allowed for NETCDF3 files, got '{endian}' {place}")
    if endian not in ("little", "big", "native"):
        raise ValueError(f"'endian' keyword argument must be 'little','big' or 'native', got '{endian}' {place}")
    user_type, dtype = _type_of(datatype)
    is_complex = isinstance(dtype, np.dtype) and dtype.kind == "c" and dtype.itemsize in (8, 16)
    if is_complex and not grp.auto_complex:
        raise ValueError(f"complex datatypes ({dtype}) are only supported with `auto_complex=True`")
    own = _BYTE_ORDERS.get(dtype.byteorder) if user_type is None and dtype is not str else None
    if own is not None and own != endian and not (own == "native" and endian == sys.byteorder):
        warnings.warn("endian-ness of dtype and endian kwarg do not match, using endian kwarg", stacklevel=4)
    if dtype is str and model != "NETCDF4":
        raise ValueError(
            "Variable length strings are only supported for the NETCDF4 format. For other formats, consider using "
            f"netCDF4.stringtochar to convert string arrays into character arrays with an additional dimension. {place}"
        )
    if user_type is None and dtype is not str and not is_complex and dtype.str[1:] not in PRIMITIVE:
        raise TypeError(
            f"Illegal primitive data type, must be one of {dict.fromkeys(PRIMITIVE).keys()}, got {dtype} {place}"
        )
    return Asked(grp, name, user_type, dtype, dimensions, words)


def _type_of(given: Any) -> tuple[Any, Any]:
    """The type of the dataset, if it is one, and the dtype, or `str`."""
    if isinstance(given, (CompoundType, VLType, EnumType)):
        return (None, str) if given.dtype is str else (given, given.dtype)
    if given is str or (isinstance(given, str) and given == "str"):
        return None, str
    dtype = given if type(given) is np.dtype else np.dtype(given)
    if dtype.kind == "U" or (dtype.kind == "S" and dtype.itemsize > 1):
        return None, str
    return None, dtype


def of_complex(ask: Asked) -> tuple[Any, Any, list[str]]:
    """How complex numbers are stored: as a compound, in the classic kinds along one more dimension."""
    part = np.dtype(f"f{ask.dtype.itemsize // 2}")
    names = [each.name for each in ask.dimensions]
    *_, root = scopes(ask.grp)
    if ask.grp._place.model != "NETCDF4":
        if "_pfnc_complex" not in root.dimensions:
            root.createDimension("_pfnc_complex", 2)
        return None, part, [*names, "_pfnc_complex"]
    name = _COMPLEX[ask.dtype.str[1:]]
    if name not in root.cmptypes:
        root.createCompoundType(np.dtype([("r", part), ("i", part)]), name)
    return root.cmptypes[name], root.cmptypes[name].dtype, names


def library_words(ask: Asked) -> dict[str, Any]:
    """The arguments of the library's `create_variable`; raises what the dataset refuses."""
    _check_dataset(ask)
    how: dict[str, Any] = {"type": ask.user_type._known if ask.user_type is not None else ask.dtype}
    if ask.is_primitive:
        # How it is stored says `endian` alone.
        how["type"] = "char" if ask.dtype.str[1:] == "S1" else ask.dtype.newbyteorder("=")
    if ask.grp._place.model.startswith("NETCDF4"):
        how |= _stored(ask)
    elif ask.words["shards"] is not None:
        raise ValueError(f"shards need format='ZARR3' {ask.place}")
    return how | _filled(ask)


def _check_dataset(ask: Asked) -> None:
    grp, model = ask.grp, ask.grp._place.model
    grp._place.check_open()
    if grp._place.mode == "r":
        raise ask.refusal(failures.READ_ONLY if model == "NETCDF4" else failures.DATA_MODE)
    code = ask.dtype.str[1:] if ask.is_primitive else ""
    is_old = model not in ("NETCDF4", "NETCDF3_64BIT_DATA")
    if code and is_old and code not in _CLASSIC:
        is_hdf5 = model == "NETCDF4_CLASSIC"
        raise ask.refusal(failures.STRICT_CLASSIC if is_hdf5 else failures.BAD_TYPE)
    if ask.name in grp.variables or ask.name in grp.groups:
        raise ask.refusal(failures.NAME_IN_USE)
    # The library keeps to the classic model in netCDF-4 files too, where the reference does not.
    if model != "NETCDF4" and any(each.isunlimited() for each in ask.dimensions[1:]):
        raise ask.refusal("NetCDF: NC_UNLIMITED in the wrong index")


def _stored(ask: Asked) -> dict[str, Any]:
    """Filters, chunks, byte order and rounding, which netCDF-4 alone has."""
    words = ask.words
    how: dict[str, Any] = {}
    if ask.dimensions:
        chain = storage.filters_of(words, 0 if ask.dtype is str else ask.dtype.itemsize, ask.place)
        if words["contiguous"] and words["chunksizes"] is not None:
            raise ValueError("cannot specify chunksizes for a contiguous dataset")
        grows = [each.isunlimited() for each in ask.dimensions]
        chunks = _chunks(ask, grows, bool(chain))
        if words["contiguous"] and (chain or any(grows)) and not ask.grp._place.is_zarr:
            raise ask.refusal(failures.INVALID)
        storage.check_blocks(words, chunks, ask.place)
        if chain:
            how["filters"] = chain
        how["chunks"] = chunks
        if words["shards"] is not None:
            how["shards"] = words["shards"]
    if words["endian"] != "native":
        if not ask.is_primitive or ask.dtype.kind == "S":
            raise ask.refusal(failures.INVALID)
        how["endian"] = words["endian"]
    if words["significant_digits"] is not None:
        how["quantize"] = storage.rounding(words, ask.dtype if ask.is_primitive else None, ask.place)
    return how


def _chunks(ask: Asked, grows: Sequence[bool], is_filtered: bool) -> Any:
    """The shape of chunks; `False` for values in one run."""
    given = ask.words["chunksizes"]
    if given is None:
        is_chunked = ask.grp._place.is_zarr or not ask.words["contiguous"] and (is_filtered or any(grows))
        return default_chunks([len(each) for each in ask.dimensions], grows, ask.itemsize) if is_chunked else False
    if len(given) != len(ask.dimensions):
        raise ValueError("chunksizes must be a sequence with the same length as dimensions")
    for size, dimension, is_growing in zip(given, ask.dimensions, grows):
        if not is_growing and size > len(dimension):
            raise ValueError("chunksize cannot exceed dimension size")
        if int(size) < 0:
            raise OverflowError("can't convert negative value to size_t")
    defaults = default_chunks([len(each) for each in ask.dimensions], grows, ask.itemsize)
    return [int(size) or default for size, default in zip(given, defaults)]


def _filled(ask: Asked) -> dict[str, Any]:
    """What elements are that are never written."""
    fill = ask.words["fill_value"]
    if fill is None:
        return {} if ask.grp._place.is_filled else {"fill_value": False}
    if fill is False:
        return {"fill_value": False} if ask.is_primitive else {}
    if isinstance(fill, str) and fill == "default":
        if ask.is_primitive:
            return {"fill_value": np.array(default_fillvals[ask.dtype.str[1:]], ask.dtype.newbyteorder("="))}
        # The reference's words, which programs filter by.
        told = "there is no default fill value for this data type, so fill_value='default'\ndoes not do anything."
        warnings.warn(f"\nWARNING: {told}", stacklevel=5)
        return {}
    if ask.dtype is str:
        return {"fill_value": str(fill)}
    if ask.user_type is not None and not isinstance(ask.user_type, EnumType):
        raise failures.MissingAttributeError("cannot set _FillValue attribute for VLEN or compound variable")
    value = np.array(fill, ask.dtype.newbyteorder("="))
    if value.ndim > 1:
        raise ValueError("multi-dimensional array attributes not supported")
    if value.size != 1:
        is_old = not ask.grp._place.model.startswith("NETCDF4")
        raise failures.LibraryError(failures.BAD_TYPE) if is_old else failures.MissingAttributeError(failures.INVALID)
    return {"fill_value": value.reshape(())}
