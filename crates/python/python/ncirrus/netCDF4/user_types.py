"""Types that a dataset defines: compounds, values of various lengths, and enums."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ncirrus import types
from ncirrus.netCDF4.constants import PRIMITIVE, class_of


class CompoundType:
    """Fields with names, each of a type of its own."""

    __slots__ = ("__weakref__", "_known", "dtype", "dtype_view", "name")

    def __init__(self, grp: Any, dt: Any, dtype_name: str, **kwargs: Any) -> None:
        given = np.dtype(dt)
        self.dtype: np.dtype[Any] = _aligned(given)
        self.dtype_view: np.dtype[Any] = _viewed(given)
        self.name: str = dtype_name
        self._known: types.Compound | None = kwargs.get("known")
        if self._known is None:
            _check_fields(grp, given)
            self._known = types.Compound(dtype_name, _stored(grp, given))
            grp._define(self._known)

    def __repr__(self) -> str:
        return f"{class_of(self)}: name = '{self.name}', numpy dtype = {self.dtype}"

    def __reduce__(self) -> Any:
        raise NotImplementedError("CompoundType is not picklable")


class VLType:
    """Any number of values of a type."""

    __slots__ = ("__weakref__", "_known", "dtype", "name")

    def __init__(self, grp: Any, dt: Any, dtype_name: str | None, **kwargs: Any) -> None:
        self.dtype: Any = str if dt is str else np.dtype(dt)
        self.name: str | None = dtype_name
        self._known: types.Vlen | None = kwargs.get("known")
        if self._known is None and dt is not str:
            if np.dtype(dt).str[1:] not in PRIMITIVE:
                raise KeyError("unsupported datatype specified for VLEN")
            self._known = types.Vlen(str(dtype_name), self.dtype)
            grp._define(self._known)

    def __repr__(self) -> str:
        if self.dtype is str:
            return f'"{class_of(self)}": string type'
        return f'"{class_of(self)}": name = \'{self.name}\', numpy dtype = {self.dtype}'

    def __reduce__(self) -> Any:
        raise NotImplementedError("VLType is not picklable")


class EnumType:
    """Names for values of an integer type."""

    __slots__ = ("__weakref__", "_known", "dtype", "enum_dict", "name")

    def __init__(self, grp: Any, dt: Any, dtype_name: str, enum_dict: Mapping[str, int], **kwargs: Any) -> None:
        self.dtype: np.dtype[Any] = np.dtype(dt)
        self.name: str = dtype_name
        self.enum_dict: dict[str, int] = dict(enum_dict)
        if self.dtype.kind not in "iu":
            raise KeyError("unsupported datatype specified for ENUM (must be integer)")
        for value in self.enum_dict.values():
            np.array(value, self.dtype)
        self._known: types.Enum | None = kwargs.get("known")
        if self._known is None:
            self._known = types.Enum(dtype_name, self.dtype, self.enum_dict)
            grp._define(self._known)

    def __repr__(self) -> str:
        return (
            f'"{class_of(self)}": name = \'{self.name}\', numpy dtype = {self.dtype}, '
            f"fields/values ={self.enum_dict}"
        )

    def __reduce__(self) -> Any:
        raise NotImplementedError("EnumType is not picklable")


def of_library(grp: Any, known: Any) -> Any:
    """The type of netCDF4-python that stands for one of the library; none for opaque ones."""
    if isinstance(known, types.Compound):
        return CompoundType(grp, known.dtype, known.name, known=known)
    if isinstance(known, types.Vlen):
        return VLType(grp, known.base, known.name, known=known)
    if isinstance(known, types.Enum):
        return EnumType(grp, known.dtype.str, known.name, known.members, known=known)
    return None


def scopes(grp: Any) -> Iterator[Any]:
    """A group and those above it, from which its types are seen; the last one is the root."""
    while grp is not None:
        yield grp
        grp = grp._above


def _in_characters(dtype: np.dtype[Any]) -> Iterator[tuple[str, np.dtype[Any], tuple[int, ...]]]:
    """Name, type and shape of each field; text is an array of characters."""
    for name in dtype.names or ():
        base, shape = dtype[name].base, dtype[name].shape
        if base.kind == "S" and base.itemsize > 1:
            base, shape = np.dtype("S1"), (*shape, base.itemsize)
        yield name, base, shape


def _plain(base: np.dtype[Any]) -> np.dtype[Any]:
    return _aligned(base) if base.names else np.dtype(base.str)


def _aligned(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """As a C compiler lays it out; text of a field is an array of characters."""
    return np.dtype([(name, _plain(base), shape) for name, base, shape in _in_characters(dtype)], align=True)


def compound_of(grp: Any, dtype: np.dtype[Any]) -> CompoundType | None:
    """The compound type of a group, or of one above, that has these fields."""
    wanted = _aligned(dtype)
    known = (each for group in scopes(grp) for each in group.cmptypes.values())
    return next((each for each in known if each.dtype == wanted), None)


def _check_fields(grp: Any, dtype: np.dtype[Any]) -> None:
    """Raises for fields that cannot be stored."""
    for _, base, shape in _in_characters(dtype):
        if base.names and shape:
            raise TypeError("nested structured dtype arrays not supported")
        if base.names:
            _check_fields(grp, base)
            if compound_of(grp, base) is None:
                raise ValueError("cannot find compound type in this group or parent groups")
        elif base.str[1:] not in PRIMITIVE:
            raise ValueError("Unsupported compound type element")


def _stored(grp: Any, dtype: np.dtype[Any]) -> np.dtype[Any]:
    """As it is stored: fields that are compounds are of types that are known."""
    fields = []
    for name, base, shape in _in_characters(dtype):
        known = compound_of(grp, base) if base.names else None
        if known is not None and known._known is not None:
            base = known._known.dtype
        fields.append((name, base, shape))
    return np.dtype(fields)


def _viewed(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """As `_aligned`, with arrays of characters as text."""
    fields = []
    for name in dtype.names or ():
        base, shape = dtype[name].base, dtype[name].shape
        if base.kind == "S" and base.itemsize == 1 and shape:
            base, shape = np.dtype(f"S{shape[-1]}"), shape[:-1]
        fields.append((name, _viewed(base) if base.names else np.dtype(base.str), shape))
    return np.dtype(fields, align=True)
