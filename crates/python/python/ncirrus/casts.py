"""Values that are written: as arrays of the variable's own type, or an error that names the value."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ncirrus.errors import InvalidError
from ncirrus.types import is_string, vlen_base


def prepared(values: Any, dtype: np.dtype[Any], fill: Any, path: str) -> NDArray[Any]:
    """An array of that dtype; one that has it already is not copied. Masked elements become the fill value, or the default
    fill value of the type where there is none."""
    if isinstance(values, np.ma.MaskedArray):
        return _filled(values, dtype, fill, path)
    return _cast(values, dtype, path)


def _filled(values: Any, dtype: np.dtype[Any], fill: Any, path: str) -> NDArray[Any]:
    """The fill value is of the variable's type, so that it is set after the cast; what a mask hides is not looked at."""
    mask: NDArray[Any] = np.ma.getmaskarray(values)
    if dtype.fields is not None:
        array = _records(np.array(values.data), dtype, path)
        for name in dtype.fields:
            array[name][mask[name]] = np.ma.default_fill_value(dtype[name]) if fill is None else fill[name]
        return array
    data = np.array(values.data)
    if not mask.any():
        return _cast(data, dtype, path)
    visible = data[~mask]
    # Any value that can be cast: one that is not hidden, else a neutral one of its kind.
    data[mask] = visible.flat[0] if visible.size else _neutral(data.dtype, dtype)
    array = _cast(data, dtype, path)
    if array.ndim > mask.ndim:
        # Text became characters along one more axis.
        mask = np.broadcast_to(mask[..., np.newaxis], array.shape)
    if not array.flags.writeable:
        array = array.copy()
    array[mask] = _default(dtype) if fill is None else fill
    return array


def _neutral(given: np.dtype[Any], dtype: np.dtype[Any]) -> Any:
    if given.kind != "O":
        return np.zeros((), given)[()]
    base = vlen_base(dtype)
    return "" if is_string(dtype) or dtype.kind == "S" else 0 if base is None else np.zeros(0, base)


def _cast(values: Any, dtype: np.dtype[Any], path: str) -> NDArray[Any]:
    if dtype.kind == "O":
        return _text(values, dtype, path) if is_string(dtype) else _vlens(values, dtype)
    if dtype.kind == "S":
        return _characters(values, path)
    if dtype.fields is not None:
        return _records(values, dtype, path)
    if dtype.kind == "V":
        return _opaque(values, dtype, path)
    return _numbers(_exact(values, dtype), dtype, path)


def converted(array: NDArray[Any], dtype: Any, path: str) -> NDArray[Any]:
    """Values that were read as another dtype: numpy's casts, and text as its `StringDType`."""
    wanted = np.dtype(dtype)
    if wanted.kind != "T" or not is_string(array.dtype):
        return array.astype(wanted, copy=False)
    nulls: NDArray[Any] = array == np.array(None)
    if nulls.any():
        if not hasattr(wanted, "na_object"):
            hint = "StringDType(na_object=None) has a place for it"
            raise InvalidError("StringDType() has no null strings", path=path, hint=hint)
        array = np.where(nulls, np.array(wanted.na_object, dtype=object), array)
    return array.astype(wanted)


def _default(dtype: np.dtype[Any]) -> Any:
    """What netCDF stores where nothing was written."""
    if dtype.kind == "O":
        return "" if is_string(dtype) else np.zeros(0, vlen_base(dtype))
    return DEFAULT_FILLS.get(dtype.str.lstrip("<>|="), np.zeros((), dtype)[()])


DEFAULT_FILLS: dict[str, Any] = {
    "i1": -127,
    "S1": b"\0",
    "i2": -32767,
    "i4": -2147483647,
    "f4": 9.969209968386869e36,
    "f8": 9.969209968386869e36,
    "u1": 255,
    "u2": 65535,
    "u4": 4294967295,
    "i8": -9223372036854775806,
    "u8": 18446744073709551614,
}


