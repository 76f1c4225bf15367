"""Calls that fail, made on both modules: whether the error is of the same class, with the same number and words."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from netcdf4_comparing import outcome

import ncirrus.netCDF4 as ours

original = pytest.importorskip("netCDF4")

Call = Callable[[Any, str], Any]


def ds(nc: Any, p: str, **k: Any) -> Any:
    """A new dataset with a few variables to fail on."""
    d = nc.Dataset(p, "w", **k)
    d.createDimension("x", 4)
    d.createDimension("t", None)
    d.createVariable("v", "i4", ("x",))
    if k.get("format", "NETCDF4") == "NETCDF4":
        d.createVariable("s", str, ("x",))
    d.createVariable("z", "f8", ())
    return d


def check(function: Call, folder: Path, different: dict[str, str]) -> None:
    """The errors of both modules are the same, but for those that are known to differ."""
    found = []
    for nc, name in ((original, "aa.nc"), (ours, "bb.nc")):
        path = str(folder / name)
        found.append(outcome(lambda: function(nc, path), path)[0])  # noqa: B023
    theirs, here = found
    if function.__name__ in different:
        assert theirs != here, "no difference any more"
    else:
        assert theirs == here
