"""Reads and writes of orthogonal selections: one plan each."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ncirrus.netCDF4.utils import _out_array_shape, _StartCountStride


def read(variable: Any, elem: Any) -> Any:
    """Stored values of a selection, without the axes of integers."""
    found, shape = variable._owner(), variable.shape
    pair = (slice(None),) if variable._is_pair else ()
    if not shape:
        _StartCountStride(elem, (1,))
        return _in_order(found.read(pair), variable)
    *_, keys = _StartCountStride(
        elem, shape, variable.dimensions, variable._grp, use_get_vars=variable._use_get_vars, return_selection=True
    )
    wanted = tuple(_within(key, length) for key, length in zip(keys, shape))
    return _in_order(found.oindex[wanted + pair], variable)


def keeps_last(variable: Any, elem: Any) -> bool:
    """Whether a slice selects along the last axis."""
    *_, keys = _StartCountStride(
        elem, variable.shape, variable.dimensions, variable._grp, use_get_vars=True, return_selection=True
    )
    return isinstance(keys[-1], slice)


def _within(key: Any, length: int) -> Any:
    """A key without negative indices."""
    if isinstance(key, slice):
        return key
    if isinstance(key, (int, np.integer)):
        return int(key) + length if key < 0 else int(key)
    indices = np.asarray(key, dtype=np.intp)
    return np.where(indices < 0, indices + length, indices)


def _in_order(values: Any, variable: Any) -> Any:
    """Values of the dtype that the variable shows."""
    dtype = variable.dtype
    if not isinstance(dtype, np.dtype) or variable._isvlen:
        return values
    array: NDArray[Any] = np.asarray(values)
    if dtype.kind == "c":
        parts = np.ascontiguousarray(array)
        joined = parts.view(dtype)
        return joined[..., 0] if variable._is_pair else joined.reshape(array.shape)
    return array.view(array.dtype.str).astype(dtype) if array.dtype.fields is None else array.astype(dtype)


def write(variable: Any, elem: Any, data: Any) -> None:
    """Writes values to a selection, by netCDF4-python's broadcasting; unlimited dimensions grow."""
    found, shape = variable._owner(), variable.shape
    array = _boxed(variable, elem, data)
    if not shape:
        variable._place.check_writable()
        value = array.reshape(())
        found[...] = _parts(variable, value) if variable._is_complex else value[()] if variable._isvlen else value
        return
    start, count, stride, places = _StartCountStride(
        elem, shape, variable.dimensions, variable._grp, datashape=array.shape, put=True
    )
    if start.size == 0 or not count.all():
        if len(shape) == 1 and array.size > 1:
            raise IndexError("size of data array does not conform to slice")
        return
    variable._place.check_writable()
    lengths = [int(length) for length in _out_array_shape(count)]
    keys = tuple(_key(axis, start, count, stride) for axis in range(len(shape)))
    dropped = [bool((places[..., axis] == -1).flat[0]) for axis in range(len(shape))]
    values = _spread(array, lengths, dropped)
    if variable._is_complex:
        pair = (slice(None),) if variable._is_pair else ()
        found.oindex[keys + pair] = _parts(variable, values)
        return
    found.oindex[keys] = values


def _parts(variable: Any, values: NDArray[Any]) -> NDArray[Any]:
    """Complex numbers as they are stored: as compounds, or along an axis of two."""
    whole = np.ascontiguousarray(values, dtype=variable.dtype).reshape(values.shape)
    if variable._is_pair:
        return np.stack([whole.real, whole.imag], axis=-1)
    stored: NDArray[Any] = whole.view(variable._owner().dtype)
    return stored.reshape(values.shape)


def _boxed(variable: Any, elem: Any, data: Any) -> NDArray[Any]:
    """The values as an array; of values of various lengths, one of objects."""
    if not variable._isvlen:
        return np.asarray(data)
    if isinstance(data, str) or (variable.dtype is not str and _is_single(variable, elem, data)):
        boxed = np.empty((), dtype=object)
        boxed[()] = data if variable.dtype is str else np.asarray(data, variable.dtype)
        return boxed
    array = np.asarray(data, dtype=object) if variable.dtype is str else _objects(data)
    return array


def _objects(data: Any) -> NDArray[Any]:
    if isinstance(data, np.ndarray) and data.dtype == object:
        return data
    items = list(data)
    array = np.empty(len(items), dtype=object)
    for at, item in enumerate(items):
        array[at] = item
    return array


def _is_single(variable: Any, elem: Any, data: Any) -> bool:
    """Whether one value of various lengths is assigned to one element."""
    array = np.asarray(data, dtype=object) if not isinstance(data, np.ndarray) else data
    return array.dtype != object or (array.ndim == 1 and not any(np.ndim(item) for item in array))


def _key(axis: int, start: NDArray[Any], count: NDArray[Any], stride: NDArray[Any]) -> Any:
    """The elements along an axis: a slice, or an index for each box."""
    if start.shape[axis] > 1:
        along = tuple(slice(None) if each == axis else 0 for each in range(start.ndim - 1))
        return start[(*along, axis)].astype(np.intp)
    first, number, step = (int(table[..., axis].flat[0]) for table in (start, count, stride))
    if step < 0:
        return np.arange(first, first + number * step, step, dtype=np.intp)
    return slice(first, first + (number - 1) * step + 1, step)


def _spread(array: NDArray[Any], lengths: list[int], dropped: list[bool]) -> NDArray[Any]:
    """Values in the shape of the selection with all its axes."""
    size = int(np.prod(lengths))
    if array.size == size:
        return array.reshape(lengths)
    kept = [length for length, is_dropped in zip(lengths, dropped) if not is_dropped]
    try:
        return np.broadcast_to(array, kept).reshape(lengths)
    except ValueError:
        raise IndexError("size of data array does not conform to slice") from None
