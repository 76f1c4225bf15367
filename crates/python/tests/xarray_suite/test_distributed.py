"""The round trips of xarray's tests of dask.distributed, with this engine: two workers write and read one file."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import xarray as xr

pytest.importorskip("distributed")

from dask.distributed import Client
from distributed.utils_test import cleanup, cluster, loop, loop_in_thread  # noqa: F401
from xarray.tests import assert_allclose, dask_array_type
from xarray.tests.test_dataset import create_test_data

import ncirrus.xarray  # noqa: F401

CHUNKS = {"dim1": 4, "dim2": 3, "dim3": 6}
FORMATS = ["NETCDF3_CLASSIC", "NETCDF3_64BIT", "NETCDF4_CLASSIC", "NETCDF4"]


@pytest.mark.parametrize("compute", [True, False])
@pytest.mark.parametrize("format", FORMATS)
def test_round_trips_by_workers(loop: Any, tmp_path: Any, format: str, compute: bool) -> None:  # noqa: F811
    path = str(tmp_path / "test.nc")
    original = create_test_data().chunk(CHUNKS)
    with cluster() as (scheduler, _), Client(scheduler["address"], loop=loop):
        result = original.to_netcdf(path, engine="ncirrus", format=format, compute=compute)
        if not compute:
            result.compute()
        with xr.open_dataset(path, chunks=CHUNKS, engine="ncirrus") as restored:
            assert isinstance(restored.var1.data, dask_array_type)
            assert_allclose(original, restored.compute())


def test_workers_read_trees(loop: Any, tmp_path: Any) -> None:  # noqa: F811
    path = str(tmp_path / "test.zarr")
    original = create_test_data()
    original.ncirrus.to(path)
    with cluster() as (scheduler, _), Client(scheduler["address"], loop=loop):
        with xr.open_dataset(path, chunks=CHUNKS, engine="ncirrus") as restored:
            assert_allclose(original, restored.compute())
            assert np.isclose(float(restored.var1.mean()), float(original.var1.mean()))
