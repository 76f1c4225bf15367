"""Many threads on one handle, for as long as is asked for: they get equal bytes."""

from __future__ import annotations

import concurrent.futures
import os
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from arrays import numbers

import ncirrus

# Seconds for each kind of storage: a minute, or an hour, by recipe.
SECONDS = float(os.environ.get("NCIRRUS_THREAD_SECONDS", "1"))
SHAPE = (60, 70)


def _written(path: Path, kind: str, **how: Any) -> Path:
    with ncirrus.create(path, kind) as ds:
        ds.create_dimension("y", SHAPE[0])
        ds.create_dimension("x", SHAPE[1])
        ds.create_variable("v", "i4", ("y", "x"), **how)[...] = numbers(SHAPE)
    return path


def _aggregated(folder: Path) -> Path:
    source = _written(folder / "whole.nc4", "nc4", chunks=(7, 9))
    ncirrus.split(source, folder / "all.nc", shape={"y": 13})
    return folder / "all.nc"


STORED = {
    "nc3": lambda folder: _written(folder / "a.nc", "nc3"),
    "nc4": lambda folder: _written(folder / "a.nc4", "nc4", chunks=(7, 9), filters="zlib,level=1"),
    "zarr": lambda folder: _written(folder / "a.zarr", "zarr3", chunks=(7, 9), filters="zstd"),
    "aggregated": _aggregated,
}


@pytest.mark.parametrize("kind", STORED)
@pytest.mark.parametrize("cache", [0, "16M"])
def test_eight_threads_get_equal_bytes(tmp_path: Path, kind: str, cache: Any) -> None:
    v = ncirrus.open(STORED[kind](tmp_path), session=ncirrus.Session(chunk_cache=cache))["v"]
    expected, start, until = numbers(SHAPE), threading.Barrier(8), time.monotonic() + SECONDS

    def read(seed: int) -> int:
        random, out, rounds = np.random.default_rng(seed), np.empty(SHAPE, "i4"), 0
        start.wait()
        while rounds < 3 or time.monotonic() < until:
            (a, b), (c, d) = np.sort(random.integers(0, 61, 2)), np.sort(random.integers(0, 71, 2))
            y, x = random.integers(0, 60, 50), random.integers(0, 70, 50)
            assert v[a:b, c:d].tobytes() == expected[a:b, c:d].tobytes()
            assert v.vindex[y, x].tobytes() == expected[y, x].tobytes()
            assert v.oindex[y, x].tobytes() == expected[np.ix_(y, x)].tobytes()
            assert v.read(out=out).tobytes() == expected.tobytes()
            rounds += 1
        return rounds

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        assert min(pool.map(read, range(8))) >= 3
