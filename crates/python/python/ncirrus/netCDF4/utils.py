"""netCDF4-python's `netCDF4.utils`: what its programs, and programs built on it, import from there."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy import ma

from ncirrus.netCDF4.orthogonal import (
    _find_dim as _find_dim,
    _is_int as _is_int,
    _out_array_shape as _out_array_shape,
    _StartCountStride as _StartCountStride,
)


def _walk_grps(topgrp: Any) -> Iterator[Any]:
    """The groups below a group: those directly in it, then those in each of them, and so on."""
    yield topgrp.groups.values()
    for group in topgrp.groups.values():
        yield from _walk_grps(group)


def _quantize(data: Any, least_significant_digit: int) -> Any:
    """Numbers rounded to a power of two that keeps the given decimal digit, so that they compress better."""
    exponent = np.log10(pow(10.0, -least_significant_digit))
    exponent = int(np.floor(exponent) if exponent < 0 else np.ceil(exponent))
    scale = pow(2.0, np.ceil(np.log2(pow(10.0, -exponent))))
    rounded = np.around(scale * data) / scale
    if ma.isMA(rounded):
        rounded.set_fill_value(data.fill_value)
    return rounded


def _safecast(a: Any, b: Any) -> Any:
    """Whether two arrays, one of them a cast of the other, are equal; NaN equals NaN."""
    try:
        return ((a == b) | (np.isnan(a) & np.isnan(b))).all()
    except Exception:
        pass
    try:
        return (a == b).all()
    except Exception:
        return False


def _sortbylist(A: Any, B: Any) -> list[Any]:
    """The elements of `A` in the order that sorts `B`."""
    return [A[position] for position in sorted(range(len(A)), key=B.__getitem__)]


def _getgrp(g: Any, p: str) -> Any:
    """The group at the path `p` below `g`."""
    for name in filter(None, p.split("/")):
        g = g.groups[name]
    return g


def _nc3tonc4(
    filename3: Any,
    filename4: Any,
    unpackshort: bool = True,
    zlib: bool = True,
    complevel: int = 6,
    shuffle: bool = True,
    fletcher32: bool = False,
    clobber: bool = False,
    lsd_dict: dict[str, int] | None = None,
    nchunk: int = 10,
    quiet: bool = False,
    classic: int = 0,
    vars: list[str] | None = None,
    istart: int = 0,
    istop: int = -1,
) -> None:
    """Copies a netCDF-3 file to one of netCDF-4, compressed."""
    from ncirrus.netCDF4 import Dataset, converters

    converters.to_netcdf4(
        Dataset,
        filename3,
        filename4,
        unpack=unpackshort,
        storage={"zlib": zlib, "complevel": complevel, "shuffle": shuffle, "fletcher32": fletcher32},
        clobber=clobber,
        digits=lsd_dict,
        records=nchunk,
        quiet=quiet,
        classic=bool(classic),
        names=vars,
        start=istart,
        stop=istop,
    )


def _nc4tonc3(
    filename4: Any,
    filename3: Any,
    clobber: bool = False,
    nchunk: int = 10,
    quiet: bool = False,
    format: str = "NETCDF3_64BIT",
) -> None:
    """Copies a file of netCDF-4's classic model to one of netCDF-3."""
    from ncirrus.netCDF4 import Dataset, converters

    converters.to_netcdf3(
        Dataset, filename4, filename3, clobber=clobber, records=nchunk, quiet=quiet, format=format
    )


def ncinfo() -> None:
    """The program that prints the description of a file."""
    from ncirrus.netCDF4 import Dataset, programs

    programs.ncinfo(Dataset)


def nc3tonc4() -> None:
    """The program that copies netCDF-3 to netCDF-4."""
    from ncirrus.netCDF4 import programs

    programs.nc3tonc4(_nc3tonc4)


def nc4tonc3() -> None:
    """The program that copies netCDF-4's classic model to netCDF-3."""
    from ncirrus.netCDF4 import programs

    programs.nc4tonc3(_nc4tonc3)


if __name__ == "__main__":
    _programs = {"ncinfo": ncinfo, "nc3tonc4": nc3tonc4, "nc4tonc3": nc4tonc3}
    if len(sys.argv) < 2 or sys.argv[1] not in _programs:
        sys.exit(f"usage: python -m ncirrus.netCDF4.utils {'|'.join(_programs)} ARGS...")
    del sys.argv[0]
    _programs[sys.argv[0]]()
