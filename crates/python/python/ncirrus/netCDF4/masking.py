"""Stored numbers and characters as netCDF4-python returns them: missing ones masked, packed ones unpacked."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy import ma
from numpy.typing import NDArray

from ncirrus.netCDF4.constants import default_fillvals
from ncirrus.netCDF4.utils import _safecast


@dataclass(frozen=True)
class Decoding:
    """How the values of a variable of one of netCDF's own types are decoded."""

    dtype: np.dtype[Any]
    attributes: Mapping[str, Any]
    # Whether elements that were never written have a fill value.
    is_filled: bool = True
    mask: bool = True
    scale: bool = True
    always_mask: bool = True

    @property
    def code(self) -> str:
        """The type without its byte order, such as `i2`."""
        return self.dtype.str[1:]

    @property
    def is_unsigned(self) -> bool:
        """Whether the attribute `_Unsigned` says that signed integers are unsigned ones."""
        return (
            self.scale
            and self.dtype.kind == "i"
            and isinstance(self.attributes.get("_Unsigned"), str)
            and self.attributes["_Unsigned"] in ("true", "True")
        )

    def bound(self, name: str) -> NDArray[Any] | None:
        """An attribute in the variable's type; none, with a warning, where it does not fit into it."""
        if name not in self.attributes:
            return None
        cast = without_loss(self.attributes[name], self.dtype)
        if cast is None:
            # The reference's words, which programs filter by.
            message = f"WARNING: {name} not used since it\ncannot be safely cast to variable data type"
            warnings.warn(message, stacklevel=4)
            return None
        return self.as_unsigned(cast)

    def as_unsigned(self, values: NDArray[Any]) -> NDArray[Any]:
        """Signed integers as the unsigned ones that they stand for."""
        if not self.is_unsigned or values.dtype.kind != "i":
            return values
        return values.view(f"{values.dtype.byteorder}u{values.dtype.itemsize}")


def without_loss(value: Any, dtype: np.dtype[Any]) -> NDArray[Any] | None:
    """A value in another type; none where it does not fit into it."""
    try:
        cast = np.array(value, dtype)
    except (ValueError, TypeError, OverflowError):
        return None
    return cast if _safecast(np.array(value), cast) else None


def decoded(data: NDArray[Any], decoding: Decoding) -> Any:
    """What a read returns for stored values: a masked array, or a plain one where nothing is masked and none is wanted.

    A single value that is missing is `numpy.ma.masked`. Warns of attributes that cannot be used.
    """
    packing = _packing(decoding)
    data = decoding.as_unsigned(data)
    if decoding.mask:
        data = _masked(data, decoding)
    return data if packing is None else _unpacked(data, *packing)


def _packing(decoding: Decoding) -> tuple[Any, Any] | None:
    """Scale and offset, where values are unpacked by them."""
    scale, offset = (decoding.attributes.get(name) for name in ("scale_factor", "add_offset"))
    try:
        for number in (scale, offset):
            if number is not None:
                float(number)
    except (TypeError, ValueError):
        if decoding.scale:
            message = "invalid scale_factor or add_offset attribute, no unpacking done..."
            warnings.warn(message, stacklevel=3)
        return None
    return (scale, offset) if decoding.scale else None


def _unpacked(data: Any, scale: Any, offset: Any) -> Any:
    if scale is not None and offset is not None:
        # Even what leaves the values as they are gives them the type of the scale.
        is_idle = offset == 0.0 and scale == 1.0
        return data.astype(scale.dtype) if is_idle else data * scale + offset
    if scale is not None and scale != 1.0:
        return data * scale
    return data + offset if offset is not None and offset != 0.0 else data


def _masked(data: NDArray[Any], decoding: Decoding) -> Any:
    mask: NDArray[Any] = np.zeros(data.shape, np.bool_)
    fill_value = None
    for candidates in _missing(decoding):
        found: NDArray[Any] = np.zeros(data.shape, np.bool_)
        for value in candidates:
            found |= _equal(data, value)
        if found.any():
            mask |= found
            fill_value = candidates[0] if fill_value is None else fill_value
    mask |= _outside(data, decoding)
    if mask.any():
        fill_value = _fill_value(decoding) if fill_value is None else fill_value
        masked = ma.masked_array(data, mask=mask, fill_value=fill_value)
        return masked[()] if masked.shape == () else masked
    return ma.masked_array(data) if decoding.always_mask else data


def _missing(decoding: Decoding) -> Iterator[NDArray[Any]]:
    """The values that stand for missing ones, from each source, in the order in which they give the fill value."""
    missing = decoding.bound("missing_value")
    if missing is not None:
        yield np.atleast_1d(missing)
    fill = decoding.bound("_FillValue")
    if fill is not None:
        yield np.atleast_1d(fill)
    elif decoding.is_filled or decoding.code not in ("i1", "u1"):
        yield np.atleast_1d(np.array(default_fillvals[decoding.code], decoding.dtype))


def _equal(data: NDArray[Any], value: Any) -> NDArray[Any]:
    is_nan = _is_nan(value)
    return np.isnan(data) if is_nan else np.asarray(data == value)


def _is_nan(value: Any) -> bool:
    """Whether a value is NaN; characters are not."""
    return value.dtype.kind == "f" and bool(np.isnan(value))


def _outside(data: NDArray[Any], decoding: Decoding) -> NDArray[Any]:
    """Which values lie outside the valid range; characters have none."""
    both, low, high = (decoding.bound(name) for name in ("valid_range", "valid_min", "valid_max"))
    if both is not None and both.size == 2:
        low, high = both[0], both[1]
    outside: NDArray[Any] = np.zeros(data.shape, np.bool_)
    if decoding.dtype.kind == "S":
        return outside
    if low is not None:
        outside |= data < low
    if high is not None:
        outside |= data > high
    return outside


def _fill_value(decoding: Decoding) -> Any:
    """The fill value of an array in which only values outside the valid range are masked."""
    with warnings.catch_warnings():
        # It was told when it was looked for.
        warnings.simplefilter("ignore")
        fill = decoding.bound("_FillValue")
    if fill is not None:
        return np.array(decoding.attributes["_FillValue"], decoding.dtype)
    return np.array(default_fillvals[decoding.code], decoding.dtype)
