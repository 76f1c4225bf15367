"""xarray's tests of Zarr: zarr-python writes, ours reads."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import xarray as xr
from xarray.tests import test_backends as suite


class TestZarrReads(suite.TestZarrDirectoryStore):
    @contextlib.contextmanager
    def open(self, path: Any, **kwargs: Any) -> Iterator[Any]:
        if "use_zarr_fill_value_as_mask" in kwargs:
            kwargs["zarr_fill_as_mask"] = kwargs.pop("use_zarr_fill_value_as_mask")
        with xr.open_dataset(path, engine="ncirrus", **kwargs) as dataset:
            yield dataset

