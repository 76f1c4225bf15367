"""Types: netCDF's own as numpy's dtypes, and those that a dataset defines."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from ncirrus.errors import InvalidError, UnsupportedError

_DTYPES = {
    "byte": np.dtype("i1"),
    "char": np.dtype("S1"),
    "short": np.dtype("i2"),
    "int": np.dtype("i4"),
    "float": np.dtype("f4"),
    "double": np.dtype("f8"),
    "ubyte": np.dtype("u1"),
    "ushort": np.dtype("u2"),
    "uint": np.dtype("u4"),
    "int64": np.dtype("i8"),
    "uint64": np.dtype("u8"),
    "string": np.dtype("O", metadata={"element_type": str}),
}
_NAMES = {dtype.str.lstrip("<>|="): name for name, dtype in _DTYPES.items() if name != "string"}
_NAME_KEYS = ("enum_name", "compound_name", "vlen_name", "opaque_name")


class Char(str):
    """Text that is stored as NC_CHAR, in kinds that distinguish it from NC_STRING."""


class _Type:
    def __init__(self, name: str, dtype: np.dtype[Any]) -> None:
        self.name: str = name
        self.dtype: np.dtype[Any] = dtype

    def _parts(self) -> tuple[Any, ...]:
        return (self.name, self.dtype)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Type) and type(self) is type(other) and self._parts() == other._parts()

    def __hash__(self) -> int:
        return hash((type(self).__name__, self.name))

    def __repr__(self) -> str:
        return f"{type(self).__name__}{self._parts()!r}"


class Enum(_Type):
    """Names for values of an integer type."""

    def __init__(self, name: str, dtype: DTypeLike, members: Mapping[str, int]) -> None:
        self.members: dict[str, int] = {str(key): int(value) for key, value in members.items()}
        base = np.dtype(dtype)
        if base.kind not in "iu":
            raise InvalidError(f"the enum {name!r} is of {base}, which is not an integer type")
        super().__init__(name, np.dtype(base.str, metadata={"enum": dict(self.members), "enum_name": name}))

    def _parts(self) -> tuple[Any, ...]:
        return (self.name, np.dtype(self.dtype.str), self.members)

    def _described(self) -> tuple[Any, ...]:
        return ("enum", self.name, name_of(np.dtype(self.dtype.str)), list(self.members.items()))


class Compound(_Type):
    """Named fields, each with its own type."""

    def __init__(self, name: str, dtype: DTypeLike) -> None:
        given = np.dtype(dtype)
        if given.fields is None:
            raise InvalidError(f"the compound {name!r} is of {given}, which has no fields")
        fields = [(field, *_field(given, field)) for field in given.names or ()]
        super().__init__(name, np.dtype(fields, metadata={"compound_name": name}))

    def _described(self) -> tuple[Any, ...]:
        fields = [(field, name_of(self.dtype[field].base), list(self.dtype[field].shape)) for field in self.dtype.names or ()]
        return ("compound", self.name, fields)


class Vlen(_Type):
    """Sequences of values of a type, of variable length."""

    def __init__(self, name: str, dtype: DTypeLike) -> None:
        self.base: np.dtype[Any] = _native(np.dtype(dtype))
        super().__init__(name, np.dtype("O", metadata={"vlen": self.base, "vlen_name": name}))

    def _parts(self) -> tuple[Any, ...]:
        return (self.name, self.base)

    def _described(self) -> tuple[Any, ...]:
        return ("vlen", self.name, name_of(self.base))


class Opaque(_Type):
    """An opaque type: a number of bytes."""

    def __init__(self, name: str, size: int) -> None:
        self.size: int = int(size)
        super().__init__(name, np.dtype(f"V{self.size}", metadata={"opaque_name": name}))

    def _parts(self) -> tuple[Any, ...]:
        return (self.name, self.size)

    def _described(self) -> tuple[Any, ...]:
        return ("opaque", self.name, self.size)


Type = Enum | Compound | Vlen | Opaque


def type_of(described: tuple[Any, ...]) -> Type | None:
    """The type that a description of the library means; none for netCDF's own."""
    word, name = described[0], described[1]
    if word == "enum":
        return Enum(name, _DTYPES[described[2]], dict(described[3]))
    if word == "opaque":
        return Opaque(name, described[2])
    if word == "vlen":
        return Vlen(name, dtype_of(described[2]))
    if word == "compound":
        return Compound(name, np.dtype([(f, dtype_of(ty), tuple(dims)) for f, ty, dims in described[2]]))
    return None


