"""Attributes as those of Python objects."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from ncirrus.netCDF4.constants import PRIMITIVE, _private_atts
from ncirrus.netCDF4.failures import (
    BAD_TYPE,
    NAME_IN_USE,
    NO_ATTRIBUTE,
    NOT_AN_ID,
    READ_ONLY,
    STRICT_CLASSIC,
    LibraryError,
    MissingAttributeError,
    as_runtime_error,
)
from ncirrus.netCDF4.user_types import compound_of
from ncirrus.netCDF4.utils import _safecast
from ncirrus.types import is_string, name_of

_LIMITS = ("valid_min", "valid_max", "valid_range", "missing_value")


class Attributed:
    """A group or variable. Names that are not attributes of the Python object are attributes of the file."""

    __slots__ = ()
    # Names of the attributes of the object itself.
    _own: frozenset[str] = frozenset()
    # Whether text is stored as `NC_STRING`.
    _ncstring_attrs__: bool

    def _owner(self) -> Any:
        """The library's group or variable."""
        raise NotImplementedError

    def _file(self) -> Any:
        """The place of its dataset."""
        raise NotImplementedError

    def _stored(self) -> Mapping[str, Any]:
        if self._file().is_closed:
            raise MissingAttributeError(NOT_AN_ID)
        found: Mapping[str, Any] = self._owner()._native().attributes()
        return found

    def _scope(self) -> Any:
        """The group whose types values may be of."""
        raise NotImplementedError

    def _forget(self) -> None:
        """Called when attributes have changed."""

    def _check_name(self, name: str) -> None:
        """Raises `AttributeError` for an attribute that cannot be set."""

    def _cast(self, name: str, value: Any) -> Any:
        """A value that is assigned as it is stored; variables cast limits to their type."""
        return value

    def _dictionary(self) -> dict[str, Any]:
        """All attributes, as `__dict__` shows them."""
        return {name: self._shown_value(name, value, "utf-8") for name, value in self._stored().items()}

    def _shown_value(self, name: str, value: Any, encoding: str) -> Any:
        if name == "_FillValue" and isinstance(value, bytes):
            return value
        if not isinstance(value, bytes) and value.dtype.names:
            known = compound_of(self._scope(), np.dtype(value.dtype))
            if known is not None:
                value = value.astype(known.dtype).view(known.dtype_view)
            return value[0] if value.size == 1 else value
        return _read(value, encoding)

    def ncattrs(self) -> list[str]:
        """Names of the attributes of the file."""
        return list(self._stored())

    def getncattr(self, name: str, encoding: str = "utf-8") -> Any:
        """An attribute of the file. Raises `AttributeError` if it does not exist."""
        stored = self._stored()
        if name not in stored:
            known = self._told_of_file(name)
            if known is None:
                raise MissingAttributeError(NO_ATTRIBUTE, hint=f"no attribute {name!r}")
            return known
        return self._shown_value(name, stored[name], encoding)

    def _told_of_file(self, name: str) -> Any:
        """The value of an attribute that no file stores as one; groups have some."""
        return None

    def setncattr(self, name: str, value: Any) -> None:
        """Sets an attribute of the file."""
        self._check_name(name)
        self._set(name, value, self._ncstring_attrs__)

    def setncattr_string(self, name: str, value: Any) -> None:
        """Sets an attribute of the file to text of the type `NC_STRING`."""
        self._file().check_open()
        if self._file().model != "NETCDF4":
            raise OSError("file format does not support NC_STRING attributes")
        if name == "_FillValue" and not self._may_be_filled_by_text():
            raise MissingAttributeError(BAD_TYPE)
        self._set(name, value, True)

    def setncatts(self, attdict: Mapping[str, Any]) -> None:
        """Sets several attributes of the file, all together."""
        self._file().check_open()
        values: dict[str, Any] = {}
        for name, value in attdict.items():
            values[name] = self._writable(name, value, False)
            self._check_settable(name)
        self._forget()
        with as_runtime_error(cls=MissingAttributeError):
            owner = self._owner()
            fills = {"fills": True} if "_FillValue" in values and owner.dataset.mode == "w" and hasattr(owner, "dtype") else {}
            owner._native().set_attributes(values, **fills)

    def delncattr(self, name: str) -> None:
        """Removes an attribute of the file."""
        self._file().check_writable()
        if name not in self._stored():
            raise LibraryError(NO_ATTRIBUTE)
        self._forget()
        with as_runtime_error():
            self._owner()._native().remove_attribute(name)

    def renameAttribute(self, oldname: str, newname: str) -> None:
        """Renames an attribute of the file, which keeps its place."""
        self._file().check_writable()
        stored = self._stored()
        is_taken, is_classic = newname in stored, self._file().model.startswith("NETCDF3")
        if oldname not in stored and (is_classic or not is_taken):
            raise LibraryError(NO_ATTRIBUTE)
        if is_taken:
            raise LibraryError(NAME_IN_USE, hint=f"there is an attribute {newname!r} already")
        if self._file().is_reserved(newname):
            raise LibraryError(NAME_IN_USE, hint=f"netCDF-4 keeps the attribute {newname!r} for itself")
        self._forget()
        with as_runtime_error():
            self._owner()._native().rename_attribute(oldname, newname)

    def _may_be_filled_by_text(self) -> bool:
        """Whether `_FillValue` may be text of the type `NC_STRING`."""
        return True

    def _check_settable(self, name: str) -> None:
        """Raises `AttributeError` where nothing can be set, or not by this name."""
        if self._file().mode == "r":
            raise MissingAttributeError(READ_ONLY)
        if self._file().is_reserved(name):
            raise MissingAttributeError(NAME_IN_USE, hint=f"netCDF-4 keeps the attribute {name!r} for itself")

    def _writable(self, name: str, value: Any, as_strings: bool) -> Any:
        array = np.asarray(value) if not isinstance(value, (str, bytes, list)) else None
        if array is not None and array.dtype.names:
            known = compound_of(self._scope(), array.dtype)
            if known is None or known._known is None:
                raise TypeError(f"illegal data type for attribute {name!r}: no compound type has these fields")
            return known.name, np.ascontiguousarray(array.reshape(-1).astype(known.dtype_view).view(known.dtype).astype(known._known.dtype))
        return _written(name, value, self._file().model, as_strings)

    def _set(self, name: str, value: Any, as_strings: bool) -> None:
        self._file().check_open()
        if type(value) is str and type(name) is str and value.isascii() and name != "_FillValue":
            self._set_text(name, value, as_strings)
            return
        written = self._writable(name, value, as_strings)
        self._check_settable(name)
        self._forget()
        with as_runtime_error(cls=MissingAttributeError):
            self._owner()._native().set_attributes({name: written})

    def _set_text(self, name: str, value: str, as_strings: bool) -> None:
        """Sets the most frequent kind of value, without an array for it."""
        # As in arrays of numpy, no text ends with null characters.
        text, is_string = value.rstrip("\0"), bool(as_strings) and self._file().model == "NETCDF4"
        self._check_settable(name)
        self._forget()
        with as_runtime_error(cls=MissingAttributeError):
            self._owner()._native().set_text(name, text if text or is_string else "\0", is_string)

    def __getattr__(self, name: str) -> Any:
        if name in self._own or name in _private_atts or (name.startswith("__") and name.endswith("__")):
            raise AttributeError(name)
        try:
            return self.getncattr(name)
        except LibraryError as error:
            raise MissingAttributeError(error.message) from error

    def _keep(self, **values: Any) -> None:
        """Sets attributes of the object."""
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: Any) -> None:
        if name in self._own and name not in _private_atts:
            object.__setattr__(self, name, value)
        elif name in _private_atts or name == "__dict__":
            raise AttributeError(
                f"{name!r} is one of the reserved attributes {_private_atts!r}, cannot rebind. Use setncattr instead."
            )
        else:
            self._check_name(name)
            self.setncattr(name, self._cast(name, value))

    def __delattr__(self, name: str) -> None:
        if name in _private_atts:
            raise AttributeError(
                f"{name!r} is one of the reserved attributes {_private_atts!r}, cannot delete. Use delncattr instead."
            )
        self.delncattr(name)


