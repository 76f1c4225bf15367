"""xarray's tests of trees, three ways."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import xarray as xr
from xarray.tests import test_backends_datatree as suite

from ways import Both, Reads, Writes


class AsTree:
    """Reads the root of a tree."""

    read_engine: Any

    @contextlib.contextmanager
    def open(self, path: Any, **kwargs: Any) -> Iterator[Any]:
        if self.read_engine == "ncirrus":
            kwargs.pop("auto_complex", None)
        with xr.open_datatree(path, engine=self.read_engine, **kwargs) as tree:
            yield tree.to_dataset()


class TestTreeBoth(AsTree, Both, suite.TestNetCDF4DataTree):
    file_format = "NETCDF4"


class TestTreeReads(AsTree, Reads, suite.TestNetCDF4DataTree):
    file_format = "NETCDF4"


class TestTreeWrites(AsTree, Writes, suite.TestNetCDF4DataTree):
    file_format = "NETCDF4"
