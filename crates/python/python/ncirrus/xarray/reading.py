"""Variables of a dataset as xarray's lazy arrays, with encodings in the words of its other engines."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from xarray import Variable as XarrayVariable
from xarray.backends.common import BackendArray
from xarray.coding.strings import check_vlen_dtype, create_vlen_dtype
from xarray.core import indexing

import ncirrus
from ncirrus._ncirrus import DatasetKind
from ncirrus.xarray import encodings

# Variables along one dimension that decoding looks at while it opens (units of time) come along with the coordinates up
# to this size.
_SMALL_BYTES = 2**20

# Coordinates that are asked for at once.
_AT_ONCE = 32

_COMPLEX_NAMES = ("r", "i")


class NcirrusArray(BackendArray):
    """Values of a variable, read when indexed; any number of threads may do so."""

    __slots__ = ("_batch", "_variable", "dtype", "shape")

    def __init__(
        self,
        variable: Any,
        dtype: np.dtype[Any],
        batch: CoordinateBatch | None = None,
        shape: tuple[int, ...] | None = None,
    ) -> None:
        self._variable = variable
        self._batch = batch
        self.shape: tuple[int, ...] = tuple(variable.shape) if shape is None else shape
        self.dtype: np.dtype[Any] = dtype

    def __getitem__(self, key: indexing.ExplicitIndexer) -> Any:
        kept = None if self._batch is None else self._batch.values(self._variable.name)
        if kept is not None:
            adapted = indexing.NumpyIndexingAdapter(self._handed_out(kept))
            return np.asarray(indexing.apply_indexer(adapted, key))
        return self._handed_out(self._variable.read(_plain(key.tuple), indexing=_kind_of(key)))

    async def async_getitem(self, key: indexing.ExplicitIndexer) -> Any:
        """As indexing, without a thread that waits."""
        return self._handed_out(await self._variable.read_async(_plain(key.tuple), indexing=_kind_of(key)))

    def _handed_out(self, values: Any) -> Any:
        return in_dtype(np.asarray(values), self.dtype)

    def __reduce__(self) -> tuple[Any, ...]:
        # With the shape: what is only handed on, as by a scheduler, is not to be opened.
        return (NcirrusArray, (self._variable, self.dtype, None, self.shape))

    def __deepcopy__(self, memo: Any) -> NcirrusArray:
        return self

    def __dask_tokenize__(self) -> Any:
        return ("ncirrus", self._variable.__dask_tokenize__())


def _kind_of(key: indexing.ExplicitIndexer) -> str:
    if isinstance(key, indexing.VectorizedIndexer):
        return "points"
    return "outer"


def _plain(key: tuple[Any, ...]) -> tuple[Any, ...]:
    """Indices of xarray as Python's numbers, slices and arrays."""
    return tuple(int(index) if isinstance(index, np.integer) else index for index in key)


class CoordinateBatch:
    """Values of the index coordinates of a group, which are fetched together when the first of them is looked at."""

    def __init__(self, group: Any, names: Iterable[str]) -> None:
        self._group = group
        self._names = tuple(names)
        self._values: dict[str, Any] | None = None
        self._fetching = threading.Lock()

    def values(self, name: str) -> Any:
        """The values of one of them; `None` when they were handed over already."""
        if name not in self._names:
            return None
        with self._fetching:
            if self._values is None:
                self._values = dict(zip(self._names, self._fetch()))
            return self._values.get(name)

    def _fetch(self) -> list[Any]:
        path = self._group.path.rstrip("/")
        read_many = getattr(self._group.dataset, "read_many", None)
        if read_many is not None:
            return list(read_many([f"{path}/{name}" for name in self._names]))
        variables = [self._group.variables[name] for name in self._names]
        with ThreadPoolExecutor(min(len(variables), _AT_ONCE)) as threads:
            return list(threads.map(lambda variable: variable.read(), variables))

    def release(self) -> None:
        """Forgets the values: what needs them from now on reads them."""
        with self._fetching:
            self._values = {}


