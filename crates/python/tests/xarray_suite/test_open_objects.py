"""xarray's tests of datasets and files that are open already, with this engine: the classes `TestNetCDF4AlreadyOpen`,
`TestH5NetCDFAlreadyOpen` and `TestH5NetCDFFileObject` name theirs, so what they do is done here with ours."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
from xarray.tests import assert_identical
from xarray.tests import test_backends as suite
from xarray.tests.test_dataset import create_test_data

import ncirrus


@pytest.fixture(params=["netcdf4", "h5netcdf", "ncirrus"])
def written(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path]:
    """A file of each writer."""
    path = tmp_path / "test.nc"
    create_test_data().to_netcdf(path, engine=request.param)
    xr.Dataset({"x": 42}).to_netcdf(path, mode="a", group="g", engine=request.param)
    yield path


class TestAlreadyOpen:
    def test_base_case(self, written: Path) -> None:
        with ncirrus.open(written) as found, xr.open_dataset(found) as ds:
            assert_identical(ds, create_test_data())

    def test_group(self, written: Path) -> None:
        expected = xr.Dataset({"x": ((), 42)})
        with ncirrus.open(written) as found:
            with xr.open_dataset(found["g"]) as ds:
                assert_identical(ds, expected)
            with xr.open_dataset(found, group="g") as ds:
                assert_identical(ds, expected)

    def test_deepcopy(self, written: Path) -> None:
        # xarray's issue 4425
        with ncirrus.open(written) as found, xr.open_dataset(found) as ds:
            copied = ds.copy(deep=True)
            assert_identical(copied, create_test_data())

    def test_values_are_not_read_after_the_end(self, written: Path) -> None:
        with ncirrus.open(written) as found:
            ds = xr.open_dataset(found)
        with pytest.raises(ncirrus.InvalidError, match="closed"):
            np.asarray(ds["var1"])


class TestFileObjects(suite.FileObjectNetCDF):
    engine: Any = "ncirrus"

    def test_open_badbytes(self) -> None:
        for garbage in (b"garbage", BytesIO(b"garbage")):
            with pytest.raises(ncirrus.Error):
                xr.open_dataset(garbage, engine="ncirrus")

    test_open_twice = suite.TestH5NetCDFFileObject.test_open_twice

    def test_open_fileobj(self, written: Path) -> None:
        expected = create_test_data()
        with open(written, "rb") as f:
            with xr.open_dataset(f, engine="ncirrus") as actual:
                assert_identical(expected, actual)
            f.seek(8)
            with xr.open_dataset(f, engine="ncirrus") as actual:
                assert_identical(expected, actual)
            assert not f.closed
            f.seek(0)
            with BytesIO(f.read()) as bio, xr.open_dataset(bio, engine="ncirrus") as actual:
                assert_identical(expected, actual)

    def test_fsspec(self, written: Path) -> None:
        fsspec = pytest.importorskip("fsspec")
        with fsspec.open(str(written), "rb") as f, xr.open_dataset(f, engine="ncirrus") as actual:
            assert_identical(actual, create_test_data())
            with pickle.loads(pickle.dumps(actual)) as unpickled:
                assert_identical(unpickled, create_test_data())
