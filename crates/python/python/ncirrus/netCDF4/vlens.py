"""Values of various lengths, strings among them, as they are assigned."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import ma
from numpy.typing import NDArray

from ncirrus.netCDF4.utils import _is_int

_INTEGERS_ONLY = "data can only be assigned to VLEN variables using integer indices"


def boxed(variable: Any, elem: Any, data: Any) -> tuple[Any, NDArray[Any]]:
    """The index and an array of objects that are assigned for it: one value to one element, or arrays of objects.

    Raises `IndexError` and `TypeError` for what netCDF4-python refuses.
    """
    is_text = variable.dtype is str
    if is_text and isinstance(data, np.ndarray):
        return elem, _texts(data)
    if not is_text and isinstance(data, np.ndarray) and data.dtype.kind == "O":
        _check_items(variable, data)
        return elem, data
    if elem is Ellipsis and not variable.dimensions:
        elem = 0
    if not is_text:
        data = _numbers(variable, data)
    _check_single(elem, variable.shape)
    if is_text and not isinstance(data, (str, bytes)):
        raise TypeError(f"expected bytes, {type(data).__name__} found")
    array = np.empty((), dtype=object)
    array[()] = data.decode() if isinstance(data, bytes) else data
    return elem, array


def _texts(data: NDArray[Any]) -> NDArray[Any]:
    if data.dtype.kind in "SU":
        if ma.isMA(data):
            raise TypeError("masked arrays cannot be assigned by VLEN str slices")
        texts = data.astype(object)
        if data.dtype.kind == "S":
            texts = np.array([text.decode() for text in texts.flat], dtype=object).reshape(data.shape)
        return texts
    if data.dtype.kind != "O":
        raise TypeError("only numpy string, unicode or object arrays can be assigned to VLEN str var slices")
    return data


def _numbers(variable: Any, data: Any) -> NDArray[Any]:
    dtype = data.dtype
    if variable.scale:
        return np.asarray(data, variable.dtype)
    if dtype != variable.dtype:
        raise TypeError(f"wrong data type: should be {variable.dtype}, got {dtype}")
    return np.asarray(data)


def _check_items(variable: Any, data: NDArray[Any]) -> None:
    for item in data.flat:
        found = getattr(item, "dtype", type(item).__name__)
        if found != variable.dtype:
            raise TypeError(f"wrong data type in object array: should be {variable.dtype}, got {found}")


def _check_single(elem: Any, shape: tuple[int, ...]) -> None:
    """Raises `IndexError` for an index that does not select one element."""
    if _is_int(elem):
        if len(shape) > 1:
            raise IndexError(_INTEGERS_ONLY)
        if elem < 0 and shape and shape[0] + elem < 0:
            raise IndexError("Illegal index")
        return
    if not isinstance(elem, tuple):
        raise IndexError(_INTEGERS_ONLY)
    if len(elem) != len(shape):
        raise IndexError("Illegal index")
    for index, length in zip(elem, shape):
        if not _is_int(index):
            raise IndexError(_INTEGERS_ONLY)
        if index < 0 and length + index < 0:
            raise IndexError("Illegal index")
