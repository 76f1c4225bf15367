"""Definitions of variables as xarray's encodings ask for them."""

from __future__ import annotations

import operator
from collections.abc import Collection, Iterable, Mapping
from typing import Any

import numpy as np
from xarray import Variable as XarrayVariable
from xarray.coding.strings import check_vlen_dtype

import ncirrus
from ncirrus.xarray import encodings

# What xarray calls a variable without a name.
NAMELESS = "__values__"


def check_name(name: str) -> None:
    """Refuses names in which groups would be looked for."""
    if "/" in name:
        raise ValueError(
            f"Forward slashes '/' are not allowed in variable and dimension names (got {name!r}): "
            "they separate groups"
        )


def attribute(value: Any) -> Any:
    """An attribute's value as netCDF4-python takes it: text, lists of text, numbers."""
    if isinstance(value, bytes):
        value = _decoded(value)
    if isinstance(value, str):
        return ncirrus.Char(value) if value.isascii() else str(value)
    if isinstance(value, np.generic):
        return value
    if isinstance(value, list | tuple | np.ndarray):
        array = np.asarray(value)
        if array.dtype.kind == "S":
            array = np.vectorize(_decoded, otypes=[object])(array) if array.size else array.astype(object)
        if array.dtype.kind in "UO":
            return [str(text) for text in array.ravel()]
        return array.astype("i1") if array.dtype.kind == "b" else np.atleast_1d(array).ravel()
    if isinstance(value, bool):
        return np.int8(value)
    if isinstance(value, int):
        return np.int64(value) if -(2**63) <= value < 2**63 else np.uint64(value)
    if isinstance(value, float):
        return np.float64(value)
    return value


def _decoded(text: bytes) -> str:
    """Bytes as text, up to a null; invalid UTF-8 becomes a replacement character, as netCDF4-python reads it."""
    return text.split(b"\0", 1)[0].decode("utf-8", errors="replace") if text.strip(b"\0") else ""


def in_native_order(variable: XarrayVariable) -> XarrayVariable:
    """A variable in this machine's byte order."""
    if variable.dtype.byteorder in "=|":
        return variable
    data = variable.data.astype(variable.dtype.newbyteorder("="))
    native = XarrayVariable(variable.dims, data, variable.attrs, dict(variable.encoding))
    native.encoding.pop("endian", None)
    return native


def define(
    store: Any, name: str, variable: XarrayVariable, *, check_encoding: bool, unlimited_dims: Collection[Any]
) -> XarrayVariable:
    """Adds a variable to a group, or brings the attributes of one that is there up to date; gives the variable."""
    check_name(name)
    group = store.ds
    attributes = {key: store.attribute(value) for key, value in variable.attrs.items() if key != "_FillValue"}
    if name in group.variables:
        group.variables[name].attrs.update(attributes)
        return variable
    dtype = dtype_for(store, name, variable, check_encoding=check_encoding)
    encoding = _settled(variable, check_encoding=check_encoding, unlimited_dims=unlimited_dims)
    if not check_encoding and not _has_shards(group, encoding):
        encoding.pop("shards", None)
    digits = encoding.get("least_significant_digit")
    if digits is not None:
        attributes["least_significant_digit"] = np.int64(digits)
        variable = XarrayVariable(variable.dims, encodings.rounded(variable.data, digits), variable.attrs)
    words = {
        "chunks": _chunks_of(encoding, variable),
        "shards": encoding.get("shards"),
        "filters": encodings.filters_from_words(encoding, _plain_dtype(dtype)) if variable.dims else None,
        "endian": encoding.get("endian"),
        "quantize": encodings.quantize_of(encoding),
        "attrs": attributes,
    }
    words = {key: value for key, value in words.items() if value is not None}
    fill = variable.attrs.get("_FillValue")
    if fill is not None:
        words["fill_value"] = _fill_for(fill, dtype)
    group.create_variable(name, dtype, variable.dims, **words)
    return variable


def _plain_dtype(dtype: Any) -> Any:
    if dtype is str:
        return str
    return getattr(dtype, "dtype", dtype)


def dtype_for(store: Any, name: str, variable: XarrayVariable, *, check_encoding: bool = False) -> Any:
    """The type of a variable: a numpy dtype, `str`, or a type of the dataset's own."""
    is_text_wanted = variable.encoding.get("dtype") is str
    dtype = variable.dtype
    if is_text_wanted and store.is_classic:
        if check_encoding:
            raise ValueError("encoding dtype=str for vlen strings is only supported with format='NETCDF4'.")
        is_text_wanted = False
    if is_text_wanted or check_vlen_dtype(dtype) is str or dtype.kind in "UT":
        if store.is_classic:
            raise ValueError(f"{name!r}: strings of any length need netCDF-4 or Zarr: the dtype is {dtype}")
        return str
    if dtype.kind == "S" and dtype.itemsize != 1:
        raise ValueError(f"unsupported dtype for netCDF4 variable: {dtype} of {name!r}")
    metadata = dtype.metadata or {}
    if metadata.get("enum_name") and metadata.get("enum"):
        return _enum_type(store.ds, name, dtype, metadata["enum_name"], metadata["enum"])
    if dtype.kind == "c":
        if store.auto_complex is False:
            raise ValueError(f"complex numbers are not written with auto_complex=False: the dtype of {name!r} is {dtype}")
        return _complex_type(store, dtype)
    if dtype.kind not in "iufS" or dtype == np.float16:
        raise ValueError(f"unsupported dtype for netCDF4 variable: {dtype} of {name!r}")
    return dtype


