"""What a call of netCDF4-python gave, in a form that two modules can be compared by."""

from __future__ import annotations

import builtins
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy import ma

_PLAIN = (str, bytes, int, float, bool, type(None))


def facts(value: Any) -> Any:
    """A value as comparable data: types, dtypes, shapes, masks, fill values and elements."""
    if value is ma.masked:
        return "masked"
    if isinstance(value, np.ndarray):
        return _array(value)
    if isinstance(value, np.generic):
        return ("scalar", value.dtype.str, repr(value.item()))
    if isinstance(value, float):
        return ("float", repr(value))
    if isinstance(value, _PLAIN):
        return (type(value).__name__, value)
    if isinstance(value, dict):
        return ("dict", [(facts(key), facts(item)) for key, item in value.items()])
    if isinstance(value, (list, tuple)):
        return (type(value).__name__, [facts(item) for item in value])
    if isinstance(value, type):
        return ("type", value.__name__)
    if isinstance(value, np.dtype):
        return _dtype(value)
    return (type(value).__name__, repr(value))


def _dtype(dtype: np.dtype[Any]) -> Any:
    return ("dtype", dtype.str, str(dtype.fields))


def _array(array: Any) -> Any:
    data = ma.getdata(array)
    told = ["masked array" if ma.isMA(array) else "array", _dtype(array.dtype), array.shape]
    if ma.isMA(array):
        mask = ma.getmaskarray(array)
        told += [mask.tolist(), repr(array.fill_value), ma.getmask(array) is ma.nomask]
        if not array.dtype.names and array.dtype != object:
            # Values below a mask are not compared.
            data = np.where(mask, np.zeros((), array.dtype), data)
    if data.dtype == object:
        return (*told, [facts(item) for item in data.flat])
    return (*told, repr(data.tolist()))


def outcome(call: Callable[[], Any], *places: str) -> Any:
    """What a call returns or raises, and what it warns of; the names of files are left out."""

    def named(text: str) -> str:
        for place in places:
            text = text.replace(place, "FILE")
        return text

    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            result: Any = ("returned", facts(call()))
        except Exception as error:
            result = ("raised", standard_class(error), named(str(error)), getattr(error, "errno", None))
    # Warnings of the arithmetic before a rejection are not compared.
    heard = [each for each in told if result[0] == "returned" or each.category is not RuntimeWarning]
    return result, sorted({(each.category.__name__, named(str(each.message))) for each in heard})


def standard_class(error: BaseException) -> str:
    """The class of Python that an error is of, whatever else it is."""
    return next(each.__name__ for each in type(error).__mro__ if each.__module__ == builtins.__name__)


def described(nc: Any, path: str, with_values: bool = True, leaving: str | None = None, is_ordered: bool = True) -> Any:
    """All that a module reads from a file, unmasked and not unpacked, but the variables of one name; attributes by name
    where their order is not compared."""
    with nc.Dataset(path) as ds:
        ds.set_auto_maskandscale(False)
        ds.set_auto_chartostring(False)
        return _group(ds, with_values, leaving, is_ordered)


def _group(group: Any, with_values: bool, leaving: str | None, is_ordered: bool) -> Any:
    return {
        "dimensions": [(name, len(each), each.isunlimited()) for name, each in group.dimensions.items()],
        "types": [repr(each) for types in (group.cmptypes, group.vltypes, group.enumtypes) for each in types.values()],
        "attributes": [(name, facts(group.getncattr(name))) for name in _names(group, is_ordered)],
        "variables": [(name, _variable(each, with_values, is_ordered)) for name, each in group.variables.items() if name != leaving],
        "groups": [(name, _group(each, with_values, leaving, is_ordered)) for name, each in group.groups.items()],
    }


def _names(holder: Any, is_ordered: bool) -> list[str]:
    names: list[str] = holder.ncattrs()
    return names if is_ordered else sorted(names)


def _variable(variable: Any, with_values: bool, is_ordered: bool) -> Any:
    told = {
        "dtype": facts(variable.dtype),
        "dimensions": variable.dimensions,
        "attributes": [(name, facts(variable.getncattr(name))) for name in _names(variable, is_ordered) if name[:9] != "_Quantize"],
        "filters": variable.filters(),
        "chunking": chunks_of(variable),
        # Bytes have none.
        "endian": variable.endian() if np.dtype(variable.dtype if variable.dtype is not str else "O").itemsize > 1 else None,
        "quantization": variable.quantization(),
    }
    return {**told, "values": facts(variable[...])} if with_values else told


def chunks_of(variable: Any) -> Any:
    """`chunking()`, but along dimensions that grow: there it depends on whether the original was asked for their length.

    Of those that are still empty, `test_netcdf4_creation.py` compares them.
    """
    return None if any(each.isunlimited() for each in variable.get_dims()) else variable.chunking()


def differences(theirs: Any, ours: Any, place: str = "") -> list[str]:
    """Where two descriptions differ."""
    if type(theirs) is type(ours) and isinstance(theirs, dict) and list(theirs) == list(ours):
        return [each for key in theirs for each in differences(theirs[key], ours[key], f"{place}/{key}")]
    if type(theirs) is type(ours) and isinstance(theirs, (list, tuple)) and len(theirs) == len(ours):
        return [each for at, pair in enumerate(zip(theirs, ours)) for each in differences(*pair, f"{place}/{at}")]
    return [] if theirs == ours else [f"{place}: {theirs!r} there, {ours!r} here"]
