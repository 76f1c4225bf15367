"""Reads and writes of orthogonal selections: one plan each."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ncirrus.netCDF4.orthogonal import AxisBox, by_axis

# Types of indices that mean what they do for numpy.
_PLAIN = frozenset((int, slice, type(...)))


def read(variable: Any, elem: Any) -> Any:
    """Stored values of a selection, without the axes of integers."""
    found, shape = variable._owner(), variable.shape
    at_once = _read_at_once(variable, found, elem) if shape else None
    if at_once is not None:
        return _in_order(at_once, variable)
    if not shape:
        by_axis(elem, (1,))
        return _in_order(found.read(_pair(variable)), variable)
    keys, _ = by_axis(elem, shape, variable.dimensions, variable._grp, use_get_vars=variable._use_get_vars)
    return _in_order(found.oindex[(*keys, *_pair(variable))], variable)


def _read_at_once(variable: Any, found: Any, elem: Any) -> Any:
    """Values of integers and forward slices, which mean what they do for numpy; none where the index is another one."""
    if type(elem) is tuple:
        if not all(map(_PLAIN.__contains__, map(type, elem))):
            return None
    elif type(elem) not in _PLAIN:
        return None
    if variable._is_pair:
        return None
    try:
        return found._native().get(elem)
    except IndexError:
        # It is told in netCDF4-python's words.
        return None


def keeps_last(variable: Any, elem: Any) -> bool:
    """Whether a slice selects along the last axis."""
    keys, _ = by_axis(elem, variable.shape, variable.dimensions, variable._grp)
    return isinstance(keys[-1], slice)


def _pair(variable: Any) -> tuple[slice, ...]:
    """The key of the axis of real and imaginary parts, where there is one."""
    return (slice(None),) if variable._is_pair else ()


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
    if array.dtype.fields is None and array.dtype.metadata is not None:
        array = array.view(array.dtype.str)
    return array.astype(dtype, copy=False)


def write(variable: Any, elem: Any, data: Any) -> None:
    """Writes values to a selection, by netCDF4-python's broadcasting; unlimited dimensions grow."""
    found, shape = variable._owner(), variable.shape
    array = _boxed(variable, data)
    if not shape:
        variable._place.check_writable()
        value = array.reshape(())
        found[...] = _parts(variable, value) if variable._is_complex else value[()] if variable._isvlen else value
        return
    keys, axes = by_axis(elem, shape, variable.dimensions, variable._grp, array.shape, put=True)
    lengths = [box.count for box in axes]
    if 0 in lengths:
        if len(shape) == 1 and array.size > 1:
            raise IndexError("size of data array does not conform to slice")
        return
    variable._place.check_writable()
    values = _spread(array, lengths, [isinstance(key, int) for key in keys])
    if variable._is_complex:
        values = _parts(variable, values)
    wanted = [key if isinstance(key, np.ndarray) else _elements(box) for key, box in zip(keys, axes)]
    found.oindex[(*wanted, *_pair(variable))] = values


def _parts(variable: Any, values: NDArray[Any]) -> NDArray[Any]:
    """Complex numbers as they are stored: as compounds, or along an axis of two."""
    whole = np.ascontiguousarray(values, dtype=variable.dtype).reshape(values.shape)
    if variable._is_pair:
        return np.stack([whole.real, whole.imag], axis=-1)
    stored: NDArray[Any] = whole.view(variable._owner().dtype)
    return stored.reshape(values.shape)


def _boxed(variable: Any, data: Any) -> NDArray[Any]:
    """The values as an array; of values of various lengths, one of objects."""
    if not variable._isvlen:
        return np.asarray(data)
    if isinstance(data, str) or (variable.dtype is not str and _is_single(data)):
        boxed = np.empty((), dtype=object)
        boxed[()] = data if variable.dtype is str else np.asarray(data, variable.dtype)
        return boxed
    return np.asarray(data, dtype=object) if variable.dtype is str else _objects(data)


def _objects(data: Any) -> NDArray[Any]:
    if isinstance(data, np.ndarray) and data.dtype == object:
        return data
    items = list(data)
    array = np.empty(len(items), dtype=object)
    for at, item in enumerate(items):
        array[at] = item
    return array


def _is_single(data: Any) -> bool:
    """Whether one value of various lengths is assigned to one element."""
    array = np.asarray(data, dtype=object) if not isinstance(data, np.ndarray) else data
    return array.dtype != object or (array.ndim == 1 and not any(np.ndim(item) for item in array))


def _elements(box: AxisBox) -> Any:
    """The elements along an axis: a slice, or indices where they go backwards."""
    first, count, step = box.start, box.count, box.stride
    if step < 0:
        return np.arange(first, first + count * step, step, dtype=np.intp)
    return slice(first, first + (count - 1) * step + 1, step)


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
