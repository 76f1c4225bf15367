"""Arrays whose chunks differ in length (Zarr v3) grow: by `append`, by writes, by xarray and Dask; zarr-python reads them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import ncirrus
import ncirrus.xarray


def days(start: str, count: int) -> xr.Dataset:
    time = pd.date_range(start, periods=count, freq="D")
    values = np.arange(count * 6, dtype="f4").reshape(count, 6)
    dataset = xr.Dataset({"t": (("time", "x"), values)}, {"time": time})
    dataset["time"].encoding = {"units": "days since 2001-01-01", "dtype": "i4"}
    return dataset


def by_months(tmp_path: Path) -> Path:
    days("2001-01-01", 59).ncirrus.to(tmp_path / "a.nc", unlimited_dims=["time"])
    path = tmp_path / "a.zarr"
    ncirrus.copy(tmp_path / "a.nc", path, kind="zarr3", chunks=["time/monthly", "x/6"])
    assert edges(path) == (31, 28)
    return path


def edges(path: Path, name: str = "t") -> tuple[int, ...]:
    with ncirrus.open(path) as ds:
        lengths = ds[name].chunk_lengths
        assert lengths is not None
        return lengths[0]


def check(path: Path, expected: xr.Dataset) -> None:
    with xr.open_dataset(path, engine="ncirrus") as found:
        xr.testing.assert_equal(found.load(), expected)
    zarr = pytest.importorskip("zarr", minversion="3.4")
    with zarr.config.set({"array.rectilinear_chunks": True}):
        assert np.array_equal(zarr.open_group(str(path), mode="r")["t"][:], expected["t"].values)


def test_files_are_appended_by_months(tmp_path: Path) -> None:
    path = by_months(tmp_path)
    more = days("2001-03-01", 61)
    more.ncirrus.to(tmp_path / "b.nc", unlimited_dims=["time"])
    ncirrus.append(path, [tmp_path / "b.nc"], along="time")
    assert edges(path) == (31, 28, 31, 30)
    check(path, xr.concat([days("2001-01-01", 59), more], "time"))


@pytest.mark.parametrize("blocks", [None, 4])
def test_xarray_appends_one_chunk_each_time(tmp_path: Path, blocks: int | None) -> None:
    if blocks is not None:
        pytest.importorskip("dask")
    path = by_months(tmp_path)
    added = [days("2001-03-01", 10), days("2001-03-11", 7)]
    for more in added:
        more = more if blocks is None else more.chunk({"time": blocks})
        more.ncirrus.to(path, append_dim="time", align="rechunk") if blocks else more.ncirrus.to(path, append_dim="time")
    assert edges(path) == (31, 28, 10, 7)
    check(path, xr.concat([days("2001-01-01", 59), *added], "time"))


def test_a_variable_is_appended_to(tmp_path: Path) -> None:
    path = by_months(tmp_path)
    with ncirrus.open(path, "r+") as ds:
        assert ds["t"].chunk_lengths == ((31, 28), (6,))
        ds["t"].append(np.ones((5, 6), "f4"))
        ds["t"].append(np.ones((2, 6), "f4"))
        ds["time"].append(np.arange(59, 66))
        assert (ds["t"][59:] == 1).all()
    assert (edges(path), edges(path, "time")) == ((31, 28, 5, 2), (31, 28, 7))
