"""Reads and writes of orthogonal selections: one plan each."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ncirrus.netCDF4 import masking
from ncirrus.netCDF4.failures import LibraryError
from ncirrus.netCDF4.masking import Decoding
from ncirrus.netCDF4.orthogonal import AxisBox, by_axis
from ncirrus.netCDF4.vlens import boxed

# Types of indices that mean what they do for numpy.
_PLAIN = frozenset((int, slice, type(...)))
_INTEGERS = frozenset((np.int64, np.int32, np.uint64, np.uint32, np.int16, np.uint16, np.int8, np.uint8))


def read(variable: Any, elem: Any) -> Any:
    """Stored values of a selection, without the axes of integers."""
    found, shape = variable._owner(), variable.shape
    at_once = _read_at_once(variable, found, elem) if shape else None
    if at_once is not None:
        return _native(_in_order(at_once, variable))
    if not shape:
        if by_axis(elem, (1,))[1][0].count == 0:
            raise IndexError("index 0 is out of bounds for axis 0 with size 0")
        return _native(_in_order(found.read(_pair(variable)), variable))
    keys, axes = by_axis(elem, shape, variable.dimensions, variable._grp, use_get_vars=variable._use_get_vars)
    _check_inside(variable, keys, shape)
    values = _read_boxes(variable, found, (keys, axes))
    if values is None:
        values = found.oindex[(*keys, *_pair(variable))]
    return _native(_in_order(values, variable))


def _read_boxes(variable: Any, found: Any, selected: tuple[list[Any], list[AxisBox]]) -> Any:
    """Values of lists, forward slices and integers, which were resolved already; none where nothing is selected, an axis is
    turned round, or more than the session's memory is read."""
    keys, boxes = selected
    if variable._is_pair or not variable._use_get_vars or any(box.count == 0 or box.stride < 0 for box in boxes):
        return None
    axes = [
        key if isinstance(key, np.ndarray) else (box.start, box.count, box.stride if box.count > 1 else 1)
        for key, box in zip(keys, boxes, strict=True)
    ]
    kept = [box.count for key, box in zip(keys, boxes, strict=True) if not isinstance(key, int)]
    values = found._read_resolved(axes, kept)
    return values if kept or values is None else values[()]


def _native(values: Any) -> Any:
    """A single value has the byte order of the machine."""
    if isinstance(values, np.ndarray) and values.ndim == 0 and not values.dtype.isnative:
        return values.astype(values.dtype.newbyteorder("="))
    return values


def _check_inside(variable: Any, keys: list[Any], shape: tuple[int, ...]) -> None:
    """Raises for integers past the end, as netCDF's library does; it looks again for records of others where it may write."""
    for axis, (key, length) in enumerate(zip(keys, shape)):
        if isinstance(key, int) and key >= length:
            is_record = variable._place.model.startswith("NETCDF3") and variable.get_dims()[axis].isunlimited()
            if is_record and variable._place.mode != "r":
                raise LibraryError("NetCDF: Start+count exceeds dimension bound")
            raise IndexError("index exceeds dimension bounds")


def _read_at_once(variable: Any, found: Any, elem: Any) -> Any:
    """Values of integers and forward slices, which mean what they do for numpy; none where the index is another one."""
    if variable._is_pair or not _is_plain(elem):
        return None
    try:
        return found._native().get(elem)
    except IndexError:
        # The error is raised again with netCDF4-python's message.
        return None


def read_decoded(variable: Any, elem: Any, decoding: Decoding) -> Any:
    """Decoded values of integers and forward slices; none where the index is another one, or wrong."""
    if type(elem) in _INTEGERS:
        elem = int(elem)
    elif not _is_plain(elem):
        return None
    try:
        return masking.read_decoded(variable._owner()._native(), elem, decoding)
    except IndexError:
        # The error is raised again with netCDF4-python's message.
        return None