def _exact(values: Any, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Values as an array. numpy makes doubles of lists whose integers no one type of its own holds; those stay integers."""
    array = np.asarray(values)
    if array.dtype.kind != "f" or dtype.kind not in "iu" or isinstance(values, (np.ndarray, np.generic, float)):
        return array
    if array.size == 0 or np.abs(array).max() < 2.0**53:
        return array
    boxed = np.array(values, dtype=object)
    return boxed if any(isinstance(item, (int, np.integer)) for item in boxed.flat) else array


def _numbers(array: NDArray[Any], dtype: np.dtype[Any], path: str) -> NDArray[Any]:
    if array.dtype == dtype:
        return array
    if array.dtype.kind == "O":
        array = _unboxed(array, dtype, path)
    if array.dtype.kind not in "biuf":
        hint = 'encode times first, with units such as "days since 2000-01-01"' if array.dtype.kind in "mM" else None
        raise _type_error(f"values of type {array.dtype} do not fit the type {dtype}", path, hint)
    if dtype.kind == "f":
        _check_floats(array, dtype, path)
    elif array.dtype.kind == "f":
        _check_whole(array, dtype, path)
    elif array.dtype.kind != "b":
        _check_range(array, dtype, path)
    return array.astype(dtype)


def _unboxed(array: NDArray[Any], dtype: np.dtype[Any], path: str) -> NDArray[Any]:
    """Numbers out of objects: Python's integers of any size, none of which passes through a double."""
    for item in array.flat:
        if isinstance(item, bool) or not isinstance(item, (int, float, np.integer, np.floating)):
            raise _type_error(f"{_short(item)} is not a number", path, None)
    if dtype.kind not in "iu":
        return array.astype(np.float64)
    whole = [_whole(item, dtype, path) for item in array.flat]
    return np.array(whole, dtype=dtype).reshape(array.shape)


def _whole(item: Any, dtype: np.dtype[Any], path: str) -> int:
    """One number as an integer of a type; floats are cut."""
    if not isinstance(item, (int, np.integer)) and not np.isfinite(item):
        raise _range_error(item, dtype, path)
    number = int(item)
    if not _fits(number, dtype):
        raise _range_error(item, dtype, path)
    return number


def _fits(value: int, dtype: np.dtype[Any]) -> bool:
    limits = np.iinfo(dtype)
    return int(limits.min) <= value <= int(limits.max)


def _check_floats(array: NDArray[Any], dtype: np.dtype[Any], path: str) -> None:
    """Finite numbers must stay finite."""
    if array.dtype.kind != "f" or array.dtype.itemsize <= dtype.itemsize:
        return
    with np.errstate(over="ignore", invalid="ignore"):
        largest = np.finfo(dtype).max
        # NaN and infinities are what they are in every type.
        wrong = (np.abs(array) > largest) & np.isfinite(array)
    if wrong.any():
        raise _range_error(array[wrong].flat[0], dtype, path)


def _check_whole(array: NDArray[Any], dtype: np.dtype[Any], path: str) -> None:
    """Floats into integers are cut, as numpy cuts them; NaN and what is too large are errors."""
    if array.size == 0:
        return
    limits = np.iinfo(dtype)
    low, high = float(array.min()), float(array.max())
    # The bounds are powers of two, or one less: `high < max + 1` is right for doubles even if max is not
    # a double.
    if low > float(limits.min) - 1 and high < float(limits.max) + 1:
        return
    whole = np.isfinite(array) & (array > float(limits.min) - 1) & (array < float(limits.max) + 1)
    if not whole.all():
        raise _range_error(array[~whole].flat[0], dtype, path)


def _check_range(array: NDArray[Any], dtype: np.dtype[Any], path: str) -> None:
    given, wanted = np.iinfo(array.dtype), np.iinfo(dtype)
    if array.size == 0 or (given.min >= wanted.min and given.max <= wanted.max):
        return
    low, high = int(array.min()), int(array.max())
    if low < int(wanted.min):
        raise _range_error(low, dtype, path)
    if high > int(wanted.max):
        raise _range_error(high, dtype, path)


def _range_error(value: Any, dtype: np.dtype[Any], path: str) -> InvalidError:
    return InvalidError(f"{_short(value)} does not fit the type {np.dtype(dtype.str)}", path=path)


def _type_error(message: str, path: str, hint: str | None) -> InvalidError:
    return InvalidTypeError(message, path=path, hint=hint)


class InvalidTypeError(InvalidError, TypeError):
    """Values are of a type that a variable does not take."""


def _short(value: Any) -> str:
    text = repr(value.item() if isinstance(value, np.generic) else value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def _text(values: Any, dtype: np.dtype[Any], path: str) -> NDArray[Any]:
    array = np.asarray(values, dtype=object) if not isinstance(values, np.ndarray) else values
    if array.dtype.kind not in "OUST":
        raise _type_error(f"values of type {array.dtype} are no text", path, None)
    boxed = array if array.dtype.kind == "O" else array.astype(object)
    if hasattr(array.dtype, "na_object"):
        # What stands for no text, which may be NaN, is null in storage.
        boxed[np.frompyfunc(lambda item: not isinstance(item, str), 1, 1)(boxed).astype(bool)] = None
    for item in boxed.flat:
        if item is not None and not isinstance(item, (str, bytes)):
            raise _type_error(f"{_short(item)} is no text", path, None)
    return boxed


def _characters(values: Any, path: str) -> NDArray[Any]:
    """Characters; longer text gets one more axis."""
    if isinstance(values, str):
        values = values.encode()
    array = np.asarray(values)
    if array.dtype.kind == "O" and all(isinstance(item, (str, bytes)) for item in array.flat):
        array = np.array([item.encode() if isinstance(item, str) else item for item in array.flat]).reshape(array.shape)
    if array.dtype.kind in "UT":
        array = np.strings.encode(array, "utf-8") if hasattr(np, "strings") else np.char.encode(array, "utf-8")
    if array.dtype.kind != "S":
        raise _type_error(f"values of type {array.dtype} are not characters", path, None)
    if array.dtype.itemsize > 1:
        array = np.ascontiguousarray(array).view("S1").reshape((*array.shape, array.dtype.itemsize))
    return array.astype("S1", copy=False)


def _records(values: Any, dtype: np.dtype[Any], path: str) -> NDArray[Any]:
    array = values if isinstance(values, np.ndarray) and values.dtype.fields else np.array(values, dtype=dtype)
    if array.dtype != dtype and array.dtype.names != dtype.names:
        raise _type_error(f"values of type {array.dtype} have other fields than {dtype.names}", path, None)
    return array.astype(dtype, copy=False)


def _opaque(values: Any, dtype: np.dtype[Any], path: str) -> NDArray[Any]:
    size = dtype.itemsize
    if isinstance(values, (bytes, bytearray, memoryview)):
        values = np.frombuffer(bytes(values), dtype=np.uint8)
        if values.size != size:
            raise _type_error(f"{values.size} bytes are not a value of {size} bytes", path, None)
        return np.asarray(values.view(f"V{size}").reshape(()))
    array = np.asarray(values)
    if array.dtype.kind not in "VS" or array.dtype.itemsize != size:
        raise _type_error(f"values of type {array.dtype} are not opaque values of {size} bytes", path, None)
    return np.ascontiguousarray(array).view(f"V{size}").reshape(array.shape)


def _vlens(values: Any, dtype: np.dtype[Any]) -> NDArray[Any]:
    """One value for each element: an array of objects has them; numbers, or a flat list, are one value."""
    base = vlen_base(dtype)
    if isinstance(values, np.ndarray) and values.dtype.kind == "O":
        return values
    nested = isinstance(values, (list, tuple)) and any(isinstance(item, (list, tuple, np.ndarray)) for item in values)
    if nested:
        boxed = np.empty(len(values), dtype=object)
        for at, item in enumerate(values):
            boxed[at] = np.asarray(item, dtype=base)
        return boxed
    single = np.empty((), dtype=object)
    single[()] = np.asarray(values, dtype=base)
    return single