def cast_to(dtype: Any, name: str, value: Any) -> Any:
    """Limits and missing values in the type of their variable, where that loses nothing."""
    if name not in _LIMITS or not isinstance(dtype, np.dtype) or dtype.kind not in "iuf":
        return value
    cast = np.array(value, dtype)
    if _safecast(np.array(value), cast):
        return cast
    warnings.warn(f"WARNING: {name} cannot be safely cast to variable dtype", stacklevel=4)
    return value


def _read(value: Any, encoding: str) -> Any:
    if isinstance(value, bytes):
        return value.decode(encoding, "replace").replace("\0", "")
    if is_string(value.dtype):
        texts = ["" if text is None else _decoded(text, encoding) for text in value]
        return texts[0] if len(texts) == 1 else texts
    if value.dtype.metadata is not None and value.dtype.fields is None:
        value = value.view(np.dtype(value.dtype.str)) if value.dtype.kind != "O" else value
    return value[0] if value.size == 1 else value


def _decoded(text: str, encoding: str) -> str:
    """Text that is not UTF-8 has its bytes in lone surrogates."""
    if text.isascii():
        return text
    return text.encode("utf-8", "surrogateescape").decode(encoding, "replace")


def _written(name: str, value: Any, model: str, as_strings: bool) -> Any:
    """What the extension module takes: bytes for characters, else the type's name and an array."""
    array = np.array(value)
    if array.ndim > 1:
        raise ValueError("multi-dimensional array attributes not supported")
    if array.dtype.kind in "SUOT":
        return _text(name, array, model, as_strings)
    is_old = model != "NETCDF4" and model != "NETCDF3_64BIT_DATA"
    if is_old and array.dtype.kind == "u":
        raise MissingAttributeError(STRICT_CLASSIC if model == "NETCDF4_CLASSIC" else BAD_TYPE)
    if is_old and array.dtype.str[1:] == "i8":
        small = array.astype("i4")
        if not (small == array).all():
            raise ValueError(f"the attribute {name!r} does not fit into the integers of 32 bits of {model}")
        array = small
    if array.dtype.fields is None and array.dtype.str[1:] not in _NUMBERS:
        raise _illegal(name, array)
    plain = array.reshape(-1)
    return name_of(array.dtype), np.ascontiguousarray(plain.astype(array.dtype.newbyteorder("=")))


def _illegal(name: str, array: Any) -> TypeError:
    """In the reference's words."""
    known, found = dict.fromkeys(PRIMITIVE).keys(), array.dtype.str[1:]
    return TypeError(f"illegal data type for attribute {name.encode()!r}, must be one of {known}, got {found}")


_NUMBERS = ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8")


def _text(name: str, array: Any, model: str, as_strings: bool) -> Any:
    texts = [item.decode("utf-8", "surrogateescape") if isinstance(item, bytes) else item for item in array.flat]
    if any(not isinstance(item, str) for item in texts):
        raise _illegal(name, array)
    is_text = array.dtype.kind != "S"
    if model == "NETCDF4" and (as_strings or len(texts) != 1 or (is_text and not texts[0].isascii())):
        strings = np.empty(len(texts), dtype=object)
        strings[:] = texts
        return "string", strings
    if len(texts) > 1:
        raise OSError("array string attributes can only be written with NETCDF4")
    return ("".join(texts) or "\0").encode("utf-8", "surrogateescape")