def dtype_of(described: tuple[Any, ...]) -> np.dtype[Any]:
    """The dtype of values of a type; its metadata contain what numpy cannot represent."""
    if described[0] == "atomic":
        return _DTYPES[described[1]]
    made = type_of(described)
    assert made is not None
    return made.dtype


def is_string(dtype: np.dtype[Any]) -> bool:
    """Whether values are text of any length."""
    return dtype.kind == "O" and (dtype.metadata is None or "vlen" not in dtype.metadata)


def vlen_base(dtype: np.dtype[Any]) -> np.dtype[Any] | None:
    """What values of a vlen consist of; none for other types."""
    return dtype.metadata.get("vlen") if dtype.kind == "O" and dtype.metadata is not None else None


def name_of(given: Any) -> str:
    """The name by which the library knows a type: netCDF's own in CDL, or that of a type of the dataset."""
    if isinstance(given, _Type):
        return given.name
    if given is str or (isinstance(given, str) and given in ("string", "char")):
        return "char" if isinstance(given, str) and given == "char" else "string"
    dtype = np.dtype(given)
    for key in _NAME_KEYS:
        if dtype.metadata is not None and key in dtype.metadata:
            return str(dtype.metadata[key])
    name = _NAMES.get(dtype.str.lstrip("<>|="))
    if name is not None:
        return name
    if dtype.kind in "OT" or (dtype.kind == "U" and dtype.itemsize == 0):
        return "string"
    raise UnsupportedError(f"netCDF has no type for {dtype}", hint=_HINTS.get("e" if dtype.kind == "f" else dtype.kind))


_HINTS = {
    "b": "store booleans as int8",
    "e": "store float16 as float32, and longer floats as float64",
    "c": "store complex numbers as a compound, or real and imaginary parts as variables",
    "M": 'store times as numbers with units such as "days since 2000-01-01"',
    "m": 'store durations as numbers with units such as "seconds"',
    "U": "use str for text of any length",
    "S": 'use str for text of any length, or "char" with one more dimension',
    "V": "create_type(Compound(name, dtype)) and pass what it returns",
}


def _field(dtype: np.dtype[Any], name: str) -> tuple[np.dtype[Any], tuple[int, ...]]:
    field = dtype[name]
    return _native(field.base), field.shape


def _native(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The same type in the machine's byte order; metadata stay."""
    return dtype if dtype.isnative else dtype.newbyteorder("=")


def joined_vlens(array: np.ndarray[Any, Any], base: np.dtype[Any]) -> tuple[list[int], np.ndarray[Any, Any]]:
    """Where each value of an array of vlens ends, and all their elements, which are of the type `base`."""
    ends, parts, end = [], [], 0
    for item in array:
        part = np.ravel(np.asarray([] if item is None else item, dtype=base))
        end += part.size
        ends.append(end)
        parts.append(part)
    joined = np.concatenate(parts) if parts else np.empty(0, base)
    # Concatenating forgets the metadata that say what the elements are.
    return ends, np.ascontiguousarray(joined).view(base) if base.kind != "O" else _with_dtype(joined, base)


def _with_dtype(array: np.ndarray[Any, Any], dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    typed = np.empty(array.shape, dtype)
    typed[...] = array
    return typed
