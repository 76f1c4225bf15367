"""Copies between netCDF-3 and netCDF-4 files, as the programs `nc3tonc4` and `nc4tonc3` make them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

# The value for missing elements of unpacked variables.
_MISSING = 1.0e30


def to_netcdf3(
    open: Callable[..., Any],
    source: Any,
    target: Any,
    *,
    clobber: bool = False,
    records: int = 10,
    quiet: bool = False,
    format: str = "NETCDF3_64BIT",
) -> None:
    """Copies a file of the format `NETCDF4_CLASSIC` to one of netCDF-3, `records` of them at a time, or all with 0.

    `open` is the class `Dataset`. Raises `OSError` where the source has another format.
    """
    old = open(source, "r")
    if old.file_format != "NETCDF4_CLASSIC":
        old.close()
        raise OSError("input file must be in NETCDF4_CLASSIC format")
    new = open(target, "w", clobber=clobber, format=format)
    grows = _copied_definitions(old, new, quiet)
    for name, variable in old.variables.items():
        _say(f"copying variable {name}", quiet)
        fill = getattr(variable, "_FillValue", None)
        copy = new.createVariable(name, variable.dtype, variable.dimensions, fill_value=fill)
        copy.setncatts(_without(variable.__dict__, "_FillValue"))
        _copy_values(variable, copy, _runs(variable, grows, records, 0, None))
    new.close()
    old.close()


def to_netcdf4(
    open: Callable[..., Any],
    source: Any,
    target: Any,
    *,
    unpack: bool = True,
    storage: Mapping[str, Any],
    clobber: bool = False,
    digits: Mapping[str, int] | None = None,
    records: int = 10,
    quiet: bool = False,
    classic: bool = False,
    names: Sequence[str] | None = None,
    start: int = 0,
    stop: int = -1,
) -> None:
    """Copies a netCDF-3 file to one of netCDF-4.

    With `unpack`, variables with `scale_factor` and `add_offset` become floats. `storage` are further arguments of
    `createVariable`; `digits` has the least significant digit of variables to be rounded; `names` are the variables to be
    copied, besides those of dimensions, of their records `start` up to `stop`, -1 for all.
    """
    old = open(source, "r")
    new = open(target, "w", clobber=clobber, format="NETCDF4_CLASSIC" if classic else "NETCDF4")
    grows = _copied_definitions(old, new, quiet)
    for name in _chosen(old, names):
        variable = old.variables[name]
        _say(f"copying variable {name}", quiet)
        digit = (digits or {}).get(name)
        if digit is not None:
            _say(f"truncating to least_significant_digit = {digit}", quiet)
        is_packed = unpack and hasattr(variable, "scale_factor") and hasattr(variable, "add_offset")
        if is_packed:
            _say("unpacking short integers to floats ...", quiet)
        copy = _defined(new, variable, name, is_packed, {**storage, "least_significant_digit": digit})
        _copy_values(variable, copy, _runs(variable, grows, records, start, None if stop == -1 else stop))
    new.close()
    old.close()


def _copied_definitions(old: Any, new: Any, quiet: bool) -> str | None:
    """Copies global attributes and dimensions; returns the name of the unlimited one."""
    _say("copying global attributes ..", quiet)
    new.setncatts(old.__dict__)
    _say("copying dimensions ..", quiet)
    grows = None
    for name, dimension in old.dimensions.items():
        if dimension.isunlimited():
            grows = name
        new.createDimension(name, None if dimension.isunlimited() else len(dimension))
    return grows


def _chosen(old: Any, names: Sequence[str] | None) -> list[str]:
    if names is None:
        return list(old.variables)
    axes = [name for name in old.dimensions if name in old.variables and name not in names]
    return [*names, *axes]


def _defined(new: Any, variable: Any, name: str, is_packed: bool, storage: Mapping[str, Any]) -> Any:
    """The variable in the new file, with its attributes."""
    fill = getattr(variable, "_FillValue", getattr(variable, "missing_value", None))
    attributes = _without(variable.__dict__, "_FillValue")
    if is_packed:
        fill = None if fill is None else _MISSING
        attributes = _without(attributes, "scale_factor", "add_offset")
        if "missing_value" in attributes:
            attributes["missing_value"] = fill
    dtype = "f4" if is_packed else variable.dtype
    copy = new.createVariable(name, dtype, variable.dimensions, fill_value=fill, **storage)
    copy.setncatts(attributes)
    return copy


def _runs(variable: Any, grows: str | None, records: int, start: int, stop: int | None) -> list[tuple[slice, slice]]:
    """Which elements are copied at a time, and where to; the unlimited dimension is the first."""
    if grows is None or grows not in variable.dimensions:
        return [(slice(None), slice(None))]
    stop = variable.shape[0] if stop is None else stop
    step = max(records, 1) if records else max(stop - start, 1)
    runs = ((first, min(first + step, stop)) for first in range(start, stop, step))
    return [(slice(first, end), slice(first - start, end - start)) for first, end in runs]


def _copy_values(variable: Any, copy: Any, runs: Sequence[tuple[slice, slice]]) -> None:
    for source, target in runs:
        copy[target] = variable[source]


def _without(attributes: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in attributes.items() if name not in names}


def _say(line: str, quiet: bool) -> None:
    if not quiet:
        sys.stdout.write(f"{line}\n")
