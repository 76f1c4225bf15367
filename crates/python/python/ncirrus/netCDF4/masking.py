"""Stored numbers and characters as netCDF4-python returns them: missing ones masked, packed ones unpacked."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy import ma
from numpy.typing import NDArray

from ncirrus._ncirrus import Marks, unpack
from ncirrus.netCDF4.constants import default_fillvals
from ncirrus.netCDF4.utils import _safecast
from ncirrus.types import name_of

# Elements from which on numbers are unpacked by all cores, and bytes of the smallest float that is known there.
_MANY, _FLOAT = 1 << 12, 4
_NUMBERS = ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8")
_KINDS = {"S1": "ubyte", **{code: name_of(np.dtype(code)) for code in _NUMBERS}}


@dataclass(frozen=True)
class Missing:
    """What stands for missing values: values from each source, a valid range, and what is to be warned of."""

    sources: tuple[NDArray[Any], ...]
    limits: tuple[Any, Any] | None
    told: tuple[str, ...]

    @cached_property
    def dtype(self) -> np.dtype[Any] | None:
        """The type of all values; `None` if they have several types, or if a limit is not a single value."""
        limits = [limit for limit in self.limits or () if limit is not None]
        types = {value.dtype for value in (*self.sources, *limits)}
        return types.pop() if len(types) == 1 and all(limit.size == 1 for limit in limits) else None

    @cached_property
    def marks(self) -> Marks | None:
        """The values as the extension module takes them; none where numpy has to compare."""
        kind = None if self.dtype is None or not self.dtype.isnative else _KINDS.get(self.dtype.str[1:])
        if kind is None:
            return None
        low, high = (None if limit is None else _flat(limit) for limit in self.limits or (None, None))
        return Marks(kind, [_flat(candidates) for candidates in self.sources], (low, high))


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

    @property
    def is_direct(self) -> bool:
        """Whether the extension module can mask stored values while it reads them, and nothing is to be warned of."""
        if self.code not in _NUMBERS or not self.dtype.isnative or self.is_unsigned:
            return False
        if self.scale and self.packing is None:
            return False
        missing = self.missing if self.mask else None
        return missing is None or (missing.marks is not None and missing.dtype == self.dtype and not missing.told)

    @cached_property
    def missing(self) -> Missing:
        """What stands for missing values."""
        told: list[str] = []
        sources = tuple(self._sources(told))
        both, low, high = (self._bound(name, told) for name in ("valid_range", "valid_min", "valid_max"))
        if both is not None and both.size == 2:
            low, high = both[0], both[1]
        return Missing(sources, None if self.dtype.kind == "S" else (low, high), tuple(told))

    @cached_property
    def packing(self) -> tuple[Any, Any] | None:
        """Scale and offset; `None` if they are not numbers."""
        scale, offset = (self.attributes.get(name) for name in ("scale_factor", "add_offset"))
        try:
            for number in (scale, offset):
                if number is not None:
                    float(number)
        except (TypeError, ValueError):
            return None
        return scale, offset

    @cached_property
    def fill_value(self) -> Any:
        """The fill value of an array in which only values outside the valid range are masked."""
        if self._bound("_FillValue", []) is not None:
            return np.array(self.attributes["_FillValue"], self.dtype)
        return np.array(default_fillvals[self.code], self.dtype)

    def _sources(self, told: list[str]) -> Iterator[NDArray[Any]]:
        """The values that stand for missing ones, from each source, in the order in which they give the fill value."""
        missing = self._bound("missing_value", told)
        if missing is not None:
            yield np.atleast_1d(missing)
        fill = self._bound("_FillValue", told)
        if fill is not None:
            yield np.atleast_1d(fill)
        elif self.is_filled or self.code not in ("i1", "u1"):
            yield np.atleast_1d(np.array(default_fillvals[self.code], self.dtype))

    def _bound(self, name: str, told: list[str]) -> NDArray[Any] | None:
        """An attribute in the variable's type, or `None`. If it does not fit into that type, a warning is added to `told`."""
        if name not in self.attributes:
            return None
        cast = without_loss(self.attributes[name], self.dtype)
        if cast is None:
            # The reference's words, which programs filter by.
            told.append(f"WARNING: {name} not used since it\ncannot be safely cast to variable data type")
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
    if decoding.scale and decoding.packing is None:
        warnings.warn("invalid scale_factor or add_offset attribute, no unpacking done...", stacklevel=3)
    data = decoding.as_unsigned(data)
    if decoding.mask:
        data = _masked(data, decoding)
    return _unpacked(data, *decoding.packing) if decoding.scale and decoding.packing is not None else data


def _unpacked(data: Any, scale: Any, offset: Any) -> Any:
    if scale is not None and offset is not None:
        # Even what leaves the values as they are gives them the type of the scale.
        is_idle = offset == 0.0 and scale == 1.0
        return data.astype(scale.dtype) if is_idle else _linear(data, scale, offset)
    if scale is not None and scale != 1.0:
        return _linear(data, scale, None)
    return _linear(data, None, offset) if offset is not None and offset != 0.0 else data