def _visible_type(group: Any, name: str) -> Any:
    while group is not None:
        if name in group.types:
            return group.types[name]
        group = group.parent
    return None


def _enum_type(group: Any, variable: str, dtype: np.dtype[Any], name: str, members: Mapping[str, int]) -> Any:
    found = _visible_type(group, name)
    if found is None:
        return group.create_type(ncirrus.Enum(name, np.dtype(dtype.str), dict(members)))
    if dict(found.members) != dict(members):
        raise ValueError(
            f"Cannot save variable `{variable}` because an enum `{name}` already exists in the Dataset but has a "
            "different definition. To fix this error, make sure all variables have a uniquely named enum in their "
            "`encoding['dtype'].metadata` or, if they should share the same enum type, make sure the enums are "
            "identical."
        )
    return found


def _complex_type(store: Any, dtype: np.dtype[Any]) -> Any:
    """The compound type that netCDF4-python and h5py read as complex numbers."""
    if store.is_classic:
        raise ValueError(f"complex numbers need netCDF-4 or Zarr: the dtype is {dtype}")
    is_single = dtype.itemsize == 8
    name = "_PFNC_FLOAT_COMPLEX_TYPE" if is_single else "_PFNC_DOUBLE_COMPLEX_TYPE"
    part = "f4" if is_single else "f8"
    found = _visible_type(store.ds, name)
    return found or store.ds.create_type(ncirrus.Compound(name, np.dtype([("r", part), ("i", part)])))


def _fill_for(fill: Any, dtype: Any) -> Any:
    if dtype is str:
        return str(fill)
    plain = np.dtype(_plain_dtype(dtype))
    if plain.kind == "S":
        return np.bytes_(fill) if isinstance(fill, bytes) else np.bytes_(str(fill).encode("utf-8", "surrogateescape"))
    return np.asarray(fill).astype(plain)[()] if plain.names is None else fill


def _settled(
    variable: XarrayVariable, *, check_encoding: bool, unlimited_dims: Collection[Any]
) -> dict[str, Any]:
    """The encoding without keys that only describe another file, and keys that do not fit this variable."""
    encoding = {key: value for key, value in variable.encoding.items() if key not in encodings.SAFE_TO_DROP}
    unknown = [key for key in encoding if key not in encodings.VALID]
    if check_encoding and unknown:
        valid = ", ".join(sorted(encodings.VALID - {encodings.EXACT}))
        raise ValueError(f"unexpected encoding parameters for 'ncirrus' backend: {unknown!r}. Valid encodings are: {valid}")
    encoding = {key: value for key, value in encoding.items() if key in encodings.VALID}
    for word in () if check_encoding else ("chunksizes", "chunks"):
        chunks = encoding.get(word)
        if isinstance(chunks, Iterable) and not _fits(tuple(chunks), variable, unlimited_dims):
            del encoding[word]
    if not check_encoding and any(dim in unlimited_dims for dim in variable.dims):
        encoding.pop("contiguous", None)
    return encoding


def _has_shards(group: Any, encoding: Mapping[str, Any]) -> bool:
    """Whether shards, which came with a variable, can be those of a new one."""
    shards, chunks = encoding.get("shards"), encoding.get("chunks")
    if shards is None or chunks is None or group.dataset.format not in ("zarr3", "nczarr3"):
        return False
    if not isinstance(chunks, tuple | list) or not isinstance(shards, tuple | list):
        return False
    # Whether they are multiples of the chunks is the format's business, which says so.
    return encoding.get("chunksizes", chunks) == chunks and len(shards) == len(chunks)


def _fits(chunks: tuple[Any, ...], variable: XarrayVariable, unlimited_dims: Collection[Any]) -> bool:
    """Whether chunk lengths, which came with a variable, are for its shape: it may be a part of what was read."""
    sizes = zip(chunks, variable.shape, variable.dims)
    is_too_big = any(chunk > length and dim not in unlimited_dims for chunk, length, dim in sizes)
    original = variable.encoding.get("original_shape", variable.shape)
    return not is_too_big and len(chunks) == variable.ndim and tuple(original) == variable.shape


def _chunks_of(encoding: Mapping[str, Any], variable: XarrayVariable) -> Any:
    """Chunk lengths, `False` for one run, `None` where the format chooses."""
    chunks = encoding.get("chunksizes")
    if chunks is None:
        chunks = encoding.get("chunks")
    if chunks is not None:
        chunks = (chunks,) * variable.ndim if isinstance(chunks, int) else tuple(chunks)
        if len(chunks) != variable.ndim:
            raise ValueError(f"chunks {chunks} do not fit a variable of shape {variable.shape}")
        return tuple(operator.index(chunk) for chunk in chunks) if chunks else None
    return False if encoding.get("contiguous") and variable.dims else None


def values_for(variable: Any, values: Any) -> Any:
    """An array as a variable takes it: text as objects, complex numbers as pairs, booleans as bytes."""
    if values.dtype.kind in "UT":
        return values.astype(object)
    if values.dtype.kind == "c":
        part = "f4" if values.dtype.itemsize == 8 else "f8"
        return np.ascontiguousarray(values).view(np.dtype([("r", part), ("i", part)])).reshape(values.shape)
    if values.dtype.kind == "b":
        return values.view("i1")
    return values