def _is_plain(elem: Any) -> bool:
    if type(elem) is tuple:
        return all(map(_PLAIN.__contains__, map(type, elem)))
    return type(elem) in _PLAIN


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
    array = array.astype(dtype, copy=False)
    # Dtypes are equal whether or not they are marked as aligned.
    return array.view(dtype) if dtype.names else array


def write(variable: Any, elem: Any, data: Any) -> None:
    """Writes values to a selection, by netCDF4-python's broadcasting; unlimited dimensions grow."""
    found, shape = variable._owner(), variable.shape
    elem, array = boxed(variable, elem, data) if variable._isvlen else (elem, np.asarray(data))
    keys, axes, values = checked(variable, elem, array)
    if values.size == 0:
        return
    variable._place.check_writable()
    for box, key, dimension in zip(axes, keys, variable.get_dims()):
        # Lists were checked element by element, and are not boxes.
        if isinstance(key, np.ndarray):
            continue
        if max(box.start, box.start + (box.count - 1) * box.stride) >= len(dimension) and not dimension.isunlimited():
            raise LibraryError("NetCDF: Index exceeds dimension bound")
    if not shape:
        # A list may name the only element several times: the last value stays.
        value = values.reshape(-1)[-1:].reshape(())
        found[...] = _parts(variable, value) if variable._is_complex else value[()] if variable._isvlen else value
        return
    if variable._is_complex:
        values = _parts(variable, values)
    wanted = [key if isinstance(key, np.ndarray) else _elements(box) for key, box in zip(keys, axes)]
    found.oindex[(*wanted, *_pair(variable))] = values


def checked(variable: Any, elem: Any, array: NDArray[Any]) -> tuple[list[Any], list[AxisBox], NDArray[Any]]:
    """What an index selects for values, and the values in the shape of the selection.

    Raises `IndexError` and `ValueError` as netCDF4-python does for what does not fit together.
    """
    keys, axes = by_axis(elem, variable.shape, variable.dimensions, variable._grp, array.shape, put=True)
    return keys, axes, _spread(array, [box.count for box in axes], keys)


def _parts(variable: Any, values: NDArray[Any]) -> NDArray[Any]:
    """Complex numbers as they are stored: as compounds, or along an axis of two."""
    whole = np.ascontiguousarray(values, dtype=variable.dtype).reshape(values.shape)
    if variable._is_pair:
        return np.stack([whole.real, whole.imag], axis=-1)
    stored: NDArray[Any] = whole.view(variable._owner().dtype)
    return stored.reshape(values.shape)


def _elements(box: AxisBox) -> Any:
    """The elements along an axis: a slice, or indices where they go backwards."""
    first, count, step = box.start, box.count, box.stride
    if step < 0:
        return np.arange(first, first + count * step, step, dtype=np.intp)
    return slice(first, first + (count - 1) * step + 1, step)


def _spread(array: NDArray[Any], lengths: list[int], keys: list[Any]) -> NDArray[Any]:
    """Values in the shape of the selection with all its axes; integers have axes of one."""
    if array.shape == ():
        return np.broadcast_to(array, lengths)
    is_shaped = array.shape == tuple(lengths)
    if array.ndim != len(lengths) or (not is_shaped and (array.ndim > 1 or 0 in lengths)):
        # Further axes of one are dropped; everything else is broadcast.
        return array.reshape(lengths) if array.size == math.prod(lengths) else np.broadcast_to(array, lengths)
    if is_shaped:
        return array
    # One axis, of another length than is selected: an integer takes the last value, a list the first ones.
    if isinstance(keys[0], int):
        if not array.size:
            raise IndexError("index -1 is out of bounds for axis 0 with size 0")
        return array[-1:]
    if not isinstance(keys[0], np.ndarray):
        raise IndexError("size of data array does not conform to slice")
    if array.size < lengths[0]:
        raise IndexError(f"index {array.size} is out of bounds for axis 0 with size {array.size}")
    return array[: lengths[0]]
