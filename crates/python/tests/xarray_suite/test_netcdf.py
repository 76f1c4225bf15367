"""xarray's tests of netCDF files, three ways."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import pytest
import xarray as xr
from xarray.tests import test_backends as suite

from ways import Both, Reads, ReadsH5, Writes, WritesH5

pytestmark = pytest.mark.filterwarnings("ignore:deallocating CachingFileManager")


class TestNetcdf4Both(Both, suite.TestNetCDF4Data):
    file_format = "NETCDF4"


class TestNetcdf4Reads(Reads, suite.TestNetCDF4Data):
    file_format = "NETCDF4"


class TestNetcdf4Writes(Writes, suite.TestNetCDF4Data):
    file_format = "NETCDF4"


class TestH5netcdfReads(ReadsH5, suite.TestH5NetCDFData):
    file_format = "NETCDF4"


class TestH5netcdfWrites(WritesH5, suite.TestH5NetCDFData):
    file_format = "NETCDF4"


class ViaDask:
    """As `TestNetCDF4ViaDaskData`: everything is read in blocks."""

    @contextlib.contextmanager
    def roundtrip(self, data: Any, save_kwargs: Any = None, open_kwargs: Any = None, **words: Any) -> Iterator[Any]:
        open_kwargs = {"chunks": -1, **(open_kwargs or {})}
        with suite.DatasetIOBase.roundtrip(self, data, save_kwargs, open_kwargs, **words) as dataset:  # type: ignore[arg-type]
            yield dataset


class TestNetcdf4ViaDaskBoth(ViaDask, Both, suite.TestNetCDF4ViaDaskData):
    file_format = "NETCDF4"


class TestNetcdf4ViaDaskReads(ViaDask, Reads, suite.TestNetCDF4ViaDaskData):
    file_format = "NETCDF4"


class TestNetcdf4ViaDaskWrites(ViaDask, Writes, suite.TestNetCDF4ViaDaskData):
    file_format = "NETCDF4"


class TestNetcdf3Both(Both, suite.TestNetCDF3ViaNetCDF4Data):
    file_format = "NETCDF3_CLASSIC"


class TestNetcdf3Reads(Reads, suite.TestNetCDF3ViaNetCDF4Data):
    file_format = "NETCDF3_CLASSIC"


class TestNetcdf3Writes(Writes, suite.TestNetCDF3ViaNetCDF4Data):
    file_format = "NETCDF3_CLASSIC"


class TestNetcdf3Offset64Both(Both, suite.TestNetCDF3ViaNetCDF4Data):
    file_format = "NETCDF3_64BIT"


class TestNetcdf4ClassicBoth(Both, suite.TestNetCDF4ClassicViaNetCDF4Data):
    file_format = "NETCDF4_CLASSIC"


class TestNetcdf4ClassicReads(Reads, suite.TestNetCDF4ClassicViaNetCDF4Data):
    file_format = "NETCDF4_CLASSIC"


class TestNetcdf4ClassicWrites(Writes, suite.TestNetCDF4ClassicViaNetCDF4Data):
    file_format = "NETCDF4_CLASSIC"


class TestInMemoryBoth(suite.InMemoryNetCDFWithGroups):
    engine: Any = "ncirrus"


class TestInMemoryReads(suite.InMemoryNetCDFWithGroups):
    """netCDF4-python writes into memory, ours reads."""

    engine: Any = "ncirrus"

    @pytest.fixture(autouse=True)
    def _written_by_another(self, monkeypatch: Any) -> None:
        original = xr.Dataset.to_netcdf

        def to_netcdf(dataset: Any, *arguments: Any, **words: Any) -> Any:
            return original(dataset, *arguments, **{**words, "engine": "netcdf4"})

        monkeypatch.setattr(xr.Dataset, "to_netcdf", to_netcdf)


class TestFileObjectBoth(suite.FileObjectNetCDF):
    engine: Any = "ncirrus"


class TestDaskBoth(Both, suite.TestDask):
    """Graphs of Dask over files."""

    file_format = "NETCDF4"

    @contextlib.contextmanager
    def roundtrip(self, data: Any, save_kwargs: Any = None, open_kwargs: Any = None, **words: Any) -> Iterator[Any]:
        yield data.chunk()
