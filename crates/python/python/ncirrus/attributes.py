"""Attributes of groups and variables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ncirrus.casts import InvalidTypeError
from ncirrus.classic import check_type
from ncirrus.errors import InvalidError, MemberNotFoundError
from ncirrus.types import Char, is_string, name_of

if TYPE_CHECKING:
    from ncirrus.dataset import Dataset
    from ncirrus.group import Group
    from ncirrus.variable import Variable


class Attributes(MutableMapping[str, Any]):
    """Attributes of a group or variable, in definition order; assignments are written."""

    __slots__ = ("_owner",)

    def __init__(self, owner: Group | Variable) -> None:
        self._owner = owner

    def _all(self) -> Mapping[str, Any]:
        return self._owner._attributes()

    def __getitem__(self, name: str) -> Any:
        try:
            return self._all()[name]
        except KeyError:
            raise self._lacks(name) from None

    def __setitem__(self, name: str, value: Any) -> None:
        if type(value) is str and type(name) is str and name != "_FillValue":
            # The most frequent value: the extension module makes the checks that texts need.
            self._owner._native().set_text(name, value)
        else:
            self.update({name: value})

    def __delitem__(self, name: str) -> None:
        self._owner.dataset._check_writable()
        if name not in self:
            raise self._lacks(name)
        self._owner._native().remove_attribute(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())

    def __contains__(self, name: object) -> bool:
        return name in self._all()

    def __repr__(self) -> str:
        return f"Attributes({dict(self)!r})"

    def update(self, *args: Any, **words: Any) -> None:
        """Adds or replaces several attributes, all together."""
        given = dict(*args, **words)
        if given:
            path = self._owner.path
            dataset = self._owner.dataset
            dataset._check_writable()
            if "_FillValue" in given:
                given["_FillValue"] = _of_type(given["_FillValue"], getattr(self._owner, "dtype", None))
            values = {name: to_native(name, value, dataset._is_classic, path) for name, value in given.items()}
            check_types(dataset, values, path)
            # What a new variable is filled with does not change once it has data.
            fills = {"fills": True} if "_FillValue" in given and dataset.mode == "w" and hasattr(self._owner, "dtype") else {}
            self._owner._native().set_attributes(values, **fills)

    @property
    def is_loaded(self) -> bool:
        """Whether they are at hand, so that showing them takes no request."""
        return self._owner._attribute_values is not None or bool(self._owner._native().has_attributes())

    def rename(self, old: str, new: str) -> None:
        """Renames an attribute, keeping its place."""
        if old not in self:
            raise self._lacks(old)
        self._owner._native().rename_attribute(old, new)

    def _lacks(self, name: str) -> MemberNotFoundError:
        owner = self._owner
        hint = "list(x.attrs) has the names of attributes"
        return MemberNotFoundError(f"no attribute {name!r}", path=owner.path, object=owner.dataset.url, hint=hint)


def _of_type(fill: Any, dtype: np.dtype[Any] | None) -> Any:
    """A fill value in the type of its variable, where it is the same number there: readers take no other one for it."""
    number = np.asarray(fill)
    if dtype is None or dtype.kind not in "iuf" or number.dtype.kind not in "iuf" or number.ndim:
        return fill
    with np.errstate(all="ignore"):
        cast = number.astype(dtype)
    return cast[()] if cast == number or (cast != cast and number != number) else fill


def check_types(dataset: Dataset, values: Mapping[str, Any], path: str) -> None:
    """Refuses attributes of types that the dataset's kind does not have."""
    kind = dataset._known_kind
    for name, value in values.items():
        if not isinstance(value, bytes) and not kind.holds(value[0]):
            check_type(kind, value[0], f"an attribute {name!r}", path, dataset.url)


def of_native(value: Any, has_strings: bool) -> Any:
    """An attribute's value: text, a scalar, or an array."""
    if isinstance(value, bytes):
        text = value.rstrip(b"\0").decode("utf-8", "surrogateescape")
        return Char(text) if has_strings else text
    if is_string(value.dtype):
        return value[0] if value.size == 1 else list(value)
    return value[0] if value.size == 1 else value


def to_native(name: str, value: Any, classic: bool, path: str) -> Any:
    """What the extension module takes: bytes for characters, else the type's name and an array."""
    if isinstance(value, Char):
        return value.encode("utf-8", "surrogateescape")
    if isinstance(value, bytes):
        return value
    if isinstance(value, str):
        return value.encode("utf-8", "surrogateescape") if classic else _strings([value])
    array = np.asarray(value)
    if value is None:
        raise InvalidTypeError(f"the attribute {name!r} cannot be None", path=path)
    if array.dtype.kind in "UST" or (array.dtype.kind == "O" and is_string(array.dtype)):
        texts = [item.decode("utf-8", "surrogateescape") if isinstance(item, bytes) else item for item in array.flat]
        wrong = [item for item in texts if item is not None and not isinstance(item, str)]
        if wrong:
            message = f"the attribute {name!r} cannot be {wrong[0]!r} of type {type(wrong[0]).__name__}"
            raise InvalidTypeError(message, path=path)
        if classic and len(texts) == 1 and texts[0] is not None:
            return texts[0].encode("utf-8", "surrogateescape")
        return _strings(texts)
    if array.dtype.kind == "f" and _are_integers(value):
        message = f"the integers of the attribute {name!r} fit no single type: {min(value)} to {max(value)}"
        raise InvalidError(message, path=path, hint="numpy.array(.., dtype=float) stores them as doubles")
    if array.ndim > 1:
        raise InvalidError(f"the attribute {name!r} has {array.ndim} dimensions, and may have one", path=path)
    if array.dtype.kind == "b":
        array = array.astype("i1")
    if classic and array.dtype.str.lstrip("<>|=") == "i8" and _fits_int(array):
        array = array.astype("i4")
    try:
        native = array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))
        return name_of(array.dtype), np.ascontiguousarray(native.reshape(-1))
    except NotImplementedError as error:
        raise InvalidTypeError(f"the attribute {name!r} cannot be of type {array.dtype}", path=path) from error


def _are_integers(value: Any) -> bool:
    """Whether it is a list of integers: numpy makes doubles of those that no one type of its own holds."""
    return isinstance(value, (list, tuple)) and all(isinstance(item, (int, np.integer)) for item in value)


def _strings(texts: list[Any]) -> tuple[str, Any]:
    array = np.empty(len(texts), dtype=object)
    array[:] = texts
    return "string", array


def _fits_int(array: Any) -> bool:
    return array.size == 0 or (int(array.min()) >= -(2**31) and int(array.max()) < 2**31)
