"""netCDF4-python's `netCDF4.utils`: what its programs, and programs built on it, import from there."""

from __future__ import annotations

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