def _linear(data: Any, scale: Any, offset: Any) -> Any:
    """Values times the scale plus the offset, of numpy's types; those that are masked stay as they are."""
    if np.size(data) < _MANY:
        return _linear_by_numpy(data, scale, offset)
    # A few elements determine the types of the results.
    few = _linear_by_numpy(data.reshape(-1)[:1], scale, offset)
    is_float = all(number is None or isinstance(number, np.floating) for number in (scale, offset))
    plain, kind = ma.getdata(data), _kind(ma.getdata(data))
    types = [np.result_type(plain.dtype, number) for number in (scale, offset) if number is not None]
    # Numbers that are rounded to two types one after the other are numpy's.
    if kind is None or not is_float or any(dtype != few.dtype for dtype in types) or few.dtype.itemsize < _FLOAT:
        return _linear_by_numpy(data, scale, offset)
    out = np.empty(plain.shape, few.dtype)
    mask = ma.getmask(data)
    marks = None if mask is ma.nomask else mask.reshape(-1)
    packing = [None if number is None else float(number) for number in (scale, offset)]
    unpack((plain.reshape(-1), kind), marks, (packing[0], packing[1]), (out.reshape(-1), name_of(out.dtype)))
    if not ma.isMA(data):
        return out
    unpacked: Any = ma.masked_array(out, mask=mask)
    # It keeps its type, as in numpy's arithmetic.
    unpacked._fill_value = few._fill_value
    return unpacked


def _linear_by_numpy(data: Any, scale: Any, offset: Any) -> Any:
    if scale is not None:
        data = data * scale
    return data if offset is None else data + offset


def _masked(data: NDArray[Any], decoding: Decoding) -> Any:
    missing = decoding.missing
    for words in missing.told:
        warnings.warn(words, stacklevel=4)
    mask: NDArray[Any] = np.zeros(data.shape, np.bool_)
    found, is_any_outside = mark(data, missing, mask)
    return _with_mask(data, (mask, found, is_any_outside) if any(found) or is_any_outside else None, decoding)


def _with_mask(data: NDArray[Any], marked: tuple[NDArray[Any], list[bool], bool] | None, decoding: Decoding) -> Any:
    """Values with the mask that was made for them; none where nothing is missing."""
    if marked is None:
        return data.view(ma.MaskedArray) if decoding.always_mask else data
    mask, found, _ = marked
    sources = zip(decoding.missing.sources, found, strict=True)
    fill_values = (candidates[0] for candidates, is_found in sources if is_found)
    masked = ma.masked_array(data, mask=mask, fill_value=next(fill_values, decoding.fill_value))
    return masked[()] if masked.shape == () else masked


def read_decoded(native: Any, elem: Any, decoding: Decoding) -> Any:
    """What a read returns where `Decoding.is_direct` holds: values are masked while they are read. None for an index, or a
    number of bytes, that the extension module leaves to others."""
    if decoding.mask:
        told = native.get_marked(elem, decoding.missing.marks)
        data = None if told is None else _with_mask(told[0], told[1], decoding)
    else:
        data = native.get(elem)
        data = data if data is None else np.asarray(data)
    if data is None or not decoding.scale or decoding.packing is None:
        return data
    return _unpacked(data, *decoding.packing)


def mark(data: NDArray[Any], missing: Missing, mask: NDArray[Any]) -> tuple[list[bool], bool]:
    """Marks missing values. Which sources have some, and whether values lie outside the valid range."""
    marks = missing.marks
    if marks is None or data.dtype != missing.dtype or not data.flags.c_contiguous:
        return _mark_by_numpy(data, missing, mask)
    return marks.mark(data.view("u1") if data.dtype.kind == "S" else data, mask)


def _kind(data: NDArray[Any]) -> str | None:
    """The type of elements by which the extension module knows them, where it can go through them."""
    if not data.dtype.isnative or not data.flags.c_contiguous:
        return None
    return _KINDS.get(data.dtype.str[1:])


def _flat(values: NDArray[Any]) -> NDArray[Any]:
    """One axis; characters as bytes."""
    flat = values if values.ndim == 1 else values.reshape(-1)
    return flat.view("u1") if values.dtype.kind == "S" else flat


def _mark_by_numpy(data: NDArray[Any], missing: Missing, mask: NDArray[Any]) -> tuple[list[bool], bool]:
    found = []
    for candidates in missing.sources:
        is_source: NDArray[Any] = np.zeros(data.shape, np.bool_)
        for value in candidates:
            is_source |= np.isnan(data) if _is_nan(value) else np.asarray(data == value)
        mask |= is_source
        found.append(bool(is_source.any()))
    outside: NDArray[Any] = np.zeros(data.shape, np.bool_)
    low, high = missing.limits or (None, None)
    if low is not None:
        outside |= data < low
    if high is not None:
        outside |= data > high
    mask |= outside
    return found, bool(outside.any())


def _is_nan(value: Any) -> bool:
    """Whether a value is NaN; characters are not."""
    return value.dtype.kind == "f" and bool(np.isnan(value))
