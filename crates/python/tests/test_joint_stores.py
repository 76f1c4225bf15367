"""Trees on object stores whose chunks other processes put: a server that checks keys, and that of the benchmarks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ncirrus

dask = pytest.importorskip("dask")
pytest.importorskip("distributed")
pytest.importorskip("ncirrus.xarray")
from test_joint_dask import ENCODING, TREES, VALUES, client, sample, values_of  # noqa: E402, F401


@pytest.mark.parametrize("kind", TREES)
@pytest.mark.parametrize("server", ["moto", "s3s"])
def test_workers_write_trees_to_object_stores(
    client: Any, tmp_path: Path, request: pytest.FixtureRequest, server: str, kind: str
) -> None:
    options = {**request.getfixturevalue(server), "client_kwargs": {"region_name": "us-east-1"}}
    # moto answers one request after the other.
    steps, encoding = (200, ENCODING) if server == "s3s" else (16, {"v": {"chunksizes": (2, 40), "zlib": True}})
    url, words = f"s3://bucket/{kind}.zarr", {"kind": kind, "encoding": encoding, "storage_options": options}
    sample(steps).ncirrus.to(url, **words)
    with dask.config.set(scheduler="threads"):
        sample(steps).ncirrus.to(f"s3://bucket/alone-{kind}.zarr", **words)
    assert np.array_equal(values_of(url, storage_options=options), 2 * np.resize(VALUES, (steps, 40)))
    keys, alone = ({(key.key, key.size) for key in ncirrus.keys(place, sizes=True, storage_options=options)} for place in (
        url, f"s3://bucket/alone-{kind}.zarr"
    ))
    assert keys == alone and len(keys) > steps // 2
    with pytest.raises(ncirrus.ConflictError):
        sample(16).ncirrus.to(url, **words)
    sample(5, start=steps).ncirrus.to(url, append_dim="t", storage_options=options)
    later = sample(3, start=steps + 5, block=1).ncirrus.to(
        url, append_dim="t", storage_options=options, compute=False, align="rechunk"
    )
    assert values_of(url, storage_options=options).shape == (steps + 5, 40)
    later.compute()
    assert np.array_equal(values_of(url, storage_options=options), 2 * np.resize(VALUES, (steps + 8, 40)))
    new = sample(16).ncirrus.to(f"s3://bucket/later-{kind}.zarr", compute=False, **words)
    new.compute()
    assert np.array_equal(values_of(f"s3://bucket/later-{kind}.zarr", storage_options=options), 2 * VALUES[:16])
    assert not [key.key for key in ncirrus.keys("s3://bucket", storage_options=options) if ".ncirrus" in key.key]