class LazyChunks(Mapping[str, Any]):
    """Edges of the fragments of an aggregated variable, looked up when chunks are requested."""

    def __init__(self, variable: Any) -> None:
        self._variable = variable
        self._found: dict[str, Any] | None = None

    def _lengths(self) -> dict[str, Any]:
        if self._found is None:
            self._found = dict(encodings.preferred_chunks(self._variable))
        return self._found

    def __getitem__(self, dim: str) -> Any:
        return self._lengths()[dim]

    def __iter__(self) -> Iterator[str]:
        return iter(self._lengths())

    def __len__(self) -> int:
        return len(self._lengths())

    def __repr__(self) -> str:
        return "<edges of fragments>" if self._found is None else repr(self._found)

    def __deepcopy__(self, memo: Any) -> LazyChunks:
        return self


def variables_of(
    group: Any, *, fill_as_mask: bool | None, dropped: frozenset[str], keeps_pairs: bool = False
) -> dict[str, XarrayVariable]:
    """All variables of a group that can be read; a warning gives the reasons for the others. Complex numbers stay compounds
    if pairs are kept."""
    shown = {name: variable for name, variable in group.variables.items() if name not in dropped}
    readable = {}
    for name, variable in shown.items():
        if variable.fault is not None:
            message = f"{variable.path}: left out: {variable.fault}"
            warnings.warn(message, getattr(ncirrus, "NcirrusWarning", UserWarning), stacklevel=2)
        else:
            readable[name] = variable
    early = [name for name, variable in readable.items() if _is_looked_at(name, variable)]
    batch = CoordinateBatch(group, early) if group.dataset.mode == "r" and early else None
    return {
        name: variable_of(variable, fill_as_mask=fill_as_mask, batch=batch, keeps_pairs=keeps_pairs)
        for name, variable in readable.items()
    }


def _is_looked_at(name: str, variable: Any) -> bool:
    """Whether opening needs values: those of an index, or the first and last one of a time."""
    if variable.dims == (name,):
        return True
    units = variable.attrs.get("units")
    return isinstance(units, str) and " since " in units and variable.nbytes <= _SMALL_BYTES


def variable_of(
    variable: Any, *, fill_as_mask: bool | None, batch: CoordinateBatch | None = None, keeps_pairs: bool = False
) -> XarrayVariable:
    """A variable as xarray has it, undecoded."""
    dtype = dtype_of(variable, keeps_pairs=keeps_pairs)
    values = NcirrusArray(variable, dtype, batch)
    attributes = attributes_of(variable.attrs)
    _settle_fill(variable, attributes, dtype, fill_as_mask)
    encoding = _encoding_of(variable, dtype)
    if "least_significant_digit" in attributes:
        encoding["least_significant_digit"] = attributes.pop("least_significant_digit")
    return XarrayVariable(variable.dims, indexing.LazilyIndexedArray(values), attributes, encoding)


