"""The three ways in which the classes of xarray's tests are run with the engine `ncirrus`."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import xarray as xr

import ncirrus.xarray
from ncirrus.xarray import NcirrusStore


class Ways:
    """Which engine writes, and which reads."""

    engine: Any = "ncirrus"
    write_engine: Any = "ncirrus"
    read_engine: Any = "ncirrus"
    file_format: Any = None

    @contextlib.contextmanager
    def create_store(self) -> Iterator[Any]:
        from xarray.tests.test_backends import create_tmp_file

        with create_tmp_file() as path, NcirrusStore.open(path, mode="w", format=self.file_format) as store:
            yield store

    def save(self, dataset: Any, path: Any, **kwargs: Any) -> Any:
        if self.write_engine == "ncirrus":
            kwargs.pop("auto_complex", None)
        return dataset.to_netcdf(path, engine=self.write_engine, format=self.file_format, **kwargs)

    @contextlib.contextmanager
    def open(self, path: Any, **kwargs: Any) -> Iterator[Any]:
        if self.read_engine == "ncirrus":
            kwargs.pop("auto_complex", None)
        with xr.open_dataset(path, engine=self.read_engine, **kwargs) as dataset:
            yield dataset


class Both(Ways):
    """Ours writes and reads."""


class Reads(Ways):
    """netCDF4-python writes, ours reads."""

    write_engine = "netcdf4"


class ReadsH5(Ways):
    """h5netcdf writes, ours reads."""

    write_engine = "h5netcdf"


class Writes(Ways):
    """Ours writes, netCDF4-python reads."""

    read_engine = "netcdf4"


class WritesH5(Ways):
    """Ours writes, h5netcdf reads."""

    read_engine = "h5netcdf"


__all__ = ["Both", "Reads", "ReadsH5", "Ways", "Writes", "WritesH5", "ncirrus"]