def attributes_of(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Attributes as netCDF4-python gives them: plain text, numpy scalars and arrays, lists of text."""
    return {name: _text(value) if isinstance(value, str) else value for name, value in attributes.items()}


def _text(value: str) -> str:
    """Plain text, in which bytes that are not UTF-8 are replaced."""
    if value.isascii():
        return str(value)
    return value.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _settle_fill(variable: Any, attributes: dict[str, Any], dtype: np.dtype[Any], as_mask: bool | None) -> None:
    """Brings `_FillValue` to the variable's type, and takes Zarr's fill value for one where that is wanted."""
    kind = _read_kind(variable)
    if kind is not None and kind.zarr_version is not None:
        wanted = kind.zarr_version == 2 if as_mask is None else as_mask
        by_netcdf = "_NCProperties" in variable.dataset.facts
        # Where netCDF wrote it, a default fill value means what it means in netCDF: nothing to be masked.
        modes = ("own",) if by_netcdf else ("own", "default")
        if wanted and "_FillValue" not in attributes and variable.fill_mode in modes:
            fill = _fill_of(variable, dtype)
            if fill is not None:
                attributes["_FillValue"] = fill
        if as_mask is False and kind.zarr_version == 2 and not by_netcdf:
            attributes.pop("_FillValue", None)
    fill = attributes.get("_FillValue")
    if fill is not None and dtype.kind == "S" and isinstance(fill, str):
        attributes["_FillValue"] = np.bytes_(fill.encode("utf-8", "surrogateescape"))


def _read_kind(variable: Any) -> DatasetKind | None:
    """What the variable's dataset is, if it is open for reading."""
    dataset = variable.dataset
    return dataset._known_kind if dataset.mode == "r" else None


# What netCDF fills with where nothing else is said.
_DEFAULT_FILLS = {
    "i1": -127,
    "u1": 255,
    "i2": -32767,
    "u2": 65535,
    "i4": -2147483647,
    "u4": 4294967295,
    "i8": -9223372036854775806,
    "u8": 18446744073709551614,
    "f4": 9.969209968386869e36,
    "f8": 9.969209968386869e36,
}


def _fill_of(variable: Any, dtype: np.dtype[Any]) -> Any:
    """The fill value of a variable, its type's own where it is that."""
    if variable.fill_mode == "own":
        return variable.fill_value
    default = _DEFAULT_FILLS.get(dtype.str[1:])
    return None if default is None else dtype.type(default)


def dtype_of(variable: Any, *, keeps_pairs: bool = False) -> np.dtype[Any]:
    """What values of a variable are handed out as: what the store says where that is more than netCDF's model."""
    dtype: np.dtype[Any] = np.dtype(variable.dtype)
    stored = variable.stored_dtype
    if stored is not None and stored.kind in ("bfMmUS" if keeps_pairs else "bfcMmUS"):
        native: np.dtype[Any] = stored.newbyteorder("=")
        return native
    if not keeps_pairs and dtype.names == _COMPLEX_NAMES and dtype[0] == dtype[1] and dtype[0] in (np.float32, np.float64):
        return np.dtype(f"c{dtype.itemsize}")
    if dtype.kind == "O" and _holds_text(variable, dtype):
        text: np.dtype[Any] = create_vlen_dtype(str)
        return text
    return dtype.newbyteorder("=")


def _holds_text(variable: Any, dtype: np.dtype[Any]) -> bool:
    metadata: dict[Any, Any] = dict(dtype.metadata or {})
    return metadata.get("vlen", str) is str and metadata.get("element_type", str) is str


def in_dtype(values: Any, dtype: np.dtype[Any]) -> Any:
    """Values in the dtype of a lazy array; without a copy where both are of one size."""
    if check_vlen_dtype(dtype) is str:
        return _without_nulls(values)
    if values.dtype == dtype:
        return values
    if values.dtype.kind in "OU" and dtype.kind == "S":
        return _encoded(_without_nulls(values), dtype)
    if values.dtype.kind == "O" and dtype.kind == "U":
        return _without_nulls(values).astype(dtype)
    if values.dtype.itemsize == dtype.itemsize and dtype.kind in "bcMm" and not values.dtype.hasobject:
        return values.view(dtype)
    return values.astype(dtype)


def _encoded(values: Any, dtype: np.dtype[Any]) -> Any:
    """Text as the bytes that are stored, whatever these are."""
    made = np.empty(values.shape, dtype)
    flat = made.reshape(-1)
    for at, text in enumerate(values.reshape(-1)):
        flat[at] = text if isinstance(text, bytes) else text.encode("utf-8", "surrogateescape")
    return made


def _without_nulls(values: Any) -> Any:
    """Strings in which null reads as empty, as netCDF4-python has it."""
    if values.dtype.kind == "O":
        nulls = values == np.array(None)
        if nulls.any():
            values = values.copy()
            values[nulls] = ""
    return values


def _encoding_of(variable: Any, dtype: np.dtype[Any]) -> dict[str, Any]:
    encoding: dict[str, Any] = {"dtype": str if dtype.kind == "O" and dtype.metadata else dtype}
    filters, kind = variable.filters, _read_kind(variable)
    if filters:
        encoding[encodings.EXACT] = filters
    if variable.chunks is not None:
        encoding.update(encodings.filters_in_words(filters))
        encoding |= {"contiguous": False, "chunksizes": tuple(variable.chunks)}
        if kind is not None and kind.zarr_version is not None:
            # to_zarr knows them by another word.
            encoding["chunks"] = tuple(variable.chunks)
            if variable.shards is not None:
                encoding["shards"] = variable.shards
    elif not variable.is_aggregated:
        if kind is not None and kind.is_hdf5:
            encoding.update(encodings.filters_in_words(filters))
        encoding |= {"contiguous": True, "chunksizes": None}
    if variable.is_aggregated:
        encoding["preferred_chunks"] = LazyChunks(variable)
    elif preferred := encodings.preferred_chunks(variable):
        encoding["preferred_chunks"] = preferred
    encoding["source"] = variable.dataset.url
    encoding["original_shape"] = tuple(variable.shape)
    return encoding
